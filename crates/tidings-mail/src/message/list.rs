//! The headers by which mail programs treat mails as those of a list: how to leave it, which one it is, why the mail
//! came, and what it belongs to.
//!
//! The list, from which one unsubscribes, is the digest that a mail ends; other mails are of the list of their type.

use std::collections::BTreeSet;

use ring::digest::{SHA256, digest};
use tidings_core::content::Batch;

use crate::message::token::Unsubscribe;
use crate::page::design::Design;
use crate::words::text::hex;

/// The prefix of a follower's reason.
const TOPIC: &str = "topic:";
/// The most topics that a header names, and the most characters of one.
const TOPICS_MAX: usize = 5;
const TOPIC_CHARS_MAX: usize = 100;
/// The most characters of a list's name: those of a label of a domain.
const NAME_CHARS_MAX: usize = 63;

/// The values of these headers; all of them are ASCII.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListHead {
    /// The headers of a list; `None` where all types are required.
    pub(crate) list: Option<MailingList>,
    /// The reasons, each once; empty where none is known.
    pub(crate) reasons: Vec<String>,
    /// The `Message-ID` that begins the thread, of a mail that was never sent.
    pub(crate) thread: Option<String>,
}

/// A list that can be left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MailingList {
    /// The `List-ID`, in its brackets.
    pub(crate) id: String,
    pub(crate) feedback_id: String,
    /// The address that leads out.
    pub(crate) unsubscribe: Option<String>,
}

impl ListHead {
    pub(crate) fn of(batch: &Batch, design: &Design) -> Self {
        Self { list: list(batch, design), reasons: reasons(batch), thread: thread(batch, design) }
    }
}

/// The address of the page that unsubscribes; `None` where there is no public address, or nothing to leave.
pub(crate) fn unsubscribe_link(batch: &Batch, design: &Design) -> Option<String> {
    let links = design.links.as_ref()?;
    let types = optional_types(batch, design);
    if types.is_empty() {
        return None;
    }
    let is_digest = design.is_digest(&batch.lane);
    let token = Unsubscribe::of(batch, is_digest, types.into_iter())?;
    Some(format!("{}/u/{}", links.base, token.seal(&links.key)))
}

/// The types of a message that are not required.
fn optional_types<'b>(batch: &'b Batch, design: &Design) -> BTreeSet<&'b str> {
    let types = batch.types().map(|event_type| event_type.as_str());
    types.filter(|event_type| !design.is_required(event_type)).collect()
}

fn list(batch: &Batch, design: &Design) -> Option<MailingList> {
    let types = optional_types(batch, design);
    let first = *types.first()?;
    let name = if design.is_digest(&batch.lane) || types.len() > 1 {
        batch.lane.strip_prefix("digest:").unwrap_or(&batch.lane)
    } else {
        first
    };
    let name = label(name);
    let host = design.sender().host();
    let sender = short(&[host.as_bytes()], 4);
    Some(MailingList {
        id: format!("<{name}.{host}>"),
        feedback_id: format!("{name}:{}:tidings:{sender}", batch.channel),
        unsubscribe: unsubscribe_link(batch, design),
    })
}

/// A name as a label of a list's id (RFC 2919, section 2).
fn label(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }
    };
    let label: String = name.chars().take(NAME_CHARS_MAX).map(plain).collect();
    match label.trim_matches('-') {
        "" => short(&[name.as_bytes()], 4),
        label => label.to_owned(),
    }
}

/// The reasons as words; of topics, which hosts name, those few that are short.
fn reasons(batch: &Batch) -> Vec<String> {
    let lines = batch.groups.iter().flat_map(|group| &group.lines);
    let all: BTreeSet<&str> =
        lines.flat_map(|line| line.reasons.iter()).map(String::as_str).collect();
    let known = ["everyone", "named", "near"].into_iter();
    let mut reasons: Vec<String> =
        known.filter(|reason| all.contains(reason)).map(str::to_owned).collect();
    let topics = all.iter().filter_map(|reason| reason.strip_prefix(TOPIC));
    let topics = topics
        .map(in_ascii)
        .filter(|topic| (1..=TOPIC_CHARS_MAX).contains(&topic.len()))
        .take(TOPICS_MAX);
    reasons.extend(topics.map(|topic| format!("{TOPIC}{topic}")));
    reasons
}

/// A topic with everything percent-encoded that is not plain.
fn in_ascii(topic: &str) -> String {
    let mut out = String::with_capacity(topic.len());
    for byte in topic.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b':' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The root of the thread that the messages of a batch key make.
fn thread(batch: &Batch, design: &Design) -> Option<String> {
    let key = batch.key.as_str();
    if key.is_empty() {
        return None;
    }
    let recipient = batch.recipient.id.as_str();
    let parts = [recipient, &batch.channel, &batch.lane, key].map(str::as_bytes);
    Some(format!("<{}@{}>", short(&parts, 16), design.sender().host()))
}

/// The first bytes of a hash of some parts, as hexadecimal digits.
fn short(parts: &[&[u8]], bytes: usize) -> String {
    let mut named = Vec::new();
    for part in parts {
        named.extend_from_slice(&(part.len() as u64).to_be_bytes());
        named.extend_from_slice(part);
    }
    let hash = digest(&SHA256, &named);
    let hash = hash.as_ref();
    hex(&hash[..bytes.min(hash.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lists_are_labels() {
        for (name, label_of) in [
            ("artwork_published", "artwork-published"),
            ("weekly", "weekly"),
            ("A b\r\nX: y", "a-b--x--y"),
            ("_x_", "x"),
        ] {
            assert_eq!(label(name), label_of);
        }
        assert_eq!(label(&"x".repeat(300)).len(), NAME_CHARS_MAX);
        assert_eq!(label("東京").len(), 8);
        assert_ne!(label("東京"), label("大阪"));
    }

    #[test]
    fn topics_are_plain_ascii() {
        assert_eq!(in_ascii("artist/andy-warhol"), "artist/andy-warhol");
        assert_eq!(in_ascii("a b\r\nX: é,"), "a%20b%0D%0AX:%20%C3%A9%2C");
    }
}
