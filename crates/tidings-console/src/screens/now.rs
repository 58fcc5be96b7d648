//! Now: is anybody waiting too long, whose fault is it, and what is about to be sent.

mod ahead;
mod day;
mod verdict;

use minijinja::context;
use minijinja::value::Serde;
use serde_json::Value;

use crate::call::Call;
use crate::console::Console;
use crate::page::{Page, Section};
use crate::problem::CallProblem;
use crate::viewer::Viewer;

pub(crate) async fn page(console: &Console, viewer: &Viewer) -> Result<Page, CallProblem> {
    let (now, base) = (console.api().now(), console.base());
    let may = |operation| console.api().may(viewer.caller.role, operation);
    let figures = console.call(viewer, day::call(now)).await?;
    let day = day::shown(&figures, now, base);
    let page = Page::new(Section::Now, "Now", "now.html");
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
    use serde_json::json;

    use super::*;

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
}
