//! Jobs: changes of many messages, and comparisons of configurations. One shows how far it has come.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::context;
use minijinja::value::Serde;
use serde_json::Value;

use crate::call::{Call, encoded};
use crate::change::{ChangeForm, TwoStepChange, answered, left_out};
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::query::Query;
use crate::routes::written;
use crate::screens::unknown;
use crate::sentence::Sentence;
use crate::viewer::Viewer;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/system/jobs", get(list))
        .route("/system/jobs/{id}", get(one))
        .route("/system/jobs/{id}/stop", get(ask).post(make))
}

async fn list(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    query: Query,
) -> Response {
    let page = async {
        let call = query.onto(Call::get(&["admin", "jobs"]));
        let answer = console.call(&viewer, call).await?;
        let jobs = answer["jobs"].as_array().cloned().unwrap_or_default();
        let jobs = jobs.iter().map(|job| {
            context! { job => Serde(job), filter => filter_words(job) }
        });
        let values = context! {
            jobs => jobs.collect::<Vec<_>>(), answer => context! { missing => Serde(&answer["missing"]) },
            next => query.next_url("/system/jobs", &answer),
        };
        Ok(Page::new(BarSection::System, "Jobs", "jobs.html").with(values))
    };
    written(page.await, &console, &viewer)
}

async fn one(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let job = console.call(&viewer, Call::get(&["admin", "jobs", &id])).await;
    let page = match job {
        Ok(job) => page(&console, &viewer, &id, &job),
        Err(problem) => unknown::page(&console, &viewer, BarSection::System, &id, problem).await,
    };
    page.write(&console, &viewer)
}

fn page(console: &Console, viewer: &Viewer, id: &str, job: &Value) -> Page {
    let number = |name: &str| job[name].as_u64().unwrap_or_default();
    let may_stop = is_open(job) && console.api().may(viewer.caller.role, "stop_job");
    let is_of_messages = job["verb"] != "compare";
    let left: u64 =
        job["left_out"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
    let values = context! {
        id, job => Serde(job), verdict => verdict(job).shown(), tone => tone(job),
        filter => filter_words(job), filter_query => filter_query(job), may_stop, is_of_messages,
        ended_of => number("done") + left, left_out => left_out(job),
    };
    Page::new(BarSection::System, format!("Job {id}"), "job.html").with(values)
}

/// Returns true if a job may still do something.
fn is_open(job: &Value) -> bool {
    matches!(job["state"].as_str(), Some("waiting" | "running"))
}

fn tone(job: &Value) -> &'static str {
    match job["state"].as_str() {
        Some("done") => "state-ok",
        Some("stopped") => "state-failed",
        _ => "state-wait",
    }
}

/// The progress of a job in a sentence.
fn verdict(job: &Value) -> Sentence {
    let number = |name: &str| job[name].as_u64().unwrap_or_default();
    let (of, done) = (number("of"), number("done"));
    let did = match job["verb"].as_str().unwrap_or_default() {
        "retry" => "sent again",
        "cancel" => "cancelled",
        "resend" => "resent",
        _ => "played",
    };
    let what = if job["verb"] == "compare" { "lines" } else { "messages" };
    let counts = format!("{} of {} {what} {did}", grouped(done), grouped(of));
    match job["state"].as_str().unwrap_or_default() {
        "waiting" => Sentence::new(format!(
            "Begins 10 seconds after it was made; {} {what} wait.",
            grouped(of)
        )),
        "running" => Sentence::new(format!("Running: {counts} so far.")),
        "done" => Sentence::new(format!("Done: {counts}.")),
        "stopped" => Sentence::new("Stopped")
            .at(" ", job["ended"].as_str())
            .text(format!(": {counts}. What it did stays done.")),
        state => Sentence::new(format!("It is {state}: {counts}.")),
    }
}

fn grouped(number: u64) -> String {
    crate::page::grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The filter of a job, as it was chosen.
fn filter_pairs(job: &Value) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for (name, value) in job["filter"].as_object().into_iter().flatten() {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            pairs.push((name.clone(), text));
        }
    }
    pairs
}

fn filter_words(job: &Value) -> String {
    let words: Vec<String> =
        filter_pairs(job).into_iter().map(|(name, value)| format!("{name} {value}")).collect();
    words.join(", ")
}

/// The list of messages that its filter finds now.
fn filter_query(job: &Value) -> String {
    let pairs = filter_pairs(job);
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

fn change(id: &str) -> TwoStepChange {
    let back = format!("/system/jobs/{}", encoded(id));
    TwoStepChange {
        call: Call::delete(&["admin", "jobs", id]),
        verb: "Stop",
        what: format!("job {id}"),
        action: format!("{back}/stop"),
        back,
        section: BarSection::System,
        is_counted: false,
    }
}

async fn ask(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let page = async {
        console.allow(&viewer, "stop_job")?;
        change(&id).ask(&console, &viewer).await
    };
    written(page.await, &console, &viewer)
}

async fn make(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    form: ChangeForm,
) -> Response {
    let made = change(&id).make(&console, &viewer, &form).await;
    answered(made, &console, &viewer, |_| format!("/system/jobs/{}", encoded(&id)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_job_says_how_far_it_has_come() {
        let job = |state: &str, done: u64| json!({"verb": "retry", "state": state, "of": 1_298, "done": done, "left_out": {}, "ended": "T"});
        for (job, sentence) in [
            (job("waiting", 0), "Begins 10 seconds after it was made; 1,298 messages wait."),
            (job("running", 100), "Running: 100 of 1,298 messages sent again so far."),
            (job("done", 1_298), "Done: 1,298 of 1,298 messages sent again."),
            (
                job("stopped", 100),
                "Stopped T: 100 of 1,298 messages sent again. What it did stays done.",
            ),
        ] {
            assert_eq!(verdict(&job).plain(), sentence);
        }
    }
}
