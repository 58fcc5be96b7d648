//! Errors of calls that name a tenant, or are made with the key of one.

use axum::http::Method;
use serde_json::{Value, json};
use tidings_core::tenant::TenantNo;
use tidings_core::{Command, Id, Instant, Object, RecipientChange};
use tidings_node::{KeyChange, Role, VirtualClock};
use tidings_store::{MemoryStore, Store};

use std::sync::Arc;

use super::{Call, KEY, PAID, open, server};
use crate::http::rig::{Answered, CONFIG, Rig};
use crate::http::{Access, Settings};
use crate::keys::NewKey;

/// The answers of calls where an error comes about that has to do with tenants; `None` = the error is another.
pub(super) fn answers(code: &str, calls: &[&Call]) -> Option<Vec<Answered>> {
    let all = |send: &dyn Fn(&Call) -> Answered| calls.iter().map(|call| send(call)).collect();
    Some(match code {
        "tenants_off" => {
            let rig = without_tenants();
            all(&|call| naming(call, "acme").send(&rig))
        }
        "unknown_tenant" => {
            let (rig, _) = open();
            all(&|call| naming(call, "none").send(&rig))
        }
        "tenant_gone" => {
            let (rig, _) = open();
            all(&|call| naming(call, "closed").send(&rig))
        }
        "tenant_not_found" => {
            let (rig, _) = open();
            all(&|call| call.at(call.path.replace("acme", "none")).send(&rig))
        }
        "tenant" => {
            let rig = with_tenants();
            let bearer = key(&rig);
            all(&|call| of_host(call).send_with(&rig, ("authorization", &bearer)))
        }
        "object_not_yours" => {
            let rig = with_tenants();
            let of_host =
                Object { title: Some("T".into()), ..Object::bare(Id::new("works/1").unwrap()) };
            rig.service.handle.submit(vec![Command::Object(of_host)]).unwrap();
            let bearer = key(&rig);
            all(&|call| call.send_with(&rig, ("authorization", &bearer)))
        }
        "id_taken" => {
            let rig = with_tenants();
            let bearer = key(&rig);
            let host = NewKey::make(String::new(), Role::Admin, None, Instant(0)).unwrap();
            let of_host = format!("Bearer {}", host.secret.text());
            rig.change_keys(KeyChange::Make(host.stored));
            all(&|call| {
                let mut event: Value = serde_json::from_str(&call.body).unwrap();
                event["id"] = json!("theirs");
                let call = call.with_body(&event.to_string());
                call.send_with(&rig, ("authorization", &of_host));
                call.send_with(&rig, ("authorization", &bearer))
            })
        }
        _ => return None,
    })
}

/// A server whose configuration has no tenants.
fn without_tenants() -> Rig {
    let store: Arc<MemoryStore> = Arc::default();
    let clock = Arc::new(VirtualClock::default());
    clock.set(Instant::parse("2024-01-01T12:00:00Z").unwrap());
    let config = format!("{CONFIG}{PAID}[users]\ntopics = [\"artists/\"]\n");
    let open = move || Ok(Arc::clone(&store) as Arc<dyn Store>);
    let rig = Rig::over(Arc::new(open), clock, &config, Access::Open, Settings::default());
    rig.make_signing_key(KEY);
    rig.call(Method::PUT, "/v1/recipients/ann", &json!({}));
    rig
}

/// A server that asks for keys, with a tenant.
fn with_tenants() -> Rig {
    let (rig, _) = server(Access::Keys { token: None }, Settings::default());
    make_tenant(&rig);
    rig
}

/// Makes the tenant that calls name, with a member.
pub(super) fn make_tenant(rig: &Rig) {
    let (tenant, recipient) = (Id::new("acme").unwrap(), Id::new("ann").unwrap());
    let profile = Box::new(RecipientChange::nothing(recipient.clone()));
    let commands = vec![
        Command::Tenant { tenant: tenant.clone(), change: Box::default() },
        Command::Recipient(profile),
        Command::Join { recipient, tenant },
    ];
    rig.service.handle.submit(commands).unwrap();
}

/// The header value with a key of the tenant.
fn key(rig: &Rig) -> String {
    let first = TenantNo::of_raw(1);
    let key = NewKey::make(String::new(), Role::Admin, first, Instant(0)).unwrap();
    let bearer = format!("Bearer {}", key.secret.text());
    rig.change_keys(KeyChange::Make(key.stored));
    bearer
}

/// The call with a tenant in its body, or else in its query.
fn naming(call: &Call, tenant: &str) -> Call {
    let body = serde_json::from_str::<Value>(&call.body).ok();
    if call.path.starts_with("/v1/tenants") {
        return call.clone();
    }
    match body {
        Some(Value::Object(mut fields)) if call.path == "/v1/explain" => {
            fields.insert(
                "event".to_owned(),
                json!({ "type": "note", "object": { "id": "o" }, "to": {}, "tenant": tenant }),
            );
            call.with_body(&Value::Object(fields).to_string())
        }
        Some(Value::Object(_)) if call.name.ends_with("/v1/recipients/{id}") => {
            call.with_body(&json!({ "tenants": [tenant] }).to_string())
        }
        Some(Value::Object(mut fields)) if !call.path.contains("/ann/") && !call.is_mine() => {
            fields.insert("tenant".to_owned(), json!(tenant));
            call.with_body(&Value::Object(fields).to_string())
        }
        Some(Value::Array(_)) => {
            let choice =
                json!({ "type": "note", "channel": "email", "mode": "never", "tenant": tenant });
            call.with_body(&json!([choice]).to_string())
        }
        _ if call.path.ends_with("/cancel") || call.path.ends_with("/withdraw") => {
            call.with_body(&json!({ "tenant": tenant }).to_string())
        }
        _ => call.at(format!("{}?tenant={tenant}", call.path)),
    }
}

/// The call with what only the host may say.
fn of_host(call: &Call) -> Call {
    match call.path.as_str() {
        "/v1/events" => {
            let mut event: Value = serde_json::from_str(&call.body).unwrap();
            event["to"]["recipients"] = json!([{ "id": "ann", "email": "ann@example.org" }]);
            call.with_body(&event.to_string())
        }
        "/v1/tenants/acme" if call.method == Method::PATCH => {
            call.with_body(r#"{ "disabled": true }"#)
        }
        path if path.ends_with("/preferences") => call.with_body(r#"{ "quiet_hours": null }"#),
        _ => call.clone(),
    }
}

/// The call of a tenant, so changed that a server that is well answers this error; `None` = as others do.
pub(super) fn wrong(code: &str, call: &Call) -> Option<Call> {
    let preferences = |choice: Value| {
        let body = json!({ "preferences": [choice] });
        Some(call.with_body(&body.to_string()))
    };
    match code {
        "unknown_type" => {
            preferences(json!({ "type": "none", "channel": "email", "mode": "never" }))
        }
        "unknown_channel" => {
            preferences(json!({ "type": "note", "channel": "none", "mode": "never" }))
        }
        _ => None,
    }
}
