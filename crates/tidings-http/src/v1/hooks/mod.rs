//! Hooks: services of the host that are called about occurrences.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::Fault;
use tidings_api::body::text::{FromText, Text};
use tidings_config::duration;
use tidings_config::wording::quoted;
use tidings_core::model::HookChange;
use tidings_core::rules::HookRules;
use tidings_core::{Command, Id, Instant};
use tidings_node::{DurableSnapshot, HookVitals, hooks_stored};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::Problem;
use crate::request::InPath;
use crate::request::gather::OtherShards;
use crate::{Answer, Change, Service, only};

/// The calls of hooks.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("list_hooks", routes!(list_hooks))
        .add("resume_hook", routes!(resume_hook))
        .add("replay_hook", routes!(replay_hook))
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Hook)]
struct HookShown {
    /// Its name.
    name: String,
    /// The address that is called.
    url: String,
    /// `on`, or `off` after it answered 410.
    state: HookState,
    /// Number of occurrences that are still to be sent to it.
    backlog: u64,
    /// The last answer; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    last: Option<LastAnswer>,
}

/// The state of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum HookState {
    /// It is called about occurrences.
    On,
    /// It answered 410, and is not called until it is resumed.
    Off,
}

/// The last answer of a hook.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[schema(as = HookAnswer)]
struct LastAnswer {
    /// Its time.
    #[schema(format = "date-time")]
    at: String,
    /// Its HTTP status; 0 = there was no answer.
    status: u16,
}

impl HookShown {
    fn of(rules: &HookRules, known: Option<&HookVitals>) -> Self {
        let known = known.cloned().unwrap_or_default();
        Self {
            name: rules.name.clone(),
            url: rules.url.clone(),
            state: if known.is_off { HookState::Off } else { HookState::On },
            backlog: known.backlog,
            last: known.last.map(|(at, status)| LastAnswer { at: at.to_string(), status }),
        }
    }

    /// Adds the counts of another node.
    fn add(&mut self, other: Self) {
        self.backlog += other.backlog;
        // They are all written in one form, in UTC.
        self.last = self.last.take().max(other.last);
        if other.state == HookState::Off {
            self.state = HookState::Off;
        }
    }
}

/// List the hooks
///
/// Returns the services of the host that receive occurrences of messages, preferences and addresses, in the order of
/// the configuration. In a cluster each node calls them about its own shards: the counts are sums over the nodes that
/// answered.
#[utoipa::path(
    get, path = "/v1/hooks", tag = "operating",
    responses((status = 200, description = "The hooks", body = Vec<HookShown>, example = json!([
        {"name": "app.example.org", "url": "https://app.example.org/tidings", "state": "on", "backlog": 0, "last": {"at": "2024-03-07T08:03:00Z", "status": 204}},
    ])))
)]
async fn list_hooks(
    State(service): State<Arc<Service>>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    let running = service.handle.vitals().hooks.all();
    let look = move |node: &DurableSnapshot| match running {
        Some(known) => Ok(known),
        None => hooks_stored(node.engine(), node.view()),
    };
    let known = service.look(look).await??;
    let rules = service.rules();
    let shown = |rules: &HookRules| HookShown::of(rules, known.get(&rules.name));
    let mut hooks: Vec<HookShown> = rules.hooks.iter().map(shown).collect();
    for other in others.gather::<Vec<HookShown>>().await.found.into_iter().flatten() {
        if let Some(hook) = hooks.iter_mut().find(|hook| hook.name == other.name) {
            hook.add(other);
        }
    }
    Answer::json(StatusCode::OK, &hooks)
}

/// Resume a hook
///
/// Turns a hook on that answered 410 and is off, which a restart does not change. Occurrences that it missed are sent.
#[utoipa::path(
    post, path = "/v1/hooks/{name}/resume", tag = "operating",
    params(("name" = String, Path, description = "Name of the hook", example = "app.example.org", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The hook is on"))
)]
async fn resume_hook(
    State(service): State<Arc<Service>>,
    InPath(name): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    do_change(&service, &name, &change, HookChange::Resume).await
}

/// The beginning of a replay: an instant, or a time until now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplayStart {
    At(Instant),
    Ago(i64),
}

impl FromText for ReplayStart {
    fn from_text(text: &str) -> Result<Self, Fault> {
        let ago = || duration::parse(text).map(Self::Ago).ok();
        Instant::parse(text).map(Self::At).ok().or_else(ago).ok_or_else(|| {
            let reason = format!("must be a time or a duration, got {}", quoted(text));
            Fault::new(reason, "write `2024-01-01T09:00:00Z`, or `2h` for the last two hours")
        })
    }
}

/// The occurrences to send again.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"since": "2h"}))]
struct Replay {
    /// Time of the first occurrence: an instant (RFC 3339), or a duration before now.
    #[schema(value_type = String)]
    since: Text<ReplayStart>,
}

/// Replay a hook
///
/// Sends the occurrences since an instant again, of the kinds that the hook wants, under the same ids. Nothing is sent
/// of deleted days, nor of times at which no hook wanted such occurrences.
#[utoipa::path(
    post, path = "/v1/hooks/{name}/replay", tag = "operating",
    params(("name" = String, Path, description = "Name of the hook", example = "app.example.org", min_length = 1, max_length = 256)),
    request_body(content = Replay, example = json!({"since": "2h"})),
    responses((status = 204, description = "The occurrences are being sent again"))
)]
async fn replay_hook(
    State(service): State<Arc<Service>>,
    InPath(name): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let since = match change.parse::<Replay>()?.since.0 {
        ReplayStart::At(at) => at,
        ReplayStart::Ago(ms) => service.now().plus_ms(-ms),
    };
    do_change(&service, &name, &change, HookChange::Replay(since)).await
}

async fn do_change(
    service: &Service,
    name: &Id,
    change: &Change,
    what: HookChange,
) -> Result<Answer, Problem> {
    let command = Command::Hook { name: name.to_string(), change: what };
    let done = |replies| only(replies).map(|_| Answer::done());
    service.change(change, vec![command], done).await
}
