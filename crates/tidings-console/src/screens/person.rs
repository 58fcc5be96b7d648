//! A person: what reaches them, what waits, what happened, and what they have set.
//!
//! Each tab makes the calls that it needs. The first has the verdict.

mod act;
pub(crate) mod facts;
pub(crate) mod tab;
mod verdict;
mod waits;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use jiff::tz::TimeZone;
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use serde_json::{Value, json};

use crate::call::{Call, encoded};
use crate::console::Console;
use crate::mask::MASKED;
use crate::page::{BarSection, Page};
use crate::problem::CallProblem;
use crate::query::Query;
use crate::screens::person::facts::PersonFacts;
use crate::screens::person::tab::TABS;
use crate::screens::person::verdict::{suppression, tone};
use crate::screens::unknown::{self, Sought};
use crate::sentence::Sentence;
use crate::viewer::Viewer;
use crate::words::clock;

pub(crate) fn routes() -> Router<Arc<Console>> {
    Router::new().route("/people/{id}", get(person)).merge(act::routes())
}

async fn person(
    State(console): State<Arc<Console>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    query: Query,
) -> Response {
    let page = page(&console, &viewer, &id, &query).await;
    let sought = [Sought { id: &id, code: "recipient_not_found" }];
    unknown::written(page, &console, &viewer, BarSection::People, &sought).await
}

/// A person as the tabs see them.
struct PersonTabs<'a> {
    console: &'a Console,
    viewer: &'a Viewer,
    id: &'a str,
    profile: Value,
    /// Their zone, if it is known.
    zone: Option<TimeZone>,
}

async fn page(
    console: &Console,
    viewer: &Viewer,
    id: &str,
    query: &Query,
) -> Result<Page, CallProblem> {
    let tab = query.text("tab");
    if !TABS.iter().any(|(word, _)| *word == tab) {
        let detail = "There is no such tab.";
        return Err(CallProblem::new(axum::http::StatusCode::BAD_REQUEST, "invalid_query", detail));
    }
    let profile = console.call(viewer, Call::get(&["recipients", id])).await?;
    let zone = profile["tz"].as_str().and_then(|zone| TimeZone::get(zone).ok());
    let person = PersonTabs { console, viewer, id, profile, zone };
    let (template, of_tab) = match tab {
        "inbox" => ("person/inbox.html", person.inbox(query).await?),
        "next" => ("person/next.html", person.next_messages().await?),
        "preferences" => ("person/preferences.html", person.preferences().await?),
        "addresses" => ("person/addresses.html", person.addresses().await?),
        "topics" => ("person/topics.html", person.topics().await?),
        "messages" => ("person/messages.html", person.messages(query).await?),
        _ => ("person/overview.html", person.overview().await?),
    };
    let values = context! { ..of_tab, ..person.frame(tab) };
    Ok(Page::new(BarSection::People, format!("Person {id}"), template).with(values))
}

impl PersonTabs<'_> {
    async fn call(&self, call: Call) -> Result<Value, CallProblem> {
        self.console.call(self.viewer, call.about(self.id)).await
    }

    /// A call below the recipient.
    async fn own(&self, name: &str) -> Result<Value, CallProblem> {
        self.call(Call::get(&["recipients", self.id, name])).await
    }

    fn may(&self, operation: &str) -> bool {
        self.console.api().may(self.viewer.caller.role, operation)
    }

    /// The values that all tabs share.
    fn frame(&self, tab: &str) -> Shown {
        let now = self.console.api().now();
        let path = format!("/people/{}", encoded(self.id));
        let tabs = TABS.into_iter().map(|(word, title)| {
            let url = if word.is_empty() { path.clone() } else { format!("{path}?tab={word}") };
            context! { title, url, is_open => word == tab }
        });
        let until = self.viewer.shown.get(self.id).filter(|until| now < **until);
        let acts = [
            ("flush", "flush", "Send now"),
            ("revoke_tokens", "revoke", "Revoke tokens"),
            ("erase_recipient", "erase", "Erase"),
        ];
        let acts = acts.into_iter().filter(|(operation, ..)| self.may(operation));
        context! {
            id => self.id, path => &path, person => Serde(&self.profile), tab, tone => tone(&self.profile),
            tabs => tabs.collect::<Vec<_>>(), is_open => until.is_some(),
            open_until => until.map(ToString::to_string),
            may_open => until.is_none() && self.may("open_person"),
            clock => self.zone.as_ref().map(|zone| clock(now, zone, now)),
            acts => acts.map(|(_, word, label)| context! { word, label }).collect::<Vec<_>>(),
        }
    }

    async fn overview(&self) -> Result<Shown, CallProblem> {
        let facts = PersonFacts::read(self.console, self.viewer, &self.profile).await?;
        let now = self.console.api().now();
        let zone = self.zone.as_ref().filter(|zone| **zone != self.viewer.zone);
        let verdict: Vec<Shown> =
            facts.sentences(&self.profile, now, zone).iter().map(Sentence::shown).collect();
        let PersonFacts { pending, leaving, events, .. } = &facts;
        let may_flush = self.may("flush");
        let more = events["next"]
            .is_string()
            .then(|| Query::default().with("recipient", self.id).url("/events"));
        Ok(context! {
            verdict, leaving => Serde(&leaving["messages"]), lanes => waits::lanes(self.id, pending, now, &self.viewer.zone, may_flush),
            retried => Serde(&pending["messages"]), scheduled => Serde(&pending["scheduled"]),
            events => Serde(&events["events"]), more,
            answer => context! { missing => Serde(&events["missing"]) },
        })
    }

    async fn inbox(&self, query: &Query) -> Result<Shown, CallProblem> {
        let call = Call::get(&["recipients", self.id, "inbox"])
            .with_some("cursor", query.get("cursor"))
            .with_some("state", query.get("state"));
        let inbox = self.call(call).await?;
        let next = query.next_url(&format!("/people/{}", encoded(self.id)), &inbox);
        Ok(context! {
            groups => Serde(&inbox["groups"]), unseen => inbox["unseen"].as_u64(),
            unread => inbox["unread"].as_u64(), next,
        })
    }

    /// The next message of each channel that reaches them.
    async fn next_messages(&self) -> Result<Shown, CallProblem> {
        let pending = self.own("pending").await?;
        let lanes = pending["lanes"].as_array().into_iter().flatten();
        let mut channels: Vec<&str> =
            lanes.filter_map(|lane| lane["channel"].as_str()).filter(|of| *of != "inbox").collect();
        channels.sort_unstable();
        channels.dedup();
        let mut previews = Vec::new();
        for channel in channels {
            let call = Call::get(&["recipients", self.id, "preview"]).with("channel", channel);
            let preview = match self.call(call).await {
                Ok(preview) => {
                    context! { channel, message => Serde(&preview["message"]), masked => preview[MASKED] == true }
                }
                Err(problem) => context! { channel, problem => problem.text("detail") },
            };
            previews.push(preview);
        }
        Ok(context! { previews })
    }

    async fn preferences(&self) -> Result<Shown, CallProblem> {
        let call = Call::get(&["recipients", self.id, "preferences"]).with("choices", "true");
        let preferences = self.call(call).await?;
        Ok(context! { preferences => Serde(&preferences) })
    }

    async fn addresses(&self) -> Result<Shown, CallProblem> {
        let call = Call::get(&["suppressions"]).with("recipient", self.id).with("limit", "500");
        let answer = self.call(call).await?;
        let suppressions = answer["suppressions"].as_array().into_iter().flatten();
        let suppressions = suppressions.map(|row| {
            let why = suppression(row["reason"].as_str().unwrap_or_default());
            let query = Query::default()
                .with("channel", row["channel"].as_str().unwrap_or_default())
                .with("since", row["since"].as_str().unwrap_or_default());
            let lift = query.url(&format!("/people/{}/unsuppress", encoded(self.id)));
            context! { row => Serde(row), why, lift }
        });
        let addresses = self.profile["addresses"].as_object().into_iter().flatten();
        let addresses = addresses.flat_map(|(channel, address)| {
            let several = address.as_array().cloned().unwrap_or_else(|| vec![address.clone()]);
            let several = several.into_iter().filter(|address| !address.is_null());
            several.map(move |address| context! { channel, address => address_text(&address) })
        });
        Ok(context! {
            addresses => addresses.collect::<Vec<_>>(),
            suppressions => suppressions.collect::<Vec<_>>(), may_lift => self.may("unsuppress"),
        })
    }

    async fn topics(&self) -> Result<Shown, CallProblem> {
        let topics = self.own("subscriptions").await?;
        Ok(context! { topics => Serde(&topics["topics"]) })
    }

    async fn messages(&self, query: &Query) -> Result<Shown, CallProblem> {
        let call = Call::get(&["messages"])
            .with("recipient", self.id)
            .with_some("cursor", query.get("cursor"));
        let messages = self.call(call).await?;
        let next = query.next_url(&format!("/people/{}", encoded(self.id)), &messages);
        Ok(context! {
            messages => Serde(&messages["messages"]), next,
            all => Query::default().with("recipient", self.id).url("/messages"),
            answer => context! { missing => Serde(&messages["missing"]) },
        })
    }
}

/// An address as one text: of a browser it has parts, of which the endpoint names it.
fn address_text(address: &Value) -> String {
    let endpoint = address.get("endpoint").unwrap_or(address);
    endpoint.as_str().map_or_else(|| json!(endpoint).to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
