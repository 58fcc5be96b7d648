// Written by generate.mjs from the API document of the server: change that, and run `npm run generate`.

import type { LiveEvent } from "../live.js";
import type { AnyData, EventOf } from "../event.js";
import { Resource, path } from "../resource.js";
import type { Import } from "../import.js";
import type { Options } from "../options.js";
import type { Pages } from "../pages.js";
import type {
  AllPreferences,
  BulkChange,
  BulkForeseen,
  CancelAnswer,
  CancelKey,
  Comparison,
  ComparisonBegun,
  Counted,
  DroppedDays,
  DueAnswer,
  Edits,
  EditsChecked,
  EventLineAnswer,
  EventOutcome,
  EventRecipient,
  EventRecipientsPage,
  EventWithOutcome,
  EventsPage,
  Explain,
  Explanation,
  Feed,
  Figures,
  FlushLimits,
  Flushed,
  Follower,
  FollowersBody,
  ForgetDays,
  GonePushSubscription,
  Group,
  Hook,
  InboxCounts,
  ItemAnswer,
  Items,
  JobPage,
  JobShown,
  KeyMade,
  KeyToMake,
  KeysAnswer,
  LineAnswer,
  ListedEvent,
  ListedRecipient,
  LogPage,
  LoggedChange,
  Member,
  MemberChange,
  MembersPage,
  MessageDetails,
  MessagePage,
  MessagePreview,
  MessageShown,
  NamedObject,
  NamedRecipient,
  NamedTenant,
  NodeShown,
  ObjectChange,
  OfTenant,
  OperatedAnswer,
  Page,
  ParkedPage,
  ParkedRow,
  Pending,
  Preference,
  PreferenceChange,
  Preview,
  PublishedEvent,
  PushSubscription,
  RecipientChange,
  RecipientErased,
  RecipientExport,
  RecipientProfile,
  RecipientState,
  RecipientsPage,
  Replay,
  Search,
  SearchResult,
  Session,
  SessionPage,
  SigningKeyMade,
  SigningKeyToMake,
  SigningKeysAnswer,
  StatusAnswer,
  Subscription,
  Subscriptions,
  SuppressedAddress,
  Suppression,
  SuppressionPage,
  SuppressionReason,
  Tenant,
  TenantChange,
  TenantsPage,
  TokenSigned,
  TokenToSign,
  TokensRevoked,
  TokensToRevoke,
  TypesAnswer,
  Warned,
} from "./types.js";

/** Health, metrics, this document, and the pages of errors */
export class ServerCalls extends Resource {
  /**
   * Get the page of an error.
   *
   * Returns the section of `docs/errors.md` on one code: the title, the status, whether to retry, and how to
   * fix the fault. The `type` of a problem is the path of this call. Needs no key.
   *
   * `GET /errors/{code}`
   */
  error(code: string, options?: Options): Promise<string> {
    return this.http.text("GET", path`/errors/${code}`, options);
  }

  /**
   * Check whether the process is alive.
   *
   * Returns 200 as long as the process runs, also while it starts. Needs no key.
   *
   * `GET /healthz`
   */
  health(options?: Options): Promise<string> {
    return this.http.text("GET", "/healthz", options);
  }

  /**
   * Get a guide for language models.
   *
   * Returns a short text in Markdown (llmstxt.org): an introduction, the first calls, the pages and all calls of this
   * server. Needs no key.
   *
   * `GET /llms.txt`
   */
  getLlmsTxt(options?: Options): Promise<string> {
    return this.http.text("GET", "/llms.txt", options);
  }

  /**
   * Get the metrics.
   *
   * Returns the metrics in Prometheus's text format. Also answers while the store can't be used, with the metrics that
   * are available then.
   *
   * `GET /metrics`
   */
  metrics(options?: Options): Promise<string> {
    return this.http.text("GET", "/metrics", options);
  }

  /**
   * Check whether the server is ready.
   *
   * Returns 503 while the server starts, while the store can't be used or read, and while it stops. A feed that can't be
   * read is named in an answer of 200, since the server serves. Needs no key.
   *
   * `GET /readyz`
   */
  ready(options?: Options): Promise<string> {
    return this.http.text("GET", "/readyz", options);
  }

  /**
   * List the nodes.
   *
   * Returns the nodes that share the store, as of their last heartbeat, sorted by name; an empty list from a server with
   * a data directory of its own.
   *
   * `GET /v1/nodes`
   */
  nodes(options?: Options): Promise<NodeShown[]> {
    return this.http.send("GET", "/v1/nodes", options);
  }

  /**
   * Get this document.
   *
   * Returns the OpenAPI document of this server. The same text is `docs/openapi.json` of the release. Needs no key.
   *
   * `GET /v1/openapi.json`
   */
  openapi(options?: Options): Promise<Record<string, unknown>> {
    return this.http.send("GET", "/v1/openapi.json", options);
  }

  /**
   * Search by id or address.
   *
   * Returns what has this very id; the message whose tag stands in its mail's `X-Tidings-Message`; events with this
   * cancellation key; and recipients with this address on any channel, as suppressions compare addresses, also those who
   * had it within `keep`. Without a hit the answer has ids that are spelled alike.
   *
   * `POST /v1/search`
   */
  search(body: Search, options?: Options): Promise<SearchResult> {
    return this.http.send("POST", "/v1/search", options, body);
  }
}

/** Status and actions for operators */
export class AdminCalls extends Resource {
  /**
   * Back up everything.
   *
   * Streams the content of the store at one moment; the server continues meanwhile. `tidings restore` creates a store
   * from it and refuses an incomplete backup. The stream ends if its reader accepts no data for 30 seconds, or less than
   * 64 KiB a second over a minute. Two backups may run at once. Days that are deleted meanwhile keep their disk space
   * until the backup ends.
   *
   * `GET /v1/admin/backup`
   */
  backup(options?: Options): Promise<ReadableStream<Uint8Array>> {
    return this.http.bytes("GET", "/v1/admin/backup", options);
  }

  /**
   * Check edits of the configuration.
   *
   * Says which faults the configuration that is in force would have with these edits, and shows them as a diff of its
   * file. Comments and layout stay. Nothing is put in force, and the server never writes the file: apply the diff, and
   * reload the configuration. Files beside the configuration (templates, books of words) are read as they are now.
   *
   * `POST /v1/admin/check`
   */
  check(body: Edits, options?: Options): Promise<EditsChecked> {
    return this.http.send("POST", "/v1/admin/check", options, body);
  }

  /**
   * Compare the configuration with itself under edits.
   *
   * Begins a job that plays the last days under the configuration that is in force and under the same with these edits,
   * and counts messages, delays and what is left out: `result` of `GET /v1/admin/jobs/{id}`. Events are played with the
   * recipients, subscriptions and preferences of now. Nothing is sent, and nothing is put in force. One comparison runs at
   * a time, on one processor; it is stopped by a restart, and by `DELETE`.
   *
   * `POST /v1/admin/compare`
   */
  compare(body: Comparison, options?: Options): Promise<ComparisonBegun> {
    return this.http.send("POST", "/v1/admin/compare", options, body);
  }

  /**
   * List due lanes, messages and events.
   *
   * Returns the number of open lanes by the hour in which they are due, the messages that are being sent or wait for a
   * retry, and the scheduled events. A lane with only cancelled entries counts too; it sends nothing.
   *
   * `GET /v1/admin/due`
   */
  due(query?: {
    /** Number of scheduled events to list; 100 if absent. */
    scheduled?: number | undefined;
  }, options?: Options): Promise<DueAnswer> {
    return this.http.send("GET", "/v1/admin/due", options, undefined, query);
  }

  /**
   * Get figures.
   *
   * Returns what was published, told, seen and muted, by day or hour in UTC. Figures outlive the days themselves: they are
   * kept for `[figures] keep`. With `Accept: text/csv` the rows are a table. There are at most 100,000 rows.
   *
   * `GET /v1/admin/figures`
   */
  figures(query?: {
    /** First day in UTC; 27 days before today if absent. */
    from?: string | undefined;
    /** The day after the last; tomorrow if absent. */
    to?: string | undefined;
    /**
     * Parts by which rows are told apart, with commas: `type`, `category`, `channel`, `tenant`, and one of `hour` and
     * `day`. One row of all if absent. Hours are kept for 7 days. `tenant` can't be combined with `type`, `category` or
     * `hour`.
     */
    by?: string | undefined;
    /** Only this channel. */
    channel?: string | undefined;
    /** Only this type. */
    type?: string | undefined;
    /** Only this tenant. */
    tenant?: string | undefined;
    /** Measures, with commas; all if absent. */
    measure?: string | undefined;
  }, options?: Options): Promise<Figures> {
    return this.http.send("GET", "/v1/admin/figures", options, undefined, query);
  }

  /**
   * Delete old days.
   *
   * Permanently deletes all data of the days before a date. Notifications that were not sent end as `expired`. Today is
   * always kept.
   *
   * `POST /v1/admin/forget`
   */
  forget(body: ForgetDays, options?: Options): Promise<DroppedDays> {
    return this.http.send("POST", "/v1/admin/forget", options, body);
  }

  /**
   * List jobs.
   *
   * Returns the jobs, newest first, as long as the day on which they were made is kept. Comparisons are among them.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/admin/jobs`
   */
  listJobs(query?: {
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<JobPage, JobShown> {
    return this.http.pages("/v1/admin/jobs", "jobs", query, options);
  }

  /**
   * Get a job.
   *
   * Returns a job, and how far it has come.
   *
   * `GET /v1/admin/jobs/{id}`
   */
  getJob(id: string, options?: Options): Promise<JobShown> {
    return this.http.send("GET", path`/v1/admin/jobs/${id}`, options);
  }

  /**
   * Stop a job.
   *
   * Stops a job: what it did stays done. One that is done stays as it is.
   *
   * `DELETE /v1/admin/jobs/{id}`
   */
  stopJob(id: string, options?: Options): Promise<JobShown> {
    return this.http.send("DELETE", path`/v1/admin/jobs/${id}`, options);
  }

  /**
   * List the API keys.
   *
   * Lists the accepted keys by id and name. The keys themselves are not stored.
   *
   * `GET /v1/admin/keys`
   */
  listKeys(options?: Options): Promise<KeysAnswer> {
    return this.http.send("GET", "/v1/admin/keys", options);
  }

  /**
   * Make an API key.
   *
   * The key is accepted at once, and shown in this answer only. A request that is sent again with the same
   * `Idempotency-Key` makes no second key; its answer has everything but the key.
   *
   * `POST /v1/admin/keys`
   */
  makeKey(body: KeyToMake, options?: Options): Promise<KeyMade> {
    return this.http.send("POST", "/v1/admin/keys", options, body);
  }

  /**
   * Revoke an API key.
   *
   * Requests with the key are refused from now on.
   *
   * `DELETE /v1/admin/keys/{id}`
   */
  revokeKey(id: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/admin/keys/${id}`, options);
  }

  /**
   * List the log of changes.
   *
   * Returns who changed what, newest first. A line is written in the commit of its change. It has no name, address,
   * data or text. Events, objects, subscriptions and marks are not in the log.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/admin/log`
   */
  listLog(query?: {
    /** Only changes of this author: `KIND:ID`, such as `key:k1` or `user:ada`. */
    by?: string | undefined;
    /** Only changes of this action: the name of a call, or one of the actions that are no calls. */
    action?: string | undefined;
    /** Only changes of this subject: `KIND:ID`, such as `recipient:ada` or `channel:email`. */
    subject?: string | undefined;
    /** Only changes of this tenant. */
    tenant?: string | undefined;
    /** Only changes of this time or later. */
    from?: string | undefined;
    /** Only changes before this time. */
    to?: string | undefined;
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<LogPage, LoggedChange> {
    return this.http.pages("/v1/admin/log", "log", query, options);
  }

  /**
   * List sessions.
   *
   * Returns who is signed in to the console, newest first. Sessions that have ended are not listed.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/admin/sessions`
   */
  listSessions(query?: {
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<SessionPage, Session> {
    return this.http.pages("/v1/admin/sessions", "sessions", query, options);
  }

  /**
   * End a session.
   *
   * Whoever is signed in by it has to sign in again.
   *
   * `DELETE /v1/admin/sessions/{id}`
   */
  endSession(id: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/admin/sessions/${id}`, options);
  }

  /**
   * List the signing keys.
   *
   * Lists the keys by which tokens of end users are checked, without their secrets.
   *
   * `GET /v1/admin/signing-keys`
   */
  listSigningKeys(options?: Options): Promise<SigningKeysAnswer> {
    return this.http.send("GET", "/v1/admin/signing-keys", options);
  }

  /**
   * Make a signing key.
   *
   * Tokens that are signed by it are accepted at once. A secret is shown in this answer only, and opens nothing by
   * itself. A request that is sent again with the same `Idempotency-Key` makes no second key; its answer has everything
   * but the secret.
   *
   * `POST /v1/admin/signing-keys`
   */
  makeSigningKey(body: SigningKeyToMake, options?: Options): Promise<SigningKeyMade> {
    return this.http.send("POST", "/v1/admin/signing-keys", options, body);
  }

  /**
   * Revoke a signing key.
   *
   * Tokens that were signed by it are refused from now on.
   *
   * `DELETE /v1/admin/signing-keys/{id}`
   */
  revokeSigningKey(id: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/admin/signing-keys/${id}`, options);
  }

  /**
   * Get the status of the server.
   *
   * Returns the counts of recipients and of entries by outcome, and the paused types and channels.
   *
   * `GET /v1/admin/status`
   */
  status(options?: Options): Promise<StatusAnswer> {
    return this.http.send("GET", "/v1/admin/status", options);
  }

  /**
   * Sign a token for development.
   *
   * Signs with the key named `development`, which is made where there is none. An application signs tokens itself, with
   * a signing key of its own, and asks nobody. Nothing of this answer is stored.
   *
   * `POST /v1/admin/tokens`
   */
  signToken(body: TokenToSign, options?: Options): Promise<TokenSigned> {
    return this.http.send("POST", "/v1/admin/tokens", options, body);
  }

  /**
   * Export the last days as a timeline.
   *
   * Streams lines that `tidings simulate` plays: first all tenants, recipients, memberships, subscriptions and
   * preferences as they are now, then the events of the last days as they were accepted, today included, and last the
   * disabled tenants. Scheduled events, changes of objects, marks and cancels are not included, nor are events of
   * deleted tenants. The export of one tenant has its members by name, and its events. Two exports may run at once, one
   * for each API key. The stream ends if its reader takes less than 64 KiB a second over a minute.
   *
   * `GET /v1/export`
   */
  export(query?: {
    /** Days, today included; 7 if absent */
    days?: number | undefined;
    /** Only data of this tenant */
    tenant?: string | undefined;
  }, options?: Options): AsyncIterable<Record<string, unknown>> {
    return this.http.lines("GET", "/v1/export", options, undefined, query);
  }
}

/** Publish events, get their outcome, cancel them */
export class EventsCalls<D = AnyData> extends Resource {
  /**
   * Cancel all events of a key.
   *
   * Cancels all events published with this `cancellation_key` so far. The counts are sums over all of them.
   *
   * `POST /v1/cancel`
   */
  cancelAll(body: CancelKey, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<CancelAnswer> {
    return this.http.send("POST", "/v1/cancel", options, body, query);
  }

  /**
   * List events.
   *
   * Returns events, newest first by their arrival, as long as the day of their arrival is kept. With `recipient`, those in
   * whose audience the recipient was, with what became of their notifications.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/events`
   */
  list(query?: {
    /** Only events of this type. */
    type?: string | undefined;
    /** Only events with this actor. */
    actor?: string | undefined;
    /** Only events with this object. */
    object?: string | undefined;
    /** Only events with this target. */
    target?: string | undefined;
    /** Only events of this tenant. */
    tenant?: string | undefined;
    /** Only events in whose audience this recipient was, with `channels`. */
    recipient?: string | undefined;
    /** Only events that arrived at this time or later. */
    from?: string | undefined;
    /** Only events that arrived before this time. */
    to?: string | undefined;
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<EventsPage, ListedEvent> {
    return this.http.pages("/v1/events", "events", query, options);
  }

  /**
   * Publish an event.
   *
   * Takes one event as an object, many as an array (`application/json`), or a stream of any length with one event per
   * line (`application/x-ndjson`). Events are answered in order, once they are durable.
   *
   * An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (With shards on several
   * nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is `rejected` with its
   * problem, and the others are accepted.
   *
   * In a cluster the answer waits up to a second until all shards have applied the event, and `applied` says whether
   * they have. With `Prefer: respond-async` it does not wait.
   *
   * CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode (`application/cloudevents+json`), as a
   * batch (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`,
   * `ce-id`, `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
   * the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered like an array.
   *
   * `POST /v1/events`
   */
  publish(event: EventOf<D>, options?: Options): Promise<PublishedEvent>;
  /**
   * Publish events, each accepted or rejected by itself.
   *
   * Takes one event as an object, many as an array (`application/json`), or a stream of any length with one event per
   * line (`application/x-ndjson`). Events are answered in order, once they are durable.
   *
   * An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (With shards on several
   * nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is `rejected` with its
   * problem, and the others are accepted.
   *
   * In a cluster the answer waits up to a second until all shards have applied the event, and `applied` says whether
   * they have. With `Prefer: respond-async` it does not wait.
   *
   * CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode (`application/cloudevents+json`), as a
   * batch (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`,
   * `ce-id`, `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
   * the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered like an array.
   *
   * `POST /v1/events`
   */
  publish(events: readonly EventOf<D>[], options?: Options): Promise<EventOutcome[]>;
  publish(body: EventOf<D> | readonly EventOf<D>[], options?: Options): Promise<never> {
    return this.http.send("POST", "/v1/events", options, body);
  }

  /**
   * Publish events, as many as there are.
   *
   * Takes an iterable of any length and sends it in parts; a part that breaks is sent again from the first line without an
   * answer. Awaited it is the counts and the lines that were rejected; iterated over (`for await`) it is the answer to each
   * line, in order.
   *
   * `POST /v1/events`
   */
  import(lines: Iterable<EventOf<D>> | AsyncIterable<EventOf<D>>, options?: Options): Import<Exclude<EventLineAnswer, Counted>> {
    return this.http.importing("/v1/events", lines, options);
  }

  /**
   * Get an event and its outcome.
   *
   * Returns the event, and the number of its entries by channel, outcome and reason, as long as the day of its arrival
   * is kept.
   *
   * `GET /v1/events/{id}`
   */
  get(id: string, options?: Options): Promise<EventWithOutcome> {
    return this.http.send("GET", path`/v1/events/${id}`, options);
  }

  /**
   * Cancel an event.
   *
   * Cancels pending notifications at once, and removes them from messages that are built and not handed over yet.
   * `status` is the extent of the cancel. An unknown event is not an error: the status is `remembered`, and the event is
   * cancelled if it arrives within 24 hours.
   *
   * `POST /v1/events/{id}/cancel`
   */
  cancel(id: string, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options & OfTenant): Promise<CancelAnswer> {
    return this.http.send("POST", path`/v1/events/${id}/cancel`, options, options?.tenant && { tenant: options.tenant }, query);
  }

  /**
   * List the recipients of an event.
   *
   * Returns all whom the audience of the event reached, whether they got a notification or not, sorted by the bytes of
   * their ids, as long as the day of its arrival is kept.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/events/{id}/recipients`
   */
  recipients(id: string, query?: {
    /** Only this channel counts for `outcome` and `reason`. */
    channel?: string | undefined;
    /**
     * Only recipients with a notification in this state: `scheduled`, `pending`, `sending`, `delivered`, `cancelled`,
     * `skipped`, `expired`, `failed`, `unknown` or `left_out`.
     */
    outcome?: string | undefined;
    /** Only recipients with a notification with this reason; with `outcome` the same one. */
    reason?: string | undefined;
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<EventRecipientsPage, EventRecipient> {
    return this.http.pages(path`/v1/events/${id}/recipients`, "recipients", query, options);
  }

  /**
   * Withdraw an event.
   *
   * Cancels the event as `cancel` does, and removes it from inboxes. Removed entries still count as delivered.
   *
   * `POST /v1/events/{id}/withdraw`
   */
  withdraw(id: string, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options & OfTenant): Promise<CancelAnswer> {
    return this.http.send("POST", path`/v1/events/${id}/withdraw`, options, options?.tenant && { tenant: options.tenant }, query);
  }

  /**
   * Explain why recipients got an event, or did not.
   *
   * Returns the rules in their order, each with its inputs and its result, up to the message that carried the event or
   * the rule that ended it, as long as the day of the event's arrival is kept. Facts that are not stored, such as the
   * audience of that time, are shown as they are now, and marked so. An event in place of an id is hypothetical: the
   * answer shows its result if it were published now, and nothing is published. The body has at most 512 KiB.
   *
   * Without a recipient the answer counts the whole audience by channel, outcome and reason. A hypothetical event is told
   * as at the end of the instant of its arrival: what would be sent is pending.
   *
   * `POST /v1/explain`
   */
  explain(body: Explain, options?: Options): Promise<Explanation> {
    return this.http.send("POST", "/v1/explain", options, body);
  }

  /**
   * Withdraw an event, or all events of a key.
   *
   * Withdraws one event, or all events published with this `cancellation_key` so far. The counts are sums over all of
   * them.
   *
   * `POST /v1/withdraw`
   */
  withdrawAll(body: CancelKey, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<CancelAnswer> {
    return this.http.send("POST", "/v1/withdraw", options, body, query);
  }
}

/** List, pause and resume types and channels */
export class ConfigurationCalls extends Resource {
  /**
   * Pause a channel.
   *
   * Closes no lane of the channel and sends no message on it, retries included, until it is resumed. A paused inbox does
   * not show new notifications.
   *
   * `POST /v1/channels/{channel}/pause`
   */
  pauseChannel(channel: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/channels/${channel}/pause`, options);
  }

  /**
   * Resume a channel.
   *
   * Sends due lanes at once, one message per lane.
   *
   * `POST /v1/channels/{channel}/resume`
   */
  resumeChannel(channel: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/channels/${channel}/resume`, options);
  }

  /**
   * List types, categories, digests and channels.
   *
   * Returns the configuration in force, as a host needs it to publish and to show a preference page.
   *
   * `GET /v1/types`
   */
  types(options?: Options): Promise<TypesAnswer> {
    return this.http.send("GET", "/v1/types", options);
  }

  /**
   * Pause a type.
   *
   * Holds the notifications of the type in a lane of their own, pending ones included. Other types are sent as before. A
   * message that is already built and includes the type waits too.
   *
   * `POST /v1/types/{type}/pause`
   */
  pauseType(type: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/types/${type}/pause`, options);
  }

  /**
   * Resume a type.
   *
   * Returns waiting notifications to the lanes that apply now, by their time: overdue ones are sent at once, a digest
   * sends them at its next slot.
   *
   * `POST /v1/types/{type}/resume`
   */
  resumeType(type: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/types/${type}/resume`, options);
  }
}

/** Databases from which events are read */
export class FeedsCalls extends Resource {
  /**
   * List the feeds.
   *
   * Returns the feeds of the configuration, by name, with their present state.
   *
   * `GET /v1/feeds`
   */
  list(options?: Options): Promise<Feed[]> {
    return this.http.send("GET", "/v1/feeds", options);
  }

  /**
   * List the parked rows of a feed.
   *
   * Returns the rows that were refused, newest first by the time when the host wrote them, each with its problem.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/feeds/{name}/parked`
   */
  parked(name: string, query?: {
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<ParkedPage, ParkedRow> {
    return this.http.pages(path`/v1/feeds/${name}/parked`, "parked", query, options);
  }

  /**
   * Pause a feed.
   *
   * Stops reading from the database until the feed is resumed, also after a restart. Rows wait in the table.
   *
   * `POST /v1/feeds/{name}/pause`
   */
  pause(name: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/feeds/${name}/pause`, options);
  }

  /**
   * Resume a feed.
   *
   * Reads a feed again that was paused, or that stopped by itself.
   *
   * `POST /v1/feeds/{name}/resume`
   */
  resume(name: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/feeds/${name}/resume`, options);
  }
}

/** Services of the host that are called about messages, preferences and addresses */
export class HooksCalls extends Resource {
  /**
   * List the hooks.
   *
   * Returns the services of the host that receive occurrences of messages, preferences and addresses, in the order of
   * the configuration. In a cluster each node calls them about its own shards: the counts are sums over the nodes that
   * answered.
   *
   * `GET /v1/hooks`
   */
  list(options?: Options): Promise<Hook[]> {
    return this.http.send("GET", "/v1/hooks", options);
  }

  /**
   * Replay a hook.
   *
   * Sends the occurrences since an instant again, of the kinds that the hook wants, under the same ids. Nothing is sent
   * of deleted days, nor of times at which no hook wanted such occurrences.
   *
   * `POST /v1/hooks/{name}/replay`
   */
  replay(name: string, body: Replay, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/hooks/${name}/replay`, options, body);
  }

  /**
   * Resume a hook.
   *
   * Turns a hook on that answered 410 and is off, which a restart does not change. Occurrences that it missed are sent.
   *
   * `POST /v1/hooks/{name}/resume`
   */
  resume(name: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/hooks/${name}/resume`, options);
  }
}

/** Calls of end users, with a token that the application signs */
export class MeCalls extends Resource {
  /**
   * Send a recipient's pending notifications now.
   *
   * Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused channel are sent when the
   * channel is resumed; notifications of a paused type and scheduled ones stay. The body is optional.
   *
   * `POST /v1/me/flush`
   */
  flush(body?: FlushLimits, options?: Options & {
    /** Only entries of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<Flushed> {
    return this.http.send("POST", "/v1/me/flush", options, body, { tenant: options?.tenant });
  }

  /**
   * Get a page of an inbox.
   *
   * Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
   * groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
   * none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
   * comes once there is a newer one (long poll).
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/me/inbox`
   */
  inbox(query?: {
    /** Maximum number of groups; 20 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page. */
    cursor?: string | undefined;
    /** The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`. */
    state?: string | undefined;
    /** Only items of this category; may be given several times. */
    category?: string | readonly string[] | undefined;
    /** Only items of this type; may be given several times. */
    type?: string | readonly string[] | undefined;
    /** False = each item is a group. */
    grouped?: boolean | undefined;
    /** Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`. */
    tenant?: string | undefined;
  }, options?: Options): Pages<Page, Group> {
    return this.http.pages("/v1/me/inbox", "groups", query, options);
  }

  /**
   * Wait for a newer page of an inbox.
   *
   * Answers as soon as `rev` is above `since`; undefined if it is not within `wait`.
   *
   * `GET /v1/me/inbox`
   */
  inboxNewer(query: {
    /** Maximum number of groups; 20 if absent. */
    limit?: number | undefined;
    /** The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`. */
    state?: string | undefined;
    /** Only items of this category; may be given several times. */
    category?: string | readonly string[] | undefined;
    /** Only items of this type; may be given several times. */
    type?: string | readonly string[] | undefined;
    /** False = each item is a group. */
    grouped?: boolean | undefined;
    /** A revision to wait for: the answer comes once `rev` is higher, or is 304 after `wait`. */
    since: number;
    /**
     * Time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient may have 8 calls that wait.
     */
    wait?: string | undefined;
    /** Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`. */
    tenant?: string | undefined;
  }, options?: Options): Promise<Page | undefined> {
    return this.http.send("GET", "/v1/me/inbox", options, undefined, query);
  }

  /**
   * Archive items.
   *
   * Removes items from pages and counts, except with `state=archived` and `all`. They count as seen for other channels.
   * Returns the counts afterwards, also if no item matches. An event or a group is archived wherever it is, other items
   * only in the inbox.
   *
   * `POST /v1/me/inbox/archive`
   */
  archive(body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", "/v1/me/inbox/archive", options, body, { tenant: options?.tenant });
  }

  /**
   * Get the counts of an inbox.
   *
   * Returns the number of groups with an unseen and with an unread item, in the whole inbox and in each category.
   *
   * `GET /v1/me/inbox/counts`
   */
  counts(options?: Options & {
    /** Only items of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("GET", "/v1/me/inbox/counts", options, undefined, { tenant: options?.tenant });
  }

  /**
   * Delete items from an inbox.
   *
   * Removes items for ever; statistics stay. They count as seen for other channels. Returns the counts afterwards, also
   * if no item matches. An event or a group is deleted wherever it is, other items only in the inbox.
   *
   * `POST /v1/me/inbox/delete`
   */
  delete(body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", "/v1/me/inbox/delete", options, body, { tenant: options?.tenant });
  }

  /**
   * Mark items as read.
   *
   * Marks items as read, and hence as seen. Returns the counts afterwards, also if no item matches. An event or a group
   * is marked wherever it is, other items only in the inbox.
   *
   * `POST /v1/me/inbox/read`
   */
  markRead(body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", "/v1/me/inbox/read", options, body, { tenant: options?.tenant });
  }

  /**
   * Mark items as seen.
   *
   * Lowers `unseen`, not `unread`. Returns the counts afterwards, also if no item matches. An event or a group is marked
   * wherever it is, other items only in the inbox.
   *
   * `POST /v1/me/inbox/seen`
   */
  markSeen(body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", "/v1/me/inbox/seen", options, body, { tenant: options?.tenant });
  }

  /**
   * Snooze items.
   *
   * Removes items from the inbox until an instant (`until`) or for a duration (`for`). They then return, unseen and
   * unread, at the position of that instant. Returns the counts afterwards.
   *
   * `POST /v1/me/inbox/snooze`
   */
  snooze(body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", "/v1/me/inbox/snooze", options, body, { tenant: options?.tenant });
  }

  /**
   * Take items out of the archive.
   *
   * Brings archived items back as they were. Returns the counts afterwards, also if no item matches. An event or a group
   * is brought back wherever it is, other items only if that puts them into the inbox.
   *
   * `POST /v1/me/inbox/unarchive`
   */
  unarchive(body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", "/v1/me/inbox/unarchive", options, body, { tenant: options?.tenant });
  }

  /**
   * Mark items as unread.
   *
   * Raises `unread`; seen items stay seen. Returns the counts afterwards, also if no item matches. An event or a group
   * is marked wherever it is, other items only in the inbox.
   *
   * `POST /v1/me/inbox/unread`
   */
  markUnread(body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", "/v1/me/inbox/unread", options, body, { tenant: options?.tenant });
  }

  /**
   * End the snooze of items.
   *
   * Brings snoozed items back as they were, to their old position. Returns the counts afterwards, also if no item
   * matches. An event or a group is brought back wherever it is, other items only if that puts them into the inbox.
   *
   * `POST /v1/me/inbox/unsnooze`
   */
  unsnooze(body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", "/v1/me/inbox/unsnooze", options, body, { tenant: options?.tenant });
  }

  /**
   * Follow an inbox.
   *
   * Streams server-sent events. The first is `hello`, with the counts; then each change of the inbox is an event
   * `inbox`, within 100 ms: the counts, the new and changed groups (`changed`), and the keys of groups that are gone
   * (`gone`). Changes close together may be one event. Its `id` is a cursor: with `Last-Event-ID` the stream goes on
   * from there, or `hello` has `"reset": true`, and the page has to be read again. A comment comes every 15 s. `end`
   * comes before the server closes the stream, with a `code`: `restart` (open it again after `retry_ms`), `replaced`
   * (the recipient opened more than 8 streams of that view, or 32 with long polls), or the reason for the end of the
   * token (`token_expired`, `token_revoked`, `token_key`).
   *
   * `GET /v1/me/live`
   */
  live(options?: Options & {
    /** Only items of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): AsyncIterable<LiveEvent> {
    return this.http.live("GET", "/v1/me/live", options, undefined, { tenant: options?.tenant });
  }

  /**
   * List a recipient's pending notifications.
   *
   * Returns open lanes with their deadlines and notifications, messages that wait for a retry, and scheduled events, in
   * the reader's view.
   *
   * `GET /v1/me/pending`
   */
  pending(options?: Options & {
    /** Only entries of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<Pending> {
    return this.http.send("GET", "/v1/me/pending", options, undefined, { tenant: options?.tenant });
  }

  /**
   * List the preferences of a recipient.
   *
   * Returns the preferences for types, categories and digests that are configured now, and mutes. A preference that is
   * the same on each channel is one item, on `*`. Without a preference the policy of the type applies. With
   * `choices=true`, and for end users, the list is `preferences` of an object that has everything for a page of
   * preferences: for each category and type the modes that may be chosen, the mode in force and its source; mutes, quiet
   * hours with those in force and their time zone, and the key of Web Push.
   *
   * `GET /v1/me/preferences`
   */
  preferences(options?: Options): Promise<AllPreferences> {
    return this.http.send("GET", "/v1/me/preferences", options);
  }

  /**
   * Set some preferences of a recipient.
   *
   * Sets the preferences in the list; the others stay as they are. `default` removes a preference. Either the whole list
   * is accepted or nothing. Pending notifications move to the lane that applies now; `never` cancels them. The body may
   * also be an object with the list as `preferences` and with `quiet_hours` like those of a profile, both optional.
   *
   * `PATCH /v1/me/preferences`
   */
  patchPreferences(body: PreferenceChange, options?: Options): Promise<Warned | undefined> {
    return this.http.send("PATCH", "/v1/me/preferences", options, body);
  }

  /**
   * Add a browser of a recipient.
   *
   * Adds the browser's Web Push subscription, the result of `JSON.stringify(subscription)`, to the recipient's addresses
   * of the channel `webpush`. With a token of a tenant it gets the messages of that tenant and those without one, else
   * all messages. Replaces a subscription with the same endpoint and tenant. Beyond 20 browsers for a tenant, or for all
   * tenants, the oldest of them is removed, and beyond 40 in all the recipient's oldest.
   *
   * `PUT /v1/me/push`
   */
  addPush(body: PushSubscription, options?: Options & {
    /** Subscribe to messages of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<void> {
    return this.http.send("PUT", "/v1/me/push", options, body, { tenant: options?.tenant });
  }

  /**
   * Remove a browser of a recipient.
   *
   * Removes the browser's Web Push subscription, of which `endpoint` is enough. A subscription for another tenant than
   * that of the token, or for all tenants, stays; a token without a tenant removes it for all. An unknown subscription
   * is not an error.
   *
   * `DELETE /v1/me/push`
   */
  removePush(body: GonePushSubscription, options?: Options & {
    /** Only the subscription for this tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<void> {
    return this.http.send("DELETE", "/v1/me/push", options, body, { tenant: options?.tenant });
  }

  /**
   * List a recipient's subscriptions.
   *
   * Returns all topics, sorted by bytes.
   *
   * `GET /v1/me/subscriptions`
   */
  subscriptions(options?: Options): Promise<Subscriptions> {
    return this.http.send("GET", "/v1/me/subscriptions", options);
  }

  /**
   * Follow a topic.
   *
   * Subscribes the recipient to the topic and everything below it: a follower of `artist` is notified of events to
   * `artist/42`. Slashes in the path may be encoded or not.
   *
   * `PUT /v1/me/subscriptions/{topic}`
   */
  follow(topic: string, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/me/subscriptions/${topic}`, options);
  }

  /**
   * Unfollow a topic.
   *
   * Removes the subscription. Earlier events are not cancelled. A topic that the recipient does not follow is not an
   * error.
   *
   * `DELETE /v1/me/subscriptions/{topic}`
   */
  unfollow(topic: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/me/subscriptions/${topic}`, options);
  }
}

/** Messages of channels: history, retry, cancel and resend */
export class MessagesCalls extends Resource {
  /**
   * List messages.
   *
   * Returns messages of all channels but the inbox, newest first by `due`, as long as the day on which they were due is
   * kept. `GET /v1/messages/{id}` returns their content.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/messages`
   */
  list(query?: {
    /** Only messages to this recipient. */
    recipient?: string | undefined;
    /** Only messages with a notification of this event, whether they tell it or left it out. */
    event?: string | undefined;
    /** Only messages on this channel. */
    channel?: string | undefined;
    /** Only messages of which this provider answered the last attempt, as `attempts` names it. */
    provider?: string | undefined;
    /** Only messages with a notification of this type, whether they tell it or left it out. May be repeated. */
    type?: string | readonly string[] | undefined;
    /** Only messages of this tenant. */
    tenant?: string | undefined;
    /**
     * Only messages in this state: `planned`, `sending`, `retrying`, `sent`, `failed`, `unknown`, `suppressed` or
     * `cancelled`. May be repeated.
     */
    state?: string | readonly string[] | undefined;
    /** Only messages that were not handed over for this reason. */
    reason?: string | undefined;
    /** Only messages of this job. */
    job?: string | undefined;
    /** Only messages that were due at this time or later. */
    from?: string | undefined;
    /** Only messages that were due before this time. */
    to?: string | undefined;
    /** Only messages that were due on this UTC date; not beside `from` and `to`. */
    day?: string | undefined;
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<MessagePage, MessageShown> {
    return this.http.pages("/v1/messages", "messages", query, options);
  }

  /**
   * Cancel all messages of a filter.
   *
   * Makes a job that does with each message what `POST /v1/messages/{id}/cancel` does, as `retry` of a filter.
   *
   * `POST /v1/messages/cancel`
   */
  cancelMany(body: BulkChange, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<BulkForeseen> {
    return this.http.send("POST", "/v1/messages/cancel", options, body, query);
  }

  /**
   * Resend all messages of a filter.
   *
   * Makes a job that does with each message what `POST /v1/messages/{id}/resend` does, as `retry` of a filter.
   *
   * `POST /v1/messages/resend`
   */
  resendMany(body: BulkChange, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<BulkForeseen> {
    return this.http.send("POST", "/v1/messages/resend", options, body, query);
  }

  /**
   * Retry all messages of a filter.
   *
   * Makes a job that does with each message what `POST /v1/messages/{id}/retry` does: 1,000 a second at most, each once,
   * also if the server stops meanwhile. It begins after ten seconds, so that it can be stopped before. With `dry` the
   * answer is 200 and says what it would do.
   *
   * `POST /v1/messages/retry`
   */
  retryMany(body: BulkChange, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<BulkForeseen> {
    return this.http.send("POST", "/v1/messages/retry", options, body, query);
  }

  /**
   * Get a message.
   *
   * Returns a message with its notifications, its attempts, and its history: the entries of its lane, the rules that
   * decided its time, the answers of providers.
   *
   * `GET /v1/messages/{id}`
   */
  get(id: string, options?: Options): Promise<MessageDetails> {
    return this.http.send("GET", path`/v1/messages/${id}`, options);
  }

  /**
   * Cancel a message.
   *
   * Removes all notifications from a message that is surely not handed over; they end as `cancelled`, with the reason
   * `message`. `status` is the extent of the cancel.
   *
   * `POST /v1/messages/{id}/cancel`
   */
  cancel(id: string, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<OperatedAnswer> {
    return this.http.send("POST", path`/v1/messages/${id}/cancel`, options, undefined, query);
  }

  /**
   * Preview a message.
   *
   * Builds a message again from its notifications, as it looks now: with the objects, the recipient's name, locale and
   * zone, and the configuration of today. Of a message that is not built yet it is what would be built now. One without
   * notifications has only a channel. Nothing is sent or recorded.
   *
   * `GET /v1/messages/{id}/preview`
   */
  previewMessage(id: string, options?: Options): Promise<MessagePreview> {
    return this.http.send("GET", path`/v1/messages/${id}/preview`, options);
  }

  /**
   * Resend a message.
   *
   * Sends a `sent`, `unknown` or `failed` message again: the recipient may get it twice. It counts as `resent`;
   * delivered notifications stay delivered, whatever the outcome of the copy.
   *
   * `POST /v1/messages/{id}/resend`
   */
  resend(id: string, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<OperatedAnswer> {
    return this.http.send("POST", path`/v1/messages/${id}/resend`, options, undefined, query);
  }

  /**
   * Retry a message.
   *
   * Sends a `failed` message again, as it was built; a `retrying` message is tried at once. Notifications that the
   * recipient has set to `never` or muted since are left out.
   *
   * `POST /v1/messages/{id}/retry`
   */
  retry(id: string, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<OperatedAnswer> {
    return this.http.send("POST", path`/v1/messages/${id}/retry`, options, undefined, query);
  }

  /**
   * Preview what a recipient gets next.
   *
   * Builds the message of a channel whose lane is due first, or of the named lane, with its pending entries and the
   * configuration in force. Without `channel` it is the mail, as `mail`. Scheduled entries are in no lane yet, and are
   * counted separately. Nothing is sent or recorded.
   *
   * `GET /v1/recipients/{id}/preview`
   */
  preview(id: string, query?: {
    /** A channel of the configuration other than `inbox` */
    channel?: string | undefined;
    /** Name of a lane, as `pending` lists it */
    lane?: string | undefined;
  }, options?: Options): Promise<Preview> {
    return this.http.send("GET", path`/v1/recipients/${id}/preview`, options, undefined, query);
  }
}

/** The things that events are about */
export class ObjectsCalls extends Resource {
  /**
   * Create or change many objects.
   *
   * Takes an array of at most 10,000 objects, or a stream of any length with one per line. Changes the given fields
   * only. Each item is accepted or rejected by itself; the answers are in order.
   *
   * `POST /v1/objects`
   */
  upsertMany(body: readonly NamedObject[], options?: Options): Promise<ItemAnswer[]> {
    return this.http.send("POST", "/v1/objects", options, body);
  }

  /**
   * Create or change many objects, as many as there are.
   *
   * Takes an iterable of any length and sends it in parts; a part that breaks is sent again from the first line without an
   * answer. Awaited it is the counts and the lines that were rejected; iterated over (`for await`) it is the answer to each
   * line, in order.
   *
   * `POST /v1/objects`
   */
  import(lines: Iterable<NamedObject> | AsyncIterable<NamedObject>, options?: Options): Import<Exclude<LineAnswer, Counted>> {
    return this.http.importing("/v1/objects", lines, options);
  }

  /**
   * Create or change an object.
   *
   * Changes the given fields only; null counts as not given. Lifts a retraction. The values are kept until they are
   * changed or the object is deleted, even if no event names the object; `[limits] objects` bounds the number of such
   * objects.
   *
   * `PUT /v1/objects/{id}`
   */
  upsert(id: string, body: ObjectChange, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/objects/${id}`, options, body);
  }

  /**
   * Retract an object.
   *
   * Skips pending notifications about the object when their message is built. A later publish or change of the object
   * lifts the retraction. The object is then kept only as long as a kept day names it.
   *
   * `DELETE /v1/objects/{id}`
   */
  retract(id: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/objects/${id}`, options);
  }
}

/** Profiles of the people who can be notified */
export class RecipientsCalls extends Resource {
  /**
   * List recipients.
   *
   * Returns recipients, sorted by the bytes of their ids.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/recipients`
   */
  list(query?: {
    /** Only recipients whose id begins so. */
    id_prefix?: string | undefined;
    /** Only members of this tenant. */
    tenant?: string | undefined;
    /** Only recipients in this state. */
    state?: RecipientState | undefined;
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<RecipientsPage, ListedRecipient> {
    return this.http.pages("/v1/recipients", "recipients", query, options);
  }

  /**
   * Create or change many recipients.
   *
   * Takes an array of at most 10,000 profiles, or a stream of any length with one per line. Creates unknown recipients,
   * and changes the given fields only. Each item is accepted or rejected by itself; the answers are in order.
   *
   * `POST /v1/recipients`
   */
  patchMany(body: readonly NamedRecipient[], options?: Options): Promise<ItemAnswer[]> {
    return this.http.send("POST", "/v1/recipients", options, body);
  }

  /**
   * Create or change many recipients, as many as there are.
   *
   * Takes an iterable of any length and sends it in parts; a part that breaks is sent again from the first line without an
   * answer. Awaited it is the counts and the lines that were rejected; iterated over (`for await`) it is the answer to each
   * line, in order.
   *
   * `POST /v1/recipients`
   */
  import(lines: Iterable<NamedRecipient> | AsyncIterable<NamedRecipient>, options?: Options): Import<Exclude<LineAnswer, Counted>> {
    return this.http.importing("/v1/recipients", lines, options);
  }

  /**
   * Get a recipient's profile.
   *
   * Returns the profile. Every field but `tenants` is present; null = the default of the configuration applies.
   *
   * `GET /v1/recipients/{id}`
   */
  get(id: string, options?: Options): Promise<RecipientProfile> {
    return this.http.send("GET", path`/v1/recipients/${id}`, options);
  }

  /**
   * Put a recipient's whole profile.
   *
   * Creates or replaces the recipient. Absent fields get their default. A profile from `GET` can be put back unchanged.
   *
   * `PUT /v1/recipients/{id}`
   */
  upsert(id: string, body: RecipientChange, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/recipients/${id}`, options, body);
  }

  /**
   * Change a recipient's profile.
   *
   * Creates the recipient if it is unknown. Changes the given fields only; null removes a value.
   *
   * `PATCH /v1/recipients/{id}`
   */
  patch(id: string, body: RecipientChange, options?: Options): Promise<void> {
    return this.http.send("PATCH", path`/v1/recipients/${id}`, options, body);
  }

  /**
   * Erase a recipient.
   *
   * Deletes profile, preferences, subscriptions and marks at once, and puts a keyed hash in the place of the id in the log
   * of changes. Pending notifications end as `cancelled` when they are due. Messages that are already built are not sent
   * any more. Of somebody who is not there `erased` is empty and `receipt` null.
   *
   * `DELETE /v1/recipients/{id}`
   */
  erase(id: string, query?: {
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<RecipientErased> {
    return this.http.send("DELETE", path`/v1/recipients/${id}`, options, undefined, query);
  }

  /**
   * Export a recipient's data.
   *
   * Streams everything that is known about the recipient at one moment: profile, preferences, subscriptions, memberships,
   * the inbox in all its states, messages with their notifications, suppressed addresses, and the lines of the log of
   * changes. There is no limit of rows. The export itself has a line in that log. Two exports may run at once, one for
   * each API key. The stream ends if its reader takes less than 64 KiB a second over a minute.
   *
   * `GET /v1/recipients/{id}/export`
   */
  export(id: string, options?: Options): Promise<RecipientExport> {
    return this.http.send("GET", path`/v1/recipients/${id}/export`, options);
  }

  /**
   * Add a browser of a recipient.
   *
   * Adds the browser's Web Push subscription, the result of `JSON.stringify(subscription)`, to the recipient's addresses
   * of the channel `webpush`. With a token of a tenant it gets the messages of that tenant and those without one, else
   * all messages. Replaces a subscription with the same endpoint and tenant. Beyond 20 browsers for a tenant, or for all
   * tenants, the oldest of them is removed, and beyond 40 in all the recipient's oldest.
   *
   * `PUT /v1/recipients/{id}/push`
   */
  addPush(id: string, body: PushSubscription, options?: Options & {
    /** Subscribe to messages of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<void> {
    return this.http.send("PUT", path`/v1/recipients/${id}/push`, options, body, { tenant: options?.tenant });
  }

  /**
   * Remove a browser of a recipient.
   *
   * Removes the browser's Web Push subscription, of which `endpoint` is enough. A subscription for another tenant than
   * that of the token, or for all tenants, stays; a token without a tenant removes it for all. An unknown subscription
   * is not an error.
   *
   * `DELETE /v1/recipients/{id}/push`
   */
  removePush(id: string, body: GonePushSubscription, options?: Options & {
    /** Only the subscription for this tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<void> {
    return this.http.send("DELETE", path`/v1/recipients/${id}/push`, options, body, { tenant: options?.tenant });
  }

  /**
   * Revoke a recipient's tokens.
   *
   * Refuses the tokens of end users that were issued for the recipient so far, whether the recipient is there or not.
   * Tokens that are issued later are accepted. Erasing a recipient revokes as well. The body may be left out.
   *
   * `POST /v1/recipients/{id}/tokens/revoke`
   */
  revokeTokens(id: string, body?: TokensToRevoke, options?: Options): Promise<TokensRevoked> {
    return this.http.send("POST", path`/v1/recipients/${id}/tokens/revoke`, options, body);
  }
}

/** Pending notifications, and sending them now */
export class PendingCalls extends Resource {
  /**
   * Send a recipient's pending notifications now.
   *
   * Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused channel are sent when the
   * channel is resumed; notifications of a paused type and scheduled ones stay. The body is optional.
   *
   * `POST /v1/recipients/{id}/flush`
   */
  flush(id: string, body?: FlushLimits, query?: {
    /** Only entries of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
    /**
     * Says what the call would do, and does nothing: the answer is 200 with what it would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not looked at
     */
    dry?: boolean | undefined;
    /** The most people that the call may touch: with more it is refused with `grew`, and nothing changes */
    expect?: number | undefined;
  }, options?: Options): Promise<Flushed> {
    return this.http.send("POST", path`/v1/recipients/${id}/flush`, options, body, query);
  }

  /**
   * List a recipient's pending notifications.
   *
   * Returns open lanes with their deadlines and notifications, messages that wait for a retry, and scheduled events, in
   * the reader's view.
   *
   * `GET /v1/recipients/{id}/pending`
   */
  list(id: string, options?: Options & {
    /** Only entries of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<Pending> {
    return this.http.send("GET", path`/v1/recipients/${id}/pending`, options, undefined, { tenant: options?.tenant });
  }
}

/** Inboxes, and seen and read marks */
export class InboxCalls extends Resource {
  /**
   * Get a page of an inbox.
   *
   * Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
   * groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
   * none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
   * comes once there is a newer one (long poll).
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/recipients/{id}/inbox`
   */
  list(id: string, query?: {
    /** Maximum number of groups; 20 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page. */
    cursor?: string | undefined;
    /** The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`. */
    state?: string | undefined;
    /** Only items of this category; may be given several times. */
    category?: string | readonly string[] | undefined;
    /** Only items of this type; may be given several times. */
    type?: string | readonly string[] | undefined;
    /** False = each item is a group. */
    grouped?: boolean | undefined;
    /** Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`. */
    tenant?: string | undefined;
  }, options?: Options): Pages<Page, Group> {
    return this.http.pages(path`/v1/recipients/${id}/inbox`, "groups", query, options);
  }

  /**
   * Wait for a newer page of an inbox.
   *
   * Answers as soon as `rev` is above `since`; undefined if it is not within `wait`.
   *
   * `GET /v1/recipients/{id}/inbox`
   */
  newer(id: string, query: {
    /** Maximum number of groups; 20 if absent. */
    limit?: number | undefined;
    /** The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`. */
    state?: string | undefined;
    /** Only items of this category; may be given several times. */
    category?: string | readonly string[] | undefined;
    /** Only items of this type; may be given several times. */
    type?: string | readonly string[] | undefined;
    /** False = each item is a group. */
    grouped?: boolean | undefined;
    /** A revision to wait for: the answer comes once `rev` is higher, or is 304 after `wait`. */
    since: number;
    /**
     * Time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient may have 8 calls that wait.
     */
    wait?: string | undefined;
    /** Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`. */
    tenant?: string | undefined;
  }, options?: Options): Promise<Page | undefined> {
    return this.http.send("GET", path`/v1/recipients/${id}/inbox`, options, undefined, query);
  }

  /**
   * Archive items.
   *
   * Removes items from pages and counts, except with `state=archived` and `all`. They count as seen for other channels.
   * Returns the counts afterwards, also if no item matches. An event or a group is archived wherever it is, other items
   * only in the inbox.
   *
   * `POST /v1/recipients/{id}/inbox/archive`
   */
  archive(id: string, body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", path`/v1/recipients/${id}/inbox/archive`, options, body, { tenant: options?.tenant });
  }

  /**
   * Get the counts of an inbox.
   *
   * Returns the number of groups with an unseen and with an unread item, in the whole inbox and in each category.
   *
   * `GET /v1/recipients/{id}/inbox/counts`
   */
  counts(id: string, options?: Options & {
    /** Only items of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("GET", path`/v1/recipients/${id}/inbox/counts`, options, undefined, { tenant: options?.tenant });
  }

  /**
   * Delete items from an inbox.
   *
   * Removes items for ever; statistics stay. They count as seen for other channels. Returns the counts afterwards, also
   * if no item matches. An event or a group is deleted wherever it is, other items only in the inbox.
   *
   * `POST /v1/recipients/{id}/inbox/delete`
   */
  delete(id: string, body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", path`/v1/recipients/${id}/inbox/delete`, options, body, { tenant: options?.tenant });
  }

  /**
   * Mark items as read.
   *
   * Marks items as read, and hence as seen. Returns the counts afterwards, also if no item matches. An event or a group
   * is marked wherever it is, other items only in the inbox.
   *
   * `POST /v1/recipients/{id}/inbox/read`
   */
  markRead(id: string, body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", path`/v1/recipients/${id}/inbox/read`, options, body, { tenant: options?.tenant });
  }

  /**
   * Mark items as seen.
   *
   * Lowers `unseen`, not `unread`. Returns the counts afterwards, also if no item matches. An event or a group is marked
   * wherever it is, other items only in the inbox.
   *
   * `POST /v1/recipients/{id}/inbox/seen`
   */
  markSeen(id: string, body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", path`/v1/recipients/${id}/inbox/seen`, options, body, { tenant: options?.tenant });
  }

  /**
   * Snooze items.
   *
   * Removes items from the inbox until an instant (`until`) or for a duration (`for`). They then return, unseen and
   * unread, at the position of that instant. Returns the counts afterwards.
   *
   * `POST /v1/recipients/{id}/inbox/snooze`
   */
  snooze(id: string, body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", path`/v1/recipients/${id}/inbox/snooze`, options, body, { tenant: options?.tenant });
  }

  /**
   * Take items out of the archive.
   *
   * Brings archived items back as they were. Returns the counts afterwards, also if no item matches. An event or a group
   * is brought back wherever it is, other items only if that puts them into the inbox.
   *
   * `POST /v1/recipients/{id}/inbox/unarchive`
   */
  unarchive(id: string, body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", path`/v1/recipients/${id}/inbox/unarchive`, options, body, { tenant: options?.tenant });
  }

  /**
   * Mark items as unread.
   *
   * Raises `unread`; seen items stay seen. Returns the counts afterwards, also if no item matches. An event or a group
   * is marked wherever it is, other items only in the inbox.
   *
   * `POST /v1/recipients/{id}/inbox/unread`
   */
  markUnread(id: string, body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", path`/v1/recipients/${id}/inbox/unread`, options, body, { tenant: options?.tenant });
  }

  /**
   * End the snooze of items.
   *
   * Brings snoozed items back as they were, to their old position. Returns the counts afterwards, also if no item
   * matches. An event or a group is brought back wherever it is, other items only if that puts them into the inbox.
   *
   * `POST /v1/recipients/{id}/inbox/unsnooze`
   */
  unsnooze(id: string, body: Items, options?: Options & {
    /** Only items of this tenant and those without a tenant */
    tenant?: string | undefined;
  }): Promise<InboxCounts> {
    return this.http.send("POST", path`/v1/recipients/${id}/inbox/unsnooze`, options, body, { tenant: options?.tenant });
  }

  /**
   * Follow an inbox.
   *
   * Streams server-sent events. The first is `hello`, with the counts; then each change of the inbox is an event
   * `inbox`, within 100 ms: the counts, the new and changed groups (`changed`), and the keys of groups that are gone
   * (`gone`). Changes close together may be one event. Its `id` is a cursor: with `Last-Event-ID` the stream goes on
   * from there, or `hello` has `"reset": true`, and the page has to be read again. A comment comes every 15 s. `end`
   * comes before the server closes the stream, with a `code`: `restart` (open it again after `retry_ms`), `replaced`
   * (the recipient opened more than 8 streams of that view, or 32 with long polls), or the reason for the end of the
   * token (`token_expired`, `token_revoked`, `token_key`).
   *
   * `GET /v1/recipients/{id}/live`
   */
  live(id: string, options?: Options & {
    /** Only items of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): AsyncIterable<LiveEvent> {
    return this.http.live("GET", path`/v1/recipients/${id}/live`, options, undefined, { tenant: options?.tenant });
  }
}

/** Choices of recipients by type, category and channel, and their quiet hours */
export class PreferencesCalls extends Resource {
  /**
   * List the preferences of a recipient.
   *
   * Returns the preferences for types, categories and digests that are configured now, and mutes. A preference that is
   * the same on each channel is one item, on `*`. Without a preference the policy of the type applies. With
   * `choices=true`, and for end users, the list is `preferences` of an object that has everything for a page of
   * preferences: for each category and type the modes that may be chosen, the mode in force and its source; mutes, quiet
   * hours with those in force and their time zone, and the key of Web Push.
   *
   * `GET /v1/recipients/{id}/preferences`
   */
  get(id: string, options?: Options): Promise<Preference[]> {
    return this.http.send("GET", path`/v1/recipients/${id}/preferences`, options);
  }

  /**
   * Get the preferences of a recipient, with all that may be chosen.
   *
   * Returns the preferences for types, categories and digests that are configured now, and mutes. A preference that is
   * the same on each channel is one item, on `*`. Without a preference the policy of the type applies. With
   * `choices=true`, and for end users, the list is `preferences` of an object that has everything for a page of
   * preferences: for each category and type the modes that may be chosen, the mode in force and its source; mutes, quiet
   * hours with those in force and their time zone, and the key of Web Push.
   *
   * `GET /v1/recipients/{id}/preferences`
   */
  choices(id: string, options?: Options): Promise<AllPreferences> {
    return this.http.send("GET", path`/v1/recipients/${id}/preferences`, options, undefined, {choices: true});
  }

  /**
   * Replace all preferences of a recipient.
   *
   * Resets preferences that are not in the list to their default, but keeps a `never` for a type or category that is not
   * configured now. Lifts mutes that are not in the list. Either the whole list is accepted or nothing. Pending
   * notifications move to the lane that applies now; `never` cancels them. With `tenant` in the query the list is that
   * of the tenant; preferences with another tenant or without one stay.
   *
   * `PUT /v1/recipients/{id}/preferences`
   */
  replace(id: string, body: readonly Preference[], options?: Options): Promise<Warned | undefined> {
    return this.http.send("PUT", path`/v1/recipients/${id}/preferences`, options, body);
  }

  /**
   * Set some preferences of a recipient.
   *
   * Sets the preferences in the list; the others stay as they are. `default` removes a preference. Either the whole list
   * is accepted or nothing. Pending notifications move to the lane that applies now; `never` cancels them. The body may
   * also be an object with the list as `preferences` and with `quiet_hours` like those of a profile, both optional.
   *
   * `PATCH /v1/recipients/{id}/preferences`
   */
  patch(id: string, body: PreferenceChange, options?: Options): Promise<Warned | undefined> {
    return this.http.send("PATCH", path`/v1/recipients/${id}/preferences`, options, body);
  }
}

/** Topics that recipients follow */
export class SubscriptionsCalls extends Resource {
  /**
   * List a recipient's subscriptions.
   *
   * Returns all topics, sorted by bytes.
   *
   * `GET /v1/recipients/{id}/subscriptions`
   */
  list(id: string, options?: Options): Promise<Subscriptions> {
    return this.http.send("GET", path`/v1/recipients/${id}/subscriptions`, options);
  }

  /**
   * Follow a topic.
   *
   * Subscribes the recipient to the topic and everything below it: a follower of `artist` is notified of events to
   * `artist/42`. Slashes in the path may be encoded or not.
   *
   * `PUT /v1/recipients/{id}/subscriptions/{topic}`
   */
  follow(id: string, topic: string, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/recipients/${id}/subscriptions/${topic}`, options);
  }

  /**
   * Unfollow a topic.
   *
   * Removes the subscription. Earlier events are not cancelled. A topic that the recipient does not follow is not an
   * error.
   *
   * `DELETE /v1/recipients/{id}/subscriptions/{topic}`
   */
  unfollow(id: string, topic: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/recipients/${id}/subscriptions/${topic}`, options);
  }

  /**
   * Follow and unfollow many topics.
   *
   * Takes an array of at most 10,000 subscriptions, or a stream of any length with one per line; `unsubscribe`
   * removes one. Each item is accepted or rejected by itself; the answers are in order.
   *
   * `POST /v1/subscriptions`
   */
  followMany(body: readonly Subscription[], options?: Options): Promise<ItemAnswer[]> {
    return this.http.send("POST", "/v1/subscriptions", options, body);
  }

  /**
   * Follow and unfollow many topics, as many as there are.
   *
   * Takes an iterable of any length and sends it in parts; a part that breaks is sent again from the first line without an
   * answer. Awaited it is the counts and the lines that were rejected; iterated over (`for await`) it is the answer to each
   * line, in order.
   *
   * `POST /v1/subscriptions`
   */
  import(lines: Iterable<Subscription> | AsyncIterable<Subscription>, options?: Options): Import<Exclude<LineAnswer, Counted>> {
    return this.http.importing("/v1/subscriptions", lines, options);
  }

  /**
   * List the followers of a topic.
   *
   * Returns the recipients who follow this very topic, not those of topics above or below it, sorted by the bytes of
   * their ids. A topic that nobody follows has none.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/topics/{topic}/followers`
   */
  followers(topic: string, query?: {
    /** The followers of this tenant's topic; if absent, those of the topic without a tenant. */
    tenant?: string | undefined;
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<FollowersBody, Follower> {
    return this.http.pages(path`/v1/topics/${topic}/followers`, "followers", query, options);
  }
}

/** Addresses to which nothing is sent */
export class SuppressionsCalls extends Resource {
  /**
   * List suppressed addresses.
   *
   * Returns the suppressed addresses, sorted by channel and address, without those whose suppression has expired.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/suppressions`
   */
  list(query?: {
    /** Only addresses of this channel. */
    channel?: string | undefined;
    /** Only addresses that this recipient has now. */
    recipient?: string | undefined;
    /** Only addresses that are suppressed for this reason. */
    reason?: SuppressionReason | undefined;
    /** Only addresses that are suppressed since this time or a later one. */
    since?: string | undefined;
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<SuppressionPage, SuppressedAddress> {
    return this.http.pages("/v1/suppressions", "suppressions", query, options);
  }

  /**
   * Get a suppressed address.
   *
   * Returns the reason, the beginning and the end of a suppression.
   *
   * `GET /v1/suppressions/{channel}/{address}`
   */
  get(channel: string, address: string, options?: Options): Promise<SuppressedAddress> {
    return this.http.send("GET", path`/v1/suppressions/${channel}/${address}`, options);
  }

  /**
   * Suppress an address.
   *
   * Stops all messages to the address on this channel, whichever recipient has it: due notifications end as `skipped`,
   * with the reason `suppressed`. Replaces an earlier suppression of the address. The body is optional.
   *
   * `PUT /v1/suppressions/{channel}/{address}`
   */
  add(channel: string, address: string, body?: Suppression, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/suppressions/${channel}/${address}`, options, body);
  }

  /**
   * Lift the suppression of an address.
   *
   * Allows messages to the address again. Skipped notifications do not come back. An address that is not suppressed is
   * not an error.
   *
   * `DELETE /v1/suppressions/{channel}/{address}`
   */
  remove(channel: string, address: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/suppressions/${channel}/${address}`, options);
  }
}

/** Organisations with members, defaults and a look of their own */
export class TenantsCalls extends Resource {
  /**
   * List tenants.
   *
   * Returns tenants, sorted by the bytes of their ids.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/tenants`
   */
  list(query?: {
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<TenantsPage, Tenant> {
    return this.http.pages("/v1/tenants", "tenants", query, options);
  }

  /**
   * Create or change many tenants.
   *
   * Takes an array of at most 10,000 tenants, or a stream of any length with one per line. Creates unknown tenants; of others
   * the given fields change. Each item is accepted or rejected by itself; the answers are in order.
   *
   * `POST /v1/tenants`
   */
  patchMany(body: readonly NamedTenant[], options?: Options): Promise<ItemAnswer[]> {
    return this.http.send("POST", "/v1/tenants", options, body);
  }

  /**
   * Create or change many tenants, as many as there are.
   *
   * Takes an iterable of any length and sends it in parts; a part that breaks is sent again from the first line without an
   * answer. Awaited it is the counts and the lines that were rejected; iterated over (`for await`) it is the answer to each
   * line, in order.
   *
   * `POST /v1/tenants`
   */
  import(lines: Iterable<NamedTenant> | AsyncIterable<NamedTenant>, options?: Options): Import<Exclude<LineAnswer, Counted>> {
    return this.http.importing("/v1/tenants", lines, options);
  }

  /**
   * Get a tenant.
   *
   * Returns the tenant. Every field is present; null = the default of the configuration applies.
   *
   * `GET /v1/tenants/{id}`
   */
  get(id: string, options?: Options): Promise<Tenant> {
    return this.http.send("GET", path`/v1/tenants/${id}`, options);
  }

  /**
   * Put a whole tenant.
   *
   * Creates or replaces the tenant. Absent fields get their defaults. A tenant from `GET` can be put back unchanged.
   *
   * `PUT /v1/tenants/{id}`
   */
  upsert(id: string, body: TenantChange, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/tenants/${id}`, options, body);
  }

  /**
   * Change a tenant.
   *
   * Changes the given fields, and of `brand` the given keys; null removes a value. Pending notifications use
   * the new values.
   *
   * `PATCH /v1/tenants/{id}`
   */
  patch(id: string, body: TenantChange, options?: Options): Promise<void> {
    return this.http.send("PATCH", path`/v1/tenants/${id}`, options, body);
  }

  /**
   * Delete a tenant.
   *
   * Cancels pending notifications immediately, and removes the tenant's notifications from inboxes. Deletes its members,
   * subscriptions, preferences and tokens. A new tenant with the same id inherits nothing.
   *
   * `DELETE /v1/tenants/{id}`
   */
  delete(id: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/tenants/${id}`, options);
  }

  /**
   * List the members of a tenant.
   *
   * Returns members, sorted by the bytes of their ids.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/tenants/{id}/members`
   */
  members(id: string, query?: {
    /** Maximum number of rows; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page of this list with this filter. */
    cursor?: string | undefined;
  }, options?: Options): Pages<MembersPage, Member> {
    return this.http.pages(path`/v1/tenants/${id}/members`, "members", query, options);
  }

  /**
   * Add and remove many members.
   *
   * Takes an array of at most 10,000 members, or a stream of any length with one per line; `remove` removes a member.
   * Each item is accepted or rejected by itself; the answers are in order.
   *
   * `POST /v1/tenants/{id}/members`
   */
  changeMembers(id: string, body: readonly MemberChange[], options?: Options): Promise<ItemAnswer[]> {
    return this.http.send("POST", path`/v1/tenants/${id}/members`, options, body);
  }

  /**
   * Add and remove many members, as many as there are.
   *
   * Takes an iterable of any length and sends it in parts; a part that breaks is sent again from the first line without an
   * answer. Awaited it is the counts and the lines that were rejected; iterated over (`for await`) it is the answer to each
   * line, in order.
   *
   * `POST /v1/tenants/{id}/members`
   */
  importMembers(id: string, lines: Iterable<MemberChange> | AsyncIterable<MemberChange>, options?: Options): Import<Exclude<LineAnswer, Counted>> {
    return this.http.importing(path`/v1/tenants/${id}/members`, lines, options);
  }

  /**
   * Make a recipient a member.
   *
   * Adds the recipient to the members. A recipient may be a member of many tenants.
   *
   * `PUT /v1/tenants/{id}/members/{recipient}`
   */
  addMember(id: string, recipient: string, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/tenants/${id}/members/${recipient}`, options);
  }

  /**
   * Remove a member.
   *
   * Removes the membership and the recipient's subscriptions of the tenant. Notifications and preferences stay.
   *
   * `DELETE /v1/tenants/{id}/members/{recipient}`
   */
  removeMember(id: string, recipient: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/tenants/${id}/members/${recipient}`, options);
  }
}

/** All resources of the API. */
export class Resources<D = AnyData> extends Resource {
  /** Health, metrics, this document, and the pages of errors */
  readonly server = new ServerCalls(this.http);
  /** Status and actions for operators */
  readonly admin = new AdminCalls(this.http);
  /** Publish events, get their outcome, cancel them */
  readonly events = new EventsCalls<D>(this.http);
  /** List, pause and resume types and channels */
  readonly configuration = new ConfigurationCalls(this.http);
  /** Databases from which events are read */
  readonly feeds = new FeedsCalls(this.http);
  /** Services of the host that are called about messages, preferences and addresses */
  readonly hooks = new HooksCalls(this.http);
  /** Calls of end users, with a token that the application signs */
  readonly me = new MeCalls(this.http);
  /** Messages of channels: history, retry, cancel and resend */
  readonly messages = new MessagesCalls(this.http);
  /** The things that events are about */
  readonly objects = new ObjectsCalls(this.http);
  /** Profiles of the people who can be notified */
  readonly recipients = new RecipientsCalls(this.http);
  /** Pending notifications, and sending them now */
  readonly pending = new PendingCalls(this.http);
  /** Inboxes, and seen and read marks */
  readonly inbox = new InboxCalls(this.http);
  /** Choices of recipients by type, category and channel, and their quiet hours */
  readonly preferences = new PreferencesCalls(this.http);
  /** Topics that recipients follow */
  readonly subscriptions = new SubscriptionsCalls(this.http);
  /** Addresses to which nothing is sent */
  readonly suppressions = new SuppressionsCalls(this.http);
  /** Organisations with members, defaults and a look of their own */
  readonly tenants = new TenantsCalls(this.http);
}
