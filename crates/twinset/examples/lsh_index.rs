//! An LSH index: each query names its threshold and the probability with which it finds what is there.

use twinset::TokenOptions;
use twinset::estimate::LshOptions;
use twinset_index::Settings;
use twinset_index::lsh::{LshIndex, Query};

fn main() -> twinset_index::Result<()> {
    let settings = Settings::lsh(LshOptions::default(), TokenOptions::default(), 0);
    let mut index = LshIndex::in_memory(&settings)?;
    index.add_texts([
        ("a", "the old bridge over the river is closed"),
        ("b", "a new library opens on Monday"),
        ("c", "the old bridge over the river is open"),
    ])?;
    let query = Query { threshold: "0.6".parse()?, probability: 0.95 };
    for hit in index.query_text("The old bridge over the river was closed", &query)? {
        println!("{}: {:.2}", hit.id, hit.similarity);
    }
    Ok(())
}
