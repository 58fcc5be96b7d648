//! The check of an end user's token at a request, and of whether it still holds while a stream is open.

use axum::http::HeaderMap;
use tidings_api::token::{Token, TokenRefusal};
use tidings_core::Id;

use crate::error::{Code, Problem};
use crate::request::tenants;
use crate::service::Service;
use crate::users::bearer;

impl Service {
    /// The token of an end user's request, checked but for what the recipient's node alone knows.
    ///
    /// # Errors
    /// [`Code::UsersOff`], or the first of the codes of tokens that applies.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Result<Token, Problem> {
        let rules = self.rules();
        let users = rules.users.as_ref().ok_or_else(users_off)?;
        let keys = self.handle.signing_keys();
        let tenant = |id: &Id, issued_s| tenants::of_token(&self.handle, id, issued_s);
        let token = Token::check(bearer(headers)?, &keys, users.tokens_ms, self.now(), tenant);
        token.map_err(|refusal| {
            let (code, detail) = match refusal {
                TokenRefusal::Malformed(what) => (Code::TokenMalformed, what),
                TokenRefusal::Key(what) => (Code::TokenKey, what),
                TokenRefusal::Signature => (Code::TokenSignature, "its signature is not its key's"),
                TokenRefusal::Tenant(what) => (Code::TokenTenant, what),
                TokenRefusal::TooLong => (
                    Code::TokenTooLong,
                    "its life is longer than `[users] tokens`, or a number is out of range",
                ),
                TokenRefusal::NotYet => (Code::TokenNotYet, "its `iat` or `nbf` is in the future"),
                TokenRefusal::Expired => (Code::TokenExpired, "its `exp` is past"),
            };
            Problem::new(code, detail)
        })
    }

    /// The code with which a token ends that was valid; `None` = it still is. The recipient's node knows.
    pub(crate) fn end_of(&self, token: &Token) -> Option<Code> {
        if !self.handle.signing_keys().iter().any(|key| key.id == token.key) {
            return Some(Code::TokenKey);
        }
        if token.is_expired(self.now()) {
            return Some(Code::TokenExpired);
        }
        if token.tenant_no.is_some_and(|number| tenants::id(&self.handle, number).is_none()) {
            return Some(Code::TokenTenant);
        }
        let before = self.handle.revoked_tokens(&token.recipient)?;
        token.is_revoked(before).then_some(Code::TokenRevoked)
    }
}

/// The problem of calls of end users where none may call.
pub(crate) fn users_off() -> Problem {
    Problem::new(Code::UsersOff, "the configuration has no `[users]`")
}
