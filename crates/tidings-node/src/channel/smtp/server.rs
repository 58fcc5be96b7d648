//! Mail servers, as addresses of providers name them.

use std::path::PathBuf;

use crate::channel::provider_error::ProviderError;

/// The variable with the password if an address has only a user.
pub(in crate::channel) const PASSWORD_VARIABLE: &str = "TIDINGS_SMTP_PASSWORD";

/// A mail server with its settings.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::channel) struct Server {
    pub(in crate::channel) host: String,
    pub(in crate::channel) port: u16,
    pub(in crate::channel) security: Security,
    /// User and password.
    pub(in crate::channel) login: Option<(String, String)>,
    /// The file of an additional certificate authority, beside the public ones.
    pub(in crate::channel) authority: Option<PathBuf>,
}

/// The encryption of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::channel) enum Security {
    /// TLS from the first byte (`smtps`).
    Wrapped,
    /// STARTTLS is required.
    Required,
    /// STARTTLS if the server offers it.
    Opportunistic,
    /// No encryption.
    Plain,
}

impl std::fmt::Debug for Server {
    /// Omits the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} ({:?})", self.host, self.port, self.security)
    }
}

impl Server {
    /// Reads `[user[:${NAME}]@]host[:port][?tls=required|opportunistic|none][&ca=FILE]`.
    pub(in crate::channel) fn parse(
        rest: &str,
        wrapped: bool,
        secret: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, ProviderError> {
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(a, b)| (a, Some(b)));
        // A user may hold an @ of its own.
        let (login, place) = rest.rsplit_once('@').map_or((None, rest), |(a, b)| (Some(a), b));
        let login = login.map(|login| read_login(login, secret)).transpose()?;
        let (host, port) = split_port(place.strip_suffix('/').unwrap_or(place))?;
        let (tls, authority) = read_query(query)?;
        let security = read_security(tls, wrapped, login.is_some())?;
        if authority.is_some() && security == Security::Plain {
            return Err(ProviderError::Address(
                "`ca` says whom to believe, and with `tls=none` nobody is asked".to_owned(),
            ));
        }
        let usual_port = match (wrapped, &login) {
            (true, _) => 465,
            (false, Some(_)) => 587,
            (false, None) => 25,
        };
        Ok(Self { host, port: port.unwrap_or(usual_port), security, login, authority })
    }
}

/// Reads `tls` and `ca` from the query part.
fn read_query(query: Option<&str>) -> Result<(Option<&str>, Option<PathBuf>), ProviderError> {
    let (mut tls, mut authority) = (None, None);
    for option in query.into_iter().flat_map(|query| query.split('&')) {
        match option.split_once('=') {
            Some(("tls", how)) if tls.is_none() => tls = Some(how),
            Some(("ca", file)) if authority.is_none() && !file.is_empty() => {
                authority = Some(PathBuf::from(file));
            }
            _ => {
                return Err(ProviderError::Address(
                    "the options are `?tls=required`, `opportunistic` or `none`, and `ca=FILE` of an \
                     authority's certificate, each once"
                        .to_owned(),
                ));
            }
        }
    }
    Ok((tls, authority))
}

fn read_login(
    login: &str,
    secret: &dyn Fn(&str) -> Result<String, String>,
) -> Result<(String, String), ProviderError> {
    let (user, name) = match login.split_once(':') {
        None => (login, PASSWORD_VARIABLE),
        Some((user, password)) => {
            let name = password.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
            (user, name.ok_or(ProviderError::PlainPassword)?)
        }
    };
    if user.is_empty() || name.is_empty() {
        return Err(ProviderError::Address("write `user:${NAME}@` before the host".to_owned()));
    }
    let password =
        secret(name).map_err(|why| ProviderError::Secret { name: name.to_owned(), why })?;
    Ok((user.to_owned(), password))
}

fn split_port(place: &str) -> Result<(String, Option<u16>), ProviderError> {
    let fault = |why: &str| ProviderError::Address(why.to_owned());
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or_else(|| fault("`[` wants a `]`"))?;
            let port = match rest {
                "" => None,
                rest => {
                    Some(rest.strip_prefix(':').ok_or_else(|| fault("after `]` comes `:PORT`"))?)
                }
            };
            (host, port)
        }
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let is_host = !host.is_empty()
        && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':'));
    if !is_host {
        return Err(fault("it wants a host, such as `mail.example.org` or `[::1]`"));
    }
    let port = port
        .map(|port| port.parse::<u16>().ok().filter(|port| *port > 0))
        .map(|port| port.ok_or_else(|| fault("a port is a number from 1 to 65535")))
        .transpose()?;
    Ok((host.to_owned(), port))
}

fn read_security(
    tls: Option<&str>,
    wrapped: bool,
    has_login: bool,
) -> Result<Security, ProviderError> {
    let fault = |why: &str| ProviderError::Address(why.to_owned());
    match tls {
        Some(_) if wrapped => Err(fault("`smtps://` is always encrypted and has no `tls`")),
        None if wrapped => Ok(Security::Wrapped),
        // A password never travels in the open unless that is asked for.
        None if has_login => Ok(Security::Required),
        Some("opportunistic") if has_login => {
            Err(fault("with a user, `tls` is `required` or, on a trusted network, `none`"))
        }
        None | Some("opportunistic") => Ok(Security::Opportunistic),
        Some("required") => Ok(Security::Required),
        Some("none") => Ok(Security::Plain),
        Some(_) => Err(fault("`tls` is `required`, `opportunistic` or `none`")),
    }
}
