//! Signatures of mails (DKIM, RFC 6376), by which a receiver knows that a mail is the domain's own, and unchanged.
//!
//! `ring` signs, which TLS brings anyway; what is left is the canonical form of a mail that we have written
//! ourselves. (`mail-auth` brings a resolver, XML and archives, `lettre` a second library for what `ring` does. Tests let
//! dkimpy verify every kind of mail.) A signature has no time in it, so a mail is the same bytes however often it is
//! built.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;

/// The headers that are signed where a mail has them: all that a reader or a mail program goes by.
const SIGNED: [&str; 14] = [
    "From",
    "Reply-To",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "References",
    "List-ID",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "Feedback-ID",
    "Auto-Submitted",
    "MIME-Version",
    "Content-Type",
];
/// The headers that can't be added a second time (RFC 6376, section 8.15).
const ONLY_ONCE: [&str; 4] = ["From", "To", "Subject", "Date"];
/// The most characters of a line of a signature.
const LINE_CHARS_MAX: usize = 72;

/// A key with the name under which receivers look up its public half.
pub struct Dkim {
    domain: String,
    selector: String,
    key: DkimKey,
}

enum DkimKey {
    Rsa(Box<RsaKeyPair>),
    Ed25519(Ed25519KeyPair),
}

/// The reason why a key can't sign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DkimError {
    /// The file holds no private key.
    #[error("it is no private key in PEM")]
    NoKey,
    /// The key is neither RSA nor Ed25519, or too short.
    #[error("it is neither an Ed25519 key nor an RSA key of 2048 to 4096 bits")]
    Kind,
}

impl fmt::Debug for Dkim {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Dkim({}._domainkey.{})", self.selector, self.domain)
    }
}

impl Dkim {
    /// Reads a private key: PKCS #8, or PKCS #1 for RSA, in PEM.
    ///
    /// # Errors
    /// [`DkimError`]; it reveals nothing of the key.
    pub fn new(domain: &str, selector: &str, pem: &[u8]) -> Result<Self, DkimError> {
        let key = match PrivateKeyDer::from_pem_slice(pem).map_err(|_| DkimError::NoKey)? {
            PrivateKeyDer::Pkcs8(der) => {
                let der = der.secret_pkcs8_der();
                Ed25519KeyPair::from_pkcs8_maybe_unchecked(der)
                    .map(DkimKey::Ed25519)
                    .or_else(|_| RsaKeyPair::from_pkcs8(der).map(|key| DkimKey::Rsa(Box::new(key))))
            }
            PrivateKeyDer::Pkcs1(der) => {
                let key = RsaKeyPair::from_der(der.secret_pkcs1_der());
                key.map(|key| DkimKey::Rsa(Box::new(key)))
            }
            _ => return Err(DkimError::Kind),
        };
        Ok(Self {
            domain: domain.to_owned(),
            selector: selector.to_owned(),
            key: key.map_err(|_| DkimError::Kind)?,
        })
    }

    /// The header that signs a mail, with its line end; `None` if the key fails, which it never should.
    pub(crate) fn sign(&self, mail: &str) -> Option<String> {
        let (head, body) = mail.split_once("\r\n\r\n")?;
        let headers = unfolded(head);
        let named = |name: &str| headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        let signed: Vec<&str> = SIGNED.into_iter().filter(|name| named(name).is_some()).collect();
        let algorithm = match &self.key {
            DkimKey::Rsa(_) => "rsa-sha256",
            DkimKey::Ed25519(_) => "ed25519-sha256",
        };
        let names: Vec<String> =
            signed.iter().chain(&ONLY_ONCE).map(|name| name.to_ascii_lowercase()).collect();
        let body = STANDARD.encode(digest(&SHA256, &relaxed_body(body)));
        let unsigned = format!(
            "v=1; a={algorithm}; c=relaxed/relaxed; d={}; s={};\r\n h={};\r\n bh={body};\r\n b=",
            self.domain,
            self.selector,
            folded(&names.join(":"), ':'),
        );
        let mut data = String::new();
        for (name, value) in signed.iter().filter_map(|name| named(name)) {
            data.push_str(&format!("{}\r\n", relaxed(name, value)));
        }
        data.push_str(&relaxed("DKIM-Signature", &unsigned));
        let signature = self.key.sign(data.as_bytes())?;
        let signature = STANDARD.encode(signature);
        let lines: Vec<&str> = signature
            .as_bytes()
            .chunks(LINE_CHARS_MAX)
            .filter_map(|line| str::from_utf8(line).ok())
            .collect();
        Some(format!("DKIM-Signature: {unsigned}{}\r\n", lines.join("\r\n ")))
    }
}

impl DkimKey {
    fn sign(&self, data: &[u8]) -> Option<Vec<u8>> {
        match self {
            // What is signed is the hash, which Ed25519 takes as its message (RFC 8463, section 3).
            Self::Ed25519(key) => Some(key.sign(digest(&SHA256, data).as_ref()).as_ref().to_vec()),
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                // Random bits hide the key from those who measure time; the signature has none of them.
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), data, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

/// The headers with their values, in which lines are still broken.
fn unfolded(head: &str) -> Vec<(&str, String)> {
    let mut headers: Vec<(&str, String)> = Vec::new();
    for line in head.split("\r\n") {
        match (line.starts_with([' ', '\t']), headers.last_mut()) {
            (true, Some((_, value))) => value.push_str(line),
            _ => {
                if let Some((name, value)) = line.split_once(':') {
                    headers.push((name, value.to_owned()));
                }
            }
        }
    }
    headers
}

/// A header in its relaxed form (RFC 6376, section 3.4.2), without a line end.
fn relaxed(name: &str, value: &str) -> String {
    let value = value.replace("\r\n", "");
    let words: Vec<&str> = value.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
    format!("{}:{}", name.trim().to_ascii_lowercase(), words.join(" "))
}

/// A body in its relaxed form (RFC 6376, section 3.4.4). Its lines end in CRLF. Most bodies are in that form already.
fn relaxed_body(body: &str) -> Cow<'_, [u8]> {
    let is_ended = body.len() > 2 && body.ends_with("\r\n") && !body.ends_with("\r\n\r\n");
    if is_ended && !body.contains("  ") && !body.contains(" \r\n") && !body.contains('\t') {
        return Cow::Borrowed(body.as_bytes());
    }
    let mut out = Vec::with_capacity(body.len() + 2);
    let (mut lines, mut is_spaced) = (0, false);
    let mut rest = body.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'\r' => {}
            b'\n' => {
                lines += 1;
                is_spaced = false;
            }
            b' ' | b'\t' => is_spaced = true,
            first => {
                // Lines at the end and spaces at the end of a line don't count.
                for _ in 0..std::mem::take(&mut lines) {
                    out.extend_from_slice(b"\r\n");
                }
                if std::mem::take(&mut is_spaced) {
                    out.push(b' ');
                }
                out.push(*first);
                let is_word = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
                let (word, after) = after.split_at(after.iter().take_while(|b| is_word(b)).count());
                out.extend_from_slice(word);
                rest = after;
            }
        }
    }
    if !out.is_empty() {
        out.extend_from_slice(b"\r\n");
    }
    Cow::Owned(out)
}

/// A list broken into lines after some of its separators.
fn folded(list: &str, separator: char) -> String {
    let mut out = String::with_capacity(list.len());
    let mut line = 0;
    for item in list.split_inclusive(separator) {
        if line + item.len() > LINE_CHARS_MAX {
            out.push_str("\r\n ");
            line = 0;
        }
        out.push_str(item);
        line += item.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_is_that_of_the_rfc() {
        // RFC 6376, section 3.4.5.
        let head = "A: X\r\nB : Y\t\r\n\tZ  ";
        let headers: Vec<String> =
            unfolded(head).iter().map(|(name, value)| relaxed(name, value)).collect();
        assert_eq!(headers, ["a:X", "b:Y Z"]);
        let body = |body: &str| String::from_utf8(relaxed_body(body).into_owned()).unwrap();
        assert_eq!(body(" C \r\nD \t E\r\n\r\n\r\n"), " C\r\nD E\r\n");
        assert_eq!(body("\r\n \r\nC\r\n\r\nD"), "\r\n\r\nC\r\n\r\nD\r\n");
        assert_eq!(body("a b\r\n\r\n c\r\n"), "a b\r\n\r\n c\r\n");
        assert_eq!(body("\r\n"), "");
        assert_eq!(body(""), "");
        assert_eq!(body("\r\n\r\n"), "");
        assert_eq!(body("a"), "a\r\n");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let of = |pem: &str| Dkim::new("example.org", "t1", pem.as_bytes()).err();
        assert_eq!(of(""), Some(DkimError::NoKey));
        assert_eq!(
            of("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            Some(DkimError::NoKey)
        );
        assert_eq!(
            of("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
            Some(DkimError::Kind)
        );
    }
}
