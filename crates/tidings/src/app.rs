//! Assembly of the parts: the only place that knows all of them.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(feature = "postgres")]
use std::time::Duration;

use tidings_core::channel::{ChannelKind, sending};
use tidings_core::engine::{
    HeldShards, LedgerRow, Options, Refused, Reply, Subject, Unexplained, Warning,
};
use tidings_core::explanation::Explanation;
use tidings_core::rules::{ChannelRules, FeedRules};
use tidings_core::{Command, Id, Instant, Message, Rules, Timed, Totals};
use tidings_mail::{SECRET_BYTES, TokenKey};
use tidings_node::channel::{self, Caught, Channels, Durability, Patience, ProviderError, Setup};
use tidings_node::election::Tenure;
use tidings_node::{
    Clock, Collect, Delivery, MaySend, Observer, OpenStore, Player, Resolver, Retries, Runtime,
    Settings, Term, token_key,
};
use tidings_store::lease::Leases;
use tidings_store::{Expected, FjallStore, MemoryStore, Store, StoreId, database};

use crate::keys;
use crate::resolver::HostService;
use crate::simulate::{Play, PlayError, PlaySink};

/// The player of `tidings simulate`: the engine on a virtual clock, over a store in memory.
///
/// # Errors
/// [`PlayError::Broken`] where it cannot be set up.
pub fn player(rules: Rules) -> Result<Box<dyn Play>, PlayError> {
    let store = Arc::new(MemoryStore::default());
    let options = Options { buckets: 1, ..Options::default() };
    let mut player = Player::open(store, options, Collect::Messages).map_err(broken)?;
    let answers = Arc::<Mutex<PendingLines>>::default();
    player.observe_by(Box::new(Gather(Arc::clone(&answers))));
    Ok(Box::new(Simulation { player, answers, rules: Some(rules) }))
}

/// The reason why a node can't be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A channel of the configuration can't be opened.
    #[error("`[channels.{channel}]`: {fault}")]
    Channel {
        /// The channel.
        channel: String,
        /// The reason, and what to write instead.
        fault: ProviderError,
    },
    /// A hook can't be called.
    #[error("`[[hooks]]` `{name}`: {fault}")]
    Hook {
        /// The name of the hook.
        name: String,
        /// The reason, and what to write instead.
        fault: ProviderError,
    },
    /// The host's service can't be asked.
    #[error("`[resolver]`: {0}")]
    Resolver(String),
    /// A database of `[feeds]` can't be used.
    #[error("feeds.{0}")]
    Feed(String),
    /// A secret of `[feedback]` is not set.
    #[error("feedback.{0}; without it no call of that provider can be believed")]
    Feedback(String),
    /// The store can't be opened or read.
    #[error(transparent)]
    Node(#[from] tidings_node::Error),
}

/// The channels with a configured provider, and the hooks. A secret `NAME` is the value of that environment variable, or
/// the content of the file whose path the variable `NAME_FILE` holds. `caught` takes what `caught://` keeps.
///
/// # Errors
/// [`StartError::Channel`] or [`StartError::Hook`].
pub fn channels(
    rules: &Rules,
    tokens: &TokenKey,
    clock: &Arc<dyn Clock>,
    caught: &Arc<Caught>,
) -> Result<Channels, StartError> {
    let setup = Setup {
        secret: &secret_here,
        durability: Durability::Each,
        patience: Patience::default(),
        clock,
        tokens: Some(tokens),
        caught,
    };
    let mut channels = Channels::new();
    for (kind, _) in configured(rules) {
        let opened = channel::open(kind, rules, &setup)
            .map_err(|fault| StartError::Channel { channel: kind.name.to_owned(), fault })?;
        channels.insert(kind.name.to_owned(), opened);
    }
    for hook in &rules.hooks {
        let opened = channel::open_hook(hook, &setup)
            .map_err(|fault| StartError::Hook { name: hook.name.clone(), fault })?;
        channels.insert(channel::hook_channel(&hook.name), opened);
    }
    Ok(channels)
}

/// The client of the configured host's service.
///
/// # Errors
/// [`StartError::Resolver`].
pub fn host_service(rules: &Rules) -> Result<Option<HostService>, StartError> {
    let service = rules.resolver.as_ref().map(|rules| HostService::new(rules, &secret_here));
    service.transpose().map_err(StartError::Resolver)
}

/// Checks that the secrets are set by which calls of `[feedback]` are known.
///
/// # Errors
/// [`StartError::Feedback`], of the first that is not.
pub fn check_feedback(rules: &Rules) -> Result<(), StartError> {
    let fault = unset_feedback(rules).next();
    fault.map_or(Ok(()), |fault| Err(StartError::Feedback(fault)))
}

/// The providers of `[feedback]` whose secret is not set here. The ARN of a topic is no secret.
fn unset_feedback(rules: &Rules) -> impl Iterator<Item = String> {
    rules.feedback.providers.iter().filter(|(_, secret)| !secret.starts_with("arn:")).filter_map(
        |(provider, secret)| {
            let fault = secret_here(secret).err()?;
            Some(format!("{provider}: {fault}"))
        },
    )
}

/// The faults of the feeds of a configuration here, each with its name.
#[cfg(not(feature = "postgres"))]
fn feed_faults(rules: &Rules) -> impl Iterator<Item = String> {
    rules.feeds.iter().filter_map(|(name, feed)| {
        let fault = feed_settings(name, feed, &secret_here).err()?;
        Some(format!("{name}.url: {fault}"))
    })
}

/// The settings of the configured feeds.
///
/// # Errors
/// [`StartError::Feed`], of the first that can't be used.
#[cfg(feature = "postgres")]
pub fn feeds(rules: &Rules) -> Result<Vec<tidings_feeds::FeedSettings>, StartError> {
    let each = rules.feeds.iter().map(|(name, feed)| {
        feed_settings(name, feed, &secret_here)
            .map_err(|fault| StartError::Feed(format!("{name}.url: {fault}")))
    });
    each.collect()
}

/// Checks that feeds can be read.
///
/// # Errors
/// [`StartError::Feed`]: this build has none.
#[cfg(not(feature = "postgres"))]
pub fn feeds(rules: &Rules) -> Result<(), StartError> {
    feed_faults(rules).next().map_or(Ok(()), |fault| Err(StartError::Feed(fault)))
}

#[cfg(feature = "postgres")]
fn feed_settings(
    name: &str,
    rules: &FeedRules,
    secret: Lookup<'_>,
) -> Result<tidings_feeds::FeedSettings, String> {
    use tidings_core::rules::OnRefusal;
    let ms = |ms: i64| Duration::from_millis(ms.max(0).unsigned_abs());
    Ok(tidings_feeds::FeedSettings {
        name: name.to_owned(),
        database: feed_database(&rules.url, secret)?,
        table: rules.table.clone(),
        every: ms(rules.every_ms),
        refused: match rules.refused {
            OnRefusal::Park => tidings_feeds::OnRefusal::Park,
            OnRefusal::Stop => tidings_feeds::OnRefusal::Stop,
        },
        keep: ms(rules.keep_ms),
    })
}

#[cfg(not(feature = "postgres"))]
fn feed_settings(_: &str, _: &FeedRules, _: Lookup<'_>) -> Result<(), String> {
    Err("this build has no feeds; use one with the feature `postgres`".to_owned())
}

/// The database of a feed. A secret that is part of an address is encoded; one that is all of it is an address.
#[cfg(feature = "postgres")]
fn feed_database(
    url: &str,
    secret: &dyn Fn(&str) -> Result<String, String>,
) -> Result<tidings_tls::postgres::Database, String> {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    let named = crate::config::services::feeds::secrets(url).unwrap_or_default();
    let mut whole = String::new();
    let mut from = 0;
    for (place, name) in named {
        let value = secret(name)?;
        whole.push_str(&url[from..place.start]);
        if place == (0..url.len()) {
            whole.push_str(&value);
        } else {
            whole.extend(utf8_percent_encode(&value, NON_ALPHANUMERIC));
        }
        from = place.end;
    }
    whole.push_str(&url[from..]);
    tidings_tls::postgres::Database::of(&whole)
}

/// The channels with a provider.
fn configured(rules: &Rules) -> impl Iterator<Item = (&'static ChannelKind, &ChannelRules)> {
    let named = |kind: &'static ChannelKind| Some((kind, rules.channels.get(kind.name)?));
    sending().filter_map(named).filter(|(_, channel)| !channel.providers.is_empty())
}

/// A secret without which `serve` refuses to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFault {
    /// Its place in the configuration, and the fault.
    pub text: String,
    /// True if it is not set here, as where a configuration is checked elsewhere; false if it is, and can't be read or is
    /// wrong.
    pub is_unset: bool,
}

/// The secrets of a configuration that are not set here, or can't be used.
#[must_use]
pub fn secret_faults(rules: &Rules) -> Vec<SecretFault> {
    let mut faults = Vec::new();
    let mut judge = |place: &str, read: &dyn Fn(Lookup<'_>) -> Result<(), String>| {
        let is_unset = Cell::new(false);
        let looked_up = |name: &str| {
            let found = secret_here(name);
            is_unset.set(is_unset.get() || !is_set_here(name));
            found
        };
        if let Err(fault) = read(&looked_up) {
            let text = format!("{place}: {fault}; `serve` needs it");
            faults.push(SecretFault { text, is_unset: is_unset.get() });
        }
    };
    for (kind, channel) in configured(rules) {
        for provider in &channel.providers {
            let place = format!("channels.{}.provider", kind.name);
            judge(&place, &|secret| {
                channel::check_with(kind, provider, secret).map_err(|fault| fault.to_string())
            });
        }
    }
    if let Some(resolver) = &rules.resolver {
        judge("`[resolver]`", &|secret| HostService::new(resolver, secret).map(drop));
    }
    for (provider, name) in &rules.feedback.providers {
        // The ARN of a topic is no secret.
        if !name.starts_with("arn:") {
            judge(&format!("feedback.{provider}"), &|secret| secret(name).map(drop));
        }
    }
    for (name, feed) in &rules.feeds {
        let place = format!("feeds.{name}.url");
        judge(&place, &|secret| feed_settings(name, feed, secret).map(drop));
    }
    for hook in &rules.hooks {
        let place = format!("hooks.{}.secret", hook.name);
        judge(&place, &|secret| secret(&hook.secret).map(drop));
    }
    faults
}

/// A look-up of secrets by name.
type Lookup<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Returns true if a secret is set here, or the path of its file is.
fn is_set_here(name: &str) -> bool {
    [name.to_owned(), format!("{name}_FILE")].iter().any(|name| std::env::var_os(name).is_some())
}

/// A secret by its name, in the environment of the process.
pub(crate) fn secret_here(name: &str) -> Result<String, String> {
    secret(name, &|variable| std::env::var_os(variable))
}

/// A secret by its name, in an environment. One from a file keeps no line break at its end, since
/// editors leave one there.
fn secret(name: &str, environment: &dyn Fn(&str) -> Option<OsString>) -> Result<String, String> {
    if let Some(value) = environment(name) {
        return value
            .into_string()
            .map_err(|_| "the value in the environment is not UTF-8".to_owned());
    }
    let variable = format!("{name}_FILE");
    let Some(path) = environment(&variable).map(PathBuf::from) else {
        return Err(format!("set {name}, or {variable}=/path/to/file"));
    };
    let text = std::fs::read_to_string(&path)
        .map_err(|fault| format!("{variable}: {}: {fault}", path.display()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Expects the existing store; if there is none, one is created with a random identity.
///
/// # Errors
/// The system has no random bits.
pub fn expect_or_make() -> Result<Expected, tidings_store::Error> {
    let id = keys::store_id();
    id.map(Expected::OrNew).map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))
}

/// Logs that a store was created.
pub fn log_new_store(id: StoreId, place: &dyn std::fmt::Display) {
    tracing::info!(store = %id, %place, "made a new store");
}

/// A store that is open, and can be opened again.
pub struct Opened {
    store: Arc<dyn Store>,
    again: OpenStore,
    /// The parts of it that the node has, of so many; `None` = everything.
    held: Option<(HeldShards, u16)>,
}

impl Opened {
    /// Opens the expected store in a directory. After a failure the same store is opened again, and none is created.
    ///
    /// # Errors
    /// [`tidings_store::Error`].
    pub fn directory(
        data: &Path,
        expected: Expected,
        options: tidings_store::Options,
    ) -> Result<Self, tidings_store::Error> {
        let store = FjallStore::open(data, expected, options)?;
        let (id, data) = (store.id(), data.to_owned());
        if store.is_new() {
            log_new_store(id, &data.display());
        }
        Ok(Self {
            store: Arc::new(store),
            again: Box::new(move || {
                let options = tidings_store::Options::default();
                let store = FjallStore::open(&data, Expected::Same(id), options)?;
                Ok(Arc::new(store) as Arc<dyn Store>)
            }),
            held: None,
        })
    }

    /// Opens the expected store of a database that no node holds, and takes it over.
    ///
    /// # Errors
    /// [`tidings_store::Error`].
    pub fn database(url: &str, expected: Expected) -> Result<Self, tidings_store::Error> {
        let store = database::open(url, expected)?;
        // A node that starts meanwhile keeps the store.
        let again = Box::new(|| Err(tidings_store::Error::Fenced));
        Ok(Self { store, again, held: None })
    }

    /// Opens the store that nodes share, for a term of this node.
    ///
    /// # Errors
    /// [`tidings_store::Error`].
    pub fn held(leases: Arc<dyn Leases>, term: &Term) -> Result<Self, tidings_store::Error> {
        let (tenure, end) = (term.tenure, term.ender());
        let open = move || match tenure {
            Tenure::Lease(epoch) => leases.open(epoch),
            Tenure::Share(term) => leases.open_share(term),
        };
        let store = open()?;
        let again = Box::new(move || {
            let opened = open();
            if matches!(opened, Err(tidings_store::Error::Fenced)) {
                end();
            }
            opened
        });
        Ok(Self { store, again, held: term.held.clone().zip(term.of) })
    }

    /// The key of the tokens in its links, made where it has none yet.
    ///
    /// # Errors
    /// [`tidings_node::Error`].
    pub fn token_key(&self) -> Result<TokenKey, tidings_node::Error> {
        let mut fresh = [0; SECRET_BYTES];
        keys::fill(&mut fresh)
            .map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))?;
        token_key(&*self.store, &fresh)
    }

    /// Starts a node over it that sends through these channels.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(
        self,
        rules: Rules,
        channels: Channels,
        clock: Arc<dyn Clock>,
        settings: Settings,
        resolver: Arc<dyn Resolver>,
        may_send: Option<MaySend>,
    ) -> Result<Runtime, StartError> {
        let delivery = Delivery::new(channels, Retries::default());
        let delivery = match may_send {
            Some(may_send) => delivery.asking(may_send),
            None => delivery,
        };
        self.run(rules, clock, delivery.resolving(resolver), settings)
    }

    /// Starts a node over it that accepts and commits, and sends nothing: it needs no provider.
    ///
    /// # Errors
    /// [`StartError::Node`].
    pub fn take_in(self, rules: Rules, clock: Arc<dyn Clock>) -> Result<Runtime, StartError> {
        let settings = Settings { sends: false, ..Settings::default() };
        let delivery = Delivery::new(Channels::new(), Retries::default());
        self.run(rules, clock, delivery, settings)
    }

    /// Opens it to look at it, and to change API keys.
    ///
    /// # Errors
    /// [`StartError::Node`].
    pub fn look(self) -> Result<Runtime, StartError> {
        Ok(Runtime::look(self.store, Options::default())?)
    }

    /// Starts a node over it with channels of one's own.
    pub(crate) fn run(
        self,
        rules: Rules,
        clock: Arc<dyn Clock>,
        delivery: Delivery,
        mut settings: Settings,
    ) -> Result<Runtime, StartError> {
        let Self { store, mut again, held } = self;
        let (held, of) = held.unzip();
        settings.options.shards = of.unwrap_or(rules.store.parts);
        let mut first = Some(store);
        let open: OpenStore = Box::new(move || match first.take() {
            Some(store) => Ok(store),
            None => again(),
        });
        Ok(Runtime::start_held(open, held, rules, delivery, clock, settings)?)
    }
}

struct Simulation {
    player: Player,
    /// The answers to the lines that were taken in.
    answers: Arc<Mutex<PendingLines>>,
    /// Set at the first command's instant.
    rules: Option<Rules>,
}

impl Play for Simulation {
    fn play(&mut self, line: u64, timed: Timed, sink: &mut dyn PlaySink) -> Result<(), PlayError> {
        if let Some(rules) = self.rules.take() {
            let each = &mut |message: Message| sink.message(&message);
            self.player.set_rules(timed.at, rules, each).map_err(broken)?;
        }
        lock(&self.answers).lines.push_back(line);
        let played = self.player.play(timed, &mut |message| sink.message(&message));
        self.answered(played, sink)
    }

    fn take_in(&mut self) -> Result<(), PlayError> {
        let taken = self.player.take_in();
        taken.map_err(|fault| refused(fault, lock(&self.answers).refused))
    }

    fn finish(
        &mut self,
        until: Option<Instant>,
        sink: &mut dyn PlaySink,
    ) -> Result<Totals, PlayError> {
        let finished = self.player.finish(until, &mut |message| sink.message(&message));
        self.answered(finished, sink)?;
        self.player.books().map_err(broken)
    }

    fn ledger(&self) -> BTreeMap<&'static str, LedgerRow> {
        self.player.node().engine().ledger_by_channel()
    }

    fn explain(
        &mut self,
        subject: Subject,
        recipient: &Id,
        until: Option<Instant>,
    ) -> Result<Explanation, PlayError> {
        let now = until.unwrap_or(Instant::MIN);
        self.player.explain(subject, recipient, now).map_err(|why| match why {
            Unexplained::Unreadable(fault) => broken(fault),
            unknown => PlayError::Refused {
                line: 0,
                reason: unknown.to_string(),
                hint: "name an event and a recipient of the timeline".to_owned(),
            },
        })
    }
}

impl Simulation {
    /// Passes the warnings on that came meanwhile.
    fn answered(
        &self,
        played: Result<(), tidings_node::PlayError>,
        sink: &mut dyn PlaySink,
    ) -> Result<(), PlayError> {
        let mut answers = lock(&self.answers);
        for (line, event, warning) in answers.warnings.drain(..) {
            sink.warning(line, &event, &warning);
        }
        played.map_err(|fault| refused(fault, answers.refused))
    }
}

/// The lines that wait to be taken in, and the warnings about those that were.
#[derive(Default)]
struct PendingLines {
    lines: VecDeque<u64>,
    warnings: Vec<(u64, Id, Warning)>,
    /// The line that was refused; nothing is warned of the others of its instant.
    refused: u64,
}

/// Gathers what a player answers.
struct Gather(Arc<Mutex<PendingLines>>);

impl Observer for Gather {
    fn before(&mut self, _: Instant, _: &[Command]) {}

    fn after(&mut self, _: Instant, replies: &[Result<Reply, Refused>]) {
        let mut answers = lock(&self.0);
        if let Some(refused) = replies.iter().position(Result::is_err) {
            answers.refused = answers.lines.get(refused).copied().unwrap_or_default();
            return;
        }
        for reply in replies {
            let line = answers.lines.pop_front().unwrap_or_default();
            if let Ok(Reply::Published(published)) = reply {
                let warnings =
                    published.warnings.iter().map(|one| (line, published.id.clone(), one.clone()));
                answers.warnings.extend(warnings);
            }
        }
    }
}

fn lock(answers: &Mutex<PendingLines>) -> MutexGuard<'_, PendingLines> {
    answers.lock().unwrap_or_else(PoisonError::into_inner)
}

fn broken(fault: impl std::fmt::Display) -> PlayError {
    PlayError::Broken(fault.to_string())
}

fn refused(fault: tidings_node::PlayError, line: u64) -> PlayError {
    let tidings_node::PlayError::Refused(refused) = fault else {
        return broken(fault);
    };
    PlayError::Refused {
        line,
        reason: refused.to_string(),
        hint: crate::body::hint(&refused).unwrap_or_else(|| mend(&refused).to_owned()),
    }
}

/// The hint for a fault of a timeline.
fn mend(refused: &Refused) -> &'static str {
    match refused {
        Refused::UnknownRecipient(_) => {
            "add a `recipient` line before the first line that names the recipient"
        }
        Refused::UnknownMessage(_) | Refused::MessageState { .. } | Refused::MessageGone(_) => {
            "messages are changed over the API of a server"
        }
        Refused::UnknownTenant { .. } => {
            "add a `tenant` line before the first line that names the tenant"
        }
        Refused::TenantGone(_) => "enable it, or make it anew, on a line before this one",
        _ => "see the channels and digests of the configuration",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t42_a_faulty_line_that_names_a_tenant_has_a_hint_of_it() {
        let hint = |refused: Refused| {
            crate::body::hint(&refused).unwrap_or_else(|| mend(&refused).to_owned())
        };
        let acme = || tidings_core::Id::new("acme").unwrap();
        let unknown = |near| hint(Refused::UnknownTenant { tenant: acme(), near });
        assert!(hint(Refused::TenantsOff).contains("under `[tenants]`"));
        assert!(unknown(Vec::new()).contains("`tenant` line"));
        assert!(unknown(vec!["acne".to_owned()]).contains("`acne`"));
        assert!(hint(Refused::TenantGone(acme())).contains("enable it"));
    }

    #[test]
    fn f14_a_server_does_not_start_without_the_secret_of_a_report() {
        for provider in ["mailgun", "postmark", "sendgrid"] {
            let config = format!("[feedback]\n{provider} = \"${{TIDINGS_TEST_UNSET}}\"\n");
            let rules = crate::config::parse(&config, "tidings.toml").unwrap();
            let fault = check_feedback(&rules).unwrap_err().to_string();
            let expected = format!("feedback.{provider}: set TIDINGS_TEST_UNSET, or ");
            assert!(fault.starts_with(&expected), "{fault}");
        }
        let topic = "[feedback]\nses = \"arn:aws:sns:eu-west-1:123456789012:mail\"\n";
        let rules = crate::config::parse(topic, "tidings.toml").unwrap();
        check_feedback(&rules).unwrap();
    }

    #[test]
    fn a_secret_comes_from_the_environment_or_from_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("password");
        std::fs::write(&path, " s3cret \r\n").unwrap();
        let environment = |variable: &str| match variable {
            "BOTH" | "ONE" => Some(OsString::from("value")),
            "BOTH_FILE" | "OTHER_FILE" => Some(path.clone().into_os_string()),
            "AWAY_FILE" => Some(directory.path().join("away").into_os_string()),
            _ => None,
        };
        let of = |name: &str| secret(name, &environment);
        assert_eq!(of("ONE").as_deref(), Ok("value"));
        assert_eq!(of("BOTH").as_deref(), Ok("value"));
        assert_eq!(of("OTHER").as_deref(), Ok(" s3cret "));
        assert!(of("AWAY").unwrap_err().starts_with("AWAY_FILE: "));
        assert!(of("NONE").unwrap_err().contains("NONE_FILE"));
    }
}
