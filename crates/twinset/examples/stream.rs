//! A stream: decide on each record as it arrives, exactly, against the records kept before it.

use twinset::Search;

fn main() -> twinset::Result<()> {
    let mut stream = Search::at(0.6)?.stream()?;
    for line in ["disk full on node 7", "user ann logged in", "disk full on node 9", "disk almost full on node 7"] {
        match stream.arrive(line)? {
            None => println!("keep  {line}"),
            Some(near) => println!("drop  {line} ({:.2} with record {})", near.value, near.record),
        }
    }
    Ok(())
}
