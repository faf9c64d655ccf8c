//! Files of every format: read whole, with and without bad records, twice, record by record, and copied.

use std::path::{Path, PathBuf};

use twinset::estimate::EstimateOptions;
use twinset::exact::{JoinOptions, join};
use twinset::{Run, TokenOptions};
use twinset_io::read::features::{TableFile, XmlPaths};
use twinset_io::read::{Arrival, BlankNodes, Inputs, PageText, Resources, for_each_arrival};
use twinset_io::{
    Collection, Content, Error, Fate, Format, Keeping, Limits, ReadOptions, SketchFile, Target, copy_records,
    for_each_record, load,
};
use twinset_server::probe;

use crate::bytes::Bytes;
use crate::scratch;

/// Lines and rows: txt, tsv, csv and jsonl, packed or not, in several encodings, with several delimiters.
pub(crate) fn lines(data: &[u8]) {
    const ENCODINGS: [Option<&str>; 8] = [
        None,
        None,
        None,
        Some("utf-16le"),
        Some("windows-1252"),
        Some("shift_jis"),
        Some("iso-2022-jp"),
        Some("gb18030"),
    ];
    const OTHERS: [&str; 7] = ["gbk", "euc-jp", "big5", "euc-kr", "utf-16be", "utf-8", "koi8-r"];
    const DELIMITERS: [Option<&str>; 8] =
        [None, Some(";"), Some(" "), Some("|"), Some("\u{1}"), Some("e"), Some("0"), Some("\\t")];
    let mut bytes = Bytes::new(data);
    let (what, how) = (bytes.byte(), bytes.byte());
    let ending = ["txt", "tsv", "csv", "jsonl"][usize::from(what & 3)];
    let packing = [".gz", ".zst", "", ""].get(usize::from(how) >> 5).copied().unwrap_or_default();
    let other = OTHERS.get((usize::from(what) >> 5).wrapping_sub(1)).copied();
    let encoding = other.or(ENCODINGS[usize::from(how & 7)]);
    let delimiter = DELIMITERS[usize::from(what >> 2 & 7)].filter(|_| matches!(ending, "csv" | "tsv"));
    let options = ReadOptions {
        no_header: how & 8 > 0,
        encoding: encoding.map(str::to_owned),
        delimiter: delimiter.map(str::to_owned),
        limits: Limits { record: if how & 16 > 0 { 24 } else { 1 << 20 }, unpacked: 1 << 20, ..Limits::default() },
        ..ReadOptions::default()
    };
    let file = File::new(&format!("lines.{ending}{packing}"), bytes.rest(), options);
    let loaded = file.check();
    let arrived = file.arrived();
    let is_uncut = |error: &String| error.contains("cannot be copied") || error.contains("cannot be cut");
    match (&loaded, &arrived) {
        (Some(loaded), Ok(arrived)) => {
            let expected = (&loaded.all_texts, loaded.bad);
            assert_eq!((&arrived.texts, arrived.rejected), expected, "what arrives, and what is read at once");
            // Of two records with the same id one is left out where all are read at once.
            if packing.is_empty() && loaded.rejected == loaded.bad {
                let copied = file.copied(&loaded.collection);
                assert_eq!(copied.as_ref(), Ok(&arrived.bytes), "a copy of all records, and what arrived of them");
                if loaded.bad == 0 {
                    assert_eq!(copied.as_deref(), Ok(file.bytes), "a copy of all records");
                }
            }
        }
        (None, Ok(_)) => panic!("what cannot be read at once arrives"),
        (Some(_), Err(error)) => assert!(is_uncut(error), "what can be read at once does not arrive: {error}"),
        (None, Err(_)) => {}
    }
    if matches!(ending, "csv" | "tsv") {
        let read = table(&file.path, &file.tolerant);
        if let (Some(loaded), Ok(rows)) = (&loaded, read) {
            assert_eq!(rows, loaded.all_texts.len() as u64 + loaded.bad, "rows of a table, and records");
        }
    }
}

/// Columns: as records, as a table, and copied.
pub(crate) fn parquet(data: &[u8]) {
    let file = File::new("columns.parquet", data, ReadOptions::default());
    if let Some(loaded) = file.check() {
        _ = file.copied(&loaded.collection);
    }
    _ = table(&file.path, &file.tolerant);
}

/// Sketches that were kept in a file.
pub(crate) fn sketches(data: &[u8]) {
    let path = scratch::file("kept.sketch", data);
    let run = Run::default();
    let Ok(file) = SketchFile::read(&path, &run) else { return };
    let Ok(estimate) = file.settings.estimate(&EstimateOptions::default(), &TokenOptions::default()) else { return };
    let Ok((collection, _)) = Collection::of_sketches(vec![file], &run) else { return };
    let half = "0.5".parse().expect("it is a threshold");
    if let Ok(options) = estimate.for_minhash(&JoinOptions::at(half)) {
        _ = join(collection.input(), &options, &run).map(|joined| joined.iter().count());
    }
}

/// Web pages: their text, and what their markup tells.
pub(crate) fn pages(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let page = if bytes.bit() { PageText::Main } else { PageText::Text };
    let file = File::new("page.html", bytes.rest(), ReadOptions { page, ..ReadOptions::default() });
    file.check();
    let html = String::from_utf8_lossy(file.bytes);
    _ = probe::page(&html, "https://post.example/1");
}

/// Web archives, packed or not.
pub(crate) fn archives(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let name = bytes.one_of(&["pages.warc", "pages.warc", "pages.warc.gz", "pages.wet"]);
    let options = ReadOptions { limits: Limits { unpacked: 1 << 20, ..Limits::default() }, ..ReadOptions::default() };
    let file = File::new(name, bytes.rest(), options);
    if let Some(loaded) = file.check() {
        _ = file.copied(&loaded.collection);
    }
}

/// RDF by lines and in Turtle.
pub(crate) fn triples(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let name = bytes.one_of(&["graph.nt", "graph.nq", "graph.ttl", "graph.trig"]);
    graph(name, bytes);
}

/// RDF in XML.
pub(crate) fn rdfxml(data: &[u8]) {
    graph("graph.rdf", Bytes::new(data));
}

/// RDF in JSON.
pub(crate) fn jsonld(data: &[u8]) {
    graph("graph.jsonld", Bytes::new(data));
}

fn graph(name: &str, mut bytes: Bytes<'_>) {
    let how = bytes.byte();
    let mut options = ReadOptions::default();
    options.rdf.resources = Some(if how & 1 > 0 { Resources::All } else { Resources::Roots });
    options.rdf.blank_nodes = Some(if how & 2 > 0 { BlankNodes::Id } else { BlankNodes::Structure });
    options.rdf.allow_entities = how & 4 > 0;
    options.rdf.literals = Some(if how & 8 > 0 { "words" } else { "whole" }.parse().expect("both are known"));
    let file = File::new(name, bytes.rest(), options);
    if let Some(loaded) = file.check() {
        _ = file.copied(&loaded.collection);
    }
}

/// XML documents, as features of a profile.
pub(crate) fn xml(data: &[u8]) {
    let path = scratch::file("document.xml", data);
    let read = || {
        let (mut paths, mut values) = (XmlPaths::default(), Vec::new());
        let done = paths.read::<Error>(&path, &ReadOptions::default(), &Run::default(), |batch, names| {
            assert!(batch.features() <= names.len(), "every value has a path");
            for feature in 0..batch.features() {
                values.extend(batch.values(feature).map(|value| (feature, value.map(<[u8]>::to_vec))));
            }
            Ok(())
        });
        (done.map_err(|error| error.to_string()), paths.names().to_vec(), values)
    };
    assert_eq!(read(), read(), "a document that is read twice");
}

/// Reads a table as a profile does, twice; tells how many rows there are, bad ones included.
fn table(path: &Path, options: &ReadOptions) -> Result<u64, String> {
    let read = || -> Result<_, String> {
        let table = TableFile::open(path, options, &Run::default()).map_err(|error| error.to_string())?;
        let columns = table.names().len();
        let (mut values, mut rows) = (Vec::new(), vec![0; columns]);
        let bad = table.for_each::<Error>(None, &Run::default(), |batches| {
            for batch in batches {
                for (column, rows) in rows.iter_mut().enumerate() {
                    *rows += batch.values(column).len();
                    values.extend(batch.values(column).map(|value| (column, value.map(<[u8]>::to_vec))));
                }
            }
            Ok(())
        });
        assert!(rows.iter().all(|&length| length == rows[0]), "all columns have as many rows");
        let bad = bad.map_err(|error| error.to_string())?;
        Ok((rows.first().copied().unwrap_or(0) as u64 + bad.count, bad, values))
    };
    let told = read();
    assert_eq!(told, read(), "a table that is read twice");
    told.map(|(rows, ..)| rows)
}

/// A file that is read in several ways.
struct File<'a> {
    bytes: &'a [u8],
    path: PathBuf,
    inputs: Inputs,
    /// A bad record is the end.
    strict: ReadOptions,
    /// Bad records are written down.
    tolerant: ReadOptions,
}

/// What came record by record.
#[derive(Default)]
struct Arrived {
    texts: Vec<String>,
    rejected: u64,
    /// All but what was rejected.
    bytes: Vec<u8>,
}

/// What was read of a file.
struct Loaded {
    collection: Collection,
    rejected: u64,
    /// The texts of all records that are not bad, also of those whose id was used before; and how many are bad.
    all_texts: Vec<String>,
    bad: u64,
}

impl<'a> File<'a> {
    fn new(name: &str, bytes: &'a [u8], options: ReadOptions) -> Self {
        let path = scratch::file(name, bytes);
        let inputs = Inputs::find([&path], None::<Format>).expect("a file that was just written can be found");
        let tolerant = ReadOptions { rejects: Some(scratch::path("rejects.csv")), ..options.clone() };
        Self { bytes, path, inputs, strict: options, tolerant }
    }

    /// Reads it in all ways, which must tell the same.
    fn check(&self) -> Option<Loaded> {
        let (strict, tolerant) = (self.load(&self.strict), self.load(&self.tolerant));
        let rejects = std::fs::read(scratch::path("rejects.csv")).ok();
        let again = self.load(&self.tolerant);
        assert_eq!(told(&tolerant), told(&again), "a file that is read twice");
        let collection = match (strict, tolerant) {
            (Ok(strict), Ok(tolerant)) => {
                assert_eq!(contents(&strict), contents(&tolerant), "with and without --rejects");
                assert_eq!(tolerant.rejected, 0, "what was rejected, although nothing is bad");
                tolerant
            }
            (Ok(_), Err(error)) => panic!("with --rejects it cannot be read: {error}"),
            (Err(error), Ok(tolerant)) => {
                assert!(tolerant.rejected > 0, "nothing was rejected, although without --rejects: {error}");
                let written = rejects.expect("rejects were written");
                assert!(written.len() > "file,line,column,reason,record\n".len(), "no rejected record was written");
                tolerant
            }
            (Err(_), Err(_)) => return None,
        };
        let mut all_texts = Vec::new();
        let prepare = |text: &str| Ok(text.to_owned());
        let bad = for_each_record::<_, Error>(&self.inputs, &self.tolerant, &[], &Run::default(), prepare, 7, |some| {
            all_texts.extend(some.into_iter().map(|record| record.content));
            Ok(())
        });
        let bad = bad.unwrap_or_else(|error| panic!("record by record it cannot be read: {error}"));
        let rejected = collection.rejected;
        assert_eq!(
            all_texts.len() as u64 + bad,
            collection.left.len() as u64 + rejected,
            "records that are read at once, and one by one"
        );
        Some(Loaded { collection, rejected, all_texts, bad })
    }

    fn load(&self, options: &ReadOptions) -> Result<Collection, Error> {
        load(std::slice::from_ref(&self.inputs), options, Keeping::all(Content::Texts), &Run::default())
    }

    /// Reads it record by record.
    fn arrived(&self) -> Result<Arrived, String> {
        let (mut arrived, mut is_rejected) = (Arrived::default(), false);
        let rejected = for_each_arrival(&self.inputs, &self.tolerant, &Run::default(), |arrival| {
            match arrival {
                Arrival::Record(text, _) => {
                    arrived.texts.push(text.to_owned());
                    is_rejected = false;
                }
                Arrival::Rejected => {
                    arrived.rejected += 1;
                    is_rejected = true;
                }
                Arrival::Around(_) | Arrival::End(_) => {}
            }
            match arrival {
                Arrival::Record(_, bytes) | Arrival::Around(bytes) => arrived.bytes.extend(bytes),
                Arrival::End(bytes) if !is_rejected => arrived.bytes.extend(bytes),
                Arrival::End(_) | Arrival::Rejected => {}
            }
            Ok(())
        });
        let rejected = rejected.map_err(|error| error.to_string())?;
        assert_eq!(rejected, arrived.rejected, "what is said to be rejected");
        Ok(arrived)
    }

    /// What a copy of all records is.
    fn copied(&self, collection: &Collection) -> Result<Vec<u8>, String> {
        let ending = self.path.extension().unwrap_or_default();
        let ending = if are_rdf(ending) { "nq".as_ref() } else { ending };
        let path = scratch::path("copy").with_extension(ending);
        let target =
            Target::open_for(&path.clone().into(), &self.inputs, &self.tolerant).map_err(|error| error.to_string())?;
        let (from, options) = ((&self.inputs, collection), &self.tolerant);
        copy_records(from, options, (target, None), |_| Fate::Kept, &Run::default())
            .map_err(|error| error.to_string())?;
        std::fs::read(path).map_err(|error| error.to_string())
    }
}

fn are_rdf(ending: &std::ffi::OsStr) -> bool {
    ["nt", "ttl", "trig", "rdf", "jsonld"].iter().any(|rdf| ending.to_str() == Some(rdf))
}

/// The names and texts of all records.
fn contents(collection: &Collection) -> Vec<(String, String)> {
    let texts = collection.texts.as_ref().expect("texts were wanted");
    (0..collection.left.len()).map(|at| (collection.left.get(at).into_owned(), texts.get(at).to_owned())).collect()
}

/// All that was read, or the reason why nothing was.
fn told(read: &Result<Collection, Error>) -> Result<(Vec<(String, String)>, u64), String> {
    match read {
        Ok(collection) => Ok((contents(collection), collection.rejected)),
        // Of several faults a parser of somebody else may tell any.
        Err(error) => Err(error.to_string().split("this is not").next().unwrap_or_default().to_owned()),
    }
}
