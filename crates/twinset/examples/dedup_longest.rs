//! Deduplication: keep the longest text of each group of near duplicates.

use twinset::{Keep, Search};

fn main() -> twinset::Result<()> {
    let texts = ["the old bridge is closed", "a new library opens", "The old bridge is closed today."];
    let groups = Search::at("3/4")?.keep(Keep::Longest).dedup(texts)?;
    for record in groups.kept() {
        println!("{}", texts[record]);
    }
    println!("{} of {} removed", groups.removed().count(), texts.len());
    Ok(())
}
