//! A file of sketches, read and written.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, FixedSizeBinaryArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use twinset::Run;
use twinset::estimate::MinHashSettings;
use twinset::support::Strings;
use twinset::tokenize::TokenBlock;
use twinset::tokenize::{Sets, Tokenizer};
use xxhash_rust::xxh3::Xxh3;

use super::{SketchSettings, VERSION};
use crate::guard::guarded;
use crate::ids::{Ids, Names};
use crate::read::{ParquetFile, RdfOptions};
use crate::write::{parquet_error, write_failure};
use crate::{Error, Limits, Output, Result};

/// The entry of the file's metadata that holds the settings.
const KEY: &str = "twinset.sketch";
/// The entry that holds a checksum of the settings, ids and sketches.
const CHECKSUM: &str = "twinset.checksum";
/// Rows that are written at a time.
const ROWS: usize = 1 << 14;

/// Writes sketches, those of records without tokens as null.
pub fn write_sketches(output: Output, ids: &Ids, blocks: &[TokenBlock], settings: &SketchSettings) -> Result<()> {
    let name = output.name().to_owned();
    let fail = |error: ParquetError| write_failure(&name, &parquet_error(error));
    let width = 4 * settings.permutations as i32;
    let json = serde_json::to_string(settings).expect("settings are written as JSON");
    let fields =
        vec![Field::new("id", DataType::Utf8, false), Field::new("sketch", DataType::FixedSizeBinary(width), true)];
    let mut checksum = Xxh3::new();
    checksum.update(json.as_bytes());
    let schema = Arc::new(Schema::new(fields).with_metadata(HashMap::from([(KEY.to_owned(), json)])));
    // Sketches are as good as random: there is nothing to compress.
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_column_dictionary_enabled("sketch".into(), false)
        .set_column_encoding("sketch".into(), Encoding::PLAIN)
        .build();
    let mut writer = ArrowWriter::try_new(output, schema.clone(), Some(properties)).map_err(fail)?;
    let mut sketches = blocks.iter().flat_map(TokenBlock::sketches);
    for first in (0..ids.len()).step_by(ROWS) {
        let rows = first..ids.len().min(first + ROWS);
        let own = rows.clone().map(|row| ids.get(row).into_owned());
        let ids: StringArray = own.map(Some).collect();
        let bytes: Vec<Option<Vec<u8>>> = sketches
            .by_ref()
            .take(rows.len())
            .map(|sketch| {
                let bytes: Vec<u8> = sketch.iter().flat_map(|entry| entry.to_le_bytes()).collect();
                (!bytes.is_empty()).then_some(bytes)
            })
            .collect();
        for (row, bytes) in bytes.iter().enumerate() {
            add_row(&mut checksum, ids.value(row), bytes.as_deref().unwrap_or_default());
        }
        let sketches = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes.into_iter(), width)
            .map_err(|error| fail(error.into()))?;
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(ids), Arc::new(sketches)]);
        batch.map_err(ParquetError::from).and_then(|batch| writer.write(&batch)).map_err(fail)?;
    }
    writer.append_key_value_metadata(KeyValue::new(CHECKSUM.to_owned(), format!("{:032x}", checksum.digest128())));
    let output = writer.into_inner().map_err(fail)?;
    output.finish()
}

/// Adds a row to the checksum of a file.
fn add_row(checksum: &mut Xxh3, id: &str, sketch: &[u8]) {
    checksum.update(&(id.len() as u64).to_le_bytes());
    checksum.update(id.as_bytes());
    checksum.update(&(sketch.len() as u64).to_le_bytes());
    checksum.update(sketch);
}

/// A file of sketches that was read.
pub struct SketchFile {
    /// How they were made.
    pub settings: SketchSettings,
    /// The names of the records.
    pub ids: Ids,
    blocks: Vec<TokenBlock>,
}

impl SketchFile {
    /// Reads a whole file. One that was damaged is noticed.
    pub fn read(path: &Path, run: &Run) -> Result<Self> {
        // The parquet reader panics at some of what a damaged file can hold.
        guarded(|| Self::read_unguarded(path, run)).unwrap_or_else(|| {
            Err(Error::file(path, "not a whole file of sketches: it is damaged; make it again, or copy it again"))
        })
    }

    fn read_unguarded(path: &Path, run: &Run) -> Result<Self> {
        let fail = |error: &dyn std::fmt::Display| Error::file(path, format!("not a whole file of sketches: {error}"));
        let file = File::open(path).map_err(|error| Error::file(path, format!("cannot be opened: {error}")))?;
        let builder = ParquetFile::new(file, &Limits::default()).rows().map_err(|error| fail(&error))?;
        let json = builder.schema().metadata().get(KEY).cloned();
        let json =
            json.ok_or_else(|| fail(&"it does not say how its sketches were made; make it with twinset sketch"))?;
        let settings: SketchSettings = serde_json::from_str(&json).map_err(|error| fail(&error))?;
        let settings = SketchSettings {
            tokens: settings.tokens.from_record(),
            rdf: settings.rdf.map(RdfOptions::from_record),
            ..settings
        };
        if settings.version != VERSION {
            let reason =
                format!("this file has version {}, and only {VERSION} can be read; make it again", settings.version);
            return Err(Error::file(path, reason));
        }
        let entries = builder.metadata().file_metadata().key_value_metadata().into_iter().flatten();
        let expected = entries.filter(|entry| entry.key == CHECKSUM).find_map(|entry| entry.value.clone());
        let mut checksum = Xxh3::new();
        checksum.update(json.as_bytes());
        let width = settings.permutations as usize;
        let (mut names, mut blocks) = (Names::default(), Vec::new());
        for batch in builder.build().map_err(|error| fail(&error))? {
            run.check()?;
            let batch = batch.map_err(|error| fail(&error))?;
            let columns = (batch.column_by_name("id"), batch.column_by_name("sketch"));
            let (Some(ids), Some(sketches)) = (
                columns.0.and_then(|column| column.as_string_view_opt()),
                columns.1.and_then(|column| column.as_fixed_size_binary_opt()),
            ) else {
                return Err(fail(&"the columns are not id and sketch"));
            };
            if sketches.value_length() as usize != 4 * width {
                return Err(fail(&"the sketches have not as many entries as the file says"));
            }
            for row in 0..ids.len() {
                let sketch = if sketches.is_null(row) { &[] } else { sketches.value(row) };
                add_row(&mut checksum, ids.value(row), sketch);
            }
            names.push((0..ids.len()).map(|row| ids.value(row)).collect::<Strings>());
            let entries = (0..sketches.len()).map(|row| {
                let bytes = if sketches.is_null(row) { &[] } else { sketches.value(row) };
                bytes.as_chunks().0.iter().map(|&entry| u32::from_le_bytes(entry)).collect::<Vec<u32>>()
            });
            blocks.push(TokenBlock::of_sketches(entries));
        }
        if expected != Some(format!("{:032x}", checksum.digest128())) {
            return Err(fail(&"it was changed after it was made; make it again, or copy it again"));
        }
        Ok(Self { settings, ids: Ids::Names(names), blocks })
    }

    /// The sketches as sets of entries, together with those of a second file that were made in the same way.
    pub fn into_sets(self, other: Option<Self>, run: &Run) -> Result<(Sets, SketchSettings)> {
        let SketchSettings { permutations, seed, tokens, .. } = &self.settings;
        if let Some(other) = other.as_ref().filter(|other| other.settings != self.settings) {
            return Err(Error::Usage(format!(
                "the two files of sketches were made in different ways ({} and {}); make one of them again",
                serde_json::to_string(&self.settings).unwrap_or_default(),
                serde_json::to_string(&other.settings).unwrap_or_default(),
            )));
        }
        let left = self.ids.len() as u32;
        let tokenizer = Tokenizer::minhash(tokens, MinHashSettings { permutations: *permutations, seed: *seed }, run)?;
        let is_one = other.is_none();
        let blocks = self.blocks.into_iter().chain(other.into_iter().flat_map(|other| other.blocks));
        let sets = tokenizer.finish_within(blocks, 0)?;
        Ok((if is_one { sets } else { sets.split_at(left) }, self.settings))
    }

    /// The sketches of a list of ids, in its order, as sets of entries; and for how many ids there is none.
    pub fn sets_of<'a>(&self, ids: impl Iterator<Item = &'a str>, run: &Run) -> Result<(Sets, u64)> {
        let places: HashMap<String, (usize, usize)> = {
            let places = self.blocks.iter().enumerate();
            let places = places.flat_map(|(block, own)| (0..own.sketches().count()).map(move |row| (block, row)));
            (0..self.ids.len()).map(|row| self.ids.get(row).into_owned()).zip(places).collect()
        };
        let rows: Vec<Vec<&[u32]>> = self.blocks.iter().map(|block| block.sketches().collect()).collect();
        let mut missing = 0;
        let chosen = ids.map(|id| match places.get(id) {
            Some(&(block, row)) => rows[block][row].to_vec(),
            None => {
                missing += 1;
                Vec::new()
            }
        });
        let block = TokenBlock::of_sketches(chosen);
        let SketchSettings { permutations, seed, tokens, .. } = &self.settings;
        let tokenizer = Tokenizer::minhash(tokens, MinHashSettings { permutations: *permutations, seed: *seed }, run)?;
        Ok((tokenizer.finish_within([block], 0)?, missing))
    }
}
