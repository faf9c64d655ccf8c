//! From a submission to a stored article: `intake` checks it, `extract` finds its entities, `writer` stores it on one thread, and
//! `retention` says what expires.

pub(crate) mod extract;
pub(crate) mod intake;
pub(crate) mod retention;
pub(crate) mod writer;
