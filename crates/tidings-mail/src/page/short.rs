//! A message in a few words, for channels that show no more: telephones, chats, push services.
//!
//! Its words are those of a mail: the headline and the body of the only item, or the counts and titles of several, and a
//! link.

use tidings_core::content::Batch;

use crate::error::RenderError;
use crate::is_batch_id;
use crate::page::design::Design;
use crate::page::item::MailItem;
use crate::page::subject;
use crate::page::{MailPage, named};
use crate::words::text;

/// The most items that are named.
const NAMED_MAX: usize = 3;
/// The most characters of the title, and of the text.
const TITLE_CHARS_MAX: usize = 100;
const TEXT_CHARS_MAX: usize = 300;

/// A message in a few words, without markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortMessage {
    /// The headline of the only item, or what there is of several.
    pub title: String,
    /// Text of the message; empty if the title has everything.
    pub text: String,
    /// The address of the only item, of the rest of the message, or of the brand.
    pub url: Option<String>,
    /// Number of notifications.
    pub count: usize,
}

/// Puts a batch into a few words.
///
/// # Errors
/// [`RenderError`] is the part of the batch that can't be in a message.
pub fn short(batch: &Batch, design: &Design) -> Result<ShortMessage, RenderError> {
    if !is_batch_id(&batch.id) {
        return Err(RenderError::BatchId);
    }
    let of_tenant = design.of_batch(batch);
    let design = of_tenant.as_deref().unwrap_or(design);
    let page = MailPage::of(batch, design, NAMED_MAX).ok_or(RenderError::Empty)?;
    let about = page.mail;
    let mut words = match &page.item {
        Some(item) => said_of(item),
        None => named(page.lead.as_ref(), &page.sections, "", &page.language.words),
    };
    if let Some(more) = about.more {
        words = format!("{words} · {more}");
    }
    let title = match &page.item {
        Some(item) => item.headline().to_owned(),
        None => subject::counts(batch, design, &page.language).unwrap_or_else(|| {
            let words = &page.language.words;
            words.counted(&words.new_for_you, about.count)
        }),
    };
    let of_item = page.item.and_then(|item| item.url);
    Ok(ShortMessage {
        title: text::cut(&title, TITLE_CHARS_MAX),
        text: text::cut(&words, TEXT_CHARS_MAX),
        url: of_item.or(about.more_url).or_else(|| page.brand.url.clone()),
        count: about.count,
    })
}

/// The text that a person wrote, else what happened where the headline does not say it.
fn said_of(item: &MailItem) -> String {
    let paragraphs = item.single.iter().flat_map(|single| &single.paragraphs);
    let body: Vec<&str> = paragraphs.map(String::as_str).collect();
    if body.is_empty() && item.sentence.is_empty() { item.about.clone() } else { body.join(" ") }
}
