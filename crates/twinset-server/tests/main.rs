//! The news service without HTTP: one program of tests, so that it is linked once.

mod limits;
mod news;
mod search;
