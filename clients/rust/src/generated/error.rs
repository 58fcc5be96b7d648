// Written from docs/openapi.json and docs/errors.md by the code in `generate`: change these, and run
// `TIDINGS_BLESS=1 cargo test --test generated`.

use std::time::Duration;

use crate::error::Problem;

/// The version of the API document that this client was made from.
pub const API_VERSION: &str = "0.1.0";

/// The failure of a call. Each code of the API has a variant; new ones are [`Error::UnknownCode`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// `invalid_json`: The body is not JSON. Status 400. Do not retry; fix the request first.
    InvalidJson(Box<Problem>),
    /// `invalid_path`: Invalid id in the path. Status 400. Do not retry; fix the request first.
    InvalidPath(Box<Problem>),
    /// `invalid_query`: Invalid query. Status 400. Do not retry; fix the request first.
    InvalidQuery(Box<Problem>),
    /// `bad_cursor`: The cursor is of another list. Status 400. Do not retry; fix the request first.
    BadCursor(Box<Problem>),
    /// `no_dry`: The call can't be tried without doing it. Status 400. Do not retry; fix the request first.
    NoDry(Box<Problem>),
    /// `invalid_header`: Invalid header. Status 400. Do not retry; fix the request first.
    InvalidHeader(Box<Problem>),
    /// `invalid_request`: The request body is incomplete. Status 400. Do not retry; fix the request first.
    InvalidRequest(Box<Problem>),
    /// `unauthorized`: No valid API key. Status 401. Do not retry; fix the request first.
    Unauthorized(Box<Problem>),
    /// `token_missing`: No token. Status 401. Do not retry; fix the request first.
    TokenMissing(Box<Problem>),
    /// `token_malformed`: The token is malformed. Status 401. Do not retry; fix the request first.
    TokenMalformed(Box<Problem>),
    /// `token_key`: Unknown signing key. Status 401. Do not retry; fix the request first.
    TokenKey(Box<Problem>),
    /// `token_signature`: The token's signature is wrong. Status 401. Do not retry; fix the request first.
    TokenSignature(Box<Problem>),
    /// `token_tenant`: The token's tenant is wrong. Status 401. Do not retry; fix the request first.
    TokenTenant(Box<Problem>),
    /// `token_too_long`: The token lives too long. Status 401. Do not retry; fix the request first.
    TokenTooLong(Box<Problem>),
    /// `token_not_yet`: The token is not valid yet. Status 401. Do not retry; fix the request first.
    TokenNotYet(Box<Problem>),
    /// `token_expired`: The token has expired. Status 401. Do not retry; fix the request first.
    TokenExpired(Box<Problem>),
    /// `token_revoked`: The token was revoked. Status 401. Do not retry; fix the request first.
    TokenRevoked(Box<Problem>),
    /// `users_off`: End users may not call. Status 403. Do not retry; fix the request first.
    UsersOff(Box<Problem>),
    /// `scope`: The token lacks the scope. Status 403. Do not retry; fix the request first.
    Scope(Box<Problem>),
    /// `role`: The API key lacks the role. Status 403. Do not retry; fix the request first.
    Role(Box<Problem>),
    /// `topic_not_open`: The topic is not open to end users. Status 403. Do not retry; fix the request first.
    TopicNotOpen(Box<Problem>),
    /// `not_found`: Not found. Status 404. Do not retry; fix the request first.
    NotFound(Box<Problem>),
    /// `recipient_not_found`: Unknown recipient. Status 404. Do not retry; fix the request first.
    RecipientNotFound(Box<Problem>),
    /// `tenant_not_found`: Unknown tenant. Status 404. Do not retry; fix the request first.
    TenantNotFound(Box<Problem>),
    /// `event_not_found`: Unknown event. Status 404. Do not retry; fix the request first.
    EventNotFound(Box<Problem>),
    /// `type_not_found`: Unknown type. Status 404. Do not retry; fix the request first.
    TypeNotFound(Box<Problem>),
    /// `channel_not_found`: Unknown channel. Status 404. Do not retry; fix the request first.
    ChannelNotFound(Box<Problem>),
    /// `key_not_found`: Unknown API key. Status 404. Do not retry; fix the request first.
    KeyNotFound(Box<Problem>),
    /// `session_not_found`: Unknown session. Status 404. Do not retry; fix the request first.
    SessionNotFound(Box<Problem>),
    /// `signing_key_not_found`: Unknown signing key. Status 404. Do not retry; fix the request first.
    SigningKeyNotFound(Box<Problem>),
    /// `message_not_found`: Unknown message. Status 404. Do not retry; fix the request first.
    MessageNotFound(Box<Problem>),
    /// `suppression_not_found`: The address is not suppressed. Status 404. Do not retry; fix the request first.
    SuppressionNotFound(Box<Problem>),
    /// `feed_not_found`: Unknown feed. Status 404. Do not retry; fix the request first.
    FeedNotFound(Box<Problem>),
    /// `hook_not_found`: Unknown hook. Status 404. Do not retry; fix the request first.
    HookNotFound(Box<Problem>),
    /// `method_not_allowed`: Method not allowed. Status 405. Do not retry; fix the request first.
    MethodNotAllowed(Box<Problem>),
    /// `request_timeout`: The body took too long to arrive. Status 408. Retry after 1 s (`Retry-After`).
    RequestTimeout(Box<Problem>),
    /// `job_not_found`: Unknown job. Status 404. Do not retry; fix the request first.
    JobNotFound(Box<Problem>),
    /// `too_many`: The filter has too many messages. Status 422. Do not retry; fix the request first.
    TooMany(Box<Problem>),
    /// `message_state`: The message is not in a state for this. Status 409. Do not retry; fix the request first.
    MessageState(Box<Problem>),
    /// `grew`: The change would touch more people than expected. Status 409. Do not retry; fix the request first.
    Grew(Box<Problem>),
    /// `config_unknown`: The server does not know the text of its configuration. Status 409. Do not retry; fix the request first.
    ConfigUnknown(Box<Problem>),
    /// `tenant_gone`: The tenant is disabled or was deleted. Status 409. Do not retry; fix the request first.
    TenantGone(Box<Problem>),
    /// `body_too_large`: The body is too large. Status 413. Do not retry; fix the request first.
    BodyTooLarge(Box<Problem>),
    /// `unsupported_media_type`: Unsupported content type. Status 415. Do not retry; fix the request first.
    UnsupportedMediaType(Box<Problem>),
    /// `invalid_body`: Invalid request body. Status 422. Do not retry; fix the request first.
    InvalidBody(Box<Problem>),
    /// `unknown_type`: The type is not configured. Status 422. Do not retry; fix the request first.
    UnknownType(Box<Problem>),
    /// `unknown_tenant`: Unknown tenant. Status 422. Do not retry; fix the request first.
    UnknownTenant(Box<Problem>),
    /// `tenants_off`: Tenants are off. Status 422. Do not retry; fix the request first.
    TenantsOff(Box<Problem>),
    /// `invalid_data`: The event's `data` does not fit its type. Status 422. Do not retry; fix the request first.
    InvalidData(Box<Problem>),
    /// `unknown_channel`: Unknown channel. Status 422. Do not retry; fix the request first.
    UnknownChannel(Box<Problem>),
    /// `unknown_preference`: Unknown preference. Status 422. Do not retry; fix the request first.
    UnknownPreference(Box<Problem>),
    /// `limit_exceeded`: The request exceeds a limit. Status 422. Do not retry; fix the request first.
    LimitExceeded(Box<Problem>),
    /// `too_large`: What is stored would grow too long. Status 422. Do not retry; fix the request first.
    TooLarge(Box<Problem>),
    /// `config_faults`: The configuration has faults. Status 422. Do not retry; fix the request first.
    ConfigFaults(Box<Problem>),
    /// `key_not_editable`: The key of the configuration can't be edited by a call. Status 422. Do not retry; fix the request first.
    KeyNotEditable(Box<Problem>),
    /// `idempotency_key_reused`: The `Idempotency-Key` was used with a different request. Status 422. Do not retry; fix the request first.
    IdempotencyKeyReused(Box<Problem>),
    /// `too_busy`: Too many requests in progress. Status 429. Retry after 1 s (`Retry-After`).
    TooBusy(Box<Problem>),
    /// `busy`: The caller has its share of the server. Status 429. Retry after 1 s (`Retry-After`).
    Busy(Box<Problem>),
    /// `internal`: Internal error. Status 500. A fault in tidings, not in the request. You may retry.
    Internal(Box<Problem>),
    /// `starting`: The server is starting. Status 503. Retry after 1 s (`Retry-After`).
    Starting(Box<Problem>),
    /// `unavailable`: The store is unavailable. Status 503. Retry after 1 s (`Retry-After`).
    Unavailable(Box<Problem>),
    /// `store_full`: The disk is full. Status 503. Retry after 30 s (`Retry-After`).
    StoreFull(Box<Problem>),
    /// `outcome_unknown`: The store failed during the write. Status 503. Retry after 1 s (`Retry-After`).
    OutcomeUnknown(Box<Problem>),
    /// `timed_out`: The answer took too long. Status 503. Retry after 5 s (`Retry-After`).
    TimedOut(Box<Problem>),
    /// `streams_full`: Too many live streams are open. Status 503. Retry after 10 s (`Retry-After`).
    StreamsFull(Box<Problem>),
    /// `no_holder`: No node holds the store. Status 503. Retry after 1 s (`Retry-After`).
    NoHolder(Box<Problem>),
    /// `holder_lost`: The node that holds the store did not answer. Status 503. Retry after 1 s (`Retry-After`).
    HolderLost(Box<Problem>),
    /// `stopping`: The server is stopping. Status 503. Retry after 5 s (`Retry-After`).
    Stopping(Box<Problem>),

    /// A code that this client does not know; the problem has it.
    UnknownCode(Box<Problem>),
    /// The server could not be reached, or the connection broke before the whole answer was there, at the last try too.
    Connection {
        /// The fault of the connection.
        detail: String,
        /// The id of the request.
        request_id: String,
    },
    /// There was no whole answer in time, at the last try too.
    Timeout {
        /// The time that was waited for the last try.
        after: Duration,
        /// The id of the request.
        request_id: String,
    },
    /// The answer is none of tidings' API: something else answered, or a version of the server that is too far away.
    Unexpected {
        /// The status of the answer.
        status: u16,
        /// The difference.
        detail: String,
        /// The id of the request.
        request_id: String,
        /// `X-Tidings-Version` of the answer.
        server_version: Option<String>,
    },
    /// The call was not made: what it was given can't be sent.
    Invalid {
        /// The fault.
        detail: String,
    },
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        let problem = Box::new(problem);
        match problem.code.as_str() {
            "invalid_json" => Self::InvalidJson(problem),
            "invalid_path" => Self::InvalidPath(problem),
            "invalid_query" => Self::InvalidQuery(problem),
            "bad_cursor" => Self::BadCursor(problem),
            "no_dry" => Self::NoDry(problem),
            "invalid_header" => Self::InvalidHeader(problem),
            "invalid_request" => Self::InvalidRequest(problem),
            "unauthorized" => Self::Unauthorized(problem),
            "token_missing" => Self::TokenMissing(problem),
            "token_malformed" => Self::TokenMalformed(problem),
            "token_key" => Self::TokenKey(problem),
            "token_signature" => Self::TokenSignature(problem),
            "token_tenant" => Self::TokenTenant(problem),
            "token_too_long" => Self::TokenTooLong(problem),
            "token_not_yet" => Self::TokenNotYet(problem),
            "token_expired" => Self::TokenExpired(problem),
            "token_revoked" => Self::TokenRevoked(problem),
            "users_off" => Self::UsersOff(problem),
            "scope" => Self::Scope(problem),
            "role" => Self::Role(problem),
            "topic_not_open" => Self::TopicNotOpen(problem),
            "not_found" => Self::NotFound(problem),
            "recipient_not_found" => Self::RecipientNotFound(problem),
            "tenant_not_found" => Self::TenantNotFound(problem),
            "event_not_found" => Self::EventNotFound(problem),
            "type_not_found" => Self::TypeNotFound(problem),
            "channel_not_found" => Self::ChannelNotFound(problem),
            "key_not_found" => Self::KeyNotFound(problem),
            "session_not_found" => Self::SessionNotFound(problem),
            "signing_key_not_found" => Self::SigningKeyNotFound(problem),
            "message_not_found" => Self::MessageNotFound(problem),
            "suppression_not_found" => Self::SuppressionNotFound(problem),
            "feed_not_found" => Self::FeedNotFound(problem),
            "hook_not_found" => Self::HookNotFound(problem),
            "method_not_allowed" => Self::MethodNotAllowed(problem),
            "request_timeout" => Self::RequestTimeout(problem),
            "job_not_found" => Self::JobNotFound(problem),
            "too_many" => Self::TooMany(problem),
            "message_state" => Self::MessageState(problem),
            "grew" => Self::Grew(problem),
            "config_unknown" => Self::ConfigUnknown(problem),
            "tenant_gone" => Self::TenantGone(problem),
            "body_too_large" => Self::BodyTooLarge(problem),
            "unsupported_media_type" => Self::UnsupportedMediaType(problem),
            "invalid_body" => Self::InvalidBody(problem),
            "unknown_type" => Self::UnknownType(problem),
            "unknown_tenant" => Self::UnknownTenant(problem),
            "tenants_off" => Self::TenantsOff(problem),
            "invalid_data" => Self::InvalidData(problem),
            "unknown_channel" => Self::UnknownChannel(problem),
            "unknown_preference" => Self::UnknownPreference(problem),
            "limit_exceeded" => Self::LimitExceeded(problem),
            "too_large" => Self::TooLarge(problem),
            "config_faults" => Self::ConfigFaults(problem),
            "key_not_editable" => Self::KeyNotEditable(problem),
            "idempotency_key_reused" => Self::IdempotencyKeyReused(problem),
            "too_busy" => Self::TooBusy(problem),
            "busy" => Self::Busy(problem),
            "internal" => Self::Internal(problem),
            "starting" => Self::Starting(problem),
            "unavailable" => Self::Unavailable(problem),
            "store_full" => Self::StoreFull(problem),
            "outcome_unknown" => Self::OutcomeUnknown(problem),
            "timed_out" => Self::TimedOut(problem),
            "streams_full" => Self::StreamsFull(problem),
            "no_holder" => Self::NoHolder(problem),
            "holder_lost" => Self::HolderLost(problem),
            "stopping" => Self::Stopping(problem),

            _ => Self::UnknownCode(problem),
        }
    }
}

impl Error {
    /// The problem that the server answered, if it answered one.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::InvalidJson(problem)
            | Self::InvalidPath(problem)
            | Self::InvalidQuery(problem)
            | Self::BadCursor(problem)
            | Self::NoDry(problem)
            | Self::InvalidHeader(problem)
            | Self::InvalidRequest(problem)
            | Self::Unauthorized(problem)
            | Self::TokenMissing(problem)
            | Self::TokenMalformed(problem)
            | Self::TokenKey(problem)
            | Self::TokenSignature(problem)
            | Self::TokenTenant(problem)
            | Self::TokenTooLong(problem)
            | Self::TokenNotYet(problem)
            | Self::TokenExpired(problem)
            | Self::TokenRevoked(problem)
            | Self::UsersOff(problem)
            | Self::Scope(problem)
            | Self::Role(problem)
            | Self::TopicNotOpen(problem)
            | Self::NotFound(problem)
            | Self::RecipientNotFound(problem)
            | Self::TenantNotFound(problem)
            | Self::EventNotFound(problem)
            | Self::TypeNotFound(problem)
            | Self::ChannelNotFound(problem)
            | Self::KeyNotFound(problem)
            | Self::SessionNotFound(problem)
            | Self::SigningKeyNotFound(problem)
            | Self::MessageNotFound(problem)
            | Self::SuppressionNotFound(problem)
            | Self::FeedNotFound(problem)
            | Self::HookNotFound(problem)
            | Self::MethodNotAllowed(problem)
            | Self::RequestTimeout(problem)
            | Self::JobNotFound(problem)
            | Self::TooMany(problem)
            | Self::MessageState(problem)
            | Self::Grew(problem)
            | Self::ConfigUnknown(problem)
            | Self::TenantGone(problem)
            | Self::BodyTooLarge(problem)
            | Self::UnsupportedMediaType(problem)
            | Self::InvalidBody(problem)
            | Self::UnknownType(problem)
            | Self::UnknownTenant(problem)
            | Self::TenantsOff(problem)
            | Self::InvalidData(problem)
            | Self::UnknownChannel(problem)
            | Self::UnknownPreference(problem)
            | Self::LimitExceeded(problem)
            | Self::TooLarge(problem)
            | Self::ConfigFaults(problem)
            | Self::KeyNotEditable(problem)
            | Self::IdempotencyKeyReused(problem)
            | Self::TooBusy(problem)
            | Self::Busy(problem)
            | Self::Internal(problem)
            | Self::Starting(problem)
            | Self::Unavailable(problem)
            | Self::StoreFull(problem)
            | Self::OutcomeUnknown(problem)
            | Self::TimedOut(problem)
            | Self::StreamsFull(problem)
            | Self::NoHolder(problem)
            | Self::HolderLost(problem)
            | Self::Stopping(problem)
            | Self::UnknownCode(problem) => Some(problem),
            Self::Connection { .. }
            | Self::Timeout { .. }
            | Self::Unexpected { .. }
            | Self::Invalid { .. } => None,
        }
    }
}
