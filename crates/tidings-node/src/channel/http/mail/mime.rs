//! The parts of a rendered mail, for providers that take parts and no mail.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mail_parser::MessageParser;
use tidings_mail::MESSAGE_HEADER;

use crate::channel::{Outcome, Rendered};

/// The headers of a mail that go with its parts; the provider writes the others itself.
const KEPT: [&str; 12] = [
    "Message-ID",
    "References",
    "List-ID",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "Feedback-ID",
    "Auto-Submitted",
    "X-Auto-Response-Suppress",
    "X-Tidings-Reason",
    "X-Tidings-Batch",
    MESSAGE_HEADER,
    "In-Reply-To",
];

/// The parts of a mail.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) subject: String,
    /// The name of the sender, without the address.
    pub(crate) from_name: Option<String>,
    pub(crate) text: String,
    pub(crate) html: String,
    /// The kept headers in the order of the mail, unfolded.
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Parts {
    /// Takes a mail apart.
    ///
    /// # Errors
    /// The outcome of one that is none, which the renderer does not make.
    pub(crate) fn of(message: &Rendered) -> Result<Self, Outcome> {
        let broken = || Outcome::Failed {
            why: "render: the mail can't be taken apart".to_owned(),
            suppress: None,
        };
        let mail = MessageParser::default().parse(&message.bytes).ok_or_else(broken)?;
        let from = mail.from().and_then(|from| from.first());
        let mut headers = Vec::new();
        for (name, value) in mail.headers_raw() {
            if let Some(header) = KEPT.iter().find(|header| header.eq_ignore_ascii_case(name)) {
                headers.push((*header, unfolded(value)));
            }
        }
        Ok(Self {
            subject: mail.subject().unwrap_or_default().to_owned(),
            from_name: from.and_then(|from| from.name()).map(str::to_owned),
            text: mail.body_text(0).ok_or_else(broken)?.into_owned(),
            html: mail.body_html(0).ok_or_else(broken)?.into_owned(),
            headers,
        })
    }
}

/// Ids of a mail that a provider keeps beside it and names in its reports.
pub(crate) fn known_by(message: &Rendered) -> Vec<(&'static str, &str)> {
    let lines = message
        .bytes
        .split(|byte| *byte == b'\n')
        .map_while(|line| str::from_utf8(line).ok().map(str::trim_end));
    let mut lines = lines.take_while(|line| !line.is_empty());
    let tag = lines.find_map(|line| line.strip_prefix(MESSAGE_HEADER)?.strip_prefix(": "));
    let tag = tag.map(|tag| ("tidings_message", tag));
    let batch = ("tidings_batch", message.head.id.as_str());
    [batch].into_iter().chain(tag).collect()
}

/// A header's value on one line.
fn unfolded(value: &str) -> String {
    let lines = value.lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A mail as base64.
pub(crate) fn in_base64(message: &Rendered) -> String {
    STANDARD.encode(&message.bytes)
}
