//! Near duplicates in one collection: every pair at or above the threshold.

use twinset::Search;

fn main() -> twinset::Result<()> {
    let titles = [
        "Efficient similarity joins for near duplicate detection",
        "On the resemblance and containment of documents",
        "Efficient Similarity Joins for Near-Duplicate Detection (extended)",
    ];
    for pair in &Search::at(0.8)?.join(titles)? {
        let pair = pair?;
        println!("{:.3}: {} | {}", pair.similarity, titles[pair.left], titles[pair.right]);
    }
    Ok(())
}
