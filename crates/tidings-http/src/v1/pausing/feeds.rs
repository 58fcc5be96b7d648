//! Feeds: the databases from which events are read, and their pauses.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_config::wording::quoted;
use tidings_core::Id;
use tidings_node::KeyChange;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::{Answer, Change, Service};

/// The calls of feeds.
pub(crate) fn calls(calls: Calls) -> Calls {
    calls
        .add("list_feeds", routes!(list_feeds))
        .add("pause_feed", routes!(pause_feed))
        .add("resume_feed", routes!(resume_feed))
}

/// A feed: a database from which events are read.
#[derive(Serialize, ToSchema)]
#[schema(as = Feed)]
struct FeedShown {
    /// Its name in the configuration.
    name: String,
    /// `running`; `failing` while its table can't be read (retried; `fault` has the reason); `paused`; `stopped` if
    /// somebody has to fix something first.
    state: &'static str,
    /// Number of the newest row that was taken.
    newest: Option<String>,
    /// Age of the oldest row that waits, in milliseconds; 0 = none waits, null = unknown.
    lag_ms: Option<u64>,
    /// Number of rows taken since the server started.
    taken: u64,
    /// Number of rows that are parked in the table with their problem.
    parked: u64,
    /// The reason why it is not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    fault: Option<String>,
}

/// List the feeds
///
/// Returns the feeds of the configuration, by name, with their present state.
#[utoipa::path(
    get, path = "/v1/feeds", tag = "operating",
    responses((status = 200, description = "The feeds", body = Vec<FeedShown>, example = json!([
        {"name": "app", "state": "running", "newest": "4711", "lag_ms": 0, "taken": 1200, "parked": 0},
    ])))
)]
async fn list_feeds(State(service): State<Arc<Service>>) -> Result<Answer, Problem> {
    let rules = service.rules();
    let feeds = rules.feeds.keys().map(|name| shown(&service, name));
    Answer::json(StatusCode::OK, &feeds.collect::<Vec<_>>())
}

fn shown(service: &Service, name: &str) -> FeedShown {
    let status = service.feeds.status(name, service.handle.is_feed_paused(name));
    FeedShown {
        name: name.to_owned(),
        state: status.state,
        newest: status.newest,
        lag_ms: status.lag_ms,
        taken: status.taken,
        parked: status.parked,
        fault: status.fault,
    }
}

/// Pause a feed
///
/// Stops reading from the database until the feed is resumed, also after a restart. Rows wait in the table.
#[utoipa::path(
    post, path = "/v1/feeds/{name}/pause", tag = "operating",
    params(("name" = String, Path, description = "Name of the feed", example = "app", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The feed is paused"))
)]
async fn pause_feed(
    State(service): State<Arc<Service>>,
    InPath(name): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    steer(&service, &change, name.as_str(), KeyChange::PauseFeed(name.to_string())).await
}

/// Resume a feed
///
/// Reads a feed again that was paused, or that stopped by itself.
#[utoipa::path(
    post, path = "/v1/feeds/{name}/resume", tag = "operating",
    params(("name" = String, Path, description = "Name of the feed", example = "app", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The feed is read again"))
)]
async fn resume_feed(
    State(service): State<Arc<Service>>,
    InPath(name): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    steer(&service, &change, name.as_str(), KeyChange::ResumeFeed(name.to_string())).await
}

async fn steer(
    service: &Service,
    change: &Change,
    name: &str,
    wish: KeyChange,
) -> Result<Answer, Problem> {
    if !service.rules().feeds.contains_key(name) {
        return Err(Problem::new(Code::FeedNotFound, format!("unknown feed {}", quoted(name))));
    }
    let done = Answer::done();
    let answer = service.change_keys(change, wish, &done, done.clone()).await?;
    // Of two that came at once, the one that is stored last holds.
    service.feeds.steer(name, service.handle.is_feed_paused(name));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::{Value, json};

    use crate::rig::{CONFIG, Rig};
    use crate::{Access, Settings};

    #[test]
    fn a_pause_of_a_feed_outlives_a_restart() {
        let config = format!("{CONFIG}[feeds.app]\nurl = \"${{APP_DATABASE}}\"\n");
        let rig = Rig::with(&config, Access::Open, Settings::default());
        let state = |rig: &Rig| {
            let feeds = rig.call(Method::GET, "/v1/feeds", &Value::Null).json();
            assert_eq!(&feeds[0]["name"], &json!("app"));
            feeds[0]["state"].clone()
        };
        // Nobody reads it here.
        assert_eq!(state(&rig), "stopped");
        let paused = rig.call(Method::POST, "/v1/feeds/app/pause", &Value::Null);
        assert_eq!(paused.status, StatusCode::NO_CONTENT, "{paused:?}");
        assert_eq!(state(&rig), "paused");
        let rig = rig.restart_with(&config);
        assert_eq!(state(&rig), "paused");
        rig.call(Method::POST, "/v1/feeds/app/resume", &Value::Null);
        assert_eq!(state(&rig), "stopped");
        assert_eq!(state(&rig.restart_with(&config)), "stopped");
    }
}
