//! How the service runs.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::terms::Compare;

/// What the service keeps, where it listens, and what it lets in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ServeOptions {
    /// The folder that holds everything; it is made if it is not there
    #[cfg_attr(feature = "clap", arg(long, value_name = "DIR", required_unless_present = "demo"))]
    pub data: Option<PathBuf>,
    /// Where to listen; anything but this machine needs --key-file
    #[cfg_attr(feature = "clap", arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080"))]
    pub listen: SocketAddr,
    /// Show a sample collection, in a folder that is gone afterwards unless --data names one
    #[cfg_attr(feature = "clap", arg(long))]
    pub demo: bool,
    /// Take in articles from a jsonl file, or from a folder of jsonl, html, txt, rss and atom files; repeat it for several
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH", help_heading = "Articles"))]
    pub import: Vec<PathBuf>,
    /// Follow an RSS or Atom feed, or all of an OPML list, at an address; or take in a file of either; repeat it for several
    #[cfg_attr(feature = "clap", arg(long, value_name = "FEED", help_heading = "Articles"))]
    pub feed: Vec<String>,
    /// Feeds are asked every N minutes, and less often when they fail
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=10_080), help_heading = "Articles"))]
    pub poll_minutes: u32,
    /// Let feeds be fetched from private and loopback addresses
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Articles"))]
    pub allow_private: bool,
    /// A program that finds entities: a line of JSON in, a line out
    #[cfg_attr(feature = "clap", arg(long, value_name = "COMMAND", help_heading = "Articles"))]
    pub extractor: Option<String>,
    /// Remove articles that are older than N days
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Articles"))]
    pub keep_days: Option<u32>,
    /// Keep the newest N articles
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Articles"))]
    pub keep_count: Option<u64>,
    /// What articles are compared by (default: both; fixed when a folder is first used)
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT", help_heading = "Stories"))]
    #[cfg_attr(feature = "clap", arg(value_parser = twinset::support::name_parser::<Compare>()))]
    pub compare: Option<Compare>,
    /// Copies lie at most N days apart
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Stories"))]
    pub window_days: Option<u32>,
    /// Where the label index lies: a folder, postgres://… or mysql://… (default: in the data folder)
    #[cfg_attr(feature = "clap", arg(long, value_name = "ADDRESS", help_heading = "Stories"))]
    pub index: Option<String>,
    /// How many labels an article has (default: 40, or as the label index was made)
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Stories"))]
    pub trees: Option<u32>,
    /// How many bits a label has (default: 50, or as the label index was made)
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Stories"))]
    pub bits: Option<u32>,
    /// A number on which labels depend: a random one that you keep to yourself, where strangers send articles (default: the one that was given before, or 0)
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Stories"))]
    pub seed: Option<u64>,
    /// A file with two lines, `read KEY` and `write KEY`, of at least 16 characters each
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = "Security"))]
    pub key_file: Option<PathBuf>,
    /// What is too much.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub limits: Limits,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            data: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            demo: false,
            import: Vec::new(),
            feed: Vec::new(),
            poll_minutes: 15,
            allow_private: false,
            extractor: None,
            keep_days: None,
            keep_count: None,
            compare: None,
            window_days: None,
            index: None,
            trees: None,
            bits: None,
            seed: None,
            key_file: None,
            limits: Limits::default(),
        }
    }
}
