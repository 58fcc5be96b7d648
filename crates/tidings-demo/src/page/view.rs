//! The data of the page. Instants are UTC; the page turns them into the zone that stands beside them.

use serde::Serialize;
use tidings_core::Instant;
use tidings_core::content::Totals;

use crate::scenario::{Facts, Week};

/// A part of a long list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSlice {
    /// Number of rows to leave out at the front.
    pub skip: usize,
    /// Greatest number of rows.
    pub take: usize,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing<T> {
    /// The part that was asked for.
    pub rows: Vec<T>,
    /// Number of rows of the whole list.
    pub total: usize,
}

/// A filter of e-mails; what is `None` does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MailQuery {
    /// Only those of this recipient.
    pub recipient: Option<String>,
    /// Only those of this lane.
    pub lane: Option<String>,
}

/// The story in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The counters of the contract.
    pub books: Totals,
    /// The scenario in numbers.
    pub facts: Facts,
    /// Week by week.
    pub weeks: Vec<WeekLine>,
    /// E-mails sent; the rest of [`Totals::messages`] are deliveries to inboxes.
    pub mails: u64,
    /// The lanes through which e-mails went.
    pub lanes: Vec<String>,
    /// The Warhol event.
    pub warhol: FanOut,
    /// The event with the largest audience, which may be a show of many artists.
    pub largest: FanOut,
    /// Time that all of it took, in seconds of this machine.
    pub seconds: f64,
    /// Good places to begin to look, in the order in which they are shown.
    pub picks: Vec<Pick>,
}

/// A week and what was sent in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeekLine {
    /// The museum's week in numbers.
    #[serde(flatten)]
    pub week: Week,
    /// E-mails sent from this Monday 00:00 UTC to the next.
    pub mails: u64,
}

/// The fan-out of one event to its audience.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FanOut {
    /// The object's title.
    pub title: String,
    /// The event's id.
    pub event: String,
    /// Number of recipients.
    pub recipients: u64,
    /// From the publish to its durable commit, in milliseconds.
    pub ms: f64,
}

/// A mail or an inbox that is worth a look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pick {
    /// Title: what is to be seen there, in a few words.
    pub title: String,
    /// The reason why it is worth a look, in a sentence.
    pub note: String,
    /// The target.
    pub to: PickTarget,
}

/// The mail or inbox that a pick leads to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PickTarget {
    /// The mail of this id.
    Mail(String),
    /// The inbox of this recipient.
    Person(String),
}

/// One line of the list of mails.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MailLine {
    /// The batch id.
    pub id: String,
    /// The instant of the closing.
    pub at: Instant,
    /// The recipient's IANA zone.
    pub zone: String,
    /// The recipient's id.
    pub recipient: String,
    /// The recipient's name.
    pub name: String,
    /// The recipient's city.
    pub city: String,
    /// The lane's name.
    pub lane: String,
    /// The subject.
    pub subject: String,
    /// Number of its entries.
    pub entries: usize,
}

/// One mail with its content, as the page shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownMail {
    /// Its line in the list.
    #[serde(flatten)]
    pub line: MailLine,
    /// Header fields as decoded text, in their order.
    pub headers: Vec<(String, String)>,
    /// The HTML part; shown only in a sandboxed frame.
    pub html: Option<String>,
    /// The text part.
    pub text: String,
    /// The message as it was sent.
    #[serde(skip)]
    pub raw: Vec<u8>,
}

/// One line of the list of recipients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PersonLine {
    /// The recipient's id.
    pub id: String,
    /// Their name.
    pub name: String,
    /// Their city.
    pub city: String,
    /// ISO 3166 code of its country.
    pub country: String,
    /// Their IANA zone.
    pub zone: String,
    /// Number of artists that they follow.
    pub follows: usize,
    /// Number of e-mails that they got.
    pub mails: usize,
}

/// One recipient as the page shows them: their profile, preferences, open lanes and inbox.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PersonPage {
    /// Their line in the list.
    #[serde(flatten)]
    pub line: PersonLine,
    /// Their address.
    pub email: Option<String>,
    /// `active`, `unconfirmed` or `disabled`.
    pub state: String,
    /// Their preferences; empty where they keep to what everybody gets.
    pub choices: Vec<ShownPreference>,
    /// The topics that they follow, the most followed first; a hundred are enough. The page knows
    /// the names of artists.
    pub topics: Vec<String>,
    /// Lanes that are open, the inbox apart.
    pub waiting: Vec<OpenLane>,
    /// Inbox items that were not seen.
    pub unseen: u64,
    /// Inbox items that were not read.
    pub unread: u64,
    /// Inbox groups, newest first.
    pub inbox: Listing<InboxGroup>,
}

/// A preference as the page shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownPreference {
    /// The category's title, or the type.
    pub scope: String,
    /// The channel.
    pub channel: String,
    /// `never`, `immediate` or a digest's name.
    pub mode: String,
}

/// A lane in which something waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenLane {
    /// The channel.
    pub channel: String,
    /// The lane's name.
    pub lane: String,
    /// The time when it is due; `None` where it waits for the recipient's confirmation.
    pub due: Option<Instant>,
    /// Number of entries that wait.
    pub entries: usize,
}

/// Inbox items with something in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InboxGroup {
    /// Name of what they have in common, such as an artist's name or a show's title.
    pub title: String,
    /// Title of the category.
    pub category: String,
    /// Number of items, of which `items` may be only the first.
    pub count: usize,
    /// The newest item's time.
    pub newest_at: Instant,
    /// True if all of it was seen.
    pub seen: bool,
    /// True if all of it was read.
    pub read: bool,
    /// The items, newest first; a handful is enough.
    pub items: Vec<InboxItem>,
}

/// One thing in an inbox.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InboxItem {
    /// The object's title.
    pub title: String,
    /// The object's page; shown as a link only where it is absolute http or https.
    pub url: Option<String>,
    /// A further line, such as date and medium; may be empty.
    pub note: String,
    /// Its time.
    pub t: Instant,
    /// The reason why it is there: `everyone`, `named`, `near`, `topic:…`.
    pub reasons: Vec<String>,
    /// True if it was seen.
    pub seen: bool,
    /// True if it was read.
    pub read: bool,
}
