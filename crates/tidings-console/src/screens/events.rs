//! Events: the list with its filters, and one event with whom it reached.

mod act;
mod event;
pub(crate) mod verdict;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};

use crate::call::Call;
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::routes::written;
use crate::screens::people::refused;
use crate::viewer::Viewer;

/// The filters of the list.
const FIELDS: [&str; 8] =
    ["type", "actor", "object", "target", "recipient", "tenant", "from", "to"];

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/events", get(list)).merge(event::routes()).merge(act::routes())
}

async fn list(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    query: Query,
) -> Response {
    written(page(&console, &viewer, &query).await, &console, &viewer)
}

async fn page(console: &Console, viewer: &Viewer, query: &Query) -> Result<Page, CallProblem> {
    let fields: Vec<Shown> =
        FIELDS.into_iter().map(|name| context! { name, value => query.text(name) }).collect();
    let is_more_chosen = ["target", "tenant"].into_iter().any(|name| query.get(name).is_some());
    let form = context! { fields, is_more_chosen, recipient => query.text("recipient") };
    let answer = match console.call(viewer, query.onto(Call::get(&["events"]))).await {
        Ok(answer) => answer,
        Err(problem) if problem.status == StatusCode::BAD_REQUEST => {
            return Ok(refused(BarSection::Events, "Events", "events/list.html", &problem, form));
        }
        Err(problem) => return Err(problem),
    };
    let values = context! {
        events => Serde(&answer["events"]),
        answer => context! { missing => Serde(&answer["missing"]) },
        next => query.next_url("/events", &answer), is_unfiltered => query.is_unfiltered(),
        is_first => query.get("cursor").is_none(), ..form
    };
    Ok(Page::new(BarSection::Events, "Events", "events/list.html").with(values))
}

#[cfg(test)]
mod tests;
