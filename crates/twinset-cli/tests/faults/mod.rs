//! Whatever happens to the disk, nothing is lost: every change of files under every fault, with an exact word on what is there
//! afterwards.
//!
//! The program runs on a [disk](testbed::disk) that counts the calls which change files, and strikes at one of them:
//!
//! | fault | what happens at the n-th call |
//! |---|---|
//! | fail | it fails, once: no room for what takes some, an I/O error for syncs, renames and removals |
//! | full | from then on there is no room |
//! | gone | from then on every call fails |
//! | tear | half of the bytes are written, and the process is killed |
//! | power | the process is killed, and everything is gone that was not synced: contents, and names |
//! | reorder | the same, but some pages and some names that were not synced are left |
//!
//! What must hold afterwards depends on how the program ended, and on nothing else:
//!
//! - With exit code 0 everything is as after a run without a fault, also if the power fails right after the end.
//! - With exit code 1 everything is as before, or as far as the message says, which names the place and a remedy.
//! - If it was killed, everything is as before or as after; of several batches, the first so many are there, each wholly.
//! - It does not panic, and does not hang. What is there is not damaged, and the next operation works.
//! - A second fault while this is opened again changes nothing of that.
//!
//! In each operation a few calls are struck; with `TWINSET_FULL=1` every one is. `TWINSET_REPORT` names a file to which a line of
//! JSON is added for each operation.
mod indexes;
mod limits;
mod outputs;
mod place;
mod service;
mod trial;
