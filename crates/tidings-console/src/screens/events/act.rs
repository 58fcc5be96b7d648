//! Cancelling and withdrawing an event: each asks first.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};

use crate::call::{Call, encoded};
use crate::change::{ChangeForm, TwoStepChange, answered};
use crate::console::Console;
use crate::page::BarSection;
use crate::problem::CallProblem;
use crate::routes::written;
use crate::viewer::Viewer;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/events/{id}/{verb}", get(ask).post(make))
}

async fn ask(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, verb)): Path<(String, String)>,
) -> Response {
    let page = async { change(&console, &viewer, &id, &verb)?.ask(&console, &viewer).await };
    written(page.await, &console, &viewer)
}

async fn make(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, verb)): Path<(String, String)>,
    form: ChangeForm,
) -> Response {
    let made =
        async { change(&console, &viewer, &id, &verb)?.make(&console, &viewer, &form).await };
    answered(made.await, &console, &viewer, |_| format!("/events/{}", encoded(&id)))
}

/// The change of a word in a path, where the viewer may make it.
fn change(
    console: &Console,
    viewer: &Viewer,
    id: &str,
    word: &str,
) -> Result<TwoStepChange, CallProblem> {
    let (operation, verb) = match word {
        "cancel" => ("cancel_event", "Cancel"),
        "withdraw" => ("withdraw_event", "Withdraw"),
        _ => {
            let detail = "There is no such page.";
            return Err(CallProblem::new(StatusCode::NOT_FOUND, "not_found", detail));
        }
    };
    console.allow(viewer, operation)?;
    let back = format!("/events/{}", encoded(id));
    Ok(TwoStepChange {
        call: Call::act(&["events", id, word]),
        verb,
        what: format!("event {id}"),
        action: format!("{back}/{word}"),
        back,
        section: BarSection::Events,
        is_counted: true,
    })
}
