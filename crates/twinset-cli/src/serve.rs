//! `twinset serve`: the news service.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use tracing_subscriber::EnvFilter;
use twinset_server::{ImportSummary, News, ServeOptions, import, serve, show_demo};

/// Serves news: articles in, stories out, each to be read once
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    #[command(flatten)]
    options: ServeOptions,
    /// Write a copy of all articles to FILE and end; a service on the same folder goes on meanwhile
    #[arg(long, value_name = "FILE", conflicts_with = "demo", help_heading = "Run")]
    backup: Option<PathBuf>,
    /// Only take in what --import names, and end
    #[arg(long, requires = "import", help_heading = "Run")]
    import_only: bool,
    /// Write the log as lines of JSON
    #[arg(long, help_heading = "Run")]
    log_json: bool,
    /// No log, except for failures
    #[arg(long, short, help_heading = "Run")]
    quiet: bool,
}

/// So much time passes between two words on how many articles were taken in.
const TELL_AFTER: Duration = Duration::from_secs(2);

const EXAMPLES: &str = "Examples:
  twinset serve --demo
  twinset serve --data news --feed https://example.com/feed.xml
  twinset serve --data news --import articles.jsonl --window-days 7
  twinset serve --data news --listen 0.0.0.0:8080 --key-file keys
  twinset serve --data news --backup news-copy.sqlite

A backup is restored by putting it into an empty folder as news.sqlite; everything else is made from it.";

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let filter = EnvFilter::new(if self.quiet { "error" } else { "warn,twinset_server=info,twinset_cli=info" });
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        if self.log_json {
            log.json().init()
        } else {
            log.with_target(false).init()
        }
        let temporary =
            self.options.data.is_none().then(tempfile::tempdir).transpose().context("no folder for the demo")?;
        let folder = self.options.data.clone().or(temporary.as_ref().map(|folder| folder.path().to_owned()));
        let folder = folder.context("--data is needed")?;
        if let Some(to) = &self.backup {
            twinset_server::back_up(&folder, to)?;
            eprintln!("{} is a copy of all articles of {}", to.display(), folder.display());
            return Ok(());
        }
        let news = News::open(&folder, &self.options)?;
        if self.options.demo {
            show_demo(&news)?;
        }
        for path in &self.options.import {
            let (mut taken, mut told) = (0, Instant::now());
            let imported = import(&news, path, |more| {
                taken += more;
                if told.elapsed() >= TELL_AFTER {
                    told = Instant::now();
                    tracing::info!(articles = taken, from = %path.display(), "import");
                }
            })?;
            report(path, &imported);
        }
        if self.import_only {
            return Ok(());
        }
        let quiet = self.quiet;
        serve(news, &self.options, stopped(), |address| {
            if !quiet {
                eprintln!("The stories are at http://{address} (stop with Ctrl-C)");
            }
        })?;
        Ok(())
    }
}

fn report(path: &std::path::Path, imported: &ImportSummary) {
    let ImportSummary { new, replaced, unchanged, ignored, problems, refused, outdated } = imported;
    let also = |count: &u64, what: &str| if *count == 0 { String::new() } else { format!(", {count} {what}") };
    eprintln!(
        "{}: {new} new, {replaced} replaced, {unchanged} unchanged, {refused} refused{}{}",
        path.display(),
        also(ignored, "ignored (another source or feed has as much text or more)"),
        also(outdated, "too old to be kept"),
    );
    for problem in problems {
        eprintln!("  {problem}");
    }
}

/// Waits for Ctrl-C, or for the signal by which services are ended.
async fn stopped() {
    let interrupted = tokio::signal::ctrl_c();
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
        }
        Err(_) => _ = interrupted.await,
    }
}
