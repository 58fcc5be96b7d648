//! Errors of the API: one table, from which the enum, the answers, the OpenAPI document and
//! `docs/errors.md` are generated. No other part of the program knows a status code of a failure.

mod concerned;

use std::borrow::Cow;
use std::fmt::Write as _;

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tidings_api::body::{About, Fault, hint};
use tidings_core::engine::{CommandConcerns, Refused, StepError};
use tidings_core::journal::Unreadable;
use tidings_node::RuntimeError;
use utoipa::ToSchema;

use crate::owners::Owner;

pub(crate) use self::concerned::Concerned;

/// The advice on retrying the same request unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAdvice {
    /// No: it would fail again.
    No,
    /// Yes: the fault is in the server, not in the request.
    Maybe,
    /// Yes, after this number of seconds (`Retry-After`).
    After(u32),
}

/// A row of the table: everything that is fixed for a code.
#[derive(Clone, Copy, Debug)]
pub struct CodeRow {
    /// The code as clients see it. Never changed once it was released.
    pub code: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The advice on retrying.
    pub again: RetryAdvice,
    /// A short description, the same for each occurrence.
    pub title: &'static str,
    /// A way to fix it, unless the occurrence has a hint of its own.
    pub hint: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $status:literal, $again:expr, $title:literal, $hint:literal;)*) => {
        /// The stable code of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each is a row of the table below")]
        pub enum Code { $($name),* }

        impl Code {
            /// All codes, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its row of the table.
            #[must_use]
            pub fn row(self) -> CodeRow {
                match self {
                    $(Self::$name => CodeRow {
                        code: $code,
                        status: $status,
                        again: $again,
                        title: $title,
                        hint: $hint,
                    }),*
                }
            }
        }
    };
}

codes! {
    InvalidJson = "invalid_json", 400, RetryAdvice::No,
        "The body is not JSON",
        "`detail` has the parser's message, and the line and column.";
    InvalidPath = "invalid_path", 400, RetryAdvice::No,
        "Invalid id in the path",
        "Ids are 1 to 256 bytes of UTF-8 without control characters, percent-encoded in a path.";
    InvalidQuery = "invalid_query", 400, RetryAdvice::No,
        "Invalid query",
        "See the call's parameters in `/v1/openapi.json`.";
    BadCursor = "bad_cursor", 400, RetryAdvice::No,
        "The cursor is of another list",
        "Pass `next` of a page of the same list with the same filter, or none to begin anew.";
    NoDry = "no_dry", 400, RetryAdvice::No,
        "The call can't be tried without doing it",
        "Nothing was done. Calls whose parameters in `/v1/openapi.json` have `dry` and `expect` take them; of `publish` one \
         event at a time.";
    InvalidHeader = "invalid_header", 400, RetryAdvice::No,
        "Invalid header",
        "An `Idempotency-Key` is 1 to 255 visible ASCII characters.";
    InvalidRequest = "invalid_request", 400, RetryAdvice::No,
        "The request body is incomplete",
        "Send as many bytes as `Content-Length` says.";
    Unauthorized = "unauthorized", 401, RetryAdvice::No,
        "No valid API key",
        "Send `Authorization: Bearer KEY`. Create a key with `tidings key new --data DIR`.";
    TokenMissing = "token_missing", 401, RetryAdvice::No,
        "No token",
        "Send `Authorization: Bearer TOKEN` with a token that your application's server signs for the recipient.";
    TokenMalformed = "token_malformed", 401, RetryAdvice::No,
        "The token is malformed",
        "A token is a JWT in compact form: `alg` and `kid` in its header; `sub`, `iat` and `exp` in its payload. An API \
         key is no token.";
    TokenKey = "token_key", 401, RetryAdvice::No,
        "Unknown signing key",
        "`tidings signing-key list` lists the keys in force. `kid` is the id of one, `alg` is its algorithm.";
    TokenSignature = "token_signature", 401, RetryAdvice::No,
        "The token's signature is wrong",
        "Sign with the whole secret of the key that `kid` names, `tsk_` included.";
    TokenTenant = "token_tenant", 401, RetryAdvice::No,
        "The token's tenant is wrong",
        "Set the claim `tenant` to the id of an existing tenant: that of the signing key, if it was made with `--tenant`.";
    TokenTooLong = "token_too_long", 401, RetryAdvice::No,
        "The token lives too long",
        "`exp` is at most `[users] tokens` after `iat`, both in seconds since 1970.";
    TokenNotYet = "token_not_yet", 401, RetryAdvice::No,
        "The token is not valid yet",
        "`iat` or `nbf` is in the future. Set the clock of the machine that signs.";
    TokenExpired = "token_expired", 401, RetryAdvice::No,
        "The token has expired",
        "Get a new one from your application's server.";
    TokenRevoked = "token_revoked", 401, RetryAdvice::No,
        "The token was revoked",
        "All tokens that the recipient had were revoked. Get a new one from your application's server.";
    UsersOff = "users_off", 403, RetryAdvice::No,
        "End users may not call",
        "Add `[users]` to the configuration, and reload it.";
    Scope = "scope", 403, RetryAdvice::No,
        "The token lacks the scope",
        "Sign a token with the scope that `detail` names, by a signing key that allows it.";
    Role = "role", 403, RetryAdvice::No,
        "The API key lacks the role",
        "Make a key with a role that `detail` names: `tidings key new --role ROLE`.";
    TopicNotOpen = "topic_not_open", 403, RetryAdvice::No,
        "The topic is not open to end users",
        "End users follow and unfollow topics that begin as `[users] topics` says; for others your application calls.";
    NotFound = "not_found", 404, RetryAdvice::No,
        "Not found",
        "`/v1/openapi.json` lists all calls.";
    RecipientNotFound = "recipient_not_found", 404, RetryAdvice::No,
        "Unknown recipient",
        "Create it first: `PUT /v1/recipients/{id}`.";
    TenantNotFound = "tenant_not_found", 404, RetryAdvice::No,
        "Unknown tenant",
        "Create it first: `PUT /v1/tenants/{id}`.";
    EventNotFound = "event_not_found", 404, RetryAdvice::No,
        "Unknown event",
        "An event is known as long as the day of its arrival is kept (`[store] keep`).";
    TypeNotFound = "type_not_found", 404, RetryAdvice::No,
        "Unknown type",
        "`GET /v1/types` lists the configured types.";
    ChannelNotFound = "channel_not_found", 404, RetryAdvice::No,
        "Unknown channel",
        "`GET /v1/types` lists the channels.";
    KeyNotFound = "key_not_found", 404, RetryAdvice::No,
        "Unknown API key",
        "`GET /v1/admin/keys` lists the ids of the keys.";
    SessionNotFound = "session_not_found", 404, RetryAdvice::No,
        "Unknown session",
        "`tidings sessions` lists the sessions that have not ended.";
    SigningKeyNotFound = "signing_key_not_found", 404, RetryAdvice::No,
        "Unknown signing key",
        "`GET /v1/admin/signing-keys` lists the ids of the keys.";
    MessageNotFound = "message_not_found", 404, RetryAdvice::No,
        "Unknown message",
        "A message is known as long as the day on which it was built is kept (`[store] keep`). `GET /v1/messages` lists \
         messages.";
    SuppressionNotFound = "suppression_not_found", 404, RetryAdvice::No,
        "The address is not suppressed",
        "`GET /v1/suppressions` lists the suppressed addresses.";
    FeedNotFound = "feed_not_found", 404, RetryAdvice::No,
        "Unknown feed",
        "`GET /v1/feeds` lists the feeds of the configuration, `[feeds.NAME]`.";
    HookNotFound = "hook_not_found", 404, RetryAdvice::No,
        "Unknown hook",
        "`GET /v1/hooks` lists the configured hooks.";
    MethodNotAllowed = "method_not_allowed", 405, RetryAdvice::No,
        "Method not allowed",
        "The header `Allow` lists the methods of the path.";
    RequestTimeout = "request_timeout", 408, RetryAdvice::After(1),
        "The body took too long to arrive",
        "Send smaller bodies, or a stream of lines as `application/x-ndjson`.";
    JobNotFound = "job_not_found", 404, RetryAdvice::No,
        "Unknown job",
        "`GET /v1/admin/jobs` lists jobs, as long as the day on which they were made is kept.";
    TooMany = "too_many", 422, RetryAdvice::No,
        "The filter has too many messages",
        "Narrow the filter, such as by `from` and `to`, and make several jobs.";
    MessageState = "message_state", 409, RetryAdvice::No,
        "The message is not in a state for this",
        "`GET /v1/messages/{id}` shows its state.";
    Grew = "grew", 409, RetryAdvice::No,
        "The change would touch more people than expected",
        "Nothing was done. `concerns` says what it would touch now: look at it, and send the request with a greater `expect`.";
    ConfigUnknown = "config_unknown", 409, RetryAdvice::No,
        "The server does not know the text of its configuration",
        "Edits are tried on a server that reads its configuration from a file: `tidings serve --config FILE`.";
    TenantGone = "tenant_gone", 409, RetryAdvice::No,
        "The tenant is disabled or was deleted",
        "Enable it first: `PATCH /v1/tenants/{id}` with `{\"disabled\": false}`; or make it anew: `PUT /v1/tenants/{id}`.";
    BodyTooLarge = "body_too_large", 413, RetryAdvice::No,
        "The body is too large",
        "Send less at once, or a stream of lines as `application/x-ndjson`.";
    UnsupportedMediaType = "unsupported_media_type", 415, RetryAdvice::No,
        "Unsupported content type",
        "Send `Content-Type: application/json`, or `application/x-ndjson` if the call accepts a stream of lines.";
    InvalidBody = "invalid_body", 422, RetryAdvice::No,
        "Invalid request body",
        "`detail` names the field, what was expected and what was got.";
    UnknownType = "unknown_type", 422, RetryAdvice::No,
        "The type is not configured",
        "Declare it under `[types]` in the configuration and reload it.";
    UnknownTenant = "unknown_tenant", 422, RetryAdvice::No,
        "Unknown tenant",
        "Create it first: `PUT /v1/tenants/{id}`.";
    TenantsOff = "tenants_off", 422, RetryAdvice::No,
        "Tenants are off",
        "Set `on = true` under `[tenants]` in the configuration, and reload it.";
    InvalidData = "invalid_data", 422, RetryAdvice::No,
        "The event's `data` does not fit its type",
        "`pointer` and `detail` name the field. The configuration has the `schema` of the type.";
    UnknownChannel = "unknown_channel", 422, RetryAdvice::No,
        "Unknown channel",
        "`GET /v1/types` lists the channels of each type.";
    UnknownPreference = "unknown_preference", 422, RetryAdvice::No,
        "Unknown preference",
        "Choose `never`, `immediate`, `default` or a digest of the configuration.";
    LimitExceeded = "limit_exceeded", 422, RetryAdvice::No,
        "The request exceeds a limit",
        "`detail` and `hint` name the limit, its value (most stand under `[limits]`), and the value that was got.";
    TooLarge = "too_large", 422, RetryAdvice::No,
        "What is stored would grow too long",
        "Nothing was changed. `detail` says what would be longer than a row of the store; remove something of it first.";
    ConfigFaults = "config_faults", 422, RetryAdvice::No,
        "The configuration has faults",
        "`POST /v1/admin/check` with the same edits lists all of them.";
    KeyNotEditable = "key_not_editable", 422, RetryAdvice::No,
        "The key of the configuration can't be edited by a call",
        "Edit keys under `types`, `categories`, `digests` and `caps`; change others in the file, and reload it.";
    IdempotencyKeyReused = "idempotency_key_reused", 422, RetryAdvice::No,
        "The `Idempotency-Key` was used with a different request",
        "Use a new key for each request, and the same key only to send the same request again.";
    TooBusy = "too_busy", 429, RetryAdvice::After(1),
        "Too many requests in progress",
        "Nothing was done. Wait as long as `Retry-After` says, then retry.";
    Busy = "busy", 429, RetryAdvice::After(1),
        "The caller has its share of the server",
        "Nothing was done. `detail` names what the caller has its share of. End some of its calls or wait as long as \
         `Retry-After` says, then retry.";
    Internal = "internal", 500, RetryAdvice::Maybe,
        "Internal error",
        "The change may or may not have been made. Retry with the same event id or `Idempotency-Key`, and report the \
         fault with the line \"internal error\" of the server's log.";
    Starting = "starting", 503, RetryAdvice::After(1),
        "The server is starting",
        "Nothing was done. Retry in a moment.";
    Unavailable = "unavailable", 503, RetryAdvice::After(1),
        "The store is unavailable",
        "Nothing was done. The server opens the store again by itself; its log says why the store failed.";
    StoreFull = "store_full", 503, RetryAdvice::After(30),
        "The disk is full",
        "Nothing was done. Free disk space, or delete old days with `tidings forget`; the server \
         continues by itself.";
    OutcomeUnknown = "outcome_unknown", 503, RetryAdvice::After(1),
        "The store failed during the write",
        "The change may or may not have been made. Retry with the same event id or \
         `Idempotency-Key`: it is made once.";
    TimedOut = "timed_out", 503, RetryAdvice::After(5),
        "The answer took too long",
        "The change may or may not have been made. Retry with the same event id or \
         `Idempotency-Key`: it is made once.";
    StreamsFull = "streams_full", 503, RetryAdvice::After(10),
        "Too many live streams are open",
        "Nothing was done. Wait as long as `Retry-After` says, then retry. `[users] streams` says how many a server has.";
    NoHolder = "no_holder", 503, RetryAdvice::After(1),
        "No node holds the store",
        "Nothing was done. Another node takes over within seconds: retry, at any node.";
    HolderLost = "holder_lost", 503, RetryAdvice::After(1),
        "The node that holds the store did not answer",
        "The change may or may not have been made. Retry at any node, with the same event id or \
         `Idempotency-Key`: it is made once.";
    Stopping = "stopping", 503, RetryAdvice::After(5),
        "The server is stopping",
        "Nothing was done. Retry once the server runs again.";
}

impl Code {
    /// The HTTP status.
    #[must_use]
    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.row().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// The answer to a call that failed (RFC 9457, `application/problem+json`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The code.
    pub code: Code,
    /// The fault of this request.
    pub detail: Cow<'static, str>,
    /// A way to fix it; `None` = the table's hint.
    pub hint: Option<String>,
    /// The JSON pointer of a fault within an event's `data`.
    pub pointer: Option<String>,
    /// The people, entries and messages that a change would touch, if that is more than its caller expects.
    pub(super) concerns: Option<Box<Concerned>>,
    /// The node that serves the call, if that is another one.
    pub(super) elsewhere: Option<Box<MisdirectedCall>>,
}

/// The node that serves a call, and the body to forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MisdirectedCall {
    pub(super) home: Owner,
    pub(super) body: Bytes,
}

/// A problem as it is sent (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody<'p> {
    /// A path of the server that describes the code.
    #[schema(value_type = String, example = "/errors/unknown_type", format = "uri-reference")]
    r#type: String,
    /// A short description of the code.
    #[schema(example = "The type is not configured")]
    title: &'static str,
    /// The HTTP status.
    #[schema(example = 422)]
    status: u16,
    /// The fault of this request.
    #[schema(example = "unknown type `artwork_publishd`")]
    detail: &'p str,
    /// The stable code: use it in programs.
    #[schema(example = "unknown_type")]
    code: &'static str,
    /// A way to fix it.
    #[schema(example = "did you mean `artwork_published`?")]
    hint: &'p str,
    /// For `data` that does not fit its type: the JSON pointer (RFC 6901) of the fault, from the event on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "/data/amount")]
    pointer: Option<&'p str>,
    /// For a change that would touch more people than its caller expects: what it would touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    concerns: Option<Concerned>,
}

impl Problem {
    /// A problem with the table's hint. An internal error is logged, so that it can be reported.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        let detail = detail.into();
        if code == Code::Internal {
            tracing::error!(%detail, "internal error");
        }
        Self { code, detail, hint: None, pointer: None, concerns: None, elsewhere: None }
    }

    /// The problem of a change that would touch more people than its caller expects.
    pub(super) fn grew(concerns: CommandConcerns) -> Self {
        let problem = Self::new(Code::Grew, Refused::Grew(concerns).to_string());
        Self { concerns: Some(Box::new(concerns.into())), ..problem }
    }

    /// The problem of a call that another node serves; nothing of it was done.
    pub(super) fn elsewhere(home: Owner) -> Self {
        let body = Bytes::new();
        Self {
            elsewhere: Some(Box::new(MisdirectedCall { home, body })),
            ..Self::new(Code::NoHolder, "another node has the recipient")
        }
    }

    /// The same for a call with a body, which is forwarded with it.
    #[must_use]
    pub(super) fn with_body(mut self, body: &Bytes) -> Self {
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.body = body.clone();
        }
        self
    }

    /// Sets a hint; an empty one leaves the table's.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self { hint: (!hint.is_empty()).then_some(hint), ..self }
    }

    /// The body of the answer as text.
    #[cfg(feature = "postgres")]
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(&self.body()).unwrap_or_default()
    }

    /// The body of the answer.
    #[must_use]
    pub fn body(&self) -> ProblemBody<'_> {
        let row = self.code.row();
        ProblemBody {
            r#type: type_of(self.code),
            title: row.title,
            status: row.status,
            detail: &self.detail,
            code: row.code,
            hint: self.hint.as_deref().unwrap_or(row.hint),
            pointer: self.pointer.as_deref(),
            concerns: self.concerns.as_deref().copied(),
        }
    }
}

/// The URI reference of a code; the server answers it with the code's section of the page.
fn type_of(code: Code) -> String {
    format!("/errors/{}", code.row().code)
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        let problem_json = HeaderValue::from_static("application/problem+json");
        let mut response =
            (self.code.status(), [(header::CONTENT_TYPE, problem_json)], body).into_response();
        if let RetryAdvice::After(seconds) = self.code.row().again {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            let headers = response.headers_mut();
            let bearer = HeaderValue::from_static("Bearer realm=\"tidings\"");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        response.extensions_mut().insert(self.code);
        if let Some(elsewhere) = self.elsewhere {
            response.extensions_mut().insert(*elsewhere);
        }
        response
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        let pointer = fault.pointer;
        let problem = match (fault.column, fault.about) {
            (Some(column), _) => {
                let line = fault.line.map(|line| format!("line {line}, "));
                let place = format!("{}column {column}", line.unwrap_or_default());
                let is = if fault.reason.starts_with("not ") { "the body is " } else { "" };
                Self::new(Code::InvalidJson, format!("{place}: {is}{}", fault.reason))
            }
            (None, About::Body) => Self::new(Code::InvalidBody, fault.reason),
            (None, About::UnknownType) => Self::new(Code::UnknownType, fault.reason),
            (None, About::UnknownChannel) => Self::new(Code::UnknownChannel, fault.reason),
            (None, About::Preference) => Self::new(Code::UnknownPreference, fault.reason),
            (None, About::Data) => Self::new(Code::InvalidData, fault.reason),
        };
        Self { pointer, ..problem.hint(fault.hint) }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let hint = hint(&refused).unwrap_or_default();
        let code = match refused {
            Refused::Exceeded(_) | Refused::BatchKey(_) => Code::LimitExceeded,
            Refused::TooLarge(_) => Code::TooLarge,
            Refused::UnknownRecipient(_) => Code::RecipientNotFound,
            Refused::UnknownType { .. } => Code::UnknownType,
            Refused::UnknownHook(_) => Code::HookNotFound,
            Refused::UnknownJob(_) => Code::JobNotFound,
            Refused::UnknownChannel(_) => Code::UnknownChannel,
            Refused::Preference(_) => Code::UnknownPreference,
            Refused::UnknownMessage(_) => Code::MessageNotFound,
            Refused::MessageState { .. } | Refused::MessageGone(_) => Code::MessageState,
            Refused::UnknownTenant { .. } => Code::UnknownTenant,
            Refused::TenantGone(_) => Code::TenantGone,
            Refused::TenantsOff => Code::TenantsOff,
            Refused::Grew(concerns) => return Self::grew(concerns),
        };
        Self::new(code, refused.to_string()).hint(hint)
    }
}

impl From<tidings_node::Error> for Problem {
    fn from(error: tidings_node::Error) -> Self {
        tracing::error!(error = %error, "the store can't be read");
        Self::new(Code::Unavailable, Code::Unavailable.row().title)
    }
}

impl From<StepError> for Problem {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Refused(refused) => refused.into(),
            StepError::Unreadable(fault) => fault.into(),
        }
    }
}

impl From<Unreadable> for Problem {
    fn from(fault: Unreadable) -> Self {
        tidings_node::Error::from(fault).into()
    }
}

impl From<RuntimeError> for Problem {
    fn from(error: RuntimeError) -> Self {
        let code = match error {
            RuntimeError::Busy => Code::TooBusy,
            RuntimeError::OverShare => Code::Busy,
            RuntimeError::Unknown(_) => Code::OutcomeUnknown,
            RuntimeError::Unavailable(_) => Code::Unavailable,
            RuntimeError::Full(_) => Code::StoreFull,
            RuntimeError::Stopped => Code::Stopping,
        };
        // What the store says of itself (paths, offsets) is for the log, not for clients.
        match error {
            RuntimeError::Busy | RuntimeError::OverShare => Self::new(code, error.to_string()),
            _ => Self::new(code, code.row().title),
        }
    }
}

/// The page of all errors, `docs/errors.md`.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Errors of the API\n\n\
         A call that fails is answered with `application/problem+json` (RFC 9457): `type`, `title`, `status`, \
         `detail`, `code` and `hint`. `code` is stable: use it in programs, and show `detail` and `hint` to \
         the person who has to fix the fault. `type` is a path of the server that returns this page's section \
         on the code.\n\n\
         This page is generated from the table in `crates/tidings-http/src/error.rs`.\n",
    );
    for code in Code::ALL {
        page.push('\n');
        page.push_str(&section(*code));
    }
    page
}

/// The section of the page on one code.
#[must_use]
pub fn section(code: Code) -> String {
    let row = code.row();
    let mut text = format!("## `{}`\n\n{}. Status {}. ", row.code, row.title, row.status);
    match row.again {
        RetryAdvice::No => text.push_str("Do not retry; fix the request first."),
        RetryAdvice::Maybe => {
            text.push_str("A fault in tidings, not in the request. You may retry.");
        }
        RetryAdvice::After(seconds) => {
            // Writing into a String can't fail.
            let _ = write!(text, "Retry after {seconds} s (`Retry-After`).");
        }
    }
    let _ = writeln!(text, "\n\n{}", row.hint);
    text
}

/// The detail where no node has a home.
pub(crate) const NOBODY: &str = "no node is known to hold the store";

/// The problem of a call that no node can serve now.
pub(crate) fn no_holder(detail: &'static str) -> Problem {
    Problem::new(Code::NoHolder, detail)
}
