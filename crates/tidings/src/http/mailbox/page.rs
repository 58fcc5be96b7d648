//! The pages of the mailbox, without a script.

use std::path::Path;

use mail_parser::{Address, Message};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tidings_mail::{HTML_BYTES_MAX, not_shown};

use crate::wording::escaped;

const STYLE: &str = ":root{color-scheme:light dark;--rule:#8884}\
body{margin:0;padding:24px;font:15px/22px system-ui,sans-serif}\
a{color:inherit}h1{font-size:22px;line-height:28px;margin:12px 0}\
table{border-collapse:collapse;width:100%;margin:0 0 20px}\
td,th{padding:6px 12px 6px 0;border-bottom:1px solid var(--rule);text-align:start;vertical-align:top}\
th{font-weight:600;white-space:nowrap}td{overflow-wrap:anywhere}.n{text-align:end;white-space:nowrap}\
.frames{display:flex;flex-wrap:wrap;gap:20px}iframe{height:900px;border:1px solid var(--rule);background:#fff}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:16px;border:1px solid var(--rule)}";

fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title}</title><style>{STYLE}</style></head>\n\
         <body>{body}</body></html>\n"
    )
}

/// A row of the list.
pub(super) fn row(name: &str, mail: &Message<'_>, bytes: usize) -> String {
    let link = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let to = mail.to().and_then(Address::first);
    let to = to.and_then(|to| to.address()).unwrap_or_default();
    let date = mail.date().map(mail_parser::DateTime::to_rfc3339);
    format!(
        "<tr><td class=\"n\">{}</td><td>{}</td><td dir=\"auto\"><a href=\"/_mail/{link}\">{}</a></td><td class=\"n\">{}</td></tr>\n",
        escaped(&date.unwrap_or_default()),
        escaped(to),
        escaped(
            mail.subject()
                .filter(|text| !text.is_empty())
                .unwrap_or("(no subject)")
        ),
        size(bytes),
    )
}

/// The list.
pub(super) fn list(directory: &Path, rows: &[String]) -> String {
    let what = match rows.len() {
        0 => "There is no mail yet.".to_owned(),
        _ => format!(
            "<table><tr><th>Date</th><th>To</th><th>Subject</th><th class=\"n\">Size</th></tr>\n{}</table>",
            rows.concat()
        ),
    };
    let directory = escaped(&directory.display().to_string());
    page("Mails", &format!("<h1>Mails in {directory}</h1>\n{what}"))
}

/// A mail: on a phone and on a desktop, as text, with its headers.
pub(super) fn mail(name: &str, mail: &Message<'_>, bytes: &[u8]) -> String {
    let link = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let subject = mail.subject().unwrap_or_default();
    let headers = mail.headers_raw().map(|(name, value)| {
        let value = value.replace("\r\n", "").replace('\t', " ");
        format!(
            "<tr><th>{}</th><td>{}</td></tr>\n",
            escaped(name),
            escaped(value.trim())
        )
    });
    let headers: String = headers.collect();
    let html = mail.body_html(0);
    let html_bytes = html.as_ref().map_or(0, |html| html.len());
    let cut = match html_bytes > HTML_BYTES_MAX {
        true => format!(
            " Gmail cuts off HTML of more than {}.",
            size(HTML_BYTES_MAX)
        ),
        false => String::new(),
    };
    let text = mail.body_text(0).unwrap_or_default();
    let frame = |width: u16| {
        format!(
            "<iframe src=\"/_mail/{link}/html\" width=\"{width}\" title=\"{width} pixels\" sandbox=\"allow-popups\"></iframe>"
        )
    };
    let body = format!(
        "<p><a href=\"/_mail\">All mails</a></p>\n<h1>{}</h1>\n<p>{} in all, {} of HTML, {} of text.{cut} \
         <a href=\"/_mail/{link}/source\">Source</a></p>\n<table>{headers}</table>\n\
         <div class=\"frames\">{}{}</div>\n{}<pre>{}</pre>",
        escaped(subject),
        size(bytes.len()),
        size(html_bytes),
        size(text.len()),
        frame(375),
        frame(700),
        unsupported(html.as_deref().unwrap_or_default()),
        text.lines().map(escaped).collect::<Vec<_>>().join("\n"),
    );
    page(subject, &body)
}

/// The table of what clients do not show.
fn unsupported(html: &str) -> String {
    let rows = not_shown(html).into_iter().map(|found| {
        let what = escaped(&found.what);
        format!("<tr><th>{what}</th><td>{}</td></tr>\n", found.by.join(", "))
    });
    match rows.collect::<String>() {
        rows if rows.is_empty() => rows,
        rows => format!(
            "<details><summary>What some clients ignore</summary><table>\n{rows}</table></details>\n"
        ),
    }
}

/// "12.3 KB".
fn size(bytes: usize) -> String {
    match bytes {
        ..1_000 => format!("{bytes} bytes"),
        _ => format!("{}.{} KB", bytes / 1_000, bytes % 1_000 / 100),
    }
}
