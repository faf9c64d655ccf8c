//! Folders whose names stay, even if the power fails.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes a folder, and those above it that are not there.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let new: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(folder)?;
    new.iter().try_for_each(|folder| sync_name(folder))
}

/// Puts the name of a file or a folder on the disk for good.
pub fn sync_name(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder) {
        Ok(folder) => match folder.sync_all() {
            // Some file systems of networks have nothing of the kind.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            synced => synced,
        },
        // Who may write to a folder need not be allowed to read it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}
