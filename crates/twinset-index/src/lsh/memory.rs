//! Labels in main memory: sorted arrays, which can be saved to a file and loaded from it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::Xxh3;

use super::backend::{Backend, LabeledRecord, StoredRecord, Visit};
use crate::{Error, Result, Settings};
use twinset_io::durable::sync_name;

pub(super) struct Memory {
    settings: Settings,
    name: String,
    /// The file that holds the same, and that only this process may change.
    file: Option<(PathBuf, File)>,
    numbers: HashMap<String, i64>,
    records: BTreeMap<i64, (String, Vec<u64>)>,
    trees: Vec<Tree>,
}

/// The labels of one tree with their records: a sorted array, and what came lately.
#[derive(Default)]
struct Tree {
    sorted: Vec<(i64, i64)>,
    recent: BTreeSet<(i64, i64)>,
}

impl Tree {
    fn insert(&mut self, label: i64, record: i64) {
        self.recent.insert((label, record));
        // So many moves, spread over so many insertions, that each costs a few.
        if self.recent.len() > 1024 + self.sorted.len() / 8 {
            self.sorted.extend(std::mem::take(&mut self.recent));
            self.sorted.sort_unstable();
        }
    }

    fn remove(&mut self, label: i64, record: i64) {
        if !self.recent.remove(&(label, record))
            && let Ok(place) = self.sorted.binary_search(&(label, record))
        {
            self.sorted.remove(place);
        }
    }

    fn records(&self, range: &RangeInclusive<i64>) -> impl Iterator<Item = i64> + '_ {
        let (first, last) = ((*range.start(), i64::MIN), (*range.end(), i64::MAX));
        let start = self.sorted.partition_point(|entry| *entry < first);
        let sorted = self.sorted[start..].iter().take_while(move |entry| **entry <= last);
        sorted.chain(self.recent.range(first..=last)).map(|&(_, record)| record)
    }

    fn contains(&self, label: i64, record: i64) -> bool {
        self.recent.contains(&(label, record)) || self.sorted.binary_search(&(label, record)).is_ok()
    }

    fn len(&self) -> usize {
        self.sorted.len() + self.recent.len()
    }
}

/// What the file begins with.
const MAGIC: &[u8; 8] = b"twinsetL";

impl Memory {
    /// An index that is gone with the process.
    pub(super) fn new(settings: &Settings) -> Self {
        let trees = (0..settings.labels().trees).map(|_| Tree::default()).collect();
        Self {
            settings: settings.clone(),
            name: "the index in memory".to_owned(),
            file: None,
            numbers: HashMap::new(),
            records: BTreeMap::new(),
            trees,
        }
    }

    /// An index that is written to a file after each change.
    pub(super) fn create(path: &Path, settings: &Settings) -> Result<Self> {
        let lock = lock(path)?;
        // Also a link that leads nowhere.
        if path.symlink_metadata().is_ok() {
            return Err(Error::index(&path.display().to_string(), "this file exists; name a new one"));
        }
        let mut memory = Self::new(settings);
        memory.name = path.display().to_string();
        memory.file = Some((path.to_owned(), lock));
        memory.save()?;
        memory.settle()?;
        Ok(memory)
    }

    /// Loads a file. Labels are made anew, by `label`.
    pub(super) fn open(
        path: &Path,
        label: impl Fn(&Settings) -> Result<Box<dyn Fn(&[u64]) -> Vec<i64>>>,
    ) -> Result<Self> {
        let name = path.display().to_string();
        let absent =
            |error| Error::index(&name, format!("cannot be opened: {error}; make it with `twinset index create`"));
        if let Err(error) = fs::metadata(path) {
            return Err(absent(error));
        }
        // A link is followed, so that what it leads to is replaced, and not the link.
        let path = &fs::canonicalize(path).map_err(absent)?;
        // What another process writes now is read after it.
        let lock = lock(path)?;
        let file = File::open(path).map_err(absent)?;
        let damaged = |reason: String| Error::index(&name, format!("it is damaged ({reason}); restore it from a copy"));
        let mut reader = Checked { inner: BufReader::new(file), hash: Xxh3::new() };
        let (settings, records) = read(&mut reader, &name).map_err(|error| match error {
            Failure::Io(error) => damaged(error.to_string()),
            Failure::Index(error) => error,
        })?;
        let label = label(&settings)?;
        let mut memory = Self { name, file: Some((path.to_owned(), lock)), ..Self::new(&settings) };
        for StoredRecord { number, id, hashes } in records {
            for (tree, label) in memory.trees.iter_mut().zip(label(&hashes)) {
                tree.sorted.push((label, number));
            }
            memory.numbers.insert(id.clone(), number);
            memory.records.insert(number, (id, hashes));
        }
        memory.trees.iter_mut().for_each(|tree| tree.sorted.sort_unstable());
        Ok(memory)
    }

    /// Writes everything to the file, which is replaced when the new one is complete.
    fn save(&self) -> Result<()> {
        let Some((path, _)) = &self.file else { return Ok(()) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unchanged = |error: io::Error| {
            Error::index(
                &self.name,
                format!("nothing was changed, as it cannot be written: {error}; make room, then try again"),
            )
        };
        let written = || -> io::Result<()> {
            let temporary = tempfile::Builder::new().prefix(".twinset-").suffix(".partial").tempfile_in(folder)?;
            if let Ok(existing) = fs::metadata(path) {
                temporary.as_file().set_permissions(existing.permissions())?;
            }
            let mut writer = Checked { inner: BufWriter::new(temporary.as_file()), hash: Xxh3::new() };
            write(&mut writer, self)?;
            let hash = writer.hash.digest();
            writer.inner.write_all(&hash.to_le_bytes())?;
            writer.inner.flush()?;
            drop(writer);
            temporary.as_file().sync_all()?;
            temporary.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        written().map_err(unchanged)
    }

    /// Makes the name of the new file survive a power failure.
    fn settle(&self) -> Result<()> {
        let Some((path, _)) = &self.file else { return Ok(()) };
        sync_name(path).map_err(|error| Error::unsettled(&self.name, error))
    }

    fn put(&mut self, number: i64, record: &LabeledRecord) {
        for (tree, &label) in self.trees.iter_mut().zip(&record.labels) {
            tree.insert(label, number);
        }
        self.numbers.insert(record.id.clone(), number);
        self.records.insert(number, (record.id.clone(), record.hashes.clone()));
    }

    fn take(&mut self, id: &str, relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Option<(i64, LabeledRecord)> {
        let number = self.numbers.remove(id)?;
        let (id, hashes) = self.records.remove(&number)?;
        let labels = relabel(&hashes);
        for (tree, &label) in self.trees.iter_mut().zip(&labels) {
            tree.remove(label, number);
        }
        Some((number, LabeledRecord { id, hashes, labels }))
    }

    fn stored(&self, number: i64) -> Option<StoredRecord> {
        let (id, hashes) = self.records.get(&number)?;
        Some(StoredRecord { number, id: id.clone(), hashes: hashes.clone() })
    }

    /// Saves a change, or undoes it.
    fn save_or(&mut self, undo: impl FnOnce(&mut Self)) -> Result<()> {
        let saved = self.save();
        if saved.is_err() {
            undo(self);
        }
        saved?;
        self.settle()
    }
}

/// Takes the file for this process alone.
fn lock(path: &Path) -> Result<File> {
    let name = path.display().to_string();
    let lock = path.with_added_extension("lock");
    let file = File::options().create(true).truncate(false).write(true).open(&lock);
    let file = file.map_err(|error| {
        Error::index(&name, format!("{} cannot be made: {error}; make room, then try again", lock.display()))
    })?;
    let until = Instant::now() + PATIENCE;
    while file.try_lock().is_err() {
        if Instant::now() >= until {
            return Err(Error::index(&name, "another process uses it; a file of labels is for one at a time"));
        }
        std::thread::sleep(PATIENCE / 100);
    }
    Ok(file)
}

/// A process that is about to end, or one that it has just started, may hold the lock for a moment.
const PATIENCE: Duration = Duration::from_secs(2);

impl Backend for Memory {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        let before = std::mem::replace(&mut self.settings, settings.clone());
        self.save_or(|memory| memory.settings = before)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.records.len() as u64)
    }

    fn add(&mut self, records: &[LabeledRecord], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        let mut next = self.records.last_key_value().map_or(1, |(number, _)| number + 1);
        let mut old = Vec::new();
        for record in records {
            let number = match self.take(&record.id, relabel) {
                Some((number, replaced)) => {
                    old.push((number, replaced));
                    number
                }
                None => {
                    next += 1;
                    next - 1
                }
            };
            self.put(number, record);
        }
        let replaced = old.len() as u64;
        self.save_or(|memory| {
            for record in records {
                memory.take(&record.id, relabel);
            }
            old.iter().for_each(|(number, record)| memory.put(*number, record));
        })?;
        Ok(replaced)
    }

    fn remove(&mut self, ids: &[String], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        let old: Vec<(i64, LabeledRecord)> = ids.iter().filter_map(|id| self.take(id, relabel)).collect();
        let removed = old.len() as u64;
        self.save_or(|memory| old.iter().for_each(|(number, record)| memory.put(*number, record)))?;
        Ok(removed)
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredRecord>> {
        Ok(self.numbers.get(id).and_then(|&number| self.stored(number)))
    }

    fn candidates(&mut self, ranges: &[RangeInclusive<i64>], visit: &mut Visit<'_>) -> Result<()> {
        let mut numbers: Vec<i64> =
            self.trees.iter().zip(ranges).flat_map(|(tree, range)| tree.records(range)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            if let Some((id, hashes)) = self.records.get(&number) {
                visit(number, id, hashes);
            }
        }
        Ok(())
    }

    fn after(&mut self, number: i64, count: usize) -> Result<Vec<StoredRecord>> {
        let numbers = self.records.range(number.saturating_add(1)..).map(|(&number, _)| number).take(count);
        Ok(numbers.filter_map(|number| self.stored(number)).collect())
    }

    fn labels_of(&mut self, record: &StoredRecord, labels: &[i64]) -> Result<usize> {
        let trees = self.trees.iter().zip(labels);
        Ok(trees.filter(|(tree, label)| tree.contains(**label, record.number)).count())
    }

    fn label_count(&mut self) -> Result<u64> {
        Ok(self.trees.iter().map(|tree| tree.len() as u64).sum())
    }

    fn hold(&mut self) -> Result<()> {
        // No other process writes.
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        Ok(())
    }

    fn bytes(&mut self) -> Result<Option<u64>> {
        let size = |(path, _): &(PathBuf, File)| fs::metadata(path).ok().map(|metadata| metadata.len());
        Ok(self.file.as_ref().and_then(size))
    }
}

/// Computes the hash of what passes.
struct Checked<T> {
    inner: T,
    hash: Xxh3,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.hash.update(&buffer[..length]);
        Ok(length)
    }
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.inner.write(bytes)?;
        self.hash.update(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn write(out: &mut impl Write, memory: &Memory) -> io::Result<()> {
    out.write_all(MAGIC)?;
    write_bytes(out, memory.settings.to_json().as_bytes())?;
    out.write_all(&(memory.records.len() as u64).to_le_bytes())?;
    for (number, (id, hashes)) in &memory.records {
        out.write_all(&number.to_le_bytes())?;
        write_bytes(out, id.as_bytes())?;
        write_bytes(out, &super::backend::to_bytes(hashes))?;
    }
    Ok(())
}

fn write_bytes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(bytes)
}

enum Failure {
    Io(io::Error),
    Index(Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn read<R: Read>(from: &mut Checked<R>, name: &str) -> Result<(Settings, Vec<StoredRecord>), Failure> {
    let broken = |reason: &str| Failure::Io(io::Error::other(reason.to_owned()));
    let mut magic = [0; 8];
    from.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(Failure::Index(Error::index(name, "this is no file of labels")));
    }
    let json = String::from_utf8(read_bytes(from)?).map_err(|_| broken("its settings are no text"))?;
    let settings = Settings::from_json(&json, name).map_err(Failure::Index)?;
    let count = read_number(from)?;
    let mut records = Vec::new();
    for _ in 0..count {
        let number = read_number(from)? as i64;
        let id = String::from_utf8(read_bytes(from)?).map_err(|_| broken("an id is no text"))?;
        let hashes = super::backend::from_bytes(&read_bytes(from)?).ok_or_else(|| broken("a record is cut"))?;
        records.push(StoredRecord { number, id, hashes });
    }
    let hash = from.hash.digest();
    if read_number(from)? != hash {
        return Err(broken("its checksum is another"));
    }
    Ok((settings, records))
}

fn read_number(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Bytes with their length before them. A wrong length takes no more memory than there are bytes.
fn read_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = read_number(from)?;
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
