//! An item of a mail, ready to be shown.

use std::sync::Arc;

use serde::Serialize;
use tidings_core::Object;

use crate::link;
use crate::templates::template::{Block, Bodies};
use crate::words::sentence::Stretch;

/// A line as templates see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Item {
    pub(crate) r#type: String,
    /// Title of the category.
    pub(crate) category: String,
    pub(crate) title: String,
    /// The type's sentence in stretches, of which those with `link` name the object; empty where it has none, where
    /// it is not true of all its events, or where a heading says it.
    pub(crate) sentence: Vec<Stretch>,
    /// The event, its actor, place, time and reason, as far as the surroundings don't show them.
    pub(crate) about: String,
    pub(crate) url: Option<String>,
    pub(crate) image: Option<Image>,
    pub(crate) actor: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) date: String,
    /// Number of notifications about it.
    pub(crate) count: usize,
    /// The members that the `data` of all its events share, for templates of the host's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<serde_json::Map<String, serde_json::Value>>,
    /// The templates that show it.
    pub(crate) block: Block,
    /// Its blocks among others, where they are rendered already.
    pub(crate) rendered: Option<Arc<Bodies>>,
}

/// A picture at the size at which it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Image {
    pub(crate) src: String,
    pub(crate) width: u16,
    pub(crate) height: u32,
}

impl Image {
    /// The picture of an object at a width in pixels; one of unknown size counts as square.
    pub(crate) fn of(object: &Object, width: u16, base: Option<&str>) -> Option<Self> {
        let src = link::page(object.image.as_deref()?, base)?;
        let src = link::picture(&src)?;
        let square = u32::from(width);
        let size = object.image_size;
        let height = size.map_or(square, |size| size.height_at(width));
        Some(Self { src, width, height })
    }
}
