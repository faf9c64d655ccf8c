//! An index in a folder is made wholly or not at all: one file makes it an index, and comes last.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::{Error, Result};

/// What is not finished lies in a folder of such a name.
const UNFINISHED: (&str, &str) = (".twinset-", ".partial");

/// Makes an index of a folder that is empty or new. `make` makes it in another folder, from which this file is taken.
pub(crate) fn make(folder: &Path, file: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let name = folder.display().to_string();
    let failed = |error: io::Error| {
        Error::io(&name, &error, format!("it cannot be made: {error}; make room, or choose another place"))
    };
    if folder.is_file() {
        return Err(Error::index(&name, "this is a file; name a folder"));
    }
    // The first is the folder itself.
    let new: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    let made = || -> Result<()> {
        fs::create_dir_all(folder).map_err(failed)?;
        new.iter().try_for_each(|folder| sync_name(folder)).map_err(failed)?;
        clear(folder).map_err(failed)?;
        if fs::read_dir(folder).map_err(failed)?.next().is_some() {
            return Err(Error::index(&name, "this folder exists and is not empty; name a new one"));
        }
        let (prefix, suffix) = UNFINISHED;
        let unfinished = tempfile::Builder::new().prefix(prefix).suffix(suffix).tempdir_in(folder).map_err(failed)?;
        make(unfinished.path())?;
        let place = folder.join(file);
        let file = tempfile::TempPath::try_from_path(unfinished.path().join(file)).map_err(failed)?;
        file.persist_noclobber(&place).map_err(|error| failed(error.error))?;
        // What stays of it is removed by whoever makes an index here, and nobody else minds.
        let _ = unfinished.close();
        sync_name(&place).map_err(|error| Error::unsettled(&name, error))
    };
    made().inspect_err(|_| {
        // A folder that was not there, and holds nothing, had better not be there again.
        new.iter().for_each(|folder| _ = fs::remove_dir(folder));
    })
}

/// Removes what another process could not finish.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let (prefix, suffix) = UNFINISHED;
        if name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(suffix)) && entry.path().is_dir()
        {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Puts the name of a file or a folder on the disk for good.
pub(crate) fn sync_name(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder) {
        // Who may write to a folder need not be allowed to read it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        opened => opened?.sync_all(),
    }
}
