//! Changes of a person: each asks first. An address stands in no URL, so a suppression is named by its channel
//! and instant.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
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
use crate::viewer::Viewer;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/people/{id}/{verb}", get(ask).post(make))
        .route("/people/{id}/unsuppress", get(ask_to_lift).post(lift))
}

/// A change of a person, by the word in its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Flush,
    Revoke,
    Erase,
}

impl Act {
    fn of(word: &str) -> Result<Self, CallProblem> {
        match word {
            "flush" => Ok(Self::Flush),
            "revoke" => Ok(Self::Revoke),
            "erase" => Ok(Self::Erase),
            _ => {
                let detail = "There is no such page.";
                Err(CallProblem::new(StatusCode::NOT_FOUND, "not_found", detail))
            }
        }
    }

    const fn operation(self) -> &'static str {
        match self {
            Self::Flush => "flush",
            Self::Revoke => "revoke_tokens",
            Self::Erase => "erase_recipient",
        }
    }

    /// The page to which it leads once it is done.
    fn leads_to(self, id: &str) -> String {
        match self {
            Self::Flush | Self::Revoke => format!("/people/{}", encoded(id)),
            Self::Erase => "/people".to_owned(),
        }
    }

    fn change(self, id: &str, query: &Query) -> TwoStepChange {
        let back = format!("/people/{}", encoded(id));
        let change = |call, verb, what, word: &str, is_counted| TwoStepChange {
            call,
            verb,
            what,
            action: query.url(&format!("{back}/{word}")),
            back: back.clone(),
            section: BarSection::People,
            is_counted,
        };
        match self {
            Self::Flush => {
                let names = ["channel", "lane", "key", "tenant"];
                let limits: Map<String, Value> = names
                    .into_iter()
                    .filter_map(|name| Some((name.to_owned(), json!(query.get(name)?))))
                    .collect();
                let what = match (query.get("channel"), query.get("lane")) {
                    (Some(channel), Some(lane)) => {
                        format!("what waits for {id} in {channel} {lane}")
                    }
                    _ => format!("all that waits for {id}"),
                };
                let call = Call::post(&["recipients", id, "flush"], Value::Object(limits));
                change(call, "Send now", what, "flush", true)
            }
            Self::Revoke => {
                let call = Call::act(&["recipients", id, "tokens", "revoke"]);
                change(call, "Revoke", format!("the tokens of {id}"), "revoke", false)
            }
            Self::Erase => {
                let call = Call::delete(&["recipients", id]);
                change(call, "Erase", format!("{id} for good"), "erase", true)
            }
        }
    }
}

async fn ask(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, word)): Path<(String, String)>,
    query: Query,
) -> Response {
    let page = async {
        let act = Act::of(&word)?;
        console.allow(&viewer, act.operation())?;
        act.change(&id, &query).ask(&console, &viewer).await
    };
    written(page.await, &console, &viewer)
}

async fn make(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((id, word)): Path<(String, String)>,
    query: Query,
    form: ChangeForm,
) -> Response {
    let act = match Act::of(&word) {
        Ok(act) => act,
        Err(problem) => return Page::of_problem(&problem).write(&console, &viewer),
    };
    let made = async {
        console.allow(&viewer, act.operation())?;
        act.change(&id, &query).make(&console, &viewer, &form).await
    };
    answered(made.await, &console, &viewer, |_| act.leads_to(&id))
}

async fn ask_to_lift(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    query: Query,
) -> Response {
    let page = async {
        console.allow(&viewer, "unsuppress")?;
        let count = suppressed(&console, &viewer, &id, &query).await?.len();
        let what = match count {
            1 => format!("an address of {id} on {}", query.text("channel")),
            count => format!("{count} addresses of {id} on {}", query.text("channel")),
        };
        let back = addresses(&id);
        let change = TwoStepChange {
            // Its page makes no call, since that takes no `dry`.
            call: Call::get(&["suppressions"]),
            verb: "Lift the suppression of",
            what,
            action: query.url(&format!("/people/{}/unsuppress", encoded(&id))),
            back,
            section: BarSection::People,
            is_counted: false,
        };
        change.ask(&console, &viewer).await
    };
    written(page.await, &console, &viewer)
}

async fn lift(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    query: Query,
    _: ChangeForm,
) -> Response {
    let lifted = async {
        console.allow(&viewer, "unsuppress")?;
        for address in suppressed(&console, &viewer, &id, &query).await? {
            let call = Call::delete(&["suppressions", query.text("channel"), &address]);
            console.call(&viewer, call).await?;
        }
        Ok::<(), CallProblem>(())
    };
    match lifted.await {
        Ok(()) => Redirect::to(&format!("{}{}", console.base(), addresses(&id))).into_response(),
        Err(problem) => Page::of_problem(&problem).write(&console, &viewer),
    }
}

fn addresses(id: &str) -> String {
    format!("/people/{}?tab=addresses", encoded(id))
}

/// The suppressed addresses of a person on a channel since an instant. They are read past the mask, because a call needs
/// them; no page has them.
async fn suppressed(
    console: &Console,
    viewer: &Viewer,
    id: &str,
    query: &Query,
) -> Result<Vec<String>, CallProblem> {
    let call = Call::get(&["suppressions"]).with("recipient", id).with("limit", "500");
    let answer = console.api().call(&viewer.caller, call).await?;
    let is_meant = |row: &&Value| {
        row["channel"] == query.text("channel") && row["since"] == query.text("since")
    };
    let rows = answer["suppressions"].as_array().into_iter().flatten().filter(is_meant);
    let meant: Vec<String> =
        rows.filter_map(|row| row["address"].as_str()).map(str::to_owned).collect();
    if meant.is_empty() {
        let detail = "No such suppression: it has been lifted, or is another by now.";
        return Err(CallProblem::new(StatusCode::NOT_FOUND, "suppression_not_found", detail));
    }
    Ok(meant)
}
