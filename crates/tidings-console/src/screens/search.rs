//! Search: from an address or an id to its page.
//!
//! What somebody searches for may be an address, so it comes in a body, and neither a URL nor a page repeats it unless it
//! looks like an id.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::{Value as Shown, context};
use serde_json::{Value, json};

use crate::call::{Call, encoded};
use crate::console::Console;
use crate::form::PostedForm;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::viewer::Viewer;

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/search", get(of_id).post(of_form))
}

/// A search by URL, which is for ids alone.
async fn of_id(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    query: Query,
) -> Response {
    match query.get("q").filter(|id| is_id_like(id)) {
        Some(id) => found(&console, &viewer, id).await,
        None => page(None, &Value::Null, None).write(&console, &viewer),
    }
}

async fn of_form(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    form: PostedForm,
) -> Response {
    match form.get("q").unwrap_or_default().trim() {
        "" => page(None, &Value::Null, None).write(&console, &viewer),
        sought => found(&console, &viewer, sought).await,
    }
}

async fn found(console: &Console, viewer: &Viewer, sought: &str) -> Response {
    let shown = Some(sought).filter(|sought| is_id_like(sought));
    let answer = match console.call(viewer, Call::post(&["search"], json!({"q": sought}))).await {
        Ok(answer) => answer,
        Err(problem) => {
            return page(shown, &Value::Null, Some(&problem)).write(console, viewer);
        }
    };
    let hits = answer["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let [hit] = hits
        && let Some(url) = url(hit)
    {
        return Redirect::to(&format!("{}{url}", console.base())).into_response();
    }
    page(shown, &answer, None).write(console, viewer)
}

fn page(sought: Option<&str>, answer: &Value, problem: Option<&CallProblem>) -> Page {
    let links = |name: &str| -> Vec<Shown> {
        answer[name].as_array().into_iter().flatten().filter_map(link).collect()
    };
    let values = context! {
        sought, is_answered => answer.is_object(),
        hits => links("hits"), nearest => links("nearest"),
        problem => problem.map(|problem| context! {
            detail => problem.text("detail"), hint => problem.text("hint"),
        }),
    };
    let page = Page::new(BarSection::Other, "Search", "search.html").with(values);
    Page { status: problem.map_or(StatusCode::OK, |problem| problem.status), ..page }
}

/// Returns true if a text may be in a URL: an id, and no address of any channel.
fn is_id_like(text: &str) -> bool {
    let is_phone = text.starts_with('+') && text.bytes().any(|byte| byte.is_ascii_digit());
    !is_phone && !text.contains(|letter: char| letter == '@' || letter.is_whitespace())
}

/// A hit with its page.
pub(crate) fn link(hit: &Value) -> Option<Shown> {
    let url = url(hit)?;
    let matched = match hit["matched"].as_str().unwrap_or_default() {
        "id" => "has this id",
        "tag" => "its mail has this tag",
        "cancellation_key" => "was published with this cancellation key",
        "address" => "has this address",
        "former_address" => "had this address",
        _ => "",
    };
    Some(context! { kind => hit["kind"].as_str(), id => hit["id"].as_str(), url, matched })
}

/// The page of a hit, below the base.
fn url(hit: &Value) -> Option<String> {
    let id = encoded(hit["id"].as_str()?);
    Some(match hit["kind"].as_str()? {
        "recipient" => format!("/people/{id}"),
        "event" => format!("/events/{id}"),
        "message" => format!("/messages/{id}"),
        "type" => format!("/types/{id}"),
        "tenant" => format!("/system/tenants?tenant={id}"),
        // What is about them.
        "topic" | "object" => format!("/events?object={id}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
