//! Messages: the list with all its filters, and what is done to all that match.

mod bulk;
mod message;
pub(crate) mod verb;
pub(crate) mod verdict;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::call::Call;
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::routes::written;
use crate::screens::messages::verb::Verb;
use crate::viewer::Viewer;

/// The states that a message can have, in the order of its life.
const STATES: [&str; 8] =
    ["planned", "sending", "retrying", "sent", "failed", "unknown", "suppressed", "cancelled"];

/// The parameters of the list that are fields of text.
const FIELDS: [&str; 4] = ["recipient", "event", "from", "to"];

/// Those that are wanted more rarely.
const MORE_FIELDS: [&str; 5] = ["provider", "tenant", "reason", "job", "day"];

/// The states of which the words of the provider are worth a look.
const WITH_WORDS: [&str; 3] = ["retrying", "failed", "unknown"];

/// The screens of messages.
pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/messages", get(list)).merge(bulk::routes()).merge(message::routes())
}

async fn list(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    query: Query,
) -> Response {
    written(page(&console, &viewer, &query).await, &console, &viewer)
}

async fn page(console: &Console, viewer: &Viewer, query: &Query) -> Result<Page, CallProblem> {
    let types = console.call(viewer, Call::get(&["types"])).await.unwrap_or_default();
    let answer = match console.call(viewer, query.onto(Call::get(&["messages"]))).await {
        Ok(answer) => answer,
        // What was asked stays in the form, so that it can be mended.
        Err(problem) if problem.status.is_client_error() && problem.status.as_u16() == 400 => {
            let problem_shown = context! {
                detail => problem.text("detail"), hint => problem.text("hint"),
            };
            let values = context! { problem => problem_shown, ..form(query, &types) };
            let mut page =
                Page::new(BarSection::Messages, "Messages", "messages.html").with(values);
            page.status = problem.status;
            return Ok(page);
        }
        Err(problem) => return Err(problem),
    };
    let mut rows = answer["messages"].as_array().cloned().unwrap_or_default();
    for row in &mut rows {
        let words = words(console, viewer, row).await;
        if let Some(fields) = row.as_object_mut() {
            fields.insert("words".to_owned(), words.into());
        }
    }
    let now = console.api().now();
    let ages: Vec<Option<i64>> = rows.iter().map(|row| age_ms(row, now)).collect();
    let filter = query.without("cursor").without("limit");
    let verbs = Verb::ALL.into_iter().filter(|verb| {
        !filter.is_unfiltered() && console.api().may(viewer.caller.role, verb.bulk_operation())
    });
    let verbs: Vec<Shown> = verbs
        .map(|verb| {
            let href = filter.url(&format!("/messages/{}", verb.word()));
            context! { label => verb.label(), href }
        })
        .collect();
    let values = context! {
        rows => rows.iter().zip(ages).map(|(row, age)| context! { row => Serde(row), age }).collect::<Vec<_>>(),
        answer => context! { missing => Serde(&answer["missing"]) },
        looked => looked_through(query, &answer), headline => headline(query, &answer, rows.len()),
        next => query.next_url("/messages", &answer), is_first => query.get("cursor").is_none(),
        is_unfiltered => query.is_unfiltered(), verbs,
        ..form(query, &types)
    };
    Ok(Page::new(BarSection::Messages, "Messages", "messages.html").with(values))
}

/// The values of the form, as the URL has them.
fn form(query: &Query, types: &Value) -> Shown {
    let field = |name: &'static str| context! { name, value => query.text(name) };
    let fields: Vec<Shown> = FIELDS.into_iter().map(field).collect();
    let more_fields: Vec<Shown> = MORE_FIELDS.into_iter().map(field).collect();
    let is_more_chosen =
        MORE_FIELDS.into_iter().chain(["type"]).any(|name| query.get(name).is_some());
    let chosen = |name: &str, value: &str| query.all(name).any(|of| of == value);
    let states: Vec<Shown> =
        STATES.into_iter().map(|word| context! { word, on => chosen("state", word) }).collect();
    let names = |of: &str| -> Vec<String> {
        types[of].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let types_shown: Vec<Shown> = names("types")
        .into_iter()
        .map(|word| context! { on => chosen("type", &word), word })
        .collect();
    let channels: Vec<String> = names("channels")
        .into_iter()
        .filter(|name| name != "inbox" && types["channels"][name]["configured"] == true)
        .collect();
    context! {
        fields, states, types => types_shown, more_fields, is_more_chosen, channels,
        channel => query.text("channel"),
    }
}

/// The words of the provider about a message that is not well.
async fn words(console: &Console, viewer: &Viewer, row: &Value) -> Option<String> {
    if let Some(held) = row["held"]["reason"].as_str() {
        return Some(held.to_owned());
    }
    let state = row["state"].as_str()?;
    if !WITH_WORDS.contains(&state) {
        return None;
    }
    let message = console.call(viewer, Call::get(&["messages", row["id"].as_str()?])).await.ok()?;
    Some(message["attempts"].as_array()?.last()?["reply"].as_str()?.to_owned())
}

/// The time since a message was due.
fn age_ms(row: &Value, now: jiff::Timestamp) -> Option<i64> {
    let due: jiff::Timestamp = row["due"].as_str()?.parse().ok()?;
    Some(now.as_millisecond().saturating_sub(due.as_millisecond()).max(0))
}

/// Their number in words: exact only where the page shows all.
fn headline(query: &Query, answer: &Value, rows: usize) -> String {
    let is_all = answer["next"].is_null() && query.get("cursor").is_none();
    match (is_all, rows) {
        (true, 0) => "No message matches".to_owned(),
        (true, 1) => "1 message matches".to_owned(),
        (true, rows) => format!("{rows} messages match"),
        (false, rows) if query.get("cursor").is_none() && rows > 0 => {
            format!("More than {rows} messages match")
        }
        (false, _) => "Messages that match".to_owned(),
    }
}

/// The range that was looked through, so that an empty page is never taken for "none".
fn looked_through(query: &Query, answer: &Value) -> &'static str {
    let is_within = query.get("from").or(query.get("to")).or(query.get("day")).is_some();
    match (answer["next"].is_null(), is_within) {
        (true, true) => "Looked through all messages of that time.",
        (true, false) => "Looked through all messages that are kept.",
        (false, _) => {
            "Newest first by the time when they were due; older ones were not looked through yet."
        }
    }
}

#[cfg(test)]
mod tests;
