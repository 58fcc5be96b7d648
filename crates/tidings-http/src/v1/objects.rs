//! Objects: the subjects of notifications.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use tidings_api::body::object::ObjectChange;
use tidings_core::{Command, Id};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;

use super::schema::with_id;
use crate::call::Calls;
use crate::error::Problem;
use crate::request::InPath;
use crate::request::array::{self, ItemAnswer};
use crate::request::lines::{BulkLinesQuery, Each, LineAnswer};
use crate::request::query::InQuery;
use crate::{Answer, Change, Service};

/// The calls of objects.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("put_object", routes!(put_object))
        .add("retract_object", routes!(retract_object))
        .add("change_objects", routes!(change_objects))
}

/// A change of an object, with its id.
struct NamedObject;

impl PartialSchema for NamedObject {
    fn schema() -> RefOr<Schema> {
        let about =
            "The new state of an object, with its id. Fields that are left out keep their value.";
        with_id::<ObjectChange>(about, "works/1")
    }
}

impl ToSchema for NamedObject {}

/// Create or change an object
///
/// Changes the given fields only; null counts as not given. Lifts a retraction. The values are kept until they are
/// changed or the object is deleted, even if no event names the object; `[limits] objects` bounds the number of such
/// objects.
#[utoipa::path(
    put, path = "/v1/objects/{id}", tag = "objects",
    params(("id" = String, Path, description = "Object id", example = "works/1", min_length = 1, max_length = 256)),
    request_body = ObjectChange,
    responses((status = 204, description = "The object is saved"))
)]
async fn put_object(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let command = change.parse::<ObjectChange>()?.command(Some(id))?;
    service.done(&change, command).await
}

/// Retract an object
///
/// Skips pending notifications about the object when their message is built. A later publish or change of the object
/// lifts the retraction. The object is then kept only as long as a kept day names it.
#[utoipa::path(
    delete, path = "/v1/objects/{id}", tag = "objects",
    params(("id" = String, Path, description = "Object id", example = "works/1", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The object is retracted"))
)]
async fn retract_object(
    State(service): State<Arc<Service>>,
    InPath(object): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    service.done(&change, Command::Retract { object }).await
}

/// Create or change many objects
///
/// Takes an array of at most 10,000 objects, or a stream of any length with one per line. Changes the given fields
/// only. Each item is accepted or rejected by itself; the answers are in order.
#[utoipa::path(
    post, path = "/v1/objects", tag = "objects",
    params(BulkLinesQuery),
    request_body(content(
        (Vec<NamedObject> = "application/json", example = json!([{"id": "works/1", "title": "Water Lilies"}, {"id": "works/2", "notifiable": false}])),
        (NamedObject = "application/x-ndjson"),
    )),
    responses((status = 200, description = "The result of each item", content(
        (Vec<ItemAnswer> = "application/json", example = json!([{"status": "done"}, {"status": "done"}])),
        (LineAnswer = "application/x-ndjson", example = json!({"line": 1, "status": "done"})))))
)]
async fn change_objects(
    State(service): State<Arc<Service>>,
    InQuery(wanted): InQuery<BulkLinesQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let each = Each::new(|_, fields| Ok(fields.body::<ObjectChange>()?.command(None)?));
    array::many(service, request, wanted, each).await
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::{Value, json};

    use crate::rig::Rig;

    #[test]
    fn an_object_is_made_changed_and_retracted() {
        let rig = Rig::new();
        let body = json!({"title": "Water Lilies"});
        let made = rig.call(Method::PUT, "/v1/objects/works%2F1", &body);
        assert_eq!(made.status, StatusCode::NO_CONTENT);
        let gone = rig.call(Method::DELETE, "/v1/objects/works%2F1", &Value::Null);
        assert_eq!(gone.status, StatusCode::NO_CONTENT);
    }

    #[test]
    fn what_is_wrong_with_an_object_is_told() {
        let rig = Rig::new();
        let answer = rig.call(Method::PUT, "/v1/objects/a", &json!({"tilte": "x"}));
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(answer.headers["content-type"], "application/problem+json");
        let problem = answer.json();
        assert_eq!(problem["code"], "invalid_body");
        assert!(problem["hint"].as_str().unwrap().contains("title"));
    }
}
