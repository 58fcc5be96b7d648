//! The validated configuration: the content of a `tidings.toml` without faults.
//!
//! Rules are plain data. They are stored with a version, and records name the version that decided.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::channel::ChannelRules;
use super::console::ConsoleRules;
use super::digest::Digest;
use super::hook::HookRules;
use super::tenant::TenantRules;
use crate::journal::stored::encode;
use crate::model::event::Pivot;
use crate::model::id::Id;
use crate::model::limits::Limits;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::time::{DAY_MS, HOUR_MS};
use crate::rules::presentation::{Presentation, Texts};
use crate::rules::schema::DataSchema;

/// The rules: types, categories, digests, channels, retention.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Defaults for recipients.
    pub defaults: Defaults,
    /// The categories of the preference page.
    pub categories: BTreeMap<String, Category>,
    /// The digests: calendars that gather entries of several types.
    pub digests: BTreeMap<String, Digest>,
    /// The types.
    pub types: BTreeMap<String, TypeRules>,
    /// The rules of the store: how long days are kept, and into how many parts recipients are divided.
    pub store: StoreRules,
    /// Providers.
    pub channels: BTreeMap<String, ChannelRules>,
    /// Bounds on what one command may carry.
    #[serde(default)]
    pub limits: Limits,
    /// The look and the words of messages.
    #[serde(default)]
    pub presentation: Presentation,
    /// Bounds on the messages to one recipient.
    #[serde(default)]
    pub caps: Vec<Cap>,
    /// The resolver of objects; `None` = none.
    #[serde(default)]
    pub resolver: Option<ResolverRules>,
    /// The ways in which providers and mail servers report what became of messages.
    #[serde(default)]
    pub feedback: FeedbackRules,
    /// The calls of end users; `None` = none.
    #[serde(default)]
    pub users: Option<UsersRules>,
    /// The console; `None` = there is none.
    #[serde(default)]
    pub console: Option<ConsoleRules>,
    /// The collector of spans; `None` = none are sent.
    #[serde(default)]
    pub telemetry: Option<TelemetryRules>,
    /// The times for which figures are kept.
    #[serde(default)]
    pub figures: FiguresRules,
    /// The retention of the log of changes.
    #[serde(default)]
    pub log: LogRules,
    /// The databases out of which events are read, by name.
    #[serde(default)]
    pub feeds: BTreeMap<String, FeedRules>,
    /// The calls of other products that are taken.
    #[serde(default)]
    pub compat: CompatCallRules,
    /// The services of the host that are called about messages.
    #[serde(default)]
    pub hooks: Vec<HookRules>,
    /// The rules of tenants; `None` = there are none.
    #[serde(default)]
    pub tenants: Option<TenantRules>,
    /// True if required types share their lanes with other types: so it was in rules that were stored before they had
    /// lanes of their own.
    #[serde(default = "yes")]
    pub required_shares_lanes: bool,
}

fn yes() -> bool {
    true
}

/// The times for which figures are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiguresRules {
    /// The time in milliseconds for which those by type and channel are kept.
    pub keep_ms: i64,
    /// The same of those by tenant and channel.
    pub tenants_ms: i64,
}

impl Default for FiguresRules {
    fn default() -> Self {
        Self { keep_ms: 800 * DAY_MS, tenants_ms: 100 * DAY_MS }
    }
}

/// The retention of the log of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRules {
    /// The time in milliseconds for which a line is kept.
    pub keep_ms: i64,
}

impl Default for LogRules {
    fn default() -> Self {
        Self { keep_ms: 400 * DAY_MS }
    }
}

/// The collector of spans, and how many it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TelemetryRules {
    /// The URL to which traces are sent, over OTLP.
    pub otlp: String,
    /// The part of requests that are recorded whose caller does not say, from 0 to 1.
    pub ratio: f64,
}

/// A database of the host out of which events are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedRules {
    /// Its address, in which `${NAME}` stands for secrets.
    pub url: String,
    /// The table, or `schema.table`.
    pub table: String,
    /// The time between two looks at the table, in milliseconds; more than 0.
    pub every_ms: i64,
    /// The effect of a refused row on those after it.
    pub refused: OnRefusal,
    /// The time for which rows that were taken stay, in milliseconds.
    pub keep_ms: i64,
}

/// The effect of a refused row of a feed on those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnRefusal {
    /// They go on.
    Park,
    /// They wait.
    Stop,
}

/// The calls of other products that are taken, for hosts that move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompatCallRules {
    /// True if Knock's trigger is taken.
    pub knock: bool,
    /// True if Novu's trigger is taken.
    pub novu: bool,
}

/// The calls of end users, with tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsersRules {
    /// The origins of pages that may call.
    pub origins: Vec<String>,
    /// The prefixes of topics that they may follow and unfollow.
    pub topics: Vec<String>,
    /// The longest life of a token, in milliseconds.
    pub tokens_ms: i64,
    /// The most open streams of a server.
    pub streams: u32,
}

impl Default for UsersRules {
    fn default() -> Self {
        Self { origins: Vec::new(), topics: Vec::new(), tokens_ms: HOUR_MS, streams: 10_000 }
    }
}

/// The ways in which providers and mail servers report what became of messages after they were handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackRules {
    /// The address to which mails that can't be delivered come back; `None` = the sender's.
    pub address: Option<String>,
    /// The Maildir into which that address is delivered, and in which reports are looked for.
    pub maildir: Option<String>,
    /// True if it is recorded that messages were opened.
    pub opened: bool,
    /// True if it is recorded that links of messages were followed.
    pub clicked: bool,
    /// By provider, how its calls are known to be its own: the name of a secret, or a topic.
    pub providers: BTreeMap<String, String>,
}

/// The service of the host that returns the present state of objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolverRules {
    /// Its URL, `http` or `https`.
    pub url: String,
    /// The name of the secret by which questions are signed; `None` = they are not.
    pub secret: Option<String>,
    /// The time to wait for an answer, in milliseconds; more than 0.
    pub timeout_ms: i64,
    /// The most objects of one question, more than 0.
    pub batch: u32,
    /// The time in milliseconds for which messages of types with [`UnresolvedFate::Wait`] wait for an answer.
    pub wait_ms: i64,
}

/// A bound on the messages to one recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cap {
    /// The channel; not the inbox.
    pub channel: String,
    /// The time within which messages are counted, in milliseconds; more than 0.
    pub per_ms: i64,
    /// The most messages within that time, more than 0.
    pub max: u32,
}

impl Rules {
    /// A digest of all of it, which identifies the configuration.
    #[must_use]
    pub fn digest(&self) -> u64 {
        xxh3_64(&encode(self))
    }

    /// Returns true if a preference is valid: its type or category is configured, and the digest that it names; a
    /// required type knows no `never`.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Rules;
    /// use tidings_core::model::{Mode, PreferenceScope};
    /// use tidings_core::rules::Category;
    ///
    /// let mut rules = Rules::default();
    /// rules.categories.insert("social".to_owned(), Category::default());
    /// let social = PreferenceScope::Category("social".to_owned());
    /// assert!(rules.know_choice(&social, &Mode::Never));
    /// // The digest is not configured.
    /// assert!(!rules.know_choice(&social, &Mode::Digest("weekly".to_owned())));
    /// // Types and categories have names of their own.
    /// assert!(!rules.know_choice(&PreferenceScope::Type("social".to_owned()), &Mode::Never));
    /// ```
    #[must_use]
    pub fn know_choice(&self, scope: &PreferenceScope, mode: &Mode) -> bool {
        let knows_scope = match scope {
            PreferenceScope::Category(name) => self.categories.contains_key(name),
            PreferenceScope::Type(name) => {
                let kind = self.types.get(name);
                kind.is_some_and(|kind| !(kind.required && *mode == Mode::Never))
            }
            PreferenceScope::AllCategories
            | PreferenceScope::Topic(_)
            | PreferenceScope::Object(_) => true,
            PreferenceScope::DigestDay(name) | PreferenceScope::DigestTime(name) => {
                let digest = self.digests.get(name);
                return digest.is_some_and(|digest| digest.lets_choose(scope, mode));
            }
        };
        let knows_mode = match mode {
            Mode::Digest(name) => self.digests.contains_key(name),
            Mode::Never | Mode::Immediate | Mode::Default => true,
            Mode::Day(_) | Mode::Time(_) => false,
        };
        knows_scope && knows_mode
    }
}

/// Defaults for recipients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Defaults {
    /// IANA time zone.
    pub tz: String,
    /// BCP 47 locale.
    pub locale: String,
}

/// A category: a heading of the preference page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Category {
    /// Its title; the category's name where there is none.
    pub title: Texts,
}

/// A configured name in words: `artwork_published` is "artwork published".
///
/// # Examples
/// ```
/// use tidings_core::rules::{capitalised, in_words};
///
/// assert_eq!(in_words("artwork__published:now"), "artwork published now");
/// assert_eq!(capitalised(&in_words("émission_spéciale")), "Émission spéciale");
/// ```
#[must_use]
pub fn in_words(name: &str) -> String {
    let words: Vec<&str> = name
        .split(|c: char| c.is_whitespace() || matches!(c, '_' | '-' | '.' | '/' | ':'))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// A text with a capital at its beginning.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The rules of a type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TypeRules {
    /// Its category.
    pub category: String,
    /// True if actors are notified of their own events.
    pub include_actor: bool,
    /// True if it is sent without waiting for a digest (later quiet hours and caps as well).
    pub urgent: bool,
    /// True if neither `never` nor a mute leaves it out. Its entries share no message with those of other types.
    #[serde(default)]
    pub required: bool,
    /// Age in milliseconds at which an entry is stale when its message is built.
    pub look_back_ms: Option<i64>,
    /// True if seen entries are dropped; `None` = as [`TypeRules::drops_seen`] says.
    pub drop_if_seen: Option<bool>,
    /// The admission, which decides about recipients to leave out of an event.
    #[serde(default)]
    pub admission: Admission,
    /// The part of the admission's key beside recipient and type.
    #[serde(default)]
    pub per: AdmissionKeyPart,
    /// The condition ([`crate::cel`]), asked in the look before a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The schema of its events' `data`; `None` = any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<DataSchema>,
    /// The role by which lines are grouped. `None` = in a message the one with the fewest groups, in an inbox
    /// the object.
    #[serde(default)]
    pub group: Option<Pivot>,
    /// The fate of its messages while the host does not say what their objects are now.
    #[serde(default)]
    pub unresolved: UnresolvedFate,
    /// The handling of its messages of unknown outcome.
    #[serde(default)]
    pub unknown_outcome: UnknownOutcome,
    /// The time in milliseconds after which one of its messages that could not be handed over has failed, counted
    /// from when it was due; `None` = only the number of attempts decides.
    #[serde(default)]
    pub give_up_after_ms: Option<i64>,
    /// The policy on each channel.
    pub channels: BTreeMap<String, Route>,
}

/// The handling of messages of unknown outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownOutcome {
    /// It is sent once more, under the same id.
    #[default]
    Resend,
    /// It is not sent again: its outcome is unknown.
    GiveUp,
}

impl UnknownOutcome {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Resend, Self::GiveUp];

    /// Its word in a configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Resend => "resend",
            Self::GiveUp => "give_up",
        }
    }
}

impl Rules {
    /// The handling for a message of several types: it is given up if one of them is.
    pub fn unknown_outcome<'a>(&self, types: impl IntoIterator<Item = &'a Id>) -> UnknownOutcome {
        let of = |event_type: &Id| {
            let rules = self.types.get(event_type.as_str());
            rules.map_or_else(UnknownOutcome::default, |rules| rules.unknown_outcome)
        };
        types.into_iter().map(of).max().unwrap_or_default()
    }

    /// The time in milliseconds after which a message of several types has failed: the shortest.
    pub fn give_up_after_ms<'a>(&self, types: impl IntoIterator<Item = &'a Id>) -> Option<i64> {
        let of = |event_type: &Id| self.types.get(event_type.as_str())?.give_up_after_ms;
        types.into_iter().filter_map(of).min()
    }
}

/// The fate of a message while the host does not answer what its objects are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnresolvedFate {
    /// It is made with what is known.
    #[default]
    Send,
    /// It waits for an answer, for a bounded time.
    Wait,
}

/// The admission of a type, which decides about a new entry beside a recipient's other entries of its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// All are taken in.
    #[default]
    Always,
    /// The recipient is left out while an entry is pending.
    OncePending,
    /// The recipient is left out while an entry is pending, and for ever once one was delivered.
    OnceEver,
    /// Pending entries end, and the new ones take their place.
    LastOnly,
}

impl Admission {
    /// All admissions.
    pub const ALL: [Self; 4] = [Self::Always, Self::OncePending, Self::OnceEver, Self::LastOnly];

    /// Its word in a configuration; the reason why a recipient was left out.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::OncePending => "once_pending",
            Self::OnceEver => "once_ever",
            Self::LastOnly => "last_only",
        }
    }
}

/// The part of an admission's key beside recipient and type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdmissionKeyPart {
    /// There is none.
    #[default]
    Type,
    /// The object.
    Object,
    /// The target; events without one have the same.
    Target,
}

impl AdmissionKeyPart {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Type, Self::Object, Self::Target];

    /// Its word in a configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Object => "object",
            Self::Target => "target",
        }
    }
}

/// A policy on a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The policy: when its lane is due.
    pub policy: Policy,
    /// A named lane instead of the policy's default.
    pub lane: Option<String>,
    /// The expression of the batch key ([`crate::cel`]), asked of the event when it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_key: Option<String>,
    /// The number of entries that makes a window due, 1 to [`MAX_ITEMS_MOST`], by the type of its first entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u16>,
    /// The time by which its entries come later than those of the inbox, in milliseconds, more than 0; who has seen
    /// the inbox's by then has none. Not for the inbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<i64>,
}

/// The greatest `max_items`.
pub const MAX_ITEMS_MOST: u16 = 10_000;

impl Route {
    /// A route of nothing but a policy.
    #[must_use]
    pub fn of(policy: Policy) -> Self {
        Self { policy, lane: None, batch_key: None, max_items: None, after_ms: None }
    }
}

/// A policy: when a lane is due (design, section 6). Durations are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// Due at once.
    Now,
    /// Due some time after the first entry.
    FirstEvent {
        /// Time that the first entry waits, more than 0.
        hold_ms: i64,
        /// The entry whose hold decides.
        decide: Decide,
    },
    /// Due some time after the newest entry.
    Cooldown {
        /// Time for which it must be quiet, more than 0.
        quiet_ms: i64,
        /// The longest wait of the first entry; `None` = no bound, which must be configured.
        max_wait_ms: Option<i64>,
    },
    /// The first entry is due at once, later ones within `quiet_ms` wait.
    Leading {
        /// The time after a message in which nothing is sent, more than 0.
        quiet_ms: i64,
    },
    /// Due on a calendar.
    Digest {
        /// Key of [`Rules::digests`].
        digest: String,
    },
    /// Nothing is queued.
    Never,
}

/// The entry whose hold decides in a `first_event` lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Decide {
    /// The first entry's (Hilary).
    First,
    /// The least `t + hold` over the entries.
    Earliest,
}

/// Retention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreRules {
    /// Days that ended this long ago or longer are deleted; more than 0.
    pub keep_ms: i64,
    /// Number of parts that the recipients are divided into, from the next start on; 1 to 16.
    pub parts: u16,
}

impl Default for StoreRules {
    fn default() -> Self {
        Self { keep_ms: 35 * DAY_MS, parts: 1 }
    }
}

impl Default for Defaults {
    fn default() -> Self {
        Self { tz: "UTC".to_owned(), locale: "en".to_owned() }
    }
}

impl TypeRules {
    /// Returns true if an entry that was seen is not sent on other channels (contract, section 2, "Defaults").
    #[must_use]
    pub fn drops_seen(&self, is_digest: bool) -> bool {
        self.drop_if_seen.unwrap_or(!(is_digest || self.required || self.urgent))
    }
}
