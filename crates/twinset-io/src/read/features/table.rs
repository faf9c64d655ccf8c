//! A table in a file: csv, tsv or parquet.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use twinset::Run;

use super::batch::{Batch, largest_row};
use super::parquet;
use super::rows::{BadRows, BlockCutter, Dialect, RowBlock};
use crate::read::inputs::InputFile;
use crate::read::lines::NOT_UTF8;
use crate::read::reader::{delimiter, format_of};
use crate::read::stream::{self, Stream};
use crate::read::{Format, ReadOptions};
use crate::{Error, Limits, Result};

/// A table in a file, of which the header was read.
pub struct TableFile {
    path: PathBuf,
    names: Vec<String>,
    content: Content,
}

enum Content {
    Rows { first: Option<RowBlock>, cutter: Box<BlockCutter<Stream>>, dialect: Dialect, bad: BadRows },
    Parquet(Limits),
}

/// Blocks that are parsed at a time.
const GROUP: usize = 8;
impl TableFile {
    /// Opens a file and reads its header.
    pub fn open(path: &Path, options: &ReadOptions, run: &Run) -> Result<Self> {
        let input = InputFile::new(path.to_owned(), None);
        let format = format_of(&input, options)?;
        let (names, content) = match format {
            Format::Parquet => (parquet::names(path, &options.limits)?, Content::Parquet(options.limits.clone())),
            Format::Csv | Format::Tsv => {
                let encoding = options.encoding.as_deref().map(stream::encoding).transpose()?;
                let dialect = Dialect {
                    delimiter: delimiter(format, path, options)?,
                    has_quotes: format == Format::Csv,
                    has_nulls: false,
                    largest: largest_row(&options.limits),
                };
                let mut cutter = BlockCutter::new(stream::open(&input, encoding, options, run)?, dialect);
                let mut bad = BadRows::default();
                let fail = |error: io::Error| Error::file(path, stream::read_failure(&error));
                let (first, fields) = loop {
                    let mut block = cutter.next_block(&mut bad).map_err(fail)?;
                    let fields = block.as_mut().map(|block| block.first_row(dialect, !options.no_header));
                    match fields {
                        // There are only blank lines in it.
                        Some(fields) if fields.is_empty() => {}
                        fields => break (block, fields.unwrap_or_default()),
                    }
                };
                if let (None, Some((line, reason))) = (&first, &bad.first) {
                    return Err(Error::file(path, format!("line {line}: {reason}")));
                }
                let names = if options.no_header {
                    (1..=fields.len()).map(|number| number.to_string()).collect()
                } else {
                    let text = |name| String::from_utf8(name).map_err(|_| Error::file(path, NOT_UTF8));
                    fields.into_iter().map(text).collect::<Result<Vec<_>>>()?
                };
                (names, Content::Rows { first, cutter: Box::new(cutter), dialect, bad })
            }
            _ => return Err(Error::file(path, format!("{format} is no table; csv, tsv and parquet are"))),
        };
        Ok(Self { path: path.to_owned(), names: distinct(names), content })
    }

    /// What its columns are called: each differently, and none without a name.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Calls `visit` with batches of the wanted columns, or all, in the order of the rows. Tells which rows could not be used.
    pub fn for_each<E: From<Error> + Send>(
        self,
        wanted: Option<&[usize]>,
        run: &Run,
        mut visit: impl FnMut(&[Batch]) -> Result<(), E> + Send,
    ) -> Result<BadRows, E> {
        let columns = self.names.len();
        let is_wanted: Vec<bool> =
            (0..columns).map(|column| wanted.is_none_or(|list| list.contains(&column))).collect();
        match self.content {
            Content::Rows { first, cutter, dialect, mut bad } => {
                let failed = |error: io::Error| E::from(Error::file(&self.path, stream::read_failure(&error)));
                let visit = |batches: Vec<Batch>| visit(&batches);
                bad.extend(for_each_block(*cutter, first, &is_wanted, dialect, run, failed, visit)?);
                Ok(bad)
            }
            Content::Parquet(limits) => {
                parquet::for_each((&self.path, &limits), &is_wanted, run, visit)?;
                Ok(BadRows::default())
            }
        }
    }
}

/// Reads rows of csv without a header, as a database writes them, which have these of all columns. What stands in no quotes and is
/// empty is no value.
pub fn read_rows<E: From<Error> + Send>(
    rows: impl Read + Send,
    (columns, largest): (&[usize], u64),
    run: &Run,
    failed: impl Fn(io::Error) -> E + Sync,
    mut visit: impl FnMut(&[Batch]) -> Result<(), E> + Send,
) -> Result<BadRows, E> {
    let dialect = Dialect { delimiter: b',', has_quotes: true, has_nulls: true, largest };
    let is_wanted = vec![true; columns.len()];
    let width = columns.iter().max().map_or(0, |last| last + 1);
    for_each_block(BlockCutter::new(rows, dialect), None, &is_wanted, dialect, run, failed, |batches| {
        visit(&batches.into_iter().map(|batch| batch.placed(columns, width)).collect::<Vec<_>>())
    })
}

/// Parses blocks on all threads, and hands them on in their order.
fn for_each_block<R: Read + Send, E: From<Error> + Send>(
    mut cutter: BlockCutter<R>,
    first: Option<RowBlock>,
    is_wanted: &[bool],
    dialect: Dialect,
    run: &Run,
    failed: impl Fn(io::Error) -> E + Sync,
    mut visit: impl FnMut(Vec<Batch>) -> Result<(), E> + Send,
) -> Result<BadRows, E> {
    let mut next = |first: Option<RowBlock>| -> Result<(Vec<Batch>, BadRows), E> {
        let (mut blocks, mut bad) = (Vec::from_iter(first), BadRows::default());
        while blocks.len() < GROUP
            && let Some(block) = cutter.next_block(&mut bad).map_err(&failed)?
        {
            blocks.push(block);
        }
        let parse = |block: RowBlock| block.parse(is_wanted.len(), is_wanted, dialect);
        let (batches, of_blocks): (Vec<Batch>, Vec<BadRows>) = blocks.into_par_iter().map(parse).unzip();
        let mut all = BadRows::default();
        of_blocks.into_iter().chain([bad]).for_each(|rows| all.extend(rows));
        Ok((batches, all))
    };
    let (mut batches, mut bad) = next(first)?;
    while !batches.is_empty() {
        run.check().map_err(|error| E::from(error.into()))?;
        // The next ones are read and parsed meanwhile.
        let (read, visited) = rayon::join(|| next(None), || visit(batches));
        visited?;
        let more;
        (batches, more) = read?;
        bad.extend(more);
    }
    Ok(bad)
}

/// Names of which no two are alike, and none is empty.
fn distinct(names: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen = HashSet::new();
    let rename = |(number, name): (usize, String)| {
        let base = if name.trim().is_empty() { format!("column{}", number + 1) } else { name };
        if seen.insert(base.clone()) {
            return base;
        }
        let free = (2..).map(|copy| format!("{base}_{copy}")).find(|name| taken.insert(name.clone()));
        let free = free.unwrap_or(base);
        seen.insert(free.clone());
        free
    };
    names.into_iter().enumerate().map(rename).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values of a file by columns, as text; `None` for no value.
    fn columns(name: &str, bytes: &[u8], options: &ReadOptions) -> (Vec<String>, Vec<Vec<String>>, BadRows) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let table = TableFile::open(&path, options, &Run::default()).unwrap();
        let names = table.names().to_vec();
        let mut columns = vec![Vec::new(); names.len()];
        let bad = table.for_each::<Error>(None, &Run::default(), |batches| {
            for batch in batches {
                for (column, values) in columns.iter_mut().enumerate() {
                    let texts = batch.values(column).map(|value| String::from_utf8_lossy(value.unwrap()).into_owned());
                    values.extend(texts);
                }
            }
            Ok(())
        });
        (names, columns, bad.unwrap())
    }

    /// The same by the csv parser alone.
    fn expected(bytes: &[u8]) -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
        let width = reader.byte_headers().unwrap().len();
        let mut columns = vec![Vec::new(); width];
        for record in reader.byte_records() {
            let record = record.unwrap();
            if record.len() == width {
                for (field, column) in record.iter().zip(&mut columns) {
                    column.push(String::from_utf8_lossy(field).into_owned());
                }
            }
        }
        columns
    }

    #[test]
    fn rows_are_cut_as_the_csv_parser_does() {
        let row = "1,\"two, \"\"quoted\"\"\",\"three\nlines\r\nof it\",four\r\n";
        let cases = [
            "a,b,c,d\n1,2,3,4\n5,6,7,8".to_owned(),
            "a,b,c,d\r\n1,2,3,4\r\n\r\n5,6,,\r\n".to_owned(),
            format!("a,b,c,d\n{}", row.repeat(40_000)),
            // Quotes that stand where they should not, and lone carriage returns, after many good rows.
            format!("a,b,c,d\n{}5\" pipe,x,y,z\n{}", row.repeat(20_000), "1,2,3,4\n".repeat(1000)),
            format!("a,b,c,d\n{}1,2,3,4\r5,6,7,8\r", "1,2,3,4\n".repeat(100_000)),
            "a,b\n\"x\"y,z\n\"p\" ,q\n".to_owned(),
            "a\n\"\"\n\nx\n".to_owned(),
            "\"a\",\"b\"\n\"1\",\"2\"".to_owned(),
        ];
        for case in cases {
            let (_, found, bad) = columns("t.csv", case.as_bytes(), &ReadOptions::default());
            assert_eq!(bad, BadRows::default(), "{:?} {}", &case[..case.len().min(80)], case.len());
            assert!(found == expected(case.as_bytes()), "{:?}", &case[..case.len().min(80)]);
        }
    }

    #[test]
    fn bad_rows_are_told_with_their_lines() {
        let text = "a,b\n1,\"x\ny\"\n2\n3,4,5\n6,7\n";
        let (_, found, bad) = columns("t.csv", text.as_bytes(), &ReadOptions::default());
        assert_eq!(found, [["1", "6"], ["x\ny", "7"]]);
        assert_eq!(bad, BadRows { count: 2, first: Some((4, "this row has 1 field, and the header 2".to_owned())) });
        let (_, found, bad) = columns("t.csv", b"a,b\n1,\xff\n2,3\n4,\"5\n", &ReadOptions::default());
        assert_eq!((found, bad.count), (vec![vec!["2".to_owned()], vec!["3".to_owned()]], 2));
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn rows_of_parquet_may_be_as_long_as_is_allowed() {
        use std::sync::Arc;

        use ::parquet::arrow::ArrowWriter;
        use arrow_array::{RecordBatch, StringArray};

        let column = |text: &str| -> arrow_array::ArrayRef { Arc::new(StringArray::from(vec![text.to_owned()])) };
        let rows = RecordBatch::try_from_iter([("a", column("xyz")), ("b", column("four"))]).unwrap();
        let file = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
        let mut writer = ArrowWriter::try_new(file.reopen().unwrap(), rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        let read = |record: u64| {
            let options = ReadOptions { limits: Limits { record, ..Limits::default() }, ..ReadOptions::default() };
            let table = TableFile::open(file.path(), &options, &Run::default()).unwrap();
            table.for_each::<Error>(None, &Run::default(), |_| Ok(()))
        };
        assert_eq!(read(7).unwrap(), BadRows::default());
        let reason = read(6).unwrap_err().to_string();
        assert!(reason.contains("row 1") && reason.contains("--max-record"), "{reason}");
    }

    #[test]
    fn columns_have_names_of_their_own() {
        let (names, _, _) = columns("t.tsv", b"a\t\ta\ta_2\ta\n", &ReadOptions::default());
        assert_eq!(names, ["a", "column2", "a_3", "a_2", "a_4"]);
        let options = ReadOptions { no_header: true, ..ReadOptions::default() };
        let (names, found, _) = columns("t.csv", b"x,\"y,\"\nz,w\n", &options);
        assert_eq!(
            (names, found),
            (
                vec!["1".to_owned(), "2".to_owned()],
                vec![vec!["x".to_owned(), "z".to_owned()], vec!["y,".to_owned(), "w".to_owned()]]
            )
        );
        let (names, _, _) = columns("t.csv", b"", &ReadOptions::default());
        assert!(names.is_empty());
    }
}
