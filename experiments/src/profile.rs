//! Foreign keys: how many are found, how well they are ranked, and what it takes, beside desbordante.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use maud::html;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use twinset_report::table;

use crate::process::{Usage, measure, twinset};
use crate::{print_table, write_page};

/// Foreign keys in made-up databases, and in any source: precision, recall, time and memory, beside desbordante
///
/// Installs desbordante into a virtual environment for a folder of csv files. Needs python3 for that.
#[derive(clap::Args)]
pub(crate) struct Profile {
    /// A source as `twinset profile` reads it; its declared keys are the truth. Repeat it for several
    #[arg(long, value_name = "SOURCE")]
    source: Vec<String>,
    /// A csv file of true keys (left,right) of the sources, where they declare none
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// How many databases to make up where there is no --source
    #[arg(long, value_name = "N", default_value_t = 6)]
    databases: u64,
    /// How many rows their largest tables have
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    rows: usize,
    /// Run Faida and Spider of desbordante on a source that is a folder of csv files, too
    #[arg(long)]
    peers: bool,
    /// Where desbordante is installed
    #[arg(long, value_name = "FOLDER", default_value = "target/peers")]
    environment: PathBuf,
    /// A peer that takes longer, in seconds, is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    allowed: u64,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "profile.html")]
    output: PathBuf,
}

type Keys = BTreeSet<(String, String)>;

const HEADER: [&str; 9] =
    ["source", "keys", "found", "average precision", "wrong above the last", "seconds", "CPU", "× twinset", "memory"];

impl Profile {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut rows = Vec::new();
        let mut sources: Vec<(String, Option<Keys>)> =
            self.source.iter().map(|source| (source.clone(), None)).collect();
        for seed in 0..if self.source.is_empty() { self.databases } else { 0 } {
            let path = folder.path().join(format!("made-up-{seed}"));
            let keys = make_up(&path, seed, self.rows)?;
            sources.push((path.display().to_string(), Some(keys)));
        }
        let truth = self.truth.as_deref().map(read_truth).transpose()?;
        for (source, keys) in &sources {
            rows.extend(self.measure_source(source, keys.as_ref().or(truth.as_ref()), folder.path())?);
        }
        print_table(&HEADER, &rows);
        let body = html! {
            p { "Foreign keys as twinset lists them, compared with those that are declared or known. The declared ones are not used for the list. Average "
                "precision is 1 if all true keys come first. Faida and Spider list inclusions, and leave it open which of them are keys." }
            (table("Foreign keys", &HEADER, &rows))
        };
        write_page(&self.output, "Foreign keys", &body)?;
        println!("wrote {}", self.output.display());
        Ok(())
    }

    fn measure_source(&self, source: &str, keys: Option<&Keys>, folder: &Path) -> anyhow::Result<Vec<Vec<String>>> {
        let output = folder.join("found.json");
        let mut command = twinset()?;
        command
            .args(["profile", source, "--score", "0", "--top", "100", "--quiet", "--export", "json", "--output"])
            .arg(&output);
        let usage = measure(&mut command, Duration::from_secs(self.allowed))?.context("twinset took too long")?;
        let found: Value = serde_json::from_slice(&std::fs::read(&output)?)?;
        let name = Path::new(source).file_name().map_or(source.to_owned(), |name| name.to_string_lossy().into_owned());
        let listed = listed(&found);
        let declared = declared(&found);
        let truth = keys.unwrap_or(&declared);
        let (right, precision, wrong) = ranking(&listed, truth);
        let mut rows = vec![row(&name, Some((truth.len(), right, precision, wrong)), &usage, &usage)];
        if self.peers && Path::new(source).is_dir() {
            let python = self.install()?;
            for peer in ["Faida", "Faida, single columns", "Spider"] {
                let mut command = Command::new(&python);
                let (algorithm, arity) =
                    peer.split_once(", ").map_or((peer, "{}"), |(name, _)| (name, "{\"max_arity\": 1}"));
                command.args(["-c", PEER, algorithm, arity]).arg(std::fs::canonicalize(source)?).current_dir(folder);
                match measure(&mut command, Duration::from_secs(self.allowed))? {
                    Some(used) => rows.push(row(&format!("{name}: {peer}"), None, &used, &usage)),
                    None => println!("{peer} took more than {} s", self.allowed),
                }
                // Faida leaves its files behind.
                let _ = std::fs::remove_dir_all(folder.join("temp"));
            }
        }
        Ok(rows)
    }

    fn install(&self) -> anyhow::Result<PathBuf> {
        let python = std::path::absolute(self.environment.join("bin").join("python"))?;
        if !python.exists() {
            let made = Command::new("python3").args(["-m", "venv"]).arg(&self.environment).status();
            if !made.context("python3 is needed")?.success() {
                bail!("the virtual environment could not be made: install python3-venv");
            }
        }
        let installed = Command::new(&python).args(["-m", "pip", "install", "--quiet", "desbordante"]).status()?;
        if !installed.success() {
            bail!("desbordante could not be installed");
        }
        Ok(python)
    }
}

/// Lists inclusions.
const PEER: &str = r#"
import sys, glob, json, desbordante
algorithm = getattr(desbordante.ind.algorithms, sys.argv[1])()
algorithm.load_data(tables=[(path, ',', True) for path in sorted(glob.glob(sys.argv[3] + '/*.csv'))])
algorithm.execute(**json.loads(sys.argv[2]))
print(len(algorithm.get_inds()))
"#;

fn row(name: &str, found: Option<(usize, usize, f64, usize)>, usage: &Usage, own: &Usage) -> Vec<String> {
    let (keys, right, precision, wrong) = match found {
        Some((keys, right, precision, wrong)) => {
            (keys.to_string(), right.to_string(), format!("{precision:.3}"), wrong.to_string())
        }
        None => Default::default(),
    };
    vec![
        name.to_owned(),
        keys,
        right,
        precision,
        wrong,
        format!("{:.2}", usage.seconds),
        format!("{:.2}", usage.cpu_seconds),
        format!("{:.2}", usage.seconds / own.seconds),
        format!("{} MB", usage.peak_bytes / 1_000_000),
    ]
}

/// The foreign keys of one column each, best first.
fn listed(found: &Value) -> Vec<(String, String)> {
    let relations = found["relations"].as_array().into_iter().flatten();
    let keys = relations.filter(|relation| relation["kind"] == "foreign-key" && is_found(relation));
    let name = |side: &Value| match side.as_array().map(Vec::as_slice) {
        Some([only]) => only.as_str().map(str::to_owned),
        _ => None,
    };
    keys.filter_map(|key| Some((name(&key["left"])?, name(&key["right"])?))).collect()
}

/// Whether the values speak for a key, so that it is not listed only because it is declared.
fn is_found(relation: &Value) -> bool {
    relation["evidence"]["key"].is_number()
}

/// The keys that the source declares, as far as they have values.
fn declared(found: &Value) -> Keys {
    let relations = found["relations"].as_array().into_iter().flatten();
    let keys = relations
        .filter(|relation| relation["kind"] == "foreign-key" && relation["declared"] == true && is_found(relation));
    let name = |side: &Value| side.as_array().and_then(|names| names.first()?.as_str().map(str::to_owned));
    keys.filter(|key| key["left"].as_array().is_some_and(|left| left.len() == 1))
        .filter_map(|key| Some((name(&key["left"])?, name(&key["right"])?)))
        .collect()
}

fn read_truth(path: &Path) -> anyhow::Result<Keys> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(text
        .lines()
        .filter_map(|line| line.split_once(','))
        .map(|(left, right)| (left.to_owned(), right.to_owned()))
        .collect())
}

/// How many true keys are listed, their average precision, and how many others stand above the last of them.
fn ranking(listed: &[(String, String)], truth: &Keys) -> (usize, f64, usize) {
    let (mut right, mut sum, mut wrong_above) = (0, 0.0, 0);
    for (place, key) in listed.iter().enumerate() {
        if truth.contains(key) {
            right += 1;
            sum += right as f64 / (place + 1) as f64;
            wrong_above = place + 1 - right;
        }
    }
    (right, sum / truth.len().max(1) as f64, wrong_above)
}

/// A database with known keys: tables that refer to earlier ones, in one of several conventions for names.
fn make_up(folder: &Path, seed: u64, rows: usize) -> anyhow::Result<Keys> {
    const THINGS: [&str; 12] = [
        "client", "order", "item", "store", "city", "country", "staff", "invoice", "payment", "vehicle", "route",
        "depot",
    ];
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    std::fs::create_dir_all(folder)?;
    let convention = seed % 3;
    let plural = |thing: &str| match convention {
        0 => thing.strip_suffix('y').map_or(format!("{thing}s"), |stem| format!("{stem}ies")),
        1 => thing[..1].to_uppercase() + &thing[1..],
        _ => thing.to_owned(),
    };
    let key = |thing: &str| match convention {
        0 => "id".to_owned(),
        1 => format!("{}Id", thing[..1].to_uppercase() + &thing[1..]),
        _ => format!("{thing}_no"),
    };
    let reference = |thing: &str| match convention {
        0 => format!("{thing}_id"),
        1 => key(thing),
        _ => thing.to_owned(),
    };
    let mut keys = Keys::new();
    let mut sizes: Vec<(&str, usize)> = Vec::new();
    for thing in THINGS {
        let size = (rows as f64).powf(random.random_range(0.2..1.0)) as usize + 5;
        let targets: Vec<(&str, usize)> = sizes.sample(&mut random, 3).copied().collect();
        let has_parent = random.random_bool(0.3);
        let mut header = vec![key(thing)];
        header.extend(targets.iter().map(|(target, _)| reference(target)));
        if has_parent {
            header.push("parent_id".to_owned());
            keys.insert((format!("{}.parent_id", plural(thing)), format!("{}.{}", plural(thing), key(thing))));
        }
        header.extend(["amount", "note", "created"].map(str::to_owned));
        for (target, _) in &targets {
            keys.insert((
                format!("{}.{}", plural(thing), reference(target)),
                format!("{}.{}", plural(target), key(target)),
            ));
        }
        let mut text = header.join(",") + "\n";
        for number in 1..=size {
            let mut cells = vec![number.to_string()];
            cells.extend(targets.iter().map(|(_, size)| skewed(&mut random, *size)));
            if has_parent {
                cells.push(if random.random_bool(0.2) { String::new() } else { skewed(&mut random, size) });
            }
            let (amount, note) = (random.random_range(1..50), random.random_range(0..size));
            let day = random.random_range(1..29);
            cells.extend([amount.to_string(), format!("note {note}"), format!("2024-03-{day:02}")]);
            writeln!(text, "{}", cells.join(","))?;
        }
        std::fs::write(folder.join(format!("{}.csv", plural(thing))), text)?;
        sizes.push((thing, size));
    }
    Ok(keys)
}

/// One of the numbers up to a size, small ones more often; sometimes none.
fn skewed(random: &mut impl Rng, size: usize) -> String {
    if random.random_bool(0.03) {
        return String::new();
    }
    let share: f64 = random.random_range(0.0..1.0);
    ((share.powf(1.5) * size as f64) as usize + 1).to_string()
}
