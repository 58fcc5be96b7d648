//! Reports about mails: bounces (RFC 3464, and the texts of servers that know no such thing) and complaints (ARF,
//! RFC 5965).
//!
//! Reports differ as servers do, and anybody can send one. So only the tag in it is trusted ([`crate::MailTag`]); the
//! rest decides only about the kind of report. In doubt it is read as the lesser one: a recipient who is taken for gone
//! gets nothing any more.

mod parts;
mod phrases;
mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use mail_parser::{Message, MessageParser};

use crate::bounce_classifier::{self, Verdict};
use crate::message::tag::MESSAGE_HEADER;
use parts::MailPart;
pub use status::EnhancedStatus;

/// The most characters of a text that are looked at.
const TEXT_CHARS_MAX: usize = 64 << 10;
/// The most recipients that a report is read for.
const RECIPIENTS_MAX: usize = 100;

/// A report about one mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Findings of the report, one for each address that it names.
    pub findings: Vec<Finding>,
    /// Texts that may hold the mail's tag: the addresses to which the report went, and the headers of the mail.
    pub hints: Vec<String>,
}

/// Finding of a report about one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Event that is reported.
    pub event: MailEvent,
    /// The enhanced status code, as the server gave it or as its words mean; `None` = it gave none.
    pub status: Option<EnhancedStatus>,
    /// The reply code of SMTP.
    pub code: Option<u16>,
    /// The addresses in a report that has nothing but words for people: it is about the message only if the message's
    /// address is among them. Empty = the report has fields, and the tag decides.
    pub named: Vec<String>,
}

/// Event in the life of a mail after it was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailEvent {
    /// It arrived.
    Delivered,
    /// It has not arrived yet, and is tried again.
    Delayed,
    /// It did not arrive for a reason about us, independent of the reader.
    Blocked,
    /// It did not arrive; the next one may.
    Bounced,
    /// It did not arrive, and none will: there is no such address.
    Gone,
    /// Its reader called it spam.
    Complained,
    /// Its reader opted out at the provider.
    OptedOut,
    /// Its reader came back at the provider.
    OptedIn,
    /// Its reader opened it.
    Opened,
    /// Its reader followed a link of it.
    Clicked,
}

impl MailEvent {
    /// Tells what a refusal means for the address, from its words and the status beside them.
    #[must_use]
    pub fn of_refusal(words: &str, status: Option<EnhancedStatus>) -> Self {
        judge(words, status, words).event
    }
}

impl Report {
    /// Reads a mail; `None` = it is no report.
    #[must_use]
    pub fn read(mail: &[u8]) -> Option<Self> {
        let message = MessageParser::default().parse_headers(mail)?;
        let parts = parts::of(mail);
        let is_receipt = |part| is_of(part, &["message/disposition-notification"]);
        if parts.iter().any(is_receipt) {
            return None;
        }
        let findings = complaint(&parts)
            .or_else(|| old_complaint(&message, &parts))
            .or_else(|| delivery_status(&message, &parts))
            .or_else(|| words(&message, &parts))?;
        Some(Self { findings, hints: hints(&message, mail) })
    }
}

fn is_of(part: &MailPart, kinds: &[&str]) -> bool {
    kinds.contains(&&*part.kind)
}

/// The fields of a report's blocks, by their names in small letters.
type ReportFields = BTreeMap<String, String>;

fn blocks(text: &str) -> Vec<ReportFields> {
    let mut blocks = vec![ReportFields::new()];
    let mut last: Option<String> = None;
    for line in text.lines() {
        if line.trim().is_empty() {
            if blocks.last().is_some_and(|block| !block.is_empty()) {
                blocks.push(ReportFields::new());
            }
            last = None;
            continue;
        }
        let Some(block) = blocks.last_mut() else {
            continue;
        };
        if line.starts_with([' ', '\t'])
            && let Some(value) = last.as_ref().and_then(|name| block.get_mut(name))
        {
            value.push(' ');
            value.push_str(line.trim());
        } else if let Some((name, value)) = line.split_once(':') {
            let name = name.trim().to_ascii_lowercase();
            block.entry(name.clone()).or_insert_with(|| value.trim().to_owned());
            last = Some(name);
        }
    }
    blocks
}

/// The complaint of a feedback report.
fn complaint(parts: &[MailPart]) -> Option<Vec<Finding>> {
    let report = parts.iter().find(|part| is_of(part, &["message/feedback-report"]))?;
    let fields = blocks(&report.text).into_iter().next()?;
    let event = match fields.get("feedback-type").map(|kind| kind.to_ascii_lowercase()) {
        Some(kind) if kind.starts_with("opt-out") => MailEvent::OptedOut,
        // About what others sent in our name, or a mistake that is taken back.
        Some(kind) if kind.starts_with("auth-failure") || kind.starts_with("not-spam") => {
            return Some(Vec::new());
        }
        _ => MailEvent::Complained,
    };
    Some(vec![Finding { event, status: None, code: None, named: Vec::new() }])
}

/// The complaint of a reader at Microsoft in the older form: the mail itself, from one known address.
fn old_complaint(message: &Message<'_>, parts: &[MailPart]) -> Option<Vec<Finding>> {
    let from = message.header_raw("From")?.to_ascii_lowercase();
    let holds_it = parts.iter().any(|part| is_of(part, &["message/rfc822"]));
    (from.contains("staff@hotmail.com") && holds_it).then(|| {
        vec![Finding { event: MailEvent::Complained, status: None, code: None, named: Vec::new() }]
    })
}

/// Reads the blocks of a delivery status, each of one recipient.
fn delivery_status(message: &Message<'_>, parts: &[MailPart]) -> Option<Vec<Finding>> {
    let kinds = ["message/delivery-status", "message/global-delivery-status"];
    let words = explanation(parts);
    // What is a text alone may be somebody's who cites a report.
    let is_of_server = is_of_server(message, &words);
    let is_plain = |part: &&MailPart| part.is_text && is_of_server;
    for part in parts.iter().filter(|part| is_of(part, &kinds)).chain(parts.iter().filter(is_plain))
    {
        let of_recipients = blocks(&part.text).into_iter().filter(|block| {
            ["final-recipient", "original-recipient", "x-actual-recipient"]
                .iter()
                .any(|name| block.contains_key(*name))
        });
        let findings: Vec<Finding> = of_recipients
            .take(RECIPIENTS_MAX)
            .map(|block| {
                let named = if part.is_text {
                    phrases::addresses(block.values().map(String::as_str))
                } else {
                    Vec::new()
                };
                Finding { named, ..of_block(&block, &words) }
            })
            .collect();
        if !findings.is_empty() {
            return Some(findings);
        }
    }
    None
}

fn of_block(block: &ReportFields, words: &str) -> Finding {
    let field = |name: &str| block.get(name).map_or("", String::as_str);
    let recipients = ["final-recipient", "original-recipient"].iter();
    let recipients = recipients.filter_map(|name| block.get(*name)?.rsplit([';', ' ']).next());
    let about = recipients
        .map(|recipients| phrases::lines_about(words, recipients.trim_matches(['<', '>'])))
        .filter(|_| field("diagnostic-code").is_empty())
        .find(|text| !text.is_empty());
    let about = about.unwrap_or_default();
    let said = match field("diagnostic-code") {
        "" => &*about,
        said => said,
    };
    let stated = EnhancedStatus::find(field("status"));
    let action = field("action").to_ascii_lowercase();
    let mut finding = judge(said, stated, words);
    match &*action {
        "delayed" => finding.event = MailEvent::Delayed,
        "delivered" | "relayed" | "expanded" => finding.event = MailEvent::Delivered,
        _ => {}
    }
    finding
}

/// Finds out what a text means, with the status that was stated beside it.
fn judge(said: &str, stated: Option<EnhancedStatus>, words: &str) -> Finding {
    let found = EnhancedStatus::find(said);
    // A server's own code says more than what another made of it.
    let status = match (stated, found) {
        (Some(stated), Some(found)) if stated.is_general() || stated.class() == found.class() => {
            Some(found)
        }
        (stated, found) => stated.or(found),
    };
    let code = status::reply_code(said);
    let said = if said.trim().is_empty() { words } else { said };
    let event = match status.map(EnhancedStatus::class) {
        Some(2) => MailEvent::Delivered,
        _ => match bounce_classifier::judge(phrases::stage(words), code, status, said) {
            Verdict::Gone => MailEvent::Gone,
            Verdict::Soft | Verdict::Mailbox => MailEvent::Bounced,
            Verdict::Ours(_) => MailEvent::Blocked,
        },
    };
    Finding { event, status, code, named: Vec::new() }
}

/// The text for people, up to the returned mail.
fn explanation(parts: &[MailPart]) -> String {
    let text = parts.iter().find(|part| part.is_text);
    phrases::before_the_mail(text.map_or("", |part| &part.text))
}

/// Returns true if a mail is a server's about a delivery, and not of a person or a program of theirs.
fn is_of_server(message: &Message<'_>, said: &str) -> bool {
    let header = |name: &'static str| message.header_raw(name).unwrap_or_default().trim();
    let has = |name: &'static str, values: &[&str]| {
        let value = header(name).to_ascii_lowercase();
        values.iter().any(|begin| value.starts_with(begin))
    };
    // People and their programs answer to the address of bounces too (RFC 3834, section 4).
    let is_reply = has("Auto-Submitted", &["auto-replied"])
        || has("Precedence", &["bulk", "auto_reply", "auto-reply"])
        || !header("X-Auto-Response-Suppress").is_empty();
    let from = header("From").to_ascii_lowercase();
    let is_daemon = ["mailer-daemon", "mail-daemon", "mail delivery", "mailsubsystem"]
        .iter()
        .any(|name| from.contains(name))
        || has("Content-Type", &["multipart/report"]);
    // Servers send with a null return path, but so do vacation notes, and newsletters come from a postmaster.
    let may_be_a_server = from.contains("postmaster") || header("Return-Path") == "<>";
    let subject = message.subject().unwrap_or_default();
    let is_about_delivery = phrases::is_about_delivery(subject) || phrases::is_about_delivery(said);
    is_daemon || may_be_a_server && is_about_delivery && !is_reply
}

/// Reads a report in words alone.
fn words(message: &Message<'_>, parts: &[MailPart]) -> Option<Vec<Finding>> {
    let said = explanation(parts);
    if !is_of_server(message, &said) {
        return None;
    }
    let subject = message.subject().unwrap_or_default();
    let is_delay = phrases::is_delay(subject) || phrases::is_delay(&said);
    let findings = phrases::by_recipient(&said).into_iter().take(RECIPIENTS_MAX).map(|part| {
        let named = phrases::addresses([&*part]);
        let mut finding = judge(&part, None, &said);
        if finding.event == MailEvent::Gone && named.is_empty() {
            finding.event = MailEvent::Bounced;
        }
        if is_delay {
            finding.event = MailEvent::Delayed;
        }
        Finding { named, ..finding }
    });
    Some(findings.collect())
}

/// The texts in which the mail's tag may stand.
fn hints(message: &Message<'_>, mail: &[u8]) -> Vec<String> {
    let addressed = ["Delivered-To", "X-Original-To", "Envelope-To", "To"];
    let mut hints: Vec<String> = addressed
        .iter()
        .filter_map(|name| message.header_raw(*name))
        .map(|value| value.trim().to_owned())
        .collect();
    let text = String::from_utf8_lossy(mail);
    let marked = text.lines().filter_map(|line| {
        let (name, value) = line.trim_start_matches(['>', ' ', '\t']).split_once(':')?;
        let is_marked = name.eq_ignore_ascii_case(MESSAGE_HEADER)
            || name.eq_ignore_ascii_case("Original-Mail-From")
            || name.eq_ignore_ascii_case("Return-Path");
        is_marked.then(|| value.trim().to_owned())
    });
    hints.extend(marked.take(RECIPIENTS_MAX));
    hints
}
