//! Objects: what notifications are about.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use tidings_core::{Command, Id};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::lines::{self, Each, LineAnswer, Wanted};
use crate::http::request::{InPath, InQuery};
use crate::http::{Answer, Change, Service, only};
use crate::timeline::Bodies;

/// The calls of objects.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add(
            "put_object",
            Kind::Changes,
            routes!(put_object),
            &[
                Code::InvalidPath,
                Code::InvalidJson,
                Code::InvalidBody,
                Code::UnsupportedMediaType,
            ],
        )
        .add(
            "retract_object",
            Kind::Changes,
            routes!(retract_object),
            &[Code::InvalidPath, Code::UnsupportedMediaType],
        )
        .add(
            "change_objects",
            Kind::Streams,
            routes!(change_objects),
            &[Code::InvalidQuery, Code::UnsupportedMediaType],
        )
}

/// A change of an object that names it.
#[derive(ToSchema)]
#[schema(example = json!({"id": "works/1", "title": "Water Lilies"}))]
#[expect(dead_code, reason = "describes what `Bodies::named_object` reads")]
struct NamedObject {
    /// Names the object.
    #[schema(min_length = 1, max_length = 256)]
    id: String,
    #[serde(flatten)]
    change: ObjectChange,
}

/// What an object is now; only what is given changes.
#[derive(ToSchema)]
#[schema(example = json!({"title": "Water Lilies", "url": "https://example.org/works/1"}))]
#[expect(dead_code, reason = "describes what `Bodies::object` reads")]
struct ObjectChange {
    /// A title to show.
    title: Option<String>,
    /// Where it is to be seen.
    url: Option<String>,
    /// A picture of it.
    image: Option<String>,
    /// Whether it may be told at all.
    notifiable: Option<bool>,
}

/// Make or change an object
///
/// Only what is given changes, and null is as if it were left out; a retraction is lifted.
#[utoipa::path(
    put, path = "/v1/objects/{id}", tag = "objects",
    params(("id" = String, Path, description = "The object", min_length = 1, max_length = 256)),
    request_body = ObjectChange,
    responses((status = 204, description = "Durable"))
)]
async fn put_object(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let rules = service.rules();
    let command = Bodies::new(&rules).object(id, change.fields()?)?;
    let done = |replies| only(replies).map(|_| Answer::done());
    service.change(&change, vec![command], done).await
}

/// Retract an object
///
/// What waits about it is skipped; a later publish or change lifts the retraction.
#[utoipa::path(
    delete, path = "/v1/objects/{id}", tag = "objects",
    params(("id" = String, Path, description = "The object", min_length = 1, max_length = 256)),
    responses((status = 204, description = "Durable"))
)]
async fn retract_object(
    State(service): State<Arc<Service>>,
    InPath(object): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let done = |replies| only(replies).map(|_| Answer::done());
    service
        .change(&change, vec![Command::Retract { object }], done)
        .await
}

/// Make or change many objects
///
/// One a line, of any length; only what is given changes. Answered line by line, when it is durable.
#[utoipa::path(
    post, path = "/v1/objects", tag = "objects",
    params(Wanted),
    request_body(content((NamedObject = "application/x-ndjson"))),
    responses((status = 200, description = "Durable, line by line", content((LineAnswer = "application/x-ndjson"))))
)]
async fn change_objects(
    State(service): State<Arc<Service>>,
    InQuery(wanted): InQuery<Wanted>,
    request: Request,
) -> Result<Response, Problem> {
    let each = Each(|bodies, fields| bodies.named_object(fields));
    lines::only_lines(service, request, wanted, each).await
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::{Value, json};

    use crate::http::rig::Rig;

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
