//! Compressed files, by their endings and their first bytes.

use std::path::Path;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// By the first bytes, for a stream without a name.
    pub(crate) fn of_magic(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// A path's ending in lower case, before `.gz` or `.zst`.
pub fn inner_ending(path: &Path) -> Option<String> {
    let inner = if Compression::of_path(path).is_some() { Path::new(path.file_stem()?) } else { path };
    inner.extension()?.to_str().map(str::to_ascii_lowercase)
}
