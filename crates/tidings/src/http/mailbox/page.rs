//! The pages of the mailbox, without a script.

use std::path::Path;

use mail_parser::{Address, Message};
use minijinja::{Error, Value, context};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tidings_mail::{HTML_BYTES_MAX, not_shown};

use crate::html::fill;

/// A row of the list.
pub(super) fn row(name: &str, mail: &Message<'_>, bytes: usize) -> Value {
    let to = mail.to().and_then(Address::first);
    let subject = mail.subject().filter(|text| !text.is_empty());
    context! {
        date => mail.date().map(mail_parser::DateTime::to_rfc3339),
        to => to.and_then(|to| to.address()),
        link => link(name),
        subject => subject.unwrap_or("(no subject)"),
        size => size(bytes),
    }
}

/// The list.
pub(super) fn list(directory: &Path, mails: Vec<Value>) -> Result<String, Error> {
    let directory = directory.display().to_string();
    fill("list", context! { title => "Mails", directory, mails })
}

/// A mail: on a phone and on a desktop, as text, with its headers.
pub(super) fn mail(name: &str, mail: &Message<'_>, bytes: &[u8]) -> Result<String, Error> {
    let headers = mail.headers_raw().map(|(name, value)| {
        let value = value.replace("\r\n", "").replace('\t', " ");
        (name.to_owned(), value.trim().to_owned())
    });
    let html = mail.body_html(0).unwrap_or_default();
    let text = mail.body_text(0).unwrap_or_default();
    let unsupported = not_shown(&html).into_iter().map(|found| (found.what, found.by.join(", ")));
    let values = context! {
        title => mail.subject().unwrap_or_default(),
        size => size(bytes.len()),
        html_size => size(html.len()),
        text_size => size(text.len()),
        cut_at => (html.len() > HTML_BYTES_MAX).then(|| size(HTML_BYTES_MAX)),
        link => link(name),
        headers => headers.collect::<Vec<_>>(),
        unsupported => unsupported.collect::<Vec<_>>(),
        text => text.lines().collect::<Vec<_>>().join("\n"),
    };
    fill("mail", values)
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
