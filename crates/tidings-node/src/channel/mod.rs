//! Channels, which send messages. A channel can't see the store.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use crate::clock::Clock;
use tidings_core::channel::{AddressKind, ChannelKind};
use tidings_core::{Instant, Rules};
use tidings_mail::{Design, Sender, TokenKey};

pub use http::sms::sms;
pub use maildir::{Durability, Maildir};
pub use outcome::{Outcome, Receipt, Scope};
pub use outlet::{Away, Outlet, Provider};
pub(crate) use outlet::{Back, GateId, Pass, Reply};
pub use patience::Patience;
pub use provider::{ProviderError, forms, schemes};
pub use render::{Head, MailRenderer, Rendered, Renderer, ShortRenderer, Unrenderable};
pub(crate) use render::{destinations_of, render};
pub use signer::{SignerError, signer};
pub use webhook_key::WebhookKey;

use http::Http;
use provider::Address;
use smtp::Smtp;

mod breaker;
mod destinations;
mod gate;
mod http;
mod jwt;
mod maildir;
mod outcome;
mod outlet;
mod pace;
mod patience;
mod provider;
mod render;
mod signer;
mod smtp;
mod webhook_key;

/// A channel: hands messages over to a provider. It is called from several threads at once.
pub trait Channel: Send + Sync {
    /// Sends; the batch's id is the idempotency key. Blocks until the outcome is known or the channel's own
    /// time-out has passed.
    ///
    /// `go` is asked right before the step after which the message may be delivered, and always before
    /// [`Outcome::Sent`] and [`Outcome::Unknown`]. Where it says no, nothing is handed over, and the outcome
    /// is [`Outcome::Withheld`].
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome;

    /// Returns true if an answer says something about other recipients; not where each names a service of their own.
    fn answers_for_all(&self) -> bool {
        true
    }

    /// Syncs everything handed over so far, if [`Channel::send`] left that for the end (see
    /// [`Durability::AtEnd`]).
    ///
    /// # Errors
    /// The disk's; what was not made durable stays due for the next call.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The channels that have a provider, by name.
pub type Channels = BTreeMap<String, Outlet>;

/// The channels shared by all sending threads: a reload replaces them.
#[derive(Clone, Default)]
pub(crate) struct InForce(Arc<RwLock<Channels>>);

/// The channels in force, as long as something else keeps them.
#[derive(Debug)]
pub(crate) struct WeakInForce(Weak<RwLock<Channels>>);

impl WeakInForce {
    pub(crate) fn upgrade(&self) -> Option<InForce> {
        self.0.upgrade().map(InForce)
    }
}

impl std::fmt::Debug for InForce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InForce").finish_non_exhaustive()
    }
}

impl InForce {
    pub(crate) fn new(channels: Channels) -> Self {
        Self(Arc::new(RwLock::new(channels)))
    }

    /// The same without keeping them.
    pub(crate) fn downgrade(&self) -> WeakInForce {
        WeakInForce(Arc::downgrade(&self.0))
    }

    /// The channel of a name. A message in progress during a reload is finished by the old one.
    pub(crate) fn outlet(&self, name: &str) -> Option<Outlet> {
        let channels = self.0.read().unwrap_or_else(PoisonError::into_inner);
        channels.get(name).cloned()
    }

    /// The providers and destinations that are left alone at an instant, by channel.
    pub(crate) fn left_alone(&self, now: Instant) -> Vec<(String, Away)> {
        let channels = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let away = channels.iter().flat_map(|(name, outlet)| {
            let away = outlet.left_alone(now).into_iter();
            away.map(|away| (name.clone(), away))
        });
        away.collect()
    }

    /// Makes their gates anew: the clock was put back.
    pub(crate) fn renew_gates(&self) {
        let mut channels = self.0.write().unwrap_or_else(PoisonError::into_inner);
        channels.values_mut().for_each(Outlet::renew_gate);
    }

    /// Replaces the channels.
    pub(crate) fn replace(&self, channels: Channels) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = channels;
    }
}

/// The environment for opening a provider.
pub struct Setup<'a> {
    /// Looks up a secret by its name; the error says why it is not available, and where to put it.
    pub secret: &'a dyn Fn(&str) -> Result<String, String>,
    /// The time when files are made durable.
    pub durability: Durability,
    /// The time limits of servers.
    pub patience: Patience,
    /// The clock of signatures and of waits that providers ask for.
    pub clock: &'a Arc<dyn Clock>,
    /// The key of the tokens in links; without one messages have no such links.
    pub tokens: Option<&'a TokenKey>,
}

/// Checks a channel's provider without using the machine: no secret is looked up, no directory is
/// created.
///
/// # Errors
/// [`ProviderError`] says what to write instead; it never holds a password.
pub fn check(kind: &ChannelKind, provider: &str) -> Result<(), ProviderError> {
    check_with(kind, provider, &|_| Ok(String::new()))
}

/// [`check`], and the secrets that the address names.
///
/// # Errors
/// As [`check`], and [`ProviderError::Secret`].
pub fn check_with(
    kind: &ChannelKind,
    provider: &str,
    secret: &dyn Fn(&str) -> Result<String, String>,
) -> Result<(), ProviderError> {
    match kind.address {
        Some(_) => Address::parse(kind, provider, secret).map(drop),
        None => Err(ProviderError::Inbox),
    }
}

/// Opens the providers that the rules name for a channel.
///
/// A Maildir is made where it is absent. A mail server is not called: that it is down is no fault of
/// the configuration.
///
/// # Errors
/// [`ProviderError`] says what to write instead; it never holds a password.
pub fn open(
    kind: &'static ChannelKind,
    rules: &Rules,
    setup: &Setup<'_>,
) -> Result<Outlet, ProviderError> {
    let is_mail = kind.address.ok_or(ProviderError::Inbox)? == AddressKind::Email;
    let channel = rules.channels.get(kind.name);
    let channel =
        channel.filter(|channel| !channel.providers.is_empty()).ok_or(ProviderError::Missing)?;
    let from = channel.from.as_deref();
    let (mut design, host) = if is_mail {
        let sender = Sender::parse(from.ok_or(ProviderError::NoSender)?)?;
        let host = sender.host().to_owned();
        (Design::new(sender, rules)?, host)
    } else {
        // No name is needed where there is no mail.
        (Design::short(kind.name, rules)?, String::new())
    };
    let mut providers = Vec::with_capacity(channel.providers.len());
    for address in &channel.providers {
        let address = Address::parse(kind, address, setup.secret)?;
        providers.push(provider(&address, &host, setup)?);
    }
    if let Some(key) = setup.tokens {
        design = design.linked(key.clone());
    }
    if let Some(dkim) = &channel.dkim {
        design = design.signed(signer(dkim)?);
    }
    let renderer: Arc<dyn Renderer> = if is_mail {
        Arc::new(MailRenderer::new(design))
    } else {
        Arc::new(ShortRenderer::new(design, kind, from))
    };
    let mut outlet = Outlet::of_providers(renderer, providers);
    if kind.address.is_some_and(AddressKind::names_host) {
        outlet = outlet.on_threads(STRANGERS_THREADS);
    }
    Ok(outlet.at_rates(channel.rate, channel.rate_per_domain))
}

/// Number of threads of a channel whose recipients name the hosts that are called. Those of a domain have no more than a
/// quarter of them, which is what other channels have in all.
const STRANGERS_THREADS: usize = 32;

/// A provider; `host` is that of the sender of mails.
fn provider(address: &Address, host: &str, setup: &Setup<'_>) -> Result<Provider, ProviderError> {
    let channel: Arc<dyn Channel> = match address {
        Address::Maildir(dir) => {
            let fault = |source| ProviderError::Maildir { dir: dir.clone(), source };
            Arc::new(Maildir::open(dir, setup.durability).map_err(fault)?)
        }
        Address::Smtp(server) => Arc::new(Smtp::new(server, host, setup.patience)?),
        Address::Http(shape) => {
            let (shape, clock) = (Arc::clone(shape), Arc::clone(setup.clock));
            Arc::new(Http::new(shape, setup.patience, clock)?)
        }
    };
    Ok(Provider { address: address.shown().into(), channel })
}

#[cfg(test)]
pub(crate) mod sample;

#[cfg(test)]
mod tests {
    use tidings_core::rules::{ChannelRules, DkimRules};

    use super::*;

    fn opened(provider: Option<&str>, from: Option<&str>) -> Result<(), String> {
        let channel = ChannelRules {
            providers: provider.into_iter().map(str::to_owned).collect(),
            from: from.map(str::to_owned),
            ..ChannelRules::default()
        };
        let rules = Rules { channels: [("email".to_owned(), channel)].into(), ..Rules::default() };
        let setup = Setup {
            secret: &|name| match name {
                "PASS" => Ok("s3cret".to_owned()),
                _ => Err("it is not set".to_owned()),
            },
            durability: Durability::Each,
            patience: Patience::default(),
            clock: &sample::clock(),
            tokens: None,
        };
        let email = tidings_core::channel::named("email").unwrap();
        open(email, &rules, &setup).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn providers_are_chosen_by_their_scheme() {
        let dir = tempfile::tempdir().unwrap();
        let maildir = dir.path().join("mail");
        let from = Some("Art <art@example.org>");
        assert_eq!(opened(Some(&format!("file://{}", maildir.display())), from), Ok(()));
        assert!(maildir.join("new").is_dir());
        assert_eq!(opened(Some("smtp://ann:${PASS}@mail.example.org:587"), from), Ok(()));
        assert_eq!(opened(Some("smtps://mail.example.org"), from), Ok(()));
    }

    #[test]
    fn faults_say_how_to_mend_them() {
        let from = Some("art@example.org");
        let missing = opened(None, from).unwrap_err();
        assert!(missing.contains("file://DIR"), "{missing}");
        let scheme = opened(Some("pigeon://key"), from).unwrap_err();
        assert!(scheme.contains("pigeon") && scheme.contains("sendgrid://${KEY}"), "{scheme}");
        let no_sender = opened(Some("smtps://mail.example.org"), None).unwrap_err();
        assert!(no_sender.contains("from ="), "{no_sender}");
        let sender = opened(Some("smtps://mail.example.org"), Some("Art")).unwrap_err();
        assert!(sender.contains("mailbox"), "{sender}");
    }

    #[test]
    fn mails_are_signed_with_the_key_of_the_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("dkim.pem");
        let dkim = DkimRules {
            domain: "example.org".to_owned(),
            selector: "t1".to_owned(),
            key_file: key.display().to_string(),
        };
        let channel = ChannelRules {
            providers: vec![format!("file://{}", dir.path().join("mail").display())],
            from: Some("art@example.org".to_owned()),
            dkim: Some(dkim),
            ..ChannelRules::default()
        };
        let rules = Rules { channels: [("email".to_owned(), channel)].into(), ..Rules::default() };
        let setup = Setup {
            secret: &|_| Err("there is none".to_owned()),
            durability: Durability::Each,
            patience: Patience::default(),
            clock: &sample::clock(),
            tokens: None,
        };
        let email = tidings_core::channel::named("email").unwrap();
        let absent = open(email, &rules, &setup).err().unwrap().to_string();
        assert!(absent.contains("dkim.pem"), "{absent}");
        // The key of RFC 8032, section 7.1, test 1.
        let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
                   -----END PRIVATE KEY-----\n";
        std::fs::write(&key, pem).unwrap();
        let outlet = open(email, &rules, &setup).unwrap();
        let batch = sample::batch("b", "One");
        let head = Arc::new(Head::of(&batch));
        let mail = outlet.renderer.render(&head, &batch).unwrap();
        let signed =
            b"DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed; d=example.org; s=t1;";
        assert!(mail.bytes.starts_with(signed));
    }

    #[test]
    fn a_file_in_place_of_the_maildir_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error =
            opened(Some(&format!("file://{}", file.path().display())), Some("a@example.org"));
        assert!(error.unwrap_err().contains("Maildir"));
    }
}
