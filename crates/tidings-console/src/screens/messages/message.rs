//! One message: what became of it and why, how it looks, and what can be done.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::call::{Call, encoded};
use crate::change::{ChangeForm, TwoStepChange, answered};
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::routes::written;
use crate::screens::messages::verb::Verb;
use crate::screens::messages::verdict::{tone, verdict, words};
use crate::screens::unknown;
use crate::viewer::Viewer;

/// The policy of a mail within its frame: it loads nothing and runs nothing.
const MAIL_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/messages/{id}", get(one))
        .route("/messages/{id}/html", get(html))
        .route("/messages/{id}/{verb}", get(ask).post(make))
}

async fn one(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let page = match page(&console, &viewer, &id).await {
        Ok(page) => page,
        Err(problem) => unknown::page(&console, &viewer, BarSection::Messages, &id, problem).await,
    };
    page.write(&console, &viewer)
}

async fn page(console: &Console, viewer: &Viewer, id: &str) -> Result<Page, CallProblem> {
    let message = console.call(viewer, Call::get(&["messages", id])).await?;
    let recipient = message["recipient"].as_str();
    let preview = preview(console, viewer, id, &message).await;
    let state = message["state"].as_str().unwrap_or_default();
    let role = viewer.caller.role;
    let verbs: Vec<Shown> = Verb::ALL
        .into_iter()
        .filter(|verb| verb.applies_to(state) && console.api().may(role, verb.operation()))
        .map(|verb| context! { label => verb.label(), word => verb.word() })
        .collect();
    let left_out = message["left_out"].as_array().into_iter().flatten();
    let left_out: Vec<Shown> = left_out
        .map(|left| {
            let reason = left["reason"].as_str().unwrap_or_default();
            context! { event => left["event"].as_str(), reason, words => words(reason) }
        })
        .collect();
    let is_open = recipient.is_some_and(|recipient| viewer.sees(recipient, console.api().now()));
    let values = context! {
        id, message => Serde(&message), verdict => verdict(&message).shown(), tone => tone(state),
        left_out, verbs, is_open, ..preview_shown(&preview)
    };
    Ok(Page::new(BarSection::Messages, format!("Message {id}"), "message.html").with(values))
}

/// The content of the message, built again now. It belongs to its recipient.
async fn preview(
    console: &Console,
    viewer: &Viewer,
    id: &str,
    message: &Value,
) -> Result<Value, CallProblem> {
    let call = Call::get(&["messages", id, "preview"]);
    let call = match message["recipient"].as_str() {
        Some(recipient) => call.about(recipient),
        None => call,
    };
    console.call(viewer, call).await
}

fn preview_shown(preview: &Result<Value, CallProblem>) -> Shown {
    match preview {
        Ok(preview) => context! { preview => Serde(preview) },
        Err(problem) => context! { no_preview => problem.text("detail") },
    }
}

/// The HTML of a mail alone, for the frame of its page.
async fn html(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    match mail(&console, &viewer, &id).await {
        Ok(text) => ([(header::CONTENT_SECURITY_POLICY, MAIL_POLICY)], Html(text)).into_response(),
        Err(problem) => Page::of_problem(&problem).write(&console, &viewer),
    }
}

async fn mail(console: &Console, viewer: &Viewer, id: &str) -> Result<String, CallProblem> {
    let message = console.call(viewer, Call::get(&["messages", id])).await?;
    let preview = preview(console, viewer, id, &message).await?;
    let missing = || {
        let detail = "This message has no HTML.";
        CallProblem::new(StatusCode::NOT_FOUND, "not_found", detail)
    };
    preview["html"].as_str().map(str::to_owned).ok_or_else(missing)
}

async fn ask(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, verb)): Path<(String, String)>,
) -> Response {
    let page = async {
        let verb = known(&verb)?;
        console.allow(&viewer, verb.operation())?;
        change(&id, verb).ask(&console, &viewer).await
    };
    written(page.await, &console, &viewer)
}

async fn make(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, verb)): Path<(String, String)>,
    form: ChangeForm,
) -> Response {
    let made = async {
        let change = change(&id, known(&verb)?);
        change.make(&console, &viewer, &form).await
    };
    answered(made.await, &console, &viewer, |_| format!("/messages/{}", encoded(&id)))
}

fn known(verb: &str) -> Result<Verb, CallProblem> {
    let detail = "There is no such page.";
    Verb::of(verb).ok_or_else(|| CallProblem::new(StatusCode::NOT_FOUND, "not_found", detail))
}

fn change(id: &str, verb: Verb) -> TwoStepChange {
    let back = format!("/messages/{}", encoded(id));
    TwoStepChange {
        call: Call::act(&["messages", id, verb.word()]),
        verb: verb.label(),
        what: format!("message {id}"),
        action: format!("{back}/{}", verb.word()),
        back,
        section: BarSection::Messages,
        is_counted: true,
    }
}
