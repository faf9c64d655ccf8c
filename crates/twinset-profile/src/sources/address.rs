//! The address of a database, whose password is never shown.

use url::Url;

use crate::{Error, Result};

/// Reads an address. What is wrong with it is told without repeating it.
pub(super) fn parse(text: &str) -> Result<Url> {
    let broken = |reason: &str| Error::Usage(format!("the address of the database is broken: {reason}"));
    let url = Url::parse(text).map_err(|error| broken(&error.to_string()))?;
    // A slash in a password ends the host, and leaves the rest of the password in the path.
    if url.path().contains('@') {
        return Err(broken("write special characters of a password as %2F, %40 and so on"));
    }
    Ok(url)
}

/// The address without its password, and without options, which may hold one.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // An address without a host has no password either.
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// The name of the database.
pub(super) fn database(url: &Url) -> String {
    url.path().trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let url = parse("postgres://ann:secret@host:5433/shop?password=secret&sslmode=require").unwrap();
        assert_eq!(shown(&url), "postgres://ann@host:5433/shop");
        assert!(!parse("postgres://ann:12/sec@ret@host/db").unwrap_err().to_string().contains("sec@"));
        assert!(!parse("postgres://ann:secret@[/").unwrap_err().to_string().contains("secret"));
    }
}
