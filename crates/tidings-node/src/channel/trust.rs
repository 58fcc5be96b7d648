//! Certificate authorities that the servers of providers are believed by.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// A client that believes the public authorities, and those of a file.
///
/// # Errors
/// Why the file can't be used.
pub(super) fn trust(file: Option<&Path>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(path) = file {
        let told = |fault: &dyn Display| format!("{}: {fault}", path.display());
        let pem = std::fs::read(path).map_err(|fault| told(&fault))?;
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|fault| told(&fault))?;
            roots.add(certificate).map_err(|fault| told(&fault))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|fault| fault.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
