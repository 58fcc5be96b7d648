//! Addresses of databases of PostgreSQL: where one is, and whom to believe that it is it.
//!
//! An encrypted connection to whoever answers protects from nobody who can answer, so there is none of that kind:
//! `sslmode=require` asks for the same as `verify-full`, a certificate that is valid for the name of the host.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::ClientConfig;
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use crate::Authorities;

mod stream;

pub use stream::{Encrypted, Handshake, Tls};

/// Time that a connection may take to come about.
const CONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// The address of a database.
#[derive(Clone)]
pub struct Database {
    /// Parameters of connections to it.
    pub config: Config,
    /// Their encryption.
    pub tls: Tls,
    url: String,
}

impl PartialEq for Database {
    /// Compares what was written.
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl Eq for Database {}

impl Database {
    /// Reads `postgres://USER@HOST/DB[?sslmode=require][&sslrootcert=FILE]` with any other parameters of
    /// `tokio-postgres`.
    ///
    /// # Errors
    /// Why it is none. It does not repeat the address, which may have a password.
    pub fn of(url: &str) -> Result<Self, String> {
        let (rest, mode, roots) = take_tls(url)?;
        let mut config: Config = rest.parse().map_err(|_| unusable("it is not one"))?;
        if config.get_hosts().is_empty() {
            return Err(unusable("it names no host"));
        }
        if config.get_dbname().is_none() {
            return Err(unusable("it names no database"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_PATIENCE);
        }
        // Of several hosts the one that writes.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_application_name().is_none() {
            config.application_name("tidings");
        }
        let encrypts = match mode.as_deref() {
            None => roots.is_some(),
            Some("disable") => false,
            Some("require" | "verify-full") => true,
            Some(_) => {
                let why = "`sslmode` is `disable`, `require` or `verify-full`; the last two are the same here";
                return Err(unusable(why));
            }
        };
        let tls = match (encrypts, roots) {
            (true, roots) => Tls::Verified(Arc::new(client(roots.as_deref())?)),
            (false, None) => Tls::Off,
            (false, Some(_)) => {
                let why = "`sslrootcert` says whom to believe, and with `sslmode=disable` nobody is asked";
                return Err(unusable(why));
            }
        };
        config.ssl_mode(if encrypts { SslMode::Require } else { SslMode::Disable });
        Ok(Self { config, tls, url: url.to_owned() })
    }
}

fn unusable(why: &str) -> String {
    format!("the address of the database: {why}; write postgres://USER@HOST/DB")
}

/// The fault of a handshake that is not the network's, with a way to mend it, where an attempt to connect had one.
#[must_use]
pub fn untrusted(fault: &tokio_postgres::Error) -> Option<String> {
    let source = std::error::Error::source(fault)?;
    let of_network = source.downcast_ref::<std::io::Error>()?;
    let why: &rustls::Error = of_network.get_ref()?.downcast_ref()?;
    Some(format!(
        "{fault}: {why}; `sslrootcert=FILE` in the address names whom to believe, and the certificate must be valid \
         for the host of the address"
    ))
}

/// The address without its parameters of TLS, which are the mode and the file of certificates.
fn take_tls(url: &str) -> Result<(String, Option<String>, Option<String>), String> {
    let Some((place, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), None, None));
    };
    let (mut mode, mut roots, mut rest) = (None, None, Vec::new());
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let taken = match name {
            "sslmode" => &mut mode,
            "sslrootcert" => &mut roots,
            _ => {
                rest.push(parameter);
                continue;
            }
        };
        let value = percent_decode_str(value)
            .decode_utf8()
            .map_err(|_| unusable(&format!("`{name}` is not UTF-8")))?;
        if taken.replace(value.into_owned()).is_some() {
            return Err(unusable(&format!("it has `{name}` twice")));
        }
    }
    let rest =
        if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
    Ok((rest, mode, roots))
}

/// A client that believes the certificates of a file, or the authorities that the machine trusts.
fn client(file: Option<&str>) -> Result<ClientConfig, String> {
    let Some(file) = file else {
        let fault = |why| format!("certificates of authorities: {why}");
        return crate::client(Authorities::Machine).map_err(fault);
    };
    crate::client(Authorities::Only(Path::new(file))).map_err(|why| {
        format!("`sslrootcert` of the address of the database: {why}; it is a file of certificates in PEM")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        match Database::of(url) {
            Err(why) => why,
            Ok(_) => panic!("{url} was taken"),
        }
    }

    #[test]
    fn an_address_says_whether_to_encrypt() {
        let of = |query: &str| Database::of(&format!("postgres://u@h/d{query}")).unwrap();
        for query in ["", "?sslmode=disable", "?connect_timeout=5"] {
            let address = of(query);
            assert!(matches!(address.tls, Tls::Off), "{query}");
            assert_eq!(address.config.get_ssl_mode(), SslMode::Disable, "{query}");
        }
        for query in ["?sslmode=require", "?options=-cx%3Dy&sslmode=verify-full&connect_timeout=5"]
        {
            let address = of(query);
            assert!(matches!(address.tls, Tls::Verified(_)), "{query}");
            assert_eq!(address.config.get_ssl_mode(), SslMode::Require, "{query}");
        }
        let address = of("?options=-cx%3Dy&sslmode=require");
        assert_eq!(address.config.get_options(), Some("-cx=y"));
    }

    #[test]
    fn what_does_not_protect_is_refused() {
        for (query, why) in [
            ("sslmode=prefer", "`sslmode` is"),
            ("sslmode=verify-ca", "`sslmode` is"),
            ("sslmode=require&sslmode=disable", "twice"),
            ("sslmode=disable&sslrootcert=/etc/ca.pem", "nobody is asked"),
            ("sslrootcert=/nowhere/ca.pem", "/nowhere/ca.pem"),
            ("sslrootcert=/dev/null", "no certificate"),
        ] {
            let said = refused(&format!("postgres://u:secret@h/d?{query}"));
            assert!(said.contains(why) && !said.contains("secret"), "{said}");
        }
    }
}
