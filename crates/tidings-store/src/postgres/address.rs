//! The address of a database: where it is, and whom to believe that it is it.
//!
//! An encrypted connection to whoever answers protects from nobody who can answer, so there is none of that kind:
//! `sslmode=require` asks for the same as `verify-full`, a certificate that is valid for the name of the host.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::ClientConfig;
use tidings_tls::Authorities;
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use super::tls::Tls;
use crate::{Error, StoreId};

/// Time that a connection may take to come about.
const CONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// The address of a database.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// The store that it has to have; `None` while that is not known.
    pub(super) store: Option<StoreId>,
}

impl Address {
    /// Reads `postgres://USER@HOST/DB[?sslmode=require][&sslrootcert=FILE]` with any other parameters of
    /// `tokio-postgres`.
    ///
    /// # Errors
    /// [`Error::Unusable`].
    pub(super) fn of(url: &str) -> Result<Self, Error> {
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
        let store = None;
        Ok(Self { config, tls, store })
    }

    /// The address of this store: connections to a database that has another one are refused.
    pub(super) fn of_store(self, id: StoreId) -> Self {
        let store = Some(id);
        Self { store, ..self }
    }
}

fn unusable(why: &str) -> Error {
    Error::Unusable(format!("the address of the database: {why}; write postgres://USER@HOST/DB"))
}

/// The address without its parameters of TLS, which are the mode and the file of certificates.
fn take_tls(url: &str) -> Result<(String, Option<String>, Option<String>), Error> {
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
fn client(file: Option<&str>) -> Result<ClientConfig, Error> {
    let Some(file) = file else {
        let fault = |why| Error::Unusable(format!("certificates of authorities: {why}"));
        return tidings_tls::client(Authorities::Machine).map_err(fault);
    };
    tidings_tls::client(Authorities::Only(Path::new(file))).map_err(|why| {
        Error::Unusable(format!(
            "`sslrootcert` of the address of the database: {why}; it is a file of certificates in PEM"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        match Address::of(url) {
            Err(Error::Unusable(why)) => why,
            Err(other) => panic!("{url}: {other}"),
            Ok(_) => panic!("{url} was taken"),
        }
    }

    #[test]
    fn an_address_says_whether_to_encrypt() {
        let of = |query: &str| Address::of(&format!("postgres://u@h/d{query}")).unwrap();
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
