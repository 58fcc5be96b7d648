//! E-mail as a pure function of a batch.
//!
//! A batch is durable before anything is sent, so a mail must be the same bytes each time it is built: after a crash,
//! on a second attempt, in a preview. Nothing here reads a clock, draws a random number or does I/O; the `Date` is the
//! instant of the closing, the `Message-ID` and the multipart boundary come from the batch id.
//!
//! Text from hosts is never trusted: titles are cleaned of control characters, escaped in HTML and
//! encoded in headers (RFC 2047); addresses become links by the check with which they are taken in. A value that
//! runs the other way than the mail's language is isolated: `<bdi>` in HTML, U+2068 and U+2069 elsewhere.
//!
//! # Display names
//! Objects, actors, targets and topics are called by their titles. An id is never shown: without a title, the type's
//! words describe the event ("New comment"), and actors without a name count among the others.

mod bounce_classifier;
mod error;
mod link;
mod message;
mod page;
mod report;
mod templates;
mod words;

use tidings_core::content::{Batch, ContentHash};

pub use bounce_classifier::{OperatorFault, RefusalStage, Verdict, judge};
pub use error::{BATCH_ID_BYTES_MAX, DesignError, RenderError};
pub use link::{AddressError, LinkAddress, picture as picture_address, web as web_address};
pub use message::address::address;
pub use message::dkim::{Dkim, DkimError};
pub use message::sender::{Sender, SenderError};
pub use message::tag::{MESSAGE_HEADER, MailTag};
pub use message::token::{MadeTenant, Rest, SECRET_BYTES, ShortName, TokenKey, Unsubscribe};
pub use page::brand::is_color;
pub use page::design::Design;
pub use page::row_text::RowText;
pub use page::short::{ShortMessage, short};
pub use page::site::{
    AppliedChoice, ChoiceName, ChoiceTitles, Choices, NoticePage, OfferedChange, PreferenceRow,
    REST_LINES_MAX, SendingTime,
};
pub use page::slots::{DigestSlot, OwnTime};
pub use report::{EnhancedStatus, Finding, MailEvent, Report};
pub use templates::client_support::{UnsupportedFeature, not_shown};
pub use templates::language::write_value;
pub use templates::sample::{SAMPLE_PICTURES, digest_sample, sample, sample_size};
pub use templates::template::{Bodies, DEFAULT_TEMPLATES};
pub use words::book::{BookFault, book_faults};
pub use words::books::{Books, OwnWords};
pub use words::locale::{Localised, is_given};
pub use words::sentence::{Sentence, SentenceError};
pub use words::tag::{LocaleError, canonical_locale, check_locale};
pub use words::text::{cut, grouped, hex};

/// Maximum number of bytes of a mail's HTML: Gmail cuts off what is beyond 102 KB.
pub const HTML_BYTES_MAX: usize = 102_000;

/// A rendered mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Address of the sender, without a name.
    pub from: String,
    /// Address of the envelope's sender, where it is another one: there bounces go.
    pub return_path: Option<String>,
    /// Address of the envelope's recipient, without a name.
    pub to: String,
    /// `<BATCH@HOST>`, angle brackets included: the same for every attempt.
    pub message_id: String,
    /// The subject as text, before it is encoded for the header.
    pub subject: String,
    /// The hash of subject and bodies.
    pub content: ContentHash,
    /// The whole message (RFC 5322): ASCII but for an address that is not. Lines end in CRLF and have at most 550
    /// bytes; the one of `List-Unsubscribe`, which can't be broken, may have 998.
    pub bytes: Vec<u8>,
}

/// Renders a batch in a design, or in that of its tenant. Shows fewer items if mail programs would cut off the HTML.
///
/// An unknown time zone counts as UTC (the configuration and the intake refuse unknown ones).
///
/// # Errors
/// [`RenderError`] is the part of the batch that can't be in a mail.
pub fn render(batch: &Batch, design: &Design) -> Result<Mail, RenderError> {
    if !is_batch_id(&batch.id) {
        return Err(RenderError::BatchId);
    }
    let to = message::mime::recipient_address(batch)?;
    let of_tenant = design.of_batch(batch);
    let design = of_tenant.as_deref().unwrap_or(design);
    let (subject, bodies) = content_in(batch, design)?;
    let meant_for = batch.meant_for.as_ref().map(|to| format!("{} <{to}>", batch.recipient.id));
    let sender = design.sender();
    let message_id = format!("<{}@{}>", batch.id, sender.host());
    let tag = design.tag(batch, to.as_ref());
    let text = message::mime::compose(
        &message::mime::MailHeaders {
            sender,
            to: &to,
            reply_to: design.reply_to(batch),
            message_id: &message_id,
            subject: &subject,
            batch_id: &batch.id,
            at: batch.at,
            list: message::list::ListHead::of(batch, design),
            tag: tag.as_deref(),
            meant_for: meant_for.as_deref(),
        },
        &bodies,
    );
    let signature = match &design.dkim {
        Some(dkim) => dkim.sign(&text).ok_or(RenderError::Signature)?,
        None => String::new(),
    };
    let bytes = (signature + &text).into_bytes();
    Ok(Mail {
        from: sender.address().to_owned(),
        return_path: design.return_path(tag.as_deref()),
        to: to.to_string(),
        message_id,
        content: content_hash(&subject, &bodies),
        subject,
        bytes,
    })
}

/// The subject and the bodies of the mail that [`render`] makes.
///
/// # Errors
/// [`RenderError`], but for the recipient's address, which is not looked at.
pub fn content(batch: &Batch, design: &Design) -> Result<(String, Bodies), RenderError> {
    let of_tenant = design.of_batch(batch);
    content_in(batch, of_tenant.as_deref().unwrap_or(design))
}

/// The hash of the content of a mail.
#[must_use]
pub fn content_hash(subject: &str, bodies: &Bodies) -> ContentHash {
    ContentHash::of([subject, &bodies.text, &bodies.html])
}

fn content_in(batch: &Batch, design: &Design) -> Result<(String, Bodies), RenderError> {
    let mut most = usize::MAX;
    loop {
        let page = page::MailPage::of(batch, design, most).ok_or(RenderError::Empty)?;
        let bodies = design.templates.render(&page, &page.language, &design.usual)?;
        let bytes = bodies.html.len();
        if bytes <= HTML_BYTES_MAX || page.shown <= 1 {
            let subject = page.mail.subject;
            // A redirected mail shows in its subject whom it was meant for.
            let subject = match &batch.meant_for {
                Some(address) => format!("[{address}] {subject}"),
                None => subject,
            };
            return Ok((subject, bodies));
        }
        // As many as there is room for on average, and fewer each time.
        most = (page.shown * HTML_BYTES_MAX / bytes).clamp(1, page.shown - 1);
    }
}

fn is_batch_id(id: &str) -> bool {
    (1..=BATCH_ID_BYTES_MAX).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
