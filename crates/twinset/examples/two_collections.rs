//! Record linkage: for each record of one table at most one of the other, the most similar pairs first.

use twinset::{Measure, Search, TokenKind};

fn main() -> twinset::Result<()> {
    let ours = ["Anna Lindqvist, Uppsala", "Bo Ek, Lund"];
    let theirs = ["Ek, Bo (Lund)", "Anna Lindquist, Uppsala", "Carl Dahl, Umeå"];
    let search = Search::at(0.5)?.measure(Measure::Cosine).tokens("qgrams:3".parse::<TokenKind>()?).best();
    for pair in &search.join_two(ours, theirs)? {
        let pair = pair?;
        println!("{} = {} ({:.2})", ours[pair.left], theirs[pair.right], pair.similarity);
    }
    Ok(())
}
