//! Words by which servers say what a code leaves open.

/// Meaning of a text for the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It refuses this mail, or mails now.
    Refused,
    /// There is no such address.
    Gone,
    /// There is no such address, whenever it is said.
    NoAccount,
}

/// Words of refusals that say nothing of the address: they go first, since some of these texts also say "rejected",
/// "unknown" or "does not exist".
const REFUSED: &[&str] = &[
    "mailbox full",
    "mailbox is full",
    "over quota",
    "quota exceeded",
    "exceeded storage",
    "insufficient disk",
    "blocked",
    "blacklisted url",
    "blocklist",
    "spam",
    "spf",
    "dkim",
    "dmarc",
    "policy",
    "reputation",
    "relay",
    "too large",
    "too big",
    "size limit",
    "suspended",
    "disabled",
    "inactive",
    "virus",
    "timed out",
    "timeout",
    "has sent to too many",
    "permission to post",
    "not found, try again",
    "name server reply",
    "open relay",
    "sender address",
    "of sender",
    "after mail from",
    "procmail",
];

/// Words that tell of an address that does not exist, whenever they are said.
const NO_ACCOUNT: &[&str] = &[
    "doesn't have a",
    "invalid recipient",
    "no valid recipients",
    "unknown host",
    "host unknown",
    "host/domain name",
    "domain is not reachable",
    "domain may not exist",
    "invalid domain",
    "find a mail exchanger",
    "no mx record",
    "system not accepting",
];

/// Words of servers that know no such address.
const GONE: &[&str] = &[
    "user unknown",
    "unknown user",
    "not listed in",
    "check if address is correct",
    "recipient name is not recognized",
    "no such user",
    "does not exist",
    "doesn't exist",
    "unknown recipient",
    "recipient unknown",
    "not recognized",
    "not found",
    "no mailbox",
    "mailbox unavailable",
    "invalid final delivery userid",
    "recipient address rejected: access denied",
    "has moved",
    "unknown address",
    "unknown or illegal",
    "other recipients in the same domain",
    "見つかりません",
    "リストにありません",
];

/// Words that tell that a server refused the mail only once it had it whole.
const AFTER_DATA: &[&str] = &["end of data", ">>> data", "\ndata\n", "final data"];

/// Words that tell that it refused the recipient.
const AT_RECIPIENT: &[&str] = &[
    "rcpt to",
    "rcpt:",
    "does not like recipient",
    "address couldn't be found",
];

/// The moment at which a server refused a mail, as a text tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It refused the recipient: who knows its users does so then.
    AtRecipient,
    /// It refused the mail once it had it.
    AfterData,
    /// It does not say.
    Untold,
}

impl Refusal {
    pub(super) fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
        if has(AFTER_DATA) {
            return Self::AfterData;
        }
        match has(AT_RECIPIENT) {
            true => Self::AtRecipient,
            false => Self::Untold,
        }
    }
}

impl Meaning {
    /// The meaning of a text; `None` = its words are not known.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.to_lowercase().replace(['\r', '\n'], " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
        if has(REFUSED) {
            return Some(Self::Refused);
        }
        if has(NO_ACCOUNT) {
            return Some(Self::NoAccount);
        }
        has(GONE).then_some(Self::Gone)
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
        let is_told_of = small.contains("message was received");
        RETURNED.iter().any(|words| small.contains(words)) && !is_told_of
            || ["Received:", "Return-Path:", "Return-path:"]
                .iter()
                .any(|name| line.starts_with(name))
    };
    let lines = text.lines().take_while(|line| !begins(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Tells whether a text is about the delivery of a mail.
pub(super) fn is_about_delivery(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "undeliver",
        "delivery",
        "returned mail",
        "failure",
        "could not be delivered",
        "not delivered",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// Tells whether a text says that a mail is tried again.
pub(super) fn is_delay(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "warning message only",
        "delayed",
        "will be retried",
        "will keep trying",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// The lines of a text that name an address.
pub(super) fn lines_about(text: &str, address: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !address.is_empty() && line.contains(address));
    lines.collect::<Vec<_>>().join("\n")
}

/// A text cut into what it says of each recipient: from one line that begins with an address to the next.
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

fn address_at_start(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let is_code = first.len() == 3 && first.bytes().all(|byte| byte.is_ascii_digit());
    let word = if is_code { words.next()? } else { first };
    let address = word.trim_matches(['<', '>', ':', '.', ',']);
    crate::address(address).map(|_| address)
}
