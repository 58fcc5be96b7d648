//! The schema of a body with a required id, where no path has it.

use serde_json::json;
use utoipa::PartialSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

/// The schema of `T`, which is a struct with an `id`, with the id required and in the example.
pub(super) fn with_id<T: PartialSchema>(description: &str, id: &str) -> RefOr<Schema> {
    let mut schema = T::schema();
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        object.description = Some(description.to_owned());
        object.required.push("id".to_owned());
        if let Some(example) = &mut object.example {
            example["id"] = json!(id);
        }
    }
    schema
}
