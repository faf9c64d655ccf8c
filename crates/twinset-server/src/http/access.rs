//! Who may do what: without keys everyone on this machine, with keys those who show one.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;

use axum::extract::{Form, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use rand::Rng;
use serde::Deserialize;
use subtle::ConstantTimeEq;

use super::Service;
use super::failure::{Failure, is_for_programs};
use crate::{Error, Result};

/// What someone may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Right {
    Read,
    Write,
}

/// The keys of a service, and who has logged in with them.
pub(crate) struct Keys {
    read: String,
    write: String,
    /// The oldest first.
    sessions: Mutex<VecDeque<(String, Right)>>,
    /// So many can be logged in at a time.
    most: usize,
}

/// A key has so many characters at least.
const SHORTEST: usize = 16;
const COOKIE: &str = "twinset";

impl Keys {
    /// Reads a file with the lines `read KEY` and `write KEY`.
    pub(crate) fn read(path: &Path, most: usize) -> Result<Self> {
        let fail = |reason: String| Error::Usage(format!("--key-file {}: {reason}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        let key = |name: &str| -> Result<String> {
            let lines = text.lines().filter_map(|line| line.split_once(char::is_whitespace));
            let key = lines.filter(|(own, _)| *own == name).map(|(_, key)| key.trim().to_owned()).next();
            key.filter(|key| key.len() >= SHORTEST).ok_or_else(|| {
                fail(format!("it needs a line `{name} KEY` with a key of at least {SHORTEST} characters"))
            })
        };
        let (read, write) = (key("read")?, key("write")?);
        if read == write {
            return Err(fail("the two keys must differ".to_owned()));
        }
        Ok(Self { read, write, sessions: Mutex::default(), most })
    }

    /// What a key allows. Comparing takes as long whatever is wrong with it.
    fn right_of(&self, key: &str) -> Option<Right> {
        let is = |own: &str| bool::from(own.as_bytes().ct_eq(key.as_bytes()));
        match (is(&self.read), is(&self.write)) {
            (_, true) => Some(Right::Write),
            (true, _) => Some(Right::Read),
            _ => None,
        }
    }

    fn right_of_request(&self, headers: &HeaderMap) -> Option<Right> {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if let Some(key) = bearer {
            return self.right_of(key.trim());
        }
        let session = cookie(headers)?;
        let sessions = self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sessions.iter().find(|(own, _)| own == session).map(|&(_, right)| right)
    }

    fn begin(&self, right: Right) -> String {
        let mut random = [0u8; 32];
        rand::rng().fill_bytes(&mut random);
        let session: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut sessions = self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Who logged in longest ago has to do so again.
        sessions.push_back((session.clone(), right));
        if sessions.len() > self.most {
            sessions.pop_front();
        }
        session
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|cookies| cookies.split(';'))
        .find_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// Lets a request through if it may be made.
pub(super) async fn check(State(service): State<Service>, request: Request, next: Next) -> Response {
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD) || request.uri().path() == "/api/similar";
    let path = request.uri().path();
    // A page of another site must not write through the reader's browser.
    if !is_reading && is_foreign(request.headers()) {
        return Failure::new(StatusCode::FORBIDDEN, "this came from the page of another site").into_response();
    }
    // A name of another site that leads here would otherwise let its pages read everything.
    if service.keys.is_none() && text(request.headers(), "host").is_some_and(|host| !is_local(host)) {
        return Failure::new(StatusCode::FORBIDDEN, "without keys the service answers to localhost alone")
            .into_response();
    }
    let Some(keys) = &service.keys else { return next.run(request).await };
    if path == "/login" || path.starts_with("/assets/") || path == "/api/health" {
        return next.run(request).await;
    }
    let needed = if is_reading { Right::Read } else { Right::Write };
    match keys.right_of_request(request.headers()) {
        Some(right) if right >= needed => next.run(request).await,
        Some(_) => Failure::new(StatusCode::FORBIDDEN, "this key may read, and this needs the one that may write")
            .into_response(),
        None if is_for_programs(path) => {
            let failure = Failure::new(StatusCode::UNAUTHORIZED, "send a key: `Authorization: Bearer KEY`");
            ([(header::WWW_AUTHENTICATE, "Bearer")], failure).into_response()
        }
        None => Redirect::to("/login").into_response(),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether a browser says that the page of another site asks.
fn is_foreign(headers: &HeaderMap) -> bool {
    let origin = text(headers, "origin").map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
    text(headers, "sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
        || origin.is_some_and(|origin| Some(origin) != text(headers, "host"))
}

/// Whether a host is this machine.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[derive(Deserialize)]
pub(super) struct Login {
    key: String,
}

/// Begins a session with a key.
pub(super) async fn log_in(State(service): State<Service>, Form(login): Form<Login>) -> Response {
    let Some(keys) = &service.keys else { return Redirect::to("/").into_response() };
    match keys.right_of(login.key.trim()) {
        Some(right) => {
            let cookie = format!("{COOKIE}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000", keys.begin(right));
            ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
        }
        None => (StatusCode::UNAUTHORIZED, super::pages::login_page(true)).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        std::fs::write(&path, "read 0123456789abcdef\nwrite fedcba9876543210\n").unwrap();
        let keys = Keys::read(&path, 2).unwrap();
        assert_eq!(keys.right_of("0123456789abcdef"), Some(Right::Read));
        assert_eq!(keys.right_of("fedcba9876543210"), Some(Right::Write));
        assert_eq!(keys.right_of("fedcba987654321"), None);
        assert_eq!(keys.right_of(""), None);
        // The oldest of too many sessions ends.
        let sessions = [Right::Read, Right::Write, Right::Read].map(|right| keys.begin(right));
        let right_of = |session: &String| {
            let cookie = format!("{COOKIE}={session}").parse().unwrap();
            keys.right_of_request(&HeaderMap::from_iter([(header::COOKIE, cookie)]))
        };
        assert_eq!(sessions.each_ref().map(right_of), [None, Some(Right::Write), Some(Right::Read)]);
        for bad in [
            "read 0123456789abcdef\n",
            "read short\nwrite fedcba9876543210",
            "read 0123456789abcdef\nwrite 0123456789abcdef",
        ] {
            std::fs::write(&path, bad).unwrap();
            assert!(Keys::read(&path, 2).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_names_of_this_machine_are_local() {
        for host in ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "127.1.2.3"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["example.com", "localhost.example.com", "10.0.0.1", "127.0.0.1.nip.io", "[::2]:1", ""] {
            assert!(!is_local(host), "{host}");
        }
    }
}
