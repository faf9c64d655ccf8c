//! A format that this build cannot read or write is refused, with the feature that it needs.

use std::path::Path;

use twinset::{Run, TokenOptions};
use twinset_io::read::{Arrival, Inputs, for_each_arrival};
use twinset_io::write::{Kind, Table};
use twinset_io::{
    Content, Destination, Error, Format, Keeping, Output, OutputFormat, OutputOptions, ReadOptions, SketchFile,
    are_rdf, load,
};

const REMEDY: &str = "build it with `cargo install --path crates/twinset-cli --features full --locked`";

/// Files, what a build without the feature says of them, and the feature.
const CASES: [(&str, &str, &str, bool); 8] = [
    ("a.parquet", "read parquet", "parquet", cfg!(feature = "parquet")),
    ("a.html", "read web pages (html)", "web", cfg!(feature = "web")),
    ("a.xhtml.gz", "read web pages (html)", "web", cfg!(feature = "web")),
    ("a.warc.zst", "read web pages (warc)", "web", cfg!(feature = "web")),
    ("a.ttl", "read RDF (ttl)", "rdf", cfg!(feature = "rdf")),
    ("a.nt", "read RDF (nt)", "rdf", cfg!(feature = "rdf")),
    ("a.owl", "read RDF (rdf)", "rdf", cfg!(feature = "rdf")),
    ("a.jsonld", "read RDF (jsonld)", "rdf", cfg!(feature = "rdf")),
];

/// Checks that an error is about a missing feature, and what it says.
fn check<T>(result: Result<T, Error>, file: &str, action: &str, missing: &str) {
    let error = result.err().unwrap_or_else(|| panic!("{file} is not refused"));
    assert_eq!(error.to_string(), format!("{file}: this build of twinset cannot {action}; {REMEDY}"));
    assert!(matches!(error, Error::MissingFeature { feature, .. } if feature == missing), "{file}: {error:?}");
}

#[test]
fn formats_that_are_missing_are_refused() {
    for (name, action, feature, is_there) in CASES {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, "").unwrap();
        let title = path.display().to_string();
        for paths in [&path, folder.path()] {
            let found = Inputs::find([paths], None);
            if is_there {
                assert!(found.is_ok(), "{name} is refused");
            } else {
                check(found, &title, action, feature);
            }
        }
    }
}

#[test]
fn formats_that_are_missing_are_refused_whatever_the_ending() {
    let tokens = TokenOptions::default();
    for (name, action, feature, _) in CASES.into_iter().filter(|case| !case.3) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "one\n").unwrap();
        let title = path.display().to_string();
        let format = Format::of_path(Path::new(name));
        check(Inputs::find([&path], format), &title, action, feature);
        check(Inputs::find(["-"], format), "standard input", action, feature);
        // Also where the files were found by other options.
        let inputs = Inputs::find([&path], None).unwrap();
        let (options, run) = (ReadOptions { format, ..ReadOptions::default() }, Run::default());
        check(are_rdf(&inputs, &options), &title, action, feature);
        let keeping = Keeping::all(Content::Sets(&tokens));
        check(load(std::slice::from_ref(&inputs), &options, keeping, &run), &title, action, feature);
        check(for_each_arrival(&inputs, &options, &run, |_: Arrival<'_>| Ok(())), &title, action, feature);
    }
}

#[test]
fn outputs_that_are_missing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pairs.parquet");
    let options = OutputOptions { output: path.clone().into(), output_format: None };
    if cfg!(feature = "parquet") {
        assert!(options.open().is_ok());
        return;
    }
    let title = path.display().to_string();
    check(options.open(), &title, "write parquet", "parquet");
    let options = OutputOptions { output: Destination::Standard, output_format: Some(OutputFormat::Parquet) };
    check(options.open(), "standard output", "write parquet", "parquet");
    let output = Output::create(&path).unwrap();
    check(Table::create(output, OutputFormat::Parquet, [("id", Kind::Text)]), &title, "write parquet", "parquet");
    let sketches = folder.path().join("a.sketch");
    let read = SketchFile::read(&sketches, &Run::default());
    check(read, &sketches.display().to_string(), "read files of sketches", "parquet");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}
