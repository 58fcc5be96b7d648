//! Changes of one row of a list: feeds, hooks, keys, sessions, suppressed addresses.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};

use crate::call::{Call, encoded};
use crate::change::{ChangeForm, TwoStepChange, answered};
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::routes::written;
use crate::screens::system::lists::mark;
use crate::viewer::Viewer;

/// The most pages that are read for a suppressed address.
const PAGES_MAX: usize = 100;

/// An action on a row of a list.
struct Action {
    list: &'static str,
    /// Its word in the path.
    word: &'static str,
    label: &'static str,
    operation: &'static str,
    method: Method,
    /// The path of the call below `/v1`, before the id.
    path: &'static [&'static str],
    /// Its subject.
    noun: &'static str,
}

static ACTIONS: [Action; 5] = [
    Action {
        list: "feeds",
        word: "pause",
        label: "Pause",
        operation: "pause_feed",
        method: Method::POST,
        path: &["feeds"],
        noun: "feed",
    },
    Action {
        list: "feeds",
        word: "resume",
        label: "Resume",
        operation: "resume_feed",
        method: Method::POST,
        path: &["feeds"],
        noun: "feed",
    },
    Action {
        list: "hooks",
        word: "resume",
        label: "Resume",
        operation: "resume_hook",
        method: Method::POST,
        path: &["hooks"],
        noun: "hook",
    },
    Action {
        list: "keys",
        word: "revoke",
        label: "Revoke",
        operation: "revoke_key",
        method: Method::DELETE,
        path: &["admin", "keys"],
        noun: "key",
    },
    Action {
        list: "sessions",
        word: "end",
        label: "End",
        operation: "end_session",
        method: Method::DELETE,
        path: &["admin", "sessions"],
        noun: "session",
    },
];

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/system/{list}/{id}/{verb}", get(ask).post(make))
        .route("/system/suppressions/{channel}/unsuppress", get(ask_unsuppress).post(unsuppress))
}

/// The action of a path, and its change.
fn change(
    list: &str,
    id: &str,
    word: &str,
) -> Result<(&'static Action, TwoStepChange), CallProblem> {
    let action = ACTIONS.iter().find(|action| (action.list, action.word) == (list, word));
    let Some(action) = action else {
        let detail = "There is no such page.";
        return Err(CallProblem::new(StatusCode::NOT_FOUND, "not_found", detail));
    };
    let mut path = action.path.to_vec();
    path.push(id);
    let call = if action.method == Method::POST {
        path.push(action.word);
        Call::act(&path)
    } else {
        Call::delete(&path)
    };
    let change = TwoStepChange {
        call,
        verb: action.label,
        what: format!("{} {id}", action.noun),
        back: format!("/system/{list}"),
        action: format!("/system/{list}/{}/{word}", encoded(id)),
        section: BarSection::System,
        is_counted: false,
    };
    Ok((action, change))
}

async fn ask(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((list, id, word)): Path<(String, String, String)>,
) -> Response {
    let page = async {
        let (action, change) = change(&list, &id, &word)?;
        console.allow(&viewer, action.operation)?;
        change.ask(&console, &viewer).await
    };
    written(page.await, &console, &viewer)
}

async fn make(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path((list, id, word)): Path<(String, String, String)>,
    form: ChangeForm,
) -> Response {
    let made = async {
        let (_, change) = change(&list, &id, &word)?;
        change.make(&console, &viewer, &form).await
    };
    answered(made.await, &console, &viewer, |_| format!("/system/{list}"))
}

async fn ask_unsuppress(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(channel): Path<String>,
    query: Query,
) -> Response {
    let page = async {
        let change = unsuppression(&console, &viewer, &channel, &query).await?;
        let page = change.ask(&console, &viewer).await?;
        Ok(Page { title: "Unsuppress an address".to_owned(), ..page })
    };
    written(page.await, &console, &viewer)
}

async fn unsuppress(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(channel): Path<String>,
    query: Query,
    form: ChangeForm,
) -> Response {
    let made = async {
        let change = unsuppression(&console, &viewer, &channel, &query).await?;
        change.make(&console, &viewer, &form).await
    };
    answered(made.await, &console, &viewer, |_| back(&query))
}

fn back(query: &Query) -> String {
    query.without("since").without("mark").url("/system/suppressions")
}

/// The change of an address that the URL names by its instant, so that it is in no URL. The address itself is looked up
/// here, and goes into the call alone.
async fn unsuppression(
    console: &Console,
    viewer: &Viewer,
    channel: &str,
    query: &Query,
) -> Result<TwoStepChange, CallProblem> {
    console.allow(viewer, "unsuppress")?;
    let address = address(console, viewer, channel, query).await?;
    Ok(TwoStepChange {
        call: Call::delete(&["suppressions", channel, &address]),
        verb: "Unsuppress",
        what: format!("the address {} on {channel}", crate::mask::masked_address(&address)),
        back: back(query),
        action: query.url(&format!("/system/suppressions/{}/unsuppress", encoded(channel))),
        section: BarSection::System,
        is_counted: false,
    })
}

/// Returns true if an address has the mark of the row that was chosen; a URL may be without one.
fn is_marked(address: &str, marked: Option<&str>) -> bool {
    marked.is_none_or(|marked| marked == mark(address).to_string())
}

async fn address(
    console: &Console,
    viewer: &Viewer,
    channel: &str,
    query: &Query,
) -> Result<String, CallProblem> {
    let since = query.text("since");
    let mut call = Call::get(&["suppressions"])
        .with("channel", channel)
        .with_some("recipient", query.get("recipient"))
        .with_some("since", query.get("since"))
        .with("limit", "500");
    let first = call.clone();
    let mut found: Vec<String> = Vec::new();
    for _ in 0..PAGES_MAX {
        let answer = console.call_unmasked(viewer, call).await?;
        let rows = answer["suppressions"].as_array().into_iter().flatten();
        let rows = rows.filter(|row| row["since"] == since);
        let addresses = rows.filter_map(|row| row["address"].as_str());
        let addresses = addresses.filter(|address| is_marked(address, query.get("mark")));
        found.extend(addresses.map(str::to_owned));
        let Some(next) = answer["next"].as_str() else { break };
        call = first.clone().with("cursor", next);
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(address), None) => Ok(address),
        (None, _) => {
            let detail = "This address is no longer suppressed.";
            Err(CallProblem::new(StatusCode::NOT_FOUND, "not_suppressed", detail))
        }
        (Some(_), Some(_)) => {
            let detail = "Several addresses are suppressed since that instant. \
                 Filter the list by recipient, and choose again.";
            Err(CallProblem::new(StatusCode::CONFLICT, "several", detail))
        }
    }
}
