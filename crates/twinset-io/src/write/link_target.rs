//! Where the path of an output leads.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What an output path names, once all links are followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LinkTarget {
    /// A regular file, which a complete one replaces; or a file that does not exist yet.
    File(PathBuf),
    /// A descriptor that this process has open, such as standard output. It is written to where it is, and never
    /// replaced, even if it is a regular file.
    Descriptor(u32),
    /// A pipe or a device, written to as it is.
    Device(PathBuf),
}

/// Longer chains of links are loops, as they are to the kernel.
const MOST_LINKS: usize = 40;

impl LinkTarget {
    /// Follows the links of a path one by one: the last of them may lead to a descriptor, whose own target must not be
    /// followed.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let Some(name) = path.file_name() else { return Ok(Self::File(path)) };
            let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            // The folder may not exist; then creating the file fails.
            let folder = fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
            let named = folder.join(name);
            if let Some(descriptor) = Self::in_folder(&folder, &named) {
                return Ok(descriptor);
            }
            match fs::symlink_metadata(&named) {
                Ok(metadata) if metadata.is_symlink() => path = folder.join(fs::read_link(&named)?),
                Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => return Ok(Self::Device(named)),
                _ => return Ok(Self::File(named)),
            }
        }
        Err(io::Error::other("too many levels of symbolic links"))
    }

    /// An entry of a folder of descriptors: `/proc/self/fd`, to which `/dev/fd` and `/dev/stdout` lead, or the like.
    fn in_folder(folder: &Path, path: &Path) -> Option<Self> {
        if folder == Path::new("/dev/fd") {
            return Some(Self::Device(path.to_owned()));
        }
        if !folder.starts_with("/proc") || !folder.ends_with("fd") {
            return None;
        }
        let is_own = fs::canonicalize("/proc/self").is_ok_and(|own| folder.starts_with(own));
        let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
        Some(match number {
            Some(number) if is_own => Self::Descriptor(number),
            _ => Self::Device(path.to_owned()),
        })
    }

    /// Opens it for writing. A regular file is emptied.
    pub(super) fn open(&self) -> io::Result<File> {
        match self {
            Self::File(path) => File::create(path),
            Self::Descriptor(number) => duplicate(*number),
            Self::Device(path) => File::options().append(true).open(path),
        }
    }
}

/// Another handle of an open descriptor, which shares its position: opening its name again would begin at the start of
/// a regular file.
fn duplicate(number: u32) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let owned = match number {
            1 => io::stdout().as_fd().try_clone_to_owned()?,
            2 => io::stderr().as_fd().try_clone_to_owned()?,
            _ => other(number)?,
        };
        Ok(File::from(owned))
    }
    #[cfg(not(unix))]
    File::options().append(true).open(format!("/dev/fd/{number}"))
}

/// A descriptor that has no handle in the standard library.
#[cfg(target_os = "linux")]
fn other(number: u32) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let number = i32::try_from(number).map_err(io::Error::other)?;
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    Ok(pidfd_getfd(own, number, PidfdGetfdFlags::empty())?)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn other(number: u32) -> io::Result<std::os::fd::OwnedFd> {
    Ok(File::options().append(true).open(format!("/dev/fd/{number}"))?.into())
}
