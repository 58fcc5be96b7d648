//! An item of a mail, ready to be shown.

use std::sync::Arc;

use serde::Serialize;
use tidings_core::Object;

use crate::link;
use crate::page::single::{PersonPicture, SingleItemDetails};
use crate::templates::template::{Block, Bodies};
use crate::words::Words;
use crate::words::sentence::SentenceStretch;

/// A line as templates see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct MailItem {
    pub(crate) r#type: String,
    /// Title of the category.
    pub(crate) category: String,
    pub(crate) title: String,
    /// The type's sentence in stretches, of which those with `link` name the object; empty if there is none, if it is
    /// not true of all its events, or if a heading has it.
    pub(crate) sentence: Vec<SentenceStretch>,
    /// The text that a person wrote, cut to about three lines.
    pub(crate) body: Option<String>,
    /// The same with the line breaks of its author; empty in a mail about this item alone.
    pub(crate) lines: Vec<String>,
    /// The time at which the body was written, among others; with the day where days differ.
    pub(crate) time: Option<String>,
    /// True if the actor's name is in place of the sentence, which the heading above has.
    pub(crate) is_talk: bool,
    /// True if the heading above leads to the same thing.
    pub(crate) is_linked_above: bool,
    /// The actor's face, where the sentence begins with the actor.
    pub(crate) face: Option<PersonPicture>,
    /// The event, its actor, place, time and reason, as far as the surroundings don't show them.
    pub(crate) about: String,
    pub(crate) url: Option<String>,
    pub(crate) image: Option<ItemImage>,
    pub(crate) actor: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) date: String,
    /// Number of notifications about it.
    pub(crate) count: usize,
    /// The details that a mail gives of its only item; `None` among others.
    #[serde(flatten)]
    pub(crate) single: Option<SingleItemDetails>,
    /// The members that the `data` of all its events share, for templates of the host's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<serde_json::Map<String, serde_json::Value>>,
    /// The templates that show it.
    pub(crate) block: Block,
    /// Its blocks among others, where they are rendered already.
    pub(crate) rendered: Option<Arc<Bodies>>,
}

impl MailItem {
    /// The heading of a mail about this item alone.
    pub(crate) fn headline(&self) -> &str {
        self.single.as_ref().map_or(&self.title, |single| &single.headline)
    }

    /// The words of this item in the preview of several: who wrote what, else its title, unless the subject has it.
    pub(crate) fn in_a_few_words(&self, subject: &str, words: &Words) -> Option<String> {
        if let Some(body) = &self.body {
            return Some(match &self.actor {
                Some(actor) => format!("{actor}{}{body}", words.colon),
                None => body.clone(),
            });
        }
        (!subject.contains(&self.title)).then(|| self.title.clone())
    }
}

/// A picture at the size at which it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct ItemImage {
    pub(crate) src: String,
    pub(crate) width: u16,
    pub(crate) height: u32,
    /// True if the picture is higher than its place, which shows the middle of it.
    pub(crate) is_cropped: bool,
    /// The height at this width of all of the picture.
    #[serde(skip)]
    whole: u32,
}

/// The place of a picture in pixels: its width, and the height that none exceeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) width: u16,
    pub(crate) height_max: u32,
}

impl ItemImage {
    /// The picture of an object in a frame; one of unknown size counts as square.
    pub(crate) fn of(object: &Object, frame: Frame, base: Option<&str>) -> Option<Self> {
        let src = link::page(object.image.as_deref()?, base)?;
        let src = link::picture(&src)?;
        let Frame { width, height_max } = frame;
        let size = object.image_size;
        let height = size.map_or(u32::from(width), |size| size.height_at(width));
        Some(Self {
            src,
            width,
            height: height.min(height_max),
            is_cropped: height > height_max,
            whole: height,
        })
    }

    /// Puts the picture into another frame.
    pub(crate) fn put_into(&mut self, frame: Frame) {
        let whole = u64::from(self.whole) * u64::from(frame.width) / u64::from(self.width.max(1));
        self.whole = u32::try_from(whole).unwrap_or(u32::MAX);
        self.width = frame.width;
        self.height = self.whole.min(frame.height_max);
        self.is_cropped = self.whole > frame.height_max;
    }
}
