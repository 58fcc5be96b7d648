//! Every call of the document by a key of each role and by a token: who may make it is in the table of calls.

use std::collections::BTreeSet;

use axum::http::{Request, StatusCode};
use serde_json::Value;
use tidings_api::keys::NewKey;
use tidings_core::Instant;
use tidings_node::{KeyChange, Role};

use super::{Call, KEY, calls, server};
use crate::rig::{Answered, Rig, user_token};
use crate::{Access, Settings, document, openapi};

/// Calls of `support` and those that include it (contract, section 11).
const OF_SUPPORT: [&str; 6] =
    ["cancel_message", "flush", "resend_message", "retry_message", "revoke_tokens", "unsuppress"];

/// Calls that read and of which `admin` alone has the answer.
const READ_BY_ADMIN: [&str; 4] = ["backup", "export_recipient", "list_log", "list_sessions"];

/// A call of the document and the roles that may make it.
struct Documented {
    call: Call,
    id: String,
    is_open: bool,
    roles: BTreeSet<String>,
}

/// All calls, with their roles.
///
/// # Panics
/// One has no roles.
fn documented() -> Vec<Documented> {
    let document: Value = serde_json::from_str(&openapi::text(&document())).unwrap();
    let with_roles = calls().into_iter().map(|call| {
        let (method, template) = call.name.split_once(' ').unwrap();
        let operation = &document["paths"][template][method.to_lowercase()];
        let id = operation["operationId"].as_str().unwrap().to_owned();
        let roles = operation["x-roles"].as_array();
        let roles = roles.unwrap_or_else(|| panic!("{id} has no `x-roles`")).iter();
        Documented {
            is_open: operation["security"][0].as_object().is_some_and(serde_json::Map::is_empty),
            roles: roles.map(|role| role.as_str().unwrap().to_owned()).collect(),
            call,
            id,
        }
    });
    with_roles.collect()
}

/// The answer to a call with this key or token.
fn sent(call: &Call, rig: &Rig, secret: &str) -> Answered {
    let mut request = Request::builder().method(&call.method).uri(&call.path);
    request = request.header("authorization", format!("Bearer {secret}"));
    if !call.media.is_empty() {
        request = request.header("content-type", call.media);
    }
    call.ask(rig, request.body(call.body.clone().into()).unwrap())
}

/// The code of a refusal; `None` = the answer is the call's own.
fn refusal(answer: &Answered) -> Option<String> {
    let is_refused = matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    is_refused.then(|| answer.json()["code"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn each_role_makes_the_calls_that_it_has() {
    let (rig, _) = server(Access::Keys { token: None }, Settings::default());
    let keys = Role::ALL.map(|role| {
        let key = NewKey::make(String::new(), role, Instant(0)).unwrap();
        let secret = key.secret.text().to_owned();
        rig.change_keys(KeyChange::Make(key.stored));
        (role.name(), secret)
    });
    let token = user_token(KEY, "eve", None);
    let all = documented();
    // Tokens first: one of the calls of keys revokes what they are signed with.
    for Documented { call, id, is_open, .. } in &all {
        let expected = (!call.is_mine() && !is_open).then(|| "unauthorized".to_owned());
        assert_eq!(refusal(&sent(call, &rig, &token)), expected, "{id} by a token");
    }
    for Documented { call, id, roles, .. } in &all {
        for (role, secret) in &keys {
            let answer = sent(call, &rig, secret);
            let refused = refusal(&answer);
            if call.is_mine() {
                assert_eq!(refused.as_deref(), Some("token_malformed"), "{id} by `{role}`");
            } else if roles.contains(*role) {
                assert_eq!(refused, None, "{id} by `{role}`: {answer:?}");
            } else {
                assert_eq!(refused.as_deref(), Some("role"), "{id} by `{role}`");
                let problem = answer.json();
                let detail = problem["detail"].as_str().unwrap();
                let names_all = roles.iter().all(|role| detail.contains(&format!("`{role}`")));
                assert!(names_all, "{id} by `{role}`: {detail}");
            }
        }
    }
}

/// The roles of each call, by what the contract says of calls and not by the table.
#[test]
fn the_table_gives_each_role_what_the_contract_says() {
    let names = |roles: &[&str]| roles.iter().map(|role| (*role).to_owned()).collect();
    let readers: BTreeSet<String> = names(&["read", "support", "publish", "operate", "admin"]);
    let mut of_support = BTreeSet::new();
    for Documented { call, id, is_open, roles } in documented() {
        if call.is_mine() {
            assert!(roles.is_empty(), "{id}");
            continue;
        }
        assert!(roles.contains("admin"), "{id}");
        let is_for_all = is_open || matches!(id.as_str(), "list_types" | "figures");
        assert_eq!(roles.contains("figures"), is_for_all, "{id}");
        if is_for_all {
            continue;
        }
        let reads = roles.contains("read");
        let has_get = call.method == "GET";
        let is_of_admin = READ_BY_ADMIN.contains(&id.as_str());
        assert!(!has_get || reads != is_of_admin, "{id}");
        if reads {
            assert_eq!(roles, readers, "{id}");
        } else if roles.contains("support") {
            assert!(roles.contains("operate"), "`operate` may what `support` may: {id}");
            assert_eq!(roles.contains("publish"), id == "revoke_tokens", "{id}");
            of_support.insert(id);
        } else {
            let of_one =
                [names(&["publish", "admin"]), names(&["operate", "admin"]), names(&["admin"])];
            assert!(of_one.contains(&roles), "{id}: {roles:?}");
        }
    }
    assert_eq!(of_support, BTreeSet::from(OF_SUPPORT.map(str::to_owned)));
}
