//! Where an index is, as the user writes it.

use std::path::PathBuf;

#[cfg(feature = "databases")]
use twinset_io::database;
use twinset_io::database::Server;

use crate::{Error, Result};

/// A folder, or a database.
pub(super) enum Address {
    /// SQLite in this folder.
    Folder(PathBuf),
    /// PostgreSQL.
    #[cfg(feature = "databases")]
    Postgres(Tables),
    /// MariaDB or MySQL.
    #[cfg(feature = "databases")]
    Mysql(Tables),
}

/// The tables of an index in a database.
#[cfg(feature = "databases")]
pub(super) struct Tables {
    pub(super) database: database::Address,
    /// What their names begin with: up to 40 letters, digits and `_`.
    pub(super) prefix: String,
}

impl Address {
    pub(super) fn parse(text: &str) -> Result<Self> {
        match Server::of(text)? {
            None if text.is_empty() => {
                Err(Error::Usage("an index needs a name: a folder, or the address of a database".to_owned()))
            }
            None => Ok(Self::Folder(text.into())),
            #[cfg(feature = "databases")]
            Some(Server::Postgres) => Tables::parse(text).map(Self::Postgres),
            #[cfg(feature = "databases")]
            Some(Server::Mysql) => Tables::parse(text).map(Self::Mysql),
            #[cfg(not(feature = "databases"))]
            Some(_) => unreachable!("a build without databases refuses their addresses"),
        }
    }
}

#[cfg(feature = "databases")]
impl Tables {
    fn parse(text: &str) -> Result<Self> {
        const DEFAULT_NAME: &str = "twinset";
        let mut database = database::Address::parse(text)?;
        let prefix = database.take("index").unwrap_or_else(|| DEFAULT_NAME.to_owned());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if prefix.is_empty()
            || prefix.len() > 40
            || !prefix.chars().all(is_plain)
            || prefix.starts_with(|c: char| c.is_ascii_digit())
        {
            let reason = format!("`{prefix}` cannot be the name of an index: use up to 40 small letters, digits and _");
            return Err(Error::Usage(reason));
        }
        Ok(Self { database, prefix })
    }

    /// Connects to the database; failures name the index.
    pub(super) fn connect<C>(&self, connect: fn(&database::Address) -> twinset_io::Result<C>) -> Result<C> {
        connect(&self.database).map_err(|error| match error {
            twinset_io::Error::File { reason, .. } => Error::index(&self.name(), reason),
            other => other.into(),
        })
    }

    /// The address in messages: without a password, with the name of the index.
    pub(super) fn name(&self) -> String {
        format!("{}?index={}", self.database.name(), self.prefix)
    }
}

#[cfg(all(test, feature = "databases"))]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown_and_names_are_plain() {
        let refused = |text: &str| Address::parse(text).err().map(|error| error.to_string()).unwrap();
        let address = "postgres://ann:secret@localhost/db?sslmode=disable&index=news";
        let Ok(Address::Postgres(tables)) = Address::parse(address) else { panic!("{address}") };
        assert_eq!(tables.name(), "postgres://ann@localhost/db?index=news");
        assert!(refused("mysql://localhost/db?index=a-b").contains("name of an index"));
        assert!(refused("mysql://localhost/db?index=a\"; drop table x; --").contains("name of an index"));
        assert!(refused("mysql://localhost/db?sslmode=maybe").contains("sslmode is"));
        assert!(!refused("mysql://a:secret@[/db").contains("secret"));
        let other = refused("redis://me:secret@host");
        assert!(!other.contains("secret") && other.contains("postgres://"), "{other}");
        assert!(matches!(Address::parse("POSTGRES://me@host/db"), Ok(Address::Postgres(_))));
        assert!(matches!(Address::parse("some/folder"), Ok(Address::Folder(_))));
    }
}
