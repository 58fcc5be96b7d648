//! The message as bytes: headers and two alternatives, the same for the same batch.
//!
//! The mail library's own message builder is not used, as it would draw a random boundary and can't
//! carry a `Date` before 1970; its encoders of headers and bodies are.

use lettre::Address;
use lettre::message::header::{
    ContentTransferEncoding, ContentType, HeaderName, HeaderValue, Headers, MIME_VERSION_1_0,
};
use lettre::message::{Body, Mailbox, Mailboxes, MultiPart, SinglePart, header};
use tidings_core::Instant;
use tidings_core::content::Batch;
use tidings_core::model::EMAIL_NO;

use crate::message::address::address;
use crate::message::list::{ListHead, MailingList};
use crate::message::quoted;
use crate::message::tag::MESSAGE_HEADER;
use crate::page::subject;
use crate::templates::template::Bodies;
use crate::words::wording;
use crate::{RenderError, Sender};

/// The header with the recipient of a redirected mail.
const RECIPIENT_HEADER: &str = "X-Tidings-Recipient";

/// The values of the headers.
pub(crate) struct MailHeaders<'a> {
    pub(crate) sender: &'a Sender,
    pub(crate) to: &'a Address,
    /// The mailbox to which answers go, where it is not the sender's.
    pub(crate) reply_to: Option<&'a Sender>,
    pub(crate) message_id: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) batch_id: &'a str,
    pub(crate) at: Instant,
    pub(crate) list: ListHead,
    pub(crate) tag: Option<&'a str>,
    /// The recipient, where the mail goes elsewhere.
    pub(crate) meant_for: Option<&'a str>,
}

/// The recipient's address, checked.
pub(crate) fn recipient_address(batch: &Batch) -> Result<Address, RenderError> {
    let text = batch.recipient.addresses.get(EMAIL_NO);
    address(text.ok_or(RenderError::NoAddress)?).ok_or(RenderError::Address)
}

/// Assembles the message.
pub(crate) fn compose(head: &MailHeaders<'_>, bodies: &Bodies) -> String {
    let alternatives = MultiPart::alternative()
        // `=_` can't occur in quoted-printable, so no body can hold the boundary (RFC 2045, 6.7).
        .boundary(format!("=_tidings_{}", head.batch_id))
        .singlepart(part(ContentType::TEXT_PLAIN, &bodies.text))
        .singlepart(part(ContentType::TEXT_HTML, &bodies.html));
    let alternatives = String::from_utf8(alternatives.formatted());
    headers(head).to_string() + &alternatives.expect("bodies in quoted-printable are ASCII")
}

fn part(content_type: ContentType, body: &str) -> SinglePart {
    let encoding = ContentTransferEncoding::QuotedPrintable;
    let body = Body::dangerous_pre_encoded(quoted::encode(body), encoding);
    SinglePart::builder().header(content_type).body(body)
}

fn headers(head: &MailHeaders<'_>) -> Headers {
    let mut headers = Headers::new();
    let date = wording::rfc5322_date(head.at);
    headers.insert_raw(as_it_is("Date", &date));
    headers.set(header::From::from(Mailboxes::from(head.sender.mailbox())));
    if let Some(reply_to) = head.reply_to {
        headers.set(header::ReplyTo::from(Mailboxes::from(reply_to.mailbox())));
    }
    let to: &str = head.to.as_ref();
    if to.is_ascii() {
        let to = Mailbox::new(None, head.to.clone());
        headers.set(header::To::from(Mailboxes::from(to)));
    } else {
        // No encoding stands for it in a header (RFC 6532).
        headers.insert_raw(as_it_is("To", to));
    }
    headers.insert_raw(encoded("Subject", head.subject));
    headers.insert_raw(as_it_is("Message-ID", head.message_id));
    let ListHead { list, reasons, thread } = &head.list;
    if let Some(thread) = thread {
        headers.insert_raw(as_it_is("References", thread));
    }
    if let Some(list) = list {
        set_list(&mut headers, list);
    }
    headers.insert_raw(as_it_is("Auto-Submitted", "auto-generated"));
    // Exchange goes by this one ([MS-OXCMAIL], 2.2.3.2.14): no note that somebody is away comes back.
    headers.insert_raw(as_it_is("X-Auto-Response-Suppress", "OOF, AutoReply"));
    if !reasons.is_empty() {
        // A line for each: a topic may be long.
        headers.insert_raw(as_it_is("X-Tidings-Reason", &reasons.join(",\r\n ")));
    }
    headers.insert_raw(as_it_is("X-Tidings-Batch", head.batch_id));
    if let Some(meant_for) = head.meant_for {
        headers.insert_raw(encoded(RECIPIENT_HEADER, meant_for));
    }
    if let Some(tag) = head.tag {
        headers.insert_raw(as_it_is(MESSAGE_HEADER, tag));
    }
    headers.set(MIME_VERSION_1_0);
    headers
}

/// The headers by which a recipient leaves a list (RFC 2369, 2919, 8058).
fn set_list(headers: &mut Headers, list: &MailingList) {
    headers.insert_raw(as_it_is("List-ID", &list.id));
    if let Some(link) = &list.unsubscribe {
        headers.insert_raw(as_it_is("List-Unsubscribe", &format!("<{link}>")));
        let one_click = "List-Unsubscribe=One-Click";
        headers.insert_raw(as_it_is("List-Unsubscribe-Post", one_click));
    }
    headers.insert_raw(as_it_is("Feedback-ID", &list.feedback_id));
}

/// Returns true if a reader would decode a text that is none encoded.
fn looks_encoded(text: &str) -> bool {
    text.contains("=?")
}

/// For values of any text.
fn encoded(name: &'static str, value: &str) -> HeaderValue {
    let name = HeaderName::new_from_ascii_str(name);
    if !looks_encoded(value) {
        return HeaderValue::new(name, value.to_owned());
    }
    HeaderValue::dangerous_new_pre_encoded(name, value.to_owned(), subject::encode_all(value))
}

/// For values that need no encoding by construction, and are folded where they need be.
fn as_it_is(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::dangerous_new_pre_encoded(
        HeaderName::new_from_ascii_str(name),
        value.to_owned(),
        value.to_owned(),
    )
}
