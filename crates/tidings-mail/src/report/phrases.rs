//! Words by which reports say what they are, and at which moment a mail was refused.

use crate::bounce_classifier::RefusalStage;

/// Words of a server that refused the mail only after all of it.
const AFTER_DATA: &[&str] = &["end of data", ">>> data", "\ndata\n", "final data"];

/// Words of a server that refused the recipient.
const AT_RECIPIENT: &[&str] = &[
    "rcpt to",
    "rcpt:",
    "does not like recipient",
    "has rejected address",
    "address couldn't be found",
];

/// The moment at which a server refused a mail, by a text.
pub(super) fn stage(text: &str) -> RefusalStage {
    let text = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
    if has(AFTER_DATA) {
        RefusalStage::Data
    } else if has(AT_RECIPIENT) {
        RefusalStage::Recipient
    } else {
        RefusalStage::Unknown
    }
}

/// Lines that stand before the returned mail.
const RETURNED: &[&str] = &[
    "original message",
    "copy of the message",
    "copy of your message",
    "below this line",
    "headers follow",
    "message follows",
];

/// The part of a text that stands before the mail that comes back.
pub(super) fn before_the_mail(text: &str) -> String {
    let begins = |line: &str| {
        let small = line.to_lowercase();
        let is_reported = small.contains("message was received");
        RETURNED.iter().any(|words| small.contains(words)) && !is_reported
            || ["Received:", "Return-Path:", "Return-path:"]
                .iter()
                .any(|name| line.starts_with(name))
    };
    let lines = text.lines().take_while(|line| !begins(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns true if a text is about the delivery of a mail.
pub(super) fn is_about_delivery(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "undeliver",
        "delivery",
        "returned mail",
        "failure",
        "could not be delivered",
        "did not reach",
        "not delivered",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// Returns true if a text announces another attempt.
pub(super) fn is_delay(text: &str) -> bool {
    let text = text.to_lowercase();
    ["warning message only", "delayed", "will be retried", "will keep trying"]
        .iter()
        .any(|words| text.contains(words))
}

/// The lines of a text that name an address.
pub(super) fn lines_about(text: &str, address: &str) -> String {
    let lines = text.lines().filter(|line| !address.is_empty() && line.contains(address));
    lines.collect::<Vec<_>>().join("\n")
}

/// The parts of a text about each recipient: from one line that begins with an address to the next.
pub(super) fn by_recipient(text: &str) -> Vec<String> {
    let mut parts: Vec<(&str, String)> = Vec::new();
    let mut before = String::new();
    let mut known = true;
    for line in text.lines() {
        if let Some(address) = address_at_start(line) {
            known = parts.iter().any(|(of, _)| *of == address);
            if !known {
                parts.push((address, String::new()));
            }
        }
        let part = match parts.last_mut() {
            Some((_, part)) if !known => part,
            _ => &mut before,
        };
        part.push_str(line);
        part.push('\n');
    }
    match parts.len() {
        0 | 1 => vec![text.to_owned()],
        _ => parts.into_iter().map(|(_, part)| part).collect(),
    }
}

/// Maximum number of addresses that are read in the part about one recipient.
const ADDRESSES_MAX: usize = 20;

/// The addresses in some texts.
pub(super) fn addresses<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let is_apart = |c: char| c.is_whitespace() || "<>()[]{}\"',;:|".contains(c);
    let addresses = texts
        .into_iter()
        .flat_map(|text| text.split(is_apart))
        .map(|word| word.trim_matches(['.', '?', '!', '…']))
        .filter(|word| word.contains('@') && crate::address(word).is_some());
    addresses.take(ADDRESSES_MAX).map(str::to_owned).collect()
}

fn address_at_start(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let is_code = first.len() == 3 && first.bytes().all(|byte| byte.is_ascii_digit());
    let word = if is_code { words.next()? } else { first };
    let address = word.trim_matches(['<', '>', ':', '.', ',']);
    crate::address(address).map(|_| address)
}
