//! "Show": opens the name, addresses and texts of one person for fifteen minutes, in one session.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::post;
use axum::{Extension, Router};

use crate::call::encoded;
use crate::console::Console;
use crate::form::PostedForm;
use crate::page::Page;
use crate::problem::CallProblem;
use crate::query::Query;
use crate::screens::person::tab::TABS;
use crate::viewer::Viewer;

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/people/{id}/show", post(open))
}

async fn open(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    form: PostedForm,
) -> Response {
    let opened = async {
        console.allow(&viewer, "open_person")?;
        // Its line of the log first: nobody is open without one.
        console.api().open_person(&viewer, &id).await?;
        Ok::<(), CallProblem>(())
    };
    if let Err(problem) = opened.await {
        return Page::of_problem(&problem).write(&console, &viewer);
    }
    console.open(&viewer.session, &id);
    let path = format!("{}/people/{}", console.base(), encoded(&id));
    // Only words that are known, so that a form can't lead elsewhere.
    let tab = form.get("tab").and_then(|tab| TABS.iter().find(|(word, _)| *word == tab));
    let to = match tab {
        Some((tab, _)) if !tab.is_empty() => Query::default().with("tab", tab).url(&path),
        _ => path,
    };
    Redirect::to(&to).into_response()
}
