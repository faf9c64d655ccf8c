//! Fetching from addresses that anyone may have written: not from this machine or its network, not too much, not for too long.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ETAG, HeaderMap, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER};
use reqwest::{Client, ClientBuilder, StatusCode, redirect};
use url::{Host, Url};

use crate::article::Moment;
use crate::limits::Limits;
use crate::{Error, Result};

/// Fetches documents.
pub(crate) struct Fetcher {
    client: Client,
    reach: Network,
    limits: Limits,
}

/// Who may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Nothing leaves this process, not even a question for a name.
    Nobody,
    /// Whom all can ask.
    Public,
    /// Also this machine, and its network.
    All,
}

impl Network {
    fn has(self, address: IpAddr) -> bool {
        match self {
            Self::Nobody => false,
            Self::Public => is_public(address),
            Self::All => true,
        }
    }
}

/// What was fetched.
pub(crate) enum FetchOutcome {
    /// Nothing has changed since the last time.
    Unchanged,
    /// The document, and what to say the next time.
    Document { bytes: Vec<u8>, etag: Option<String>, modified: Option<String> },
}

/// Why nothing was fetched, and how long to wait at least.
#[derive(Debug)]
pub(crate) struct FetchError {
    pub(crate) reason: String,
    pub(crate) wait: Option<u64>,
}

impl From<String> for FetchError {
    fn from(reason: String) -> Self {
        Self { reason, wait: None }
    }
}

/// So long is waited for a connection.
const CONNECT: Duration = Duration::from_secs(10);

impl Fetcher {
    pub(crate) fn new(reach: Network, limits: &Limits) -> Result<Self> {
        // Another part of the program may have chosen one before.
        _ = rustls::crypto::ring::default_provider().install_default();
        let client = client(reach, limits).build();
        let client = client.map_err(|error| Error::Usage(format!("nothing can be fetched: {error}")))?;
        Ok(Self { client, reach, limits: limits.clone() })
    }

    /// Fetches a document, unless it has not changed.
    pub(crate) async fn fetch(
        &self,
        address: &str,
        etag: Option<&str>,
        modified: Option<&str>,
    ) -> Result<FetchOutcome, FetchError> {
        let fetching = self.follow(address, etag, modified);
        // The client limits each answer, and there may be several.
        let fetched = tokio::time::timeout(Duration::from_secs(self.limits.feed_time), fetching).await;
        fetched.unwrap_or_else(|_| Err(self.too_slow().into()))
    }

    /// Fetches what an address leads to.
    async fn follow(
        &self,
        address: &str,
        etag: Option<&str>,
        modified: Option<&str>,
    ) -> Result<FetchOutcome, FetchError> {
        let mut url = Url::parse(address).map_err(|error| format!("this is no address: {error}"))?;
        for _ in 0..=self.limits.redirects {
            self.check(&url)?;
            let mut request = self.client.get(url.clone());
            for (name, value) in [(IF_NONE_MATCH, etag), (IF_MODIFIED_SINCE, modified)] {
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
            let response = request.send().await.map_err(|error| self.told(&error))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let header = |name| text(&headers, name);
            match status {
                StatusCode::NOT_MODIFIED => return Ok(FetchOutcome::Unchanged),
                status if status.is_redirection() => {
                    let to = header(LOCATION).ok_or_else(|| "it leads on, and does not say where".to_owned())?;
                    url = url.join(&to).map_err(|error| format!("it leads on to no address: {error}"))?;
                }
                status if status.is_success() => {
                    let (etag, modified) = (header(ETAG), header(LAST_MODIFIED));
                    return Ok(FetchOutcome::Document { bytes: self.limited(response).await?, etag, modified });
                }
                status => {
                    let wait = header(RETRY_AFTER).and_then(|told| seconds(told.trim()));
                    return Err(FetchError { reason: format!("it answered {status}"), wait });
                }
            }
        }
        Err(format!("it leads on more than {} times", self.limits.redirects).into())
    }

    /// Refuses addresses that are written as numbers, and are not public. Resolver are checked when they are looked up.
    fn check(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("addresses begin with http or https, not with {}", url.scheme()));
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => return Err("the address has no host".to_owned()),
        };
        match address {
            Some(address) if !self.reach.has(address) => Err(PRIVATE.to_owned()),
            _ => Ok(()),
        }
    }

    fn too_slow(&self) -> String {
        format!("it took longer than {} seconds", self.limits.feed_time)
    }

    /// What a failure means, with its deepest cause.
    fn told(&self, error: &reqwest::Error) -> String {
        if error.is_timeout() {
            return self.too_slow();
        }
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        cause.to_string()
    }

    /// The body, unless it is too large.
    async fn limited(&self, mut response: reqwest::Response) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.told(&error))? {
            if (bytes.len() + chunk.len()) as u64 > self.limits.feed {
                return Err(format!("it is larger than {} bytes", self.limits.feed));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// Redirects are followed by the one who asks, so that each can be checked.
fn client(reach: Network, limits: &Limits) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("twinset/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT)
        .timeout(Duration::from_secs(limits.feed_time))
        .dns_resolver(Arc::new(Resolver { reach }))
}

/// How long to wait, as a server tells it: in seconds, or until a moment.
fn seconds(told: &str) -> Option<u64> {
    let until = || Moment::parse(told).ok().map(|moment| (moment.0 - Moment::now().0).max(0) as u64);
    told.parse().ok().or_else(until)
}

const PRIVATE: &str = "the address lies on this machine or in a private network; --allow-private lets it in";

fn text(headers: &HeaderMap, name: reqwest::header::HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// Looks names up, and leaves out what is out of reach: the connection is made to what was checked, and to nothing else.
struct Resolver {
    reach: Network,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        Box::pin(async move {
            let found: Vec<SocketAddr> = match reach {
                Network::Nobody => Vec::new(),
                _ => tokio::net::lookup_host((name.as_str(), 0)).await?.collect(),
            };
            let allowed: Vec<SocketAddr> = found.into_iter().filter(|address| reach.has(address.ip())).collect();
            if allowed.is_empty() {
                return Err(PRIVATE.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Whether an address can be that of a public service.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let last = || Ipv4Addr::from(u32::from(parts[6]) << 16 | u32::from(parts[7]));
    // Addresses that hold one of the older kind are as public as that.
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    match parts {
        [0, 0, 0, 0, 0, 0, _, _] => false,
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => is_public_v4(last()),
        [0x64, 0xff9b, ..] => false,
        [0x2002, high, low, ..] => is_public_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))),
        [0x2001, second, ..] => second > 0x1ff && second != 0xdb8,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Only these are given to networks that all can reach.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn addresses_of_this_machine_and_of_private_networks_are_not_public() {
        let private = [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.88.99.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:1::",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "3fff::1",
            "100::1",
            "4000::1",
        ];
        for address in private {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        let public = [
            "8.8.8.8",
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ];
        for address in public {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_that_are_written_in_odd_ways_are_seen_through() {
        let fetcher = Fetcher::new(Network::Public, &Limits::default()).unwrap();
        let refused = [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://0/",
            "ftp://8.8.8.8/",
            "file:///etc/passwd",
            "http://169.254.169.254/latest",
        ];
        for address in refused {
            assert!(fetcher.check(&Url::parse(address).unwrap()).is_err(), "{address}");
        }
        fetcher.check(&Url::parse("https://news.example/feed").unwrap()).unwrap();
        let fetcher = Fetcher::new(Network::All, &Limits::default()).unwrap();
        fetcher.check(&Url::parse("http://127.0.0.1:8000/feed").unwrap()).unwrap();
    }

    /// Answers `/start?TO` by leading on to TO, and all else with a document; counts what it was asked.
    fn leading_on() -> (SocketAddr, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let count = asked.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let mut request = [0; 4096];
                let length = stream.read(&mut request).unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let to = request.split_whitespace().nth(1).and_then(|path| path.strip_prefix("/start?"));
                let head = to.map_or("200 OK".to_owned(), |to| format!("302 Found\r\nLocation: {to}"));
                _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        });
        (address, asked)
    }

    #[test]
    fn what_a_public_address_leads_on_to_is_checked_like_itself() {
        let (address, asked) = leading_on();
        let limits = Limits::default();
        _ = rustls::crypto::ring::default_provider().install_default();
        // In place of a public service there is one on this machine, and the fetcher takes it for public.
        let fetcher = |reach| {
            let client = client(reach, &limits).resolve("public.example", address).build().unwrap();
            Fetcher { client, reach, limits: limits.clone() }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let port = address.port();
        let fetched = |reach, to: &str| {
            let before = asked.load(Ordering::SeqCst);
            let start = format!("http://public.example:{port}/start?{to}");
            let fetched = runtime.block_on(fetcher(reach).fetch(&start, None, None));
            (fetched.map(|_| ()).map_err(|refused| refused.reason), asked.load(Ordering::SeqCst) - before)
        };
        assert_eq!(fetched(Network::Public, "/elsewhere"), (Ok(()), 2));
        // By its number, in odd ways, and by a name that is looked up: nothing more is asked.
        for host in ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost"] {
            let to = format!("http://{host}:{port}/");
            assert_eq!(fetched(Network::Public, &to), (Err(PRIVATE.to_owned()), 1), "{host}");
        }
        // Nor after several steps.
        let twice = format!("/start?http://127.0.0.1:{port}/");
        assert_eq!(fetched(Network::Public, &twice), (Err(PRIVATE.to_owned()), 2));
        assert!(fetched(Network::Public, "file:///etc/passwd").0.unwrap_err().contains("http"));
        // It is the check that refuses: whoever allows it gets there.
        assert_eq!(fetched(Network::All, &format!("http://127.0.0.1:{port}/")), (Ok(()), 2));
    }

    #[test]
    fn patience_is_told_in_seconds_or_by_a_date() {
        assert_eq!((seconds("120"), seconds("soon"), seconds("-1")), (Some(120), None, None));
        assert_eq!(seconds("Wed, 21 Oct 2015 07:28:00 GMT"), Some(0));
        assert!(seconds("Fri, 31 Dec 9999 23:59:59 GMT").unwrap() > 1_000_000_000);
    }
}
