//! Addresses of PostgreSQL databases, and the authorities that prove them.
//!
//! An encrypted connection without a check of the certificate does not protect from an attacker who can answer, so
//! there is no such mode: `sslmode=require` is the same as `verify-full`, a certificate that is valid for the name of
//! the host. With `verify-ca` it may be for another name, if the address names the authority.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, SslMode, TargetSessionAttrs};

use parameters::ConnectionParameters;

mod parameters;
mod stream;

pub use stream::{Encrypted, Handshake, Tls};

/// Time that a connection may take to come about.
const CONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// The address of a database.
#[derive(Clone)]
pub struct PostgresAddress {
    /// Parameters of connections to it.
    pub config: Config,
    /// Their encryption.
    pub tls: Tls,
    url: String,
}

impl PartialEq for PostgresAddress {
    /// Compares what was written.
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl Eq for PostgresAddress {}

impl PostgresAddress {
    /// Reads `postgres://USER@HOST/DB[?PARAMETER=VALUE&…]` with the parameters of `libpq` (`parameters`).
    ///
    /// # Errors
    /// Why it is none. It does not repeat the address, which may have a password.
    pub fn of(url: &str) -> Result<Self, String> {
        let ConnectionParameters { rest, tls } = ConnectionParameters::of(url)?;
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
        let tls = tls.read()?;
        let binds = config.get_channel_binding() == ChannelBinding::Require;
        if binds && matches!(tls, Tls::Off) {
            return Err(unusable("`channel_binding=require` wants `sslmode=require`"));
        }
        let encrypts = matches!(tls, Tls::Verified(_));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        match PostgresAddress::of(url) {
            Err(why) => why,
            Ok(_) => panic!("{url} was taken"),
        }
    }

    #[test]
    fn an_address_says_whether_to_encrypt() {
        let of = |query: &str| PostgresAddress::of(&format!("postgres://u@h/d{query}")).unwrap();
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
            ("sslmode=verify-ca", "`sslrootcert=FILE`"),
            ("ssl=maybe", "`ssl` is"),
            ("ssl=true&sslmode=disable", "`ssl`"),
            ("channel_binding=require", "`channel_binding=require` wants"),
            ("sslcert=/etc/c.pem", "`sslkey`"),
            ("sslcert=/nowhere/c.pem&sslkey=/nowhere/k.pem&sslmode=require", "/nowhere/k.pem"),
            ("sslmode=disable&sslcert=/etc/c.pem&sslkey=/etc/k.pem", "nobody is asked"),
            ("sslmode=require&sslmode=disable", "twice"),
            ("sslmode=disable&sslrootcert=/etc/ca.pem", "nobody is asked"),
            ("sslrootcert=/nowhere/ca.pem", "/nowhere/ca.pem"),
            ("sslrootcert=/dev/null", "no certificate"),
        ] {
            let said = refused(&format!("postgres://u:secret@h/d?{query}"));
            assert!(said.contains(why) && !said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn field_4_a_parameter_is_taken_as_libpq_does_or_refused_by_its_name() {
        for (query, name) in [
            ("pgbouncer=true", "`pgbouncer`"),
            ("schema=app", "`schema`"),
            ("connection_limit=5", "`connection_limit`"),
            ("connect_timeout=soon", "`connect_timeout`"),
            ("passfile=/home/ana/.pgpass", "`passfile`"),
            ("client_encoding=latin1", "`client_encoding`"),
            ("gssencmode=require", "`gssencmode`"),
            ("application_name=%ff", "`application_name`"),
        ] {
            let said = refused(&format!("postgres://u:secret@h/d?{query}"));
            assert!(said.contains(name) && !said.contains("secret"), "{said}");
        }
        let of = |query: &str| PostgresAddress::of(&format!("postgres://u@h/d?{query}")).unwrap();
        assert!(matches!(of("ssl=true").tls, Tls::Verified(_)));
        assert!(matches!(of("ssl=false").tls, Tls::Off));
        assert!(matches!(of("sslrootcert=system").tls, Tls::Verified(_)));
        let bound = of("sslmode=require&channel_binding=require");
        assert_eq!(bound.config.get_channel_binding(), ChannelBinding::Require);
        let named = of("fallback_application_name=app&client_encoding=UTF8&gssencmode=disable");
        assert_eq!(named.config.get_application_name(), Some("app"));
        of("keepalives_count=3&sslsni=1&options=-csearch_path%3Dapp");
    }
}
