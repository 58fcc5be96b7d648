//! The system: lists of what runs the server and of who uses it, and what can be done about each.

mod actions;
mod jobs;
mod listing;
mod lists;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::call::{Call, encoded};
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::routes::written;
use crate::screens::system::listing::{Column, ListCell, Listing, counted};
use crate::screens::system::lists::{LISTS, List, add_marks};
use crate::viewer::Viewer;

/// The screens of the system.
pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/system", get(index))
        .route("/system/{list}", get(list))
        .route("/system/feeds/{name}/parked", get(parked))
        .merge(jobs::routes())
        .merge(actions::routes())
}

async fn index(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    let may = |operation| console.api().may(viewer.caller.role, operation);
    let mut faults: Vec<Shown> = Vec::new();
    for (name, operation, bad) in [
        ("feeds", "list_feeds", ["failing", "stopped"].as_slice()),
        ("hooks", "list_hooks", ["off"].as_slice()),
        ("nodes", "list_nodes", ["silent"].as_slice()),
    ] {
        if !may(operation) {
            continue;
        }
        // A list that can't be read has a page that says why.
        let rows = console.call(&viewer, Call::get(&[name])).await.unwrap_or_default();
        for row in rows.as_array().into_iter().flatten() {
            let state = row["state"].as_str().unwrap_or_default();
            if bad.contains(&state) {
                let one = row["name"].as_str().or(row["node"].as_str()).unwrap_or_default();
                let noun = name.trim_end_matches('s');
                faults.push(context! { list => name, noun, one, state });
            }
        }
    }
    let lists = LISTS.iter().filter(|list| may(list.operation));
    let mut lists: Vec<Shown> =
        lists.map(|list| context! { name => list.name, about => list.about }).collect();
    if may("list_jobs") {
        let about = "changes of many messages, and comparisons of configurations";
        lists.push(context! { name => "jobs", about });
    }
    let values = context! { faults, lists };
    let page = Page::new(BarSection::System, "System", "system.html").with(values);
    written(Ok(page), &console, &viewer)
}

async fn list(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
    query: Query,
) -> Response {
    let page = async {
        let Some(list) = List::of(&name) else {
            let detail = "There is no such list.";
            return Err(CallProblem::new(StatusCode::NOT_FOUND, "not_found", detail));
        };
        match console.call_prepared(&viewer, list.call(&query), add_marks).await {
            Ok(answer) => Ok(list.listing(&answer, &console, &viewer, &query).page(None)),
            Err(problem) if problem.status == StatusCode::BAD_REQUEST => {
                let listing = list.listing(&Value::Null, &console, &viewer, &query);
                Ok(listing.page(Some(&problem)))
            }
            Err(problem) => Err(problem),
        }
    };
    written(page.await, &console, &viewer)
}

/// The rows of a feed that were refused.
async fn parked(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
    query: Query,
) -> Response {
    const COLUMNS: [Column; 4] = [
        Column::text("Written"),
        Column::text("Row"),
        Column::text("Key"),
        Column::text("Problem"),
    ];
    let page = async {
        let call = query.onto(Call::get(&["feeds", &name, "parked"]));
        let answer = console.call(&viewer, call).await?;
        let rows = answer["parked"].as_array().cloned().unwrap_or_default();
        let rows: Vec<Vec<ListCell>> = rows
            .iter()
            .map(|row| {
                let problem = &row["problem"];
                let said = problem["detail"].as_str().or(problem["title"].as_str());
                let said = said.map_or_else(|| problem.to_string(), str::to_owned);
                vec![
                    ListCell::at(row, "at"),
                    ListCell::id(row, "row"),
                    ListCell::id(row, "key"),
                    ListCell::Text(said),
                ]
            })
            .collect();
        let is_all = answer["next"].is_null() && query.get("cursor").is_none();
        let listing = Listing {
            name: "feeds",
            verdict: counted(rows.len(), is_all, "parked row", "parked rows") + " of " + &name,
            columns: &COLUMNS,
            rows,
            fields: Vec::new(),
            empty: ["No row is parked: every row was taken.", ""],
            missing: answer["missing"].clone(),
            next: query.next_url(&format!("/system/feeds/{}/parked", encoded(&name)), &answer),
        };
        Ok(listing.page(None))
    };
    written(page.await, &console, &viewer)
}

#[cfg(test)]
mod tests;
