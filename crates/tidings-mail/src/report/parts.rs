//! Parts of a mail that anybody may have sent, down to a bounded depth.
//!
//! The parser of the library builds and drops mails within mails by recursion, without a bound, so a small mail can
//! overflow the stack. Here it is given headers and single parts alone; the tree is walked here. A boundary counts
//! only at the beginning of a line (RFC 2046, section 5.1.1), which the library does not demand.

use mail_parser::decoders::{base64::base64_decode, quoted_printable::quoted_printable_decode};
use mail_parser::{Message, MessageParser, MimeHeaders as _, PartType};

use super::TEXT_CHARS_MAX;

/// The most levels of parts and of mails within mails that are read. Real reports have three or four.
const DEPTH_MAX: usize = 20;
/// The most parts that are read.
const PARTS_MAX: usize = 1000;

/// A part of a mail, or of a mail within it.
pub(super) struct MailPart {
    /// Its type in small letters, such as `text/plain`.
    pub(super) kind: String,
    /// Its decoded text, or the headers and body of a mail within the mail.
    pub(super) text: String,
    /// The part is a text for people.
    pub(super) is_text: bool,
}

/// Reads all parts of a mail. What is nested too deep is left out.
pub(super) fn of(mail: &[u8]) -> Vec<MailPart> {
    let mut parts = Vec::new();
    walk(mail, false, 0, &mut parts);
    parts
}

fn walk(entity: &[u8], is_in_digest: bool, depth: usize, parts: &mut Vec<MailPart>) {
    if depth > DEPTH_MAX || parts.len() >= PARTS_MAX {
        return;
    }
    let parser = MessageParser::default();
    let headers = parser.parse_headers(entity);
    let (kind, boundary) = kind(headers.as_ref(), is_in_digest);
    let body = body(entity, headers.as_ref());
    if kind.starts_with("multipart/") {
        let pieces = boundary.map_or_else(Vec::new, |boundary| split(body, &boundary));
        for piece in &pieces {
            walk(piece, kind == "multipart/digest", depth + 1, parts);
        }
        if pieces.is_empty() {
            parts.push(leaf(&[b"\n", body].concat(), "text/plain".to_owned()));
        }
    } else if matches!(&*kind, "message/rfc822" | "message/global") {
        if let Some(inner) = decoded(headers.as_ref(), body) {
            let text = cut(&String::from_utf8_lossy(&inner));
            let is_text = false;
            parts.push(MailPart { kind, text, is_text });
            walk(&inner, false, depth + 1, parts);
        }
    } else {
        parts.push(leaf(entity, kind));
    }
}

/// The body of a part: the bytes after its headers and an empty line.
fn body<'e>(entity: &'e [u8], headers: Option<&Message<'_>>) -> &'e [u8] {
    let root = headers.and_then(|headers| headers.parts.first());
    let last = root.and_then(|root| root.headers.last());
    let at = last.map_or(0, |last| last.offset_end as usize);
    let mut rest = entity.get(at..).unwrap_or_default();
    // Lines that are no fields are passed over, as the parser does.
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let line;
        (line, rest) = rest.split_at(end + 1);
        if line.trim_ascii().is_empty() {
            return rest;
        }
    }
    b""
}

/// The type of a part, and its boundary.
fn kind(headers: Option<&Message<'_>>, is_in_digest: bool) -> (String, Option<String>) {
    let kind = headers.and_then(|headers| headers.content_type());
    let Some(kind) = kind else {
        let kind = if is_in_digest { "message/rfc822" } else { "text/plain" };
        return (kind.to_owned(), None);
    };
    let boundary = kind.attribute("boundary").map(str::to_owned);
    let subtype = kind.subtype().unwrap_or_default();
    let kind = format!("{}/{subtype}", kind.ctype()).to_ascii_lowercase();
    (kind, boundary)
}

/// Reads a part that holds no others.
fn leaf(entity: &[u8], kind: String) -> MailPart {
    let message = MessageParser::default().parse(entity);
    let part = message.as_ref().and_then(|message| message.parts.first());
    let (text, is_text) = match part.map(|part| &part.body) {
        Some(PartType::Text(text)) => (cut(text), true),
        Some(PartType::Html(html)) => {
            let text = mail_parser::decoders::html::html_to_text(html);
            (cut(&text), true)
        }
        Some(PartType::Binary(bytes) | PartType::InlineBinary(bytes)) => {
            (cut(&String::from_utf8_lossy(bytes)), false)
        }
        _ => (cut(&String::from_utf8_lossy(entity)), true),
    };
    MailPart { kind, text, is_text }
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

/// The mail within a part. Most are not encoded (RFC 2046, section 5.2.1), some are.
fn decoded(headers: Option<&Message<'_>>, body: &[u8]) -> Option<Vec<u8>> {
    let encoding = headers.and_then(|headers| headers.parts.first()?.content_transfer_encoding());
    match encoding.map(str::to_ascii_lowercase).as_deref() {
        Some("base64") => base64_decode(body),
        Some("quoted-printable") => quoted_printable_decode(body),
        _ => Some(body.to_vec()),
    }
}

/// Cuts a body at the lines that are its boundary; what stands before the first belongs to no part.
fn split<'b>(body: &'b [u8], boundary: &str) -> Vec<&'b [u8]> {
    let mut pieces = Vec::new();
    let mut begin = None;
    let mut at = 0;
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        let (from, after) = (at, at + line.len());
        at = after;
        let Some(rest) =
            line.strip_prefix(b"--").and_then(|line| line.strip_prefix(boundary.as_bytes()))
        else {
            continue;
        };
        let rest = rest.trim_ascii();
        if !matches!(rest, b"" | b"--") {
            continue;
        }
        pieces.extend(begin.map(|begin| &body[begin..from]));
        begin = Some(after).filter(|_| rest.is_empty());
        if begin.is_none() || pieces.len() >= PARTS_MAX {
            return pieces;
        }
    }
    // Many a report is cut off before its last boundary.
    pieces.extend(begin.map(|begin| &body[begin..]));
    pieces
}
