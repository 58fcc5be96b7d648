//! Why: what became of an event for a person, which rule decided, and what would have to differ.

mod suppose;
pub(crate) mod verdict;

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
use crate::screens::unknown::{self, Sought};
use crate::screens::why::verdict::{Answer, answers, deciding};
use crate::viewer::Viewer;

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/people/{id}/why/{event}", get(why))
        .route("/people/{id}/suppose", get(suppose::suppose))
}

async fn why(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, event)): Path<(String, String)>,
) -> Response {
    let page = page(&console, &viewer, &id, &event).await;
    let sought = [
        Sought { id: &id, code: "recipient_not_found" },
        Sought { id: &event, code: "event_not_found" },
    ];
    unknown::written(page, &console, &viewer, BarSection::People, &sought).await
}

async fn page(
    console: &Console,
    viewer: &Viewer,
    id: &str,
    event: &str,
) -> Result<Page, CallProblem> {
    let question = json!({"event": event, "recipient": id});
    let explained = explain(console, viewer, id, question).await?;
    let values = context! { event, ..explanation(id, Some(event), &explained) };
    let title = format!("Why {event} for {id}");
    Ok(Page::new(BarSection::People, title, "why.html").with(values))
}

async fn explain(
    console: &Console,
    viewer: &Viewer,
    id: &str,
    question: Value,
) -> Result<Value, CallProblem> {
    console.call(viewer, Call::post(&["explain"], question).about(id)).await
}

/// The values of an explanation: the answers, and the rules of each channel. `event` = the id of a published one.
fn explanation(id: &str, event: Option<&str>, explained: &Value) -> Shown {
    let person = format!("/people/{}", encoded(id));
    let channels = explained["channels"].as_array().into_iter().flatten();
    let channels: Vec<Shown> = channels
        .map(|path| {
            let channel = path["channel"].as_str().unwrap_or_default();
            // The inbox sends no messages.
            let event_sent = event.filter(|_| channel != "inbox");
            let messages = event_sent.map(|event| {
                let query = Query::default().with("recipient", id).with("event", event);
                query.with("channel", channel).url("/messages")
            });
            let decided = deciding(path);
            let rule = decided.and_then(|at| path["steps"][at]["rule"].as_str());
            context! {
                path => Serde(path), rungs => rungs(&path["steps"], decided), messages,
                evidence => rule.and_then(|rule| evidence(rule, &person, event, explained)),
            }
        })
        .collect();
    let steps = &explained["steps"];
    let ended =
        steps.as_array().and_then(|steps| steps.iter().position(|step| step["ends"] == true));
    context! {
        id, person, of_type => explained["type"].as_str(), as_of => explained["as_of"].as_str(),
        tenant => explained["tenant"].as_str(),
        answers => answers(explained).iter().map(Answer::shown).collect::<Vec<_>>(),
        general => rungs(steps, ended), channels,
    }
}

/// The rules as rungs of a ladder; `decided` = the index of the one that decided. Only what stopped it is marked as a
/// stop.
fn rungs(steps: &Value, decided: Option<usize>) -> Vec<Shown> {
    // What let it go on has later rules that were asked as well.
    let has_ended = decided.is_some_and(|at| steps[at]["ends"] == true);
    let steps = steps.as_array().into_iter().flatten().enumerate();
    steps
        .map(|(index, step)| {
            let is_decisive = decided == Some(index);
            let mark = match decided {
                Some(_) if is_decisive && has_ended => "decided",
                Some(decided) if index > decided && has_ended => "after",
                _ => "passed",
            };
            let (looked_at, result) = (
                step["looked_at"].as_str().unwrap_or_default(),
                step["result"].as_str().unwrap_or_default(),
            );
            let name = step["rule"].as_str().unwrap_or_default().replace('_', " ");
            let note = if is_decisive && mark == "passed" { " ← this decided" } else { "" };
            let text = format!("{looked_at} → {result}{note}");
            context! { name, text, at => step["at"].as_str(), mark }
        })
        .collect()
}

/// The page where what a rule looked at can be changed.
fn evidence(rule: &str, person: &str, event: Option<&str>, explained: &Value) -> Option<Shown> {
    let of_type = encoded(explained["type"].as_str().unwrap_or_default());
    let (title, url) = match rule {
        "preference" | "mute" | "quiet_hours" => {
            ("Their preferences", format!("{person}?tab=preferences"))
        }
        "address" | "suppression" => ("Their addresses", format!("{person}?tab=addresses")),
        "recipient" => ("The person", person.to_owned()),
        "object" | "cancel" | "expires_at" => ("The event", format!("/events/{}", encoded(event?))),
        "type" | "admission" | "condition" | "look_back" | "seen" | "deadline" | "min_items"
        | "cap" | "hold" => ("The type", format!("/types/{of_type}")),
        _ => return None,
    };
    Some(context! { title, url })
}

#[cfg(test)]
mod tests;
