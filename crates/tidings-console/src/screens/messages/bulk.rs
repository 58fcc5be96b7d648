//! All messages of a filter at once: what would become of them, and the job that does it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use serde_json::{Map, Value, json};

use crate::call::{Call, encoded};
use crate::change::{ChangeForm, TwoStepChange, answered};
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::routes::written;
use crate::screens::messages::verb::Verb;
use crate::viewer::Viewer;

pub(super) fn routes() -> Router<Arc<Console>> {
    let routes = Router::new();
    Verb::ALL.into_iter().fold(routes, |routes, verb| {
        let ahead = async move |State(console): State<Arc<Console>>,
                                Extension(viewer): Extension<Viewer>,
                                query: Query|
                    -> Response {
            written(ask(&console, &viewer, verb, &query).await, &console, &viewer)
        };
        let made = async move |State(console): State<Arc<Console>>,
                               Extension(viewer): Extension<Viewer>,
                               query: Query,
                               form: ChangeForm|
                    -> Response {
            let made = change(verb, &query).make(&console, &viewer, &form).await;
            let made = made.map(|made| made.on_page(|page| shown(page, verb)));
            answered(made, &console, &viewer, |answer| {
                format!("/system/jobs/{}", encoded(answer["job"].as_str().unwrap_or_default()))
            })
        };
        routes.route(&format!("/messages/{}", verb.word()), get(ahead).post(made))
    })
}

async fn ask(
    console: &Console,
    viewer: &Viewer,
    verb: Verb,
    query: &Query,
) -> Result<Page, CallProblem> {
    console.allow(viewer, verb.bulk_operation())?;
    Ok(shown(change(verb, query).ask(console, viewer).await?, verb))
}

/// The page of a change of many. Its title has no filter: somebody may have typed an address into one.
fn shown(page: Page, verb: Verb) -> Page {
    Page { title: format!("{} messages", verb.label()), template: "bulk.html", ..page }
}

fn change(verb: Verb, query: &Query) -> TwoStepChange {
    let filter = query.without("cursor").without("limit").without("expect").without("dry");
    let words: Vec<String> =
        filter.pairs().map(|(name, value)| format!("{name} {value}")).collect();
    TwoStepChange {
        call: Call::post(&["messages", verb.word()], json!({ "filter": filter_body(&filter) })),
        verb: verb.label(),
        what: format!("all messages with {}", words.join(", ")),
        back: filter.url("/messages"),
        action: filter.url(&format!("/messages/{}", verb.word())),
        section: BarSection::Messages,
        is_counted: true,
    }
}

/// The filter as the call has it: repeated parameters are arrays.
fn filter_body(query: &Query) -> Value {
    let mut body = Map::new();
    for (name, value) in query.pairs() {
        match body.get_mut(name) {
            Some(Value::Array(values)) => values.push(value.into()),
            Some(first) => *first = json!([first.clone(), value]),
            None => {
                body.insert(name.to_owned(), value.into());
            }
        }
    }
    Value::Object(body)
}
