//! Records are copied as they stood, byte for byte, whatever the format, the encoding and the line ends.

use std::path::Path;

use twinset::{Run, TokenOptions};
use twinset_io::read::Inputs;
use twinset_io::{Content, Fate, Keeping, ReadOptions, Target, copy_records, load};

/// What a file is made of: what stands around records, and records.
#[derive(Clone, Copy)]
enum Part {
    Around(&'static str),
    Record(&'static str),
    /// A record that is rejected.
    Bad(&'static str),
}
use Part::{Around, Bad, Record};

/// Copies the file, every record by its fate, and returns the two copies.
fn copy(path: &Path, options: &ReadOptions, fate: impl Fn(u32) -> Fate) -> (Vec<u8>, Vec<u8>) {
    let folder = path.parent().unwrap();
    let ending = path.file_name().unwrap().to_str().unwrap().split_once('.').unwrap().1;
    let (kept, removed) = (folder.join(format!("kept.{ending}")), folder.join(format!("removed.{ending}")));
    let inputs = Inputs::find([path], options.format).unwrap();
    let targets = (
        Target::open_for(&kept.clone().into(), &inputs, options).unwrap(),
        Some(Target::open_for(&removed.clone().into(), &inputs, options).unwrap()),
    );
    let run = Run::default();
    let tokens = TokenOptions::default();
    let keeping = Keeping { once: true, ..Keeping::all(Content::Sets(&tokens)) };
    let collection = load(std::slice::from_ref(&inputs), options, keeping, &run).unwrap();
    copy_records((&inputs, &collection), options, targets, fate, &run).unwrap();
    (std::fs::read(kept).unwrap(), std::fs::read(removed).unwrap())
}

/// Text in an encoding.
fn encoded(text: &str, encoding: Option<&str>) -> Vec<u8> {
    match encoding {
        None => text.as_bytes().to_vec(),
        Some("utf-16le") => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Some("utf-16be") => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Some(name) => encoding_rs::Encoding::for_label(name.as_bytes()).unwrap().encode(text).0.into_owned(),
    }
}

#[test]
fn records_are_copied_byte_for_byte() {
    let cases: &[(&str, &[Part])] = &[
        ("a.txt", &[Record("one\n"), Record("\n"), Record("two\r\n"), Record("three")]),
        ("b.txt", &[Around("\u{feff}"), Record("one\n"), Record("two\n")]),
        ("c.tsv", &[Around("id\ttext\n"), Record("1\tone\r\n"), Around("\r\n"), Record("2\t\n"), Record("3\tx")]),
        ("d.jsonl", &[Record("{\"text\":  \"a\"}\n"), Around(" \n"), Record("{\"text\":\"b\",\"n\":1.50}\n")]),
        (
            "e.csv",
            &[Around("id,text\r\n"), Record("1,\"a\r\n\"\"b\"\"\"\r\n\r\n"), Record("2,\"x\"\r\n"), Record("3,y")],
        ),
        ("f.csv", &[Around("\r\nid,text\r"), Record("1,one\r"), Record("2,two\r")]),
        ("g.jsonl", &[Bad("{\n"), Record("{\"text\":\"b\"}\n"), Bad("[]\n"), Record("{\"text\":\"c\"}\n"), Bad("x")]),
        ("h.csv", &[Around("id,text\n"), Record("1,a\n"), Bad("2,b,c\n"), Record("3,d\n"), Bad("4,\"open\n5,x\n")]),
        (
            "i.jsonl",
            &[
                Record("{\"id\":1,\"text\":\"b\"}\n"),
                Bad("{\"id\":1,\"text\":\"c\"}\n"),
                Record("{\"id\":2,\"text\":\"c\"}\n"),
            ],
        ),
        // In windows-1252 this begins with the bytes of a mark of UTF-8.
        ("k.csv", &[Around("ï»¿text\n"), Record("one\n"), Record("two\n")]),
        ("l.csv", &[Around("ï»¿\n"), Record("one\n"), Record("two\n")]),
        ("j.tsv", &[Around("text\n"), Record("ünï\n"), Record("größer\n")]),
    ];
    let encodings = [None, Some("windows-1252"), Some("utf-16le"), Some("utf-16be")];
    for (name, parts) in cases {
        let is_plain = parts
            .iter()
            .all(|part| matches!(part, Around(text) if !text.contains('\u{feff}')) || matches!(part, Record(_)));
        for encoding in encodings.into_iter().filter(|encoding| encoding.is_none() || is_plain) {
            let folder = tempfile::tempdir().unwrap();
            let options = ReadOptions {
                encoding: encoding.map(str::to_owned),
                rejects: (!is_plain).then(|| folder.path().join("rejects.csv")),
                ..ReadOptions::default()
            };
            let path = folder.path().join(name);
            let bytes = |filter: &dyn Fn(u32, Part) -> bool| {
                let mut ordinal = 0;
                let chosen = parts.iter().filter(|&&part| {
                    let is_chosen = filter(ordinal, part);
                    ordinal += u32::from(matches!(part, Record(_)));
                    is_chosen
                });
                let text: String = chosen.map(|&(Around(text) | Record(text) | Bad(text))| text).collect();
                encoded(&text, encoding)
            };
            std::fs::write(&path, bytes(&|_, _| true)).unwrap();
            let records = parts.iter().filter(|part| matches!(part, Record(_))).count();
            for chosen in 0..1u32 << records {
                let is_kept = |ordinal: u32| chosen >> ordinal & 1 == 1;
                let (kept, removed) =
                    copy(&path, &options, |ordinal| if is_kept(ordinal) { Fate::Kept } else { Fate::Removed });
                let expected_kept = bytes(&|ordinal, part| match part {
                    Around(_) => true,
                    Record(_) => is_kept(ordinal),
                    Bad(_) => false,
                });
                assert_eq!(
                    String::from_utf8_lossy(&kept),
                    String::from_utf8_lossy(&expected_kept),
                    "{name} {encoding:?} {chosen:b}"
                );
                let expected_removed = bytes(&|ordinal, part| match part {
                    Around(_) => ordinal == 0,
                    Record(_) => !is_kept(ordinal),
                    Bad(_) => false,
                });
                assert_eq!(removed, expected_removed, "{name} {encoding:?} {chosen:b}");
            }
        }
    }
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::collections::HashMap;
    use std::fs::File;
    use std::sync::Arc;

    use arrow_array::{Array, ArrayRef, Int32Array, ListArray, RecordBatch, StringArray, types::Int32Type};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::basic::Compression;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use twinset_io::{Fate, ReadOptions};

    use super::copy;

    #[test]
    fn parquet_keeps_its_schema_and_metadata() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let text = Field::new("text", DataType::Utf8, false)
            .with_metadata(HashMap::from([("unit".to_owned(), "words".to_owned())]));
        let list =
            ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None, Some(vec![])]);
        let schema = Arc::new(Schema::new(vec![
            text,
            Field::new("stars", DataType::Int32, true),
            Field::new("parts", list.data_type().clone(), true),
        ]));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(vec!["a", "b", "c"])),
            Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])),
            Arc::new(list),
        ];
        let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![KeyValue::new("origin".to_owned(), "a test".to_owned())]))
            .build();
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), schema, Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();

        copy(&path, &ReadOptions::default(), |ordinal| if ordinal == 1 { Fate::Removed } else { Fate::Kept });
        let open = |name: &str| {
            ParquetRecordBatchReaderBuilder::try_new(File::open(folder.path().join(name)).unwrap()).unwrap()
        };
        let (original, kept, removed) = (open("a.parquet"), open("kept.parquet"), open("removed.parquet"));
        for copy in [&kept, &removed] {
            assert_eq!(copy.schema(), original.schema());
            assert_eq!(copy.parquet_schema().root_schema(), original.parquet_schema().root_schema());
            let entry = |builder: &ParquetRecordBatchReaderBuilder<File>| {
                let entries = builder.metadata().file_metadata().key_value_metadata().cloned().unwrap();
                entries.into_iter().filter(|entry| entry.key == "origin").collect::<Vec<_>>()
            };
            assert_eq!(entry(copy), entry(&original));
            assert_eq!(copy.metadata().row_group(0).column(0).compression(), Compression::SNAPPY);
        }
        let rows = |builder: ParquetRecordBatchReaderBuilder<File>| builder.build().unwrap().next().unwrap().unwrap();
        let (kept, removed) = (rows(kept), rows(removed));
        assert_eq!((kept.slice(0, 1), kept.slice(1, 1)), (batch.slice(0, 1), batch.slice(2, 1)));
        assert_eq!(removed, batch.slice(1, 1));
    }
}
