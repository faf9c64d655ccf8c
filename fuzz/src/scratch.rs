//! A folder of this process for files that are read a moment later.

use std::path::{Path, PathBuf};

/// The folder of this process, within that for temporary files.
fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("twinset-fuzz-{}", std::process::id()))
}

/// The path of a file of this thread.
pub(crate) fn path(name: &str) -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "");
    let own = folder().join(thread);
    std::fs::create_dir_all(&own).expect("a folder for temporary files can be made");
    own.join(name)
}

/// Puts bytes into a file of this thread.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = path(name);
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    path
}

/// Puts files into a folder of this thread, which has nothing else then.
pub(crate) fn folder_of(name: &str, files: &[(PathBuf, Vec<u8>)]) -> PathBuf {
    let path = path(name);
    _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a temporary folder can be made");
    for (name, bytes) in files {
        std::fs::write(path.join(name), bytes).expect("a temporary file can be written");
    }
    path
}

/// The files of a folder, each with its name and its bytes, in an order that does not depend on names that were made up.
pub(crate) fn files_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("a temporary folder can be read").flatten();
    let file = |entry: std::fs::DirEntry| {
        let bytes = std::fs::read(entry.path()).expect("a temporary file can be read");
        (PathBuf::from(entry.file_name()), bytes)
    };
    let mut files: Vec<(PathBuf, Vec<u8>)> = entries.map(file).collect();
    let place =
        |(name, bytes): &(PathBuf, Vec<u8>)| (name.extension().map(ToOwned::to_owned), bytes.len(), name.clone());
    files.sort_by_cached_key(place);
    files
}

/// Removes the folder of this process.
pub fn clear() {
    _ = std::fs::remove_dir_all(folder());
}
