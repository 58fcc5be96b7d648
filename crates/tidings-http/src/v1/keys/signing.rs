//! Signing keys, by which the tokens of end users are checked: made, listed and revoked while the server runs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::Fault;
use tidings_api::body::text::Text;
use tidings_api::keys::{new_signing_key, public_key};
use tidings_api::token::Scope;
use tidings_core::Id;
use tidings_core::engine::TenantDirectory;
use tidings_core::model::TenantNo;
use tidings_node::{KeyChange, SigningKey, SigningSecret};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::name_of;
use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::v1::tenants;
use crate::{Answer, Change, Service};

/// The calls of signing keys.
pub(crate) fn calls(calls: Calls) -> Calls {
    calls
        .add("list_signing_keys", routes!(list_signing_keys))
        .add("make_signing_key", routes!(make_signing_key))
        .add("revoke_signing_key", routes!(revoke_signing_key))
}

/// The signing keys in force.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"keys": [{"id": "9b7e5c0f3d1a", "name": "site", "alg": "HS256", "scope": null, "made": "2024-03-07T08:00:00Z"}]}))]
struct SigningKeysAnswer {
    /// By when they were made.
    keys: Vec<SigningKeyShown>,
}

/// A signing key, without what it signs with.
#[derive(Serialize, ToSchema)]
struct SigningKeyShown {
    /// Its id, which tokens name as `kid`; no secret.
    id: String,
    /// The name given to it; may be empty.
    name: String,
    /// The algorithm of its tokens: `HS256` or `EdDSA`.
    alg: &'static str,
    /// The most that its tokens may open; null = everything.
    #[schema(required)]
    scope: Option<String>,
    /// The tenant that its tokens must name; absent = they may name any, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    /// The time when it was made.
    #[schema(format = "date-time")]
    made: String,
}

impl SigningKeyShown {
    fn of(key: &SigningKey, tenant: Option<Id>) -> Self {
        Self {
            id: key.id.clone(),
            name: key.name.clone(),
            alg: key.secret.alg(),
            scope: key.scope.clone(),
            tenant: tenant.map(|id| id.as_str().to_owned()),
            made: key.made.to_string(),
        }
    }
}

/// A new signing key.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "site", "scope": "inbox preferences"}))]
struct SigningKeyToMake {
    /// A name to recognise it by.
    #[schema(max_length = 100)]
    name: Option<String>,
    /// A public key of Ed25519 in PEM: the server then has nothing that can sign. Absent = a secret is made.
    public: Option<String>,
    /// The most that its tokens may open, of `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated
    /// by spaces; absent = everything.
    scope: Option<String>,
    /// The tenant that its tokens must name; absent = they may name any, or none.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Text<Id>>,
}

impl SigningKeyToMake {
    fn public(&self) -> Result<Option<[u8; 32]>, Fault> {
        let read = self.public.as_deref().map(public_key).transpose();
        read.map_err(|fault| {
            let hint = "`openssl pkey -in key.pem -pubout` writes the public key of `openssl genpkey -algorithm ed25519`";
            Fault::new(format!("`public` {fault}"), hint)
        })
    }
}

/// A signing key that was made.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"id": "9b7e5c0f3d1a", "name": "site", "alg": "HS256", "scope": "inbox preferences", "made": "2024-03-07T08:00:00Z", "secret": "tsk_9b7e5c0f3d1a_4f1d…"}))]
struct SigningKeyMade {
    #[serde(flatten)]
    shown: SigningKeyShown,
    /// The secret, whose text is the key of HS256; absent with a public key, and in the stored answer to an earlier
    /// request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    secret: Option<String>,
}

/// The tenants of these numbers, as far as they are there.
async fn of_tenants(
    service: &Service,
    numbers: impl Iterator<Item = Option<TenantNo>>,
) -> Result<Vec<Option<Id>>, Problem> {
    let numbers: Vec<_> = numbers.collect();
    let found = service.look(move |node| {
        let tenants = TenantDirectory::of(node.engine());
        numbers.iter().map(|number| number.and_then(|no| tenants.id(no).cloned())).collect()
    });
    found.await
}

/// List the signing keys
///
/// Lists the keys by which tokens of end users are checked, without their secrets.
#[utoipa::path(
    get, path = "/v1/admin/signing-keys", tag = "admin",
    responses((status = 200, description = "The keys", body = SigningKeysAnswer))
)]
async fn list_signing_keys(State(service): State<Arc<Service>>) -> Result<Answer, Problem> {
    let keys = service.handle.signing_keys();
    let tenants = of_tenants(&service, keys.iter().map(|key| key.tenant)).await?;
    // The keys of a deleted tenant have ended with it.
    let in_force =
        keys.iter().zip(tenants).filter(|(key, of)| key.tenant.is_none() || of.is_some());
    let keys = in_force.map(|(key, tenant)| SigningKeyShown::of(key, tenant)).collect();
    Answer::json(StatusCode::OK, &SigningKeysAnswer { keys })
}

/// Make a signing key
///
/// Tokens that are signed by it are accepted at once. A secret is shown in this answer only, and opens nothing by
/// itself. A request that is sent again with the same `Idempotency-Key` makes no second key; its answer has everything
/// but the secret.
#[utoipa::path(
    post, path = "/v1/admin/signing-keys", tag = "admin",
    request_body = SigningKeyToMake,
    responses((status = 201, description = "The key is made", body = SigningKeyMade))
)]
async fn make_signing_key(
    State(service): State<Arc<Service>>,
    change: Change,
) -> Result<Answer, Problem> {
    let body: SigningKeyToMake = change.parse()?;
    let public = body.public()?;
    body.scope.as_deref().map_or(Ok(()), Scope::check)?;
    let tenant = body.tenant.map(Text::inner);
    let number = tenants::known_if_named(&service, tenant.as_ref()).await?;
    let name = name_of(body.name)?;
    let key = new_signing_key(name, body.scope, number, public, service.now());
    let key = key.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let answer = |secret| {
        let shown = SigningKeyShown::of(&key, tenant.clone());
        Answer::json(StatusCode::CREATED, &SigningKeyMade { shown, secret })
    };
    let secret = match &key.secret {
        SigningSecret::Hs256(secret) => Some(secret.clone()),
        SigningSecret::Ed25519(_) => None,
    };
    let (kept, made) = (answer(None)?, answer(secret)?);
    service.change_keys(&change, KeyChange::MakeSigning(key), &kept, made).await
}

/// Revoke a signing key
///
/// Tokens that were signed by it are refused from now on.
#[utoipa::path(
    delete, path = "/v1/admin/signing-keys/{id}", tag = "admin",
    params(("id" = String, Path, description = "Id of the key", example = "9b7e5c0f3d1a", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The key is revoked"))
)]
async fn revoke_signing_key(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let revoke = KeyChange::RevokeSigning(id.as_str().to_owned());
    let done = Answer::done();
    service.change_keys(&change, revoke, &done, done.clone()).await
}
