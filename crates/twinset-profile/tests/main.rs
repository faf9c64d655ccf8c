//! Profiles of files and databases: one program of tests, so that it is linked once.

mod relations;
mod sources;
