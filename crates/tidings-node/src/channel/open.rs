//! Opening of channels: from the providers that the rules name to an outlet.

use std::sync::Arc;

use tidings_core::Rules;
use tidings_core::content::Batch;
use tidings_core::model::{AddressKind, ChannelKind, sending_channels};
use tidings_core::rules::{ChannelRules, HookRules};
use tidings_mail::{Design, Sender, TokenKey};

use crate::channel::Channel;
use crate::channel::caught::{CatchingChannel, CaughtMailbox};
use crate::channel::http::hook::Hook;
use crate::channel::http::{Http, Shape as _};
use crate::channel::in_force::Channels;
use crate::channel::maildir::{Durability, Maildir};
use crate::channel::outlet::{Provider, RenderingChannel};
use crate::channel::patience::ServerTimeouts;
use crate::channel::provider::ProviderTarget;
use crate::channel::provider_open_error::{ChannelOpenError, ProviderOpenError};
use crate::channel::render::{
    MailRenderer, MessageHead, Rendered, Renderer, ShortRenderer, Unrenderable,
};
use crate::channel::signer::signer;
use crate::channel::smtp::Smtp;
use crate::clock::Clock;

/// The environment for opening a provider.
pub struct ProviderSetup<'a> {
    /// Looks up a secret by its name; the error has the reason why it is missing, and its place.
    pub secret: &'a dyn Fn(&str) -> Result<String, String>,
    /// The time when files are made durable.
    pub durability: Durability,
    /// The time limits of servers.
    pub patience: ServerTimeouts,
    /// The clock of signatures and of waits that providers ask for.
    pub clock: &'a Arc<dyn Clock>,
    /// The key of the tokens in links; without one messages have no such links.
    pub tokens: Option<&'a TokenKey>,
    /// The place of messages that `caught://` keeps.
    pub caught: &'a Arc<CaughtMailbox>,
}

/// Checks a channel's provider without using the machine: no secret is looked up, no directory is
/// created.
///
/// # Errors
/// [`ProviderOpenError`] has a cure; it never holds a password.
pub fn check(kind: &ChannelKind, provider: &str) -> Result<(), ProviderOpenError> {
    check_with(kind, provider, &|_| Ok(String::new()))
}

/// [`check`], and the secrets that the address names.
///
/// # Errors
/// As [`check`], and [`ProviderOpenError::Secret`].
pub fn check_with(
    kind: &ChannelKind,
    provider: &str,
    secret: &dyn Fn(&str) -> Result<String, String>,
) -> Result<(), ProviderOpenError> {
    match kind.address {
        Some(_) => ProviderTarget::parse(kind, provider, secret).map(drop),
        None => Err(ProviderOpenError::Inbox),
    }
}

/// The advice about an address that can be read and is most likely a slip: the port and the scheme of a mail server.
#[must_use]
pub fn slip(kind: &ChannelKind, provider: &str) -> Option<String> {
    match ProviderTarget::parse(kind, provider, &|_| Ok(String::new())) {
        Ok(ProviderTarget::Smtp(server)) => server.slip(),
        Ok(ProviderTarget::Caught | ProviderTarget::Maildir(_) | ProviderTarget::Http(_))
        | Err(_) => None,
    }
}

/// The channels with a configured provider.
pub fn configured(rules: &Rules) -> impl Iterator<Item = (&'static ChannelKind, &ChannelRules)> {
    let named = |kind: &'static ChannelKind| Some((kind, rules.channels.get(kind.name)?));
    sending_channels().filter_map(named).filter(|(_, channel)| !channel.providers.is_empty())
}

/// Opens the channels with a configured provider, and the hooks.
///
/// # Errors
/// [`ChannelOpenError`], of the first that can't be opened.
pub fn open_all(rules: &Rules, setup: &ProviderSetup<'_>) -> Result<Channels, ChannelOpenError> {
    let mut channels = Channels::new();
    for (kind, _) in configured(rules) {
        let opened = open(kind, rules, setup)
            .map_err(|fault| ChannelOpenError::Channel { channel: kind.name.to_owned(), fault })?;
        channels.insert(kind.name.to_owned(), opened);
    }
    for hook in &rules.hooks {
        let opened = open_hook(hook, setup)
            .map_err(|fault| ChannelOpenError::Hook { name: hook.name.clone(), fault })?;
        channels.insert(hook_channel(&hook.name), opened);
    }
    Ok(channels)
}

/// Opens the providers that the rules name for a channel.
///
/// A missing Maildir is created. A mail server is not called: an unavailable server is no fault of the configuration.
///
/// # Errors
/// [`ProviderOpenError`] has a cure; it never holds a password.
pub fn open(
    kind: &'static ChannelKind,
    rules: &Rules,
    setup: &ProviderSetup<'_>,
) -> Result<RenderingChannel, ProviderOpenError> {
    let is_mail = kind.address.ok_or(ProviderOpenError::Inbox)? == AddressKind::Email;
    let channel = rules.channels.get(kind.name);
    let channel = channel
        .filter(|channel| !channel.providers.is_empty())
        .ok_or(ProviderOpenError::Missing)?;
    let from = channel.from.as_deref();
    let (mut design, host) = if is_mail {
        let sender = Sender::parse(from.ok_or(ProviderOpenError::NoSender)?)?;
        let host = sender.host().to_owned();
        (Design::new(sender, rules)?, host)
    } else {
        // No name is needed where there is no mail.
        (Design::short(kind.name, rules)?, String::new())
    };
    let mut providers = Vec::with_capacity(channel.providers.len());
    for address in &channel.providers {
        let address = ProviderTarget::parse(kind, address, setup.secret)?;
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
    let mut outlet = RenderingChannel::of_providers(renderer, providers);
    if kind.address.is_some_and(AddressKind::names_host) {
        outlet = outlet.on_threads(STRANGERS_THREADS);
    }
    Ok(outlet.at_rates(channel.rate, channel.rate_per_domain))
}

/// The name of the channel of a hook, which no channel of messages has.
#[must_use]
pub fn hook_channel(name: &str) -> String {
    format!("hook:{name}")
}

/// Opens a hook, without connecting.
///
/// # Errors
/// [`ProviderOpenError`] of its secret.
pub fn open_hook(
    rules: &HookRules,
    setup: &ProviderSetup<'_>,
) -> Result<RenderingChannel, ProviderOpenError> {
    let shape = Arc::new(Hook::new(rules, setup.secret)?);
    let address = shape.shown().into();
    // A host has nothing to do but to store the call, so it gets the short time of strangers for all steps.
    let ms = setup.patience.stranger_ms;
    let patience = ServerTimeouts { answer_ms: ms, begin_ms: ms, delivery_ms: ms, stranger_ms: ms };
    let channel = Arc::new(Http::new(shape, patience, Arc::clone(setup.clock))?);
    let provider = Provider { address, channel };
    Ok(RenderingChannel::of_providers(Arc::new(NoRenderer), vec![provider]))
}

/// The renderer where there is nothing to render.
struct NoRenderer;

impl Renderer for NoRenderer {
    fn render(&self, _: &Arc<MessageHead>, _: &Batch) -> Result<Rendered, Unrenderable> {
        Err(Unrenderable::default())
    }
}

/// Number of threads of a channel whose recipients name the hosts that are called. Those of a domain have no more than a
/// quarter of them, which is what other channels have in all.
const STRANGERS_THREADS: usize = 32;

/// A provider; `host` is that of the sender of mails.
fn provider(
    address: &ProviderTarget,
    host: &str,
    setup: &ProviderSetup<'_>,
) -> Result<Provider, ProviderOpenError> {
    let channel: Arc<dyn Channel> = match address {
        ProviderTarget::Caught => {
            let (caught, clock) = (Arc::clone(setup.caught), Arc::clone(setup.clock));
            Arc::new(CatchingChannel { caught, clock })
        }
        ProviderTarget::Maildir(dir) => {
            let fault = |source| ProviderOpenError::Maildir { dir: dir.clone(), source };
            Arc::new(Maildir::open(dir, setup.durability).map_err(fault)?)
        }
        ProviderTarget::Smtp(server) => {
            Arc::new(Smtp::new(server, host, setup.patience, setup.clock)?)
        }
        ProviderTarget::Http(shape) => {
            let (shape, clock) = (Arc::clone(shape), Arc::clone(setup.clock));
            Arc::new(Http::new(shape, setup.patience, clock)?)
        }
    };
    Ok(Provider { address: address.shown().into(), channel })
}

#[cfg(test)]
mod tests {
    use tidings_core::rules::{ChannelRules, DkimRules};

    use super::*;
    use crate::channel::sample;

    fn opened(provider: Option<&str>, from: Option<&str>) -> Result<(), String> {
        let channel = ChannelRules {
            providers: provider.into_iter().map(str::to_owned).collect(),
            from: from.map(str::to_owned),
            ..ChannelRules::default()
        };
        let rules = Rules { channels: [("email".to_owned(), channel)].into(), ..Rules::default() };
        let setup = ProviderSetup {
            secret: &|name| match name {
                "PASS" => Ok("s3cret".to_owned()),
                _ => Err("it is not set".to_owned()),
            },
            durability: Durability::Each,
            patience: ServerTimeouts::default(),
            clock: &sample::clock(),
            tokens: None,
            caught: &Arc::default(),
        };
        let email = tidings_core::model::channel_kind("email").unwrap();
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
        let setup = ProviderSetup {
            secret: &|_| Err("there is none".to_owned()),
            durability: Durability::Each,
            patience: ServerTimeouts::default(),
            clock: &sample::clock(),
            tokens: None,
            caught: &Arc::default(),
        };
        let email = tidings_core::model::channel_kind("email").unwrap();
        let absent = open(email, &rules, &setup).err().unwrap().to_string();
        assert!(absent.contains("dkim.pem"), "{absent}");
        // The key of RFC 8032, section 7.1, test 1.
        let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
                   -----END PRIVATE KEY-----\n";
        std::fs::write(&key, pem).unwrap();
        let outlet = open(email, &rules, &setup).unwrap();
        let batch = sample::batch("b", "One");
        let head = Arc::new(MessageHead::of(&batch));
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
