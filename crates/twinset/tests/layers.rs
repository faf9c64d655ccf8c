//! Each layer imports only from the layers above it in this list, so a record can be followed straight down the tree.

use std::fs;
use std::path::{Path, PathBuf};

/// From top to bottom.
const LAYERS: [&str; 5] = ["model", "tokenize", "join", "explain", "pipeline"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn no_module_imports_from_a_layer_below_its_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    for path in sources(&root) {
        let inner = path.strip_prefix(&root).unwrap();
        let own = inner.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if own == "lib" {
            continue;
        }
        let own =
            LAYERS.iter().position(|layer| *layer == own).unwrap_or_else(|| panic!("{own} has no place in LAYERS"));
        let source = fs::read_to_string(&path).unwrap();
        for (number, line) in source.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for import in line.split("crate::").skip(1) {
                let imported = import.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                let layer = LAYERS.iter().position(|layer| *layer == imported);
                let layer =
                    layer.unwrap_or_else(|| panic!("{}:{}: import from a layer by name", path.display(), number + 1));
                assert!(layer <= own, "{}:{}: {} is below {}", path.display(), number + 1, LAYERS[layer], LAYERS[own]);
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "only {checked} imports were found");
}
