//! Schemas of bodies that several calls share. [`crate::timeline::Bodies`] reads it.
#![expect(dead_code, reason = "these types only describe what bodies say")]

use serde_json::json;
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::{Array, Object, OneOf, Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// Whether a body has to name what it is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// The path names it; the body may repeat the name.
    Optional,
    /// Only the body names it.
    Required,
}

/// The schema of `T`, which is a struct, with an `id`.
pub(super) fn with_id<T: PartialSchema>(
    description: &str,
    (id, naming): (&str, Naming),
) -> RefOr<Schema> {
    let mut schema = T::schema();
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        let mut named = Object::with_type(SchemaType::Type(Type::String));
        named.min_length = Some(1);
        named.max_length = Some(256);
        named.description = Some("Id of the recipient or object".to_owned());
        object.description = Some(description.to_owned());
        object.properties.insert("id".to_owned(), named.into());
        if naming == Naming::Required {
            object.required.push("id".to_owned());
        }
        if let Some(example) = &mut object.example {
            example["id"] = json!(id);
        }
    }
    schema
}

/// An object in an event. The given fields replace the stored ones.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventObject {
    /// Id of the object.
    #[schema(min_length = 1, max_length = 256, example = "works/1")]
    id: String,
    /// A title to show, at most 1 KiB.
    #[schema(example = "Water Lilies", max_length = 1024)]
    title: Option<String>,
    /// Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB.
    #[schema(max_length = 2048)]
    url: Option<String>,
    /// A picture: an address as `url`.
    #[schema(max_length = 2048)]
    image: Option<String>,
}

/// An id, or an object with an id and more fields.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(example = json!({"id": "ben", "title": "Ben"}))]
pub(super) enum IdOrObject {
    Id(BareId),
    Object(EventObject),
}

/// An id alone.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 256)]
pub(super) struct BareId(String);

/// A circle on the map.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Near {
    /// Degrees north.
    #[schema(minimum = -90, maximum = 90)]
    lat: f64,
    /// Degrees east.
    #[schema(minimum = -180, maximum = 180)]
    lon: f64,
    /// Radius in kilometres.
    #[schema(minimum = 0, maximum = 20038)]
    km: f64,
}

/// One circle, or several of which one is enough.
struct Circles;

impl PartialSchema for Circles {
    fn schema() -> RefOr<Schema> {
        let circle = Ref::from_schema_name(Near::name());
        let many = Array::builder().items(circle.clone());
        OneOf::builder().item(circle).item(many).into()
    }
}

impl ToSchema for Circles {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Near::name().into_owned(), Near::schema()));
    }
}

/// The audience of an event: all of these together, without the actor.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Audience {
    /// Ids of recipients.
    recipients: Option<Vec<String>>,
    /// Recipients who follow one of these topics, or a parent of it.
    topics: Option<Vec<String>>,
    /// Recipients within a circle, or within one of several: up to 50, see `[limits]`.
    near: Option<Circles>,
    /// All recipients.
    everyone: Option<bool>,
}

/// An event: something that happened.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"type": "artwork_published", "actor": "ben", "object": {"id": "works/1", "title": "Water Lilies", "url": "https://example.org/works/1"}, "to": {"topics": ["artist/42"]}}))]
pub(super) struct Event {
    /// Id of the event: the same id is the same event. The server makes one if it is absent.
    #[schema(min_length = 1, max_length = 256)]
    id: Option<String>,
    /// A type of the configuration.
    #[schema(min_length = 1, max_length = 256)]
    r#type: String,
    /// The actor: who did it.
    actor: Option<IdOrObject>,
    /// The object: what it was done to.
    object: EventObject,
    /// The target: what it was done in or for.
    target: Option<IdOrObject>,
    /// Anything else, returned with the inbox item.
    data: Option<serde_json::Map<String, serde_json::Value>>,
    /// The audience.
    to: Audience,
    /// Restricts the type's channels; `["inbox"]` imports a history without sending mail.
    #[schema(min_items = 1)]
    channels: Option<Vec<String>>,
    /// Time that is shown to people. It has no effect on delivery.
    #[schema(format = "date-time")]
    occurred_at: Option<String>,
    /// Time before which nothing is delivered.
    #[schema(format = "date-time")]
    deliver_at: Option<String>,
    /// Time from which on nothing is delivered.
    #[schema(format = "date-time")]
    expires_at: Option<String>,
    /// A key to cancel several events at once.
    #[schema(min_length = 1, max_length = 256)]
    cancellation_key: Option<String>,
}
