//! Calls of the kernel that change files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nix::libc::{self, c_long, user_regs_struct};
use nix::unistd::Pid;

/// What a call does.
#[derive(Debug)]
pub(super) enum Call {
    /// Makes an empty file.
    Create(PathBuf),
    /// Makes a folder.
    Folder(PathBuf),
    /// Changes what a file holds. A part of it can be written: half of the bytes, or of the buffers.
    Write { file: PathBuf, is_counted: bool },
    /// Takes something from the end of a file, or all of it.
    Truncate(PathBuf),
    /// Puts a file, or the names of a folder, on the disk for good. It is opened before, as the process may end right after the call.
    Sync { opened: File, path: PathBuf },
    /// Gives a file another name.
    Rename(PathBuf, PathBuf),
    /// Gives a file one more name.
    Link(PathBuf, PathBuf),
    /// Takes a name away.
    Remove(PathBuf),
}

/// All calls that are looked at.
pub(super) const CALLS: [c_long; 32] = [
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_creat,
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_fallocate,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rmdir,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_io_uring_enter,
];

impl Call {
    /// What a process is about to call, if that changes anything below the folder.
    pub(super) fn of(process: Pid, registers: &user_regs_struct, folder: &Path) -> Option<Self> {
        let arguments = [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8];
        let [first, second, third, fourth, _] = arguments;
        let here = libc::AT_FDCWD as u64;
        let path = |descriptor: u64, address: u64| path_at(process, descriptor, address);
        let call = match registers.orig_rax as c_long {
            libc::SYS_open => open(path(here, first)?, second)?,
            libc::SYS_openat => open(path(first, second)?, third)?,
            libc::SYS_creat => open(path(here, first)?, (libc::O_CREAT | libc::O_TRUNC) as u64)?,
            libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 | libc::SYS_pwritev | libc::SYS_pwritev2 => {
                Self::Write { file: opened(process, first)?, is_counted: true }
            }
            libc::SYS_fallocate | libc::SYS_sendfile => {
                Self::Write { file: opened(process, first)?, is_counted: false }
            }
            libc::SYS_copy_file_range | libc::SYS_splice => {
                Self::Write { file: opened(process, third)?, is_counted: false }
            }
            libc::SYS_truncate => Self::Truncate(path(here, first)?),
            libc::SYS_ftruncate => Self::Truncate(opened(process, first)?),
            libc::SYS_fsync | libc::SYS_fdatasync => {
                let file = File::open(descriptor_path(process, first)).ok()?;
                Self::Sync { opened: file, path: opened(process, first)? }
            }
            libc::SYS_rename => Self::Rename(path(here, first)?, path(here, second)?),
            libc::SYS_renameat | libc::SYS_renameat2 => Self::Rename(path(first, second)?, path(third, fourth)?),
            libc::SYS_link => Self::Link(path(here, first)?, path(here, second)?),
            libc::SYS_linkat => Self::Link(path(first, second)?, path(third, fourth)?),
            libc::SYS_unlink | libc::SYS_rmdir => Self::Remove(path(here, first)?),
            libc::SYS_unlinkat => Self::Remove(path(first, second)?),
            libc::SYS_mkdir => Self::Folder(path(here, first)?),
            libc::SYS_mkdirat => Self::Folder(path(first, second)?),
            // What nothing here uses would go by unseen, and every verdict with it.
            other => panic!("the disk does not know the system call {other}"),
        };
        let is_there = call.paths().iter().any(|path| path.starts_with(folder));
        is_there.then_some(call)
    }

    fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Create(path) | Self::Folder(path) | Self::Truncate(path) | Self::Remove(path) => vec![path],
            Self::Write { file, .. } => vec![file],
            Self::Sync { path, .. } => vec![path],
            Self::Rename(from, to) | Self::Link(from, to) => vec![from, to],
        }
    }

    /// Whether a disk that is full refuses it.
    pub(super) fn takes_room(&self) -> bool {
        matches!(self, Self::Create(_) | Self::Folder(_) | Self::Write { .. } | Self::Link(..))
    }

    /// How it fails.
    pub(super) fn error(&self) -> i32 {
        if self.takes_room() { libc::ENOSPC } else { libc::EIO }
    }
}

/// What opening a file changes, if anything.
fn open(path: PathBuf, flags: u64) -> Option<Call> {
    let flags = flags as i32;
    let is_there = path.symlink_metadata().is_ok();
    if flags & libc::O_CREAT != 0 && !is_there {
        return Some(Call::Create(path));
    }
    let is_cut = flags & libc::O_TRUNC != 0 && path.metadata().is_ok_and(|metadata| metadata.len() > 0);
    is_cut.then_some(Call::Truncate(path))
}

/// The file behind a descriptor.
fn opened(process: Pid, descriptor: u64) -> Option<PathBuf> {
    fs::read_link(descriptor_path(process, descriptor)).ok()
}

/// By this path a descriptor of another process can be opened, also if its file has no name any more.
fn descriptor_path(process: Pid, descriptor: u64) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/fd/{}", descriptor as i32))
}

/// A path as it is given to a call, without links in it.
fn path_at(process: Pid, descriptor: u64, address: u64) -> Option<PathBuf> {
    let base = match descriptor as i32 {
        libc::AT_FDCWD => fs::read_link(format!("/proc/{process}/cwd")).ok()?,
        _ => opened(process, descriptor)?,
    };
    let path = base.join(text_at(process, address)?);
    let (parent, name) = (path.parent()?, path.file_name()?);
    Some(fs::canonicalize(parent).ok()?.join(name))
}

/// The text that begins at an address of another process.
fn text_at(process: Pid, address: u64) -> Option<OsString> {
    let memory = File::open(format!("/proc/{process}/mem")).ok()?;
    let mut text = Vec::new();
    let mut piece = [0; 256];
    loop {
        // What lies beyond the text may belong to nobody, so a page is not crossed at once.
        let at = address + text.len() as u64;
        let length = piece.len().min((4096 - at % 4096) as usize);
        let read = memory.read_at(&mut piece[..length], at).ok().filter(|&read| read > 0)?;
        match piece[..read].iter().position(|&byte| byte == 0) {
            Some(end) => {
                text.extend_from_slice(&piece[..end]);
                return Some(OsString::from_vec(text));
            }
            None => text.extend_from_slice(&piece[..read]),
        }
    }
}
