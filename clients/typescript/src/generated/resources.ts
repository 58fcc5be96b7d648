// Written by generate.mjs from the API document of the server: change that, and run `npm run generate`.

import type { LiveEvent } from "../live.js";
import type { AnyData, EventOf } from "../event.js";
import { Resource, path } from "../resource.js";
import type { Import } from "../import.js";
import type { Options } from "../options.js";
import type { Pages } from "../pages.js";
import type {
  AllPreferences,
  CancelAnswer,
  CancelKey,
  Counted,
  DroppedDays,
  DueAnswer,
  EventLineAnswer,
  EventOutcome,
  EventWithOutcome,
  Explain,
  Explained,
  Feed,
  FlushLimits,
  Flushed,
  ForgetDays,
  GonePushSubscription,
  Group,
  Hook,
  InboxCounts,
  ItemAnswer,
  Items,
  KeyMade,
  KeyToMake,
  KeysAnswer,
  LineAnswer,
  Member,
  MemberChange,
  MembersPage,
  MessageDetails,
  MessagePage,
  MessageShown,
  NamedObject,
  NamedRecipient,
  NamedTenant,
  NodeShown,
  ObjectChange,
  OfTenant,
  OperatedAnswer,
  Page,
  Pending,
  Preference,
  PreferenceChange,
  Preview,
  PublishedEvent,
  PushSubscription,
  RecipientChange,
  RecipientProfile,
  Replay,
  SigningKeyMade,
  SigningKeyToMake,
  SigningKeysAnswer,
  StatusAnswer,
  Subscription,
  Subscriptions,
  SuppressedAddress,
  Suppression,
  SuppressionPage,
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
   * Answers 200 as long as the process runs, also while it starts. Needs no key.
   *
   * `GET /healthz`
   */
  health(options?: Options): Promise<string> {
    return this.http.text("GET", "/healthz", options);
  }

  /**
   * Get a guide for language models.
   *
   * A short text in Markdown (llmstxt.org): what this server is, its first calls, its pages and all of its calls. Made
   * from the documentation and this document. Needs no key.
   *
   * `GET /llms.txt`
   */
  getLlmsTxt(options?: Options): Promise<string> {
    return this.http.text("GET", "/llms.txt", options);
  }

  /**
   * Get the metrics.
   *
   * Prometheus text format. It also answers while the store can't be used, with the metrics that are available
   * then.
   *
   * `GET /metrics`
   */
  metrics(options?: Options): Promise<string> {
    return this.http.text("GET", "/metrics", options);
  }

  /**
   * Check whether the server is ready.
   *
   * Answers 503 while the server starts, while the store can't be used or read, and while it stops. A feed that can't be
   * read is named, and the answer is 200: the server serves. Needs no key.
   *
   * `GET /readyz`
   */
  ready(options?: Options): Promise<string> {
    return this.http.text("GET", "/readyz", options);
  }

  /**
   * List the nodes.
   *
   * The nodes that share the store, as of the last heartbeat, in the order of their names. Empty for a server with a
   * data directory of its own.
   *
   * `GET /v1/nodes`
   */
  nodes(options?: Options): Promise<NodeShown[]> {
    return this.http.send("GET", "/v1/nodes", options);
  }

  /**
   * Get this document.
   *
   * The OpenAPI document of the server that answers. The same text is `docs/openapi.json` of the release. Needs no key.
   *
   * `GET /v1/openapi.json`
   */
  openapi(options?: Options): Promise<Record<string, unknown>> {
    return this.http.send("GET", "/v1/openapi.json", options);
  }
}

/** Status and actions for operators */
export class AdminCalls extends Resource {
  /**
   * Back up everything.
   *
   * Streams the store's content at one moment; the server continues meanwhile. `tidings restore` makes a store
   * of it and refuses an incomplete one. The stream ends if its reader accepts no data for 30 seconds, or less than
   * 64 KiB a second over a minute. Two may be read at once. Days that are deleted meanwhile keep their disk space until the backup ends.
   *
   * `GET /v1/admin/backup`
   */
  backup(options?: Options): Promise<ReadableStream<Uint8Array>> {
    return this.http.bytes("GET", "/v1/admin/backup", options);
  }

  /**
   * List what comes due.
   *
   * Counts open lanes by the hour in which they are due, messages that are being sent or wait for a retry, and
   * scheduled events. A lane with only cancelled entries is counted too; it sends nothing.
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
   * Delete old days.
   *
   * Permanently deletes all data of the days before a date. Notifications that are not sent yet end as
   * expired. Today is always kept.
   *
   * `POST /v1/admin/forget`
   */
  forget(body: ForgetDays, options?: Options): Promise<DroppedDays> {
    return this.http.send("POST", "/v1/admin/forget", options, body);
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
   * Counts recipients, and entries by outcome, and lists what is paused.
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
   * Streams lines that `tidings simulate` plays: first all tenants, recipients, memberships, subscriptions and preferences
   * as they are now, then the events of the last days as they were accepted, today included, and last which tenants are
   * disabled. Events that are still scheduled, changes of objects, marks of seen and cancels are not part of it, nor are
   * events of tenants that were deleted. For one tenant: its members by name, and its events. Two exports may be read at
   * once, one of each API key. The stream ends if its reader takes less than 64 KiB a second over a minute.
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
  cancelAll(body: CancelKey, options?: Options): Promise<CancelAnswer> {
    return this.http.send("POST", "/v1/cancel", options, body);
  }

  /**
   * Publish an event.
   *
   * An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (Where parts of the
   * store are at several nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is
   * `rejected` with its problem, and the others are accepted.
   *
   * Of several nodes the answer waits up to a second until all parts of the store have the event in their inboxes, and
   * `applied` says whether they do. With `Prefer: respond-async` it does not wait.
   *
   * CloudEvents 1.0 (the schema `CloudEvent`) are taken in structured mode (`application/cloudevents+json`), as a batch
   * (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`, `ce-id`,
   * `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
   * the two. `time` is its `occurred_at`, `traceparent` its `trace`. A batch is answered as an array is.
   *
   * `POST /v1/events`
   */
  publish(event: EventOf<D>, options?: Options): Promise<PublishedEvent>;
  /**
   * Publish events, each accepted or rejected by itself.
   *
   * An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (Where parts of the
   * store are at several nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is
   * `rejected` with its problem, and the others are accepted.
   *
   * Of several nodes the answer waits up to a second until all parts of the store have the event in their inboxes, and
   * `applied` says whether they do. With `Prefer: respond-async` it does not wait.
   *
   * CloudEvents 1.0 (the schema `CloudEvent`) are taken in structured mode (`application/cloudevents+json`), as a batch
   * (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`, `ce-id`,
   * `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
   * the two. `time` is its `occurred_at`, `traceparent` its `trace`. A batch is answered as an array is.
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
   * Get an event and what became of it.
   *
   * Returns the event, and its entries counted by channel, outcome and reason, as long as the day of its
   * arrival is kept.
   *
   * `GET /v1/events/{id}`
   */
  get(id: string, options?: Options): Promise<EventWithOutcome> {
    return this.http.send("GET", path`/v1/events/${id}`, options);
  }

  /**
   * Cancel an event.
   *
   * Pending notifications end at once. Those in a message that is built and not handed over yet are removed
   * from it. `status` says how far the cancel went. An unknown event is not an error: the status is `remembered`, and
   * the event is cancelled if it comes within 24 hours.
   *
   * `POST /v1/events/{id}/cancel`
   */
  cancel(id: string, options?: Options & OfTenant): Promise<CancelAnswer> {
    return this.http.send("POST", path`/v1/events/${id}/cancel`, options, options?.tenant && { tenant: options.tenant });
  }

  /**
   * Withdraw an event.
   *
   * Cancels it as `cancel` does, and takes what inboxes were told of it out of them. It stays counted as delivered.
   *
   * `POST /v1/events/{id}/withdraw`
   */
  withdraw(id: string, options?: Options & OfTenant): Promise<CancelAnswer> {
    return this.http.send("POST", path`/v1/events/${id}/withdraw`, options, options?.tenant && { tenant: options.tenant });
  }

  /**
   * Explain why a recipient got an event, or did not.
   *
   * Returns each rule in its order, with what it looked at and what came of it: up to the message that carried the
   * event, or to the rule that ended it, as long as the day of the event's arrival is kept. What is not stored, such as
   * who was in an audience then, is told as it is now, and the result says so. With an event in place of its id:
   * what would become of it if it were published now; nothing is published.
   * The body has at most 512 KiB.
   *
   * `POST /v1/explain`
   */
  explain(body: Explain, options?: Options): Promise<Explained> {
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
  withdrawAll(body: CancelKey, options?: Options): Promise<CancelAnswer> {
    return this.http.send("POST", "/v1/withdraw", options, body);
  }
}

/** List, pause and resume types and channels */
export class ConfigurationCalls extends Resource {
  /**
   * Pause a channel.
   *
   * No lane of the channel closes and no message is sent on it, retries included, until it is resumed. A
   * paused inbox does not show new notifications.
   *
   * `POST /v1/channels/{channel}/pause`
   */
  pauseChannel(channel: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/channels/${channel}/pause`, options);
  }

  /**
   * Resume a channel.
   *
   * Due lanes are sent at once, one message per lane.
   *
   * `POST /v1/channels/{channel}/resume`
   */
  resumeChannel(channel: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/channels/${channel}/resume`, options);
  }

  /**
   * List types, categories, digests and channels.
   *
   * Returns the configuration in force: what a host needs to publish and to show a preference page.
   *
   * `GET /v1/types`
   */
  types(options?: Options): Promise<TypesAnswer> {
    return this.http.send("GET", "/v1/types", options);
  }

  /**
   * Pause a type.
   *
   * Notifications of the type wait in a lane of their own, including those that are pending already. Other
   * types are sent as before. A message that is already built and includes the type waits too.
   *
   * `POST /v1/types/{type}/pause`
   */
  pauseType(type: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/types/${type}/pause`, options);
  }

  /**
   * Resume a type.
   *
   * Waiting notifications return to the lanes that now apply, by their time: overdue ones are sent at once, a
   * digest sends them at its next slot.
   *
   * `POST /v1/types/{type}/resume`
   */
  resumeType(type: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/types/${type}/resume`, options);
  }
}

/** Databases out of which events are read */
export class FeedsCalls extends Resource {
  /**
   * List the feeds.
   *
   * The feeds of the configuration, by name, as the server reads them now.
   *
   * `GET /v1/feeds`
   */
  list(options?: Options): Promise<Feed[]> {
    return this.http.send("GET", "/v1/feeds", options);
  }

  /**
   * Pause a feed.
   *
   * Nothing is read from the database until it is resumed, also after a restart. Rows wait in the table.
   *
   * `POST /v1/feeds/{name}/pause`
   */
  pause(name: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/feeds/${name}/pause`, options);
  }

  /**
   * Resume a feed.
   *
   * A feed that was paused, or that has stopped by itself, is read again.
   *
   * `POST /v1/feeds/{name}/resume`
   */
  resume(name: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/feeds/${name}/resume`, options);
  }
}

/** Services of the host that are told what became of messages */
export class HooksCalls extends Resource {
  /**
   * List the hooks.
   *
   * The services of the host that are told what became of messages, preferences and addresses, in the order of the
   * configuration. Of several nodes, each tells what its parts of the store decided: the counts are of those that answered.
   *
   * `GET /v1/hooks`
   */
  list(options?: Options): Promise<Hook[]> {
    return this.http.send("GET", "/v1/hooks", options);
  }

  /**
   * Replay a hook.
   *
   * What occurred since an instant, of the kinds that the hook wants, is sent again under the same ids. Nothing is sent
   * of days that were deleted, nor of times at which no hook wanted it.
   *
   * `POST /v1/hooks/{name}/replay`
   */
  replay(name: string, body: Replay, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/hooks/${name}/replay`, options, body);
  }

  /**
   * Resume a hook.
   *
   * A hook that answered 410 is off, and stays so over a restart. From now on it is on: what it was not told is told.
   *
   * `POST /v1/hooks/{name}/resume`
   */
  resume(name: string, options?: Options): Promise<void> {
    return this.http.send("POST", path`/v1/hooks/${name}/resume`, options);
  }
}

/** What end users may do by themselves, with a token that the application signs */
export class MeCalls extends Resource {
  /**
   * Send a recipient's pending notifications now.
   *
   * Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused channel are sent
   * when the channel is resumed; notifications of a paused type stay, and so do those that are scheduled. The body may be left out.
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
   * Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next`
   * for older groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant
   * and of none, here and in counts and streams. Of two answers the one with the higher `rev` is
   * newer; with `since` and `wait` the answer comes as soon as there is a newer one (long poll).
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
    /** False: each item is a group. */
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
    /** False: each item is a group. */
    grouped?: boolean | undefined;
    /** Answer as soon as `rev` is above this one, or 304 if it is not within `wait`. */
    since: number;
    /**
     * The time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient has at most 8 calls that wait.
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
   * They leave pages and counts, but for `state=archived` and `all`, and count as seen for other channels. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * Counts groups with something unseen and with something unread, of the whole inbox and of each category, as its page
   * does.
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
   * They are gone for good; the books stay. They count as seen for other channels. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * What is read is seen. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * Lowers `unseen`, not `unread`. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * They leave the inbox until an instant (`until`) or for a duration (`for`). Then they are in it again, unseen and unread,
   * at the place of that instant. Answers with the counts after it.
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
   * They come back as they were. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * What was seen stays seen. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * They come back as they were, to where they were. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * A stream of server-sent events. The first is `hello`, with the counts; then each change of the inbox is an event
   * `inbox`, within 100 ms: the counts, the groups that are new or have changed (`changed`), and the keys of those that
   * are no longer there (`gone`). Changes that come close together may be one event. Its `id` is a cursor: with
   * `Last-Event-ID` the stream goes on from there, or `hello` has `"reset": true`, and the page is to be read anew. A
   * comment comes every 15 s. `end` comes before the server closes the stream, with a `code`: `restart` (after
   * `retry_ms` it may be opened again), `replaced` (the recipient has opened more than 8 of that view, or 32 with long polls), or why the token has ended
   * (`token_expired`, `token_revoked`, `token_key`).
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
   * Returns open lanes with their deadline and notifications, messages that wait for a retry, and scheduled
   * events, of the reader's view.
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
   * Lists preferences for types, categories and digests that are configured now, and mutes. What is the same on each
   * channel is one item, on `*`. Without a preference the policy of the type applies. With `choices=true`, and for end
   * users, the list is `preferences` of an object that has also what a page of preferences shows: for each category and
   * type the modes that may be chosen, the one in force and where it comes from; mutes, quiet hours with
   * those in force and their time zone, and the key of Web Push.
   *
   * `GET /v1/me/preferences`
   */
  preferences(options?: Options): Promise<AllPreferences> {
    return this.http.send("GET", "/v1/me/preferences", options);
  }

  /**
   * Set some preferences of a recipient.
   *
   * Sets the preferences in the list; the others stay as they are. `default` removes a preference. Either the
   * whole list is accepted or nothing. Pending notifications move to the lane that now applies; `never`
   * cancels them. An object has the list as `preferences`, and may set `quiet_hours` as a profile does; of it neither has
   * to be given.
   *
   * `PATCH /v1/me/preferences`
   */
  patchPreferences(body: PreferenceChange, options?: Options): Promise<Warned | undefined> {
    return this.http.send("PATCH", "/v1/me/preferences", options, body);
  }

  /**
   * Add a browser of a recipient.
   *
   * The body is the browser's subscription to Web Push, as `JSON.stringify(subscription)` gives it. It joins the
   * recipient's addresses of the channel `webpush`, for messages of the tenant of the token and of none, or of all where
   * the token has no tenant; one with the same endpoint and tenant is replaced. Of more than 20 browsers of a tenant, or of
   * all, the oldest of them leaves, and of more than 40 in all the oldest of the recipient.
   *
   * `PUT /v1/me/push`
   */
  addPush(body: PushSubscription, options?: Options & {
    /** For messages of this tenant and of none, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<void> {
    return this.http.send("PUT", "/v1/me/push", options, body, { tenant: options?.tenant });
  }

  /**
   * Remove a browser of a recipient.
   *
   * The body is the browser's subscription to Web Push; its `endpoint` is enough. One that joined for another tenant than
   * that of the token, or for all, stays; a token without a tenant removes it for all. One that is no address of the
   * recipient is not an error.
   *
   * `DELETE /v1/me/push`
   */
  removePush(body: GonePushSubscription, options?: Options & {
    /** Only as it joined for this tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<void> {
    return this.http.send("DELETE", "/v1/me/push", options, body, { tenant: options?.tenant });
  }

  /**
   * List a recipient's subscriptions.
   *
   * Lists all topics, sorted by bytes.
   *
   * `GET /v1/me/subscriptions`
   */
  subscriptions(options?: Options): Promise<Subscriptions> {
    return this.http.send("GET", "/v1/me/subscriptions", options);
  }

  /**
   * Follow a topic.
   *
   * A subscription covers the topic and everything below it: a follower of `artist` is notified of events to
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
   * Earlier events are not cancelled. A topic that the recipient does not follow is not an error.
   *
   * `DELETE /v1/me/subscriptions/{topic}`
   */
  unfollow(topic: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/me/subscriptions/${topic}`, options);
  }
}

/** Messages of channels: their time line, retry, cancel and resend */
export class MessagesCalls extends Resource {
  /**
   * List messages.
   *
   * Returns messages of all channels but the inbox, as long as the day on which they were built is kept: those that are
   * not built yet, then by that day, newest first. What they tell is in `GET /v1/messages/{id}`.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/messages`
   */
  list(query?: {
    /** Only messages to this recipient. */
    recipient?: string | undefined;
    /** Only messages on this channel. */
    channel?: string | undefined;
    /**
     * Only messages in this state: `planned`, `sending`, `retrying`, `sent`, `failed`, `unknown`, `suppressed` or
     * `cancelled`.
     */
    state?: string | undefined;
    /** Only messages with a notification of this type. */
    type?: string | undefined;
    /** Only messages of this tenant. */
    tenant?: string | undefined;
    /** Only messages that were built on this UTC date. */
    day?: string | undefined;
    /** Maximum number of messages; 50 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page. */
    cursor?: string | undefined;
  }, options?: Options): Pages<MessagePage, MessageShown> {
    return this.http.pages("/v1/messages", "messages", query, options);
  }

  /**
   * Get a message.
   *
   * Returns a message with what it tells, its attempts, and its time line: what entered its lane, the rules that decided
   * when it went, what providers said of it.
   *
   * `GET /v1/messages/{id}`
   */
  get(id: string, options?: Options): Promise<MessageDetails> {
    return this.http.send("GET", path`/v1/messages/${id}`, options);
  }

  /**
   * Cancel a message.
   *
   * Takes all notifications out of a message that is surely not handed over; they end as `cancelled`, with the reason
   * `message`. `status` says how far that went.
   *
   * `POST /v1/messages/{id}/cancel`
   */
  cancel(id: string, options?: Options): Promise<OperatedAnswer> {
    return this.http.send("POST", path`/v1/messages/${id}/cancel`, options);
  }

  /**
   * Resend a message.
   *
   * Sends a message again that was `sent`, or whose outcome is `unknown` or `failed`: the recipient may get it twice. It
   * counts as `resent`; what was delivered stays delivered, whatever becomes of the copy.
   *
   * `POST /v1/messages/{id}/resend`
   */
  resend(id: string, options?: Options): Promise<OperatedAnswer> {
    return this.http.send("POST", path`/v1/messages/${id}/resend`, options);
  }

  /**
   * Retry a message.
   *
   * Sends a message that `failed` again, as it was built; one that is `retrying` is tried at once. What its recipient has
   * set to `never` or muted since is left out.
   *
   * `POST /v1/messages/{id}/retry`
   */
  retry(id: string, options?: Options): Promise<OperatedAnswer> {
    return this.http.send("POST", path`/v1/messages/${id}/retry`, options);
  }

  /**
   * Preview the mail that a recipient gets next.
   *
   * Builds the mail of the lane that is due first, or of the named one, with what waits in it now and in the words of now.
   * Scheduled entries are in no lane yet, and counted apart. Nothing is sent or recorded.
   *
   * `GET /v1/recipients/{id}/preview`
   */
  preview(id: string, query?: {
    /** Name of a lane, as `pending` lists it */
    lane?: string | undefined;
  }, options?: Options): Promise<Preview> {
    return this.http.send("GET", path`/v1/recipients/${id}/preview`, options, undefined, query);
  }
}

/** The things that events are about */
export class ObjectsCalls extends Resource {
  /**
   * Make or change many objects.
   *
   * Takes an array of at most 10,000 objects, or a stream of any length with one per line. Only the given
   * fields change. Each item is accepted or rejected by itself; the answers are in order.
   *
   * `POST /v1/objects`
   */
  upsertMany(body: readonly NamedObject[], options?: Options): Promise<ItemAnswer[]> {
    return this.http.send("POST", "/v1/objects", options, body);
  }

  /**
   * Make or change many objects, as many as there are.
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
   * Make or change an object.
   *
   * Only the given fields change; null counts as not given. Lifts a retraction. What is given is kept until it is changed
   * or the object deleted, also where no event names the object; `[limits] objects` bounds the number of such objects.
   *
   * `PUT /v1/objects/{id}`
   */
  upsert(id: string, body: ObjectChange, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/objects/${id}`, options, body);
  }

  /**
   * Retract an object.
   *
   * Skips pending notifications about the object when their message is built. A later publish or change of the
   * object lifts the retraction. From now on the object is kept only as long as a kept day names it.
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
   * Make or change many recipients.
   *
   * Takes an array of at most 10,000 profiles, or a stream of any length with one per line. Creates unknown
   * recipients. Only the given fields change. Each item is accepted or rejected by itself; the answers are in
   * order.
   *
   * `POST /v1/recipients`
   */
  patchMany(body: readonly NamedRecipient[], options?: Options): Promise<ItemAnswer[]> {
    return this.http.send("POST", "/v1/recipients", options, body);
  }

  /**
   * Make or change many recipients, as many as there are.
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
   * Every field but `tenants` is present; null = the default of the configuration applies.
   *
   * `GET /v1/recipients/{id}`
   */
  get(id: string, options?: Options): Promise<RecipientProfile> {
    return this.http.send("GET", path`/v1/recipients/${id}`, options);
  }

  /**
   * Put a recipient's whole profile.
   *
   * Creates the recipient if there is none. Absent fields get their default. A profile from `GET` can be put
   * back as it is.
   *
   * `PUT /v1/recipients/{id}`
   */
  upsert(id: string, body: RecipientChange, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/recipients/${id}`, options, body);
  }

  /**
   * Change a recipient's profile.
   *
   * Creates the recipient if there is none. Only the given fields change; null removes a value.
   *
   * `PATCH /v1/recipients/{id}`
   */
  patch(id: string, body: RecipientChange, options?: Options): Promise<void> {
    return this.http.send("PATCH", path`/v1/recipients/${id}`, options, body);
  }

  /**
   * Erase a recipient.
   *
   * Deletes profile, preferences, subscriptions and marks at once. Pending notifications end as cancelled when
   * they are due. Messages that are already built are not sent any more.
   *
   * `DELETE /v1/recipients/{id}`
   */
  erase(id: string, options?: Options): Promise<void> {
    return this.http.send("DELETE", path`/v1/recipients/${id}`, options);
  }

  /**
   * Add a browser of a recipient.
   *
   * The body is the browser's subscription to Web Push, as `JSON.stringify(subscription)` gives it. It joins the
   * recipient's addresses of the channel `webpush`, for messages of the tenant of the token and of none, or of all where
   * the token has no tenant; one with the same endpoint and tenant is replaced. Of more than 20 browsers of a tenant, or of
   * all, the oldest of them leaves, and of more than 40 in all the oldest of the recipient.
   *
   * `PUT /v1/recipients/{id}/push`
   */
  addPush(id: string, body: PushSubscription, options?: Options & {
    /** For messages of this tenant and of none, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<void> {
    return this.http.send("PUT", path`/v1/recipients/${id}/push`, options, body, { tenant: options?.tenant });
  }

  /**
   * Remove a browser of a recipient.
   *
   * The body is the browser's subscription to Web Push; its `endpoint` is enough. One that joined for another tenant than
   * that of the token, or for all, stays; a token without a tenant removes it for all. One that is no address of the
   * recipient is not an error.
   *
   * `DELETE /v1/recipients/{id}/push`
   */
  removePush(id: string, body: GonePushSubscription, options?: Options & {
    /** Only as it joined for this tenant, as with a token with this claim */
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
   * Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused channel are sent
   * when the channel is resumed; notifications of a paused type stay, and so do those that are scheduled. The body may be left out.
   *
   * `POST /v1/recipients/{id}/flush`
   */
  flush(id: string, body?: FlushLimits, options?: Options & {
    /** Only entries of this tenant and those without a tenant, as with a token with this claim */
    tenant?: string | undefined;
  }): Promise<Flushed> {
    return this.http.send("POST", path`/v1/recipients/${id}/flush`, options, body, { tenant: options?.tenant });
  }

  /**
   * List a recipient's pending notifications.
   *
   * Returns open lanes with their deadline and notifications, messages that wait for a retry, and scheduled
   * events, of the reader's view.
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
   * Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next`
   * for older groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant
   * and of none, here and in counts and streams. Of two answers the one with the higher `rev` is
   * newer; with `since` and `wait` the answer comes as soon as there is a newer one (long poll).
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
    /** False: each item is a group. */
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
    /** False: each item is a group. */
    grouped?: boolean | undefined;
    /** Answer as soon as `rev` is above this one, or 304 if it is not within `wait`. */
    since: number;
    /**
     * The time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient has at most 8 calls that wait.
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
   * They leave pages and counts, but for `state=archived` and `all`, and count as seen for other channels. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * Counts groups with something unseen and with something unread, of the whole inbox and of each category, as its page
   * does.
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
   * They are gone for good; the books stay. They count as seen for other channels. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * What is read is seen. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * Lowers `unseen`, not `unread`. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * They leave the inbox until an instant (`until`) or for a duration (`for`). Then they are in it again, unseen and unread,
   * at the place of that instant. Answers with the counts after it.
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
   * They come back as they were. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * What was seen stays seen. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * They come back as they were, to where they were. Answers with the counts after it, also where it hits nothing. An event or a group is marked wherever it is,
   * the others in the inbox.
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
   * A stream of server-sent events. The first is `hello`, with the counts; then each change of the inbox is an event
   * `inbox`, within 100 ms: the counts, the groups that are new or have changed (`changed`), and the keys of those that
   * are no longer there (`gone`). Changes that come close together may be one event. Its `id` is a cursor: with
   * `Last-Event-ID` the stream goes on from there, or `hello` has `"reset": true`, and the page is to be read anew. A
   * comment comes every 15 s. `end` comes before the server closes the stream, with a `code`: `restart` (after
   * `retry_ms` it may be opened again), `replaced` (the recipient has opened more than 8 of that view, or 32 with long polls), or why the token has ended
   * (`token_expired`, `token_revoked`, `token_key`).
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

/** Choices of recipients: what they receive, on which channel and when */
export class PreferencesCalls extends Resource {
  /**
   * List the preferences of a recipient.
   *
   * Lists preferences for types, categories and digests that are configured now, and mutes. What is the same on each
   * channel is one item, on `*`. Without a preference the policy of the type applies. With `choices=true`, and for end
   * users, the list is `preferences` of an object that has also what a page of preferences shows: for each category and
   * type the modes that may be chosen, the one in force and where it comes from; mutes, quiet hours with
   * those in force and their time zone, and the key of Web Push.
   *
   * `GET /v1/recipients/{id}/preferences`
   */
  get(id: string, options?: Options): Promise<Preference[]> {
    return this.http.send("GET", path`/v1/recipients/${id}/preferences`, options);
  }

  /**
   * Get the preferences of a recipient, with all that may be chosen.
   *
   * Lists preferences for types, categories and digests that are configured now, and mutes. What is the same on each
   * channel is one item, on `*`. Without a preference the policy of the type applies. With `choices=true`, and for end
   * users, the list is `preferences` of an object that has also what a page of preferences shows: for each category and
   * type the modes that may be chosen, the one in force and where it comes from; mutes, quiet hours with
   * those in force and their time zone, and the key of Web Push.
   *
   * `GET /v1/recipients/{id}/preferences`
   */
  choices(id: string, options?: Options): Promise<AllPreferences> {
    return this.http.send("GET", path`/v1/recipients/${id}/preferences`, options, undefined, {choices: true});
  }

  /**
   * Replace all preferences of a recipient.
   *
   * Preferences that are not in the list return to their default, but a `never` for a type or category that is
   * not configured now is kept. Mutes that are not in the list are lifted. Either the whole list is accepted or nothing.
   * Pending notifications move to the lane that now applies; `never` cancels them. With `tenant` in the query
   * the list is that of the tenant, and what is set with another or without one stays.
   *
   * `PUT /v1/recipients/{id}/preferences`
   */
  replace(id: string, body: readonly Preference[], options?: Options): Promise<Warned | undefined> {
    return this.http.send("PUT", path`/v1/recipients/${id}/preferences`, options, body);
  }

  /**
   * Set some preferences of a recipient.
   *
   * Sets the preferences in the list; the others stay as they are. `default` removes a preference. Either the
   * whole list is accepted or nothing. Pending notifications move to the lane that now applies; `never`
   * cancels them. An object has the list as `preferences`, and may set `quiet_hours` as a profile does; of it neither has
   * to be given.
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
   * Lists all topics, sorted by bytes.
   *
   * `GET /v1/recipients/{id}/subscriptions`
   */
  list(id: string, options?: Options): Promise<Subscriptions> {
    return this.http.send("GET", path`/v1/recipients/${id}/subscriptions`, options);
  }

  /**
   * Follow a topic.
   *
   * A subscription covers the topic and everything below it: a follower of `artist` is notified of events to
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
   * Earlier events are not cancelled. A topic that the recipient does not follow is not an error.
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
}

/** Addresses to which nothing is sent */
export class SuppressionsCalls extends Resource {
  /**
   * List suppressed addresses.
   *
   * Returns the addresses to which nothing is sent, by channel and address, without those whose suppression has
   * expired.
   *
   * Awaited it is a page; iterated over (`for await`) it is the items of all pages.
   *
   * `GET /v1/suppressions`
   */
  list(query?: {
    /** Only addresses of this channel. */
    channel?: string | undefined;
    /** Maximum number of addresses; 100 if absent. */
    limit?: number | undefined;
    /** Start of the page: `next` of the previous page. */
    cursor?: string | undefined;
  }, options?: Options): Pages<SuppressionPage, SuppressedAddress> {
    return this.http.pages("/v1/suppressions", "suppressions", query, options);
  }

  /**
   * Get a suppressed address.
   *
   * Returns why an address is suppressed, since when and until when.
   *
   * `GET /v1/suppressions/{channel}/{address}`
   */
  get(channel: string, address: string, options?: Options): Promise<SuppressedAddress> {
    return this.http.send("GET", path`/v1/suppressions/${channel}/${address}`, options);
  }

  /**
   * Suppress an address.
   *
   * Nothing is sent to the address on this channel from now on, whoever has it: what is due ends as `skipped`, with the
   * reason `suppressed`. Replaces an earlier suppression of the address. The body may be left out.
   *
   * `PUT /v1/suppressions/{channel}/{address}`
   */
  add(channel: string, address: string, body?: Suppression, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/suppressions/${channel}/${address}`, options, body);
  }

  /**
   * Lift the suppression of an address.
   *
   * Messages are sent to it again from now on. What was skipped meanwhile does not come back. An address that is not
   * suppressed stays so.
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
    /** Start of the page: `next` of the previous page. */
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
   * Every field is present; null = the default of the configuration applies.
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
    /** Start of the page: `next` of the previous page. */
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
   * A recipient may be a member of many tenants.
   *
   * `PUT /v1/tenants/{id}/members/{recipient}`
   */
  addMember(id: string, recipient: string, options?: Options): Promise<void> {
    return this.http.send("PUT", path`/v1/tenants/${id}/members/${recipient}`, options);
  }

  /**
   * Remove a member.
   *
   * Also removes the recipient's subscriptions of the tenant. Notifications and preferences stay.
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
  /** Databases out of which events are read */
  readonly feeds = new FeedsCalls(this.http);
  /** Services of the host that are told what became of messages */
  readonly hooks = new HooksCalls(this.http);
  /** What end users may do by themselves, with a token that the application signs */
  readonly me = new MeCalls(this.http);
  /** Messages of channels: their time line, retry, cancel and resend */
  readonly messages = new MessagesCalls(this.http);
  /** The things that events are about */
  readonly objects = new ObjectsCalls(this.http);
  /** Profiles of the people who can be notified */
  readonly recipients = new RecipientsCalls(this.http);
  /** Pending notifications, and sending them now */
  readonly pending = new PendingCalls(this.http);
  /** Inboxes, and seen and read marks */
  readonly inbox = new InboxCalls(this.http);
  /** Choices of recipients: what they receive, on which channel and when */
  readonly preferences = new PreferencesCalls(this.http);
  /** Topics that recipients follow */
  readonly subscriptions = new SubscriptionsCalls(this.http);
  /** Addresses to which nothing is sent */
  readonly suppressions = new SuppressionsCalls(this.http);
  /** Organisations with members, defaults and a look of their own */
  readonly tenants = new TenantsCalls(this.http);
}
