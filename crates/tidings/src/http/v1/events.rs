//! Events: what happened, and to whom it may matter.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::engine::{Published, PublishedAs, Reply, Warning};
use utoipa_axum::routes;

use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::{Answer, Change, Service, only};
use crate::timeline::Bodies;

/// The calls of events.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add(
        "publish",
        Kind::Changes,
        routes!(publish),
        &[
            Code::InvalidJson,
            Code::InvalidBody,
            Code::UnknownType,
            Code::UnsupportedMediaType,
        ],
    )
}

#[derive(Serialize)]
struct Told {
    id: String,
    status: &'static str,
    notifications: u64,
    warnings: Vec<String>,
}

impl From<Published> for Told {
    fn from(published: Published) -> Self {
        Self {
            id: published.id.to_string(),
            status: match published.status {
                PublishedAs::Accepted => "accepted",
                PublishedAs::Duplicate => "duplicate",
            },
            notifications: published.notifications,
            warnings: published.warnings.iter().map(warning).collect(),
        }
    }
}

fn warning(warning: &Warning) -> String {
    match warning {
        Warning::UnknownRecipient(id) => format!("there is no recipient `{id}`"),
        Warning::NobodyConcerned => "nobody is concerned".to_owned(),
    }
}

/// Publish events
#[utoipa::path(post, path = "/v1/events", tag = "events", responses((status = 202, description = "Durable")))]
async fn publish(State(service): State<Arc<Service>>, change: Change) -> Result<Answer, Problem> {
    let rules = service.rules();
    let missing = || {
        Err(crate::timeline::Fault::new(
            "`id` is missing",
            "give it one",
        ))
    };
    let command = Bodies::new(&rules).publish(change.fields()?, missing)?;
    let told = |replies| match only(replies)? {
        Reply::Published(published) => Answer::json(StatusCode::ACCEPTED, &Told::from(published)),
        Reply::Done | Reply::Flushed(_) | Reply::Cancelled(_) => {
            Err(Problem::new(Code::Internal, "an answer to something else"))
        }
    };
    service.change(&change, vec![command], told).await
}
