//! Now: is anybody waiting too long, whose fault is it, and what is about to be sent.

mod ahead;
mod day;
pub(crate) mod verdict;

use minijinja::context;
use minijinja::value::Serde;
use serde_json::Value;

use crate::call::Call;
use crate::console::Console;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::viewer::Viewer;

pub(crate) async fn page(console: &Console, viewer: &Viewer) -> Result<Page, CallProblem> {
    let (now, base) = (console.api().now(), console.base());
    let may = |operation| console.api().may(viewer.caller.role, operation);
    let figures = console.call(viewer, day::call(now)).await?;
    let day = day::shown(&figures, now, base);
    let page = Page::new(BarSection::Now, "Now", "now.html");
    // The role `figures` reads figures alone.
    if !may("status") {
        return Ok(page.with(context! { day, role => viewer.caller.role }));
    }
    let status = console.call(viewer, Call::get(&["admin", "status"])).await?;
    let due = console.call(viewer, Call::get(&["admin", "due"])).await?;
    let feeds = console.call(viewer, Call::get(&["feeds"])).await?;
    let hooks = console.call(viewer, Call::get(&["hooks"])).await?;
    let jobs = console.call(viewer, Call::get(&["admin", "jobs"]).with("limit", "20")).await?;
    let log = match may("list_log") {
        true => Some(console.call(viewer, Call::get(&["admin", "log"]).with("limit", "8")).await?),
        false => None,
    };
    let values = context! {
        verdict => verdict::verdict(&status, &due),
        channels => channels(&status),
        ahead => ahead::shown(&due, now, base),
        day, role => viewer.caller.role,
        status => Serde(&status), due => Serde(&due),
        feeds => Serde(&feeds), hooks => Serde(&hooks),
        jobs => running(&jobs),
        log => log.as_ref().map(|log| Serde(log["log"].clone())),
        may_resume => may("resume_type"),
    };
    Ok(page.with(values))
}

/// The channels that have providers, with those that are away.
fn channels(status: &Value) -> Vec<minijinja::Value> {
    let away = status["away"].as_array().map(Vec::as_slice).unwrap_or_default();
    let channels = status["channels"].as_object().into_iter().flatten();
    let with_providers = channels
        .filter(|(_, channel)| channel["providers"].as_array().is_some_and(|all| !all.is_empty()));
    with_providers
        .map(|(name, channel)| {
            let away: Vec<_> = away
                .iter()
                .filter(|away| away["channel"] == **name)
                .map(|away| Serde(away.clone()))
                .collect();
            let state = match (channel["paused"].as_bool(), away.is_empty()) {
                (Some(true), _) => "paused",
                (_, false) => "away",
                _ => "ok",
            };
            context! { name => name.as_str(), state, providers => Serde(channel["providers"].clone()), away }
        })
        .collect()
}

/// The jobs that wait or run.
fn running(jobs: &Value) -> Vec<minijinja::Value> {
    let jobs = jobs["jobs"].as_array().into_iter().flatten();
    let open = jobs.filter(|job| matches!(job["state"].as_str(), Some("waiting" | "running")));
    open.map(|job| minijinja::Value::from(Serde(job.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use serde_json::json;

    use super::*;
    use crate::fake::{Fake, NOW};

    #[test]
    fn channels_without_a_provider_are_not_shown_and_an_absent_one_is_named() {
        let status = json!({
            "channels": {
                "email": {"providers": ["smtp"], "paused": false},
                "sms": {"providers": ["twilio"], "paused": true},
                "push": {"providers": [], "paused": false},
                "slack": {"providers": ["slack"], "paused": false},
            },
            "away": [{"channel": "email", "provider": "smtp://a", "until": null, "why": "451"}],
        });
        let states: Vec<String> = channels(&status)
            .iter()
            .map(|channel| {
                let text = |name| channel.get_attr(name).unwrap().to_string();
                format!("{} {}", text("name"), text("state"))
            })
            .collect();
        assert_eq!(states, ["email away", "sms paused", "slack ok"]);
    }

    #[test]
    fn jobs_that_have_ended_are_not_running() {
        let jobs = json!({"jobs": [{"state": "done"}, {"state": "running"}, {"state": "waiting"}]});
        assert_eq!(running(&jobs).len(), 2);
        assert_eq!(running(&json!({})).len(), 0);
    }

    const FIGURES: &str =
        "GET /v1/admin/figures?from=2026-11-27&to=2026-11-29&by=channel%2Chour&measure=messages";

    fn server() -> Fake {
        let status = json!({
            "version": "0.1.0", "uptime_seconds": 9, "oldest_due": "2026-11-28T21:48:00Z",
            "oldest_due_age_seconds": 720, "retrying": 38, "kept_aside": 0, "now": NOW,
            "clock_behind_seconds": null, "newest_step": NOW, "recipients": 1, "forgotten_before": null,
            "away": [{"channel": "email", "provider": "smtp://a", "destination": null,
                "until": "2026-11-28T22:05:00Z", "why": "451 4.7.0 <ana@example.org> later"}],
            "channels": {"email": {"providers": ["smtp"], "paused": false}},
            "paused": {"types": ["pro/mo"], "channels": []},
            "entries": {"all": 2, "pending": 1, "outcomes": {"delivered": 1}, "reasons": {}},
        });
        let due = json!({
            "lanes": [{"hour": "2026-11-29T08:00:00Z", "channel": "email", "lane": "digest:weekly",
                "recipients": 214, "held": 0}],
            "unmade": 4, "sending": 38, "deferred": {"messages": 0, "next": []},
            "scheduled": {"events": 0, "next": []},
        });
        let log = json!({"log": [{"id": "l", "at": NOW, "by": {"kind": "key", "id": "jo"}, "via": "cli",
            "action": "pause_type", "subject": {"kind": "type", "id": "pro/mo"},
            "fields": [{"name": "paused", "from": false, "to": true}], "result": "done"}], "next": null});
        Fake::default()
            .on(
                FIGURES,
                json!({"rows": [{"channel": "email", "hour": "2026-11-28T21:00:00Z",
                "messages": {"sent": 41_208, "failed": 312}}]}),
            )
            .on("GET /v1/admin/status", status)
            .on("GET /v1/admin/due", due)
            .on(
                "GET /v1/feeds",
                json!([{"name": "app", "state": "running", "parked": 2, "lag_ms": 0}]),
            )
            .on("GET /v1/hooks", json!([]))
            .on("GET /v1/admin/jobs?limit=20", json!({"jobs": []}))
            .on("GET /v1/admin/log?limit=8", log)
    }

    #[tokio::test]
    async fn the_first_sentence_says_that_somebody_waits_and_each_number_leads_to_its_list() {
        let shown = server().page("admin", "/", None).await;
        assert_eq!(shown.status, StatusCode::OK);
        shown.has(&[
            "Somebody waits too long: the oldest message was due 12 min ago.",
            "state=planned&amp;state=sending&amp;state=retrying&amp;to=2026-11-28T22:00:00Z\">42 messages</a>",
            "/console/messages?state=retrying\">38</a>",
            "state=failed&amp;from=2026-11-27T23%3A00%3A00Z&amp;to=2026-11-28T23%3A00%3A00Z\">312</a>",
            "312 failed (0.8\u{202f}%), in one hour.",
            "214 messages are being gathered.",
            "/console/types/pro%2Fmo",
            "/console/system/feeds\">2 parked</a>",
            "451 4.7.0",
            "</bdi>: false → true",
        ]);
        shown.lacks(&["ana@example.org"]);
    }

    #[tokio::test]
    async fn a_role_without_the_status_sees_the_figures_alone() {
        let shown = server().page("read", "/", None).await;
        assert_eq!(shown.called, [FIGURES]);
        shown.has(&["The last 24 hours", "41,208"]);
        shown.lacks(&["Somebody waits", "Providers"]);
    }
}
