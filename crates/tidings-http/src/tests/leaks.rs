//! No tenant learns what is another's: every call of end users, asked with a token of a tenant.
//!
//! Every datum carries a marker of whose it is. An answer to what is the tenant's own has no marker of others; one to a
//! request that names what is another's is word for word that to a request that names nothing.

mod plan;
mod push;
mod world;

use axum::http::Method;
use serde_json::Value;

use self::plan::{Asked, plan};
use self::world::{NOWHERE, OTHER, OWN, Of, World, text};
use crate::{document, openapi};

/// The calls of end users in the document, as `GET /v1/me/inbox`.
fn calls() -> Vec<String> {
    let document: Value = serde_json::from_str(&openapi::text(&document())).unwrap();
    let mut calls = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let methods = methods.as_object().unwrap().keys();
        let methods =
            methods.filter(|method| Method::from_bytes(method.to_uppercase().as_bytes()).is_ok());
        calls.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    calls.retain(|call| call.contains(" /v1/me/"));
    // What reads comes first, what ends something last.
    let order = |call: &String| {
        let ends = ["DELETE", "delete"].iter().any(|end| call.contains(end));
        (!call.starts_with("GET"), ends)
    };
    calls.sort_by_key(order);
    calls
}

/// A caller with a token of a tenant, who must not see what is of the other.
struct Asking<'w> {
    world: &'w World,
    bearer: String,
    leaks: Vec<String>,
}

impl Asking<'_> {
    fn answer(&self, call: &str, asked: &Asked, of: &Of) -> (String, String) {
        let method = Method::from_bytes(call.split(' ').next().unwrap().as_bytes()).unwrap();
        let path = of.fill(&asked.path);
        let body = match &asked.body {
            Value::Null => Value::Null,
            body => serde_json::from_str(&of.fill(&body.to_string())).unwrap(),
        };
        let answer = self.world.with(&self.bearer, (method, &path, &body), &[]);
        (format!("{call} {path} {body}"), text(&answer))
    }

    /// Checks that an answer has no marker of others.
    fn look(&mut self, asked: &str, answer: &str) {
        if answer.contains(OTHER) {
            self.leaks.push(format!("{asked}: {OTHER} in {answer}"));
        }
    }

    /// Asks for what is its own.
    fn own(&mut self, call: &str, asked: &[Asked], of: &Of) {
        for one in asked {
            let (asked, answer) = self.answer(call, one, of);
            if answer.starts_with("5") {
                self.leaks.push(format!("{asked}: {answer}"));
            }
            self.look(&asked, &answer);
        }
    }

    /// Asks for what is another's, and for what is nowhere.
    fn guess(&mut self, call: &str, asked: &[Asked], of: &Of, nowhere: &Of) {
        for one in asked {
            let is_guess = |text: &str| ["{m}", "{of "].iter().any(|guess| text.contains(guess));
            if !is_guess(&one.path) && !is_guess(&one.body.to_string()) {
                continue;
            }
            let (asked, there) = self.answer(call, one, of);
            let (_, expected) = self.answer(call, one, nowhere);
            // What the request says, the answer may repeat.
            if !one.path.contains("{m}") && !one.body.to_string().contains("{m}") {
                self.look(&asked, &there);
            }
            let (there, expected) = (of.masked(&there), nowhere.masked(&expected));
            if there != expected {
                self.leaks.push(format!("{asked}: {there}\n  but of nothing: {expected}"));
            }
        }
    }
}

#[test]
fn t42_no_call_shows_a_token_of_a_tenant_what_is_anothers() {
    let world = World::new();
    let [own, other] = [OWN, OTHER].map(|marker| world.of(marker));
    let nowhere = Of { marker: NOWHERE, ..other.clone() };
    let planned: Vec<(String, Vec<Asked>)> = calls()
        .into_iter()
        .map(|call| {
            let asked = plan(&call).unwrap_or_else(|| panic!("{call}: what may be asked?"));
            (call, asked)
        })
        .collect();
    assert!(!planned.is_empty());
    let before = world.others();
    let changed = || {
        let after = world.others();
        let pairs = before.iter().zip(after).filter(|(before, after)| *before != after);
        pairs.map(|(before, after)| format!("{before}\n  is now {after}")).collect::<Vec<_>>()
    };
    let mut asking = Asking { world: &world, bearer: world.token("t-mka"), leaks: Vec::new() };
    // First what is its own; guesses last, since they leave their words.
    for (call, asked) in &planned {
        asking.own(call, asked, &own);
    }
    assert_eq!(changed(), [""; 0]);
    for (call, asked) in &planned {
        asking.guess(call, asked, &other, &nowhere);
        // A hint has no name that is near.
        asking.own(call, asked, &Of { marker: "mk", ..nowhere.clone() });
    }
    asking.leaks.extend(changed());
    let leaks = asking.leaks;
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n\n"));
}

#[test]
fn t42_streams_and_pages_of_a_tenant_tell_nothing_of_marks_that_another_gave() {
    let world = World::new();
    let get = |bearer: &str, path: &str, headers: &[(&str, &str)]| {
        world.with(bearer, (Method::GET, path, &Value::Null), headers)
    };
    let page = get(&world.token("t-mkb"), "/v1/me/inbox", &[]).json();
    let rev = page["rev"].to_string();
    let bearer = world.token("t-mka");
    for last in ["0", "1", &rev, "9999999", "x"] {
        let live = get(&bearer, "/v1/me/live", &[("last-event-id", last)]);
        let since = get(&bearer, &format!("/v1/me/inbox?since={last}"), &[]);
        for answer in [live, since] {
            let answer = text(&answer);
            assert!(!answer.contains(OTHER), "{last}: {answer}");
        }
    }
}
