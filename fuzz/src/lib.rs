//! Readers, indexes, joins and requests on bytes that nobody has written.
//!
//! A [`Target`] is a plain function of bytes that panics where a promise is broken. libFuzzer looks for such bytes
//! (`cargo xtask fuzz`), and a test replays all seeds, all findings and some mutations of them on any toolchain.

mod bytes;
mod databases;
mod estimates;
mod fault;
mod feeds;
mod indexes;
mod joins;
mod readers;
mod requests;
mod scratch;
mod settings;
mod texts;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use fault::Fault;
pub use scratch::clear;

/// What is tried on bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of its corpus, its dictionary and its findings.
    pub name: &'static str,
    function: fn(&[u8]),
}

/// All targets.
pub static TARGETS: [Target; 19] = [
    Target { name: "lines", function: readers::lines },
    Target { name: "parquet", function: readers::parquet },
    Target { name: "sketches", function: readers::sketches },
    Target { name: "pages", function: readers::pages },
    Target { name: "archives", function: readers::archives },
    Target { name: "triples", function: readers::triples },
    Target { name: "rdfxml", function: readers::rdfxml },
    Target { name: "jsonld", function: readers::jsonld },
    Target { name: "xml", function: readers::xml },
    Target { name: "databases", function: databases::databases },
    Target { name: "feeds", function: feeds::feeds },
    Target { name: "settings", function: settings::settings },
    Target { name: "texts", function: texts::texts },
    Target { name: "joins", function: joins::joins },
    Target { name: "shuffles", function: joins::shuffles },
    Target { name: "estimates", function: estimates::estimates },
    Target { name: "labels", function: indexes::labels },
    Target { name: "synopses", function: indexes::synopses },
    Target { name: "requests", function: requests::requests },
];

impl Target {
    /// The fault that the bytes show, if they show one.
    pub fn check(&self, data: &[u8]) -> Result<(), Fault> {
        fault::caught(|| (self.function)(data))
    }

    /// Ends the process if the bytes show a fault, as libFuzzer expects it.
    pub fn try_on(&self, data: &[u8]) {
        if let Err(fault) = self.check(data) {
            eprintln!("{}: {fault}", self.name);
            std::process::abort();
        }
    }

    /// The files of its seeds.
    pub fn seeds(&self) -> Vec<PathBuf> {
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.name))
    }

    /// The files of what was found with it.
    pub fn findings(&self) -> Vec<PathBuf> {
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("findings").join(self.name))
    }
}

/// The files of a folder, if it is there, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|file| file.path()).collect();
    files.sort();
    files
}

/// The variable that names the target of a process.
pub const CHOICE: &str = "TWINSET_FUZZ";

/// The target of this process.
pub fn chosen() -> &'static Target {
    static CHOSEN: OnceLock<&Target> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var(CHOICE).unwrap_or_default();
        let names = TARGETS.map(|target| target.name).join(", ");
        TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("{CHOICE} must be one of {names}"))
    })
}

/// Prepares a process of libFuzzer: what would run on several threads runs on its own.
pub fn begin() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    pool.expect("no other pool was made");
    chosen();
}
