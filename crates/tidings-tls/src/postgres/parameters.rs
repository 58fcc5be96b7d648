//! The parameters of an address, as `libpq` names them (PostgreSQL, 34.1.2): those of encryption are ours, others are the
//! library's, and what is neither is refused by its name.

use std::path::Path;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;

use super::{Tls, unusable};
use crate::{Authorities, ClientCertificateFiles};

/// Parameters that the library reads.
const TAKEN: [&str; 18] = [
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "sslnegotiation",
    "host",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];

/// Parameters with another name there.
const RENAMED: [(&str, &str); 2] =
    [("keepalives_count", "keepalives_retries"), ("fallback_application_name", "application_name")];

/// Parameters that have no effect here with these values.
const WITHOUT_EFFECT: [(&str, &[&str]); 4] = [
    ("client_encoding", &["utf8", "utf-8", "auto"]),
    ("gssencmode", &["disable", "prefer"]),
    ("sslcompression", &["0"]),
    ("sslsni", &["1"]),
];

/// The parameters of an address.
pub(super) struct ConnectionParameters {
    /// The address without those of encryption.
    pub(super) rest: String,
    pub(super) tls: Encryption,
}

/// The parameters of encryption.
#[derive(Default)]
pub(super) struct Encryption {
    mode: Option<String>,
    /// `ssl`, as drivers of other languages have it.
    ssl: Option<String>,
    roots: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

impl ConnectionParameters {
    pub(super) fn of(url: &str) -> Result<Self, String> {
        let mut tls = Encryption::default();
        let Some((place, query)) = url.split_once('?') else {
            return Ok(Self { rest: url.to_owned(), tls });
        };
        let mut rest: Vec<(&str, &str)> = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, written) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = percent_decode_str(written)
                .decode_utf8()
                .map_err(|_| unusable(&format!("`{name}` is not UTF-8")))?;
            if let Some(taken) = tls.slot(name) {
                if taken.replace(value.into_owned()).is_some() {
                    return Err(unusable(&format!("it has `{name}` twice")));
                }
            } else {
                let taken = of_library(name, written, &value)?;
                // The name that is given outright counts.
                let is_spare = name == "fallback_application_name"
                    && query.split('&').any(|other| other.starts_with("application_name="));
                rest.extend(taken.filter(|_| !is_spare));
            }
        }
        let rest: Vec<String> =
            rest.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let rest =
            if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
        Ok(Self { rest, tls })
    }
}

/// A parameter as the library takes it; `None` = it changes nothing.
fn of_library<'a>(
    name: &'a str,
    written: &'a str,
    value: &str,
) -> Result<Option<(&'a str, &'a str)>, String> {
    if let Some((_, values)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
        let value = value.to_ascii_lowercase();
        return if values.contains(&&*value) {
            Ok(None)
        } else {
            let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            Err(unusable(&format!("`{name}` can be {} here", values.join(" or "))))
        };
    }
    let renamed = RENAMED.iter().find(|(known, _)| *known == name);
    let known = renamed.map_or(name, |(_, known)| known);
    if !TAKEN.contains(&known) {
        return Err(unusable(&format!(
            "`{name}` is no parameter of it that is known here (those of libpq are, but for service and password files); \
             leave it out"
        )));
    }
    // The library does not say of which parameter the value is wrong.
    let alone: Result<Config, _> = format!("postgres://h/d?{known}={written}").parse();
    match alone {
        Ok(_) => Ok(Some((known, written))),
        Err(_) => Err(unusable(&format!("the value of `{name}` can't be read"))),
    }
}

impl Encryption {
    fn slot(&mut self, name: &str) -> Option<&mut Option<String>> {
        Some(match name {
            "sslmode" => &mut self.mode,
            "ssl" => &mut self.ssl,
            "sslrootcert" => &mut self.roots,
            "sslcert" => &mut self.certificate,
            "sslkey" => &mut self.key,
            _ => return None,
        })
    }

    /// The encryption that they ask for.
    pub(super) fn read(&self) -> Result<Tls, String> {
        let wants = match self.ssl.as_deref() {
            None => None,
            Some("true" | "1") => Some(true),
            Some("false" | "0") => Some(false),
            Some(_) => return Err(unusable("`ssl` is `true` or `false`")),
        };
        let (encrypts, by_name) = match self.mode.as_deref() {
            None => {
                let named = self.roots.is_some() || self.certificate.is_some();
                (wants.unwrap_or(named), true)
            }
            Some("disable") => (false, true),
            Some("require" | "verify-full") => (true, true),
            Some("verify-ca") => (true, false),
            Some(_) => {
                let why = "`sslmode` is `disable`, `require`, `verify-ca` or `verify-full`; `require` is the same as \
                           `verify-full` here";
                return Err(unusable(why));
            }
        };
        if self.mode.is_some() && wants.is_some_and(|wants| wants != encrypts) {
            return Err(unusable("`ssl` and `sslmode` say different things"));
        }
        let has_roots = self.roots.as_deref().is_some_and(|roots| roots != "system");
        if !by_name && !has_roots {
            let why = "`sslmode=verify-ca` wants `sslrootcert=FILE`: authorities of everybody vouch for any name";
            return Err(unusable(why));
        }
        if encrypts {
            return self.verified(by_name);
        }
        let named = [("sslrootcert", &self.roots), ("sslcert", &self.certificate)];
        match named.into_iter().find(|(_, value)| value.is_some()) {
            None => Ok(Tls::Off),
            Some((name, _)) => Err(unusable(&format!(
                "`{name}` is for an encrypted connection, and with `sslmode=disable` nobody is asked"
            ))),
        }
    }

    fn verified(&self, by_name: bool) -> Result<Tls, String> {
        let identity = match (&self.certificate, &self.key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(ClientCertificateFiles {
                certificate: Path::new(certificate),
                key: Path::new(key),
            }),
            (Some(_), None) => return Err(unusable("`sslcert` wants `sslkey`")),
            (None, Some(_)) => return Err(unusable("`sslkey` wants `sslcert`")),
        };
        let authorities = match self.roots.as_deref() {
            None | Some("system") => Authorities::Machine,
            Some(file) => Authorities::Only(Path::new(file)),
        };
        let config = crate::client_as(authorities, by_name, identity).map_err(|why| {
            format!(
                "certificates of the address of the database: {why}; `sslrootcert`, `sslcert` and `sslkey` are files \
                 in PEM"
            )
        })?;
        Ok(Tls::Verified(Arc::new(config)))
    }
}
