//! The message as bytes: headers and two alternatives, the same for the same batch.
//!
//! The mail library's own message builder is not used, as it would draw a random boundary and can't
//! carry a `Date` before 1970; its encoders of headers and bodies are.

use std::str::FromStr;

use lettre::Address;
use lettre::message::header::{
    ContentTransferEncoding, ContentType, HeaderName, HeaderValue, Headers, MIME_VERSION_1_0,
    Subject,
};
use lettre::message::{Mailbox, Mailboxes, MultiPart, SinglePart, header};
use tidings_core::Batch;
use tidings_core::channel::EMAIL_NO;
use tidings_core::time::Instant;

use crate::template::Bodies;
use crate::{RenderError, Sender, subject, wording};

/// The values of the headers.
pub(crate) struct Head<'a> {
    pub(crate) sender: &'a Sender,
    pub(crate) to: &'a Address,
    pub(crate) message_id: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) batch_id: &'a str,
    pub(crate) at: Instant,
}

/// The recipient's address, checked.
pub(crate) fn recipient_address(batch: &Batch) -> Result<Address, RenderError> {
    let text = batch
        .recipient
        .addresses
        .get(EMAIL_NO)
        .ok_or(RenderError::NoAddress)?;
    let is_plain = text.is_ascii() && !text.bytes().any(|b| b.is_ascii_control());
    if !is_plain {
        return Err(RenderError::Address);
    }
    Address::from_str(text).map_err(|_| RenderError::Address)
}

/// Assembles the message.
pub(crate) fn compose(head: &Head<'_>, bodies: Bodies) -> Vec<u8> {
    let alternatives = MultiPart::alternative()
        // `=_` can't occur in quoted-printable, so no body can hold the boundary (RFC 2045, 6.7).
        .boundary(format!("=_tidings_{}", head.batch_id))
        .singlepart(part(ContentType::TEXT_PLAIN, bodies.text))
        .singlepart(part(ContentType::TEXT_HTML, bodies.html));
    let mut bytes = headers(head).to_string().into_bytes();
    bytes.extend_from_slice(&alternatives.formatted());
    bytes
}

fn part(content_type: ContentType, body: String) -> SinglePart {
    SinglePart::builder()
        .header(content_type)
        .header(ContentTransferEncoding::QuotedPrintable)
        .body(body)
}

fn headers(head: &Head<'_>) -> Headers {
    let mut headers = Headers::new();
    let date = wording::rfc5322_date(head.at);
    headers.insert_raw(as_it_is("Date", &date));
    headers.set(header::From::from(Mailboxes::from(head.sender.mailbox())));
    headers.set(header::To::from(Mailboxes::from(Mailbox::new(
        None,
        head.to.clone(),
    ))));
    // Looks like an encoded word, and would be decoded by the reader.
    if head.subject.contains("=?") {
        headers.insert_raw(HeaderValue::dangerous_new_pre_encoded(
            HeaderName::new_from_ascii_str("Subject"),
            head.subject.to_owned(),
            subject::encode_all(head.subject),
        ));
    } else {
        headers.set(Subject::from(head.subject.to_owned()));
    }
    headers.insert_raw(as_it_is("Message-ID", head.message_id));
    headers.insert_raw(as_it_is("Auto-Submitted", "auto-generated"));
    headers.insert_raw(as_it_is("X-Tidings-Batch", head.batch_id));
    headers.set(MIME_VERSION_1_0);
    headers
}

/// For values that are ASCII by construction and must not be folded.
fn as_it_is(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::dangerous_new_pre_encoded(
        HeaderName::new_from_ascii_str(name),
        value.to_owned(),
        value.to_owned(),
    )
}
