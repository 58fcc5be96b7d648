//! Subscriptions of recipients to topics.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use tidings_api::body::Fault;
use tidings_api::body::short::Subscription;
use tidings_api::body::text::{FromText as _, Topic};
use tidings_core::engine::FollowedTopic;
use tidings_core::{Command, Id};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::Problem;
use crate::request::InPath;
use crate::request::array::{self, ItemAnswer};
use crate::request::lines::{BulkLinesQuery, Each, LineAnswer};
use crate::request::query::InQuery;
use crate::request::reader::{InboxReader, TenantAlone, TopicInPath};
use crate::{Answer, Change, Service};

/// The calls of subscriptions.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("follow", routes!(follow))
        .add("unfollow", routes!(unfollow))
        .add("list_subscriptions", routes!(list_subscriptions))
        .add("follow_many", routes!(follow_many))
}

/// The topics of a recipient.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"topics": ["artist/42", "gallery/7"]}))]
struct Subscriptions {
    /// Topics without a tenant, sorted by bytes; with a tenant in the token, the key or the query, the topics of that
    /// tenant.
    topics: Vec<String>,
    /// Topics of tenants, by tenant id; absent = none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    tenants: BTreeMap<String, Vec<String>>,
}

/// Follow a topic
///
/// Subscribes the recipient to the topic and everything below it: a follower of `artist` is notified of events to
/// `artist/42`. Slashes in the path may be encoded or not.
#[utoipa::path(
    put, path = "/v1/recipients/{id}/subscriptions/{*topic}", tag = "subscriptions",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("topic" = String, Path, description = "Topic; slashes may be encoded or not", example = "artist/42", min_length = 1, max_length = 256),
    ),
    responses((status = 204, description = "The recipient follows the topic"))
)]
pub(crate) async fn follow(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
    InPath(TopicInPath { topic }): InPath<TopicInPath>,
    change: Change,
) -> Result<Answer, Problem> {
    reader.check_topic(&topic, &service)?;
    let tenant = reader.tenant(None)?;
    let (recipient, topic) = (reader.recipient, topic_of(&topic)?);
    service.done(&change, Command::Subscribe { tenant, recipient, topic }).await
}

/// Unfollow a topic
///
/// Removes the subscription. Earlier events are not cancelled. A topic that the recipient does not follow is not an
/// error.
#[utoipa::path(
    delete, path = "/v1/recipients/{id}/subscriptions/{*topic}", tag = "subscriptions",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("topic" = String, Path, description = "Topic; slashes may be encoded or not", example = "artist/42", min_length = 1, max_length = 256),
    ),
    responses((status = 204, description = "The recipient does not follow the topic"))
)]
pub(crate) async fn unfollow(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
    InPath(TopicInPath { topic }): InPath<TopicInPath>,
    change: Change,
) -> Result<Answer, Problem> {
    reader.check_topic(&topic, &service)?;
    let tenant = reader.tenant(None)?;
    let (recipient, topic) = (reader.recipient, topic_of(&topic)?);
    service.done(&change, Command::Unsubscribe { tenant, recipient, topic }).await
}

/// The topic of a path.
fn topic_of(text: &str) -> Result<Id, Problem> {
    let topic = Topic::from_text(text).map_err(|fault| {
        let reason = format!("`topic` {}", fault.reason);
        Problem::from(Fault { reason, ..fault })
    })?;
    Ok(topic.0)
}

/// List a recipient's subscriptions
///
/// Returns all topics, sorted by bytes.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/subscriptions", tag = "subscriptions",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    responses((status = 200, description = "All topics", body = Subscriptions))
)]
pub(crate) async fn list_subscriptions(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
) -> Result<Answer, Problem> {
    let id = reader.recipient.clone();
    let topics = service.look(move |node| node.engine().reader(node.view()).following(&id)).await?;
    let followed = reader.or_nothing(topics.map_err(Problem::from))?;
    let view = reader.view();
    let mut shown = Subscriptions { topics: Vec::new(), tenants: BTreeMap::new() };
    for FollowedTopic { topic, tenant } in followed {
        let topic = topic.as_str().to_owned();
        match (view.tenant(), tenant) {
            (wanted, tenant) if wanted == tenant.as_ref() => shown.topics.push(topic),
            (None, Some(tenant)) => {
                shown.tenants.entry(tenant.as_str().to_owned()).or_default().push(topic);
            }
            _ => {}
        }
    }
    Answer::json(StatusCode::OK, &shown)
}

/// Follow and unfollow many topics
///
/// Takes an array of at most 10,000 subscriptions, or a stream of any length with one per line; `unsubscribe`
/// removes one. Each item is accepted or rejected by itself; the answers are in order.
#[utoipa::path(
    post, path = "/v1/subscriptions", tag = "subscriptions",
    params(BulkLinesQuery),
    request_body(content(
        (Vec<Subscription> = "application/json", example = json!([{"recipient": "ada", "topic": "artist/42"}, {"recipient": "ada", "topic": "artist/7", "unsubscribe": true}])),
        (Subscription = "application/x-ndjson"),
    )),
    responses((status = 200, description = "The result of each item", content(
        (Vec<ItemAnswer> = "application/json", example = json!([{"status": "done"}, {"status": "done"}])),
        (LineAnswer = "application/x-ndjson", example = json!({"line": 1, "status": "done"})))))
)]
async fn follow_many(
    State(service): State<Arc<Service>>,
    InQuery(wanted): InQuery<BulkLinesQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let each = Each::new(|_, fields| Ok(fields.body::<Subscription>()?.command()));
    array::many(service, request, wanted, each).await
}
