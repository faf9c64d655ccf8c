//! Tokens of your own: here, the fields of a log line without its time stamp.

use twinset::{Search, TokenLists};

fn main() -> twinset::Result<()> {
    let lines = ["12:01 GET /index 200", "12:02 GET /index 200", "12:02 POST /login 403"];
    let tokens = |line: &'static str| line.split(' ').skip(1);
    for pair in &Search::at(1)?.join(TokenLists(lines.map(tokens)))? {
        let pair = pair?;
        println!("{} = {}", lines[pair.left], lines[pair.right]);
    }
    Ok(())
}
