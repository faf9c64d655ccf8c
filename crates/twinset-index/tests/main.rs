//! Indexes, as their users call them: one program of tests, so that it is linked once.

mod backends;
mod kmv;
mod promise;
