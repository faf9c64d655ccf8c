//! Folders of indexes, which are created wholly or not at all, and what tantivy needs of them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::schema::Schema;
use tantivy::{Index, IndexSettings};
use twinset_io::durable::{FillError, fill_folder, sync_folder};

use crate::{Error, Result};

/// Creates an index in a folder that is empty or new. `make` creates it in another folder, from which `file` is taken: the file that
/// makes a folder an index.
pub(crate) fn make(folder: &Path, file: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let name = folder.display().to_string();
    fill_folder(folder, file, make).map_err(|error| match error {
        FillError::Occupied(reason) => Error::index(&name, reason),
        FillError::Io(error) => {
            Error::io(&name, &error, format!("it cannot be made: {error}; make room, or choose another place"))
        }
        FillError::Unsynced(error) => Error::unsettled(&name, error),
        FillError::Fill(error) => error,
    })
}

/// A folder of tantivy's files, also on a file system that cannot sync folders.
#[derive(Debug, Clone)]
pub struct TantivyFolder {
    files: MmapDirectory,
    path: PathBuf,
}

impl TantivyFolder {
    /// Opens the index in a folder.
    pub fn open_index(path: &Path) -> tantivy::Result<Index> {
        Index::open(Self::open(path)?)
    }

    /// Creates an index in a folder.
    pub fn create_index(path: &Path, schema: Schema) -> tantivy::Result<Index> {
        Index::create(Self::open(path)?, schema, IndexSettings::default())
    }

    fn open(path: &Path) -> tantivy::Result<Self> {
        Ok(Self { files: MmapDirectory::open(path)?, path: path.to_owned() })
    }
}

impl Directory for TantivyFolder {
    fn sync_directory(&self) -> io::Result<()> {
        sync_folder(&self.path)
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.files.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.files.atomic_write(path, data)
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.files.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}
