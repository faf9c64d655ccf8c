//! Encrypted connections, as `sslmode` and `sslrootcert` in an address ask for them, with the meaning that PostgreSQL gives them.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use url::Url;

use crate::{Error, Result};

/// How a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Not at all.
    Disable,
    /// If the server can.
    Prefer,
    /// Or there is none.
    Require,
    /// And the server proves who it is.
    Verify,
}

/// What an address asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tls {
    pub(super) mode: Mode,
    /// Whom to believe; without it, whom the system believes.
    pub(super) roots: Option<PathBuf>,
}

impl Tls {
    /// Takes the options out of an address.
    pub(super) fn take(url: &mut Url) -> Result<Self> {
        let (mut mode, mut roots, mut others) = (Mode::Prefer, None, Vec::new());
        for (key, value) in url.query_pairs() {
            match key.as_ref() {
                "sslmode" => {
                    mode = match value.as_ref() {
                        "disable" => Mode::Disable,
                        "allow" | "prefer" => Mode::Prefer,
                        "require" => Mode::Require,
                        "verify-ca" | "verify-full" => Mode::Verify,
                        _ => {
                            let reason = "sslmode is disable, prefer, require or verify-full";
                            return Err(Error::Usage(reason.to_owned()));
                        }
                    }
                }
                "sslrootcert" => roots = Some(PathBuf::from(value.into_owned())),
                _ => others.push((key.into_owned(), value.into_owned())),
            }
        }
        url.set_query(None);
        if !others.is_empty() {
            url.query_pairs_mut().extend_pairs(others);
        }
        // Whoever names the roots wants them to be used.
        let mode = if roots.is_some() && mode == Mode::Require { Mode::Verify } else { mode };
        Ok(Self { mode, roots })
    }

    /// For a connection of this kind.
    pub(super) fn config(&self) -> Result<ClientConfig> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| Error::Usage(format!("no encrypted connection can be made: {error}")))?;
        Ok(match self.mode {
            Mode::Verify => builder.with_root_certificates(self.roots()?).with_no_client_auth(),
            _ => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider))).with_no_client_auth(),
        })
    }

    fn roots(&self) -> Result<RootCertStore> {
        let mut store = RootCertStore::empty();
        let Some(path) = &self.roots else {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            return Ok(store);
        };
        let failed = |error: &dyn std::fmt::Display| {
            Error::Usage(format!("{}: the certificates cannot be read: {error}", path.display()))
        };
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(&error))? {
            let certificate = certificate.map_err(|error| failed(&error))?;
            store.add(certificate).map_err(|error| failed(&error))?;
        }
        Ok(store)
    }
}

/// Encrypts without asking who the server is, as `require` does.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_out_of_the_address() {
        let take = |text: &str| {
            let mut url = Url::parse(text).unwrap();
            Tls::take(&mut url).map(|tls| (tls, url.to_string()))
        };
        let (tls, rest) = take("postgres://h/d?sslmode=require&application_name=x").unwrap();
        assert_eq!((tls.mode, rest.as_str()), (Mode::Require, "postgres://h/d?application_name=x"));
        let (tls, rest) = take("mysql://h/d?sslmode=require&sslrootcert=/ca.pem").unwrap();
        assert_eq!((tls.mode, tls.roots, rest.as_str()), (Mode::Verify, Some("/ca.pem".into()), "mysql://h/d"));
        assert_eq!(take("mysql://h/d").unwrap().0.mode, Mode::Prefer);
        assert!(take("mysql://h/d?sslmode=yes").is_err());
    }
}
