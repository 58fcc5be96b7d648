//! Schemas of bodies that have a name in some calls, and none in others.

use serde_json::json;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::{Object, RefOr};

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
