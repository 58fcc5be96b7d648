// Written by generate.mjs from the API document of the server: change that, and run `npm run generate`.

import { ProblemError } from "../errors.js";

/** The body is not JSON. `invalid_json`, status 400. */
export class InvalidJsonError extends ProblemError {}

/** Invalid id in the path. `invalid_path`, status 400. */
export class InvalidPathError extends ProblemError {}

/** Invalid query. `invalid_query`, status 400. */
export class InvalidQueryError extends ProblemError {}

/** The cursor is of another list. `bad_cursor`, status 400. */
export class BadCursorError extends ProblemError {}

/** The call can't be tried without doing it. `no_dry`, status 400. */
export class NoDryError extends ProblemError {}

/** Invalid header. `invalid_header`, status 400. */
export class InvalidHeaderError extends ProblemError {}

/** The request body is incomplete. `invalid_request`, status 400. */
export class InvalidRequestError extends ProblemError {}

/** No valid API key. `unauthorized`, status 401. */
export class UnauthorizedError extends ProblemError {}

/** No token. `token_missing`, status 401. */
export class TokenMissingError extends ProblemError {}

/** The token is malformed. `token_malformed`, status 401. */
export class TokenMalformedError extends ProblemError {}

/** Unknown signing key. `token_key`, status 401. */
export class TokenKeyError extends ProblemError {}

/** The token's signature is wrong. `token_signature`, status 401. */
export class TokenSignatureError extends ProblemError {}

/** The token's tenant is wrong. `token_tenant`, status 401. */
export class TokenTenantError extends ProblemError {}

/** The token lives too long. `token_too_long`, status 401. */
export class TokenTooLongError extends ProblemError {}

/** The token is not valid yet. `token_not_yet`, status 401. */
export class TokenNotYetError extends ProblemError {}

/** The token has expired. `token_expired`, status 401. */
export class TokenExpiredError extends ProblemError {}

/** The token was revoked. `token_revoked`, status 401. */
export class TokenRevokedError extends ProblemError {}

/** End users may not call. `users_off`, status 403. */
export class UsersOffError extends ProblemError {}

/** The token lacks the scope. `scope`, status 403. */
export class ScopeError extends ProblemError {}

/** The API key lacks the role. `role`, status 403. */
export class RoleError extends ProblemError {}

/** The topic is not open to end users. `topic_not_open`, status 403. */
export class TopicNotOpenError extends ProblemError {}

/** Not found. `not_found`, status 404. */
export class NotFoundError extends ProblemError {}

/** Unknown recipient. `recipient_not_found`, status 404. */
export class RecipientNotFoundError extends ProblemError {}

/** Unknown tenant. `tenant_not_found`, status 404. */
export class TenantNotFoundError extends ProblemError {}

/** Unknown event. `event_not_found`, status 404. */
export class EventNotFoundError extends ProblemError {}

/** Unknown type. `type_not_found`, status 404. */
export class TypeNotFoundError extends ProblemError {}

/** Unknown channel. `channel_not_found`, status 404. */
export class ChannelNotFoundError extends ProblemError {}

/** Unknown API key. `key_not_found`, status 404. */
export class KeyNotFoundError extends ProblemError {}

/** Unknown session. `session_not_found`, status 404. */
export class SessionNotFoundError extends ProblemError {}

/** Unknown signing key. `signing_key_not_found`, status 404. */
export class SigningKeyNotFoundError extends ProblemError {}

/** Unknown message. `message_not_found`, status 404. */
export class MessageNotFoundError extends ProblemError {}

/** The address is not suppressed. `suppression_not_found`, status 404. */
export class SuppressionNotFoundError extends ProblemError {}

/** Unknown feed. `feed_not_found`, status 404. */
export class FeedNotFoundError extends ProblemError {}

/** Unknown hook. `hook_not_found`, status 404. */
export class HookNotFoundError extends ProblemError {}

/** Method not allowed. `method_not_allowed`, status 405. */
export class MethodNotAllowedError extends ProblemError {}

/** The body took too long to arrive. `request_timeout`, status 408. */
export class RequestTimeoutError extends ProblemError {}

/** Unknown job. `job_not_found`, status 404. */
export class JobNotFoundError extends ProblemError {}

/** The filter has too many messages. `too_many`, status 422. */
export class TooManyError extends ProblemError {}

/** The message is not in a state for this. `message_state`, status 409. */
export class MessageStateError extends ProblemError {}

/** The change would touch more people than expected. `grew`, status 409. */
export class GrewError extends ProblemError {}

/** The server does not know the text of its configuration. `config_unknown`, status 409. */
export class ConfigUnknownError extends ProblemError {}

/** The tenant is disabled or was deleted. `tenant_gone`, status 409. */
export class TenantGoneError extends ProblemError {}

/** The body is too large. `body_too_large`, status 413. */
export class BodyTooLargeError extends ProblemError {}

/** Unsupported content type. `unsupported_media_type`, status 415. */
export class UnsupportedMediaTypeError extends ProblemError {}

/** Invalid request body. `invalid_body`, status 422. */
export class InvalidBodyError extends ProblemError {}

/** The type is not configured. `unknown_type`, status 422. */
export class UnknownTypeError extends ProblemError {}

/** Unknown tenant. `unknown_tenant`, status 422. */
export class UnknownTenantError extends ProblemError {}

/** Tenants are off. `tenants_off`, status 422. */
export class TenantsOffError extends ProblemError {}

/** The event's `data` does not fit its type. `invalid_data`, status 422. */
export class InvalidDataError extends ProblemError {}

/** Unknown channel. `unknown_channel`, status 422. */
export class UnknownChannelError extends ProblemError {}

/** Unknown preference. `unknown_preference`, status 422. */
export class UnknownPreferenceError extends ProblemError {}

/** The request exceeds a limit. `limit_exceeded`, status 422. */
export class LimitExceededError extends ProblemError {}

/** What is stored would grow too long. `too_large`, status 422. */
export class TooLargeError extends ProblemError {}

/** The configuration has faults. `config_faults`, status 422. */
export class ConfigFaultsError extends ProblemError {}

/** The key of the configuration can't be edited by a call. `key_not_editable`, status 422. */
export class KeyNotEditableError extends ProblemError {}

/** The `Idempotency-Key` was used with a different request. `idempotency_key_reused`, status 422. */
export class IdempotencyKeyReusedError extends ProblemError {}

/** Too many requests in progress. `too_busy`, status 429. */
export class TooBusyError extends ProblemError {}

/** The caller has its share of the server. `busy`, status 429. */
export class BusyError extends ProblemError {}

/** Internal error. `internal`, status 500. */
export class InternalError extends ProblemError {}

/** The server is starting. `starting`, status 503. */
export class StartingError extends ProblemError {}

/** The store is unavailable. `unavailable`, status 503. */
export class UnavailableError extends ProblemError {}

/** The disk is full. `store_full`, status 503. */
export class StoreFullError extends ProblemError {}

/** The store failed during the write. `outcome_unknown`, status 503. */
export class OutcomeUnknownError extends ProblemError {}

/** The answer took too long. `timed_out`, status 503. */
export class TimedOutError extends ProblemError {}

/** Too many live streams are open. `streams_full`, status 503. */
export class StreamsFullError extends ProblemError {}

/** No node holds the store. `no_holder`, status 503. */
export class NoHolderError extends ProblemError {}

/** The node that holds the store did not answer. `holder_lost`, status 503. */
export class HolderLostError extends ProblemError {}

/** The server is stopping. `stopping`, status 503. */
export class StoppingError extends ProblemError {}

/** The class of each code. */
export const PROBLEMS: Readonly<Record<string, typeof ProblemError>> = {
  invalid_json: InvalidJsonError,
  invalid_path: InvalidPathError,
  invalid_query: InvalidQueryError,
  bad_cursor: BadCursorError,
  no_dry: NoDryError,
  invalid_header: InvalidHeaderError,
  invalid_request: InvalidRequestError,
  unauthorized: UnauthorizedError,
  token_missing: TokenMissingError,
  token_malformed: TokenMalformedError,
  token_key: TokenKeyError,
  token_signature: TokenSignatureError,
  token_tenant: TokenTenantError,
  token_too_long: TokenTooLongError,
  token_not_yet: TokenNotYetError,
  token_expired: TokenExpiredError,
  token_revoked: TokenRevokedError,
  users_off: UsersOffError,
  scope: ScopeError,
  role: RoleError,
  topic_not_open: TopicNotOpenError,
  not_found: NotFoundError,
  recipient_not_found: RecipientNotFoundError,
  tenant_not_found: TenantNotFoundError,
  event_not_found: EventNotFoundError,
  type_not_found: TypeNotFoundError,
  channel_not_found: ChannelNotFoundError,
  key_not_found: KeyNotFoundError,
  session_not_found: SessionNotFoundError,
  signing_key_not_found: SigningKeyNotFoundError,
  message_not_found: MessageNotFoundError,
  suppression_not_found: SuppressionNotFoundError,
  feed_not_found: FeedNotFoundError,
  hook_not_found: HookNotFoundError,
  method_not_allowed: MethodNotAllowedError,
  request_timeout: RequestTimeoutError,
  job_not_found: JobNotFoundError,
  too_many: TooManyError,
  message_state: MessageStateError,
  grew: GrewError,
  config_unknown: ConfigUnknownError,
  tenant_gone: TenantGoneError,
  body_too_large: BodyTooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  invalid_body: InvalidBodyError,
  unknown_type: UnknownTypeError,
  unknown_tenant: UnknownTenantError,
  tenants_off: TenantsOffError,
  invalid_data: InvalidDataError,
  unknown_channel: UnknownChannelError,
  unknown_preference: UnknownPreferenceError,
  limit_exceeded: LimitExceededError,
  too_large: TooLargeError,
  config_faults: ConfigFaultsError,
  key_not_editable: KeyNotEditableError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  too_busy: TooBusyError,
  busy: BusyError,
  internal: InternalError,
  starting: StartingError,
  unavailable: UnavailableError,
  store_full: StoreFullError,
  outcome_unknown: OutcomeUnknownError,
  timed_out: TimedOutError,
  streams_full: StreamsFullError,
  no_holder: NoHolderError,
  holder_lost: HolderLostError,
  stopping: StoppingError,
};

/** The version of the API document that this client was made from. */
export const VERSION = "0.1.0";
