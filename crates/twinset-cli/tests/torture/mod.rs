//! Writers, readers and `kill -9`: what was acknowledged is there afterwards, and a change is there wholly or not at all.
//!
//! The test command kills a few processes of each home; `cargo xtask torture` as many as it is told, and makes a report of it.

mod flips;
mod homes;
mod opened;
mod oracle;
mod service;
mod tally;
mod victim;

use self::homes::{Home, torture};
use testbed::Server;
use twinset_index::Kind;

#[test]
fn sqlite() {
    torture(Home { name: "SQLite", kind: Kind::Lsh, writers: 2, server: None });
}

#[test]
fn synopses() {
    torture(Home { name: "synopses", kind: Kind::Kmv, writers: 1, server: None });
}

#[test]
fn postgres() {
    let Some(server) = Server::postgres_if_installed() else { return };
    torture(Home { name: "PostgreSQL", kind: Kind::Lsh, writers: 2, server: Some(server) });
}

#[test]
fn mariadb() {
    let Some(server) = Server::mariadb_if_installed() else { return };
    torture(Home { name: "MariaDB", kind: Kind::Lsh, writers: 2, server: Some(server) });
}

#[test]
fn service() {
    service::torture();
}

#[test]
fn flips() {
    flips::torture();
}
