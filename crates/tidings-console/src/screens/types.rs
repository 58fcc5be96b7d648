//! Types: when each goes out on each channel, who has paused it, how it went, and what a change would do.

pub(crate) mod comparison;
mod days;
mod drawing;
mod edits;
pub(crate) mod policy;
mod trial;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::call::{Call, encoded};
use crate::change::{ChangeForm, TwoStepChange, answered};
use crate::console::Console;
use crate::page::{BarSection, Page, grouped, spanned};
use crate::plot::sparkline;
use crate::problem::CallProblem;
use crate::routes::written;
use crate::screens::types::days::DayCounts;
use crate::screens::unknown;
use crate::sentence::Sentence;
use crate::viewer::Viewer;

/// The screens of types.
pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/types", get(list))
        .route("/types/{name}", get(one))
        .route("/types/{name}/pause", get(ask_pause).post(pause))
        .route("/types/{name}/resume", get(ask_resume).post(resume))
        .merge(trial::routes())
}

async fn list(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    let page = async {
        let answer = console.call(&viewer, Call::get(&["types"])).await?;
        let call =
            Call::get(&["admin", "figures"]).with("by", "type,day").with("measure", "events");
        let figures = console.call(&viewer, call).await.unwrap_or_default();
        let days = DayCounts::of(&figures);
        let mut rows: Vec<Shown> = Vec::new();
        let mut paused = 0;
        for (name, of) in answer["types"].as_object().into_iter().flatten() {
            let pausing = match of["paused"] == true {
                true => Some(pausing(&console, &viewer, name).await.shown()),
                false => None,
            };
            paused += u32::from(pausing.is_some());
            let events = days.of_measure(Some(name), &["events"]);
            let sum: u64 = events.iter().flatten().sum();
            rows.push(context! {
                name, category => title(&answer, of), pausing, sum,
                channels => channels(of, &answer["digests"]), spark => sparkline(&events),
            });
        }
        let verdict = match (rows.len(), paused) {
            (0, _) => "No type is configured.".to_owned(),
            (1, 0) => "1 type, and nobody has paused it.".to_owned(),
            (count, 0) => format!("{count} types, and nobody has paused any."),
            (count, paused) => format!(
                "{paused} of {count} types {} paused.",
                if paused == 1 { "is" } else { "are" }
            ),
        };
        let may_list = console.api().may(viewer.caller.role, "list_events");
        let has_lines =
            rows.iter().any(|row| row.get_attr("spark").is_ok_and(|line| line.is_true()));
        let values = context! { rows, verdict, has_lines, is_any_paused => paused > 0, may_list };
        Ok(Page::new(BarSection::Types, "Types", "types.html").with(values))
    };
    written(page.await, &console, &viewer)
}

/// The channels of a type, each with its policy in words and drawn.
fn channels(of: &Value, digests: &Value) -> Vec<Shown> {
    let channels = of["channels"].as_object().into_iter().flatten();
    let channels = channels.map(|(name, policy)| {
        context! {
            name, words => policy::words(policy, digests), drawing => drawing::example(policy).svg(),
        }
    });
    channels.collect()
}

/// The title of the category of a type.
fn title(answer: &Value, of: &Value) -> String {
    let category = of["category"].as_str().unwrap_or_default();
    let title = answer["categories"][category]["title"].as_str();
    title.unwrap_or(category).to_owned()
}

/// The author and the instant of a type's pause, for viewers who may read the log.
async fn pausing(console: &Console, viewer: &Viewer, name: &str) -> Sentence {
    let paused = Sentence::new("paused");
    if !console.api().may(viewer.caller.role, "list_log") {
        return paused;
    }
    let call = Call::get(&["admin", "log"])
        .with("action", "pause_type")
        .with("subject", &format!("type:{name}"))
        .with("limit", "1");
    let log = console.call(viewer, call).await.unwrap_or_default();
    let line = &log["log"][0];
    let Some(by) = line["by"]["id"].as_str() else { return paused };
    let kind = line["by"]["kind"].as_str().unwrap_or_default();
    paused.text(format!(" by {kind} {by}")).at(", ", line["at"].as_str())
}

/// A type of the configuration.
struct ConfiguredType {
    name: String,
    /// The answer about all types.
    all: Value,
}

impl ConfiguredType {
    async fn find(console: &Console, viewer: &Viewer, name: &str) -> Result<Self, CallProblem> {
        let all = console.call(viewer, Call::get(&["types"])).await?;
        if all["types"][name].is_null() {
            let detail = format!("There is no type “{name}” in the configuration.");
            return Err(CallProblem::new(StatusCode::NOT_FOUND, "type_not_found", detail));
        }
        Ok(Self { name: name.to_owned(), all })
    }

    fn value(&self) -> &Value {
        &self.all["types"][&self.name]
    }
}

async fn one(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    let page = match ConfiguredType::find(&console, &viewer, &name).await {
        Ok(found) => page(&console, &viewer, &found).await,
        Err(problem) => unknown::page(&console, &viewer, BarSection::Types, &name, problem).await,
    };
    page.write(&console, &viewer)
}

async fn page(console: &Console, viewer: &Viewer, found: &ConfiguredType) -> Page {
    let (name, of) = (&found.name, found.value());
    let is_paused = of["paused"] == true;
    let channels = channels(of, &found.all["digests"]);
    let verdict = if is_paused {
        Sentence::new(format!("{name} is ")).join(pausing(console, viewer, name).await).text(".")
    } else {
        let sent = of["channels"].as_object().into_iter().flatten();
        let sent = sent.filter(|(_, policy)| policy["policy"] != "never").count();
        let noun = if sent == 1 { "channel" } else { "channels" };
        Sentence::new(format!("{name} goes out on {sent} {noun}."))
    };
    let call = Call::get(&["admin", "figures"]).with("type", name).with("by", "day");
    let figures = console.call(viewer, call).await.unwrap_or_default();
    let may = |operation| console.api().may(viewer.caller.role, operation);
    let flags: Vec<Shown> = flags(of);
    let measures = measures(&figures);
    let has_lines = measures.iter().any(|of| of.get_attr("spark").is_ok_and(|line| line.is_true()));
    let values = context! {
        name, verdict => verdict.shown(), is_paused, channels, category => title(&found.all, of),
        measures, has_lines, may_pause => !is_paused && may("pause_type"),
        may_resume => is_paused && may("resume_type"), may_try => may("check"), flags,
        from => figures["from"].as_str(), may_list => may("list_messages"),
    };
    Page::new(BarSection::Types, format!("Type {name}"), "type.html").with(values)
}

/// The other keys of a type that are not at their defaults.
fn flags(of: &Value) -> Vec<Shown> {
    let mut flags = Vec::new();
    for (name, is_usual) in [
        ("urgent", of["urgent"] == false),
        ("required", of["required"] == false),
        ("include_actor", of["include_actor"] == false),
        ("condition", of["condition"].is_null()),
        ("admission", of["admission"] == "always"),
        ("look_back", of["look_back"].is_null()),
        ("drop_if_seen", of["drop_if_seen"].is_null()),
        ("give_up_after", of["give_up_after"].is_null()),
        ("unknown_outcome", of["unknown_outcome"] == "resend"),
    ] {
        let value = &of[name];
        if !is_usual && !value.is_null() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            flags.push(context! { name, text });
        }
    }
    flags
}

/// The measures of the last days, each with its line.
fn measures(figures: &Value) -> Vec<Shown> {
    let days = DayCounts::of(figures);
    let shown = |number: u64| grouped(i64::try_from(number).unwrap_or(i64::MAX));
    let mut measures = Vec::new();
    for (word, path, state) in [
        ("Events", &["events"][..], None),
        ("Messages sent", &["messages", "sent"], Some("sent")),
        ("Messages failed", &["messages", "failed"], Some("failed")),
        ("Muted", &["muted"], None),
    ] {
        let values = days.of_measure(None, path);
        let sum: u64 = values.iter().flatten().sum();
        let last = values.last().copied().flatten().map(shown);
        measures.push(context! {
            word, state, sum => shown(sum), today => last, spark => sparkline(&values),
        });
    }
    let delays = days.of_measure(None, &["delay", "p95_ms"]);
    let span = |ms: u64| spanned(i64::try_from(ms).unwrap_or(i64::MAX));
    let worst = delays.iter().flatten().max().copied().map(|ms| format!("{} at worst", span(ms)));
    let today = delays.last().copied().flatten().map(span);
    let word = "Delay of 95 of 100";
    measures.push(context! { word, sum => worst, today, spark => sparkline(&delays) });
    measures
}

/// The change that pauses a type, or lets it go on.
fn pausing_change(name: &str, word: &'static str, verb: &'static str) -> TwoStepChange {
    let back = format!("/types/{}", encoded(name));
    TwoStepChange {
        call: Call::act(&["types", name, word]),
        verb,
        what: format!("type {name}"),
        action: format!("{back}/{word}"),
        back,
        section: BarSection::Types,
        is_counted: false,
    }
}

async fn ask(console: &Console, viewer: &Viewer, name: &str, is_pause: bool) -> Response {
    let page = async {
        let (word, verb, operation) = words(is_pause);
        console.allow(viewer, operation)?;
        ConfiguredType::find(console, viewer, name).await?;
        let page = pausing_change(name, word, verb).ask(console, viewer).await?;
        Ok(Page { template: "pausing.html", ..page })
    };
    written(page.await, console, viewer)
}

const fn words(is_pause: bool) -> (&'static str, &'static str, &'static str) {
    if is_pause { ("pause", "Pause", "pause_type") } else { ("resume", "Resume", "resume_type") }
}

async fn make(
    console: &Console,
    viewer: &Viewer,
    name: &str,
    is_pause: bool,
    form: &ChangeForm,
) -> Response {
    let (word, verb, _) = words(is_pause);
    let made = pausing_change(name, word, verb).make(console, viewer, form).await;
    answered(made, console, viewer, |_| format!("/types/{}", encoded(name)))
}

async fn ask_pause(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    ask(&console, &viewer, &name, true).await
}

async fn ask_resume(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    ask(&console, &viewer, &name, false).await
}

async fn pause(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
    form: ChangeForm,
) -> Response {
    make(&console, &viewer, &name, true, &form).await
}

async fn resume(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
    form: ChangeForm,
) -> Response {
    make(&console, &viewer, &name, false, &form).await
}

#[cfg(test)]
mod tests;
