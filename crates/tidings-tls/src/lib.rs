//! Trust of TLS clients: the authorities that the machine trusts, so that one that an operator has installed applies to
//! providers, the resolver, databases and commands alike.
//!
//! This is a crate of its own because the store, the feeds and the channels need it, and none may know the others. Addresses of
//! PostgreSQL, and the proxies that the environment names, are here for the same reason.

mod der;
mod named;
#[cfg(feature = "postgres")]
pub mod postgres;
mod proxy;

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use ureq::tls::{RootCerts, TlsConfig};

use named::PinnedVerifier;
pub use proxy::{Proxies, Proxy};

/// The variables in which an operator names the authorities of a process.
const NAMED_BY: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The authorities that a client believes.
#[derive(Clone, Copy, Debug)]
pub enum Authorities<'a> {
    /// The authorities of the machine, or those of browsers on a machine without any.
    Machine,
    /// The same, and those of a PEM file.
    MachineAnd(&'a Path),
    /// The ones of a file in PEM alone.
    Only(&'a Path),
}

/// The files of a client certificate.
#[derive(Clone, Copy, Debug)]
pub struct ClientCertificateFiles<'a> {
    /// The client's certificate in PEM, and those of authorities between it and one that the server knows.
    pub certificate: &'a Path,
    /// Its private key in PEM.
    pub key: &'a Path,
}

/// Creates the settings of a client that believes these authorities, for the name of the server.
///
/// # Errors
/// Why the file, or the one that the environment names, can't be used.
pub fn client(authorities: Authorities<'_>) -> Result<ClientConfig, String> {
    client_as(authorities, true, None)
}

/// The same, of a client that has an identity. Without `by_name` the certificate may be for another name.
///
/// # Errors
/// As [`client`], and why a file of the identity can't be used.
pub fn client_as(
    authorities: Authorities<'_>,
    by_name: bool,
    identity: Option<ClientCertificateFiles<'_>>,
) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let named = match authorities {
        Authorities::Machine => Vec::new(),
        Authorities::MachineAnd(file) | Authorities::Only(file) => certificates(file)?,
    };
    let others = match authorities {
        Authorities::Machine | Authorities::MachineAnd(_) => of_machine(named.clone(), &provider)?,
        Authorities::Only(_) => of_roots(RootCertStore::empty(), named.clone(), &provider)?,
    };
    let verifier = Arc::new(PinnedVerifier { others, certificates: named, by_name });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|fault| fault.to_string())?;
    // "Dangerous" is a verifier that doesn't: these do.
    let config = config.dangerous().with_custom_certificate_verifier(verifier);
    let Some(ClientCertificateFiles { certificate, key }) = identity else {
        return Ok(config.with_no_client_auth());
    };
    let unreadable = |fault: &dyn Display| format!("{}: {fault}", key.display());
    let pem = std::fs::read(key).map_err(|fault| unreadable(&fault))?;
    let private = PrivateKeyDer::from_pem_slice(&pem).map_err(|fault| unreadable(&fault))?;
    config
        .with_client_auth_cert(certificates(certificate)?, private)
        .map_err(|fault| unreadable(&fault))
}

/// The settings of an HTTP client that believes the authorities of [`Authorities::Machine`].
#[must_use]
pub fn http_client() -> TlsConfig {
    let roots = if has_own(&Arc::new(ring::default_provider())) {
        RootCerts::PlatformVerifier
    } else {
        RootCerts::WebPki
    };
    TlsConfig::builder().root_certs(roots).build()
}

/// Returns true if the machine has authorities of its own, or should have some since they are configured.
fn has_own(provider: &Arc<CryptoProvider>) -> bool {
    named() || Verifier::new(Arc::clone(provider)).is_ok()
}

fn named() -> bool {
    NAMED_BY.iter().any(|name| std::env::var_os(name).is_some())
}

fn of_machine(
    more: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    if !has_own(provider) {
        let public = webpki_roots::TLS_SERVER_ROOTS.iter().cloned();
        return of_roots(public.collect(), more, provider);
    }
    let verifier = Verifier::new_with_extra_roots(more, Arc::clone(provider));
    match verifier {
        Ok(verifier) => Ok(Arc::new(verifier)),
        Err(fault) => Err(format!("{fault}{}", where_named())),
    }
}

/// A hint for authorities of the machine that can't be used.
fn where_named() -> String {
    let named = NAMED_BY.iter().filter_map(|name| {
        let value = std::env::var_os(name)?;
        Some(format!("; `{name}` is {}", Path::new(&value).display()))
    });
    named.collect()
}

fn of_roots(
    mut roots: RootCertStore,
    more: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    for certificate in more {
        roots.add(certificate).map_err(|fault| fault.to_string())?;
    }
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    match verifier {
        Ok(verifier) => Ok(verifier),
        Err(fault) => Err(fault.to_string()),
    }
}

/// The certificates of a file in PEM, of which there is one at least.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |fault: &dyn Display| format!("{}: {fault}", file.display());
    let pem = std::fs::read(file).map_err(|fault| unreadable(&fault))?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let certificates = certificates.map_err(|fault| unreadable(&fault))?;
    if certificates.is_empty() {
        Err(unreadable(&"it has no certificate"))
    } else {
        Ok(certificates)
    }
}
