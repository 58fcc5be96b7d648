//! The pages of the mailbox: the list, and beside it a mail as several mail programs show it.

use std::path::PathBuf;

use mail_parser::{Address, Message};
use minijinja::{Error, Value, context};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use tidings_mail::{HTML_BYTES_MAX, cut, not_shown};

use crate::html::fill;

/// Number of characters of the preview of a row.
const PREVIEW_CHARS_MAX: usize = 120;
/// The headers that are shown without asking.
const SHOWN: [&str; 5] = ["From", "To", "Reply-To", "Date", "List-Unsubscribe"];

/// The mails of the list.
pub(super) struct Listed {
    pub(super) directory: PathBuf,
    /// Name of the newest file.
    pub(super) newest: String,
    pub(super) rows: Vec<Value>,
}

/// The way in which a mail is shown.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum View {
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

impl View {
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Light, "light", "Light"),
        (Self::Dark, "dark", "Dark"),
        (Self::Bare, "bare", "No styles"),
        (Self::Blocked, "blocked", "No pictures"),
        (Self::Text, "text", "Plain text"),
        (Self::Clients, "clients", "Clients"),
    ];

    fn key(self) -> &'static str {
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

/// A row of the list.
pub(super) fn row(name: &str, mail: &Message<'_>) -> Value {
    let to = mail.to().and_then(Address::first);
    let subject = mail.subject().filter(|text| !text.is_empty());
    let date = mail.date();
    context! {
        date => date.map(mail_parser::DateTime::to_rfc3339),
        shown_date => date.map(|date| {
            format!("{:04}-{:02}-{:02} {:02}:{:02}", date.year, date.month, date.day, date.hour, date.minute)
        }),
        to => to.and_then(|to| to.address()),
        link => link(name),
        subject => subject.unwrap_or("(no subject)"),
        preview => cut(&preview(mail), PREVIEW_CHARS_MAX),
    }
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
pub(super) fn list(listed: Listed) -> Result<String, Error> {
    let Listed { directory, newest, rows } = listed;
    let directory = directory.display().to_string();
    let link: Option<String> = None;
    fill("list", context! { title => "Mailbox", directory, newest, link, mails => rows })
}

/// A mail beside the list.
pub(super) fn mail(
    name: &str,
    view: View,
    mail: &Message<'_>,
    bytes: &[u8],
    listed: Listed,
) -> Result<String, Error> {
    let Listed { directory, newest, rows } = listed;
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
    let values = context! {
        title => mail.subject().unwrap_or_default(),
        directory => directory.display().to_string(),
        newest,
        mails => rows,
        size => size(bytes.len()),
        html_size => size(html.len()),
        text_size => size(text.len()),
        cut_at => (html.len() > HTML_BYTES_MAX).then(|| size(HTML_BYTES_MAX)),
        link => link(name),
        view => view.key(),
        frame => view.frame(),
        views => View::ALL.map(|(_, key, label)| (key, label)),
        shown_headers => shown,
        headers,
        unsupported => unsupported.collect::<Vec<_>>(),
        text => text.lines().collect::<Vec<_>>().join("\n"),
    };
    fill("mail", values)
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

fn link(name: &str) -> String {
    utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()
}

/// "12.3 KB".
fn size(bytes: usize) -> String {
    match bytes {
        ..1_000 => format!("{bytes} bytes"),
        _ => format!("{}.{} KB", bytes / 1_000, bytes % 1_000 / 100),
    }
}
