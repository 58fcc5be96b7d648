//! A message as several devices and programs show it.

use mail_parser::Message;
use minijinja::{Value, context};
use serde::Deserialize;
use tidings_core::Instant;
use tidings_mail::{HTML_BYTES_MAX, not_shown};
use tidings_node::channel::MessageAppearance;

use super::kept::{MailboxContent, MailboxMessage};

/// The headers of a mail that are shown without asking.
const SHOWN: [&str; 6] =
    ["From", "To", "X-Tidings-Recipient", "Reply-To", "Date", "List-Unsubscribe"];

/// The way in which a message is shown.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MessageView {
    /// On a phone and a desktop.
    #[default]
    Light,
    /// The same by night.
    Dark,
    /// As Gmail shows it with the accounts of others: without `<style>`.
    Bare,
    /// With pictures blocked.
    Blocked,
    /// The text part.
    Text,
    /// By what clients ignore.
    Clients,
}

impl MessageView {
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Light, "light", "Light"),
        (Self::Dark, "dark", "Dark"),
        (Self::Bare, "bare", "No styles"),
        (Self::Blocked, "blocked", "No pictures"),
        (Self::Text, "text", "Plain text"),
        (Self::Clients, "clients", "Clients"),
    ];
    /// Number of those that messages other than mails have, from the first.
    const OF_NOTES: usize = 2;

    pub(super) fn key(self) -> &'static str {
        Self::ALL.into_iter().find(|(view, ..)| *view == self).map_or("light", |(_, key, _)| key)
    }

    /// The part of the mail that its frames show; `None` where there are none.
    fn frame(self) -> Option<&'static str> {
        match self {
            Self::Light => Some("html"),
            Self::Dark | Self::Bare | Self::Blocked => Some(self.key()),
            Self::Text | Self::Clients => None,
        }
    }
}

fn views(count: usize) -> Vec<(&'static str, &'static str)> {
    MessageView::ALL.iter().take(count).map(|(_, key, label)| (*key, *label)).collect()
}

/// The values of a mail.
pub(super) fn of_mail(view: MessageView, mail: &Message<'_>, bytes: &[u8]) -> Value {
    let headers: Vec<(String, String)> = mail
        .headers_raw()
        .map(|(name, value)| {
            let value = value.replace("\r\n", "").replace('\t', " ");
            (name.to_owned(), value.trim().to_owned())
        })
        .collect();
    let shown = headers.iter().filter(|(name, _)| SHOWN.contains(&name.as_str())).cloned();
    let shown: Vec<(String, String)> = shown.collect();
    let html = mail.body_html(0).unwrap_or_default();
    let text = mail.body_text(0).unwrap_or_default();
    let unsupported = not_shown(&html).into_iter().map(|found| {
        context! { what => found.what, by => found.by.join(", "), partly => found.partly.join(", ") }
    });
    context! {
        title => mail.subject().unwrap_or_default(),
        kind => "mail",
        size => size(bytes.len()),
        html_size => size(html.len()),
        text_size => size(text.len()),
        cut_at => (html.len() > HTML_BYTES_MAX).then(|| size(HTML_BYTES_MAX)),
        frame => view.frame(),
        views => views(MessageView::ALL.len()),
        shown_headers => shown,
        headers,
        unsupported => unsupported.collect::<Vec<_>>(),
        text => text.lines().collect::<Vec<_>>().join("\n"),
    }
}

/// The values of another message; `None` = it was not caught.
pub(super) fn of_note(
    kept: &MailboxMessage,
    view: MessageView,
    look: &MessageAppearance,
) -> Option<Value> {
    let MailboxContent::Caught(caught) = &kept.content else {
        return None;
    };
    let message = &caught.message;
    let mut shown = vec![
        ("Recipient", message.head.recipient.as_ref().map(ToString::to_string).unwrap_or_default()),
        (if message.to.len() > 1 { "Addresses" } else { "Address" }, message.to.join("\n")),
    ];
    if !message.from.is_empty() {
        shown.push(("From", message.from.clone()));
    }
    shown.push(("Lane", message.head.lane.clone()));
    let (title, _) = in_short(look);
    let of_look = match look {
        MessageAppearance::Mail => return None,
        MessageAppearance::Text { text, parts, is_gsm } => {
            let (alphabet, length) = if *is_gsm {
                ("GSM-7", text.chars().count())
            } else {
                ("UCS-2", text.encode_utf16().count())
            };
            let counted = if *parts == 1 { "1 part" } else { &format!("{parts} parts") };
            let measure = format!("{counted} · {length} characters · {alphabet}");
            context! { kind => "text", measure, text, sender => message.from.clone() }
        }
        MessageAppearance::Push { title, text, url } => {
            context! { kind => "push", headline => title, text, url }
        }
        MessageAppearance::Chat { title, text, url } => {
            context! { kind => "chat", headline => title, text, url }
        }
        MessageAppearance::Call { headers, body } => {
            let body = serde_json::to_string_pretty(body).unwrap_or_default();
            context! { kind => "call", headers, body, address => message.to.first() }
        }
    };
    Some(context! {
        title,
        shown_headers => shown,
        views => if matches!(look, MessageAppearance::Call { .. }) { Vec::new() } else { views(MessageView::OF_NOTES) },
        is_dark => view == MessageView::Dark,
        time => clock(kept.at),
        ..of_look
    })
}

/// The time of day of an instant, in UTC.
fn clock(at: Instant) -> String {
    at.to_string().chars().skip(11).take(5).collect()
}

/// A headline and some words of a message for the list.
pub(super) fn in_short(look: &MessageAppearance) -> (String, String) {
    let lines = |text: &str| {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        (first.to_owned(), rest.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    match look {
        MessageAppearance::Mail => (String::new(), String::new()),
        MessageAppearance::Text { text, .. }
        | MessageAppearance::Chat { title: None, text, .. } => lines(text),
        MessageAppearance::Push { title, text, .. }
        | MessageAppearance::Chat { title: Some(title), text, .. } => (title.clone(), text.clone()),
        MessageAppearance::Call { body, .. } => {
            let of = |name: &str| body["data"][name].as_str().unwrap_or_default().to_owned();
            (of("title"), of("text"))
        }
    }
}

/// The mail as a program shows it that has a dark side.
pub(super) fn in_the_dark(html: &str) -> String {
    let dark = ["(prefers-color-scheme:dark)", "(prefers-color-scheme: dark)"];
    dark.into_iter().fold(html.to_owned(), |html, query| html.replace(query, "(min-width:0)"))
}

/// The mail as a program shows it that takes its sheets of styles out.
pub(super) fn without_styles(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, sheet)) = rest.split_once("<style") {
        out.push_str(before);
        rest = sheet.split_once("</style>").map_or("", |(_, after)| after);
    }
    out + rest
}

/// "12.3 KB".
fn size(bytes: usize) -> String {
    match bytes {
        ..1_000 => format!("{bytes} bytes"),
        _ => format!("{}.{} KB", bytes / 1_000, bytes % 1_000 / 100),
    }
}
