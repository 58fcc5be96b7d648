//! Bodies about objects: an object within an event, and a change of an object.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use tidings_core::model::{Data, HostText, ImageSize};
use tidings_core::{Command, Id, Object};
use utoipa::ToSchema;

use super::fault::Fault;
use super::host_text::{self, TextBody};
use super::id_of;
use super::text::{self, Text};

/// An object in an event. The given fields replace the stored ones.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object\n  = help: Example: {\"id\": \"works/1\"}")]
pub struct EventObject {
    /// Id of the object.
    #[schema(value_type = String, min_length = 1, max_length = 256, example = "works/1")]
    pub id: Text<Id>,
    /// A title to show, at most 1 KiB, or an object with a title for each locale.
    #[serde(default, deserialize_with = "host_text::title")]
    #[schema(value_type = Option<TextBody>)]
    pub title: Option<HostText>,
    /// Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB. Links are percent-encoded.
    #[serde(default, deserialize_with = "text::address")]
    #[schema(max_length = 2048)]
    pub url: Option<String>,
    /// A picture: an address as `url`.
    #[serde(default, deserialize_with = "text::address")]
    #[schema(max_length = 2048)]
    pub image: Option<String>,
    /// Size of the picture; removed by a new `image` without one.
    pub image_size: Option<ImageSizeBody>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>)]
    pub data: Option<Data>,
}

/// The size of a picture in pixels, by which mails arrange pictures.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object\n  = help: Example: {\"width\": 800, \"height\": 600}"
)]
#[schema(as = ImageSize)]
pub struct ImageSizeBody {
    /// Width.
    #[schema(value_type = u16, minimum = 1, maximum = 65535)]
    width: NonZeroU16,
    /// Height.
    #[schema(value_type = u16, minimum = 1, maximum = 65535)]
    height: NonZeroU16,
}

impl From<ImageSizeBody> for ImageSize {
    fn from(size: ImageSizeBody) -> Self {
        Self { width: size.width.get(), height: size.height.get() }
    }
}

impl From<EventObject> for Object {
    fn from(object: EventObject) -> Self {
        Self {
            id: object.id.0,
            title: object.title,
            url: object.url,
            image: object.image,
            image_size: object.image_size.map(ImageSize::from),
            data: object.data,
            notifiable: None,
        }
    }
}

/// A change of an object; only the given fields change.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"title": "Water Lilies", "url": "https://example.org/works/1"}))]
pub struct ObjectChange {
    /// Id of the object; the same as in the path, if that has one.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 256)]
    id: Option<Text<Id>>,
    /// A title to show, or an object with a title for each locale.
    #[serde(default, deserialize_with = "host_text::title")]
    #[schema(value_type = Option<TextBody>)]
    title: Option<HostText>,
    /// Address of its page.
    #[serde(default, deserialize_with = "text::address")]
    url: Option<String>,
    /// Address of a picture.
    #[serde(default, deserialize_with = "text::address")]
    image: Option<String>,
    /// Size of the picture; removed by a new `image` without one.
    image_size: Option<ImageSizeBody>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>)]
    data: Option<Data>,
    /// False = notifications about it are not sent.
    notifiable: Option<bool>,
}

impl ObjectChange {
    /// The command that creates or changes the object in the path or the body.
    ///
    /// # Errors
    /// No id, or another one than in the path.
    pub fn command(self, path: Option<Id>) -> Result<Command, Fault> {
        Ok(Command::Object(Object {
            id: id_of(path, self.id)?,
            title: self.title,
            url: self.url,
            image: self.image,
            image_size: self.image_size.map(ImageSize::from),
            data: self.data,
            notifiable: self.notifiable,
        }))
    }
}
