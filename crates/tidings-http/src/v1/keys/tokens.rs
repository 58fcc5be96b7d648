//! Tokens of recipients: revoked, and signed for development.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::Fault;
use tidings_api::body::text::Text;
use tidings_api::keys::new_signing_key;
use tidings_api::token::{Scope, sign};
use tidings_config::duration;
use tidings_config::wording::quoted;
use tidings_core::model::{MINUTE_MS, SECOND_MS};
use tidings_core::{Id, Instant};
use tidings_node::{KeyChange, SigningKey, SigningSecret};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::check::users_off;
use crate::v1::tenants;
use crate::{Answer, Change, Service};

/// The name of the key that signs tokens for development.
const DEVELOPMENT: &str = "development";

/// The life of a token that does not say, in milliseconds.
const USUAL_MS: i64 = 15 * MINUTE_MS;

/// The most that a revocation may lie ahead, in milliseconds.
const AHEAD_MS_MAX: i64 = 5 * MINUTE_MS;

/// The calls of tokens.
pub(crate) fn calls(calls: Calls) -> Calls {
    calls.add("revoke_tokens", routes!(revoke_tokens)).add("sign_token", routes!(sign_token))
}

/// The tokens to revoke.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
struct TokensToRevoke {
    /// Those that were issued at or before the second of this time, at most 5 minutes ahead; now if absent.
    #[schema(value_type = Option<String>, format = "date-time")]
    before: Option<Text<Instant>>,
}

/// The tokens that are refused.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"before": "2024-03-07T08:03:00Z"}))]
struct TokensRevoked {
    /// Those that were issued at or before the second of this time: an earlier request may have named a later one.
    #[schema(format = "date-time")]
    before: String,
}

/// Revoke a recipient's tokens
///
/// Refuses the tokens of end users that were issued for the recipient so far, whether the recipient is there or not.
/// Tokens that are issued later are accepted. Erasing a recipient revokes as well. The body may be left out.
#[utoipa::path(
    post, path = "/v1/recipients/{id}/tokens/revoke", tag = "recipients",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body(content = Option<TokensToRevoke>, example = json!({})),
    responses((status = 200, description = "The tokens are refused", body = TokensRevoked))
)]
async fn revoke_tokens(
    State(service): State<Arc<Service>>,
    InPath(recipient): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    service.shards.at_home(&recipient).map_err(|elsewhere| elsewhere.with_body(&change.body))?;
    let body = if change.body.is_empty() { TokensToRevoke::default() } else { change.parse()? };
    let now = service.now();
    let before = body.before.map_or(now, |before| before.0);
    if before.0 > now.0.saturating_add(AHEAD_MS_MAX) {
        let reason = format!("`before` must be at most 5 minutes ahead, got {before}");
        return Err(Fault::new(reason, "leave it out for now").into());
    }
    let known = service.handle.revoked_tokens(&recipient);
    let in_force = known.map_or(before, |known| known.max(before));
    let done = TokensRevoked { before: in_force.to_string() };
    let answer = Answer::json(StatusCode::OK, &done)?;
    let revoke = KeyChange::RevokeTokens(recipient, before);
    service.change_keys(&change, revoke, &answer, answer.clone()).await
}

/// A token to sign.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"recipient": "ada", "for": "15m", "scope": "inbox"}))]
struct TokenToSign {
    /// Id of the recipient.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    recipient: Text<Id>,
    /// Its life, at most `[users] tokens`; 15 minutes if absent, or that if it is less.
    r#for: Option<String>,
    /// The parts that it opens, of `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated by spaces; absent =
    /// everything.
    scope: Option<String>,
    /// The tenant whose notifications the token shows, with those without a tenant; absent = all.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Text<Id>>,
}

/// A token that was signed.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl", "expires": "2024-03-07T08:15:00Z"}))]
struct TokenSigned {
    /// The token.
    token: String,
    /// The time when it ends.
    #[schema(format = "date-time")]
    expires: String,
}

/// Sign a token for development
///
/// Signs with the key named `development`, which is made where there is none. An application signs tokens itself, with
/// a signing key of its own, and asks nobody. Nothing of this answer is stored.
#[utoipa::path(
    post, path = "/v1/admin/tokens", tag = "admin",
    request_body = TokenToSign,
    responses((status = 200, description = "The token", body = TokenSigned))
)]
async fn sign_token(
    State(service): State<Arc<Service>>,
    change: Change,
) -> Result<Answer, Problem> {
    let body: TokenToSign = change.parse()?;
    let longest_ms = service.rules().users.as_ref().ok_or_else(users_off)?.tokens_ms;
    let life_ms = life_ms(body.r#for.as_deref(), longest_ms)?;
    body.scope.as_deref().map_or(Ok(()), Scope::check)?;
    let tenant = body.tenant.map(Text::inner);
    tenants::known_if_named(&service, tenant.as_ref()).await?;
    let key = development_key(&service).await?;
    let issued_s = service.now().0.div_euclid(SECOND_MS);
    let expires_s = issued_s.saturating_add(life_ms / SECOND_MS);
    let (recipient, scope) = (&body.recipient.0, body.scope.as_deref());
    let token = sign(&key, recipient, issued_s, expires_s, scope, tenant.as_ref());
    let token = token.ok_or_else(|| Problem::new(Code::Internal, "the key can't sign"))?;
    let expires = Instant(expires_s.saturating_mul(SECOND_MS)).to_string();
    Answer::json(StatusCode::OK, &TokenSigned { token, expires })
}

fn life_ms(given: Option<&str>, longest_ms: i64) -> Result<i64, Fault> {
    let Some(text) = given else {
        return Ok(USUAL_MS.min(longest_ms));
    };
    let life_ms = duration::parse(text)
        .map_err(|fault| Fault::new(format!("`for` {}: {fault}", quoted(text)), fault.hint()))?;
    if (SECOND_MS..=longest_ms).contains(&life_ms) {
        return Ok(life_ms);
    }
    let most = duration::print(longest_ms);
    let reason =
        format!("`for` must be 1s to {most}, which is `[users] tokens`, got {}", quoted(text));
    Err(Fault::new(reason, format!("write a time such as `{most}`")))
}

/// The key that signs for development, made if there is none.
async fn development_key(service: &Service) -> Result<SigningKey, Problem> {
    let signs = |key: &&SigningKey| {
        key.name == DEVELOPMENT
            && matches!(key.secret, SigningSecret::Hs256(_))
            && key.scope.is_none()
            && key.tenant.is_none()
    };
    if let Some(key) = service.handle.signing_keys().iter().find(signs) {
        return Ok(key.clone());
    }
    let made = new_signing_key(DEVELOPMENT.to_owned(), None, None, None, service.now());
    let key = made.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let (done, make) = (Answer::done(), KeyChange::MakeSigning(key.clone()));
    // Nothing is kept: the answer would have a token in it.
    service.change_keys(&Change::bare(), make, &done, done.clone()).await?;
    Ok(key)
}
