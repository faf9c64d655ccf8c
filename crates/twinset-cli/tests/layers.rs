//! Each layer imports only from the layers above it in its list, so a record can be followed straight down the tree.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates that have layers, each from top to bottom.
const CRATES: [(&str, &[&str]); 5] = [
    ("twinset-index", &["error", "folder", "change", "settings", "lsh", "kmv"]),
    (
        "twinset-profile",
        &[
            "error",
            "table",
            "sources",
            "options",
            "features",
            "cache",
            "inclusion",
            "relation",
            "keys",
            "similar",
            "profile",
            "export",
            "saved",
            "lookup",
        ],
    ),
    (
        "twinset-server",
        &[
            "error", "limits", "article", "terms", "options", "store", "search", "stories", "data_dir", "ingest",
            "news", "summary", "feeds", "import", "demo", "http", "probe", "serve",
        ],
    ),
    (
        "twinset",
        &[
            "support", "model", "sketch", "tokenize", "join", "shuffle", "cluster", "stream", "explain", "pipeline",
            "search",
        ],
    ),
    (
        "twinset-io",
        &[
            "error",
            "guard",
            "memory",
            "source",
            "repeated",
            "size",
            "limits",
            "compression",
            "database",
            "durable",
            "ids",
            "keep",
            "uniques",
            "write",
            "read",
            "sketches",
            "collection",
            "load",
            "records",
            "find",
            "texts",
            "copy",
            "generate",
        ],
    ),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn no_module_imports_from_a_layer_below_its_own() {
    for (name, layers) in CRATES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        // What the crate's root exports, and the layer it comes from.
        let exports = fs::read_to_string(root.join("lib.rs")).unwrap();
        let layer_of = |name: &str| {
            let exporting = exports.lines().find(|line| {
                line.starts_with("pub use")
                    && line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
            });
            let module = exporting.and_then(|line| line.strip_prefix("pub use ")?.split("::").next());
            layers.iter().position(|layer| *layer == name).or(layers.iter().position(|layer| Some(*layer) == module))
        };
        let mut checked = 0;
        for path in sources(&root) {
            let own =
                path.strip_prefix(&root).unwrap().iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
            if own == "lib" {
                continue;
            }
            let own =
                layers.iter().position(|layer| *layer == own).unwrap_or_else(|| panic!("{own} has no place in {name}"));
            let source = fs::read_to_string(&path).unwrap();
            for (number, line) in source.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
                assert!(!line.contains("super::super"), "{}:{}: name the layer", path.display(), number + 1);
                for import in line.split("crate::").skip(1) {
                    let listed = import.strip_prefix('{').map(|list| list.split('}').next().unwrap());
                    let items = listed.map_or(vec![import], |list| list.split(',').collect());
                    for item in items {
                        let item = item.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                        let place = format!("{}:{}: {item}", path.display(), number + 1);
                        let layer = layer_of(item).unwrap_or_else(|| panic!("{place} comes from no known layer"));
                        assert!(layer <= own, "{place} comes from {}, below {}", layers[layer], layers[own]);
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked >= 10, "only {checked} imports were found in {name}");
    }
}
