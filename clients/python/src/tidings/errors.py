"""The errors of the API: a class for each code.

Made by `python -m codegen` from `docs/errors.md`.
"""

from __future__ import annotations

from ._errors import AnswerError, APIConnectionError, APIError, APITimeoutError, TidingsError

__all__ = [
    "AnswerError",
    "APIConnectionError",
    "APIError",
    "APITimeoutError",
    "BadCursorError",
    "BodyTooLargeError",
    "BusyError",
    "ChannelNotFoundError",
    "ConfigFaultsError",
    "ConfigUnknownError",
    "EventNotFoundError",
    "FeedNotFoundError",
    "GrewError",
    "HolderLostError",
    "HookNotFoundError",
    "IdempotencyKeyReusedError",
    "InternalError",
    "InvalidBodyError",
    "InvalidDataError",
    "InvalidHeaderError",
    "InvalidJsonError",
    "InvalidPathError",
    "InvalidQueryError",
    "InvalidRequestError",
    "JobNotFoundError",
    "KeyNotEditableError",
    "KeyNotFoundError",
    "LimitExceededError",
    "MessageNotFoundError",
    "MessageStateError",
    "MethodNotAllowedError",
    "NoDryError",
    "NoHolderError",
    "NotFoundError",
    "OutcomeUnknownError",
    "RecipientNotFoundError",
    "RequestTimeoutError",
    "RoleError",
    "ScopeError",
    "SessionNotFoundError",
    "SigningKeyNotFoundError",
    "StartingError",
    "StoppingError",
    "StoreFullError",
    "StreamsFullError",
    "SuppressionNotFoundError",
    "TenantGoneError",
    "TenantNotFoundError",
    "TenantsOffError",
    "TidingsError",
    "TimedOutError",
    "TokenExpiredError",
    "TokenKeyError",
    "TokenMalformedError",
    "TokenMissingError",
    "TokenNotYetError",
    "TokenRevokedError",
    "TokenSignatureError",
    "TokenTenantError",
    "TokenTooLongError",
    "TooBusyError",
    "TooLargeError",
    "TooManyError",
    "TopicNotOpenError",
    "TypeNotFoundError",
    "UnauthorizedError",
    "UnavailableError",
    "UnknownChannelError",
    "UnknownPreferenceError",
    "UnknownTenantError",
    "UnknownTypeError",
    "UnsupportedMediaTypeError",
    "UsersOffError",
]


class InvalidJsonError(APIError):
    """The body is not JSON. Status 400.

    `detail` has the parser's message, and the line and column.
    """

    known_code = "invalid_json"


class InvalidPathError(APIError):
    """Invalid id in the path. Status 400.

    Ids are 1 to 256 bytes of UTF-8 without control characters, percent-encoded in a path.
    """

    known_code = "invalid_path"


class InvalidQueryError(APIError):
    """Invalid query. Status 400.

    See the call's parameters in `/v1/openapi.json`.
    """

    known_code = "invalid_query"


class BadCursorError(APIError):
    """The cursor is of another list. Status 400.

    Pass `next` of a page of the same list with the same filter, or none to begin anew.
    """

    known_code = "bad_cursor"


class NoDryError(APIError):
    """The call can't be tried without doing it. Status 400.

    Nothing was done. Calls whose parameters in `/v1/openapi.json` have `dry` and `expect` take
    them; of `publish` one event at a time.
    """

    known_code = "no_dry"


class InvalidHeaderError(APIError):
    """Invalid header. Status 400.

    An `Idempotency-Key` is 1 to 255 visible ASCII characters.
    """

    known_code = "invalid_header"


class InvalidRequestError(APIError):
    """The request body is incomplete. Status 400.

    Send as many bytes as `Content-Length` says.
    """

    known_code = "invalid_request"


class UnauthorizedError(APIError):
    """No valid API key. Status 401.

    Send `Authorization: Bearer KEY`. Create a key with `tidings key new --data DIR`.
    """

    known_code = "unauthorized"


class TokenMissingError(APIError):
    """No token. Status 401.

    Send `Authorization: Bearer TOKEN` with a token that your application's server signs for the
    recipient.
    """

    known_code = "token_missing"


class TokenMalformedError(APIError):
    """The token is malformed. Status 401.

    A token is a JWT in compact form: `alg` and `kid` in its header; `sub`, `iat` and `exp` in its
    payload. An API key is no token.
    """

    known_code = "token_malformed"


class TokenKeyError(APIError):
    """Unknown signing key. Status 401.

    `tidings signing-key list` lists the keys in force. `kid` is the id of one, `alg` is its
    algorithm.
    """

    known_code = "token_key"


class TokenSignatureError(APIError):
    """The token's signature is wrong. Status 401.

    Sign with the whole secret of the key that `kid` names, `tsk_` included.
    """

    known_code = "token_signature"


class TokenTenantError(APIError):
    """The token's tenant is wrong. Status 401.

    Set the claim `tenant` to the id of an existing tenant: that of the signing key, if it was made
    with `--tenant`.
    """

    known_code = "token_tenant"


class TokenTooLongError(APIError):
    """The token lives too long. Status 401.

    `exp` is at most `[users] tokens` after `iat`, both in seconds since 1970.
    """

    known_code = "token_too_long"


class TokenNotYetError(APIError):
    """The token is not valid yet. Status 401.

    `iat` or `nbf` is in the future. Set the clock of the machine that signs.
    """

    known_code = "token_not_yet"


class TokenExpiredError(APIError):
    """The token has expired. Status 401.

    Get a new one from your application's server.
    """

    known_code = "token_expired"


class TokenRevokedError(APIError):
    """The token was revoked. Status 401.

    All tokens that the recipient had were revoked. Get a new one from your application's server.
    """

    known_code = "token_revoked"


class UsersOffError(APIError):
    """End users may not call. Status 403.

    Add `[users]` to the configuration, and reload it.
    """

    known_code = "users_off"


class ScopeError(APIError):
    """The token lacks the scope. Status 403.

    Sign a token with the scope that `detail` names, by a signing key that allows it.
    """

    known_code = "scope"


class RoleError(APIError):
    """The API key lacks the role. Status 403.

    Make a key with a role that `detail` names: `tidings key new --role ROLE`.
    """

    known_code = "role"


class TopicNotOpenError(APIError):
    """The topic is not open to end users. Status 403.

    End users follow and unfollow topics that begin as `[users] topics` says; for others your
    application calls.
    """

    known_code = "topic_not_open"


class NotFoundError(APIError):
    """Not found. Status 404.

    `/v1/openapi.json` lists all calls.
    """

    known_code = "not_found"


class MethodNotAllowedError(APIError):
    """Method not allowed. Status 405.

    The header `Allow` lists the methods of the path.
    """

    known_code = "method_not_allowed"


class RequestTimeoutError(APIError):
    """The body took too long to arrive. Status 408.

    Send smaller bodies, or a stream of lines as `application/x-ndjson`.
    """

    known_code = "request_timeout"


class TooManyError(APIError):
    """The filter has too many messages. Status 422.

    Narrow the filter, such as by `from` and `to`, and make several jobs.
    """

    known_code = "too_many"


class MessageStateError(APIError):
    """The message is not in a state for this. Status 409.

    `GET /v1/messages/{id}` shows its state.
    """

    known_code = "message_state"


class GrewError(APIError):
    """The change would touch more people than expected. Status 409.

    Nothing was done. `concerns` says what it would touch now: look at it, and send the request with
    a greater `expect`.
    """

    known_code = "grew"


class ConfigUnknownError(APIError):
    """The server does not know the text of its configuration. Status 409.

    Edits are tried on a server that reads its configuration from a file: `tidings serve --config
    FILE`.
    """

    known_code = "config_unknown"


class TenantGoneError(APIError):
    """The tenant is disabled or was deleted. Status 409.

    Enable it first: `PATCH /v1/tenants/{id}` with `{"disabled": false}`; or make it anew: `PUT
    /v1/tenants/{id}`.
    """

    known_code = "tenant_gone"


class UnsupportedMediaTypeError(APIError):
    """Unsupported content type. Status 415.

    Send `Content-Type: application/json`, or `application/x-ndjson` if the call accepts a stream of
    lines.
    """

    known_code = "unsupported_media_type"


class InvalidBodyError(APIError):
    """Invalid request body. Status 422.

    `detail` names the field, what was expected and what was got.
    """

    known_code = "invalid_body"


class UnknownTypeError(APIError):
    """The type is not configured. Status 422.

    Declare it under `[types]` in the configuration and reload it.
    """

    known_code = "unknown_type"


class UnknownTenantError(APIError):
    """Unknown tenant. Status 422.

    Create it first: `PUT /v1/tenants/{id}`.
    """

    known_code = "unknown_tenant"


class TenantsOffError(APIError):
    """Tenants are off. Status 422.

    Set `on = true` under `[tenants]` in the configuration, and reload it.
    """

    known_code = "tenants_off"


class InvalidDataError(APIError):
    """The event's `data` does not fit its type. Status 422.

    `pointer` and `detail` name the field. The configuration has the `schema` of the type.
    """

    known_code = "invalid_data"


class UnknownChannelError(APIError):
    """Unknown channel. Status 422.

    `GET /v1/types` lists the channels of each type.
    """

    known_code = "unknown_channel"


class UnknownPreferenceError(APIError):
    """Unknown preference. Status 422.

    Choose `never`, `immediate`, `default` or a digest of the configuration.
    """

    known_code = "unknown_preference"


class LimitExceededError(APIError):
    """The request exceeds a limit. Status 422.

    `detail` and `hint` name the limit, its value (most stand under `[limits]`), and the value that
    was got.
    """

    known_code = "limit_exceeded"


class TooLargeError(APIError):
    """What is stored would grow too long. Status 422.

    Nothing was changed. `detail` says what would be longer than a row of the store; remove
    something of it first.
    """

    known_code = "too_large"


class ConfigFaultsError(APIError):
    """The configuration has faults. Status 422.

    `POST /v1/admin/check` with the same edits lists all of them.
    """

    known_code = "config_faults"


class KeyNotEditableError(APIError):
    """The key of the configuration can't be edited by a call. Status 422.

    Edit keys under `types`, `categories`, `digests` and `caps`; change others in the file, and
    reload it.
    """

    known_code = "key_not_editable"


class IdempotencyKeyReusedError(APIError):
    """The `Idempotency-Key` was used with a different request. Status 422.

    Use a new key for each request, and the same key only to send the same request again.
    """

    known_code = "idempotency_key_reused"


class BusyError(APIError):
    """The caller has its share of the server. Status 429.

    Nothing was done. `detail` names what the caller has its share of. End some of its calls or wait
    as long as `Retry-After` says, then retry.
    """

    known_code = "busy"


class InternalError(APIError):
    """Internal error. Status 500. A fault in tidings, not in the request.

    The change may or may not have been made. Retry with the same event id or `Idempotency-Key`, and
    report the fault with the line "internal error" of the server's log.
    """

    known_code = "internal"


class StartingError(APIError):
    """The server is starting. Status 503.

    Nothing was done. Retry in a moment.
    """

    known_code = "starting"


class UnavailableError(APIError):
    """The store is unavailable. Status 503.

    Nothing was done. The server opens the store again by itself; its log says why the store failed.
    """

    known_code = "unavailable"


class StoreFullError(APIError):
    """The disk is full. Status 503.

    Nothing was done. Free disk space, or delete old days with `tidings forget`; the server
    continues by itself.
    """

    known_code = "store_full"


class OutcomeUnknownError(APIError):
    """The store failed during the write. Status 503.

    The change may or may not have been made. Retry with the same event id or `Idempotency-Key`: it
    is made once.
    """

    known_code = "outcome_unknown"


class TimedOutError(APIError):
    """The answer took too long. Status 503.

    The change may or may not have been made. Retry with the same event id or `Idempotency-Key`: it
    is made once.
    """

    known_code = "timed_out"


class StreamsFullError(APIError):
    """Too many live streams are open. Status 503.

    Nothing was done. Wait as long as `Retry-After` says, then retry. `[users] streams` says how
    many a server has.
    """

    known_code = "streams_full"


class NoHolderError(APIError):
    """No node holds the store. Status 503.

    Nothing was done. Another node takes over within seconds: retry, at any node.
    """

    known_code = "no_holder"


class HolderLostError(APIError):
    """The node that holds the store did not answer. Status 503.

    The change may or may not have been made. Retry at any node, with the same event id or
    `Idempotency-Key`: it is made once.
    """

    known_code = "holder_lost"


class StoppingError(APIError):
    """The server is stopping. Status 503.

    Nothing was done. Retry once the server runs again.
    """

    known_code = "stopping"


class RecipientNotFoundError(NotFoundError):
    """Unknown recipient. Status 404.

    Create it first: `PUT /v1/recipients/{id}`.
    """

    known_code = "recipient_not_found"


class TenantNotFoundError(NotFoundError):
    """Unknown tenant. Status 404.

    Create it first: `PUT /v1/tenants/{id}`.
    """

    known_code = "tenant_not_found"


class EventNotFoundError(NotFoundError):
    """Unknown event. Status 404.

    An event is known as long as the day of its arrival is kept (`[store] keep`).
    """

    known_code = "event_not_found"


class TypeNotFoundError(NotFoundError):
    """Unknown type. Status 404.

    `GET /v1/types` lists the configured types.
    """

    known_code = "type_not_found"


class ChannelNotFoundError(NotFoundError):
    """Unknown channel. Status 404.

    `GET /v1/types` lists the channels.
    """

    known_code = "channel_not_found"


class KeyNotFoundError(NotFoundError):
    """Unknown API key. Status 404.

    `GET /v1/admin/keys` lists the ids of the keys.
    """

    known_code = "key_not_found"


class SessionNotFoundError(NotFoundError):
    """Unknown session. Status 404.

    `tidings sessions` lists the sessions that have not ended.
    """

    known_code = "session_not_found"


class SigningKeyNotFoundError(NotFoundError):
    """Unknown signing key. Status 404.

    `GET /v1/admin/signing-keys` lists the ids of the keys.
    """

    known_code = "signing_key_not_found"


class MessageNotFoundError(NotFoundError):
    """Unknown message. Status 404.

    A message is known as long as the day on which it was built is kept (`[store] keep`). `GET
    /v1/messages` lists messages.
    """

    known_code = "message_not_found"


class SuppressionNotFoundError(NotFoundError):
    """The address is not suppressed. Status 404.

    `GET /v1/suppressions` lists the suppressed addresses.
    """

    known_code = "suppression_not_found"


class FeedNotFoundError(NotFoundError):
    """Unknown feed. Status 404.

    `GET /v1/feeds` lists the feeds of the configuration, `[feeds.NAME]`.
    """

    known_code = "feed_not_found"


class HookNotFoundError(NotFoundError):
    """Unknown hook. Status 404.

    `GET /v1/hooks` lists the configured hooks.
    """

    known_code = "hook_not_found"


class JobNotFoundError(NotFoundError):
    """Unknown job. Status 404.

    `GET /v1/admin/jobs` lists jobs, as long as the day on which they were made is kept.
    """

    known_code = "job_not_found"


class BodyTooLargeError(TooLargeError):
    """The body is too large. Status 413.

    Send less at once, or a stream of lines as `application/x-ndjson`.
    """

    known_code = "body_too_large"


class TooBusyError(BusyError):
    """Too many requests in progress. Status 429.

    Nothing was done. Wait as long as `Retry-After` says, then retry.
    """

    known_code = "too_busy"


BY_CODE: dict[str, type[APIError]] = {
    "invalid_json": InvalidJsonError,
    "invalid_path": InvalidPathError,
    "invalid_query": InvalidQueryError,
    "bad_cursor": BadCursorError,
    "no_dry": NoDryError,
    "invalid_header": InvalidHeaderError,
    "invalid_request": InvalidRequestError,
    "unauthorized": UnauthorizedError,
    "token_missing": TokenMissingError,
    "token_malformed": TokenMalformedError,
    "token_key": TokenKeyError,
    "token_signature": TokenSignatureError,
    "token_tenant": TokenTenantError,
    "token_too_long": TokenTooLongError,
    "token_not_yet": TokenNotYetError,
    "token_expired": TokenExpiredError,
    "token_revoked": TokenRevokedError,
    "users_off": UsersOffError,
    "scope": ScopeError,
    "role": RoleError,
    "topic_not_open": TopicNotOpenError,
    "not_found": NotFoundError,
    "recipient_not_found": RecipientNotFoundError,
    "tenant_not_found": TenantNotFoundError,
    "event_not_found": EventNotFoundError,
    "type_not_found": TypeNotFoundError,
    "channel_not_found": ChannelNotFoundError,
    "key_not_found": KeyNotFoundError,
    "session_not_found": SessionNotFoundError,
    "signing_key_not_found": SigningKeyNotFoundError,
    "message_not_found": MessageNotFoundError,
    "suppression_not_found": SuppressionNotFoundError,
    "feed_not_found": FeedNotFoundError,
    "hook_not_found": HookNotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "request_timeout": RequestTimeoutError,
    "job_not_found": JobNotFoundError,
    "too_many": TooManyError,
    "message_state": MessageStateError,
    "grew": GrewError,
    "config_unknown": ConfigUnknownError,
    "tenant_gone": TenantGoneError,
    "body_too_large": BodyTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "invalid_body": InvalidBodyError,
    "unknown_type": UnknownTypeError,
    "unknown_tenant": UnknownTenantError,
    "tenants_off": TenantsOffError,
    "invalid_data": InvalidDataError,
    "unknown_channel": UnknownChannelError,
    "unknown_preference": UnknownPreferenceError,
    "limit_exceeded": LimitExceededError,
    "too_large": TooLargeError,
    "config_faults": ConfigFaultsError,
    "key_not_editable": KeyNotEditableError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "too_busy": TooBusyError,
    "busy": BusyError,
    "internal": InternalError,
    "starting": StartingError,
    "unavailable": UnavailableError,
    "store_full": StoreFullError,
    "outcome_unknown": OutcomeUnknownError,
    "timed_out": TimedOutError,
    "streams_full": StreamsFullError,
    "no_holder": NoHolderError,
    "holder_lost": HolderLostError,
    "stopping": StoppingError,
}
