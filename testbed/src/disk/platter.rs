//! What is on a disk for good: the content of each file when it was last synced, and the names that folders had when they were.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::call::Call;

/// A folder on a disk.
pub(super) struct Platter {
    folder: PathBuf,
    /// What each file held when it was last synced.
    contents: Vec<Vec<u8>>,
    /// Which file the inodes of the running system are. Inodes are used again, and files are not.
    files: HashMap<u64, usize>,
    names: Names,
    /// What became of names since their folders were synced, in order.
    changes: Vec<Change>,
}

type Names = BTreeMap<PathBuf, Node>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    File(usize),
    Folder,
}

#[derive(Debug)]
enum Change {
    Put(PathBuf, Node),
    Take(PathBuf),
    /// From a path to another, which leads to this from then on.
    Move(PathBuf, PathBuf, Node),
}

/// What a disk writes at once.
const PAGE: usize = 4096;

impl Platter {
    /// All that lies in a folder now.
    pub(super) fn of(folder: &Path) -> anyhow::Result<Self> {
        let folder = fs::canonicalize(folder).with_context(|| format!("{} is no folder", folder.display()))?;
        let mut platter = Self {
            folder: folder.clone(),
            contents: Vec::new(),
            files: HashMap::new(),
            names: Names::new(),
            changes: Vec::new(),
        };
        for (path, inode) in walk(&folder)? {
            let node = match inode {
                None => Node::Folder,
                Some(inode) => {
                    let file = platter.file(inode);
                    platter.contents[file] = fs::read(&path)?;
                    Node::File(file)
                }
            };
            platter.names.insert(path, node);
        }
        Ok(platter)
    }

    /// The folder, without links in its path.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of an inode.
    fn file(&mut self, inode: u64) -> usize {
        *self.files.entry(inode).or_insert_with(|| {
            self.contents.push(Vec::new());
            self.contents.len() - 1
        })
    }

    fn node(&mut self, path: &Path) -> anyhow::Result<Node> {
        let metadata = path.symlink_metadata()?;
        Ok(if metadata.is_dir() { Node::Folder } else { Node::File(self.file(metadata.ino())) })
    }

    /// Takes note of a call that succeeded.
    pub(super) fn take_note(&mut self, call: Call) -> anyhow::Result<()> {
        match call {
            Call::Create(path) => {
                let inode = path.symlink_metadata()?.ino();
                self.files.remove(&inode);
                let file = self.file(inode);
                self.changes.push(Change::Put(path, Node::File(file)));
            }
            Call::Folder(path) => self.changes.push(Change::Put(path, Node::Folder)),
            Call::Rename(from, to) => {
                let node = self.node(&to)?;
                self.changes.push(Change::Move(from, to, node));
            }
            Call::Link(_, to) => {
                let node = self.node(&to)?;
                self.changes.push(Change::Put(to, node));
            }
            Call::Remove(path) => self.changes.push(Change::Take(path)),
            Call::Sync { path, .. } if path.is_dir() => self.sync_names(&path)?,
            Call::Sync { mut opened, .. } => {
                let file = self.file(opened.metadata()?.ino());
                self.contents[file].clear();
                opened.read_to_end(&mut self.contents[file])?;
            }
            // Contents are looked at when they are synced.
            Call::Write { .. } | Call::Truncate(_) => {}
        }
        Ok(())
    }

    /// The names of a folder stay from now on.
    fn sync_names(&mut self, folder: &Path) -> anyhow::Result<()> {
        let (own, others) = std::mem::take(&mut self.changes).into_iter().partition(|change| {
            let (Change::Put(path, _) | Change::Take(path) | Change::Move(_, path, _)) = change;
            path.parent() == Some(folder)
        });
        self.changes = others;
        let own: Vec<Change> = own;
        own.iter().for_each(|change| change.apply(&mut self.names));
        // Had a call gone by unseen, everything said here would be worth nothing.
        let mut known: Vec<&Path> =
            self.names.keys().map(PathBuf::as_path).filter(|path| path.parent() == Some(folder)).collect();
        let mut there: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        known.sort();
        there.sort();
        anyhow::ensure!(known == there, "the disk knows {known:?}, and there is {there:?}");
        Ok(())
    }

    /// Leaves in the folder what a power failure does: what was synced, and with a seed some of the rest.
    pub(super) fn lose_power(&mut self, seed: Option<u64>) -> anyhow::Result<()> {
        let mut random = seed.map(ChaCha8Rng::seed_from_u64);
        // A file system may be late with changes of names, but it does not mix up their order.
        let kept = random.as_mut().map_or(0, |random| random.random_range(0..=self.changes.len()));
        let mut names = self.names.clone();
        self.changes[..kept].iter().for_each(|change| change.apply(&mut names));
        if let Some(random) = &mut random {
            for (path, inode) in walk(&self.folder)? {
                if let Some(file) = inode.and_then(|inode| self.files.get(&inode)) {
                    self.contents[*file] = mixed(&self.contents[*file], &fs::read(path)?, random);
                }
            }
        }
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
        // A folder comes before what lies in it.
        for (path, node) in &names {
            let is_reachable = path.parent().is_some_and(Path::is_dir);
            match node {
                Node::Folder if is_reachable => fs::create_dir(path)?,
                // What SQLite shares between processes lies in main memory.
                Node::File(file) if is_reachable && !path.as_os_str().as_encoded_bytes().ends_with(b"-shm") => {
                    fs::write(path, &self.contents[*file])?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Change {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Put(path, node) => _ = names.insert(path.clone(), *node),
            Self::Take(path) => _ = names.remove(path),
            Self::Move(from, to, node) => {
                names.remove(from);
                names.insert(to.clone(), *node);
            }
        }
    }
}

/// A file of which some pages were written and others not.
fn mixed(old: &[u8], new: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let length = if random.random() { old.len() } else { new.len() };
    let mut bytes = vec![0; length];
    for start in (0..length).step_by(PAGE) {
        let source = if random.random() { old } else { new };
        let end = length.min(start + PAGE).min(source.len());
        if start < end {
            bytes[start..end].copy_from_slice(&source[start..end]);
        }
    }
    bytes
}

/// All that lies below a folder, with the inodes of files.
fn walk(folder: &Path) -> anyhow::Result<Vec<(PathBuf, Option<u64>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let metadata = path.symlink_metadata()?;
        found.push((path.clone(), (!metadata.is_dir()).then(|| metadata.ino())));
        if metadata.is_dir() {
            found.extend(walk(&path)?);
        }
    }
    Ok(found)
}
