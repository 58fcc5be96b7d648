// Written from docs/openapi.json and docs/errors.md by the code in `generate`: change these, and run
// `TIDINGS_BLESS=1 cargo test --test generated`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Problem;
use crate::patch::Patch;
use crate::values::{OneOrMany, words};

/// Addresses by channel; null removes those of one.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct Addresses {
    /// Address of the Apple push channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub apns: Patch<OneOrMany<String>>,
    /// Address of the Discord channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub discord: Patch<String>,
    /// Address of the e-mail channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub email: Patch<String>,
    /// Address of the Firebase push channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub fcm: Patch<OneOrMany<String>>,
    /// Address of the Slack channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub slack: Patch<String>,
    /// Address of the SMS channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub sms: Patch<String>,
    /// Address of the Teams channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub teams: Patch<String>,
    /// Address of the Telegram channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub telegram: Patch<String>,
    /// Address of the webhook channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub webhook: Patch<String>,
    /// Address of the Web Push channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub webpush: Patch<OneOrMany<PushAddress>>,
}

impl Addresses {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Address of the Apple push channel.
    #[must_use]
    pub fn apns(mut self, apns: impl Into<OneOrMany<String>>) -> Self {
        self.apns = Patch::Set(apns.into());
        self
    }

    /// Removes `apns`.
    #[must_use]
    pub fn clear_apns(mut self) -> Self {
        self.apns = Patch::Clear;
        self
    }

    /// Address of the Discord channel.
    #[must_use]
    pub fn discord(mut self, discord: impl Into<String>) -> Self {
        self.discord = Patch::Set(discord.into());
        self
    }

    /// Removes `discord`.
    #[must_use]
    pub fn clear_discord(mut self) -> Self {
        self.discord = Patch::Clear;
        self
    }

    /// Address of the e-mail channel.
    #[must_use]
    pub fn email(mut self, email: impl Into<String>) -> Self {
        self.email = Patch::Set(email.into());
        self
    }

    /// Removes `email`.
    #[must_use]
    pub fn clear_email(mut self) -> Self {
        self.email = Patch::Clear;
        self
    }

    /// Address of the Firebase push channel.
    #[must_use]
    pub fn fcm(mut self, fcm: impl Into<OneOrMany<String>>) -> Self {
        self.fcm = Patch::Set(fcm.into());
        self
    }

    /// Removes `fcm`.
    #[must_use]
    pub fn clear_fcm(mut self) -> Self {
        self.fcm = Patch::Clear;
        self
    }

    /// Address of the Slack channel.
    #[must_use]
    pub fn slack(mut self, slack: impl Into<String>) -> Self {
        self.slack = Patch::Set(slack.into());
        self
    }

    /// Removes `slack`.
    #[must_use]
    pub fn clear_slack(mut self) -> Self {
        self.slack = Patch::Clear;
        self
    }

    /// Address of the SMS channel.
    #[must_use]
    pub fn sms(mut self, sms: impl Into<String>) -> Self {
        self.sms = Patch::Set(sms.into());
        self
    }

    /// Removes `sms`.
    #[must_use]
    pub fn clear_sms(mut self) -> Self {
        self.sms = Patch::Clear;
        self
    }

    /// Address of the Teams channel.
    #[must_use]
    pub fn teams(mut self, teams: impl Into<String>) -> Self {
        self.teams = Patch::Set(teams.into());
        self
    }

    /// Removes `teams`.
    #[must_use]
    pub fn clear_teams(mut self) -> Self {
        self.teams = Patch::Clear;
        self
    }

    /// Address of the Telegram channel.
    #[must_use]
    pub fn telegram(mut self, telegram: impl Into<String>) -> Self {
        self.telegram = Patch::Set(telegram.into());
        self
    }

    /// Removes `telegram`.
    #[must_use]
    pub fn clear_telegram(mut self) -> Self {
        self.telegram = Patch::Clear;
        self
    }

    /// Address of the webhook channel.
    #[must_use]
    pub fn webhook(mut self, webhook: impl Into<String>) -> Self {
        self.webhook = Patch::Set(webhook.into());
        self
    }

    /// Removes `webhook`.
    #[must_use]
    pub fn clear_webhook(mut self) -> Self {
        self.webhook = Patch::Clear;
        self
    }

    /// Address of the Web Push channel.
    #[must_use]
    pub fn webpush(mut self, webpush: impl Into<OneOrMany<PushAddress>>) -> Self {
        self.webpush = Patch::Set(webpush.into());
        self
    }

    /// Removes `webpush`.
    #[must_use]
    pub fn clear_webpush(mut self) -> Self {
        self.webpush = Patch::Clear;
        self
    }
}

/// Addresses by channel; null removes those of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AddressesOut {
    /// Address of the Apple push channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apns: Option<OneOrMany<String>>,
    /// Address of the Discord channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discord: Option<String>,
    /// Address of the e-mail channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Address of the Firebase push channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fcm: Option<OneOrMany<String>>,
    /// Address of the Slack channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack: Option<String>,
    /// Address of the SMS channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sms: Option<String>,
    /// Address of the Teams channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teams: Option<String>,
    /// Address of the Telegram channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telegram: Option<String>,
    /// Address of the webhook channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// Address of the Web Push channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webpush: Option<OneOrMany<PushAddressOut>>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Addresses by channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AddressesShown {
    /// Address of the Apple push channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apns: Option<OneOrMany<String>>,
    /// Address of the Discord channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discord: Option<String>,
    /// Address of the e-mail channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Address of the Firebase push channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fcm: Option<OneOrMany<String>>,
    /// Address of the Slack channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack: Option<String>,
    /// Address of the SMS channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sms: Option<String>,
    /// Address of the Teams channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teams: Option<String>,
    /// Address of the Telegram channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telegram: Option<String>,
    /// Address of the webhook channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// Address of the Web Push channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webpush: Option<OneOrMany<PushAddressOut>>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The preferences of a recipient, with all that a page of preferences shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AllPreferences {
    /// The categories that have types, in the order of the configuration.
    pub choices: Vec<CategoryChoice>,
    /// The times in force of the digests that let recipients choose some.
    pub digest_times: Vec<DigestTimes>,
    /// The titles of digests in the recipient's language, by name; digests without a title are left out.
    pub digests: BTreeMap<String, String>,
    /// The muted topics and objects.
    pub mutes: Vec<Mute>,
    /// The preferences that are set, mutes included.
    pub preferences: Vec<PreferenceOut>,
    /// The key by which browsers subscribe; absent if nothing is sent to browsers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<PushKey>,
    /// Quiet hours: null = none, `default` = those of each channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHoursChoiceOut>,
    /// The quiet hours in force, by channel, whether set by the recipient, the tenant or the configuration; channels
    /// without any are left out.
    pub quiet_hours_in_force: Vec<QuietHoursInForce>,
    /// The time zone of quiet hours and digests: the recipient's, else the tenant's, else the default.
    pub tz: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Attempts in a row with the same answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AttemptShown {
    /// `sent`, `retry` (surely not handed over), `failed` (refused permanently) or `unknown`; in later reports
    /// `delivered`, `delayed`, `bounced`, `complained`, `opened` or `clicked`.
    pub answer: String,
    /// Time of the first.
    pub at: String,
    /// Number of attempts.
    pub count: u32,
    /// The provider, without secrets.
    pub provider: String,
    /// The provider's answer: stage and code of a refusal, without its text, which may contain addresses; the receipt
    /// of a sent message.
    pub reply: String,
    /// Time of the last.
    pub until: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The audience of an event: the union of its fields, without the actor and without `except`.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct Audience {
    /// All recipients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub everyone: Option<bool>,
    /// Recipients to leave out by id, whatever their reasons: up to 10,000, see `[limits]`. Unknown ones are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub except: Option<Vec<String>>,
    /// Recipients within a circle, or within one of several: up to 50, see `[limits]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<OneOrMany<GeoCircle>>,
    /// Recipients by id. An object in place of an id first creates the recipient, or changes the given fields of the
    /// profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<IdOrProfile>>,
    /// Recipients who follow one of these topics, or a parent of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<String>>,
}

impl Audience {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All recipients.
    #[must_use]
    pub fn everyone(mut self, everyone: bool) -> Self {
        self.everyone = Some(everyone);
        self
    }

    /// Recipients to leave out by id, whatever their reasons: up to 10,000, see `[limits]`. Unknown ones are ignored.
    #[must_use]
    pub fn except(mut self, except: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.except = Some(except.into_iter().map(Into::into).collect());
        self
    }

    /// Recipients within a circle, or within one of several: up to 50, see `[limits]`.
    #[must_use]
    pub fn near(mut self, near: impl Into<OneOrMany<GeoCircle>>) -> Self {
        self.near = Some(near.into());
        self
    }

    /// Recipients by id. An object in place of an id first creates the recipient, or changes the given fields of the
    /// profile.
    #[must_use]
    pub fn recipients(
        mut self,
        recipients: impl IntoIterator<Item = impl Into<IdOrProfile>>,
    ) -> Self {
        self.recipients = Some(recipients.into_iter().map(Into::into).collect());
        self
    }

    /// Recipients who follow one of these topics, or a parent of it.
    #[must_use]
    pub fn topics(mut self, topics: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.topics = Some(topics.into_iter().map(Into::into).collect());
        self
    }
}

/// The audience of an event: the union of its fields, without the actor and without `except`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AudienceOut {
    /// All recipients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub everyone: Option<bool>,
    /// Recipients to leave out by id, whatever their reasons: up to 10,000, see `[limits]`. Unknown ones are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<Vec<String>>,
    /// Recipients within a circle, or within one of several: up to 50, see `[limits]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<OneOrMany<GeoCircleOut>>,
    /// Recipients by id. An object in place of an id first creates the recipient, or changes the given fields of the
    /// profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<IdOrProfileOut>>,
    /// Recipients who follow one of these topics, or a parent of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<String>>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The audience of an event on a channel: `concerned` = entries + all that are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AudienceOnChannel {
    /// Number of entries.
    pub entries: u64,
    /// Number of recipients without an entry by reason: `preference`, `once_pending`, `once_ever`.
    pub left_out: BTreeMap<String, u64>,
    /// Number of ended entries by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Number of entries that wait, are scheduled, or are being sent.
    pub pending: u64,
    /// Number of undelivered entries by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A provider, or a destination of one, that is unavailable: nothing is sent to it until its next probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AwayShown {
    /// The channel.
    pub channel: String,
    /// The host that recipients name, or the domain of mail addresses; null = the whole provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// The provider, without secrets.
    pub provider: String,
    /// Time of the next probe.
    pub until: String,
    /// Its last answer.
    pub why: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Keys of `[brand]`, with the same checks; null = that of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct BrandChange {
    /// `familiar` or `formal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Colour of links and buttons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Text at the foot of mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footer: Option<String>,
    /// Picture shown instead of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// Picture for dark mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo_dark: Option<String>,
    /// Name at the head of mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Postal address at the foot of mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_address: Option<String>,
    /// Public address at the start of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl BrandChange {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `familiar` or `formal`.
    #[must_use]
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Colour of links and buttons.
    #[must_use]
    pub fn color(mut self, color: impl Into<String>) -> Self {
        self.color = Some(color.into());
        self
    }

    /// Text at the foot of mails.
    #[must_use]
    pub fn footer(mut self, footer: impl Into<String>) -> Self {
        self.footer = Some(footer.into());
        self
    }

    /// Picture shown instead of the name.
    #[must_use]
    pub fn logo(mut self, logo: impl Into<String>) -> Self {
        self.logo = Some(logo.into());
        self
    }

    /// Picture for dark mode.
    #[must_use]
    pub fn logo_dark(mut self, logo_dark: impl Into<String>) -> Self {
        self.logo_dark = Some(logo_dark.into());
        self
    }

    /// Name at the head of mails.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Postal address at the foot of mails.
    #[must_use]
    pub fn postal_address(mut self, postal_address: impl Into<String>) -> Self {
        self.postal_address = Some(postal_address.into());
        self
    }

    /// Public address at the start of links.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }
}

/// A change of all messages of a filter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BulkChange {
    /// The most recipients that it may touch: with more it is refused. Required without `dry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
    /// The choice of messages: one parameter of `GET /v1/messages` or more, but `limit` and `cursor`. `state` and
    /// `type` may be lists.
    pub filter: Value,
    /// True = it begins at once; else after ten seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<bool>,
}

impl BulkChange {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(filter: impl Into<Value>) -> Self {
        Self { expect: None, filter: filter.into(), now: None }
    }

    /// The most recipients that it may touch: with more it is refused. Required without `dry`.
    #[must_use]
    pub fn expect(mut self, expect: u64) -> Self {
        self.expect = Some(expect);
        self
    }

    /// True = it begins at once; else after ten seconds.
    #[must_use]
    pub fn now(mut self, now: bool) -> Self {
        self.now = Some(now);
        self
    }
}

/// The result of a bulk change that was not made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BulkForeseen {
    /// The people, entries and messages that it would touch.
    pub concerns: Concerned,
    /// Always true: nothing was done.
    pub dry: bool,
    /// Messages that would stay as they are, by the status or the code that the call for each answers.
    pub left_out: BTreeMap<String, u64>,
    /// Number of messages of the filter.
    pub of: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The result of a cancel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CancelAnswer {
    /// Pending or scheduled entries that are now cancelled.
    pub cancelled: u64,
    /// With `dry`: what the call would touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concerns: Option<Concerned>,
    /// With `dry`: true, and nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry: Option<bool>,
    /// Number of events found.
    pub events: u64,
    /// Entries removed from messages that are built and not handed over yet. A message without entries is not sent.
    pub removed_from_batch: u64,
    /// `status`
    pub status: CancelStatus,
    /// Entries that can't be cancelled: they are delivered (an inbox entry at once), are being sent, or ended when
    /// their message was built.
    pub too_late: u64,
    /// A warning about a request that is accepted, but probably not intended as it is.
    pub warnings: Vec<CancelWarning>,
    /// Delivered entries that are removed from inboxes; they stay delivered.
    pub withdrawn: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The events to cancel or to withdraw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CancelKey {
    /// All events published with this key so far.
    pub cancellation_key: String,
    /// Only events of this tenant; absent = of every tenant and of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl CancelKey {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(cancellation_key: impl Into<String>) -> Self {
        Self { cancellation_key: cancellation_key.into(), tenant: None }
    }

    /// Only events of this tenant; absent = of every tenant and of none.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }
}

words! {
/// The extent of the cancel: `removed_from_batch` = entries were removed from a message; `cancelled` = only pending
/// entries were cancelled; `withdrawn` = delivered entries were removed from inboxes; `too_late` = everything was
/// delivered already; `nothing_left` = the event was cancelled before or has no recipients; `remembered` = no event
/// with this id is known, and it is cancelled if it arrives within 24 hours; `unknown` = no event with this key was
/// found.
CancelStatus {
/// `cancelled`
Cancelled = "cancelled",
/// `removed_from_batch`
RemovedFromBatch = "removed_from_batch",
/// `withdrawn`
Withdrawn = "withdrawn",
/// `too_late`
TooLate = "too_late",
/// `nothing_left`
NothingLeft = "nothing_left",
/// `remembered`
Remembered = "remembered",
/// `unknown`
Unknown = "unknown",
}
}

/// A warning about a request that is accepted, but probably not intended as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CancelWarning {
    /// The stable code: `unknown_event` or `unknown_cancellation_key`.
    pub code: String,
    /// The warning in words.
    pub detail: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A category, and the choices for all of its types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryChoice {
    /// Its name.
    pub category: String,
    /// The channels that its types have.
    pub channels: Vec<ChannelChoice>,
    /// True if no type of it can be turned off.
    pub required: bool,
    /// Its title, in the recipient's language.
    pub title: String,
    /// Its types, in the order of the configuration.
    pub types: Vec<TypeChoice>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The counts of a category, or of a tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryCounts {
    /// Number of groups with an unread item.
    pub unread: u64,
    /// Number of groups with an unseen item.
    pub unseen: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryShown {
    /// The title to show, in the default locale; the category's name if it has none.
    pub title: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The author of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangeAuthor {
    /// Id of the key or the recipient, or the name of the rest.
    pub id: String,
    /// `key`, `person`, `user` (with a token), `link`, `feed`, `provider`, `command` or `configuration`.
    pub kind: String,
    /// Role of a key or a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The subject of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangeSubject {
    /// Its id; of an address, and of an erased recipient, a keyed hash. Null = several of the kind, or the only one.
    #[serde(default)]
    pub id: Option<String>,
    /// The kind.
    pub kind: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A field that was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangedField {
    /// The value before; `"changed"` for names, addresses, data and texts, null for none.
    pub from: Value,
    /// Its name.
    pub name: String,
    /// The value after.
    pub to: Value,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The choices on a channel, and the one in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChannelChoice {
    /// The channel.
    pub channel: String,
    /// False if the recipient has no address on the channel.
    pub connected: bool,
    /// The source of the mode: a preference for the `type`, for its `category`, for all (`*`), or none (`default`).
    pub from: PreferenceLevel,
    /// The mode in force; null if the types of a category have several. Types that can be turned off decide about their
    /// category, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The modes that may be chosen: `never`, `immediate`, and digests, the most frequent first.
    pub modes: Vec<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The entries of an event on a channel, by state: entries = pending + all outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChannelFate {
    /// Number of them.
    pub entries: u64,
    /// Number of ended entries by outcome: `delivered`, `cancelled`, `skipped`, `expired`, `failed`,
    /// `unknown`.
    pub outcomes: BTreeMap<String, u64>,
    /// Number of entries that wait, are scheduled, or are being sent.
    pub pending: u64,
    /// Number of undelivered entries by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChannelShown {
    /// True if it can send messages.
    pub configured: bool,
    /// True if an operator has paused it.
    pub paused: bool,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A comparison of the configuration with itself under edits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The only channel that counts; absent = all but the inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The last days that are played, today (UTC) included.
    pub days: u32,
    /// The edits.
    pub edits: Vec<Edit>,
}

impl Comparison {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(edits: impl IntoIterator<Item = impl Into<Edit>>, days: u32) -> Self {
        Self { channel: None, days, edits: edits.into_iter().map(Into::into).collect() }
    }

    /// The only channel that counts; absent = all but the inbox.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }
}

/// A comparison that was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ComparisonBegun {
    /// Id of its job.
    pub job: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The number of people, entries and messages that a change touches, or would touch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Concerned {
    /// Number of entries that it would make, end, send or take back.
    pub entries: u64,
    /// Number of built messages that it would send, change or stop; of `flush` the number of lanes.
    pub messages: u64,
    /// Number of recipients that it would touch.
    pub people: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A fault of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConfigFault {
    /// The column in characters, counted from 1; null = the file as a whole.
    #[serde(default)]
    pub column: Option<u64>,
    /// The file.
    pub file: String,
    /// A way to fix it.
    pub hint: String,
    /// The line, counted from 1; null = the file as a whole.
    #[serde(default)]
    pub line: Option<u64>,
    /// The fault in words.
    pub reason: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The last line of the answer to a stream with `answers=problems`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counted {
    /// Number of lines that succeeded.
    pub done: u64,
    /// Number of lines read, without blank ones.
    pub lines: u64,
    /// Number of lines that failed.
    pub problems: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A day or a time: a text, or the number of a day of the month.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum DigestDay {
    /// A number.
    Number(u32),
    /// A word.
    Word(String),
}

impl From<u32> for DigestDay {
    fn from(of: u32) -> Self {
        Self::Number(of)
    }
}

impl From<&str> for DigestDay {
    fn from(id: &str) -> Self {
        Self::Word(id.to_owned())
    }
}

impl From<String> for DigestDay {
    fn from(of: String) -> Self {
        Self::Word(of)
    }
}

/// A day or a time: a text, or the number of a day of the month.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum DigestDayOut {
    /// A number.
    Number(u32),
    /// A word.
    Word(String),
    /// A form that this client does not know.
    Other(Value),
}

/// A digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DigestShown {
    /// The wall-clock time.
    pub at: String,
    /// The times that recipients may choose for themselves: `on`, `at` or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<Vec<String>>,
    /// `day`, `weekday`, `week`, `month`, or hours such as `6h`.
    pub every: String,
    /// Number of entries below which a slot is skipped, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u32>,
    /// The day of the week (`mon` to `sun`) or of the month (`1` to `31`); null for other digests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The time over which the recipients' slots are spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<String>,
    /// The time zone; null = the recipient's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// The source of a time of a digest.
DigestTimeFrom {
/// `tenant`
Tenant = "tenant",
/// `recipient`
Recipient = "recipient",
/// `default`
Default = "default",
}
}

/// The times of a digest for a recipient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DigestTimes {
    /// The time in force.
    pub at: String,
    /// The source of the time.
    pub at_from: DigestTimeFrom,
    /// The times that may be chosen: `on`, `at` or both.
    pub choose: Vec<String>,
    /// The time after a reset of the choice.
    pub default_at: String,
    /// The day after a reset of the choice: in a tenant's view the recipient's own, else the digest's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_on: Option<DigestDayOut>,
    /// The digest.
    pub digest: String,
    /// `day`, `weekday`, `week` or `month`.
    pub every: String,
    /// The day in force, `mon` to `sun`, or 1 to 31; null for daily digests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<DigestDayOut>,
    /// The source of the day.
    pub on_from: DigestTimeFrom,
    /// The time zone of both: that of the digest if it has one, else the recipient's.
    pub tz: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An item that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Done {
    /// In a stream: the line number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// `status`
    pub status: DoneStatus,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// One of the words of `DoneStatus`.
DoneStatus {
/// `done`
Done = "done",
}
}

/// The result of deleting days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DroppedDays {
    /// Number of deleted days.
    pub days: u64,
    /// Number of pending entries deleted with them; they end as expired.
    pub expired: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// All lanes, messages and events that come due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DueAnswer {
    /// Messages that wait for a retry.
    pub deferred: RetryingShown,
    /// Open lanes by hour, channel and name; lanes that are never due come last.
    pub lanes: Vec<DueHour>,
    /// Nodes of a cluster that did not answer: their shards are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// Events published with `deliver_at`.
    pub scheduled: Scheduled,
    /// Messages that are built and have no outcome yet, deferred ones included.
    pub sending: u64,
    /// Messages that are due and not built yet.
    pub unmade: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Lanes of one name that are due within one hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DueHour {
    /// The channel.
    pub channel: String,
    /// Number of recipients whose lane stays open when it is due: unconfirmed or paused.
    pub held: u64,
    /// The hour (UTC) in which they are due; null = none at present, such as while a type is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<String>,
    /// Name of the lane.
    pub lane: String,
    /// Number of recipients.
    pub recipients: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Durations, each within 5 %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Durations {
    /// Number of them.
    pub n: u64,
    /// The median, in milliseconds; null = there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<i64>,
    /// The 95th percentile, in milliseconds; null = there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<i64>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An edit of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Edit {
    /// The dotted key, as TOML writes it, under `types`, `categories`, `digests` or `caps`; the index of an item of an
    /// array is a name, as in `caps.0.max`.
    pub key: String,
    /// Its value; null removes the key.
    pub value: Value,
}

impl Edit {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

/// Edits of the configuration, made one after the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Edits {
    /// The edits.
    pub edits: Vec<Edit>,
}

impl Edits {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(edits: impl IntoIterator<Item = impl Into<Edit>>) -> Self {
        Self { edits: edits.into_iter().map(Into::into).collect() }
    }
}

/// The result of a check of edits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EditsChecked {
    /// The edits as a unified diff of the file without context, for `git apply --unidiff-zero` or `patch`; empty = they
    /// change nothing.
    pub diff: String,
    /// The faults of the configuration with the edits, as `tidings check --json` prints them; none = it may be put in
    /// force.
    pub faults: Vec<ConfigFault>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Counts of entries by outcome, without scheduled ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EntriesCounted {
    /// All entries that entered a lane.
    pub all: u64,
    /// Number of ended entries by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Number of entries that wait or are being sent; null while nodes are `missing`, since their entries may wait too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// Number of undelivered entries by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The trace of an erasure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErasureReceipt {
    /// Id of the line in the log of changes.
    pub id: String,
    /// The keyed hash that stands for the id of the person in all lines of the log.
    pub subject: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An event: something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The actor, who caused the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<IdOrObject>,
    /// Text that a person wrote, such as a comment: plain, at most 2 KiB, or an object with a text for each locale.
    /// Messages and inboxes show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<HostText>,
    /// A key to cancel several events at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancellation_key: Option<String>,
    /// The channels to use, of those of the type; `["inbox"]` imports a history without sending mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// Data of the host, returned with the inbox item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Duration after its arrival before which nothing is delivered, such as `90s`, `36h` or `PT4M`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// Time before which nothing is delivered; at most one of `deliver_at`, `delay` and `deliver_local`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliver_at: Option<String>,
    /// Time on each recipient's wall clock before which nothing is delivered, such as `2024-05-01T09:00`. If it has
    /// passed, the event is delivered at its arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliver_local: Option<String>,
    /// Time after which nothing is delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Id of the event: the same id is the same event. Generated by the server if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The object that the event is about.
    pub object: EventObject,
    /// Time of the event that people are shown. It has no effect on delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
    /// Rank among the events of a message: the highest is shown first; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The target: the place or the purpose of the event, such as the thread of a comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<IdOrObject>,
    /// The tenant of the event and of all its notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The audience.
    pub to: Audience,
    /// The W3C `traceparent` of the event's cause, to which the spans of its messages link; that of the request if
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// A type of the configuration.
    #[serde(rename = "type")]
    pub type_: String,
}

impl Event {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(
        type_: impl Into<String>,
        object: impl Into<EventObject>,
        to: impl Into<Audience>,
    ) -> Self {
        Self {
            actor: None,
            body: None,
            cancellation_key: None,
            channels: None,
            data: None,
            delay: None,
            deliver_at: None,
            deliver_local: None,
            expires_at: None,
            id: None,
            object: object.into(),
            occurred_at: None,
            score: None,
            target: None,
            tenant: None,
            to: to.into(),
            trace: None,
            type_: type_.into(),
        }
    }

    /// The actor, who caused the event.
    #[must_use]
    pub fn actor(mut self, actor: impl Into<IdOrObject>) -> Self {
        self.actor = Some(actor.into());
        self
    }

    /// Text that a person wrote, such as a comment: plain, at most 2 KiB, or an object with a text for each locale.
    /// Messages and inboxes show it.
    #[must_use]
    pub fn body(mut self, body: impl Into<HostText>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// A key to cancel several events at once.
    #[must_use]
    pub fn cancellation_key(mut self, cancellation_key: impl Into<String>) -> Self {
        self.cancellation_key = Some(cancellation_key.into());
        self
    }

    /// The channels to use, of those of the type; `["inbox"]` imports a history without sending mail.
    #[must_use]
    pub fn channels(mut self, channels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.channels = Some(channels.into_iter().map(Into::into).collect());
        self
    }

    /// Data of the host, returned with the inbox item.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// Duration after its arrival before which nothing is delivered, such as `90s`, `36h` or `PT4M`.
    #[must_use]
    pub fn delay(mut self, delay: impl Into<String>) -> Self {
        self.delay = Some(delay.into());
        self
    }

    /// Time before which nothing is delivered; at most one of `deliver_at`, `delay` and `deliver_local`.
    #[must_use]
    pub fn deliver_at(mut self, deliver_at: impl Into<String>) -> Self {
        self.deliver_at = Some(deliver_at.into());
        self
    }

    /// Time on each recipient's wall clock before which nothing is delivered, such as `2024-05-01T09:00`. If it has
    /// passed, the event is delivered at its arrival.
    #[must_use]
    pub fn deliver_local(mut self, deliver_local: impl Into<String>) -> Self {
        self.deliver_local = Some(deliver_local.into());
        self
    }

    /// Time after which nothing is delivered.
    #[must_use]
    pub fn expires_at(mut self, expires_at: impl Into<String>) -> Self {
        self.expires_at = Some(expires_at.into());
        self
    }

    /// Id of the event: the same id is the same event. Generated by the server if absent.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Time of the event that people are shown. It has no effect on delivery.
    #[must_use]
    pub fn occurred_at(mut self, occurred_at: impl Into<String>) -> Self {
        self.occurred_at = Some(occurred_at.into());
        self
    }

    /// Rank among the events of a message: the highest is shown first; 0 if absent.
    #[must_use]
    pub fn score(mut self, score: f64) -> Self {
        self.score = Some(score);
        self
    }

    /// The target: the place or the purpose of the event, such as the thread of a comment.
    #[must_use]
    pub fn target(mut self, target: impl Into<IdOrObject>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// The tenant of the event and of all its notifications.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// The W3C `traceparent` of the event's cause, to which the spans of its messages link; that of the request if
    /// absent.
    #[must_use]
    pub fn trace(mut self, trace: impl Into<String>) -> Self {
        self.trace = Some(trace.into());
        self
    }
}

/// Id of an event, or an event that is not published.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum EventInQuestion {
    /// As `Event`.
    Event(Event),
    /// An id alone.
    Id(String),
}

impl From<Event> for EventInQuestion {
    fn from(of: Event) -> Self {
        Self::Event(of)
    }
}

impl From<&str> for EventInQuestion {
    fn from(id: &str) -> Self {
        Self::Id(id.to_owned())
    }
}

impl From<String> for EventInQuestion {
    fn from(of: String) -> Self {
        Self::Id(of)
    }
}

/// The answer to a line of a stream of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum EventLineAnswer {
    /// As `PublishedEvent`.
    PublishedEvent(PublishedEvent),
    /// As `Counted`.
    Counted(Counted),
    /// As `Rejected`.
    Rejected(Rejected),
    /// A form that this client does not know.
    Other(Value),
}

/// An object in an event. The given fields replace the stored ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventObject {
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub data: Patch<Value>,
    /// Id of the object.
    pub id: String,
    /// A picture: an address as `url`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub image: Patch<String>,
    /// Size of the picture; removed by a new `image` without one.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub image_size: Patch<ImageSize>,
    /// A title to show, at most 1 KiB, or an object with a title for each locale.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub title: Patch<HostText>,
    /// Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB. Links are percent-encoded.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub url: Patch<String>,
}

impl EventObject {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            data: Patch::Keep,
            id: id.into(),
            image: Patch::Keep,
            image_size: Patch::Keep,
            title: Patch::Keep,
            url: Patch::Keep,
        }
    }

    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Patch::Set(data.into());
        self
    }

    /// Removes `data`.
    #[must_use]
    pub fn clear_data(mut self) -> Self {
        self.data = Patch::Clear;
        self
    }

    /// A picture: an address as `url`.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = Patch::Set(image.into());
        self
    }

    /// Removes `image`.
    #[must_use]
    pub fn clear_image(mut self) -> Self {
        self.image = Patch::Clear;
        self
    }

    /// Size of the picture; removed by a new `image` without one.
    #[must_use]
    pub fn image_size(mut self, image_size: impl Into<ImageSize>) -> Self {
        self.image_size = Patch::Set(image_size.into());
        self
    }

    /// Removes `image_size`.
    #[must_use]
    pub fn clear_image_size(mut self) -> Self {
        self.image_size = Patch::Clear;
        self
    }

    /// A title to show, at most 1 KiB, or an object with a title for each locale.
    #[must_use]
    pub fn title(mut self, title: impl Into<HostText>) -> Self {
        self.title = Patch::Set(title.into());
        self
    }

    /// Removes `title`.
    #[must_use]
    pub fn clear_title(mut self) -> Self {
        self.title = Patch::Clear;
        self
    }

    /// Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB. Links are percent-encoded.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Patch::Set(url.into());
        self
    }

    /// Removes `url`.
    #[must_use]
    pub fn clear_url(mut self) -> Self {
        self.url = Patch::Clear;
        self
    }
}

impl From<&str> for EventObject {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for EventObject {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// An object in an event. The given fields replace the stored ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventObjectOut {
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// Id of the object.
    pub id: String,
    /// A picture: an address as `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Size of the picture; removed by a new `image` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_size: Option<ImageSizeOut>,
    /// A title to show, at most 1 KiB, or an object with a title for each locale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<HostTextOut>,
    /// Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB. Links are percent-encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The result of one event of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum EventOutcome {
    /// As `PublishedEvent`.
    PublishedEvent(PublishedEvent),
    /// As `Rejected`.
    Rejected(Rejected),
    /// A form that this client does not know.
    Other(Value),
}

/// A recipient whom the audience of an event reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventRecipient {
    /// The fates of their notifications, by channel: each channel of the type that the event allows.
    pub channels: BTreeMap<String, RecipientFate>,
    /// Id of the recipient.
    pub recipient: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A page of an event's recipients, by the bytes of their ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventRecipientsPage {
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// The recipients.
    pub recipients: Vec<EventRecipient>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A warning about an event that is accepted, but probably not intended as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventWarning {
    /// The stable code: `unknown_recipient`; `no_followers`, `only_exceptions`, `only_the_actor`, `nobody_near` or
    /// `nobody_concerned` if the audience is empty; `already_expired`, `expires_before_delivery`; `differs` for an id
    /// that was used before for another event; or `more_warnings` in place of many.
    pub code: String,
    /// The problem in words.
    pub detail: String,
    /// A way to fix it.
    pub hint: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An event with its outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventWithOutcome {
    /// Time of acceptance.
    pub arrived_at: String,
    /// Its entries by channel; empty if the audience was empty.
    pub channels: BTreeMap<String, ChannelFate>,
    /// `event`
    pub event: PublishedAs,
    /// Nodes of a cluster that did not answer: the counts lack their shards. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// Number of recipients with at least one entry when it was accepted.
    pub notifications: u64,
    /// Time at which it enters its lanes; null = it has entered them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_for: Option<String>,
    /// Number of recipients left out by the admission of its type, by reason: `once_pending`, `once_ever`.
    pub suppressed: BTreeMap<String, u64>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A page of events, newest first by arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventsPage {
    /// The events.
    pub events: Vec<ListedEvent>,
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The event and the recipient of an explanation; without a recipient it is about the whole audience.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explain {
    /// Id of an event, or a hypothetical event in the form of a publish.
    pub event: EventInQuestion,
    /// Id of the recipient; absent = the whole audience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
}

impl Explain {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(event: impl Into<EventInQuestion>) -> Self {
        Self { event: event.into(), recipient: None }
    }

    /// Id of the recipient; absent = the whole audience.
    #[must_use]
    pub fn recipient(mut self, recipient: impl Into<String>) -> Self {
        self.recipient = Some(recipient.into());
        self
    }
}

/// The path of an event to a recipient, rule by rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explained {
    /// The time as of which it is explained.
    pub as_of: String,
    /// The channels of the event; empty if an earlier rule left the recipient out.
    pub channels: Vec<ExplainedChannel>,
    /// The event.
    pub event: String,
    /// The recipient.
    pub recipient: String,
    /// The rules that hold for all channels, in their order.
    pub steps: Vec<ExplainedStep>,
    /// True if the event was not published.
    pub supposed: bool,
    /// Its tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An event over its audience: counts by channel, outcome and reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedAudience {
    /// The time as of which it is told.
    pub as_of: String,
    /// The channels of its type that it allows.
    pub channels: BTreeMap<String, AudienceOnChannel>,
    /// Number of recipients in its audience.
    pub concerned: u64,
    /// The event.
    pub event: String,
    /// Nodes of a cluster whose shards are left out. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// Number of recipients with at least one entry when it was accepted.
    pub notifications: u64,
    /// True if the event was not published.
    pub supposed: bool,
    /// Its tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The path of an event on one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedChannel {
    /// The time at which it ended, is due or enters its lane; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The channel.
    pub channel: String,
    /// The reason why it was not delivered, as in the outcome of an event; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `none` (no entry), `scheduled`, `pending`, `sending`, or the outcome.
    pub state: String,
    /// The rules, in their order.
    pub steps: Vec<ExplainedStep>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A rule that was applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedStep {
    /// The time at which it was applied, or that it set; null = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// True if it is the last: there is no entry, or the entry ended here.
    pub ends: bool,
    /// The inputs of the rule, in words.
    pub looked_at: String,
    /// The result, in words.
    pub result: String,
    /// The rule.
    pub rule: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An explanation for one recipient, or for the whole audience.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Explanation {
    /// As `Explained`.
    Explained(Explained),
    /// As `ExplainedAudience`.
    ExplainedAudience(ExplainedAudience),
    /// A form that this client does not know.
    Other(Value),
}

/// A tenant of which a recipient is a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExportedMembership {
    /// The tenant.
    pub tenant: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A topic that a recipient follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExportedSubscription {
    /// The tenant of the topic; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The topic.
    pub topic: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A feed: a database from which events are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Feed {
    /// The reason why it is not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Age of the oldest row that waits, in milliseconds; 0 = none waits, null = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_ms: Option<u64>,
    /// Its name in the configuration.
    pub name: String,
    /// Number of the newest row that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<String>,
    /// Number of rows that are parked in the table with their problem.
    pub parked: u64,
    /// `running`; `failing` while its table can't be read (retried; `fault` has the reason); `paused`; `stopped` if
    /// somebody has to fix something first.
    pub state: String,
    /// Number of rows taken since the server started.
    pub taken: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Figures of some days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Figures {
    /// Time up to which all shards have counted; null = nothing has happened yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_to: Option<String>,
    /// Days whose rows are not kept, or on which counting had not begun.
    pub days_without: Vec<String>,
    /// First day.
    pub from: String,
    /// The rows, in the order of `by`, without those of zeros.
    pub rows: Vec<FiguresRow>,
    /// The day after the last.
    pub to: String,
    /// The zone of days and hours.
    pub zone: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A row of figures: the parts of its name that `by` gives, and the measures that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FiguresRow {
    /// Category of the type as it is configured now; null = the type is not configured any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Channel; null = what is counted once an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Day in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// Time from an entry's `t` to being sent, of told items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Durations>,
    /// Of these entries, those that ended, by outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<BTreeMap<String, u64>>,
    /// Entries (a notification on a channel), on the day on which they entered their lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Accepted events, on the day of their arrival; null = a channel is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Hour in UTC, by its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<String>,
    /// Entries that messages told, on the day on which the message was due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// Messages by final state, on the day on which they were due, for the type of their first entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<BTreeMap<String, u64>>,
    /// Times that a user, or a link, set `never` and it reached the type, on the day of the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub muted: Option<u64>,
    /// Pairs of an event and a recipient with an entry, on the day of the event's arrival; null = a channel is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications: Option<u64>,
    /// Inbox items that were read, on the day of their entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Of these entries, those that were not delivered, by reason; reasons without one are absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasons: Option<BTreeMap<String, u64>>,
    /// Messages of which providers reported something later, once each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<BTreeMap<String, u64>>,
    /// Messages that were sent again after an unknown outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resent: Option<u64>,
    /// Inbox items that were seen, on the day of their entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
    /// Tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Time from being told to being seen first, of inbox items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_to_seen: Option<Durations>,
    /// Type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The lanes to flush; all open lanes if empty.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct FlushLimits {
    /// Only lanes of this channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Only lanes with this batch key; empty = lanes without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Only lanes of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Only lanes of this tenant and those without a tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl FlushLimits {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only lanes of this channel.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// Only lanes with this batch key; empty = lanes without one.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Only lanes of this name.
    #[must_use]
    pub fn lane(mut self, lane: impl Into<String>) -> Self {
        self.lane = Some(lane.into());
        self
    }

    /// Only lanes of this tenant and those without a tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }
}

/// The marker of a flush.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Flushed {
    /// With `dry`: what the call would touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concerns: Option<Concerned>,
    /// With `dry`: true, and nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry: Option<bool>,
    /// Number of open lanes that are due now, each of which becomes a message; 0 if nothing waited.
    pub lanes: u64,
    /// Position in the order of events; everything after it is new. The marker of an earlier flush means that nothing
    /// was pending.
    pub marker: String,
    /// The scheduled entries, which are in no lane yet and not sent now; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<ScheduledCount>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A follower of a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Follower {
    /// Id of the recipient.
    pub recipient: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A page of the followers of a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FollowersBody {
    /// Number of all followers of the topic.
    pub count: u64,
    /// The followers, sorted by the bytes of their ids.
    pub followers: Vec<Follower>,
    /// Nodes of a cluster that did not answer: their rows are left out and not counted. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one, since a
    /// page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The days to delete.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForgetDays {
    /// The first day (UTC) that is kept.
    pub before: String,
}

impl ForgetDays {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(before: impl Into<String>) -> Self {
        Self { before: before.into() }
    }
}

words! {
/// A kind of what is found.
FoundKind {
/// `recipient`
Recipient = "recipient",
/// `event`
Event = "event",
/// `message`
Message = "message",
/// `object`
Object = "object",
/// `topic`
Topic = "topic",
/// `tenant`
Tenant = "tenant",
/// `type`
Type = "type",
}
}

/// A circle on the map.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GeoCircle {
    /// Radius in kilometres.
    pub km: f64,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
}

impl GeoCircle {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(lat: f64, lon: f64, km: f64) -> Self {
        Self { km, lat, lon }
    }
}

/// A circle on the map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GeoCircleOut {
    /// Radius in kilometres.
    pub km: f64,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A browser's subscription that ends; its endpoint is enough.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GonePushSubscription {
    /// Address of the browser's push service.
    pub endpoint: String,
}

impl GonePushSubscription {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(endpoint: impl Into<String>) -> Self {
        Self { endpoint: endpoint.into() }
    }
}

/// A group: items of one type about one thing on one day, of one tenant or of none. Read items are in a group of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Group {
    /// The actors of the listed items, each once, newest first.
    pub actors: Vec<String>,
    /// True if it is archived.
    pub archived: bool,
    /// Number of items, listed or not.
    pub count: u64,
    /// The newest items, newest first, at most 25.
    pub items: Vec<Item>,
    /// Key of the group, unique in this inbox.
    pub key: String,
    /// The language that `text` is in.
    pub lang: String,
    /// Time of its position: that of the newest item, or of its return from a snooze.
    pub newest_at: String,
    /// Its position: groups are in falling order of these texts, compared by bytes.
    pub order: String,
    /// True if all items were read.
    pub read: bool,
    /// True if all items were seen.
    pub seen: bool,
    /// The earliest end of a snooze; null = not snoozed.
    #[serde(default)]
    pub snoozed_until: Option<String>,
    /// The tenant of its items; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The name of the tenant; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_name: Option<String>,
    /// The sentence of its type, plain, in the recipient's language.
    pub text: String,
    /// The type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// The reason why a due lane or message is held.
HeldBy {
/// `paused`
Paused = "paused",
/// `unconfirmed`
Unconfirmed = "unconfirmed",
}
}

/// The reason why a message is held: its destination, or all providers of its channel, are unavailable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeldShown {
    /// The channel, if all of its providers are unavailable; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The host that the recipient names, or the domain of the mail address; absent = the whole channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// Its last answer.
    pub reason: String,
    /// Time of the next attempt to send any message to it.
    pub until: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hook {
    /// Number of occurrences that are still to be sent to it.
    pub backlog: u64,
    /// The last answer; absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<HookAnswer>,
    /// Its name.
    pub name: String,
    /// `on`, or `off` after it answered 410.
    pub state: HookState,
    /// The address that is called.
    pub url: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The last answer of a hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookAnswer {
    /// Its time.
    pub at: String,
    /// Its HTTP status; 0 = there was no answer.
    pub status: u32,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// The state of a hook.
HookState {
/// `on`
On = "on",
/// `off`
Off = "off",
}
}

/// A text for all languages, or an object with a text for each locale (BCP 47). A message shows the text in its language.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum HostText {
    /// One text for all languages.
    Text(String),
    /// A text for each of some locales.
    ByLocale(BTreeMap<String, String>),
}

impl From<&str> for HostText {
    fn from(id: &str) -> Self {
        Self::Text(id.to_owned())
    }
}

impl From<String> for HostText {
    fn from(of: String) -> Self {
        Self::Text(of)
    }
}

impl From<BTreeMap<String, String>> for HostText {
    fn from(of: BTreeMap<String, String>) -> Self {
        Self::ByLocale(of)
    }
}

/// A text for all languages, or an object with a text for each locale (BCP 47). A message shows the text in its language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum HostTextOut {
    /// One text for all languages.
    Text(String),
    /// A text for each of some locales.
    ByLocale(BTreeMap<String, String>),
    /// A form that this client does not know.
    Other(Value),
}

/// An id, or an object with an id and more fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum IdOrObject {
    /// As `EventObject`.
    EventObject(EventObject),
    /// An id alone.
    Id(String),
}

impl From<EventObject> for IdOrObject {
    fn from(of: EventObject) -> Self {
        Self::EventObject(of)
    }
}

impl From<&str> for IdOrObject {
    fn from(id: &str) -> Self {
        Self::Id(id.to_owned())
    }
}

impl From<String> for IdOrObject {
    fn from(of: String) -> Self {
        Self::Id(of)
    }
}

/// An id alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum IdOrProfile {
    /// An id alone.
    Id(String),
    /// As `RecipientChange`.
    RecipientChange(RecipientChange),
}

impl From<&str> for IdOrProfile {
    fn from(id: &str) -> Self {
        Self::Id(id.to_owned())
    }
}

impl From<String> for IdOrProfile {
    fn from(of: String) -> Self {
        Self::Id(of)
    }
}

impl From<RecipientChange> for IdOrProfile {
    fn from(of: RecipientChange) -> Self {
        Self::RecipientChange(of)
    }
}

/// An id alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum IdOrProfileOut {
    /// An id alone.
    Id(String),
    /// As `RecipientChange`.
    RecipientChange(RecipientChangeOut),
    /// A form that this client does not know.
    Other(Value),
}

/// The size of a picture in pixels, by which mails arrange pictures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ImageSize {
    /// Height.
    pub height: u32,
    /// Width.
    pub width: u32,
}

impl ImageSize {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self { height, width }
    }
}

/// The size of a picture in pixels, by which mails arrange pictures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ImageSizeOut {
    /// Height.
    pub height: u32,
    /// Width.
    pub width: u32,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The counts of an inbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InboxCounts {
    /// The same for each category, by its name.
    pub categories: BTreeMap<String, CategoryCounts>,
    /// Revision: the answer with the higher number is newer.
    pub rev: u64,
    /// The same for each tenant with unread items, by tenant id; absent in the view of one tenant, and if tenants are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<BTreeMap<String, CategoryCounts>>,
    /// Number of groups with an unread item, in the whole inbox.
    pub unread: u64,
    /// Number of groups with an unseen item, in the whole inbox: the badge.
    pub unseen: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Item {
    /// The actor as it is now; absent if the event has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<ItemObject>,
    /// True if it is archived.
    pub archived: bool,
    /// The event's `body`; null = it has none.
    #[serde(default)]
    pub body: Option<String>,
    /// The category of the type; absent if the type is no longer configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The event's `data`; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// The event.
    pub event: String,
    /// The language that `text` is in.
    pub lang: String,
    /// The object as it is now.
    pub object: ItemObject,
    /// The event's `occurred_at`, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
    /// True if it was read.
    pub read: bool,
    /// The reasons why this recipient was notified: `everyone`, `named`, `near`, or `topic:` and a topic that they
    /// follow.
    pub reasons: Vec<String>,
    /// True if it was seen.
    pub seen: bool,
    /// The end of its snooze; null = not snoozed.
    #[serde(default)]
    pub snoozed_until: Option<String>,
    /// Time at which it entered the inbox.
    pub t: String,
    /// The target as it is now; absent if the event has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<ItemObject>,
    /// Its tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The sentence of its type, plain, in the recipient's language.
    pub text: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The answer to an item of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ItemAnswer {
    /// As `Rejected`.
    Rejected(Rejected),
    /// As `Done`.
    Done(Done),
    /// A form that this client does not know.
    Other(Value),
}

/// An object, an actor or a target as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ItemObject {
    /// Data of the host about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// Its id.
    pub id: String,
    /// Address of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// A title to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Address of its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The items to mark: exactly one of `event`, `object`, `group`, `up_to` and `all`.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct Items {
    /// True = all items so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
    /// With `up_to` or `all`: only items of this category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The item of this event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// For a snooze: its duration, `1m` to `365d`.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub for_: Option<String>,
    /// The items of the group with this key, as a page shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// All items about this object that entered so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Only items of this tenant and those without a tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// With `up_to` or `all`: only items of this type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// For a snooze: its end, at most 365 days ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// All items up to this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to: Option<String>,
}

impl Items {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// True = all items so far.
    #[must_use]
    pub fn all(mut self, all: bool) -> Self {
        self.all = Some(all);
        self
    }

    /// With `up_to` or `all`: only items of this category.
    #[must_use]
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.category = Some(category.into());
        self
    }

    /// The item of this event.
    #[must_use]
    pub fn event(mut self, event: impl Into<String>) -> Self {
        self.event = Some(event.into());
        self
    }

    /// For a snooze: its duration, `1m` to `365d`.
    #[must_use]
    pub fn for_(mut self, for_: impl Into<String>) -> Self {
        self.for_ = Some(for_.into());
        self
    }

    /// The items of the group with this key, as a page shows it.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// All items about this object that entered so far.
    #[must_use]
    pub fn object(mut self, object: impl Into<String>) -> Self {
        self.object = Some(object.into());
        self
    }

    /// Only items of this tenant and those without a tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// With `up_to` or `all`: only items of this type.
    #[must_use]
    pub fn type_(mut self, type_: impl Into<String>) -> Self {
        self.type_ = Some(type_.into());
        self
    }

    /// For a snooze: its end, at most 365 days ahead.
    #[must_use]
    pub fn until(mut self, until: impl Into<String>) -> Self {
        self.until = Some(until.into());
        self
    }

    /// All items up to this time.
    #[must_use]
    pub fn up_to(mut self, up_to: impl Into<String>) -> Self {
        self.up_to = Some(up_to.into());
        self
    }
}

/// A job that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobMade {
    /// Its id.
    pub job: String,
    /// Number of its messages.
    pub of: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The maker of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobMaker {
    /// The id, such as that of the key; `dev` of the key of `serve --dev`.
    pub id: String,
    /// As in the log of changes, such as `key`.
    pub kind: String,
    /// The role of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A page of jobs, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<JobShown>,
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobShown {
    /// Time at which it was made.
    pub at: String,
    /// Time at which it began; absent = not yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
    /// Its author; absent = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<JobMaker>,
    /// Number of messages that were changed, or of lines that were played.
    pub done: u64,
    /// Time at which it ended; absent = not yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The filter that chose its messages; absent = it is none of messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Map<String, Value>>,
    /// Its id.
    pub id: String,
    /// Messages that stayed as they were, by the status or the code that the call for each answers. With `done` they
    /// add up to `of` in the end.
    pub left_out: BTreeMap<String, u64>,
    /// Number of its messages; of a comparison the number of lines that are played, 0 while they are gathered.
    pub of: u64,
    /// The reason why a comparison that nobody stopped has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The figures of both configurations of a comparison, `current` and `proposed`, as `tidings simulate --compare --json`
    /// prints them; absent = it is none, or has none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Vec<Map<String, Value>>>,
    /// `waiting`, `running`, `done` or `stopped`.
    pub state: String,
    /// The change: `retry`, `cancel` or `resend`; or `compare`.
    pub verb: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Data that an erasure leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeptData {
    /// The time at which the last of it is deleted; null = it is kept for good.
    #[serde(default)]
    pub until: Option<String>,
    /// `events` (which may name the person as their actor), `messages` (without their recipient), `log` (with a keyed hash for the id) or `suppressions`.
    pub what: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An API key that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyMade {
    /// Its id; no secret.
    pub id: String,
    /// The time when it was made.
    pub made: String,
    /// The name given to it; may be empty.
    pub name: String,
    /// Its role.
    pub role: RoleName,
    /// The key itself, which is stored nowhere; absent in the stored answer to an earlier request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An API key, without the key itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyShown {
    /// Its id; no secret.
    pub id: String,
    /// The time when it was made.
    pub made: String,
    /// The name given to it; may be empty.
    pub name: String,
    /// Its role.
    pub role: RoleName,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A new API key.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct KeyToMake {
    /// A name to recognise it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its role; `admin` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
}

impl KeyToMake {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A name to recognise it by.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Its role; `admin` if absent.
    #[must_use]
    pub fn role(mut self, role: impl Into<RoleName>) -> Self {
        self.role = Some(role.into());
        self
    }
}

/// The API keys that are accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeysAnswer {
    /// By when they were made.
    pub keys: Vec<KeyShown>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A notification that a message leaves out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The event.
    pub event: String,
    /// The reason, as in the outcome of an event.
    pub reason: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The answer to a line of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LineAnswer {
    /// As `Counted`.
    Counted(Counted),
    /// As `Rejected`.
    Rejected(Rejected),
    /// As `Done`.
    Done(Done),
    /// A form that this client does not know.
    Other(Value),
}

/// An event in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListedEvent {
    /// Id of the actor.
    #[serde(default)]
    pub actor: Option<String>,
    /// Time of its arrival.
    pub arrived_at: String,
    /// The fates of the recipient's notifications, by channel: each channel of the type that the event allows. Absent
    /// without `recipient`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<BTreeMap<String, RecipientFate>>,
    /// Id of the event.
    pub id: String,
    /// Id of the object.
    pub object: String,
    /// Id of the target.
    #[serde(default)]
    pub target: Option<String>,
    /// Its tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A recipient in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListedRecipient {
    /// Id of the recipient.
    pub id: String,
    /// Name to show.
    #[serde(default)]
    pub name: Option<String>,
    /// The state.
    pub state: RecipientState,
    /// The tenants of which the recipient is a member, sorted by the bytes of their ids; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Vec<String>>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A page of the log of changes, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogPage {
    /// The lines.
    pub log: Vec<LoggedChange>,
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoggedChange {
    /// The name of the call, or `configuration.loaded`, `suppressed`, `data.exported`, `store.restored` and the like.
    pub action: String,
    /// Time of the change.
    pub at: String,
    /// The author.
    pub by: ChangeAuthor,
    /// Number of changes, where a line is about those of a whole commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The fields that were changed.
    pub fields: Vec<ChangedField>,
    /// Id of the line.
    pub id: String,
    /// The request's `X-Request-Id`, or the trace that it is of; absent = neither was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The result in a word: `done`, or what a cancel came to.
    pub result: String,
    /// The subject.
    pub subject: ChangeSubject,
    /// The tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The way in: `api`, `console`, `mcp`, `page`, or `cli` for a process that opened the store itself.
    pub via: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// The way in which a hit matched: by its id; as the message of a mail's tag; as an event with this cancellation key; as a
/// recipient who has the address, or had it within `keep`.
Matched {
/// `id`
Id = "id",
/// `tag`
Tag = "tag",
/// `cancellation_key`
CancellationKey = "cancellation_key",
/// `address`
Address = "address",
/// `former_address`
FormerAddress = "former_address",
}
}

/// A member of a tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Member {
    /// Id of the recipient.
    pub id: String,
    /// Name to show.
    #[serde(default)]
    pub name: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A membership to add or to remove.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MemberChange {
    /// Id of the recipient.
    pub recipient: String,
    /// True = remove the membership.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove: Option<bool>,
}

impl MemberChange {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(recipient: impl Into<String>) -> Self {
        Self { recipient: recipient.into(), remove: None }
    }

    /// True = remove the membership.
    #[must_use]
    pub fn remove(mut self, remove: bool) -> Self {
        self.remove = Some(remove);
        self
    }
}

/// A page of members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MembersPage {
    /// The members, sorted by the bytes of their ids.
    pub members: Vec<Member>,
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The content of a message as its reader sees it. Each channel has some of the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessageContent {
    /// HTML of a mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Number of parts of a text message that are paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// Subject of a mail; title of a push message, or of a card in Teams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The words: the plain text of a mail, all of a text message with its link, the body of a webhook's request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A message with its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessageDetails {
    /// Time at which it was built, which fixed its content; null = not built yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<String>,
    /// The channel.
    pub channel: String,
    /// Time at which its lane was due.
    pub due: String,
    /// Time of its outcome; null = none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Number of its notifications; null = not built yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Number of failed attempts of a message that is retried, else 0.
    pub failed_attempts: u32,
    /// The unavailable destination or channel that holds it; absent = none known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldShown>,
    /// Its id.
    pub id: String,
    /// Batch key of the lane; absent = empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The lane.
    pub lane: String,
    /// Time of the next attempt; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try: Option<String>,
    /// The reason why it was not handed over; null = it was, or the outcome is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The recipient; null = erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// `planned` (due, not built yet), `sending`, `retrying` (an attempt failed, another one follows), `sent`,
    /// `failed`, `unknown` (it may or may not have been handed over), `suppressed` (the checks before sending left no
    /// notification) or `cancelled` (all notifications were removed).
    pub state: String,
    /// Tenant of its notifications; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Attempts to hand it over that the provider answered, and later reports, in their order.
    pub attempts: Vec<AttemptShown>,
    /// The id by which the provider and the log know it; null = it has no content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// Its notifications. Those of deleted days are left out.
    pub items: Vec<MessageItem>,
    /// Notifications that the checks before sending left out, or that were removed later.
    pub left_out: Vec<LeftOut>,
    /// Its history in order: the entries of its lane (the first 100), the rules that decided its time, attempts,
    /// outcomes.
    pub timeline: Vec<ExplainedStep>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A notification in a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessageItem {
    /// The event.
    pub event: String,
    /// Its object.
    pub object: String,
    /// The reasons for which the recipient got it.
    pub reasons: Vec<String>,
    /// Time at which it entered its lane.
    pub t: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A page of messages, newest first by `due`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<MessageShown>,
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A message as it looks, built again now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessagePreview {
    /// HTML of a mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Number of parts of a text message that are paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// Subject of a mail; title of a push message, or of a card in Teams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The words: the plain text of a mail, all of a text message with its link, the body of a webhook's request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its channel.
    pub channel: String,
    /// False if what was sent looked different: an object, the recipient or the configuration has changed since. Null
    /// if there is nothing to compare: the message is not built, has no notifications left, was not handed to a
    /// provider yet, or was by a version that kept no hash of its content.
    #[serde(default)]
    pub same: Option<bool>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A message to one recipient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessageShown {
    /// Time at which it was built, which fixed its content; null = not built yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<String>,
    /// The channel.
    pub channel: String,
    /// Time at which its lane was due.
    pub due: String,
    /// Time of its outcome; null = none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Number of its notifications; null = not built yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Number of failed attempts of a message that is retried, else 0.
    pub failed_attempts: u32,
    /// The unavailable destination or channel that holds it; absent = none known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldShown>,
    /// Its id.
    pub id: String,
    /// Batch key of the lane; absent = empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The lane.
    pub lane: String,
    /// Time of the next attempt; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try: Option<String>,
    /// The reason why it was not handed over; null = it was, or the outcome is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The recipient; null = erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// `planned` (due, not built yet), `sending`, `retrying` (an attempt failed, another one follows), `sent`,
    /// `failed`, `unknown` (it may or may not have been handed over), `suppressed` (the checks before sending left no
    /// notification) or `cancelled` (all notifications were removed).
    pub state: String,
    /// Tenant of its notifications; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A muted topic or object, on a channel or on each (`*`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mute {
    /// The channel; `*` = each.
    pub channel: String,
    /// The object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Its title, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The topic, with everything below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The new state of an object, with its id. Fields that are left out keep their value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedObject {
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub data: Patch<Value>,
    /// Id of the object; the same as in the path, if that has one.
    pub id: String,
    /// Address of a picture.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub image: Patch<String>,
    /// Size of the picture; removed by a new `image` without one.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub image_size: Patch<ImageSize>,
    /// False = notifications about it are not sent.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub notifiable: Patch<bool>,
    /// A title to show, or an object with a title for each locale.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub title: Patch<HostText>,
    /// Address of its page.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub url: Patch<String>,
}

impl NamedObject {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            data: Patch::Keep,
            id: id.into(),
            image: Patch::Keep,
            image_size: Patch::Keep,
            notifiable: Patch::Keep,
            title: Patch::Keep,
            url: Patch::Keep,
        }
    }

    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Patch::Set(data.into());
        self
    }

    /// Removes `data`.
    #[must_use]
    pub fn clear_data(mut self) -> Self {
        self.data = Patch::Clear;
        self
    }

    /// Address of a picture.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = Patch::Set(image.into());
        self
    }

    /// Removes `image`.
    #[must_use]
    pub fn clear_image(mut self) -> Self {
        self.image = Patch::Clear;
        self
    }

    /// Size of the picture; removed by a new `image` without one.
    #[must_use]
    pub fn image_size(mut self, image_size: impl Into<ImageSize>) -> Self {
        self.image_size = Patch::Set(image_size.into());
        self
    }

    /// Removes `image_size`.
    #[must_use]
    pub fn clear_image_size(mut self) -> Self {
        self.image_size = Patch::Clear;
        self
    }

    /// False = notifications about it are not sent.
    #[must_use]
    pub fn notifiable(mut self, notifiable: bool) -> Self {
        self.notifiable = Patch::Set(notifiable);
        self
    }

    /// Removes `notifiable`.
    #[must_use]
    pub fn clear_notifiable(mut self) -> Self {
        self.notifiable = Patch::Clear;
        self
    }

    /// A title to show, or an object with a title for each locale.
    #[must_use]
    pub fn title(mut self, title: impl Into<HostText>) -> Self {
        self.title = Patch::Set(title.into());
        self
    }

    /// Removes `title`.
    #[must_use]
    pub fn clear_title(mut self) -> Self {
        self.title = Patch::Clear;
        self
    }

    /// Address of its page.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Patch::Set(url.into());
        self
    }

    /// Removes `url`.
    #[must_use]
    pub fn clear_url(mut self) -> Self {
        self.url = Patch::Clear;
        self
    }
}

impl From<&str> for NamedObject {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for NamedObject {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// A change of a profile, with the recipient's id. Fields that are left out keep their value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedRecipient {
    /// Addresses by channel; null removes those of a channel, or all.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub addresses: Patch<Addresses>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub data: Patch<Value>,
    /// Address of the e-mail channel, short for `addresses.email`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub email: Patch<String>,
    /// Id of the recipient; the same as in the path, if that has one.
    pub id: String,
    /// Latitude, in degrees north.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub lat: Patch<f64>,
    /// BCP 47 locale.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub locale: Patch<String>,
    /// Longitude, in degrees east.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub lon: Patch<f64>,
    /// Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and without a title.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub name: Patch<String>,
    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub quiet_hours: Patch<QuietHoursChoice>,
    /// The state, which decides whether messages are sent; `active` for a new recipient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<RecipientState>,
    /// All tenants of which the recipient is a member; null = none.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub tenants: Patch<Vec<String>>,
    /// IANA time zone.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub tz: Patch<String>,
}

impl NamedRecipient {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            addresses: Patch::Keep,
            data: Patch::Keep,
            email: Patch::Keep,
            id: id.into(),
            lat: Patch::Keep,
            locale: Patch::Keep,
            lon: Patch::Keep,
            name: Patch::Keep,
            quiet_hours: Patch::Keep,
            state: None,
            tenants: Patch::Keep,
            tz: Patch::Keep,
        }
    }

    /// Addresses by channel; null removes those of a channel, or all.
    #[must_use]
    pub fn addresses(mut self, addresses: impl Into<Addresses>) -> Self {
        self.addresses = Patch::Set(addresses.into());
        self
    }

    /// Removes `addresses`.
    #[must_use]
    pub fn clear_addresses(mut self) -> Self {
        self.addresses = Patch::Clear;
        self
    }

    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Patch::Set(data.into());
        self
    }

    /// Removes `data`.
    #[must_use]
    pub fn clear_data(mut self) -> Self {
        self.data = Patch::Clear;
        self
    }

    /// Address of the e-mail channel, short for `addresses.email`.
    #[must_use]
    pub fn email(mut self, email: impl Into<String>) -> Self {
        self.email = Patch::Set(email.into());
        self
    }

    /// Removes `email`.
    #[must_use]
    pub fn clear_email(mut self) -> Self {
        self.email = Patch::Clear;
        self
    }

    /// Latitude, in degrees north.
    #[must_use]
    pub fn lat(mut self, lat: f64) -> Self {
        self.lat = Patch::Set(lat);
        self
    }

    /// Removes `lat`.
    #[must_use]
    pub fn clear_lat(mut self) -> Self {
        self.lat = Patch::Clear;
        self
    }

    /// BCP 47 locale.
    #[must_use]
    pub fn locale(mut self, locale: impl Into<String>) -> Self {
        self.locale = Patch::Set(locale.into());
        self
    }

    /// Removes `locale`.
    #[must_use]
    pub fn clear_locale(mut self) -> Self {
        self.locale = Patch::Clear;
        self
    }

    /// Longitude, in degrees east.
    #[must_use]
    pub fn lon(mut self, lon: f64) -> Self {
        self.lon = Patch::Set(lon);
        self
    }

    /// Removes `lon`.
    #[must_use]
    pub fn clear_lon(mut self) -> Self {
        self.lon = Patch::Clear;
        self
    }

    /// Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and without a title.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Patch::Set(name.into());
        self
    }

    /// Removes `name`.
    #[must_use]
    pub fn clear_name(mut self) -> Self {
        self.name = Patch::Clear;
        self
    }

    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[must_use]
    pub fn quiet_hours(mut self, quiet_hours: impl Into<QuietHoursChoice>) -> Self {
        self.quiet_hours = Patch::Set(quiet_hours.into());
        self
    }

    /// Removes `quiet_hours`.
    #[must_use]
    pub fn clear_quiet_hours(mut self) -> Self {
        self.quiet_hours = Patch::Clear;
        self
    }

    /// The state, which decides whether messages are sent; `active` for a new recipient.
    #[must_use]
    pub fn state(mut self, state: impl Into<RecipientState>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// All tenants of which the recipient is a member; null = none.
    #[must_use]
    pub fn tenants(mut self, tenants: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tenants = Patch::Set(tenants.into_iter().map(Into::into).collect());
        self
    }

    /// Removes `tenants`.
    #[must_use]
    pub fn clear_tenants(mut self) -> Self {
        self.tenants = Patch::Clear;
        self
    }

    /// IANA time zone.
    #[must_use]
    pub fn tz(mut self, tz: impl Into<String>) -> Self {
        self.tz = Patch::Set(tz.into());
        self
    }

    /// Removes `tz`.
    #[must_use]
    pub fn clear_tz(mut self) -> Self {
        self.tz = Patch::Clear;
        self
    }
}

impl From<&str> for NamedRecipient {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for NamedRecipient {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// A change of a tenant, with its id. Fields that are left out keep their value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedTenant {
    /// Keys that override `[brand]`, one by one; null removes all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<BrandChange>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// True = publishing is refused, and pending notifications are cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Sender name of its messages, at most 1 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_name: Option<String>,
    /// Id of the tenant; the same as in the path, if that has one.
    pub id: String,
    /// BCP 47 locale, for recipients without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Name to show, at most 1 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// All its defaults, which replace the types' policies. Mutes are not allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Vec<Preference>>,
    /// Quiet hours, for recipients without their own: hours, null = none, `default` = those of each channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHoursChoice>,
    /// Mailbox for replies to its mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// IANA time zone, for recipients without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
}

impl NamedTenant {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            brand: None,
            data: None,
            disabled: None,
            from_name: None,
            id: id.into(),
            locale: None,
            name: None,
            preferences: None,
            quiet_hours: None,
            reply_to: None,
            tz: None,
        }
    }

    /// Keys that override `[brand]`, one by one; null removes all.
    #[must_use]
    pub fn brand(mut self, brand: impl Into<BrandChange>) -> Self {
        self.brand = Some(brand.into());
        self
    }

    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// True = publishing is refused, and pending notifications are cancelled.
    #[must_use]
    pub fn disabled(mut self, disabled: bool) -> Self {
        self.disabled = Some(disabled);
        self
    }

    /// Sender name of its messages, at most 1 KiB.
    #[must_use]
    pub fn from_name(mut self, from_name: impl Into<String>) -> Self {
        self.from_name = Some(from_name.into());
        self
    }

    /// BCP 47 locale, for recipients without one.
    #[must_use]
    pub fn locale(mut self, locale: impl Into<String>) -> Self {
        self.locale = Some(locale.into());
        self
    }

    /// Name to show, at most 1 KiB.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// All its defaults, which replace the types' policies. Mutes are not allowed.
    #[must_use]
    pub fn preferences(
        mut self,
        preferences: impl IntoIterator<Item = impl Into<Preference>>,
    ) -> Self {
        self.preferences = Some(preferences.into_iter().map(Into::into).collect());
        self
    }

    /// Quiet hours, for recipients without their own: hours, null = none, `default` = those of each channel.
    #[must_use]
    pub fn quiet_hours(mut self, quiet_hours: impl Into<QuietHoursChoice>) -> Self {
        self.quiet_hours = Some(quiet_hours.into());
        self
    }

    /// Mailbox for replies to its mails.
    #[must_use]
    pub fn reply_to(mut self, reply_to: impl Into<String>) -> Self {
        self.reply_to = Some(reply_to.into());
        self
    }

    /// IANA time zone, for recipients without one.
    #[must_use]
    pub fn tz(mut self, tz: impl Into<String>) -> Self {
        self.tz = Some(tz.into());
        self
    }
}

impl From<&str> for NamedTenant {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for NamedTenant {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// Something of which the id is spelled alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NearId {
    /// Its id.
    pub id: String,
    /// The kind.
    pub kind: FoundKind,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A mail as it would be sent if nothing else happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NextMail {
    /// Due time, or now if that has passed.
    pub at: String,
    /// Number of notifications in the mail.
    pub entries: u64,
    /// The HTML.
    pub html: String,
    /// Batch key of the lane; left out where it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Name of the lane.
    pub lane: String,
    /// The whole mail, without a signature. Its ids and links differ from those of the mail that will be sent. Left out
    /// where the recipient has no address that mail can be sent to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The subject.
    pub subject: String,
    /// The plain text.
    pub text: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A message as a channel would send it if nothing else happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NextMessage {
    /// HTML of a mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Number of parts of a text message that are paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// Subject of a mail; title of a push message, or of a card in Teams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The words: the plain text of a mail, all of a text message with its link, the body of a webhook's request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Due time, or now if that has passed.
    pub at: String,
    /// The channel.
    pub channel: String,
    /// Number of notifications in the message.
    pub entries: u64,
    /// Batch key of the lane; left out where it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Name of the lane.
    pub lane: String,
    /// The whole mail, without a signature. Its ids and links differ from those of the mail that will be sent. Left out
    /// of other messages, and where the recipient has no address that mail can be sent to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Tenant of the notifications; left out where they are of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The page that it opens, where its text doesn't have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A node as `GET /v1/nodes` shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeShown {
    /// The address at which other nodes reach it.
    pub address: String,
    /// Digest of the configuration that it applies when it holds the store: the same on all nodes with the same
    /// configuration and version.
    pub config: String,
    /// Number of its term; null = it has no shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// True if it has the intake, which accepts events, and all shards that no other node has.
    pub intake: bool,
    /// Milliseconds by which its oldest message was overdue at its last heartbeat; 0 if it has no shards.
    pub lag_ms: i64,
    /// Its name.
    pub node: String,
    /// Numbers of its shards; null = it has all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<u32>>,
    /// Milliseconds since its last heartbeat, by the clock of the database.
    pub silent_ms: i64,
    /// Time since which it has its state.
    pub since: String,
    /// `holding`, `opening`, `standby`, `draining`, or `silent` after 5 seconds without a heartbeat.
    pub state: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A change of an object; only the given fields change.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct ObjectChange {
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub data: Patch<Value>,
    /// Id of the object; the same as in the path, if that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Address of a picture.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub image: Patch<String>,
    /// Size of the picture; removed by a new `image` without one.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub image_size: Patch<ImageSize>,
    /// False = notifications about it are not sent.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub notifiable: Patch<bool>,
    /// A title to show, or an object with a title for each locale.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub title: Patch<HostText>,
    /// Address of its page.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub url: Patch<String>,
}

impl ObjectChange {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Patch::Set(data.into());
        self
    }

    /// Removes `data`.
    #[must_use]
    pub fn clear_data(mut self) -> Self {
        self.data = Patch::Clear;
        self
    }

    /// Id of the object; the same as in the path, if that has one.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Address of a picture.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = Patch::Set(image.into());
        self
    }

    /// Removes `image`.
    #[must_use]
    pub fn clear_image(mut self) -> Self {
        self.image = Patch::Clear;
        self
    }

    /// Size of the picture; removed by a new `image` without one.
    #[must_use]
    pub fn image_size(mut self, image_size: impl Into<ImageSize>) -> Self {
        self.image_size = Patch::Set(image_size.into());
        self
    }

    /// Removes `image_size`.
    #[must_use]
    pub fn clear_image_size(mut self) -> Self {
        self.image_size = Patch::Clear;
        self
    }

    /// False = notifications about it are not sent.
    #[must_use]
    pub fn notifiable(mut self, notifiable: bool) -> Self {
        self.notifiable = Patch::Set(notifiable);
        self
    }

    /// Removes `notifiable`.
    #[must_use]
    pub fn clear_notifiable(mut self) -> Self {
        self.notifiable = Patch::Clear;
        self
    }

    /// A title to show, or an object with a title for each locale.
    #[must_use]
    pub fn title(mut self, title: impl Into<HostText>) -> Self {
        self.title = Patch::Set(title.into());
        self
    }

    /// Removes `title`.
    #[must_use]
    pub fn clear_title(mut self) -> Self {
        self.title = Patch::Clear;
        self
    }

    /// Address of its page.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Patch::Set(url.into());
        self
    }

    /// Removes `url`.
    #[must_use]
    pub fn clear_url(mut self) -> Self {
        self.url = Patch::Clear;
        self
    }
}

/// The tenant of the event in the path.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct OfTenant {
    /// The tenant of the event; absent = any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl OfTenant {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tenant of the event; absent = any.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }
}

/// The result of a change of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OperatedAnswer {
    /// Number of notifications cancelled with it.
    pub cancelled: u64,
    /// With `dry`: what the call would touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concerns: Option<Concerned>,
    /// With `dry`: true, and nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry: Option<bool>,
    /// `status`
    pub status: OperatedStatus,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// Result of a change of a message: `accepted` = it is sent; `cancelled` = it is not sent any more; `too_late` = it was
/// handed over, or may have been; `nothing_left` = it had failed, or had no notifications left.
OperatedStatus {
/// `accepted`
Accepted = "accepted",
/// `cancelled`
Cancelled = "cancelled",
/// `too_late`
TooLate = "too_late",
/// `nothing_left`
NothingLeft = "nothing_left",
}
}

/// A page of an inbox, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Page {
    /// The same for each category, by its name.
    pub categories: BTreeMap<String, CategoryCounts>,
    /// Revision: the answer with the higher number is newer.
    pub rev: u64,
    /// The same for each tenant with unread items, by tenant id; absent in the view of one tenant, and if tenants are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<BTreeMap<String, CategoryCounts>>,
    /// Number of groups with an unread item, in the whole inbox.
    pub unread: u64,
    /// Number of groups with an unseen item, in the whole inbox: the badge.
    pub unseen: u64,
    /// Its groups.
    pub groups: Vec<Group>,
    /// The next page's cursor; null = this is the last.
    #[serde(default)]
    pub next: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A page of parked rows, newest first. `missing` names the feed where its database can't be read now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ParkedPage {
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// The rows.
    pub parked: Vec<ParkedRow>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A row of a feed that was refused. It is read again once it is changed, or its `refused` is set to null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ParkedRow {
    /// Time when the host wrote it.
    pub at: String,
    /// Key that the host gave it.
    #[serde(default)]
    pub key: Option<String>,
    /// The problem, as the call that publishes events answers it.
    pub problem: Map<String, Value>,
    /// Number of the row in the table.
    pub row: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Types and channels that are paused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PausedShown {
    /// Channels.
    pub channels: Vec<String>,
    /// Types.
    pub types: Vec<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// All pending notifications of a recipient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pending {
    /// Open lanes with pending notifications.
    pub lanes: Vec<PendingLane>,
    /// Built messages that wait for a retry, the next first; at most 1,000.
    pub messages: Vec<RetriedMessage>,
    /// Scheduled events, by time.
    pub scheduled: Vec<Waiting>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A lane with pending notifications, which become one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingLane {
    /// The channel.
    pub channel: String,
    /// Due time; null = none at present, such as while its type is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// The pending notifications, by time and arrival.
    pub entries: Vec<Waiting>,
    /// The reason why it is held although it is due; null = it is not held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<HeldBy>,
    /// Batch key of the lane; absent = empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Name of the lane; `paused` holds the notifications of paused types.
    pub lane: String,
    /// Tenant of the lane; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The policy of a type on a channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PolicyShown {
    /// Delay of its entries after those of the inbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Expression of the batch key, for a policy that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_key: Option<String>,
    /// For `first_event`: `first` or `earliest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decide: Option<String>,
    /// For `digest`: the digest's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// For `first_event`: the time for which the first entry waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<String>,
    /// Lane of its entries; null for `never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Number of entries with which a lane is due at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
    /// For `cooldown`: the longest wait; `none` = no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait: Option<String>,
    /// `now`, `first_event`, `cooldown`, `leading`, `digest` or `never`.
    pub policy: String,
    /// For `cooldown` and `leading`: the quiet time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A preference for a type, a category or all categories, the mute of a topic or an object, or the times of a digest. A
/// mute has precedence over a type, a type over its category, and that over all categories.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct Preference {
    /// The time of the digest, a full quarter of an hour such as `17:15`; null or `default` resets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A category of the configuration; `*` = all categories, including later ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The channel; `*` = all channels, including later ones, for a mute or for the category `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// A digest whose times recipients may choose: with `on`, `at` or both, and without `channel` and `mode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// `never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no preference), or the
    /// name of a digest. Mutes have `never` and `default`. `never` is refused for a required type, and does not apply
    /// to the required types of a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// An object to mute, also as a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The day of the digest, `mon` to `sun`, or 1 to 31 of a month; null or `default` resets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<DigestDay>,
    /// The tenant to whose notifications the preference applies; absent = all notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// A topic to mute, with everything below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// A type of the configuration.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
}

impl Preference {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The time of the digest, a full quarter of an hour such as `17:15`; null or `default` resets it.
    #[must_use]
    pub fn at(mut self, at: impl Into<String>) -> Self {
        self.at = Some(at.into());
        self
    }

    /// A category of the configuration; `*` = all categories, including later ones.
    #[must_use]
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.category = Some(category.into());
        self
    }

    /// The channel; `*` = all channels, including later ones, for a mute or for the category `*`.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// A digest whose times recipients may choose: with `on`, `at` or both, and without `channel` and `mode`.
    #[must_use]
    pub fn digest(mut self, digest: impl Into<String>) -> Self {
        self.digest = Some(digest.into());
        self
    }

    /// `never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no preference), or the
    /// name of a digest. Mutes have `never` and `default`. `never` is refused for a required type, and does not apply
    /// to the required types of a category.
    #[must_use]
    pub fn mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }

    /// An object to mute, also as a target.
    #[must_use]
    pub fn object(mut self, object: impl Into<String>) -> Self {
        self.object = Some(object.into());
        self
    }

    /// The day of the digest, `mon` to `sun`, or 1 to 31 of a month; null or `default` resets it.
    #[must_use]
    pub fn on(mut self, on: impl Into<DigestDay>) -> Self {
        self.on = Some(on.into());
        self
    }

    /// The tenant to whose notifications the preference applies; absent = all notifications.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// A topic to mute, with everything below it.
    #[must_use]
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = Some(topic.into());
        self
    }

    /// A type of the configuration.
    #[must_use]
    pub fn type_(mut self, type_: impl Into<String>) -> Self {
        self.type_ = Some(type_.into());
        self
    }
}

/// A preference for a type, a category or all categories, the mute of a topic or an object, or the times of a digest. A
/// mute has precedence over a type, a type over its category, and that over all categories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PreferenceOut {
    /// The time of the digest, a full quarter of an hour such as `17:15`; null or `default` resets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A category of the configuration; `*` = all categories, including later ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The channel; `*` = all channels, including later ones, for a mute or for the category `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// A digest whose times recipients may choose: with `on`, `at` or both, and without `channel` and `mode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// `never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no preference), or the
    /// name of a digest. Mutes have `never` and `default`. `never` is refused for a required type, and does not apply
    /// to the required types of a category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// An object to mute, also as a target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The day of the digest, `mon` to `sun`, or 1 to 31 of a month; null or `default` resets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<DigestDayOut>,
    /// The tenant to whose notifications the preference applies; absent = all notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// A topic to mute, with everything below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// A type of the configuration.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A change of preferences: their list, or an object with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PreferenceChange {
    /// A list.
    List(Vec<Preference>),
    /// As `PreferencesAndHours`.
    PreferencesAndHours(PreferencesAndHours),
}

impl From<Vec<Preference>> for PreferenceChange {
    fn from(of: Vec<Preference>) -> Self {
        Self::List(of)
    }
}

impl From<PreferencesAndHours> for PreferenceChange {
    fn from(of: PreferencesAndHours) -> Self {
        Self::PreferencesAndHours(of)
    }
}

words! {
/// A level at which a preference is set.
PreferenceLevel {
/// `type`
Type = "type",
/// `category`
Category = "category",
/// `*`
All = "*",
/// `default`
Default = "default",
}
}

/// Preferences to set, and quiet hours.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct PreferencesAndHours {
    /// Preferences to set; the others stay as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Vec<Preference>>,
    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub quiet_hours: Patch<QuietHoursChoice>,
}

impl PreferencesAndHours {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Preferences to set; the others stay as they are.
    #[must_use]
    pub fn preferences(
        mut self,
        preferences: impl IntoIterator<Item = impl Into<Preference>>,
    ) -> Self {
        self.preferences = Some(preferences.into_iter().map(Into::into).collect());
        self
    }

    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[must_use]
    pub fn quiet_hours(mut self, quiet_hours: impl Into<QuietHoursChoice>) -> Self {
        self.quiet_hours = Patch::Set(quiet_hours.into());
        self
    }

    /// Removes `quiet_hours`.
    #[must_use]
    pub fn clear_quiet_hours(mut self) -> Self {
        self.quiet_hours = Patch::Clear;
        self
    }
}

/// A list of preferences: those that are set, or an object that also has the modes that may be chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PreferencesAnswer {
    /// As `AllPreferences`.
    AllPreferences(AllPreferences),
    /// A list.
    List(Vec<PreferenceOut>),
    /// A form that this client does not know.
    Other(Value),
}

/// A preview of what a recipient gets next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Preview {
    /// The mail; null = no open lane will become one. Absent where a channel is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail: Option<NextMail>,
    /// The message of the channel that is named; null = no open lane will become one. Absent where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<NextMessage>,
    /// The scheduled entries, which are in no lane yet; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<ScheduledCount>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The result of one event, or of each event of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PublishAnswer {
    /// As `PublishedEvent`.
    PublishedEvent(PublishedEvent),
    /// A list.
    List(Vec<EventOutcome>),
    /// A form that this client does not know.
    Other(Value),
}

/// An event as it was published; absent fields are null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PublishedAs {
    /// `actor`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<EventObjectOut>,
    /// `body`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<HostTextOut>,
    /// `cancellation_key`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation_key: Option<String>,
    /// `channels`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// `data`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// `delay`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// `deliver_at`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_at: Option<String>,
    /// `deliver_local`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_local: Option<String>,
    /// `expires_at`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// `id`
    pub id: String,
    /// `object`
    pub object: EventObjectOut,
    /// `occurred_at`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
    /// `score`
    pub score: f64,
    /// `target`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<EventObjectOut>,
    /// The tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// `to`
    pub to: AudienceOut,
    /// `trace`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// `type`
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The result of one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PublishedEvent {
    /// In a cluster: true once all shards have applied the event, so that the counts are complete and inboxes have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<bool>,
    /// With `dry`: what the call would touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concerns: Option<Concerned>,
    /// With `dry`: true, and nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry: Option<bool>,
    /// The event's id, generated by the server if the event had none.
    pub id: String,
    /// In a stream: the line number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Number of recipients with at least one entry.
    pub notifications: u64,
    /// `accepted`, or `duplicate` if its id is known and nothing happened.
    pub status: PublishedStatus,
    /// Number of recipients left out by the admission of its type.
    pub suppressed: u64,
    /// A warning about an event that is accepted, but probably not intended as it is.
    pub warnings: Vec<EventWarning>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// One of the words of `PublishedStatus`.
PublishedStatus {
/// `accepted`
Accepted = "accepted",
/// `duplicate`
Duplicate = "duplicate",
/// `cancelled`
Cancelled = "cancelled",
}
}

/// A browser's Web Push subscription among a recipient's addresses.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PushAddress {
    /// Address of the browser's push service.
    pub endpoint: String,
    /// Keys of the browser.
    pub keys: PushKeys,
    /// The tenant whose messages it gets, beside those without a tenant; absent = all messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl PushAddress {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(endpoint: impl Into<String>, keys: impl Into<PushKeys>) -> Self {
        Self { endpoint: endpoint.into(), keys: keys.into(), tenant: None }
    }

    /// The tenant whose messages it gets, beside those without a tenant; absent = all messages.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }
}

/// A browser's Web Push subscription among a recipient's addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PushAddressOut {
    /// Address of the browser's push service.
    pub endpoint: String,
    /// Keys of the browser.
    pub keys: PushKeysOut,
    /// The tenant whose messages it gets, beside those without a tenant; absent = all messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The key by which browsers subscribe to Web Push.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PushKey {
    /// The public key of the server (VAPID), in base64url.
    pub key: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Keys of a browser, in base64url.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PushKeys {
    /// Authentication secret.
    pub auth: String,
    /// Public key.
    pub p256dh: String,
}

impl PushKeys {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(p256dh: impl Into<String>, auth: impl Into<String>) -> Self {
        Self { auth: auth.into(), p256dh: p256dh.into() }
    }
}

/// Keys of a browser, in base64url.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PushKeysOut {
    /// Authentication secret.
    pub auth: String,
    /// Public key.
    pub p256dh: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A browser's Web Push subscription, the result of `JSON.stringify(subscription)`; `expirationTime` is ignored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PushSubscription {
    /// Address of the browser's push service.
    pub endpoint: String,
    /// Keys of the browser.
    pub keys: PushKeys,
}

impl PushSubscription {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(endpoint: impl Into<String>, keys: impl Into<PushKeys>) -> Self {
        Self { endpoint: endpoint.into(), keys: keys.into() }
    }
}

/// Hours of the wall clock in which only urgent notifications are sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuietHours {
    /// The channels to which they apply; all if absent. The others keep those of the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// The weekdays on which they begin; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<Vec<Weekday>>,
    /// The time at which they begin, HH:MM.
    pub from: String,
    /// The time at which they end, different from `from`; on the next day if it is earlier.
    pub to: String,
}

impl QuietHours {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { channels: None, days: None, from: from.into(), to: to.into() }
    }

    /// The channels to which they apply; all if absent. The others keep those of the channel.
    #[must_use]
    pub fn channels(mut self, channels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.channels = Some(channels.into_iter().map(Into::into).collect());
        self
    }

    /// The weekdays on which they begin; all if absent.
    #[must_use]
    pub fn days(mut self, days: impl IntoIterator<Item = impl Into<Weekday>>) -> Self {
        self.days = Some(days.into_iter().map(Into::into).collect());
        self
    }
}

/// Hours of the wall clock in which only urgent notifications are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuietHoursOut {
    /// The channels to which they apply; all if absent. The others keep those of the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// The weekdays on which they begin; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<Vec<Weekday>>,
    /// The time at which they begin, HH:MM.
    pub from: String,
    /// The time at which they end, different from `from`; on the next day if it is earlier.
    pub to: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Quiet hours as a profile shows them; null = none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum QuietHoursChoice {
    /// As `QuietHours`.
    QuietHours(QuietHours),
    /// As `QuietHoursOfChannel`.
    QuietHoursOfChannel(QuietHoursOfChannel),
}

impl From<QuietHours> for QuietHoursChoice {
    fn from(of: QuietHours) -> Self {
        Self::QuietHours(of)
    }
}

impl From<QuietHoursOfChannel> for QuietHoursChoice {
    fn from(of: QuietHoursOfChannel) -> Self {
        Self::QuietHoursOfChannel(of)
    }
}

/// Quiet hours as a profile shows them; null = none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum QuietHoursChoiceOut {
    /// As `QuietHours`.
    QuietHours(QuietHoursOut),
    /// As `QuietHoursOfChannel`.
    QuietHoursOfChannel(QuietHoursOfChannel),
    /// A form that this client does not know.
    Other(Value),
}

/// Quiet hours in force on a channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuietHoursInForce {
    /// The channel.
    pub channel: String,
    /// The hours, by the wall clock of `tz`.
    pub hours: QuietHoursOut,
    /// Their source: the `recipient`, the `tenant`, or the configuration of the `channel`.
    pub set_by: QuietHoursSetBy,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// The value for the hours of each channel.
QuietHoursOfChannel {
/// `default`
Default = "default",
}
}

words! {
/// The source of quiet hours.
QuietHoursSetBy {
/// `recipient`
Recipient = "recipient",
/// `tenant`
Tenant = "tenant",
/// `channel`
Channel = "channel",
}
}

/// A profile, or some of its fields. Null removes a value (for `quiet_hours`: no quiet hours); give `lat` and `lon`
/// together.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct RecipientChange {
    /// Addresses by channel; null removes those of a channel, or all.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub addresses: Patch<Addresses>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub data: Patch<Value>,
    /// Address of the e-mail channel, short for `addresses.email`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub email: Patch<String>,
    /// Id of the recipient; the same as in the path, if that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Latitude, in degrees north.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub lat: Patch<f64>,
    /// BCP 47 locale.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub locale: Patch<String>,
    /// Longitude, in degrees east.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub lon: Patch<f64>,
    /// Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and without a title.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub name: Patch<String>,
    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub quiet_hours: Patch<QuietHoursChoice>,
    /// The state, which decides whether messages are sent; `active` for a new recipient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<RecipientState>,
    /// All tenants of which the recipient is a member; null = none.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub tenants: Patch<Vec<String>>,
    /// IANA time zone.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub tz: Patch<String>,
}

impl RecipientChange {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Addresses by channel; null removes those of a channel, or all.
    #[must_use]
    pub fn addresses(mut self, addresses: impl Into<Addresses>) -> Self {
        self.addresses = Patch::Set(addresses.into());
        self
    }

    /// Removes `addresses`.
    #[must_use]
    pub fn clear_addresses(mut self) -> Self {
        self.addresses = Patch::Clear;
        self
    }

    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Patch::Set(data.into());
        self
    }

    /// Removes `data`.
    #[must_use]
    pub fn clear_data(mut self) -> Self {
        self.data = Patch::Clear;
        self
    }

    /// Address of the e-mail channel, short for `addresses.email`.
    #[must_use]
    pub fn email(mut self, email: impl Into<String>) -> Self {
        self.email = Patch::Set(email.into());
        self
    }

    /// Removes `email`.
    #[must_use]
    pub fn clear_email(mut self) -> Self {
        self.email = Patch::Clear;
        self
    }

    /// Id of the recipient; the same as in the path, if that has one.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Latitude, in degrees north.
    #[must_use]
    pub fn lat(mut self, lat: f64) -> Self {
        self.lat = Patch::Set(lat);
        self
    }

    /// Removes `lat`.
    #[must_use]
    pub fn clear_lat(mut self) -> Self {
        self.lat = Patch::Clear;
        self
    }

    /// BCP 47 locale.
    #[must_use]
    pub fn locale(mut self, locale: impl Into<String>) -> Self {
        self.locale = Patch::Set(locale.into());
        self
    }

    /// Removes `locale`.
    #[must_use]
    pub fn clear_locale(mut self) -> Self {
        self.locale = Patch::Clear;
        self
    }

    /// Longitude, in degrees east.
    #[must_use]
    pub fn lon(mut self, lon: f64) -> Self {
        self.lon = Patch::Set(lon);
        self
    }

    /// Removes `lon`.
    #[must_use]
    pub fn clear_lon(mut self) -> Self {
        self.lon = Patch::Clear;
        self
    }

    /// Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and without a title.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Patch::Set(name.into());
        self
    }

    /// Removes `name`.
    #[must_use]
    pub fn clear_name(mut self) -> Self {
        self.name = Patch::Clear;
        self
    }

    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[must_use]
    pub fn quiet_hours(mut self, quiet_hours: impl Into<QuietHoursChoice>) -> Self {
        self.quiet_hours = Patch::Set(quiet_hours.into());
        self
    }

    /// Removes `quiet_hours`.
    #[must_use]
    pub fn clear_quiet_hours(mut self) -> Self {
        self.quiet_hours = Patch::Clear;
        self
    }

    /// The state, which decides whether messages are sent; `active` for a new recipient.
    #[must_use]
    pub fn state(mut self, state: impl Into<RecipientState>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// All tenants of which the recipient is a member; null = none.
    #[must_use]
    pub fn tenants(mut self, tenants: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tenants = Patch::Set(tenants.into_iter().map(Into::into).collect());
        self
    }

    /// Removes `tenants`.
    #[must_use]
    pub fn clear_tenants(mut self) -> Self {
        self.tenants = Patch::Clear;
        self
    }

    /// IANA time zone.
    #[must_use]
    pub fn tz(mut self, tz: impl Into<String>) -> Self {
        self.tz = Patch::Set(tz.into());
        self
    }

    /// Removes `tz`.
    #[must_use]
    pub fn clear_tz(mut self) -> Self {
        self.tz = Patch::Clear;
        self
    }
}

/// A profile, or some of its fields. Null removes a value (for `quiet_hours`: no quiet hours); give `lat` and `lon`
/// together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecipientChangeOut {
    /// Addresses by channel; null removes those of a channel, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<AddressesOut>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// Address of the e-mail channel, short for `addresses.email`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Id of the recipient; the same as in the path, if that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Latitude, in degrees north.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// BCP 47 locale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Longitude, in degrees east.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and without a title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHoursChoiceOut>,
    /// The state, which decides whether messages are sent; `active` for a new recipient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<RecipientState>,
    /// All tenants of which the recipient is a member; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Vec<String>>,
    /// IANA time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The result of an erasure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecipientErased {
    /// With `dry`: what the call would touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concerns: Option<Concerned>,
    /// With `dry`: true, and nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry: Option<bool>,
    /// Number of what was deleted: `profile`, `addresses`, `preferences`, `subscriptions`, `memberships`; what there
    /// was none of is absent. Empty = there is no such recipient.
    pub erased: BTreeMap<String, u64>,
    /// The data that is kept without their name and addresses.
    pub kept: Vec<KeptData>,
    /// The trace of the erasure in the log of changes; null = there was nobody, or nothing was done.
    #[serde(default)]
    pub receipt: Option<ErasureReceipt>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Everything that is known about a recipient, at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecipientExport {
    /// All items of the inbox that they have not deleted, newest first.
    pub inbox: Vec<Item>,
    /// The lines of the log of changes about them and their addresses, and those that they caused, newest first.
    pub log: Vec<LoggedChange>,
    /// The tenants of which they are a member, sorted by the bytes of their ids.
    pub memberships: Vec<ExportedMembership>,
    /// All messages to them, newest first, each as `GET /v1/messages/{id}` shows it.
    pub messages: Vec<MessageDetails>,
    /// All preferences, as `GET /v1/recipients/{id}/preferences` lists them.
    pub preferences: Vec<PreferenceOut>,
    /// The profile.
    pub recipient: RecipientProfile,
    /// The topics that they follow, sorted by bytes.
    pub subscriptions: Vec<ExportedSubscription>,
    /// Those of their addresses that are suppressed.
    pub suppressions: Vec<SuppressedAddress>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The fate of a recipient's notification of an event on a channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecipientFate {
    /// Id of the message that has it, or that left it out; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The reason of an outcome; of `left_out`: `preference`, `once_pending` or `once_ever`. Absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `scheduled`; `pending` (waits for its message); `sending`; an outcome: `delivered`, `cancelled`, `skipped`,
    /// `expired`, `failed` or `unknown`; or `left_out`: there is none on this channel.
    pub state: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A recipient's profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecipientProfile {
    /// Addresses by channel, that of the e-mail channel included.
    pub addresses: AddressesShown,
    /// Data of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// Address of the e-mail channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Id of the recipient.
    pub id: String,
    /// Latitude, in degrees north.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// BCP 47 locale; null = the configuration's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Longitude, in degrees east.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// Name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Quiet hours: null = none, `default` = those of each channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHoursChoiceOut>,
    /// The state, which decides whether messages are sent.
    pub state: RecipientState,
    /// The tenants of which the recipient is a member, sorted by the bytes of their ids; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Vec<String>>,
    /// IANA time zone; null = the configuration's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// The state of a recipient: notifications of an `unconfirmed` one wait on every channel but the
/// inbox, those of a `disabled` one end when they are due.
RecipientState {
/// `active`
Active = "active",
/// `unconfirmed`
Unconfirmed = "unconfirmed",
/// `disabled`
Disabled = "disabled",
}
}

/// A page of recipients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecipientsPage {
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// The recipients, sorted by the bytes of their ids.
    pub recipients: Vec<ListedRecipient>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An item that failed; the others succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rejected {
    /// The item's `id`, if it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// In a stream: the line number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The problem of the item.
    pub problem: Problem,
    /// `status`
    pub status: RejectedStatus,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// One of the words of `RejectedStatus`.
RejectedStatus {
/// `rejected`
Rejected = "rejected",
}
}

/// The occurrences to send again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Replay {
    /// Time of the first occurrence: an instant (RFC 3339), or a duration before now.
    pub since: String,
}

impl Replay {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(since: impl Into<String>) -> Self {
        Self { since: since.into() }
    }
}

/// A message that waits for its next attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RetriedMessage {
    /// Time at which it was built, which fixed its content; null = not built yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<String>,
    /// The channel.
    pub channel: String,
    /// Time at which its lane was due.
    pub due: String,
    /// Time of its outcome; null = none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Number of its notifications; null = not built yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Number of failed attempts of a message that is retried, else 0.
    pub failed_attempts: u32,
    /// The unavailable destination or channel that holds it; absent = none known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldShown>,
    /// Its id.
    pub id: String,
    /// Batch key of the lane; absent = empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The lane.
    pub lane: String,
    /// Time of the next attempt; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try: Option<String>,
    /// The reason why it was not handed over; null = it was, or the outcome is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The recipient; null = erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// `planned` (due, not built yet), `sending`, `retrying` (an attempt failed, another one follows), `sent`,
    /// `failed`, `unknown` (it may or may not have been handed over), `suppressed` (the checks before sending left no
    /// notification) or `cancelled` (all notifications were removed).
    pub state: String,
    /// Tenant of its notifications; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The reason why it is held; null = it is not held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<HeldBy>,
    /// The provider's last answer; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<AttemptShown>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Messages that wait for a retry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RetryingShown {
    /// Number of them.
    pub messages: u64,
    /// The next ones, at most 100.
    pub next: Vec<RetriedMessage>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// The role of an API key: the calls that it may make.
RoleName {
/// `figures`
Figures = "figures",
/// `read`
Read = "read",
/// `support`
Support = "support",
/// `publish`
Publish = "publish",
/// `operate`
Operate = "operate",
/// `admin`
Admin = "admin",
}
}

/// Events published with `deliver_at`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scheduled {
    /// Number of them.
    pub events: u64,
    /// The next ones, by time.
    pub next: Vec<Waiting>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Notifications that are scheduled: they enter their lanes later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScheduledCount {
    /// The time at which the first enters its lane.
    pub first: String,
    /// Number of them; those of one event at one instant count once.
    pub notifications: u64,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The text of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Search {
    /// An id, the tag of a mail, a cancellation key or an address, of 1 to 512 bytes.
    pub q: String,
}

impl Search {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(q: impl Into<String>) -> Self {
        Self { q: q.into() }
    }
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchHit {
    /// Its id.
    pub id: String,
    /// The kind.
    pub kind: FoundKind,
    /// The way in which it matched.
    pub matched: Matched,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchResult {
    /// The hits, at most 50: those by id, then the message of a tag, events by cancellation key, recipients by address;
    /// those of one way by id.
    pub hits: Vec<SearchHit>,
    /// Nodes of a cluster that did not answer: what they have is not found. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// Without a hit: at most three ids that are spelled alike. Absent where there is a hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Vec<NearId>>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A channel that sends messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SendingChannel {
    /// True if an operator has paused it.
    pub paused: bool,
    /// The kinds of its providers (such as `file`, `smtp`), in order of preference.
    pub providers: Vec<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A session of the console.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// The time at which it began.
    pub began: String,
    /// The one who is signed in.
    pub by: SignedIn,
    /// Its id; no secret.
    pub id: String,
    /// The time at which it ends, however much it is used.
    pub until: String,
    /// The time of its last use. Two hours without use end it.
    pub used: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A page of sessions, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionPage {
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The one who is signed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SignedIn {
    /// Id of the key, or the name that the proxy gives the person.
    pub id: String,
    /// `key` or `person`.
    pub kind: String,
    /// The role when they signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A signing key that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SigningKeyMade {
    /// The algorithm of its tokens: `HS256` or `EdDSA`.
    pub alg: String,
    /// Its id, which tokens name as `kid`; no secret.
    pub id: String,
    /// The time when it was made.
    pub made: String,
    /// The name given to it; may be empty.
    pub name: String,
    /// The most that its tokens may open; null = everything.
    #[serde(default)]
    pub scope: Option<String>,
    /// The tenant that its tokens must name; absent = they may name any, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The secret, whose text is the key of HS256; absent with a public key, and in the stored answer to an earlier
    /// request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A signing key, without what it signs with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SigningKeyShown {
    /// The algorithm of its tokens: `HS256` or `EdDSA`.
    pub alg: String,
    /// Its id, which tokens name as `kid`; no secret.
    pub id: String,
    /// The time when it was made.
    pub made: String,
    /// The name given to it; may be empty.
    pub name: String,
    /// The most that its tokens may open; null = everything.
    #[serde(default)]
    pub scope: Option<String>,
    /// The tenant that its tokens must name; absent = they may name any, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A new signing key.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct SigningKeyToMake {
    /// A name to recognise it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A public key of Ed25519 in PEM: the server then has nothing that can sign. Absent = a secret is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
    /// The most that its tokens may open, of `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated
    /// by spaces; absent = everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The tenant that its tokens must name; absent = they may name any, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl SigningKeyToMake {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A name to recognise it by.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// A public key of Ed25519 in PEM: the server then has nothing that can sign. Absent = a secret is made.
    #[must_use]
    pub fn public(mut self, public: impl Into<String>) -> Self {
        self.public = Some(public.into());
        self
    }

    /// The most that its tokens may open, of `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated
    /// by spaces; absent = everything.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// The tenant that its tokens must name; absent = they may name any, or none.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }
}

/// The signing keys in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SigningKeysAnswer {
    /// By when they were made.
    pub keys: Vec<SigningKeyShown>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The status of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StatusAnswer {
    /// Providers and destinations that are unavailable, at most 20.
    pub away: Vec<AwayShown>,
    /// The channels that send messages, by name.
    pub channels: BTreeMap<String, SendingChannel>,
    /// Seconds by which the clock is behind the newest step, if more than 60: the clock was ahead before. Deadlines
    /// follow the clock; records have the time of the newest step meanwhile. null = not behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_behind_seconds: Option<u64>,
    /// Counts of entries, deleted days included.
    pub entries: EntriesCounted,
    /// Days before this one are deleted; null = none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_before: Option<String>,
    /// Messages that wait because their recipient or destination uses its share of a channel's threads, or because the
    /// destination is unavailable.
    pub kept_aside: u64,
    /// Nodes of a cluster that did not answer: their shards are left out, so each count is a lower bound. Absent if all
    /// answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// Instant of the newest step, which never goes back; null = none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_step: Option<String>,
    /// Time by the server's clock.
    pub now: String,
    /// Due time of the oldest overdue, unsent message; null = none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_due: Option<String>,
    /// Age of that message in seconds, by the server's clock; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_due_age_seconds: Option<u64>,
    /// Types and channels that are paused.
    pub paused: PausedShown,
    /// Number of recipients.
    pub recipients: u64,
    /// Messages that wait for a retry.
    pub retrying: u64,
    /// Seconds since the server started; null = a command reads the data directory without a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uptime_seconds: Option<u64>,
    /// Version of tidings.
    pub version: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A subscription to add or to remove.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Subscription {
    /// Id of the recipient.
    pub recipient: String,
    /// The tenant of the topic; absent = none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The topic.
    pub topic: String,
    /// True = remove the subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsubscribe: Option<bool>,
}

impl Subscription {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(recipient: impl Into<String>, topic: impl Into<String>) -> Self {
        Self { recipient: recipient.into(), tenant: None, topic: topic.into(), unsubscribe: None }
    }

    /// The tenant of the topic; absent = none.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// True = remove the subscription.
    #[must_use]
    pub fn unsubscribe(mut self, unsubscribe: bool) -> Self {
        self.unsubscribe = Some(unsubscribe);
        self
    }
}

/// The topics of a recipient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Subscriptions {
    /// Topics of tenants, by tenant id; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<BTreeMap<String, Vec<String>>>,
    /// Topics without a tenant, sorted by bytes; with a tenant in the token, the key or the query, the topics of that
    /// tenant.
    pub topics: Vec<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A suppressed address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SuppressedAddress {
    /// The address in the form in which addresses are compared: that of an e-mail in small letters, the endpoint of a
    /// Web Push subscription.
    pub address: String,
    /// The channel.
    pub channel: String,
    /// Time at which the suppression ends; null = never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The reason.
    pub reason: SuppressionReason,
    /// Time since which it is suppressed.
    pub since: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The reason and the end of a suppression.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct Suppression {
    /// Time at which the suppression ends; absent = never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The reason; `manual` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<SuppressionReason>,
}

impl Suppression {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Time at which the suppression ends; absent = never.
    #[must_use]
    pub fn expires_at(mut self, expires_at: impl Into<String>) -> Self {
        self.expires_at = Some(expires_at.into());
        self
    }

    /// The reason; `manual` if absent.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<SuppressionReason>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// A page of suppressed addresses, by channel and address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SuppressionPage {
    /// Nodes of a cluster that did not answer: their rows are left out. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
    /// since a page looks at a bounded number of rows.
    #[serde(default)]
    pub next: Option<String>,
    /// The addresses.
    pub suppressions: Vec<SuppressedAddress>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// The reason of a suppression: `manual` (set by an operator or the host), `bounce` (messages come back), `complaint`
/// (its owner reported spam), `stop` (its owner opted out at the provider) or `gone` (the address no longer exists).
SuppressionReason {
/// `manual`
Manual = "manual",
/// `bounce`
Bounce = "bounce",
/// `complaint`
Complaint = "complaint",
/// `stop`
Stop = "stop",
/// `gone`
Gone = "gone",
}
}

/// A tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tenant {
    /// Keys that override `[brand]`.
    pub brand: TenantBrand,
    /// Data of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// True = publishing is refused, and nothing is sent.
    pub disabled: bool,
    /// Sender name of its messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_name: Option<String>,
    /// Id of the tenant.
    pub id: String,
    /// BCP 47 locale, for recipients without one; null = the configuration's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its defaults, which replace the types' policies.
    pub preferences: Vec<PreferenceOut>,
    /// Quiet hours, for recipients without their own: null = none, `default` = those of each channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHoursChoiceOut>,
    /// Mailbox for replies to its mails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// IANA time zone, for recipients without one; null = the configuration's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Keys that override `[brand]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TenantBrand {
    /// `familiar` or `formal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Colour of links and buttons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Text at the foot of mails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footer: Option<String>,
    /// Picture shown instead of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// Picture for dark mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_dark: Option<String>,
    /// Name at the head of mails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Postal address at the foot of mails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postal_address: Option<String>,
    /// Public address at the start of links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A tenant, or some of its fields. Null removes a value (for `quiet_hours`: no quiet hours).
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct TenantChange {
    /// Keys that override `[brand]`, one by one; null removes all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<BrandChange>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// True = publishing is refused, and pending notifications are cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Sender name of its messages, at most 1 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_name: Option<String>,
    /// Id of the tenant; the same as in the path, if that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// BCP 47 locale, for recipients without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Name to show, at most 1 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// All its defaults, which replace the types' policies. Mutes are not allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Vec<Preference>>,
    /// Quiet hours, for recipients without their own: hours, null = none, `default` = those of each channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHoursChoice>,
    /// Mailbox for replies to its mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// IANA time zone, for recipients without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
}

impl TenantChange {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keys that override `[brand]`, one by one; null removes all.
    #[must_use]
    pub fn brand(mut self, brand: impl Into<BrandChange>) -> Self {
        self.brand = Some(brand.into());
        self
    }

    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// True = publishing is refused, and pending notifications are cancelled.
    #[must_use]
    pub fn disabled(mut self, disabled: bool) -> Self {
        self.disabled = Some(disabled);
        self
    }

    /// Sender name of its messages, at most 1 KiB.
    #[must_use]
    pub fn from_name(mut self, from_name: impl Into<String>) -> Self {
        self.from_name = Some(from_name.into());
        self
    }

    /// Id of the tenant; the same as in the path, if that has one.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// BCP 47 locale, for recipients without one.
    #[must_use]
    pub fn locale(mut self, locale: impl Into<String>) -> Self {
        self.locale = Some(locale.into());
        self
    }

    /// Name to show, at most 1 KiB.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// All its defaults, which replace the types' policies. Mutes are not allowed.
    #[must_use]
    pub fn preferences(
        mut self,
        preferences: impl IntoIterator<Item = impl Into<Preference>>,
    ) -> Self {
        self.preferences = Some(preferences.into_iter().map(Into::into).collect());
        self
    }

    /// Quiet hours, for recipients without their own: hours, null = none, `default` = those of each channel.
    #[must_use]
    pub fn quiet_hours(mut self, quiet_hours: impl Into<QuietHoursChoice>) -> Self {
        self.quiet_hours = Some(quiet_hours.into());
        self
    }

    /// Mailbox for replies to its mails.
    #[must_use]
    pub fn reply_to(mut self, reply_to: impl Into<String>) -> Self {
        self.reply_to = Some(reply_to.into());
        self
    }

    /// IANA time zone, for recipients without one.
    #[must_use]
    pub fn tz(mut self, tz: impl Into<String>) -> Self {
        self.tz = Some(tz.into());
        self
    }
}

/// A page of tenants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TenantsPage {
    /// The next page's cursor; null = this is the last.
    #[serde(default)]
    pub next: Option<String>,
    /// The tenants, sorted by the bytes of their ids.
    pub tenants: Vec<Tenant>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A token that was signed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenSigned {
    /// The time when it ends.
    pub expires: String,
    /// The token.
    pub token: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A token to sign.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TokenToSign {
    /// Its life, at most `[users] tokens`; 15 minutes if absent, or that if it is less.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub for_: Option<String>,
    /// Id of the recipient.
    pub recipient: String,
    /// The parts that it opens, of `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated by spaces; absent =
    /// everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The tenant whose notifications the token shows, with those without a tenant; absent = all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl TokenToSign {
    /// A value with the required fields; methods set the rest.
    #[must_use]
    pub fn new(recipient: impl Into<String>) -> Self {
        Self { for_: None, recipient: recipient.into(), scope: None, tenant: None }
    }

    /// Its life, at most `[users] tokens`; 15 minutes if absent, or that if it is less.
    #[must_use]
    pub fn for_(mut self, for_: impl Into<String>) -> Self {
        self.for_ = Some(for_.into());
        self
    }

    /// The parts that it opens, of `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated by spaces; absent =
    /// everything.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// The tenant whose notifications the token shows, with those without a tenant; absent = all.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }
}

/// The tokens that are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokensRevoked {
    /// Those that were issued at or before the second of this time: an earlier request may have named a later one.
    pub before: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The tokens to revoke.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct TokensToRevoke {
    /// Those that were issued at or before the second of this time, at most 5 minutes ahead; now if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

impl TokensToRevoke {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Those that were issued at or before the second of this time, at most 5 minutes ahead; now if absent.
    #[must_use]
    pub fn before(mut self, before: impl Into<String>) -> Self {
        self.before = Some(before.into());
        self
    }
}

/// A type and its choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TypeChoice {
    /// Its channels.
    pub channels: Vec<ChannelChoice>,
    /// True if it can't be turned off.
    pub required: bool,
    /// Its title, in the recipient's language.
    pub title: String,
    /// Its name.
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TypeShown {
    /// The admission: `always`, `once_pending`, `once_ever` or `last_only`.
    pub admission: String,
    /// Its category.
    pub category: String,
    /// The policy for each channel.
    pub channels: BTreeMap<String, PolicyShown>,
    /// The condition that is checked before sending; null = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// True if seen notifications are dropped; null = yes, except in digests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_if_seen: Option<bool>,
    /// Time after its due time at which a message that could not be handed over fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub give_up_after: Option<String>,
    /// The role by which lines are grouped: `object`, `actor` or `target`; null = the one with the fewest groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// True if actors are notified of their own events.
    pub include_actor: bool,
    /// Greatest age of an entry that is sent; null = no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_back: Option<String>,
    /// True if an operator has paused it.
    pub paused: bool,
    /// The scope within which the admission compares entries: `type`, `object` or `target`.
    pub per: String,
    /// True if neither `never` nor a mute applies to it.
    pub required: bool,
    /// The handling of a message of unknown outcome: `resend` or `give_up`.
    pub unknown_outcome: String,
    /// The handling of its messages while the resolver does not answer: `send` or `wait`.
    pub unresolved: String,
    /// True if it does not wait for a digest.
    pub urgent: bool,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The configured types and their delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TypesAnswer {
    /// Categories for a preference page, by name.
    pub categories: BTreeMap<String, CategoryShown>,
    /// By name.
    pub channels: BTreeMap<String, ChannelShown>,
    /// Available digests, by name.
    pub digests: BTreeMap<String, DigestShown>,
    /// By name.
    pub types: BTreeMap<String, TypeShown>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A pending notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Waiting {
    /// The event.
    pub event: String,
    /// Its object.
    pub object: String,
    /// Time at which it entered its lane, or will enter it.
    pub t: String,
    /// Its tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The answer to preferences that are set, but probably not intended as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warned {
    /// The warnings: `only_required` for a `never` of a category whose types are all required.
    pub warnings: Vec<EventWarning>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

words! {
/// A weekday.
Weekday {
/// `mon`
Mon = "mon",
/// `tue`
Tue = "tue",
/// `wed`
Wed = "wed",
/// `thu`
Thu = "thu",
/// `fri`
Fri = "fri",
/// `sat`
Sat = "sat",
/// `sun`
Sun = "sun",
}
}
