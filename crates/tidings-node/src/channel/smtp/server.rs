//! Mail servers, as addresses of providers name them.

use std::path::PathBuf;

use super::oauth::{Grant, TokenSource};
use crate::channel::http::ProviderUrl;
use crate::channel::provider_open_error::ProviderOpenError;

/// The variable with the password if an address has only a user.
pub(in crate::channel) const PASSWORD_VARIABLE: &str = "TIDINGS_SMTP_PASSWORD";

/// The port that is TLS from the first byte (RFC 8314, section 3.3).
const WRAPPED_PORT: u16 = 465;
/// The ports that begin without (RFC 6409, RFC 5321).
const OPEN_PORTS: [u16; 2] = [587, 25];

/// A mail server with its settings.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::channel) struct MailServer {
    pub(in crate::channel) host: String,
    pub(in crate::channel) port: u16,
    pub(in crate::channel) security: Security,
    pub(in crate::channel) login: Option<Login>,
    /// The file of an additional certificate authority, beside the public ones.
    pub(in crate::channel) authority: Option<PathBuf>,
}

/// A login.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::channel) struct Login {
    pub(in crate::channel) user: String,
    pub(in crate::channel) proof: LoginProof,
}

/// The proof of a login: a password or a token.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::channel) enum LoginProof {
    /// A password.
    Password(String),
    /// A token of OAuth 2.0 (XOAUTH2).
    Token(TokenSource),
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

impl std::fmt::Debug for MailServer {
    /// Omits the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} ({:?})", self.host, self.port, self.security)
    }
}

impl MailServer {
    /// Reads `[user[:${NAME}]@]host[:port][?OPTIONS]`.
    pub(in crate::channel) fn parse(
        mut url: ProviderUrl<'_>,
        wrapped: bool,
    ) -> Result<Self, ProviderOpenError> {
        let login = read_login(&mut url)?;
        let (host, port) = split_port(&url.plain_place()?)?;
        let security = read_security(url.option("tls")?.as_deref(), wrapped, login.is_some())?;
        let authority = url.option("ca")?.map(PathBuf::from);
        if authority.is_some() && security == Security::Plain {
            return Err(fault("`ca` says whom to believe, and with `tls=none` nobody is asked"));
        }
        url.done()?;
        let usual_port = match (wrapped, &login) {
            (true, _) => WRAPPED_PORT,
            (false, Some(_)) => 587,
            (false, None) => 25,
        };
        Ok(Self { host, port: port.unwrap_or(usual_port), security, login, authority })
    }

    /// The advice where the port speaks otherwise than the scheme does.
    pub(in crate::channel) fn slip(&self) -> Option<String> {
        let port = self.port;
        match self.security {
            Security::Wrapped if OPEN_PORTS.contains(&port) => Some(format!(
                "port {port} begins without TLS: write `smtp://`, which turns to TLS there, or port {WRAPPED_PORT}"
            )),
            Security::Required | Security::Opportunistic | Security::Plain
                if port == WRAPPED_PORT =>
            {
                Some(format!("port {port} is TLS from the first byte: write `smtps://`"))
            }
            _ => None,
        }
    }
}

fn fault(why: impl Into<String>) -> ProviderOpenError {
    ProviderOpenError::Address(why.into())
}

/// The login with a password, or with a token where `auth=xoauth2` or the place of one asks for it.
fn read_login(url: &mut ProviderUrl<'_>) -> Result<Option<Login>, ProviderOpenError> {
    let of_token = match url.option("auth")?.as_deref() {
        None => None,
        Some("password") => Some(false),
        Some("xoauth2") => Some(true),
        Some(_) => return Err(fault("`auth` is `password` or `xoauth2`")),
    };
    let file = url.option("token_file")?.map(PathBuf::from);
    let grant = Grant::read(url)?;
    let has_place = file.is_some() || grant.is_some();
    let Some((user, secret)) = url.login()? else {
        if has_place || of_token.is_some() {
            return Err(fault("a login wants a user: write `user@` before the host"));
        }
        return Ok(None);
    };
    if !of_token.unwrap_or(has_place) {
        if has_place {
            return Err(fault("with `auth=password` there is no token"));
        }
        let password = match secret {
            Some(password) => password,
            None => url.named_secret(PASSWORD_VARIABLE)?,
        };
        return Ok(Some(Login { user, proof: LoginProof::Password(password) }));
    }
    let source = match (secret, file, grant) {
        (Some(token), None, None) => TokenSource::Fixed(token),
        (None, Some(file), None) => TokenSource::File(file),
        (None, None, Some(grant)) => TokenSource::Grant(grant),
        (None, None, None) => {
            return Err(fault(
                "`auth=xoauth2` wants a token: write `token_url=…` and `client_id=…`, `token_file=FILE`, or \
                 `user:${NAME}@`",
            ));
        }
        _ => {
            return Err(fault(
                "a token has one source: `token_url`, `token_file` or `user:${NAME}@`",
            ));
        }
    };
    Ok(Some(Login { user, proof: LoginProof::Token(source) }))
}

fn split_port(place: &str) -> Result<(String, Option<u16>), ProviderOpenError> {
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
) -> Result<Security, ProviderOpenError> {
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
