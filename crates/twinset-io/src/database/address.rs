//! The address of a database, whose password is never shown.

use mysql::{Conn, Opts, OptsBuilder, SslOpts};
use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;
use url::Url;

use super::tls::{Mode, Tls};
use crate::{Error, Result};

/// The address of a database, with its TLS options taken out.
#[derive(Clone)]
pub struct Address {
    url: Url,
    tls: Tls,
}

impl Address {
    /// Parses an address. Errors do not repeat it, as it may hold a password.
    pub fn parse(text: &str) -> Result<Self> {
        let broken = |reason: &str| Error::Usage(format!("the address of the database is broken: {reason}"));
        let mut url = Url::parse(text).map_err(|error| broken(&error.to_string()))?;
        // A slash in a password ends the host, and leaves the rest of the password in the path.
        if url.path().contains('@') {
            return Err(broken("write special characters of a password as %2F, %40 and so on"));
        }
        let tls = Tls::take(&mut url)?;
        Ok(Self { url, tls })
    }

    /// Takes an option out of the address.
    pub fn take(&mut self, option: &str) -> Option<String> {
        let (taken, others): (Vec<_>, Vec<_>) = self.url.query_pairs().into_owned().partition(|(key, _)| key == option);
        self.url.set_query(None);
        if !others.is_empty() {
            self.url.query_pairs_mut().extend_pairs(others);
        }
        taken.into_iter().next().map(|(_, value)| value)
    }

    /// The address without its password, and without options, which may hold one.
    pub fn name(&self) -> String {
        let mut url = self.url.clone();
        // An address without a host has no password either.
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }

    /// The name of the database.
    pub fn database(&self) -> &str {
        self.url.path().trim_start_matches('/')
    }

    /// Connects to PostgreSQL; without a password in the address, with `PGPASSWORD`.
    pub fn postgres(&self) -> Result<Client> {
        // Its own words about a broken address could repeat the password.
        let broken = |_| self.failure("the address is broken; write postgres://user@host/database");
        let mut config: Config = self.url.as_str().parse().map_err(broken)?;
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        config.ssl_mode(match self.tls.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::Verify => SslMode::Require,
        });
        let connected = match self.tls.mode {
            Mode::Disable => config.connect(NoTls),
            _ => config.connect(MakeRustlsConnect::new(self.tls.config()?)),
        };
        connected.map_err(|error| self.failure(&postgres_reason(&error)))
    }

    /// Connects to MariaDB or MySQL; without a password in the address, with `MYSQL_PWD`.
    pub fn mysql(&self) -> Result<Conn> {
        if self.database().is_empty() {
            return Err(self.failure("the address names no database; write mysql://user@host/database"));
        }
        // Its own words about a broken address could repeat the password.
        let broken = |_| self.failure("the address is broken; write mysql://user@host/database");
        let given = Opts::from_url(&self.url.as_str().replacen("mariadb://", "mysql://", 1)).map_err(broken)?;
        // The socket that a server names may be that of another one here.
        let mut options = OptsBuilder::from_opts(given).prefer_socket(false);
        if self.url.password().is_none()
            && let Ok(password) = std::env::var("MYSQL_PWD")
        {
            options = options.pass(Some(password));
        }
        let plain = || Conn::new(options.clone());
        let secure = || {
            let trusting = self.tls.mode != Mode::Verify;
            let secure = SslOpts::default()
                .with_danger_accept_invalid_certs(trusting)
                .with_danger_skip_domain_validation(trusting)
                .with_root_cert_path(self.tls.roots.clone());
            Conn::new(options.clone().ssl_opts(Some(secure)))
        };
        let connected = match self.tls.mode {
            Mode::Disable => plain(),
            Mode::Prefer => secure().or_else(|_| plain()),
            Mode::Require | Mode::Verify => secure(),
        };
        connected.map_err(|error| self.failure(&mysql_reason(&error)))
    }

    fn failure(&self, reason: &str) -> Error {
        Error::File { file: self.name(), reason: reason.to_owned() }
    }
}

/// What an error of PostgreSQL means to the user.
pub fn postgres_reason(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("the database says: {}", error.message()),
        None => {
            let cause = std::error::Error::source(error).map(|cause| format!(" ({cause})")).unwrap_or_default();
            format!("the database does not answer: {error}{cause}")
        }
    }
}

/// What an error of MariaDB or MySQL means to the user.
pub fn mysql_reason(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(error) => format!("the database says: {}", error.message),
        error => format!("the database does not answer: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let address = Address::parse("postgres://ann:secret@host:5433/shop?password=secret&sslmode=require").unwrap();
        assert_eq!(address.name(), "postgres://ann@host:5433/shop");
        for broken in ["postgres://ann:12/secret@host/db", "postgres://ann:secret@[/"] {
            let error = Address::parse(broken).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn options_are_taken_out() {
        let mut address = Address::parse("mysql://host/shop?index=news&sslmode=disable&a=b%20c").unwrap();
        assert_eq!(address.take("index").as_deref(), Some("news"));
        assert_eq!(address.take("index"), None);
        assert_eq!(address.url.as_str(), "mysql://host/shop?a=b+c");
    }
}
