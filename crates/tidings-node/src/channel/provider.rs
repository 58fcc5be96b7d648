//! The addresses of providers, as `provider = "…"` in the configuration gives them.

use std::path::PathBuf;
use std::sync::Arc;

use tidings_core::model::{AddressKind, ChannelKind};

use super::caught;
use super::http::{ProviderUrl, Shape, webhook};
use super::provider_open_error::ProviderOpenError;
use super::smtp::server::{MailServer, Security};
use crate::channel::http::chat::{discord, slack, teams, telegram};
use crate::channel::http::mail::{mailgun, postmark, sendgrid, ses};
use crate::channel::http::push::{apns, fcm, vapid};
use crate::channel::http::sms::twilio;

/// A kind of provider.
struct ProviderKind {
    /// The scheme of its addresses.
    scheme: &'static str,
    /// The addresses to which it sends; `None` = those of any channel.
    address: Option<AddressKind>,
    /// The form of its own address, for hints.
    form: &'static str,
    read: AddressReader,
}

/// The reading of a kind's addresses.
#[derive(Clone, Copy)]
enum AddressReader {
    Caught,
    Maildir,
    Smtp,
    Http(fn(ProviderUrl<'_>) -> Result<Arc<dyn Shape>, ProviderOpenError>),
}

/// All kinds of providers.
const KINDS: [ProviderKind; 17] = [
    ProviderKind {
        scheme: "file",
        address: Some(AddressKind::Email),
        form: "file://DIR",
        read: AddressReader::Maildir,
    },
    ProviderKind {
        scheme: "smtp",
        address: Some(AddressKind::Email),
        form: "smtp://USER:${PASSWORD}@HOST:PORT",
        read: AddressReader::Smtp,
    },
    ProviderKind {
        scheme: "smtps",
        address: Some(AddressKind::Email),
        form: "smtps://USER:${PASSWORD}@HOST",
        read: AddressReader::Smtp,
    },
    ProviderKind {
        scheme: "sendgrid",
        address: Some(AddressKind::Email),
        form: sendgrid::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(sendgrid::SendGrid::parse(url)?))),
    },
    ProviderKind {
        scheme: "postmark",
        address: Some(AddressKind::Email),
        form: postmark::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(postmark::Postmark::parse(url)?))),
    },
    ProviderKind {
        scheme: "mailgun",
        address: Some(AddressKind::Email),
        form: mailgun::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(mailgun::Mailgun::parse(url)?))),
    },
    ProviderKind {
        scheme: "ses",
        address: Some(AddressKind::Email),
        form: ses::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(ses::Ses::parse(url)?))),
    },
    ProviderKind {
        scheme: "twilio",
        address: Some(AddressKind::Phone),
        form: twilio::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(twilio::Twilio::parse(url)?))),
    },
    ProviderKind {
        scheme: "vapid",
        address: Some(AddressKind::WebPush),
        form: vapid::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(vapid::Vapid::parse(url)?))),
    },
    ProviderKind {
        scheme: "fcm",
        address: Some(AddressKind::Fcm),
        form: fcm::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(fcm::Fcm::parse(url)?))),
    },
    ProviderKind {
        scheme: "apns",
        address: Some(AddressKind::Apns),
        form: apns::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(apns::Apns::parse(url)?))),
    },
    ProviderKind {
        scheme: "slack",
        address: Some(AddressKind::Slack),
        form: slack::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(slack::Slack::parse(url)?))),
    },
    ProviderKind {
        scheme: "discord",
        address: Some(AddressKind::Discord),
        form: discord::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(discord::Discord::parse(url)?))),
    },
    ProviderKind {
        scheme: "teams",
        address: Some(AddressKind::Teams),
        form: teams::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(teams::Teams::parse(url)?))),
    },
    ProviderKind {
        scheme: "telegram",
        address: Some(AddressKind::Telegram),
        form: telegram::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(telegram::Telegram::parse(url)?))),
    },
    ProviderKind {
        scheme: "webhook",
        address: Some(AddressKind::Webhook),
        form: webhook::FORM,
        read: AddressReader::Http(|url| Ok(Arc::new(webhook::Webhook::parse(url)?))),
    },
    ProviderKind {
        scheme: caught::SCHEME,
        address: None,
        form: "caught://",
        read: AddressReader::Caught,
    },
];

fn of_channel(kind: &ChannelKind) -> impl Iterator<Item = &'static ProviderKind> {
    let address = kind.address;
    KINDS.iter().filter(move |kind| {
        address.is_some() && (kind.address.is_none() || kind.address == address)
    })
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
pub(super) enum ProviderTarget {
    /// Nowhere: messages are kept in memory.
    Caught,
    /// A directory.
    Maildir(PathBuf),
    /// A mail server.
    Smtp(MailServer),
    /// A provider that is called over HTTP.
    Http(Arc<dyn Shape>),
}

impl ProviderTarget {
    /// Reads an address of a channel's provider; secrets are looked up by name.
    pub(super) fn parse(
        kind: &ChannelKind,
        address: &str,
        secret: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, ProviderOpenError> {
        let (scheme, rest) = address.split_once("://").ok_or_else(|| {
            let first: Vec<String> = schemes(kind).map(|scheme| format!("`{scheme}://`")).collect();
            ProviderOpenError::Address(format!("it must begin with {}", first.join(" or ")))
        })?;
        let Some(provider) = of_channel(kind).find(|provider| provider.scheme == scheme) else {
            return Err(ProviderOpenError::Scheme { name: scheme.to_owned(), forms: forms(kind) });
        };
        let url = || ProviderUrl::parse(provider.scheme, rest, secret);
        match provider.read {
            AddressReader::Caught if rest.is_empty() => Ok(Self::Caught),
            AddressReader::Caught => {
                Err(ProviderOpenError::Address("nothing follows `caught://`".to_owned()))
            }
            AddressReader::Maildir => {
                maildir(ProviderUrl::of_path(scheme, rest, secret)?).map(Self::Maildir)
            }
            AddressReader::Smtp => MailServer::parse(url()?, scheme == "smtps").map(Self::Smtp),
            AddressReader::Http(read) => read(url()?).map(Self::Http),
        }
    }

    /// The address without its secrets and settings.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Caught => format!("{}://", caught::SCHEME),
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

/// The directory of a Maildir.
fn maildir(url: ProviderUrl<'_>) -> Result<PathBuf, ProviderOpenError> {
    let place = url.whole_place()?;
    if place.is_empty() {
        return Err(ProviderOpenError::Address("`file://` wants a directory after it".to_owned()));
    }
    url.done()?;
    Ok(PathBuf::from(place))
}

#[cfg(test)]
mod tests {
    use super::super::sample::email;
    use super::super::smtp::server::{Login, LoginProof, PASSWORD_VARIABLE};
    use super::*;

    fn parse(address: &str) -> Result<ProviderTarget, String> {
        let secret = |name: &str| {
            ["PASS", PASSWORD_VARIABLE]
                .contains(&name)
                .then(|| format!("value of {name}"))
                .ok_or_else(|| "it is not set".to_owned())
        };
        ProviderTarget::parse(email(), address, &secret).map_err(|error| error.to_string())
    }

    fn is_one(found: &ProviderTarget, other: &ProviderTarget) -> bool {
        match (found, other) {
            (ProviderTarget::Maildir(found), ProviderTarget::Maildir(other)) => found == other,
            (ProviderTarget::Smtp(found), ProviderTarget::Smtp(other)) => found == other,
            _ => false,
        }
    }

    fn server(
        host: &str,
        port: u16,
        security: Security,
        login: Option<(&str, &str)>,
    ) -> ProviderTarget {
        let login = login.map(|(user, password)| Login {
            user: user.to_owned(),
            proof: LoginProof::Password(password.to_owned()),
        });
        ProviderTarget::Smtp(MailServer {
            host: host.to_owned(),
            port,
            security,
            login,
            authority: None,
        })
    }

    #[test]
    fn an_authority_of_ones_own_is_read() {
        for address in ["smtp://h?tls=required&ca=/etc/ca.pem", "smtps://h?ca=/etc/ca.pem"] {
            let Ok(ProviderTarget::Smtp(server)) = parse(address) else {
                panic!("{address}");
            };
            assert_eq!(server.authority, Some(PathBuf::from("/etc/ca.pem")));
        }
        for address in ["smtp://h?tls=none&ca=x", "smtps://h?ca=", "smtps://h?ca=x&ca=y"] {
            assert!(parse(address).is_err(), "{address}");
        }
    }

    #[test]
    fn every_channel_may_catch_its_messages() {
        let secret = |name: &str| Err(name.to_owned());
        for kind in tidings_core::model::sending_channels() {
            assert!(matches!(
                ProviderTarget::parse(kind, "caught://", &secret),
                Ok(ProviderTarget::Caught)
            ));
            assert!(forms(kind).ends_with("or `caught://`"), "{}", forms(kind));
        }
        let inbox = tidings_core::model::channel_kind("inbox").unwrap();
        assert_eq!(forms(inbox), "");
    }

    #[test]
    fn addresses_are_read() {
        let own = Some(("ann@example.org", "value of PASS"));
        let usual = Some(("ann", "value of TIDINGS_SMTP_PASSWORD"));
        for (address, provider) in [
            ("file:///var/mail/out", ProviderTarget::Maildir(PathBuf::from("/var/mail/out"))),
            ("file://out", ProviderTarget::Maildir(PathBuf::from("out"))),
            ("file:///var/a@b", ProviderTarget::Maildir(PathBuf::from("/var/a@b"))),
            ("file:///var/my%20mail", ProviderTarget::Maildir(PathBuf::from("/var/my mail"))),
            ("smtp://localhost", server("localhost", 25, Security::Opportunistic, None)),
            ("smtp://[::1]:2525?tls=none", server("::1", 2525, Security::Plain, None)),
            ("smtp://h:26/?tls=required", server("h", 26, Security::Required, None)),
            ("smtp://ann@h", server("h", 587, Security::Required, usual)),
            ("smtp://ann@example.org:${PASS}@h?tls=none", server("h", 587, Security::Plain, own)),
            ("smtps://ann@example.org:${PASS}@h", server("h", 465, Security::Wrapped, own)),
            ("smtps://ann%40example.org:${PASS}@h", server("h", 465, Security::Wrapped, own)),
        ] {
            assert!(is_one(&parse(address).unwrap(), &provider), "{address}");
        }
    }

    #[test]
    fn wrong_addresses_are_refused_and_never_told_back() {
        for address in [
            "",
            "smtp:host",
            "caught://somewhere",
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
            "smtp://ann%4:${PASS}@h",
            "smtp://ann:${PASS}@h?tsl=none",
            "smtp://h?auth=xoauth2",
            "smtp://ann@h?auth=xoauth2",
            "smtp://ann@h?auth=kerberos",
            "smtp://ann@h?token_url=https://id.example/t",
            "smtp://ann@h?token_url=https://id.example/t&client_id=c",
            "smtp://ann@h?token_url=https://id.example/t&client_id=c&client_secret=hunter2",
            "smtp://ann@h?token_url=http://id.example/t&client_id=c&client_secret=${PASS}",
            "smtp://ann@h?client_id=c",
            "smtp://ann:${PASS}@h?token_file=/run/t",
            "file:///var/mail?x=y",
        ] {
            let error = parse(address).err().unwrap();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
