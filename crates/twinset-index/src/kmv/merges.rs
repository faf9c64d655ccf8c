//! Which parts of an index become one.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tantivy::directory::ManagedDirectory;
use tantivy::index::SegmentMeta;
use tantivy::indexer::{LogMergePolicy, MergeCandidate, MergePolicy};

/// Merges parts of similar size, but none that is damaged: what was read from it would be written with a checksum that fits, and
/// nobody could tell any more.
#[derive(Debug)]
pub(super) struct IntactMerges {
    sizes: LogMergePolicy,
    directory: ManagedDirectory,
    path: PathBuf,
}

/// A part is written anew when this share of it has been deleted.
const MOST_DELETED: f32 = 0.3;

impl IntactMerges {
    pub(super) fn new(directory: &ManagedDirectory, path: &Path) -> Self {
        let mut sizes = LogMergePolicy::default();
        sizes.set_del_docs_ratio_before_merge(MOST_DELETED);
        Self { sizes, directory: directory.clone(), path: path.to_owned() }
    }

    /// Whether the checksums of all files of a part are right. What is badly damaged makes even their reading panic.
    fn is_intact(&self, segment: &str) -> bool {
        let Ok(files) = std::fs::read_dir(&self.path) else { return false };
        let names = files.flatten().filter_map(|file| file.file_name().into_string().ok());
        names.filter(|name| name.starts_with(segment)).all(|name| {
            let checked = catch_unwind(AssertUnwindSafe(|| self.directory.validate_checksum(Path::new(&name))));
            matches!(checked, Ok(Ok(true)))
        })
    }
}

impl MergePolicy for IntactMerges {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let mut known: HashMap<String, bool> = HashMap::new();
        let mut candidates = self.sizes.compute_merge_candidates(segments);
        candidates.retain_mut(|MergeCandidate(parts)| {
            let before = parts.len();
            parts.retain(|part| *known.entry(part.uuid_string()).or_insert_with_key(|name| self.is_intact(name)));
            // One part alone is written anew if much of it was deleted, and not if others are left out.
            parts.len() > 1 || parts.len() == before
        });
        candidates
    }
}
