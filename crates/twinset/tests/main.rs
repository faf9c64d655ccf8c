//! The library, as its users call it: one program of tests, so that it is linked once.

mod dedup;
mod exact;
mod labels;
mod names;
mod paper;
mod pool;
mod search;
mod shuffle;
mod sketch;
mod stream;
mod synopsis;
mod tokens;
