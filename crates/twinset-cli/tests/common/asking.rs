//! A news service, and someone who asks it.

use reqwest::blocking::Client;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::{Folder, Service};

pub(crate) struct Asking {
    pub(crate) service: Service,
    pub(crate) client: Client,
}

impl Asking {
    pub(crate) fn start(folder: &Folder, args: &str) -> Self {
        Self::start_by(&[], folder, args)
    }

    /// By a program that runs another one.
    pub(crate) fn start_by(program: &[&str], folder: &Folder, args: &str) -> Self {
        _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { service: Service::start_by(program, folder, args), client }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.service.address)
    }

    pub(crate) fn get(&self, path: &str) -> (StatusCode, Value) {
        self.ask(Method::GET, path, None).unwrap()
    }

    pub(crate) fn send(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        self.ask(Method::POST, path, Some(body)).unwrap()
    }

    /// What is answered, unless the service is gone. What is no JSON is null.
    pub(crate) fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> reqwest::Result<(StatusCode, Value)> {
        let mut request = self.client.request(method, self.url(path));
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send()?;
        let (status, text) = (response.status(), response.bytes()?);
        Ok((status, serde_json::from_slice(&text).unwrap_or(Value::Null)))
    }
}

/// A text that is not like that of another word.
pub(crate) fn words(word: &str) -> String {
    let own =
        (0..40).map(|number| format!("{:x}", twinset::tokenize::token_hash(format!("{word}{number}").as_bytes(), 1)));
    format!("lighthouse {word} {}", own.collect::<Vec<_>>().join(" "))
}
