//! One event: how many it reached by channel, outcome and reason, and who they are.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use serde_json::{Value, json};

use crate::call::{Call, encoded};
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::screens::events::verdict::{audience, tone, verdict};
use crate::screens::messages::verdict::words;
use crate::screens::unknown::{self, Sought};
use crate::sentence::Sentence;
use crate::viewer::Viewer;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/events/{id}", get(event))
}

async fn event(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    query: Query,
) -> Response {
    let page = page(&console, &viewer, &id, &query).await;
    let sought = [Sought { id: &id, code: "event_not_found" }];
    unknown::written(page, &console, &viewer, BarSection::Events, &sought).await
}

async fn page(
    console: &Console,
    viewer: &Viewer,
    id: &str,
    query: &Query,
) -> Result<Page, CallProblem> {
    let event = console.call(viewer, Call::get(&["events", id])).await?;
    // The counts of the event have all but who has no notification at all.
    let counts = console.call(viewer, Call::post(&["explain"], json!({"event": id}))).await;
    let counts = counts.unwrap_or_else(|_| event.clone());
    let path = format!("/events/{}", encoded(id));
    let people = console.call(viewer, query.onto(Call::get(&["events", id, "recipients"]))).await;
    let (people, problem) = match people {
        Ok(people) => (people, None),
        Err(problem) if problem.status.is_client_error() => (Value::Null, Some(problem)),
        Err(problem) => return Err(problem),
    };
    let role = viewer.caller.role;
    let acts = [("cancel_event", "cancel", "Cancel"), ("withdraw_event", "withdraw", "Withdraw")];
    let acts = acts.into_iter().filter(|(operation, ..)| console.api().may(role, operation));
    let acts = acts.map(|(_, word, label)| context! { word, label });
    let filters: Vec<Shown> = ["channel", "outcome", "reason"]
        .into_iter()
        .filter_map(|name| Some(context! { name, value => query.get(name)? }))
        .collect();
    let values = context! {
        id, path => &path, event => Serde(&event["event"]), arrived_at => event["arrived_at"].as_str(),
        scheduled_for => event["scheduled_for"].as_str(), tone => tone(&event, &counts),
        verdict => verdict(&event, &counts).iter().map(Sentence::shown).collect::<Vec<_>>(),
        audience => audience(&event["event"]["to"]), channels => channels(&path, &counts),
        people => Serde(&people["recipients"]), filters, is_filtered => !query.is_unfiltered(),
        next => query.next_url(&path, &people), acts => acts.collect::<Vec<_>>(),
        problem => problem.as_ref().map(|problem| context! {
            detail => problem.text("detail"), hint => problem.text("hint"),
        }),
        answer => context! { missing => Serde(&event["missing"]) },
    };
    let page =
        Page::new(BarSection::Events, format!("Event {id}"), "events/event.html").with(values);
    Ok(Page { status: problem.map_or(page.status, |problem| problem.status), ..page })
}

/// The counts of each channel as rows of bars, each a link to whom it counts.
fn channels(path: &str, counts: &Value) -> Vec<Shown> {
    let channels = counts["channels"].as_object().into_iter().flatten();
    channels
        .map(|(channel, fate)| {
            let left_out = numbers(&fate["left_out"]);
            let entries = fate["entries"].as_u64().unwrap_or_default();
            let whole = entries + left_out.iter().map(|(_, count)| count).sum::<u64>();
            let row = |filter: (&str, &str), label: &str, count: u64, tone: &str, is_part: bool| {
                let query = Query::default().with("channel", channel).with(filter.0, filter.1);
                context! { label, count, tone, is_part, url => query.url(path) }
            };
            let mut rows = Vec::new();
            for (outcome, count) in numbers(&fate["outcomes"]) {
                let tone = match outcome {
                    "delivered" => "ok",
                    "failed" | "unknown" => "failed",
                    _ => "off",
                };
                rows.push(row(("outcome", outcome), outcome, count, tone, false));
            }
            for (reason, count) in numbers(&fate["reasons"]) {
                let label = format!("{reason}: {}", words(reason));
                rows.push(row(("reason", reason), &label, count, "off", true));
            }
            let pending = fate["pending"].as_u64().unwrap_or_default();
            if pending > 0 {
                rows.push(row(("outcome", "pending"), "pending", pending, "wait", false));
            }
            for (reason, count) in left_out {
                let query = Query::default()
                    .with("channel", channel)
                    .with("outcome", "left_out")
                    .with("reason", reason);
                let label = format!("left out: {reason}");
                rows.push(context! { label, count, tone => "off", is_part => false, url => query.url(path) });
            }
            let more = ["sending", "scheduled"].map(|outcome| {
                let query = Query::default().with("channel", channel).with("outcome", outcome);
                context! { outcome, url => query.url(path) }
            });
            let more = if pending > 0 { Vec::from(more) } else { Vec::new() };
            context! { channel, entries, whole, rows, more }
        })
        .collect()
}

/// Numbers by name, the largest first.
fn numbers(value: &Value) -> Vec<(&str, u64)> {
    let named = value.as_object().into_iter().flatten();
    let mut rows: Vec<(&str, u64)> =
        named.filter_map(|(name, count)| Some((name.as_str(), count.as_u64()?))).collect();
    rows.retain(|(_, count)| *count > 0);
    rows.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    rows
}
