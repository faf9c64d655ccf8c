//! PostgreSQL, and MariaDB or MySQL: addresses of databases, and encrypted connections to them.

#[cfg(feature = "databases")]
mod address;
#[cfg(feature = "databases")]
mod tls;

#[cfg(feature = "databases")]
pub use address::{Address, mysql_reason, postgres_reason};

use std::path::Path;

use crate::{Error, Result};

/// The server that an address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// PostgreSQL.
    Postgres,
    /// MariaDB or MySQL.
    Mysql,
}

impl Server {
    /// The server of an address; `None` for a path. An address of something else is refused, without repeating it, as it may hold a
    /// password; and an address that this build cannot connect to.
    pub fn of(text: &str) -> Result<Option<Self>> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let server = match scheme.as_deref() {
            Some("postgres" | "postgresql") => Self::Postgres,
            Some("mysql" | "mariadb") => Self::Mysql,
            Some(_) => {
                let reason = "addresses of databases begin with postgres:// or mysql://";
                return Err(Error::Usage(reason.to_owned()));
            }
            None if looks_like_address(text) => {
                let reason = "write the address of a database as postgres://user@host/database";
                return Err(Error::Usage(reason.to_owned()));
            }
            None => return Ok(None),
        };
        match cfg!(feature = "databases") {
            true => Ok(Some(server)),
            false => Err(Error::MissingFeature {
                what: "this build of twinset cannot connect to databases".to_owned(),
                feature: "databases",
            }),
        }
    }
}

/// Whether a text without `://` is meant as an address: key-value pairs of PostgreSQL, or a scheme without slashes.
fn looks_like_address(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let has_scheme = ["postgres:", "postgresql:", "mysql:", "mariadb:"].iter().any(|scheme| small.starts_with(scheme));
    small.contains("password=") || has_scheme && !Path::new(text).exists()
}
