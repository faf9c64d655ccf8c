//! The news service under load: many clients search while others post, and it may be killed meanwhile.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use twinset_io::generate::{GenerateOptions, Generator};

use crate::print_table;
use crate::process::twinset;

/// How fast the service answers while others post, whether its memory stays, and whether anything is lost when it is killed
#[derive(clap::Args)]
pub(crate) struct Serve {
    /// How many articles there are before
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    articles: u64,
    /// How many words an article has on average
    #[arg(long, value_name = "N", default_value_t = 150)]
    words: u32,
    /// How many clients search
    #[arg(long, value_name = "N", default_value_t = 50)]
    searching: u64,
    /// How many clients post
    #[arg(long, value_name = "N", default_value_t = 5)]
    posting: u64,
    /// For how long
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
    /// Kill the service in the middle, start it again, and look for everything that it acknowledged
    #[arg(long)]
    kill: bool,
    /// A folder that holds the articles of an earlier run, or will
    #[arg(long, value_name = "DIR")]
    data: Option<std::path::PathBuf>,
    /// Write the log of the service to FILE
    #[arg(long, value_name = "FILE")]
    log: Option<std::path::PathBuf>,
}

/// A service that runs.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(data: &Path, log: Option<&Path>) -> anyhow::Result<Self> {
        let mut log: Box<dyn Write + Send> = match log {
            Some(path) => Box::new(std::fs::File::create(path)?),
            None => Box::new(std::io::sink()),
        };
        let mut command: Command = twinset()?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("standard error is piped")?);
        let mut line = String::new();
        loop {
            line.clear();
            if lines.read_line(&mut line)? == 0 {
                bail!("the service ended before it listened");
            }
            if let Some((_, rest)) = line.split_once("http://") {
                let address = rest.split_whitespace().next().unwrap_or_default();
                let address = format!("http://{address}");
                // The log must be read, or the service would wait for someone to do so.
                std::thread::spawn(move || std::io::copy(&mut lines, &mut log));
                return Ok(Self { child, address });
            }
        }
    }

    /// How many megabytes it holds now.
    fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// What clients saw.
#[derive(Default)]
struct Seen {
    searches: Vec<f64>,
    posts: Vec<f64>,
    errors: Vec<String>,
    /// Articles that were acknowledged: their numbers, and a word that only they have.
    acknowledged: Vec<(i64, String)>,
}

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let temporary = tempfile::tempdir()?;
        let data = self.data.clone().unwrap_or_else(|| temporary.path().join("news"));
        let texts = self.texts()?;
        if !data.join("news.sqlite").exists() {
            let file = temporary.path().join("articles.jsonl");
            let mut output = std::io::BufWriter::new(std::fs::File::create(&file)?);
            for (number, text) in (0..).zip(&texts) {
                writeln!(output, "{}", article(number, text, None))?;
            }
            drop(output.into_inner()?);
            let mut command = twinset()?;
            let begin = Instant::now();
            let status = command
                .args(["serve", "--quiet", "--import-only", "--data"])
                .arg(&data)
                .arg("--import")
                .arg(&file)
                .status()?;
            if !status.success() {
                bail!("the articles could not be imported");
            }
            println!("{} articles imported in {:.0} s", texts.len(), begin.elapsed().as_secs_f64());
        }
        tokio::runtime::Runtime::new()?.block_on(self.load(&data, Arc::new(texts)))
    }

    fn texts(&self) -> anyhow::Result<Vec<String>> {
        let options =
            GenerateOptions { records: self.articles, words: self.words, seed: 3, ..GenerateOptions::default() };
        Ok(Generator::new(&options)?.map(|record| record.text()).collect())
    }

    async fn load(&self, data: &Path, texts: Arc<Vec<String>>) -> anyhow::Result<()> {
        let running = Running::start(data, self.log.as_deref())?;
        let seen = Arc::new(Mutex::new(Seen::default()));
        let end = Instant::now() + Duration::from_secs(self.seconds);
        // The client of HTTPS needs one, although nothing of it is used here.
        _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build()?;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..self.searching + self.posting {
            let (client, address, texts, seen) = (client.clone(), running.address.clone(), texts.clone(), seen.clone());
            let is_poster = number >= self.searching;
            tasks.spawn(async move {
                let mut random = ChaCha8Rng::seed_from_u64(number ^ u64::from(std::process::id()) << 16);
                while Instant::now() < end {
                    let text = &texts[random.random_range(0..texts.len())];
                    let (begin, result) = if is_poster {
                        let word = format!("w{:016x}", random.random::<u64>());
                        let body = article(random.random_range(1 << 40..1 << 50), text, Some(&word));
                        (Instant::now(), post(&client, &address, &body).await.map(|id| Some((id, word))))
                    } else {
                        let words: Vec<&str> = text.split_whitespace().collect();
                        let place = random.random_range(0..words.len().saturating_sub(1).max(1));
                        let words = words[place..].iter().take(2).copied().collect::<Vec<_>>().join("+");
                        let url = format!("{address}/api/search?q={words}");
                        (Instant::now(), get(&client, &url).await.map(|_| None))
                    };
                    let seconds = begin.elapsed().as_secs_f64();
                    let mut seen = seen.lock().await;
                    match result {
                        Ok(acknowledged) => {
                            if is_poster { &mut seen.posts } else { &mut seen.searches }.push(seconds);
                            seen.acknowledged.extend(acknowledged);
                        }
                        Err(error) => {
                            seen.errors.push(error.to_string());
                            drop(seen);
                            tokio::time::sleep(Duration::from_millis(100)).await;
                        }
                    }
                }
            });
        }
        let mut memory = Vec::new();
        for _ in 0..6 {
            tokio::time::sleep(Duration::from_secs(self.seconds) / 7).await;
            memory.push(format!("{:.0}", running.memory()));
            if self.kill && memory.len() == 3 {
                break;
            }
        }
        if self.kill {
            drop(running);
            tasks.shutdown().await;
            let begin = Instant::now();
            let again = Running::start(data, None)?;
            println!("killed, and listening again after {:.1} s", begin.elapsed().as_secs_f64());
            let lost = lost(&client, &again.address, &seen.lock().await.acknowledged).await?;
            println!(
                "{} articles were acknowledged, {} of them are missing",
                seen.lock().await.acknowledged.len(),
                lost.len()
            );
            return if lost.is_empty() { Ok(()) } else { bail!("missing: {:?}", &lost[..lost.len().min(5)]) };
        }
        while tasks.join_next().await.is_some() {}
        drop(running);
        let mut seen = seen.lock().await;
        let seconds = self.seconds as f64;
        let row = |name: &str, times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            let at = |share: f64| times.get((times.len() as f64 * share) as usize).map_or(0.0, |time| 1e3 * time);
            let rate = times.len() as f64 / seconds;
            vec![
                name.to_owned(),
                times.len().to_string(),
                format!("{rate:.0}"),
                format!("{:.1}", at(0.5)),
                format!("{:.1}", at(0.99)),
                format!("{:.1}", at(0.9999)),
            ]
        };
        let (mut searches, mut posts) = (std::mem::take(&mut seen.searches), std::mem::take(&mut seen.posts));
        let rows = [row("search", &mut searches), row("post", &mut posts)];
        print_table(&["what", "count", "a second", "p50 ms", "p99 ms", "p99.99 ms"], &rows);
        println!("{} errors, memory over time in MB: {}", seen.errors.len(), memory.join(", "));
        match seen.errors.first() {
            None => Ok(()),
            Some(error) => bail!("the first error: {error}"),
        }
    }
}

/// An article as it is posted.
fn article(number: u64, text: &str, word: Option<&str>) -> Value {
    let title: Vec<&str> = text.split_whitespace().take(8).collect();
    let day = 1 + number % 28;
    json!({
        "url": format!("https://source{}.example/{number}", number % 60),
        "title": format!("{} {}", title.join(" "), word.unwrap_or_default()),
        "text": text,
        "published": format!("2026-02-{day:02}T{:02}:00:00Z", number % 24),
        "source": format!("Source {}", number % 60),
    })
}

/// An answer, which whoever measures does not read: clients and service share the processor.
async fn get(client: &Client, url: &str) -> anyhow::Result<impl AsRef<[u8]>> {
    let response = client.get(url).send().await?;
    let (status, body) = (response.status(), response.bytes().await?);
    if !status.is_success() {
        bail!("{url}: {status} {}", String::from_utf8_lossy(&body));
    }
    Ok(body)
}

async fn read(client: &Client, url: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(get(client, url).await?.as_ref())?)
}

async fn post(client: &Client, address: &str, article: &Value) -> anyhow::Result<i64> {
    let request = client.post(format!("{address}/api/articles")).header("content-type", "application/json");
    let response = request.body(article.to_string()).send().await?;
    let (status, body) = (response.status(), response.bytes().await?);
    if !status.is_success() {
        bail!("post: {status} {}", String::from_utf8_lossy(&body));
    }
    serde_json::from_slice::<Value>(&body)?["id"].as_i64().context("a receipt has a number")
}

/// The articles that are not found by search, or not by similarity.
async fn lost(client: &Client, address: &str, acknowledged: &[(i64, String)]) -> anyhow::Result<Vec<(i64, String)>> {
    let mut lost = Vec::new();
    for (id, word) in acknowledged {
        let found = read(client, &format!("{address}/api/search?q={word}")).await?;
        let is_found = found["articles"] == 1
            && found["stories"][0]["articles"]
                .as_array()
                .is_some_and(|articles| articles.iter().any(|article| article["id"] == *id));
        let article = read(client, &format!("{address}/api/articles/{id}")).await?;
        let body = json!({ "title": article["title"], "text": article["text"], "min_sim": 0.9 });
        let request = client.post(format!("{address}/api/similar")).header("content-type", "application/json");
        let similar: Value = serde_json::from_slice(&request.body(body.to_string()).send().await?.bytes().await?)?;
        let is_similar = similar.as_array().is_some_and(|found| found.iter().any(|found| found["id"] == *id));
        if !is_found || !is_similar {
            lost.push((*id, word.clone()));
        }
    }
    Ok(lost)
}
