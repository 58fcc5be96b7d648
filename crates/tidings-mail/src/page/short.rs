//! A message in a few words, for channels that show no more: telephones, chats, push services.
//!
//! Its words are those of a mail: the title of the only item, or the counts of several, the sentence of a type, and a
//! link.

use tidings_core::Batch;

use crate::error::RenderError;
use crate::is_batch_id;
use crate::page::Page;
use crate::page::design::Design;
use crate::words::text;

/// The most items that are named.
const NAMED_MAX: usize = 3;
/// The most characters of the title, and of the text.
const TITLE_CHARS_MAX: usize = 100;
const TEXT_CHARS_MAX: usize = 300;

/// A message in a few words, without markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// The name of the only item, or what there is of several.
    pub title: String,
    /// Text of the message; empty where the title says it all.
    pub text: String,
    /// The address of the only item, of the rest of the message, or of the brand.
    pub url: Option<String>,
    /// Number of notifications.
    pub count: usize,
}

/// Puts a batch into a few words.
///
/// # Errors
/// [`RenderError`] says which part of the batch can't stand in a message.
pub fn short(batch: &Batch, design: &Design) -> Result<Short, RenderError> {
    if !is_batch_id(&batch.id) {
        return Err(RenderError::BatchId);
    }
    let page = Page::of(batch, design, NAMED_MAX).ok_or(RenderError::Empty)?;
    let about = page.mail;
    let mut words = about.preview;
    if let Some(more) = about.more {
        words = format!("{words} · {more}");
    }
    let of_item = page.item.and_then(|item| item.url);
    Ok(Short {
        title: text::cut(&about.title, TITLE_CHARS_MAX),
        text: text::cut(&words, TEXT_CHARS_MAX),
        url: of_item.or(about.more_url).or_else(|| page.brand.url.clone()),
        count: about.count,
    })
}
