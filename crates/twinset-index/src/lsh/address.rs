//! Where an index lies, as the user writes it.

use std::path::{Path, PathBuf};

use url::Url;

use crate::{Error, Result};

/// A file, a folder, or a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// Main memory, saved to this file.
    File(PathBuf),
    /// SQLite in this folder.
    Folder(PathBuf),
    /// PostgreSQL, and what its tables' names begin with.
    Postgres(Url, String),
    /// MariaDB or MySQL, likewise.
    Mysql(Url, String),
}

const DEFAULT_NAME: &str = "twinset";

impl Address {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let is_postgres = matches!(scheme.as_deref(), Some("postgres" | "postgresql"));
        if !is_postgres && !matches!(scheme.as_deref(), None | Some("mysql" | "mariadb")) {
            let reason = "an index lies in a folder, or at an address that begins with postgres:// or mysql://";
            return Err(Error::Usage(reason.to_owned()));
        }
        if scheme.is_none() {
            let path = Path::new(text);
            if text.is_empty() {
                return Err(Error::Usage(
                    "an index needs a name: a folder, a file that ends in .labels, or an address".to_owned(),
                ));
            }
            let is_file = text.ends_with(".labels");
            return Ok(if is_file { Self::File(path.to_owned()) } else { Self::Folder(path.to_owned()) });
        }
        // A message must not repeat the password.
        let mut url = Url::parse(text)
            .map_err(|error| Error::Usage(format!("the address of the database is broken: {error}")))?;
        let name = url.query_pairs().find(|(key, _)| key == "index").map(|(_, value)| value.into_owned());
        let name = name.unwrap_or_else(|| DEFAULT_NAME.to_owned());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty()
            || name.len() > 40
            || !name.chars().all(is_plain)
            || name.starts_with(|c: char| c.is_ascii_digit())
        {
            let reason = format!("`{name}` cannot be the name of an index: use up to 40 small letters, digits and _");
            return Err(Error::Usage(reason));
        }
        let rest: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(key, _)| key != "index")
            .map(|(key, value)| (key.into_owned(), value.into_owned()))
            .collect();
        url.set_query(None);
        if !rest.is_empty() {
            url.query_pairs_mut().extend_pairs(rest);
        }
        Ok(if is_postgres { Self::Postgres(url, name) } else { Self::Mysql(url, name) })
    }
}

/// The address of a database without its password, with the name of the index.
#[cfg_attr(not(feature = "databases"), allow(dead_code, reason = "for database servers"))]
pub(super) fn shown(url: &Url, name: &str) -> String {
    let mut url = url.clone();
    // An address without a host has no password either.
    let _ = url.set_password(None);
    url.set_query(Some(&format!("index={name}")));
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown_and_names_are_plain() {
        let parsed = Address::parse("postgres://ann:secret@localhost/db?sslmode=disable&index=news").unwrap();
        let Address::Postgres(url, name) = parsed else { panic!("{parsed:?}") };
        assert_eq!(
            (shown(&url, &name).as_str(), url.query()),
            ("postgres://ann@localhost/db?index=news", Some("sslmode=disable"))
        );
        assert!(Address::parse("mysql://localhost/db?index=a-b").is_err());
        assert!(Address::parse("mysql://localhost/db?index=a\"; drop table x; --").is_err());
        assert!(!format!("{}", Address::parse("mysql://a:secret@[/db").unwrap_err()).contains("secret"));
        let other = Address::parse("redis://me:secret@host").unwrap_err().to_string();
        assert!(!other.contains("secret") && other.contains("postgres://"), "{other}");
        assert!(matches!(Address::parse("POSTGRES://me@host/db"), Ok(Address::Postgres(..))));
        assert_eq!(Address::parse("some/folder").unwrap(), Address::Folder("some/folder".into()));
        assert_eq!(Address::parse("x.labels").unwrap(), Address::File("x.labels".into()));
    }
}
