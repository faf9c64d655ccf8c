//! Reading and copying files: one program of tests, so that it is linked once.

mod copy;
mod features;
mod panics;
