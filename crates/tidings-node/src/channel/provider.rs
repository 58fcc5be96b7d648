//! The addresses of providers, as `provider = "…"` in the configuration gives them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tidings_core::channel::{AddressKind, ChannelKind};
use tidings_mail::{DesignError, SenderError};

use super::http::{ProviderUrl, Shape, webhook};
use super::signer::SignerError;
use crate::channel::http::chat::{discord, slack, teams, telegram};
use crate::channel::http::mail::{mailgun, postmark, sendgrid, ses};
use crate::channel::http::push::{apns, fcm, vapid};
use crate::channel::http::sms::twilio;

/// The variable with the password if an address has only a user.
const PASSWORD_VARIABLE: &str = "TIDINGS_SMTP_PASSWORD";

/// The reason why a provider can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The channel has no provider.
    #[error(
        "the channel has no provider: write `provider = \"file://DIR\"` or `provider = \"smtp://user@host:587\"`"
    )]
    Missing,
    /// The inbox has no provider.
    #[error("the inbox has no provider")]
    Inbox,
    /// The channel has no sender.
    #[error("the channel has no sender: write `from = \"Art <art@example.org>\"`")]
    NoSender,
    /// The sender is not a valid mailbox.
    #[error(transparent)]
    Sender(#[from] SenderError),
    /// The rules give no design of mails.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The key that signs mails can't be used.
    #[error("`dkim`: {0}: {help}", help = .0.help())]
    Dkim(#[from] SignerError),
    /// The scheme is unknown.
    #[error("no provider of this channel is called `{name}`: write {forms}")]
    Scheme {
        /// The scheme.
        name: String,
        /// Forms that addresses of the channel's providers have.
        forms: String,
    },
    /// A part of the address is wrong. The address itself is not shown, as it may contain a password.
    #[error("the provider's address: {0}")]
    Address(String),
    /// A secret that the address names is not available.
    #[error("the secret `{name}` is not available: {why}")]
    Secret {
        /// Its name in the address.
        name: String,
        /// The reason, and where to put it.
        why: String,
    },
    /// The address contains a password.
    #[error(
        "the configuration must not contain a password: write `${{NAME}}` in its place, and set the environment variable NAME"
    )]
    PlainPassword,
    /// The Maildir can't be created.
    #[error("the Maildir {}: {source}", dir.display())]
    Maildir {
        /// Its path.
        dir: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A client for a provider can't be set up.
    #[error("the provider's client: {0}")]
    Http(io::Error),
    /// TLS can't be set up for this host.
    #[error("TLS to `{host}`: {why}")]
    Tls {
        /// The server.
        host: String,
        /// The TLS library's error.
        why: String,
    },
}

/// A kind of provider.
struct Kind {
    /// The scheme of its addresses.
    scheme: &'static str,
    /// The addresses to which it sends.
    address: AddressKind,
    /// The form of its own address, for hints.
    form: &'static str,
    read: Read,
}

/// The reading of a kind's addresses.
#[derive(Clone, Copy)]
enum Read {
    Maildir,
    Smtp,
    Http(fn(ProviderUrl<'_>) -> Result<Arc<dyn Shape>, ProviderError>),
}

/// All kinds of providers.
const KINDS: [Kind; 16] = [
    Kind { scheme: "file", address: AddressKind::Email, form: "file://DIR", read: Read::Maildir },
    Kind {
        scheme: "smtp",
        address: AddressKind::Email,
        form: "smtp://USER:${PASSWORD}@HOST:PORT",
        read: Read::Smtp,
    },
    Kind {
        scheme: "smtps",
        address: AddressKind::Email,
        form: "smtps://USER:${PASSWORD}@HOST",
        read: Read::Smtp,
    },
    Kind {
        scheme: "sendgrid",
        address: AddressKind::Email,
        form: sendgrid::FORM,
        read: Read::Http(|url| Ok(Arc::new(sendgrid::SendGrid::parse(url)?))),
    },
    Kind {
        scheme: "postmark",
        address: AddressKind::Email,
        form: postmark::FORM,
        read: Read::Http(|url| Ok(Arc::new(postmark::Postmark::parse(url)?))),
    },
    Kind {
        scheme: "mailgun",
        address: AddressKind::Email,
        form: mailgun::FORM,
        read: Read::Http(|url| Ok(Arc::new(mailgun::Mailgun::parse(url)?))),
    },
    Kind {
        scheme: "ses",
        address: AddressKind::Email,
        form: ses::FORM,
        read: Read::Http(|url| Ok(Arc::new(ses::Ses::parse(url)?))),
    },
    Kind {
        scheme: "twilio",
        address: AddressKind::Phone,
        form: twilio::FORM,
        read: Read::Http(|url| Ok(Arc::new(twilio::Twilio::parse(url)?))),
    },
    Kind {
        scheme: "vapid",
        address: AddressKind::WebPush,
        form: vapid::FORM,
        read: Read::Http(|url| Ok(Arc::new(vapid::Vapid::parse(url)?))),
    },
    Kind {
        scheme: "fcm",
        address: AddressKind::Fcm,
        form: fcm::FORM,
        read: Read::Http(|url| Ok(Arc::new(fcm::Fcm::parse(url)?))),
    },
    Kind {
        scheme: "apns",
        address: AddressKind::Apns,
        form: apns::FORM,
        read: Read::Http(|url| Ok(Arc::new(apns::Apns::parse(url)?))),
    },
    Kind {
        scheme: "slack",
        address: AddressKind::Slack,
        form: slack::FORM,
        read: Read::Http(|url| Ok(Arc::new(slack::Slack::parse(url)?))),
    },
    Kind {
        scheme: "discord",
        address: AddressKind::Discord,
        form: discord::FORM,
        read: Read::Http(|url| Ok(Arc::new(discord::Discord::parse(url)?))),
    },
    Kind {
        scheme: "teams",
        address: AddressKind::Teams,
        form: teams::FORM,
        read: Read::Http(|url| Ok(Arc::new(teams::Teams::parse(url)?))),
    },
    Kind {
        scheme: "telegram",
        address: AddressKind::Telegram,
        form: telegram::FORM,
        read: Read::Http(|url| Ok(Arc::new(telegram::Telegram::parse(url)?))),
    },
    Kind {
        scheme: "webhook",
        address: AddressKind::Webhook,
        form: webhook::FORM,
        read: Read::Http(|url| Ok(Arc::new(webhook::Webhook::parse(url)?))),
    },
];

fn of_channel(kind: &ChannelKind) -> impl Iterator<Item = &'static Kind> {
    let address = kind.address;
    KINDS.iter().filter(move |kind| Some(kind.address) == address)
}

/// The schemes of a channel's providers.
pub fn schemes(kind: &ChannelKind) -> impl Iterator<Item = &'static str> {
    of_channel(kind).map(|kind| kind.scheme)
}

/// The forms of a channel's providers, for hints.
#[must_use]
pub fn forms(kind: &ChannelKind) -> String {
    let forms: Vec<String> = of_channel(kind).map(|kind| format!("`{}`", kind.form)).collect();
    match forms.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The target of messages.
pub(super) enum Address {
    /// A directory.
    Maildir(PathBuf),
    /// A mail server.
    Smtp(Server),
    /// A provider that is called over HTTP.
    Http(Arc<dyn Shape>),
}

/// A mail server with its settings.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) security: Security,
    /// User and password.
    pub(super) login: Option<(String, String)>,
    /// The file of an additional certificate authority, beside the public ones.
    pub(super) authority: Option<PathBuf>,
}

/// The encryption of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Security {
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

impl Address {
    /// Reads an address of a channel's provider; secrets are looked up by name.
    pub(super) fn parse(
        kind: &ChannelKind,
        address: &str,
        secret: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, ProviderError> {
        let (scheme, rest) = address.split_once("://").ok_or_else(|| {
            let first: Vec<String> = schemes(kind).map(|scheme| format!("`{scheme}://`")).collect();
            ProviderError::Address(format!("it must begin with {}", first.join(" or ")))
        })?;
        let Some(known) = of_channel(kind).find(|known| known.scheme == scheme) else {
            return Err(ProviderError::Scheme { name: scheme.to_owned(), forms: forms(kind) });
        };
        match known.read {
            Read::Maildir if rest.is_empty() => {
                Err(ProviderError::Address("`file://` wants a directory after it".to_owned()))
            }
            Read::Maildir => Ok(Self::Maildir(PathBuf::from(rest))),
            Read::Smtp => Server::parse(rest, scheme == "smtps", secret).map(Self::Smtp),
            Read::Http(read) => {
                let url = ProviderUrl::parse(known.scheme, rest, secret)?;
                read(url).map(Self::Http)
            }
        }
    }

    /// The address without its secrets and settings.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Maildir(dir) => format!("file://{}", dir.display()),
            Self::Smtp(server) => {
                let scheme = match server.security {
                    Security::Wrapped => "smtps",
                    Security::Required | Security::Opportunistic | Security::Plain => "smtp",
                };
                format!("{scheme}://{}:{}", server.host, server.port)
            }
            Self::Http(shape) => shape.shown(),
        }
    }
}

impl Server {
    /// Reads `[user[:${NAME}]@]host[:port][?tls=required|opportunistic|none][&ca=FILE]`.
    fn parse(
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

#[cfg(test)]
mod tests {
    use super::super::sample::email;
    use super::*;

    fn parse(address: &str) -> Result<Address, String> {
        let secret = |name: &str| {
            ["PASS", PASSWORD_VARIABLE]
                .contains(&name)
                .then(|| format!("value of {name}"))
                .ok_or_else(|| "it is not set".to_owned())
        };
        Address::parse(email(), address, &secret).map_err(|error| error.to_string())
    }

    fn is_one(found: &Address, other: &Address) -> bool {
        match (found, other) {
            (Address::Maildir(found), Address::Maildir(other)) => found == other,
            (Address::Smtp(found), Address::Smtp(other)) => found == other,
            _ => false,
        }
    }

    fn server(host: &str, port: u16, security: Security, login: Option<(&str, &str)>) -> Address {
        let login = login.map(|(user, password)| (user.to_owned(), password.to_owned()));
        Address::Smtp(Server { host: host.to_owned(), port, security, login, authority: None })
    }

    #[test]
    fn an_authority_of_ones_own_is_read() {
        for address in ["smtp://h?tls=required&ca=/etc/ca.pem", "smtps://h?ca=/etc/ca.pem"] {
            let Ok(Address::Smtp(server)) = parse(address) else {
                panic!("{address}");
            };
            assert_eq!(server.authority, Some(PathBuf::from("/etc/ca.pem")));
        }
        for address in ["smtp://h?tls=none&ca=x", "smtps://h?ca=", "smtps://h?ca=x&ca=y"] {
            assert!(parse(address).is_err(), "{address}");
        }
    }

    #[test]
    fn addresses_are_read() {
        let own = Some(("ann@example.org", "value of PASS"));
        let usual = Some(("ann", "value of TIDINGS_SMTP_PASSWORD"));
        for (address, provider) in [
            ("file:///var/mail/out", Address::Maildir(PathBuf::from("/var/mail/out"))),
            ("file://out", Address::Maildir(PathBuf::from("out"))),
            ("smtp://localhost", server("localhost", 25, Security::Opportunistic, None)),
            ("smtp://[::1]:2525?tls=none", server("::1", 2525, Security::Plain, None)),
            ("smtp://h:26/?tls=required", server("h", 26, Security::Required, None)),
            ("smtp://ann@h", server("h", 587, Security::Required, usual)),
            ("smtp://ann@example.org:${PASS}@h?tls=none", server("h", 587, Security::Plain, own)),
            ("smtps://ann@example.org:${PASS}@h", server("h", 465, Security::Wrapped, own)),
        ] {
            assert!(is_one(&parse(address).unwrap(), &provider), "{address}");
        }
    }

    #[test]
    fn wrong_addresses_are_refused_and_never_told_back() {
        for address in [
            "",
            "smtp:host",
            "file://",
            "smtp://",
            "smtp://h:0",
            "smtp://h:65536",
            "smtp://h:x",
            "smtp://[::1",
            "smtp://[::1]x",
            "smtp://a b",
            "smtp://h?tls=maybe",
            "smtps://h?tls=none",
            "smtp://:${PASS}@h",
            "smtp://ann:hunter2@h",
            "smtp://ann:${ABSENT}@h",
            "smtp://ann@h?tls=opportunistic",
        ] {
            let error = parse(address).err().unwrap();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
