//! Try a change: other numbers for a type's policies, whether they have a fault, and what they would have done.
//!
//! The numbers are in the URL once a comparison runs, so a colleague sees the same. Nothing is ever written: the page
//! shows the difference to copy.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use serde_json::{Value, json};

use super::ConfiguredType;
use super::comparison::Comparison;
use super::edits::{Number, numbers};
use crate::call::{Call, encoded};
use crate::console::Console;
use crate::form::PostedForm;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::routes::written;
use crate::screens::unknown;
use crate::viewer::Viewer;

/// The days that are played unless others are chosen.
const DAYS: &str = "7";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/types/{name}/try", get(form).post(attempt))
}

/// A type with the values that its numbers may get.
struct Trial {
    found: ConfiguredType,
    numbers: Vec<Number>,
    /// A value for each number.
    values: Vec<String>,
    days: String,
}

impl Trial {
    /// Reads the values from a query or a form. Numbers that it doesn't name stay as they are in force.
    fn new(found: ConfiguredType, value: impl Fn(&str) -> Option<String>) -> Self {
        let numbers = numbers(&found.name, &found.all);
        let values = numbers.iter();
        let values = values.map(|number| value(&number.key).unwrap_or_else(|| number.now.clone()));
        let values = values.collect();
        Self { values, days: value("days").unwrap_or_else(|| DAYS.to_owned()), numbers, found }
    }

    fn edits(&self) -> Vec<Value> {
        let both = self.numbers.iter().zip(&self.values);
        both.filter_map(|(number, value)| number.edit(value)).collect()
    }

    /// The URL of the page with the values that differ.
    fn url(&self, job: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (number, value) in self.numbers.iter().zip(&self.values) {
            if *value != number.now {
                query.append_pair(&number.key, value);
            }
        }
        query.append_pair("days", &self.days).append_pair("job", job);
        format!("/types/{}/try?{}", encoded(&self.found.name), query.finish())
    }

    /// The page, with what a check or a comparison has come to.
    fn page(&self, outcome: Shown) -> Page {
        let fields = self.numbers.iter().zip(&self.values);
        let fields: Vec<Shown> = fields.map(|(number, value)| number.shown(value)).collect();
        let name = &self.found.name;
        let played = self.days.parse::<u64>().unwrap_or_default();
        let values = context! { name, fields, days => &self.days, played, ..outcome };
        Page::new(BarSection::Types, format!("Try a change of {name}"), "try.html").with(values)
    }

    fn refused(&self, problem: &CallProblem) -> Page {
        let shown = context! { detail => problem.text("detail"), hint => problem.text("hint") };
        let mut page = self.page(context! { problem => shown });
        page.status = problem.status;
        page
    }
}

async fn form(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
    query: Query,
    uri: axum::http::Uri,
) -> Response {
    if let Err(problem) = console.allow(&viewer, "check") {
        return written(Err(problem), &console, &viewer);
    }
    let found = match ConfiguredType::find(&console, &viewer, &name).await {
        Ok(found) => found,
        Err(problem) => {
            let page = unknown::page(&console, &viewer, BarSection::Types, &name, problem).await;
            return page.write(&console, &viewer);
        }
    };
    // A number that is to be removed is an empty one, which filters leave out.
    let sent = PostedForm::read(uri.query().unwrap_or_default().as_bytes());
    let trial = Trial::new(found, |key| sent.get(key).map(str::to_owned));
    let page = match query.get("job") {
        None => trial.page(context! {}),
        Some(job) => match console.call(&viewer, Call::get(&["admin", "jobs", job])).await {
            Ok(answer) => trial.page(compared(job, &answer)),
            Err(problem) => trial.refused(&problem),
        },
    };
    page.write(&console, &viewer)
}

/// The progress of a comparison, or its result.
fn compared(id: &str, job: &Value) -> Shown {
    match Comparison::of(job) {
        Some(comparison) => context! {
            job => Serde(job), id,
            comparison => context! {
                verdict => comparison.verdict(), most => comparison.most(),
                rows => comparison.rows(), plots => comparison.plots(),
            },
        },
        None => context! { job => Serde(job), id },
    }
}

async fn attempt(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
    form: PostedForm,
) -> Response {
    let found = match ConfiguredType::find(&console, &viewer, &name).await {
        Ok(found) => found,
        Err(problem) => return written(Err(problem), &console, &viewer),
    };
    let trial = Trial::new(found, |key| form.get(key).map(|value| value.trim().to_owned()));
    let edits = trial.edits();
    if edits.is_empty() {
        let detail = "Nothing is changed yet. Change a number first.";
        let problem = CallProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "no_edits", detail);
        return trial.refused(&problem).write(&console, &viewer);
    }
    let page = match form.get("do") {
        Some("compare") => match compare(&console, &viewer, &trial, edits).await {
            Ok(job) => {
                let to = format!("{}{}", console.base(), trial.url(&job));
                return Redirect::to(&to).into_response();
            }
            Err(problem) => trial.refused(&problem),
        },
        _ => {
            let call = Call::post(&["admin", "check"], json!({ "edits": edits }));
            match console.call(&viewer, call).await {
                Ok(answer) => trial.page(context! { checked => Serde(&answer) }),
                Err(problem) => trial.refused(&problem),
            }
        }
    };
    page.write(&console, &viewer)
}

/// Begins a comparison, and returns its job.
async fn compare(
    console: &Console,
    viewer: &Viewer,
    trial: &Trial,
    edits: Vec<Value>,
) -> Result<String, CallProblem> {
    let Ok(days) = trial.days.parse::<u64>() else {
        let detail = "The number of days is a number from 1 to 28.";
        return Err(CallProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", detail));
    };
    let body = json!({ "edits": edits, "days": days });
    let answer = console.call(viewer, Call::post(&["admin", "compare"], body)).await?;
    Ok(answer["job"].as_str().unwrap_or_default().to_owned())
}
