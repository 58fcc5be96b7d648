//! Suppose: what an event would come to for somebody if it were published now. Nothing is published.
//!
//! The event is in the URL, by ids alone, so that a colleague sees the same question.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use serde_json::{Value, json};

use super::{explain, explanation};
use crate::call::{Call, encoded};
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::screens::people::refused;
use crate::screens::unknown::{self, Sought};
use crate::viewer::Viewer;

/// The parameters of the page.
const FIELDS: [&str; 5] = ["type", "topic", "object", "actor", "tenant"];

pub(super) async fn suppose(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    query: Query,
) -> Response {
    let page = page(&console, &viewer, &id, &query).await;
    let sought = [Sought { id: &id, code: "recipient_not_found" }];
    unknown::written(page, &console, &viewer, BarSection::People, &sought).await
}

async fn page(
    console: &Console,
    viewer: &Viewer,
    id: &str,
    query: &Query,
) -> Result<Page, CallProblem> {
    if let Some((name, _)) = query.pairs().find(|(name, _)| !FIELDS.contains(name)) {
        let detail = format!("`{name}` is no part of a supposed event.");
        return Err(CallProblem::new(StatusCode::BAD_REQUEST, "invalid_query", detail));
    }
    let configured = console.call(viewer, Call::get(&["types"])).await?;
    let types = configured["types"].as_object().into_iter().flatten();
    let types: Vec<String> = types.map(|(name, _)| name.clone()).collect();
    let form = context! {
        id, person => format!("/people/{}", encoded(id)), types,
        type => query.text("type"), topic => query.text("topic"), object => query.text("object"),
        actor => query.text("actor"), tenant => query.text("tenant"),
        has_tenants => console.call(viewer, Call::get(&["tenants"]).with("limit", "1")).await.is_ok(),
    };
    let title = format!("Suppose an event for {id}");
    if query.get("type").is_none() {
        // Somebody who is not there gets nothing of any event.
        console.call(viewer, Call::get(&["recipients", id])).await?;
        return Ok(Page::new(BarSection::People, title, "suppose.html").with(form));
    }
    let question = json!({"event": event(id, query), "recipient": id});
    match explain(console, viewer, id, question).await {
        Ok(explained) => {
            let values = context! { ..explanation(id, None, &explained), ..form };
            Ok(Page::new(BarSection::People, title, "suppose.html").with(values))
        }
        Err(problem)
            if matches!(problem.status.as_u16(), 400 | 422)
                || problem.code() == "tenant_not_found" =>
        {
            Ok(refused(BarSection::People, &title, "suppose.html", &problem, form))
        }
        Err(problem) => Err(problem),
    }
}

/// The event as a publish has it.
fn event(id: &str, query: &Query) -> Value {
    let to = match query.get("topic") {
        Some(topic) => json!({"topics": [topic]}),
        None => json!({"recipients": [id]}),
    };
    let object = query.get("object").unwrap_or("supposed");
    let mut event = json!({"type": query.text("type"), "to": to, "object": {"id": object}});
    if let Some(actor) = query.get("actor") {
        event["actor"] = json!({"id": actor});
    }
    if let Some(tenant) = query.get("tenant") {
        event["tenant"] = json!(tenant);
    }
    event
}
