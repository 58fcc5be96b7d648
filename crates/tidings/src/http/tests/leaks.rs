//! No tenant learns what is another's: every call of the document, asked with a key and a token of a tenant.
//!
//! Every datum carries a marker of whose it is. An answer to what is the tenant's own has no marker of others; one to a
//! request that names what is another's is word for word that to a request that names nothing.

mod plan;
mod push;
mod world;

use std::collections::BTreeMap;

use axum::http::Method;
use serde_json::{Value, json};

use self::plan::{Asked, Plan, plan};
use self::world::{NONE, NOWHERE, OTHER, OWN, Of, PRIVATE, World, text};
use super::code;
use crate::http::{document, openapi};

/// The calls of the document, as `GET /v1/types`.
fn calls() -> Vec<String> {
    let document: Value = serde_json::from_str(&openapi::text(&document())).unwrap();
    let mut calls = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let methods = methods.as_object().unwrap().keys();
        let methods =
            methods.filter(|method| Method::from_bytes(method.to_uppercase().as_bytes()).is_ok());
        calls.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    // What reads comes first, what ends something last.
    let order = |call: &String| {
        let ends = ["DELETE", "delete", "withdraw", "cancel", "members"]
            .iter()
            .any(|end| call.contains(end));
        (!call.starts_with("GET"), ends)
    };
    calls.sort_by_key(order);
    calls
}

/// A caller, with the markers that it must not see.
struct Asking<'w> {
    world: &'w World,
    bearer: String,
    unseen: &'static [&'static str],
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
        for marker in self.unseen {
            if answer.contains(marker) {
                self.leaks.push(format!("{asked}: {marker} in {answer}"));
            }
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
            let is_guess =
                |text: &str| ["{m}", "{message}", "{of "].iter().any(|guess| text.contains(guess));
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
fn t42_no_call_shows_a_key_or_a_token_of_a_tenant_what_is_anothers() {
    let world = World::new();
    let [own, other, none] = [OWN, OTHER, NONE].map(|marker| world.of(marker));
    let (begin, _) = other.message.rsplit_once('.').unwrap();
    let message = format!("{begin}.99999");
    let nowhere = NOWHERE.map(|marker| Of { marker, message: message.clone(), ..other.clone() });
    let planned: Vec<(String, Plan)> = calls()
        .into_iter()
        .map(|call| {
            let plan = plan(&call).unwrap_or_else(|| panic!("{call}: who may ask it, and what?"));
            (call, plan)
        })
        .collect();
    let key = || Asking {
        world: &world,
        bearer: world.keys[0].clone(),
        unseen: &[OTHER, NONE, PRIVATE],
        leaks: Vec::new(),
    };
    let before = world.others();
    let mut all = Vec::new();
    // First what reads, then what changes; guesses last, since they leave their words.
    let [mut by_key, mut by_token] =
        [key(), Asking { bearer: world.token(Some("t-mka")), unseen: &[OTHER], ..key() }];
    for is_guess in [false, true] {
        for (call, plan) in &planned {
            let asking = if call.contains("/v1/me/") { &mut by_token } else { &mut by_key };
            match plan {
                Plan::Open => asking.own(call, &[at(call)], &own),
                Plan::OfNoTenant => {
                    let method = Method::from_bytes(call.split(' ').next().unwrap().as_bytes());
                    let (path, body) = (other.fill(&at(call).path), json!({}));
                    let asked = (method.unwrap(), &*path, &body);
                    let answer = world.with(&asking.bearer, asked, &[]);
                    assert_eq!(
                        (answer.status.as_u16(), code(&answer)),
                        (403, "tenant".to_owned()),
                        "{call}"
                    );
                    asking.look(call, &text(&answer).replace(&path, ""));
                }
                Plan::Asked(asked) if is_guess => {
                    asking.guess(call, asked, &other, &nowhere[0]);
                    if !call.contains("/v1/me/") {
                        asking.guess(call, asked, &none, &nowhere[1]);
                    }
                    // A hint has no name that is near.
                    asking.own(call, asked, &Of { marker: "mk", ..nowhere[0].clone() });
                }
                Plan::Asked(asked) => asking.own(call, asked, &own),
            }
        }
        if !is_guess {
            let changed: Vec<_> =
                before.iter().zip(world.others()).filter(|(a, b)| *a != b).collect();
            assert!(changed.is_empty(), "{changed:#?}");
        }
    }
    all.append(&mut by_key.leaks);
    all.append(&mut by_token.leaks);
    let changed = before.iter().zip(world.others()).filter(|(before, after)| *before != after);
    all.extend(changed.map(|(before, after)| format!("changed: {before}\n  is now {after}")));
    assert!(all.is_empty(), "{} leaks:\n{}", all.len(), all.join("\n\n"));
}

/// A path of a call with something in the place of each name.
fn at(call: &str) -> Asked {
    let template = call.split(' ').nth(1).unwrap();
    let names: BTreeMap<&str, &str> = [
        ("{id}", "one-{m}"),
        ("{recipient}", "one-{m}"),
        ("{channel}", "email"),
        ("{address}", "mail-{m}@example.org"),
        ("{name}", "app"),
        ("{type}", "note"),
        ("{code}", "tenant"),
    ]
    .into();
    let path = names.iter().fold(template.to_owned(), |path, (name, to)| path.replace(name, to));
    Asked { path, body: Value::Null }
}

#[test]
fn t42_streams_and_pages_of_a_tenant_tell_nothing_of_marks_that_another_gave() {
    let world = World::new();
    let other = world.token(Some("t-mkb"));
    let get = |bearer: &str, path: &str, headers: &[(&str, &str)]| {
        world.with(bearer, (Method::GET, path, &Value::Null), headers)
    };
    let page = get(&other, "/v1/me/inbox", &[]).json();
    let rev = page["rev"].to_string();
    for bearer in [world.token(Some("t-mka")), world.keys[0].clone()] {
        let is_key = bearer == world.keys[0];
        let whose = if is_key { "/v1/recipients/both" } else { "/v1/me" };
        let unseen: &[&str] = if is_key { &[OTHER, NONE, PRIVATE] } else { &[OTHER] };
        for last in ["0", "1", &rev, "9999999", "x"] {
            let live = get(&bearer, &format!("{whose}/live"), &[("last-event-id", last)]);
            let since = get(&bearer, &format!("{whose}/inbox?since={last}"), &[]);
            for answer in [live, since] {
                let answer = text(&answer);
                assert!(!unseen.iter().any(|marker| answer.contains(marker)), "{last}: {answer}");
            }
        }
    }
}

#[test]
fn t42_objects_of_others_stay_as_they_are_and_are_shown_by_their_ids_alone() {
    let world = World::new();
    let ask = |bearer: &str, method: Method, path: &str, body: &Value| {
        world.with(bearer, (method, path, body), &[])
    };
    let key = &world.keys[0];
    let all = ["made/mkb", "obj/mkb", "who/mk0", "at/mka"];
    let path = |object: &str| format!("/v1/objects/{}", object.replace('/', "%2F"));
    let known = || all.map(|object| world.host(Method::GET, &path(object), &Value::Null));
    let (before, seen) = (known(), world.others());
    for object in all {
        let title = json!({ "title": "Stolen" });
        for (method, body) in [(Method::PUT, &title), (Method::DELETE, &Value::Null)] {
            let answer = ask(key, method, &path(object), body);
            let refused = (answer.status.as_u16(), code(&answer));
            assert_eq!(refused, (403, "object_not_yours".to_owned()), "{object}");
            assert!(!text(&answer).contains("Title"), "{}", text(&answer));
        }
        let many = json!([{ "id": object, "title": "Stolen" }]);
        let answer = ask(key, Method::POST, "/v1/objects", &many).json();
        assert_eq!(answer[0]["problem"]["code"], "object_not_yours", "{answer}");
        let answer = ask(key, Method::GET, &path(object), &Value::Null);
        assert_eq!((answer.status.as_u16(), code(&answer)), (404, "object_not_found".to_owned()));
        // A mute of it shows no title.
        let mute = json!([{ "object": object, "channel": "email", "mode": "never" }]);
        for (bearer, whose) in
            [(key, "/v1/recipients/both"), (&world.token(Some("t-mka")), "/v1/me")]
        {
            let path = format!("{whose}/preferences");
            assert!(ask(bearer, Method::PATCH, &path, &mute).status.is_success());
        }
    }
    let muted = ask(key, Method::GET, "/v1/recipients/both/preferences?choices=true", &Value::Null);
    assert!(!text(&muted).contains("Title"), "{}", text(&muted));
    let token = world.token(Some("t-mka"));
    let muted = ask(&token, Method::GET, "/v1/me/preferences", &Value::Null).json();
    let of_other = muted["mutes"].as_array().unwrap().iter().find(|of| of["object"] == "made/mkb");
    assert_eq!(of_other.unwrap()["title"], Value::Null);

    let told = json!({
        "id": "stolen", "type": "note", "to": { "recipients": ["one-mka"] },
        "object": { "id": "made/mkb", "title": "Stolen" },
        "actor": { "id": "who/mk0", "title": "Stolen" }, "target": { "id": "at/mka", "url": "/" },
    });
    let answer = ask(key, Method::POST, "/v1/events", &told).json();
    let warned: Vec<_> =
        answer["warnings"].as_array().unwrap().iter().map(|of| &of["code"]).collect();
    assert_eq!(warned, ["object_not_yours"; 3]);
    let page = "/v1/recipients/one-mka/inbox?grouped=false&limit=100";
    for bearer in [key, &world.token_of("one-mka", Some("t-mka"))] {
        let path = if bearer == key { page } else { "/v1/me/inbox?grouped=false&limit=100" };
        let page = ask(bearer, Method::GET, path, &Value::Null).json();
        let groups = page["groups"].as_array().unwrap().iter();
        let item = groups.map(|group| &group["items"][0]).find(|item| item["event"] == "stolen");
        for (role, id) in [("object", "made/mkb"), ("actor", "who/mk0"), ("target", "at/mka")] {
            assert_eq!(item.unwrap()[role], json!({ "id": id }), "{role}");
        }
    }
    let event = ask(key, Method::GET, "/v1/events/stolen", &Value::Null);
    let export = ask(key, Method::GET, "/v1/export", &Value::Null);
    for answer in [event, export] {
        assert!(!text(&answer).contains("Stolen"), "{}", text(&answer));
    }
    assert_eq!(known(), before);
    assert_eq!(world.others(), seen);
}

#[test]
fn t42_events_without_an_id_under_the_same_idempotency_key_are_anothers() {
    let world = World::new();
    let line = json!({ "type": "note", "object": { "id": "o" }, "to": {} });
    let publish = |key: &str| {
        let headers = [("idempotency-key", "once")];
        let bearer = format!("Bearer {key}");
        let lines = [("authorization", &*bearer), ("content-type", "application/x-ndjson")];
        let headers = [lines.as_slice(), &headers].concat();
        let answer = world.rig.send(Method::POST, "/v1/events", &headers, line.to_string());
        answer.json()
    };
    let [own, other] = [0, 1].map(|of| publish(&world.keys[of]));
    assert_eq!((&own["status"], &other["status"]), (&json!("accepted"), &json!("accepted")));
    assert_ne!(own["id"], other["id"]);
    assert_eq!(publish(&world.keys[0])["id"], own["id"]);
    assert_eq!(publish(&world.keys[0])["status"], "duplicate");
}

#[test]
fn t42_triggers_of_other_products_reach_members_alone() {
    let world = World::new();
    let knock = |who: &str| json!({ "recipients": [who], "data": { "object": { "id": "o" } } });
    let novu =
        |who: &str| json!({ "name": "note", "to": who, "payload": { "object": { "id": "o" } } });
    let people = ["one-mka", "one-mkb", "one-mk0"];
    for who in people.into_iter().chain(["one-mkz"]) {
        for (path, body) in
            [("/v1/workflows/note/trigger", knock(who)), ("/v1/events/trigger", novu(who))]
        {
            world.with(&world.keys[0], (Method::POST, path, &body), &[]);
        }
    }
    let items = people.map(|who| {
        let path = format!("/v1/recipients/{who}/inbox?limit=100&grouped=false");
        let page = world.host(Method::GET, &path, &Value::Null);
        let groups = page["groups"].as_array().unwrap().iter();
        groups.filter(|group| group["items"][0].get("actor").is_none_or(Value::is_null)).count()
    });
    assert!(items[0] > 0 && items[1..] == [0, 0], "{items:?}");
    let nobody =
        world.with(&world.keys[0], (Method::GET, "/v1/recipients/one-mkz", &Value::Null), &[]);
    assert_eq!(nobody.status.as_u16(), 404);
}
