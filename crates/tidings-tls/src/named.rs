//! Certificates that an operator names: each is believed as an authority, and as that of the server itself.
//!
//! A self-signed certificate, as `openssl req -new -x509` makes it, is marked as one of an authority. The library refuses
//! such a one as a server's even where it is the very one that was named; OpenSSL and Go believe it.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use webpki::EndEntityCert;

use crate::der::common_name;

/// A verifier that believes some certificates themselves, beside what another believes.
#[derive(Debug)]
pub(crate) struct PinnedVerifier {
    pub(crate) others: Arc<dyn ServerCertVerifier>,
    pub(crate) certificates: Vec<CertificateDer<'static>>,
    /// False if a certificate of a named authority is trusted whatever its name is.
    pub(crate) by_name: bool,
}

impl ServerCertVerifier for PinnedVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let others = &self.others;
        match others.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        {
            // It was looked at for its time before, and after for nothing but its name.
            Err(fault)
                if is_of_authority(&fault)
                    && self.certificates.iter().any(|named| named == end_entity) =>
            {
                if self.by_name {
                    check_name(end_entity, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            // The name is looked at last.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.by_name => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.others.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.others.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.others.supported_verify_schemes()
    }
}

/// Returns true if a certificate was refused because it is marked as one of an authority.
fn is_of_authority(fault: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(why))) = fault else {
        return false;
    };
    why.downcast_ref::<webpki::Error>() == Some(&webpki::Error::CaUsedAsEndEntity)
}

/// Checks that a certificate is valid for a name; one without alternative names has it as its common name.
fn check_name(certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> Result<(), Error> {
    let not_valid = || Error::InvalidCertificate(CertificateError::NotValidForName);
    let parsed = EndEntityCert::try_from(certificate).map_err(|_| not_valid())?;
    if parsed.verify_is_valid_for_subject_name(name).is_ok() {
        return Ok(());
    }
    let has_names = parsed.valid_dns_names().next().is_some();
    let common = common_name(parsed.subject()).filter(|_| !has_names);
    if common.is_some_and(|common| common.eq_ignore_ascii_case(&name.to_str())) {
        return Ok(());
    }
    Err(not_valid())
}
