//! The pages of the mailbox: the list, and beside it a message.

use std::io;

use mail_parser::{Address, Message};
use minijinja::{Error, Value, context};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tidings_core::model::{ChannelKind, EMAIL, channel_kind, sending_channels};
use tidings_core::{Instant, Rules};
use tidings_mail::cut;
use tidings_node::channel::MessageAppearance;

use super::filter::Filter;
use super::kept::{MailboxContent, MailboxMessage, MessagePlaces, parsed};
use super::message::{self, MessageView};
use crate::html::fill_with_bar;

/// The name of these pages in the bar.
const HERE: &str = "mailbox";
/// Number of characters of the preview of a row.
const PREVIEW_CHARS_MAX: usize = 120;
/// Number of rows of a page.
const ROWS: usize = 100;

/// A page of the list.
pub(super) struct MailboxPage {
    filter: Filter,
    /// True if a channel keeps its messages here.
    catches: bool,
    /// Name of the newest message, whether it is listed or not.
    newest: String,
    /// The channels that have messages, by name.
    channels: Vec<&'static ChannelKind>,
    /// Number of messages of the list.
    count: usize,
    rows: Vec<Value>,
}

impl MailboxPage {
    /// Reads a page of the list.
    pub(super) fn of(places: &MessagePlaces, filter: Filter) -> io::Result<Self> {
        let all = places.newest()?;
        let newest = all.first().map(|kept| kept.name.clone()).unwrap_or_default();
        let has = |kind: &&ChannelKind| all.iter().any(|kept| kept.channel() == kind.name);
        let channels = sending_channels().filter(has).collect();
        let found: Vec<&MailboxMessage> = all.iter().filter(|kept| filter.has(kept)).collect();
        let query = filter.query();
        let rows = found.iter().skip(filter.from).take(ROWS);
        let rows = rows.filter_map(|kept| row(kept, &query)).collect();
        Ok(Self { catches: places.catches, newest, channels, count: found.len(), rows, filter })
    }

    /// The values of the templates.
    fn values(self) -> Value {
        let Self { filter, catches, newest, channels, count, rows } = self;
        let chips = channels.iter().map(|kind| {
            let is_on = filter.channel == kind.name;
            let query = filter.on(if is_on { "" } else { kind.name }).query();
            context! { name => kind.name, title => title_of(kind.name), is_on, query }
        });
        let older = filter.from + ROWS;
        context! {
            to => filter.to.clone(),
            channel => filter.channel.clone(),
            is_filtered => !filter.is_empty(),
            query => filter.query(),
            all => filter.on("").query(),
            newer => (filter.from > 0).then(|| filter.starting(filter.from.saturating_sub(ROWS)).query()),
            older => (older < count).then(|| filter.starting(older).query()),
            chips => chips.collect::<Vec<_>>(),
            catches, newest, count, rows,
        }
    }
}

/// The name of a channel in the list.
pub(super) fn title_of(name: &str) -> &'static str {
    match channel_kind(name) {
        Some(kind) if kind.name == EMAIL => "Email",
        Some(kind) if kind.name == "webhook" => "Webhook",
        Some(kind) => kind.title,
        None => "Message",
    }
}

/// A row of the list; `None` = it can't be read, or may hold other mails.
fn row(kept: &MailboxMessage, query: &str) -> Option<Value> {
    let (recipient, subject, preview) = match &kept.content {
        MailboxContent::Caught(caught) => match caught.look()? {
            MessageAppearance::Mail => of_mail(&kept.bytes().ok()?)?,
            look => {
                let to = caught.message.head.recipient.as_ref().map(ToString::to_string);
                let (subject, preview) = message::in_short(&look);
                (to.unwrap_or_default(), subject, preview)
            }
        },
        MailboxContent::File(_) => of_mail(&kept.bytes().ok()?)?,
    };
    Some(context! {
        link => link(&kept.name),
        query,
        channel => kept.channel(),
        channel_title => title_of(kept.channel()),
        at => kept.at.to_string(),
        shown_at => shown(kept.at),
        to => recipient,
        subject => cut(&subject, PREVIEW_CHARS_MAX),
        preview => cut(&preview, PREVIEW_CHARS_MAX),
    })
}

/// The address, the subject and the preview of a mail.
fn of_mail(bytes: &[u8]) -> Option<(String, String, String)> {
    let mail = parsed(bytes)?;
    let to = mail.to().and_then(Address::first).and_then(|to| to.address());
    let subject = mail.subject().filter(|text| !text.is_empty()).unwrap_or("(no subject)");
    Some((to.unwrap_or_default().to_owned(), subject.to_owned(), preview(&mail)))
}

/// The text that lists of mails show beside the subject: the hidden text at the top, else the first lines.
fn preview(mail: &Message<'_>) -> String {
    let html = mail.body_html(0).unwrap_or_default();
    let hidden = html.split_once("<div style=\"display:none").and_then(|(_, hidden)| {
        let (_, inner) = hidden.split_once('>')?;
        let (inner, _) = inner.split_once("</div>")?;
        // What fills the rest of the line begins with a joiner of nothing.
        Some(mail_parser::decoders::html::html_to_text(inner.split("&#847;").next()?))
    });
    hidden.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).unwrap_or_else(|| {
        let text = mail.body_text(0).unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.skip(1).take(3).collect::<Vec<_>>().join(" ")
    })
}

/// The list.
pub(super) fn list(listed: MailboxPage, rules: &Rules) -> Result<String, Error> {
    let values = context! { title => "Mailbox", link => "", ..listed.values() };
    fill_with_bar("list", HERE, rules, values)
}

/// A message beside the list; `None` = it can't be read.
pub(super) fn message(
    kept: &MailboxMessage,
    view: MessageView,
    bytes: &[u8],
    listed: MailboxPage,
    rules: &Rules,
) -> Result<Option<String>, Error> {
    let look = match &kept.content {
        MailboxContent::Caught(caught) => caught.look(),
        MailboxContent::File(_) => Some(MessageAppearance::Mail),
    };
    let values = match look {
        Some(MessageAppearance::Mail) => {
            parsed(bytes).map(|mail| message::of_mail(view, &mail, bytes))
        }
        Some(look) => message::of_note(kept, view, &look),
        None => None,
    };
    let Some(values) = values else {
        return Ok(None);
    };
    let of_kept = context! {
        link => link(&kept.name),
        view => view.key(),
        channel_of => kept.channel(),
        channel_title => title_of(kept.channel()),
        shown_at => shown(kept.at),
    };
    let values = context! { ..of_kept, ..values, ..listed.values() };
    fill_with_bar("message", HERE, rules, values).map(Some)
}

/// An instant for people, in UTC.
fn shown(at: Instant) -> String {
    at.to_string().chars().take(16).collect::<String>().replace('T', " ")
}

fn link(name: &str) -> String {
    utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()
}
