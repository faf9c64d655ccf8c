//! Databases in files that anybody may have made.

use twinset::Run;
use twinset_io::Limits;
use twinset_profile::{Export, ProfileOptions, profile};

use crate::scratch;

/// A SQLite file, as a source of a profile.
pub(crate) fn databases(data: &[u8]) {
    let path = scratch::file("shop.sqlite", data).display().to_string();
    let limits = Limits { record: 1 << 20, ..Limits::default() };
    // Views may ask for more than anybody can wait for.
    let options = ProfileOptions { views: true, timeout: 2.0, limits, ..ProfileOptions::default() };
    let read = || match profile(std::slice::from_ref(&path), &options, None, &Run::default()) {
        Ok(profile) => format!("{}\n{:?}", profile.export(Export::Json), profile.problems),
        Err(error) => error.to_string(),
    };
    let (once, again) = (read(), read());
    let took_too_long = |told: &str| told.contains("--timeout");
    assert!(once == again || took_too_long(&once) || took_too_long(&again), "a database that is read twice");
}
