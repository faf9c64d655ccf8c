//! Settings as text and as JSON: refused, or understood and written again as the same.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use twinset::estimate::EstimateOptions;
use twinset::exact::{Bounds, Collections, JoinOptions};
use twinset::tokenize::{Language, Reduce, StopWords};
use twinset::{Measure, Method, Search, Threshold, TokenKind, TokenOptions};
use twinset_io::DedupOptions;
use twinset_io::generate::GenerateOptions;
use twinset_io::read::{Literals, RdfOptions, Resources};
use twinset_io::{ByteSize, Format, OutputFormat, OutputOptions, ReadOptions, SketchSettings};
use twinset_profile::ProfileOptions;
use twinset_server::{Moment, ServeOptions};

use crate::bytes::Bytes;

/// A kind of setting, as the first byte says, in the rest.
pub(crate) fn settings(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let kind = bytes.below(22);
    let Ok(text) = std::str::from_utf8(bytes.rest()) else { return };
    match kind {
        0 => threshold(text),
        1 => as_text::<ByteSize>(text),
        2 => as_text::<TokenKind>(text),
        3 => as_text::<Reduce>(text),
        4 => as_text::<Measure>(text),
        5 => as_text::<Format>(text),
        6 => as_text::<Resources>(text),
        7 => as_text::<Literals>(text),
        8 => as_text::<Language>(text),
        9 => _ = text.parse::<OutputFormat>(),
        10 => _ = text.parse::<StopWords>(),
        11 => as_json::<ReadOptions>(text),
        12 => as_json::<SketchSettings>(text),
        13 => as_json::<twinset_index::Settings>(text),
        14 => as_json::<ProfileOptions>(text),
        15 => as_json::<EstimateOptions>(text),
        16 => moment(text),
        18 => as_json::<RdfOptions>(text),
        19 => as_json::<ServeOptions>(text),
        20 => as_json::<OutputOptions>(text),
        21 => as_json::<GenerateOptions>(text),
        _ => used(text),
    }
}

/// A threshold is exact, and all its bounds make sense for every measure.
fn threshold(text: &str) {
    as_text::<Threshold>(text);
    let Ok(threshold) = text.parse::<Threshold>() else { return };
    for measure in Measure::of_sets() {
        for collections in [Collections::One, Collections::Two] {
            let Ok(bounds) = Bounds::new(measure, threshold, collections) else { continue };
            for (left, right) in [(0, 0), (1, 1), (3, 5), (1000, 7), (u32::MAX, u32::MAX), (u32::MAX, 1)] {
                let least = bounds.min_overlap(left, right);
                if least <= left.min(right) {
                    assert!(bounds.accepts(left, right, least), "{measure} {threshold}: {least} of {left} and {right}");
                    assert!(least == 0 || !bounds.accepts(left, right, least - 1), "{measure} {threshold}: {least}");
                }
            }
        }
    }
}

fn moment(text: &str) {
    if let Ok(moment) = Moment::parse(text) {
        assert_eq!(Moment::parse(&moment.iso()).ok().map(|again| again.0), Some(moment.0), "{text}");
    }
}

/// What is understood is written as something that means the same.
fn as_text<T: FromStr + Display + PartialEq + Debug>(text: &str) {
    let Ok(setting) = text.parse::<T>() else { return };
    let written = setting.to_string();
    assert_eq!(written.parse::<T>().ok(), Some(setting), "{text:?} was written as {written:?}");
}

fn as_json<T: DeserializeOwned + Serialize + PartialEq + Debug>(text: &str) {
    let Ok(setting) = serde_json::from_str::<T>(text) else { return };
    let written = serde_json::to_string(&setting).expect("settings can be written");
    let again = serde_json::from_str::<T>(&written);
    assert_eq!(again.ok(), Some(setting), "{text:?} was written as {written:?}");
}

/// Settings of a whole run, by which a few records are joined and grouped.
fn used(text: &str) {
    const TEXTS: [&str; 6] = ["the cat sat", "a cat sat", "the cat sat down", "", "größer & ﬁner", "the the the cat"];
    let mut parts = text.splitn(4, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let Ok(join) = serde_json::from_str::<JoinOptions>(part()) else { return };
    let tokens: TokenOptions = serde_json::from_str(part()).unwrap_or_default();
    let groups: DedupOptions = serde_json::from_str(part()).unwrap_or_default();
    let estimate: EstimateOptions = serde_json::from_str(part()).unwrap_or_default();
    let search = Search { tokens, join, estimate, link: groups.link, ..Search::default() };
    for method in [search.estimate.method, Method::Exact, Method::MinHash, Method::Lsh, Method::Kmv] {
        let search = search.clone().method(method);
        _ = (
            search.dedup(TEXTS),
            search.dedup_against(TEXTS, TEXTS),
            search.count(TEXTS),
            search.nearest(TEXTS, TEXTS),
        );
        let pairs = search.join_two(TEXTS, TEXTS).map(|pairs| pairs.iter().filter(Result::is_ok).count() as u64);
        assert!(pairs.is_err() || pairs == search.join_two(TEXTS, TEXTS).map(|pairs| pairs.len()));
    }
}
