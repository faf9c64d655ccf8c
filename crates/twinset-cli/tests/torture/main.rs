//! Writers, readers and `kill -9`: what was acknowledged is there afterwards, and a change is there wholly or not at all.
//!
//! The test command kills a few processes of each home; `cargo xtask torture` as many as it is told, and makes a report of it.

#[path = "../common/mod.rs"]
mod common;
mod flips;
mod homes;
mod opened;
mod oracle;
mod service;
mod tally;
mod victim;

use homes::{Home, torture};
use testbed::Server;
use twinset_index::Kind;

#[test]
fn sqlite() {
    torture(Home { name: "SQLite", kind: Kind::Labels, writers: 2, is_shared: true, server: None });
}

#[test]
fn synopses() {
    torture(Home { name: "synopses", kind: Kind::Synopses, writers: 1, is_shared: true, server: None });
}

#[test]
fn file() {
    torture(Home { name: "file", kind: Kind::Labels, writers: 1, is_shared: false, server: None });
}

#[test]
fn postgres() {
    let server = Some(Server::postgres().unwrap());
    torture(Home { name: "PostgreSQL", kind: Kind::Labels, writers: 2, is_shared: true, server });
}

#[test]
fn mariadb() {
    let server = Some(Server::mariadb().unwrap());
    torture(Home { name: "MariaDB", kind: Kind::Labels, writers: 2, is_shared: true, server });
}

#[test]
fn service() {
    service::torture();
}

#[test]
fn flips() {
    flips::torture();
}
