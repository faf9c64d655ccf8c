//! An estimated join by MinHash sketches: each pair with its 95% confidence interval.

use twinset::{Method, Search};

fn main() -> twinset::Result<()> {
    let base: Vec<String> = (0..80).map(|word| format!("word{word}")).collect();
    let texts = [base.join(" "), base[5..].join(" "), base[40..].join(" ")];
    // A pair on the threshold is found with a probability of 0.99.
    let search = Search::at(0.8)?.method(Method::MinHash).permutations(256).probability(0.99).seed(7);
    for pair in &search.join(&texts)? {
        let pair = pair?;
        println!("{}, {}: {:.2} ({:.2} to {:.2})", pair.left, pair.right, pair.similarity, pair.low, pair.high);
    }
    Ok(())
}
