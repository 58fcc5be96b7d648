//! Errors of calls that name a tenant.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use tidings_core::model::RecipientChange;
use tidings_core::{Command, Id, Instant};
use tidings_node::VirtualClock;
use tidings_store::{MemoryStore, Store};

use super::{Call, KEY, PAID, open};
use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

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

/// The call with a tenant in its body, or else in its query.
fn naming(call: &Call, tenant: &str) -> Call {
    let body = serde_json::from_str::<Value>(&call.body).ok();
    if call.path.starts_with("/v1/tenants") {
        return call.clone();
    }
    match body {
        Some(Value::Object(mut fields)) if fields.contains_key("filter") => {
            fields.insert("filter".to_owned(), json!({ "tenant": tenant }));
            call.with_body(&Value::Object(fields).to_string())
        }
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
