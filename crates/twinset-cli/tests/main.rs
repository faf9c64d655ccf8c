//! The command, as its users see it: one program of tests, so that it is linked once.

mod bad_input;
mod browser;
mod common;
mod dedup;
mod docs;
mod explain;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod feeds;
mod index;
mod join;
mod keeping;
mod layers;
mod limits;
mod pages;
mod profile;
mod rdf;
mod scripts;
mod serve;
mod sketch;
mod synopses;
mod torture;
mod tune;
