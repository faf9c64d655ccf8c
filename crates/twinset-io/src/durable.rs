//! Durable files: what is complete takes its name at once, and stays if the power fails.
//!
//! Some file systems, mostly of networks, cannot sync folders, rename without replacing, or link. None of these is needed.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The names of files and folders that are not complete begin and end so.
const PREFIX: &str = ".twinset-";
const SUFFIX: &str = ".partial";

/// Creates a folder, and those above it that are missing.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let new: Vec<&Path> = missing(folder).collect();
    fs::create_dir_all(folder)?;
    new.iter().try_for_each(|folder| sync_name(folder))
}

/// A folder and those above it, as far as they do not exist.
fn missing(folder: &Path) -> impl Iterator<Item = &Path> {
    folder.ancestors().take_while(|folder| !folder.exists())
}

/// Makes the name of a file or a folder survive a power failure.
pub fn sync_name(path: &Path) -> io::Result<()> {
    sync_folder(folder_of(path))
}

/// Makes the names in a folder survive a power failure.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) => match folder.sync_all() {
            // Some file systems of networks have nothing of the kind.
            Err(error) if is_unsupported(&error) => Ok(()),
            synced => synced,
        },
        // Who may write to a folder need not be allowed to read it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Why a folder was not filled.
#[derive(Debug)]
pub enum FillError<E> {
    /// It exists, and is no folder or holds files.
    Occupied(&'static str),
    /// It could not be written.
    Io(io::Error),
    /// It is filled, but may not survive a power failure.
    Unsynced(io::Error),
    /// From whoever filled it.
    Fill(E),
}

impl<E> From<io::Error> for FillError<E> {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Creates a folder with one file, wholly or not at all. `fill` writes the file, and what it needs meanwhile, to another folder.
pub fn fill_folder<E>(
    folder: &Path,
    file: &str,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), FillError<E>> {
    if folder.is_file() {
        return Err(FillError::Occupied("this is a file; name a folder"));
    }
    let new: Vec<&Path> = missing(folder).collect();
    let filled = || {
        create_folder(folder)?;
        remove_partial(folder)?;
        if fs::read_dir(folder)?.next().is_some() {
            return Err(FillError::Occupied("this folder exists and is not empty; name a new one"));
        }
        let partial = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempdir_in(folder)?;
        fill(partial.path()).map_err(FillError::Fill)?;
        let place = folder.join(file);
        rename_new(&partial.path().join(file), &place)?;
        // What stays of it is removed by the next who creates the folder, and ignored by everyone else.
        let _ = partial.close();
        sync_name(&place).map_err(FillError::Unsynced)
    };
    filled().inspect_err(|_| {
        // A folder that was not there, and holds nothing, had better not be there again.
        new.iter().for_each(|folder| _ = fs::remove_dir(folder));
    })
}

/// Removes what another process could not complete.
fn remove_partial(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX)) && entry.path().is_dir()
        {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Renames a file, unless the new name is taken.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let Err(refused) = tempfile::TempPath::try_from_path(from)?.persist_noclobber(to) else { return Ok(()) };
    // The file must not be removed with the handle.
    let from = refused.path.keep().map_err(|error| error.error)?;
    let is_impossible = is_unsupported(&refused.error)
        || matches!(refused.error.kind(), ErrorKind::PermissionDenied | ErrorKind::TooManyLinks);
    if !is_impossible || to.symlink_metadata().is_ok() {
        return Err(refused.error);
    }
    fs::rename(from, to)
}

/// Temporary files that have not taken their names yet.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes the temporary files of all outputs that are not finished: for a program that is about to end at once.
pub fn remove_unfinished() {
    if let Ok(mut unfinished) = UNFINISHED.lock() {
        remove(&mut unfinished);
    }
}

/// The same where memory is short: it allocates nothing, and waits for no lock.
pub fn remove_unfinished_at_once() {
    if let Ok(mut unfinished) = UNFINISHED.try_lock() {
        remove(&mut unfinished);
    }
}

fn remove(unfinished: &mut BTreeSet<PathBuf>) {
    for path in std::mem::take(unfinished) {
        // Nothing can be done about a file that cannot be removed now.
        let _ = fs::remove_file(path);
    }
}

/// A temporary file that is removed unless it takes its name.
pub struct Temporary {
    file: tempfile::NamedTempFile,
    _registered: Registered,
}

impl Temporary {
    /// An empty file beside one that it is to replace.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            // As for any new file: what the user's mask leaves of it.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder_of(path))?;
        if let Ok(existing) = path.metadata() {
            file.as_file().set_permissions(existing.permissions())?;
        }
        let registered = Registered::new(file.path());
        Ok(Self { file, _registered: registered })
    }

    /// Where it is until then.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The open file.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives it its name. It survives a power failure from then on.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(path).map_err(|error| error.error)?;
        sync_name(path)
    }
}

/// An entry in the list of unfinished files.
struct Registered(PathBuf);

impl Registered {
    fn new(path: &Path) -> Self {
        if let Ok(mut unfinished) = UNFINISHED.lock() {
            unfinished.insert(path.to_owned());
        }
        Self(path.to_owned())
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Ok(mut unfinished) = UNFINISHED.lock() {
            unfinished.remove(&self.0);
        }
    }
}
