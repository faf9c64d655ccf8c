//! Other tools on the same texts, from raw text to pairs: what they take, and what they find.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use maud::html;
use twinset_io::generate::{GenerateOptions, Generator};
use twinset_report::{bars, table};

use crate::process::{Usage, measure, twinset};
use crate::write_page;

/// Twinset and its peers on the same texts in one run: time, CPU, memory, recall and precision
///
/// Installs SetSimilaritySearch, datasketch, rensa, gaoya and the Python package of this repository into a virtual environment.
/// Needs python3.
#[derive(clap::Args)]
pub(crate) struct Peers {
    /// A file of texts, one a line (default: generated ones)
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// How many texts to generate where there is no --data
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    records: u64,
    /// How many words a generated text has on average
    #[arg(long, value_name = "N", default_value_t = 70)]
    words: u32,
    /// The Jaccard similarity from which two texts are a pair
    #[arg(long, value_name = "T", default_value_t = 0.8)]
    threshold: f64,
    /// How many words a shingle has
    #[arg(long, value_name = "K", default_value_t = 5)]
    shingle: u32,
    /// Where the peers are installed
    #[arg(long, value_name = "FOLDER", default_value = "target/peers")]
    environment: PathBuf,
    /// A peer that takes longer, in seconds, is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    allowed: u64,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "peers.html")]
    output: PathBuf,
}

const PEERS: [&str; 4] = ["SetSimilaritySearch", "datasketch", "rensa", "gaoya"];

/// The package of this repository.
const OWN: &str = "twinset";

type Pairs = HashSet<(u32, u32)>;

/// One line of the comparison.
struct Row {
    name: String,
    usage: Option<Usage>,
    /// The file of pairs, and what their record numbers start from.
    output: PathBuf,
    first: u32,
}

/// What twinset takes, with which others are compared: seconds in Python, and CPU of the command.
struct Own {
    seconds: f64,
    cpu_seconds: f64,
}

impl Peers {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let python = self.install()?;
        let folder = tempfile::tempdir()?;
        let texts = folder.path().join("texts.txt");
        let records = self.write_texts(&texts)?;
        let mut rows = vec![
            self.run_twinset("twinset, all cores", &texts, folder.path(), &[])?,
            self.run_twinset("twinset, one thread", &texts, folder.path(), &["--threads", "1"])?,
        ];
        let own_in_python = rows.len();
        for peer in [OWN].into_iter().chain(PEERS) {
            rows.push(self.run_peer(&python, peer, &texts, folder.path())?);
        }
        let ppjoin = self.run_twinset("ppjoin, for the truth", &texts, folder.path(), &["--algorithm", "ppjoin"])?;
        if ppjoin.usage.is_none() {
            bail!(
                "ppjoin did not end in the time allowed, so there is nothing to compare with: give it more (--allowed)"
            );
        }
        let truth = ppjoin.pairs()?;
        let title = format!("{records} texts, {}-word shingles, Jaccard {}", self.shingle, self.threshold);
        let header = [
            "tool",
            "pairs",
            "recall",
            "precision",
            "seconds",
            "× twinset in Python",
            "CPU",
            "× twinset",
            "memory",
            "verdict",
        ];
        let own = Own { seconds: rows[own_in_python].seconds(), cpu_seconds: rows[0].cpu_seconds() };
        let cells = rows.iter().map(|row| row.cells(&truth, &own)).collect::<anyhow::Result<Vec<_>>>()?;
        println!("{title}\n{}", header.join(" | "));
        for row in &cells {
            println!("{}", row.join(" | "));
        }
        let chart = rows.iter().filter_map(|row| Some((row.name.as_str(), row.usage.as_ref()?.cpu_seconds)));
        let body = html! {
            p { "Every tool starts from the same file of raw texts and ends with a file of pairs, in a process of its own. "
                "Two texts are a pair if the sets of their shingles reach the threshold. Recall is the share of these pairs "
                "that a tool found, precision the share of its pairs that are such pairs. The pairs are those of twinset's "
                "faithful ppjoin; SetSimilaritySearch is exact as well, so its row is a check of them. Seconds are compared "
                "with those of twinset in Python, as the peers are Python packages, and CPU with that of the command on all cores." }
            (table(&title, &header, &cells))
            (bars("CPU seconds, all cores together", &chart.collect::<Vec<_>>(), 2))
        };
        write_page(&self.output, "Twinset and its peers", &body)?;
        println!("wrote {}", self.output.display());
        Ok(())
    }

    /// Makes the virtual environment, and gives its Python.
    fn install(&self) -> anyhow::Result<PathBuf> {
        let python = self.environment.join("bin").join("python");
        if !python.exists() {
            let made = Command::new("python3").args(["-m", "venv"]).arg(&self.environment).status();
            if !made.context("python3 is needed")?.success() {
                bail!("the virtual environment could not be made: install python3-venv");
            }
        }
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let installed =
            Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PEERS).arg(own).status()?;
        if !installed.success() {
            bail!("the peers could not be installed");
        }
        Ok(python)
    }

    /// Writes the texts, one a line, and returns how many there are.
    ///
    /// What this process once held counts as memory of those that it starts, so it holds little.
    fn write_texts(&self, path: &Path) -> anyhow::Result<usize> {
        if let Some(data) = &self.data {
            std::fs::copy(data, path).with_context(|| data.display().to_string())?;
            return Ok(BufReader::new(File::open(path)?).lines().count());
        }
        let options = GenerateOptions { records: self.records, words: self.words, ..GenerateOptions::default() };
        let mut file = BufWriter::new(File::create(path)?);
        for record in Generator::new(&options)? {
            writeln!(file, "{}", record.text())?;
        }
        file.flush()?;
        Ok(self.records as usize)
    }

    fn run_twinset(&self, name: &str, texts: &Path, folder: &Path, more: &[&str]) -> anyhow::Result<Row> {
        let output = folder.join(format!("{name}.csv"));
        let mut command = twinset()?;
        command
            .args(["join", "--quiet", "--repeats", "ignore"])
            .args(["--tokens", &format!("shingles:{}", self.shingle)]);
        command.args(["--threshold", &self.threshold.to_string()]).args(more);
        command.arg("--output").arg(&output).arg(texts);
        println!("{name} …");
        let usage = measure(&mut command, Duration::from_secs(self.allowed))?;
        Ok(Row { name: name.to_owned(), usage, output, first: 1 })
    }

    fn run_peer(&self, python: &Path, peer: &str, texts: &Path, folder: &Path) -> anyhow::Result<Row> {
        let version = format!("import importlib.metadata as m; print(m.version('{peer}'))");
        let version = Command::new(python).args(["-c", &version]).output()?.stdout;
        let kind = if peer == OWN { ", in Python" } else { "" };
        let name = format!("{peer} {}{kind}", String::from_utf8_lossy(&version).trim());
        let output = folder.join(format!("{peer}.csv"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers.py");
        let mut command = Command::new(python);
        command.arg(script).arg(peer).arg(texts);
        command.args([self.threshold.to_string(), self.shingle.to_string()]).arg(&output);
        println!("{name} …");
        let usage = measure(&mut command, Duration::from_secs(self.allowed))?;
        Ok(Row { name, usage, output, first: 0 })
    }
}

impl Row {
    /// The pairs that were found.
    fn pairs(&self) -> anyhow::Result<Pairs> {
        let text = std::fs::read_to_string(&self.output)?;
        let number = |field: Option<&str>| field?.parse::<u32>().ok()?.checked_sub(self.first);
        let pair = |line: &str| {
            let mut fields = line.split(',');
            Some((number(fields.next())?, number(fields.next())?))
        };
        Ok(text.lines().filter_map(pair).collect())
    }

    /// How long it took, if it ended.
    fn seconds(&self) -> f64 {
        self.usage.as_ref().map_or(f64::NAN, |usage| usage.seconds)
    }

    fn cpu_seconds(&self) -> f64 {
        self.usage.as_ref().map_or(f64::NAN, |usage| usage.cpu_seconds)
    }

    fn cells(&self, truth: &Pairs, own: &Own) -> anyhow::Result<Vec<String>> {
        let mut cells = vec![self.name.clone()];
        let Some(usage) = &self.usage else {
            cells.extend(["", "", "", "", "", "", "", "", "did not end in the time allowed"].map(str::to_owned));
            return Ok(cells);
        };
        let pairs = self.pairs()?;
        let right = pairs.intersection(truth).count();
        let share = |of: usize| if of == 0 { 1.0 } else { right as f64 / of as f64 };
        let (lost, wrong) = (truth.len() - right, pairs.len() - right);
        cells.push(pairs.len().to_string());
        cells.push(format!("{:.4}", share(truth.len())));
        cells.push(format!("{:.4}", share(pairs.len())));
        cells.push(format!("{:.2}", usage.seconds));
        cells.push(format!("{:.1}", usage.seconds / own.seconds));
        cells.push(format!("{:.2}", usage.cpu_seconds));
        cells.push(format!("{:.1}", usage.cpu_seconds / own.cpu_seconds));
        cells.push(format!("{:.0} MB", usage.peak_bytes as f64 / 1e6));
        cells.push(match (lost, wrong) {
            (0, 0) => "exact".to_owned(),
            (lost, 0) => format!("loses {lost} pairs"),
            (0, wrong) => format!("reports {wrong} false pairs"),
            (lost, wrong) => format!("loses {lost} pairs, reports {wrong} false ones"),
        });
        Ok(cells)
    }
}
