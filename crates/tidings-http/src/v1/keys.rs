//! API keys: made, listed and revoked while the server runs.

pub(super) mod sessions;
pub(super) mod signing;
pub(super) mod tokens;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::Fault;
use tidings_api::keys::{NewKey, fault_of_name};
use tidings_core::Id;
use tidings_node::{ApiKey, KeyChange, Role};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::{Answer, Change, Service};

/// The calls of API keys.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("list_keys", routes!(list_keys))
        .add("make_key", routes!(make_key))
        .add("revoke_key", routes!(revoke_key))
}

/// The API keys that are accepted.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"keys": [{"id": "5c0f3d1a9b7e", "name": "site", "made": "2024-03-07T08:00:00Z", "role": "admin"}]}))]
struct KeysAnswer {
    /// By when they were made.
    keys: Vec<KeyShown>,
}

/// An API key, without the key itself.
#[derive(Serialize, ToSchema)]
struct KeyShown {
    /// Its id; no secret.
    id: String,
    /// The name given to it; may be empty.
    name: String,
    /// The time when it was made.
    #[schema(format = "date-time")]
    made: String,
    /// Its role.
    role: RoleName,
}

impl From<&ApiKey> for KeyShown {
    fn from(key: &ApiKey) -> Self {
        Self {
            id: key.id.clone(),
            name: key.name.clone(),
            made: key.made.to_string(),
            role: key.role.into(),
        }
    }
}

/// The role of an API key: the calls that it may make.
#[derive(Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RoleName {
    /// List types and figures.
    Figures,
    /// Read.
    Read,
    /// Read; flush; retry, resend and cancel a message; lift a suppression, revoke tokens.
    Support,
    /// Read; change events, objects, recipients and subscriptions.
    Publish,
    /// All that `support` may; pause, cancel, withdraw, suppress; retry, resend and cancel many messages.
    Operate,
    /// Everything.
    #[default]
    Admin,
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::Figures => Self::Figures,
            Role::Read => Self::Read,
            Role::Support => Self::Support,
            Role::Publish => Self::Publish,
            Role::Operate => Self::Operate,
            Role::Admin => Self::Admin,
        }
    }
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Figures => Self::Figures,
            RoleName::Read => Self::Read,
            RoleName::Support => Self::Support,
            RoleName::Publish => Self::Publish,
            RoleName::Operate => Self::Operate,
            RoleName::Admin => Self::Admin,
        }
    }
}

/// A new API key.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "site", "role": "publish"}))]
struct KeyToMake {
    /// A name to recognise it by.
    #[schema(max_length = 100)]
    name: Option<String>,
    /// Its role; `admin` if absent.
    role: Option<RoleName>,
}

/// The name of a key to make; empty if it has none.
///
/// # Errors
/// It is too long, or has control characters.
fn name_of(name: Option<String>) -> Result<String, Fault> {
    let name = name.unwrap_or_default();
    match fault_of_name(&name) {
        None => Ok(name),
        Some(fault) => {
            let reason = format!("`name`: {fault}");
            Err(Fault::new(reason, "use a name such as `site`"))
        }
    }
}

/// An API key that was made.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"id": "5c0f3d1a9b7e", "name": "site", "made": "2024-03-07T08:00:00Z", "role": "publish", "key": "tidings_4f1d…"}))]
struct KeyMade {
    #[serde(flatten)]
    shown: KeyShown,
    /// The key itself, which is stored nowhere; absent in the stored answer to an earlier request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key: Option<String>,
}

/// List the API keys
///
/// Lists the accepted keys by id and name. The keys themselves are not stored.
#[utoipa::path(
    get, path = "/v1/admin/keys", tag = "admin",
    responses((status = 200, description = "The keys", body = KeysAnswer))
)]
async fn list_keys(State(service): State<Arc<Service>>) -> Result<Answer, Problem> {
    let keys = service.handle.keys().iter().map(KeyShown::from).collect();
    Answer::json(StatusCode::OK, &KeysAnswer { keys })
}

/// Make an API key
///
/// The key is accepted at once, and shown in this answer only. A request that is sent again with the same
/// `Idempotency-Key` makes no second key; its answer has everything but the key.
#[utoipa::path(
    post, path = "/v1/admin/keys", tag = "admin",
    request_body = KeyToMake,
    responses((status = 201, description = "The key is made", body = KeyMade))
)]
async fn make_key(State(service): State<Arc<Service>>, change: Change) -> Result<Answer, Problem> {
    let KeyToMake { name, role } = change.parse()?;
    let role = Role::from(role.unwrap_or_default());
    let new = NewKey::make(name_of(name)?, role, service.now());
    let new = new.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let answer = |key| {
        let shown = KeyShown::from(&new.stored);
        Answer::json(StatusCode::CREATED, &KeyMade { shown, key })
    };
    let (kept, made) = (answer(None)?, answer(Some(new.secret.text().to_owned()))?);
    let make = KeyChange::Make(new.stored);
    service.change_keys(&change, make, &kept, made).await
}

/// Revoke an API key
///
/// Requests with the key are refused from now on.
#[utoipa::path(
    delete, path = "/v1/admin/keys/{id}", tag = "admin",
    params(("id" = String, Path, description = "Id of the key", example = "5c0f3d1a9b7e", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The key is revoked"))
)]
async fn revoke_key(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let revoke = KeyChange::Revoke(id.as_str().to_owned());
    let done = Answer::done();
    service.change_keys(&change, revoke, &done, done.clone()).await
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::{Value, json};

    use crate::rig::Rig;

    const KEYS: &str = "/v1/admin/keys";

    fn make(rig: &Rig, name: &str) -> Value {
        let made = rig.call(Method::POST, KEYS, &json!({ "name": name }));
        assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
        made.json()
    }

    fn listed(rig: &Rig) -> Value {
        rig.call(Method::GET, KEYS, &Value::Null).json()
    }

    #[test]
    fn a_key_is_made_listed_and_revoked() {
        let rig = Rig::new();
        assert_eq!(listed(&rig), json!({ "keys": [] }));
        let mut site = make(&rig, "site");
        let key = site.as_object_mut().unwrap().shift_remove("key").unwrap();
        assert!(key.as_str().unwrap().starts_with("tidings_"));
        assert_eq!(site["name"], "site");
        assert_eq!(site["made"], "2024-01-01T12:00:00Z");
        // Shown once.
        assert_eq!(listed(&rig), json!({ "keys": [site] }));
        let unnamed = rig.call(Method::POST, KEYS, &json!({})).json();
        assert_eq!(unnamed["name"], "");

        let rig = rig.restart();
        assert_eq!(listed(&rig)["keys"].as_array().unwrap().len(), 2);
        let path = format!("{KEYS}/{}", site["id"].as_str().unwrap());
        let revoke = || rig.call(Method::DELETE, &path, &Value::Null);
        assert_eq!(revoke().status, StatusCode::NO_CONTENT);
        let again = revoke();
        assert_eq!(again.status, StatusCode::NOT_FOUND);
        assert_eq!(again.json()["code"], "key_not_found");
        assert_eq!(listed(&rig)["keys"][0]["id"], unnamed["id"]);
    }

    /// The stored answer must not hold the key.
    #[test]
    fn a_request_that_is_sent_again_makes_one_key_and_shows_it_once() {
        let rig = Rig::new();
        let send = |method: Method, path: &str, once: &str, body: &'static str| {
            let headers = [("content-type", "application/json"), ("idempotency-key", once)];
            rig.send(method, path, &headers, body)
        };
        let ask = || send(Method::POST, KEYS, "a", r#"{"name": "site"}"#);
        let (first, second) = (ask(), ask());
        assert_eq!(second.status, StatusCode::CREATED);
        assert_eq!(second.headers["idempotency-replayed"], "true");
        let (mut first, second) = (first.json(), second.json());
        assert!(first.as_object_mut().unwrap().shift_remove("key").is_some());
        assert_eq!(first, second);
        assert_eq!(listed(&rig)["keys"].as_array().unwrap().len(), 1);
        let other = send(Method::POST, KEYS, "a", "{}");
        assert_eq!(other.json()["code"], "idempotency_key_reused");

        let path = format!("{KEYS}/{}", first["id"].as_str().unwrap());
        for _ in 0..2 {
            let revoked = send(Method::DELETE, &path, "b", "");
            assert_eq!(revoked.status, StatusCode::NO_CONTENT);
        }
        assert_eq!(listed(&rig), json!({ "keys": [] }));
    }

    #[test]
    fn what_is_wrong_with_a_key_is_told() {
        let rig = Rig::new();
        for name in [json!(7), json!("x".repeat(101)), json!("a\nb")] {
            let answer = rig.call(Method::POST, KEYS, &json!({ "name": name }));
            assert_eq!(answer.json()["code"], "invalid_body", "{name}");
        }
        let answer = rig.call(Method::POST, KEYS, &json!({ "nmae": "site" }));
        assert!(answer.json()["hint"].as_str().unwrap().contains("name"));
        assert_eq!(listed(&rig), json!({ "keys": [] }));
    }
}
