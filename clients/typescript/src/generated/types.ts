// Written by generate.mjs from the API document of the server: change that, and run `npm run generate`.

/** Addresses by channel; null removes those of one. */
export interface Addresses {
  /** Address of the Apple push channel. */
  apns?: string | string[] | null | undefined;
  /** Address of the Discord channel. */
  discord?: string | null | undefined;
  /** Address of the e-mail channel. */
  email?: string | null | undefined;
  /** Address of the Firebase push channel. */
  fcm?: string | string[] | null | undefined;
  /** Address of the Slack channel. */
  slack?: string | null | undefined;
  /** Address of the SMS channel. */
  sms?: string | null | undefined;
  /** Address of the Teams channel. */
  teams?: string | null | undefined;
  /** Address of the Telegram channel. */
  telegram?: string | null | undefined;
  /** Address of the webhook channel. */
  webhook?: string | null | undefined;
  /** Address of the Web Push channel. */
  webpush?: PushAddress | PushAddress[] | null | undefined;
}

/** Addresses by channel. */
export interface AddressesShown {
  /** Address of the Apple push channel. */
  apns?: string | string[] | null;
  /** Address of the Discord channel. */
  discord?: string | null;
  /** Address of the e-mail channel. */
  email?: string | null;
  /** Address of the Firebase push channel. */
  fcm?: string | string[] | null;
  /** Address of the Slack channel. */
  slack?: string | null;
  /** Address of the SMS channel. */
  sms?: string | null;
  /** Address of the Teams channel. */
  teams?: string | null;
  /** Address of the Telegram channel. */
  telegram?: string | null;
  /** Address of the webhook channel. */
  webhook?: string | null;
  /** Address of the Web Push channel. */
  webpush?: PushAddress | PushAddress[] | null;
}

/** The preferences of a recipient, with all that a page of preferences shows. */
export interface AllPreferences {
  /** The categories that have types, in the order of the configuration. */
  choices: CategoryChoice[];
  /** The times in force of the digests that let recipients choose some. */
  digest_times: DigestTimes[];
  /** The titles of digests in the recipient's language, by name; digests without a title are left out. */
  digests: Record<string, string>;
  /** The muted topics and objects. */
  mutes: Mute[];
  /** The preferences that are set, mutes included. */
  preferences: Preference[];
  /** The key by which browsers subscribe; absent if nothing is sent to browsers. */
  push?: PushKey | null;
  /** Quiet hours: null = none, `default` = those of each channel. */
  quiet_hours?: QuietHoursChoice | null;
  /**
   * The quiet hours in force, by channel, whether set by the recipient, the tenant or the configuration; channels
   * without any are left out.
   */
  quiet_hours_in_force: QuietHoursInForce[];
  /** The time zone of quiet hours and digests: the recipient's, else the tenant's, else the default. */
  tz: string;
}

/** Attempts in a row with the same answer. */
export interface AttemptShown {
  /**
   * `sent`, `retry` (surely not handed over), `failed` (refused permanently) or `unknown`; in later reports
   * `delivered`, `delayed`, `bounced`, `complained`, `opened` or `clicked`.
   */
  answer: string;
  /** Time of the first. */
  at: string;
  /** Number of attempts. */
  count: number;
  /** The provider, without secrets. */
  provider: string;
  /**
   * The provider's answer: stage and code of a refusal, without its text, which may contain addresses; the receipt
   * of a sent message.
   */
  reply: string;
  /** Time of the last. */
  until: string;
}

/** The audience of an event: the union of its fields, without the actor and without `except`. */
export interface Audience {
  /** All recipients. */
  everyone?: boolean | null | undefined;
  /**
   * Recipients to leave out by id, whatever their reasons: up to 10,000, see `[limits]`. Unknown ones are ignored.
   */
  except?: string[] | null | undefined;
  /** Recipients within a circle, or within one of several: up to 50, see `[limits]`. */
  near?: Circles | null | undefined;
  /**
   * Recipients by id. An object in place of an id first creates the recipient, or changes the given fields of the
   * profile.
   */
  recipients?: IdOrProfile[] | null | undefined;
  /** Recipients who follow one of these topics, or a parent of it. */
  topics?: string[] | null | undefined;
}

/** The audience of an event on a channel: `concerned` = entries + all that are left out. */
export interface AudienceOnChannel {
  /** Number of entries. */
  entries: number;
  /** Number of recipients without an entry by reason: `preference`, `once_pending`, `once_ever`. */
  left_out: Record<string, number>;
  /** Number of ended entries by outcome. */
  outcomes: Record<string, number>;
  /** Number of entries that wait, are scheduled, or are being sent. */
  pending: number;
  /** Number of undelivered entries by reason. */
  reasons: Record<string, number>;
}

/** A provider, or a destination of one, that is unavailable: nothing is sent to it until its next probe. */
export interface AwayShown {
  /** The channel. */
  channel: string;
  /** The host that recipients name, or the domain of mail addresses; null = the whole provider. */
  destination?: string | null;
  /** The provider, without secrets. */
  provider: string;
  /** Time of the next probe. */
  until: string;
  /** Its last answer. */
  why: string;
}

/** An id alone. */
export type BareId = string;

/** Keys of `[brand]`, with the same checks; null = that of the configuration. */
export interface BrandChange {
  /** `familiar` or `formal`. */
  address?: string | null | undefined;
  /** Colour of links and buttons. */
  color?: string | null | undefined;
  /** Text at the foot of mails. */
  footer?: string | null | undefined;
  /** Picture shown instead of the name. */
  logo?: string | null | undefined;
  /** Picture for dark mode. */
  logo_dark?: string | null | undefined;
  /** Name at the head of mails. */
  name?: string | null | undefined;
  /** Postal address at the foot of mails. */
  postal_address?: string | null | undefined;
  /** Public address at the start of links. */
  url?: string | null | undefined;
}

/** A change of all messages of a filter. */
export interface BulkChange {
  /** The most recipients that it may touch: with more it is refused. Required without `dry`. */
  expect?: number | null | undefined;
  /**
   * The choice of messages: one parameter of `GET /v1/messages` or more, but `limit` and `cursor`. `state` and
   * `type` may be lists.
   */
  filter: Record<string, unknown>;
  /** True = it begins at once; else after ten seconds. */
  now?: boolean | null | undefined;
}

/** The result of a bulk change that was not made. */
export interface BulkForeseen {
  /** The people, entries and messages that it would touch. */
  concerns: Concerned;
  /** Always true: nothing was done. */
  dry: boolean;
  /** Messages that would stay as they are, by the status or the code that the call for each answers. */
  left_out: Record<string, number>;
  /** Number of messages of the filter. */
  of: number;
}

/** The result of a cancel. */
export interface CancelAnswer {
  /** Pending or scheduled entries that are now cancelled. */
  cancelled: number;
  /** With `dry`: what the call would touch. */
  concerns?: Concerned;
  /** With `dry`: true, and nothing was done. */
  dry?: boolean;
  /** Number of events found. */
  events: number;
  /** Entries removed from messages that are built and not handed over yet. A message without entries is not sent. */
  removed_from_batch: number;
  status: CancelStatus;
  /**
   * Entries that can't be cancelled: they are delivered (an inbox entry at once), are being sent, or ended when
   * their message was built.
   */
  too_late: number;
  /** A warning about a request that is accepted, but probably not intended as it is. */
  warnings: CancelWarning[];
  /** Delivered entries that are removed from inboxes; they stay delivered. */
  withdrawn: number;
}

/** The events to cancel or to withdraw. */
export interface CancelKey {
  /** All events published with this key so far. */
  cancellation_key: string;
  /** Only events of this tenant; absent = of every tenant and of none. */
  tenant?: string | null | undefined;
}

/**
 * The extent of the cancel: `removed_from_batch` = entries were removed from a message; `cancelled` = only pending
 * entries were cancelled; `withdrawn` = delivered entries were removed from inboxes; `too_late` = everything was
 * delivered already; `nothing_left` = the event was cancelled before or has no recipients; `remembered` = no event
 * with this id is known, and it is cancelled if it arrives within 24 hours; `unknown` = no event with this key was
 * found.
 */
export type CancelStatus = "cancelled" | "removed_from_batch" | "withdrawn" | "too_late" | "nothing_left" | "remembered" | "unknown" | (string & {});

/** A warning about a request that is accepted, but probably not intended as it is. */
export interface CancelWarning {
  /** The stable code: `unknown_event` or `unknown_cancellation_key`. */
  code: string;
  /** The warning in words. */
  detail: string;
}

/** A category, and the choices for all of its types. */
export interface CategoryChoice {
  /** Its name. */
  category: string;
  /** The channels that its types have. */
  channels: ChannelChoice[];
  /** True if no type of it can be turned off. */
  required: boolean;
  /** Its title, in the recipient's language. */
  title: string;
  /** Its types, in the order of the configuration. */
  types: TypeChoice[];
}

/** The counts of a category, or of a tenant. */
export interface CategoryCounts {
  /** Number of groups with an unread item. */
  unread: number;
  /** Number of groups with an unseen item. */
  unseen: number;
}

/** A category. */
export interface CategoryShown {
  /** The title to show, in the default locale; the category's name if it has none. */
  title: string;
}

/** The author of a change. */
export interface ChangeAuthor {
  /** Id of the key or the recipient, or the name of the rest. */
  id: string;
  /** `key`, `person`, `user` (with a token), `link`, `feed`, `provider`, `command` or `configuration`. */
  kind: string;
  /** Role of a key or a person. */
  role?: string;
}

/** The subject of a change. */
export interface ChangeSubject {
  /** Its id; of an address, and of an erased recipient, a keyed hash. Null = several of the kind, or the only one. */
  id: string | null;
  /** The kind. */
  kind: string;
}

/** A field that was changed. */
export interface ChangedField {
  /** The value before; `"changed"` for names, addresses, data and texts, null for none. */
  from: unknown;
  /** Its name. */
  name: string;
  /** The value after. */
  to: unknown;
}

/** The choices on a channel, and the one in force. */
export interface ChannelChoice {
  /** The channel. */
  channel: string;
  /** False if the recipient has no address on the channel. */
  connected: boolean;
  /** The source of the mode: a preference for the `type`, for its `category`, for all (`*`), or none (`default`). */
  from: PreferenceLevel;
  /**
   * The mode in force; null if the types of a category have several. Types that can be turned off decide about their
   * category, if it has any.
   */
  mode?: string | null;
  /** The modes that may be chosen: `never`, `immediate`, and digests, the most frequent first. */
  modes: string[];
}

/** The entries of an event on a channel, by state: entries = pending + all outcomes. */
export interface ChannelFate {
  /** Number of them. */
  entries: number;
  /**
   * Number of ended entries by outcome: `delivered`, `cancelled`, `skipped`, `expired`, `failed`,
   * `unknown`.
   */
  outcomes: Record<string, number>;
  /** Number of entries that wait, are scheduled, or are being sent. */
  pending: number;
  /** Number of undelivered entries by reason. */
  reasons: Record<string, number>;
}

/** A channel. */
export interface ChannelShown {
  /** True if it can send messages. */
  configured: boolean;
  /** True if an operator has paused it. */
  paused: boolean;
}

export type Circles = GeoCircle | GeoCircle[];

/** An event as a CloudEvent 1.0 in structured mode. Other attributes are ignored. */
export interface CloudEvent {
  /** The body of a publish without `id` and `type`. */
  data: Record<string, unknown>;
  /** Id of the event: the same id is the same event, whatever its `source`. */
  id: string;
  /** The context in which it happened. */
  source: string;
  /** The version of CloudEvents. */
  specversion: string;
  /** Time of the event: its `occurred_at`, unless `data` has one. */
  time?: string | null;
  /** The span that published it: its `trace`, unless `data` has one. */
  traceparent?: string | null;
  /** A type of the configuration. */
  type: string;
}

/** A comparison of the configuration with itself under edits. */
export interface Comparison {
  /** The only channel that counts; absent = all but the inbox. */
  channel?: string | null | undefined;
  /** The last days that are played, today (UTC) included. */
  days: number;
  /** The edits. */
  edits: readonly Edit[];
}

/** A comparison that was begun. */
export interface ComparisonBegun {
  /** Id of its job. */
  job: string;
}

/** The number of people, entries and messages that a change touches, or would touch. */
export interface Concerned {
  /** Number of entries that it would make, end, send or take back. */
  entries: number;
  /** Number of built messages that it would send, change or stop; of `flush` the number of lanes. */
  messages: number;
  /** Number of recipients that it would touch. */
  people: number;
}

/** A fault of a configuration. */
export interface ConfigFault {
  /** The column in characters, counted from 1; null = the file as a whole. */
  column: number | null;
  /** The file. */
  file: string;
  /** A way to fix it. */
  hint: string;
  /** The line, counted from 1; null = the file as a whole. */
  line: number | null;
  /** The fault in words. */
  reason: string;
}

/** The last line of the answer to a stream with `answers=problems`. */
export interface Counted {
  /** Number of lines that succeeded. */
  done: number;
  /** Number of lines read, without blank ones. */
  lines: number;
  /** Number of lines that failed. */
  problems: number;
}

/** A day or a time: a text, or the number of a day of the month. */
export type DigestDay = number | string;

/** A digest. */
export interface DigestShown {
  /** The wall-clock time. */
  at: string;
  /** The times that recipients may choose for themselves: `on`, `at` or both. */
  choose?: string[];
  /** `day`, `weekday`, `week`, `month`, or hours such as `6h`. */
  every: string;
  /** Number of entries below which a slot is skipped, once. */
  min_items?: number | null;
  /** The day of the week (`mon` to `sun`) or of the month (`1` to `31`); null for other digests. */
  on?: string | null;
  /** The time over which the recipients' slots are spread. */
  spread?: string | null;
  /** The time zone; null = the recipient's. */
  tz?: string | null;
}

/** The source of a time of a digest. */
export type DigestTimeFrom = "tenant" | "recipient" | "default" | (string & {});

/** The times of a digest for a recipient. */
export interface DigestTimes {
  /** The time in force. */
  at: string;
  /** The source of the time. */
  at_from: DigestTimeFrom;
  /** The times that may be chosen: `on`, `at` or both. */
  choose: string[];
  /** The time after a reset of the choice. */
  default_at: string;
  /** The day after a reset of the choice: in a tenant's view the recipient's own, else the digest's. */
  default_on?: DigestDay | null;
  /** The digest. */
  digest: string;
  /** `day`, `weekday`, `week` or `month`. */
  every: string;
  /** The day in force, `mon` to `sun`, or 1 to 31; null for daily digests. */
  on?: DigestDay | null;
  /** The source of the day. */
  on_from: DigestTimeFrom;
  /** The time zone of both: that of the digest if it has one, else the recipient's. */
  tz: string;
}

/** An item that succeeded. */
export interface Done {
  /** In a stream: the line number, from 1. */
  line?: number;
  status: DoneStatus;
}

export type DoneStatus = "done";

/** The result of deleting days. */
export interface DroppedDays {
  /** Number of deleted days. */
  days: number;
  /** Number of pending entries deleted with them; they end as expired. */
  expired: number;
}

/** All lanes, messages and events that come due. */
export interface DueAnswer {
  /** Messages that wait for a retry. */
  deferred: RetryingShown;
  /** Open lanes by hour, channel and name; lanes that are never due come last. */
  lanes: DueHour[];
  /** Nodes of a cluster that did not answer: their shards are left out. Absent if all answered. */
  missing?: string[];
  /** Events published with `deliver_at`. */
  scheduled: Scheduled;
  /** Messages that are built and have no outcome yet, deferred ones included. */
  sending: number;
  /** Messages that are due and not built yet. */
  unmade: number;
}

/** Lanes of one name that are due within one hour. */
export interface DueHour {
  /** The channel. */
  channel: string;
  /** Number of recipients whose lane stays open when it is due: unconfirmed or paused. */
  held: number;
  /** The hour (UTC) in which they are due; null = none at present, such as while a type is paused. */
  hour?: string | null;
  /** Name of the lane. */
  lane: string;
  /** Number of recipients. */
  recipients: number;
}

/** Durations, each within 5 %. */
export interface Durations {
  /** Number of them. */
  n: number;
  /** The median, in milliseconds; null = there are none. */
  p50_ms?: number | null;
  /** The 95th percentile, in milliseconds; null = there are none. */
  p95_ms?: number | null;
}

/** An edit of the configuration. */
export interface Edit {
  /**
   * The dotted key, as TOML writes it, under `types`, `categories`, `digests` or `caps`; the index of an item of an
   * array is a name, as in `caps.0.max`.
   */
  key: string;
  /** Its value; null removes the key. */
  value: unknown;
}

/** Edits of the configuration, made one after the other. */
export interface Edits {
  /** The edits. */
  edits: readonly Edit[];
}

/** The result of a check of edits. */
export interface EditsChecked {
  /**
   * The edits as a unified diff of the file without context, for `git apply --unidiff-zero` or `patch`; empty = they
   * change nothing.
   */
  diff: string;
  /**
   * The faults of the configuration with the edits, as `tidings check --json` prints them; none = it may be put in
   * force.
   */
  faults: ConfigFault[];
}

/** Counts of entries by outcome, without scheduled ones. */
export interface EntriesCounted {
  /** All entries that entered a lane. */
  all: number;
  /** Number of ended entries by outcome. */
  outcomes: Record<string, number>;
  /**
   * Number of entries that wait or are being sent; null while nodes are `missing`, since their entries may wait too.
   */
  pending?: number | null;
  /** Number of undelivered entries by reason. */
  reasons: Record<string, number>;
}

/** The trace of an erasure. */
export interface ErasureReceipt {
  /** Id of the line in the log of changes. */
  id: string;
  /** The keyed hash that stands for the id of the person in all lines of the log. */
  subject: string;
}

/** An event: something that happened. */
export interface Event {
  /** The actor, who caused the event. */
  actor?: IdOrObject | null | undefined;
  /**
   * Text that a person wrote, such as a comment: plain, at most 2 KiB, or an object with a text for each locale.
   * Messages and inboxes show it.
   */
  body?: HostText | null | undefined;
  /** A key to cancel several events at once. */
  cancellation_key?: string | null | undefined;
  /** The channels to use, of those of the type; `["inbox"]` imports a history without sending mail. */
  channels?: readonly string[] | null | undefined;
  /** Data of the host, returned with the inbox item. */
  data?: Record<string, unknown> | null | undefined;
  /** Duration after its arrival before which nothing is delivered, such as `90s`, `36h` or `PT4M`. */
  delay?: string | null | undefined;
  /** Time before which nothing is delivered; at most one of `deliver_at`, `delay` and `deliver_local`. */
  deliver_at?: string | Date | null | undefined;
  /**
   * Time on each recipient's wall clock before which nothing is delivered, such as `2024-05-01T09:00`. If it has
   * passed, the event is delivered at its arrival.
   */
  deliver_local?: string | null | undefined;
  /** Time after which nothing is delivered. */
  expires_at?: string | Date | null | undefined;
  /** Id of the event: the same id is the same event. Generated by the server if absent. */
  id?: string | null | undefined;
  /** The object that the event is about. */
  object: EventObject;
  /** Time of the event that people are shown. It has no effect on delivery. */
  occurred_at?: string | Date | null | undefined;
  /** Rank among the events of a message: the highest is shown first; 0 if absent. */
  score?: number | null | undefined;
  /** The target: the place or the purpose of the event, such as the thread of a comment. */
  target?: IdOrObject | null | undefined;
  /** The tenant of the event and of all its notifications. */
  tenant?: string | null | undefined;
  /** The audience. */
  to: Audience;
  /**
   * The W3C `traceparent` of the event's cause, to which the spans of its messages link; that of the request if
   * absent.
   */
  trace?: string | null | undefined;
  /** A type of the configuration. */
  type: string;
}

/** Id of an event, or an event that is not published. */
export type EventInQuestion = BareId | Event;

/** The answer to a line of a stream of events. */
export type EventLineAnswer = PublishedEvent | Rejected | Counted;

/** An object in an event. The given fields replace the stored ones. */
export interface EventObject {
  /** Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`. */
  data?: Record<string, unknown> | null | undefined;
  /** Id of the object. */
  id: string;
  /** A picture: an address as `url`. */
  image?: string | null | undefined;
  /** Size of the picture; removed by a new `image` without one. */
  image_size?: ImageSize | null | undefined;
  /** A title to show, at most 1 KiB, or an object with a title for each locale. */
  title?: HostText | null | undefined;
  /** Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB. Links are percent-encoded. */
  url?: string | null | undefined;
}

/** The result of one event of an array. */
export type EventOutcome = PublishedEvent | Rejected;

/** A recipient whom the audience of an event reached. */
export interface EventRecipient {
  /** The fates of their notifications, by channel: each channel of the type that the event allows. */
  channels: Record<string, RecipientFate>;
  /** Id of the recipient. */
  recipient: string;
}

/** A page of an event's recipients, by the bytes of their ids. */
export interface EventRecipientsPage {
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
  /** The recipients. */
  recipients: EventRecipient[];
}

/** A warning about an event that is accepted, but probably not intended as it is. */
export interface EventWarning {
  /**
   * The stable code: `unknown_recipient`; `no_followers`, `only_exceptions`, `only_the_actor`, `nobody_near` or
   * `nobody_concerned` if the audience is empty; `already_expired`, `expires_before_delivery`; `differs` for an id
   * that was used before for another event; or `more_warnings` in place of many.
   */
  code: string;
  /** The problem in words. */
  detail: string;
  /** A way to fix it. */
  hint: string;
}

/** An event with its outcomes. */
export interface EventWithOutcome {
  /** Time of acceptance. */
  arrived_at: string;
  /** Its entries by channel; empty if the audience was empty. */
  channels: Record<string, ChannelFate>;
  event: PublishedAs;
  /** Nodes of a cluster that did not answer: the counts lack their shards. Absent if all answered. */
  missing?: string[];
  /** Number of recipients with at least one entry when it was accepted. */
  notifications: number;
  /** Time at which it enters its lanes; null = it has entered them. */
  scheduled_for?: string | null;
  /** Number of recipients left out by the admission of its type, by reason: `once_pending`, `once_ever`. */
  suppressed: Record<string, number>;
}

/** A page of events, newest first by arrival. */
export interface EventsPage {
  /** The events. */
  events: ListedEvent[];
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
}

/** The event and the recipient of an explanation; without a recipient it is about the whole audience. */
export interface Explain {
  /** Id of an event, or a hypothetical event in the form of a publish. */
  event: EventInQuestion;
  /** Id of the recipient; absent = the whole audience. */
  recipient?: string | undefined;
}

/** The path of an event to a recipient, rule by rule. */
export interface Explained {
  /** The time as of which it is explained. */
  as_of: string;
  /** The channels of the event; empty if an earlier rule left the recipient out. */
  channels: ExplainedChannel[];
  /** The event. */
  event: string;
  /** The recipient. */
  recipient: string;
  /** The rules that hold for all channels, in their order. */
  steps: ExplainedStep[];
  /** True if the event was not published. */
  supposed: boolean;
  /** Its tenant; absent = none. */
  tenant?: string | null;
  /** Its type. */
  type: string;
}

/** An event over its audience: counts by channel, outcome and reason. */
export interface ExplainedAudience {
  /** The time as of which it is told. */
  as_of: string;
  /** The channels of its type that it allows. */
  channels: Record<string, AudienceOnChannel>;
  /** Number of recipients in its audience. */
  concerned: number;
  /** The event. */
  event: string;
  /** Nodes of a cluster whose shards are left out. Absent if there are none. */
  missing?: string[];
  /** Number of recipients with at least one entry when it was accepted. */
  notifications: number;
  /** True if the event was not published. */
  supposed: boolean;
  /** Its tenant; absent = none. */
  tenant?: string;
  /** Its type. */
  type: string;
}

/** The path of an event on one channel. */
export interface ExplainedChannel {
  /** The time at which it ended, is due or enters its lane; null = none. */
  at?: string | null;
  /** The channel. */
  channel: string;
  /** The reason why it was not delivered, as in the outcome of an event; null = none. */
  reason?: string | null;
  /** `none` (no entry), `scheduled`, `pending`, `sending`, or the outcome. */
  state: string;
  /** The rules, in their order. */
  steps: ExplainedStep[];
}

/** A rule that was applied. */
export interface ExplainedStep {
  /** The time at which it was applied, or that it set; null = unknown. */
  at?: string | null;
  /** True if it is the last: there is no entry, or the entry ended here. */
  ends: boolean;
  /** The inputs of the rule, in words. */
  looked_at: string;
  /** The result, in words. */
  result: string;
  /** The rule. */
  rule: string;
}

/** An explanation for one recipient, or for the whole audience. */
export type Explanation = Explained | ExplainedAudience;

/** A tenant of which a recipient is a member. */
export interface ExportedMembership {
  /** The tenant. */
  tenant: string;
}

/** A topic that a recipient follows. */
export interface ExportedSubscription {
  /** The tenant of the topic; absent = none. */
  tenant?: string;
  /** The topic. */
  topic: string;
}

/** A feed: a database from which events are read. */
export interface Feed {
  /** The reason why it is not read. */
  fault?: string;
  /** Age of the oldest row that waits, in milliseconds; 0 = none waits, null = unknown. */
  lag_ms?: number | null;
  /** Its name in the configuration. */
  name: string;
  /** Number of the newest row that was taken. */
  newest?: string | null;
  /** Number of rows that are parked in the table with their problem. */
  parked: number;
  /**
   * `running`; `failing` while its table can't be read (retried; `fault` has the reason); `paused`; `stopped` if
   * somebody has to fix something first.
   */
  state: string;
  /** Number of rows taken since the server started. */
  taken: number;
}

/** Figures of some days. */
export interface Figures {
  /** Time up to which all shards have counted; null = nothing has happened yet. */
  complete_to?: string | null;
  /** Days whose rows are not kept, or on which counting had not begun. */
  days_without: string[];
  /** First day. */
  from: string;
  /** The rows, in the order of `by`, without those of zeros. */
  rows: FiguresRow[];
  /** The day after the last. */
  to: string;
  /** The zone of days and hours. */
  zone: string;
}

/** A row of figures: the parts of its name that `by` gives, and the measures that were asked for. */
export interface FiguresRow {
  /** Category of the type as it is configured now; null = the type is not configured any more. */
  category?: string | null;
  /** Channel; null = what is counted once an event. */
  channel?: string | null;
  /** Day in UTC. */
  day?: string;
  /** Time from an entry's `t` to being sent, of told items. */
  delay?: Durations;
  /** Of these entries, those that ended, by outcome. */
  ended?: Record<string, number>;
  /** Entries (a notification on a channel), on the day on which they entered their lane. */
  entries?: number;
  /** Accepted events, on the day of their arrival; null = a channel is named. */
  events?: number | null;
  /** Hour in UTC, by its beginning. */
  hour?: string;
  /** Entries that messages told, on the day on which the message was due. */
  items?: number;
  /** Messages by final state, on the day on which they were due, for the type of their first entry. */
  messages?: Record<string, number>;
  /** Times that a user, or a link, set `never` and it reached the type, on the day of the choice. */
  muted?: number;
  /**
   * Pairs of an event and a recipient with an entry, on the day of the event's arrival; null = a channel is named.
   */
  notifications?: number | null;
  /** Inbox items that were read, on the day of their entry. */
  read?: number;
  /** Of these entries, those that were not delivered, by reason; reasons without one are absent. */
  reasons?: Record<string, number>;
  /** Messages of which providers reported something later, once each. */
  reported?: Record<string, number>;
  /** Messages that were sent again after an unknown outcome. */
  resent?: number;
  /** Inbox items that were seen, on the day of their entry. */
  seen?: number;
  /** Tenant. */
  tenant?: string | null;
  /** Time from being told to being seen first, of inbox items. */
  told_to_seen?: Durations;
  /** Type. */
  type?: string;
}

/** The lanes to flush; all open lanes if empty. */
export interface FlushLimits {
  /** Only lanes of this channel. */
  channel?: string | null | undefined;
  /** Only lanes with this batch key; empty = lanes without one. */
  key?: string | null | undefined;
  /** Only lanes of this name. */
  lane?: string | null | undefined;
  /** Only lanes of this tenant and those without a tenant. */
  tenant?: string | null | undefined;
}

/** The marker of a flush. */
export interface Flushed {
  /** With `dry`: what the call would touch. */
  concerns?: Concerned;
  /** With `dry`: true, and nothing was done. */
  dry?: boolean;
  /** Number of open lanes that are due now, each of which becomes a message; 0 if nothing waited. */
  lanes: number;
  /**
   * Position in the order of events; everything after it is new. The marker of an earlier flush means that nothing
   * was pending.
   */
  marker: string;
  /** The scheduled entries, which are in no lane yet and not sent now; null = none. */
  scheduled?: ScheduledCount | null;
}

/** A follower of a topic. */
export interface Follower {
  /** Id of the recipient. */
  recipient: string;
}

/** A page of the followers of a topic. */
export interface FollowersBody {
  /** Number of all followers of the topic. */
  count: number;
  /** The followers, sorted by the bytes of their ids. */
  followers: Follower[];
  /** Nodes of a cluster that did not answer: their rows are left out and not counted. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one, since a
   * page looks at a bounded number of rows.
   */
  next: string | null;
}

/** The days to delete. */
export interface ForgetDays {
  /** The first day (UTC) that is kept. */
  before: string;
}

/** A kind of what is found. */
export type FoundKind = "recipient" | "event" | "message" | "object" | "topic" | "tenant" | "type" | (string & {});

/** A circle on the map. */
export interface GeoCircle {
  /** Radius in kilometres. */
  km: number;
  /** Degrees north. */
  lat: number;
  /** Degrees east. */
  lon: number;
}

/** A browser's subscription that ends; its endpoint is enough. */
export interface GonePushSubscription {
  /** Address of the browser's push service. */
  endpoint: string;
}

/**
 * A group: items of one type about one thing on one day, of one tenant or of none. Read items are in a group of their own.
 */
export interface Group {
  /** The actors of the listed items, each once, newest first. */
  actors: string[];
  /** True if it is archived. */
  archived: boolean;
  /** Number of items, listed or not. */
  count: number;
  /** The newest items, newest first, at most 25. */
  items: Item[];
  /** Key of the group, unique in this inbox. */
  key: string;
  /** The language that `text` is in. */
  lang: string;
  /** Time of its position: that of the newest item, or of its return from a snooze. */
  newest_at: string;
  /** Its position: groups are in falling order of these texts, compared by bytes. */
  order: string;
  /** True if all items were read. */
  read: boolean;
  /** True if all items were seen. */
  seen: boolean;
  /** The earliest end of a snooze; null = not snoozed. */
  snoozed_until: string | null;
  /** The tenant of its items; absent = none. */
  tenant?: string;
  /** The name of the tenant; absent where it has none. */
  tenant_name?: string;
  /** The sentence of its type, plain, in the recipient's language. */
  text: string;
  /** The type. */
  type: string;
}

/** The reason why a due lane or message is held. */
export type HeldBy = "paused" | "unconfirmed" | (string & {});

/** The reason why a message is held: its destination, or all providers of its channel, are unavailable. */
export interface HeldShown {
  /** The channel, if all of its providers are unavailable; else absent. */
  channel?: string;
  /** The host that the recipient names, or the domain of the mail address; absent = the whole channel. */
  destination?: string;
  /** Its last answer. */
  reason: string;
  /** Time of the next attempt to send any message to it. */
  until: string;
}

/** A hook. */
export interface Hook {
  /** Number of occurrences that are still to be sent to it. */
  backlog: number;
  /** The last answer; absent before the first one. */
  last?: HookAnswer;
  /** Its name. */
  name: string;
  /** `on`, or `off` after it answered 410. */
  state: HookState;
  /** The address that is called. */
  url: string;
}

/** The last answer of a hook. */
export interface HookAnswer {
  /** Its time. */
  at: string;
  /** Its HTTP status; 0 = there was no answer. */
  status: number;
}

/** The state of a hook. */
export type HookState = "on" | "off" | (string & {});

/**
 * A text for all languages, or an object with a text for each locale (BCP 47). A message shows the text in its language.
 */
export type HostText = string | Record<string, string>;

/** An id, or an object with an id and more fields. */
export type IdOrObject = BareId | EventObject;

export type IdOrProfile = string | RecipientChange;

/** The size of a picture in pixels, by which mails arrange pictures. */
export interface ImageSize {
  /** Height. */
  height: number;
  /** Width. */
  width: number;
}

/** The counts of an inbox. */
export interface InboxCounts {
  /** The same for each category, by its name. */
  categories: Record<string, CategoryCounts>;
  /** Revision: the answer with the higher number is newer. */
  rev: number;
  /**
   * The same for each tenant with unread items, by tenant id; absent in the view of one tenant, and if tenants are off.
   */
  tenants?: Record<string, CategoryCounts>;
  /** Number of groups with an unread item, in the whole inbox. */
  unread: number;
  /** Number of groups with an unseen item, in the whole inbox: the badge. */
  unseen: number;
}

/** One notification. */
export interface Item {
  /** The actor as it is now; absent if the event has none. */
  actor?: ItemObject;
  /** True if it is archived. */
  archived: boolean;
  /** The event's `body`; null = it has none. */
  body: string | null;
  /** The category of the type; absent if the type is no longer configured. */
  category?: string;
  /** The event's `data`; absent if it has none. */
  data?: Record<string, unknown>;
  /** The event. */
  event: string;
  /** The language that `text` is in. */
  lang: string;
  /** The object as it is now. */
  object: ItemObject;
  /** The event's `occurred_at`, if it has one. */
  occurred_at?: string;
  /** True if it was read. */
  read: boolean;
  /**
   * The reasons why this recipient was notified: `everyone`, `named`, `near`, or `topic:` and a topic that they
   * follow.
   */
  reasons: string[];
  /** True if it was seen. */
  seen: boolean;
  /** The end of its snooze; null = not snoozed. */
  snoozed_until: string | null;
  /** Time at which it entered the inbox. */
  t: string;
  /** The target as it is now; absent if the event has none. */
  target?: ItemObject;
  /** Its tenant; absent = none. */
  tenant?: string;
  /** The sentence of its type, plain, in the recipient's language. */
  text: string;
  /** Its type. */
  type: string;
}

/** The answer to an item of an array. */
export type ItemAnswer = Done | Rejected;

/** An object, an actor or a target as it is now. */
export interface ItemObject {
  /** Data of the host about it. */
  data?: Record<string, unknown>;
  /** Its id. */
  id: string;
  /** Address of a picture. */
  image?: string;
  /** A title to show. */
  title?: string;
  /** Address of its page. */
  url?: string;
}

/** The items to mark: exactly one of `event`, `object`, `group`, `up_to` and `all`. */
export interface Items {
  /** True = all items so far. */
  all?: boolean | null | undefined;
  /** With `up_to` or `all`: only items of this category. */
  category?: string | null | undefined;
  /** The item of this event. */
  event?: string | null | undefined;
  /** For a snooze: its duration, `1m` to `365d`. */
  for?: string | null | undefined;
  /** The items of the group with this key, as a page shows it. */
  group?: string | null | undefined;
  /** All items about this object that entered so far. */
  object?: string | null | undefined;
  /** Only items of this tenant and those without a tenant. */
  tenant?: string | null | undefined;
  /** With `up_to` or `all`: only items of this type. */
  type?: string | null | undefined;
  /** For a snooze: its end, at most 365 days ahead. */
  until?: string | Date | null | undefined;
  /** All items up to this time. */
  up_to?: string | Date | null | undefined;
}

/** A job that was made. */
export interface JobMade {
  /** Its id. */
  job: string;
  /** Number of its messages. */
  of: number;
}

/** The maker of a job. */
export interface JobMaker {
  /** The id, such as that of the key; `dev` of the key of `serve --dev`. */
  id: string;
  /** As in the log of changes, such as `key`. */
  kind: string;
  /** The role of the key. */
  role?: string;
}

/** A page of jobs, newest first. */
export interface JobPage {
  /** The jobs. */
  jobs: JobShown[];
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
}

/** A job. */
export interface JobShown {
  /** Time at which it was made. */
  at: string;
  /** Time at which it began; absent = not yet. */
  began?: string;
  /** Its author; absent = unknown. */
  by?: JobMaker;
  /** Number of messages that were changed, or of lines that were played. */
  done: number;
  /** Time at which it ended; absent = not yet. */
  ended?: string;
  /** The filter that chose its messages; absent = it is none of messages. */
  filter?: Record<string, unknown>;
  /** Its id. */
  id: string;
  /**
   * Messages that stayed as they were, by the status or the code that the call for each answers. With `done` they
   * add up to `of` in the end.
   */
  left_out: Record<string, number>;
  /** Number of its messages; of a comparison the number of lines that are played, 0 while they are gathered. */
  of: number;
  /** The reason why a comparison that nobody stopped has no result. */
  problem?: string;
  /**
   * The figures of both configurations of a comparison, `current` and `proposed`, as `tidings simulate --compare --json`
   * prints them; absent = it is none, or has none yet.
   */
  result?: (Record<string, unknown>)[];
  /** `waiting`, `running`, `done` or `stopped`. */
  state: string;
  /** The change: `retry`, `cancel` or `resend`; or `compare`. */
  verb: string;
}

/** Data that an erasure leaves. */
export interface KeptData {
  /** The time at which the last of it is deleted; null = it is kept for good. */
  until: string | null;
  /**
   * `events` (which may name the person as their actor), `messages` (without their recipient), `log` (with a keyed hash for the id) or `suppressions`.
   */
  what: string;
}

/** An API key that was made. */
export interface KeyMade extends KeyShown {
  /** The key itself, which is stored nowhere; absent in the stored answer to an earlier request. */
  key?: string;
}

/** An API key, without the key itself. */
export interface KeyShown {
  /** Its id; no secret. */
  id: string;
  /** The time when it was made. */
  made: string;
  /** The name given to it; may be empty. */
  name: string;
  /** Its role. */
  role: RoleName;
}

/** A new API key. */
export interface KeyToMake {
  /** A name to recognise it by. */
  name?: string | null | undefined;
  /** Its role; `admin` if absent. */
  role?: RoleName | null | undefined;
}

/** The API keys that are accepted. */
export interface KeysAnswer {
  /** By when they were made. */
  keys: KeyShown[];
}

/** A notification that a message leaves out. */
export interface LeftOut {
  /** The event. */
  event: string;
  /** The reason, as in the outcome of an event. */
  reason: string;
}

/** The answer to a line of a stream. */
export type LineAnswer = Done | Rejected | Counted;

/** An event in a list. */
export interface ListedEvent {
  /** Id of the actor. */
  actor: string | null;
  /** Time of its arrival. */
  arrived_at: string;
  /**
   * The fates of the recipient's notifications, by channel: each channel of the type that the event allows. Absent
   * without `recipient`.
   */
  channels?: Record<string, RecipientFate>;
  /** Id of the event. */
  id: string;
  /** Id of the object. */
  object: string;
  /** Id of the target. */
  target: string | null;
  /** Its tenant; absent = none. */
  tenant?: string;
  /** Its type. */
  type: string;
}

/** A recipient in a list. */
export interface ListedRecipient {
  /** Id of the recipient. */
  id: string;
  /** Name to show. */
  name: string | null;
  /** The state. */
  state: RecipientState;
  /** The tenants of which the recipient is a member, sorted by the bytes of their ids; absent = none. */
  tenants?: string[];
}

/** A page of the log of changes, newest first. */
export interface LogPage {
  /** The lines. */
  log: LoggedChange[];
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
}

/** A change. */
export interface LoggedChange {
  /**
   * The name of the call, or `configuration.loaded`, `suppressed`, `data.exported`, `store.restored` and the like.
   */
  action: string;
  /** Time of the change. */
  at: string;
  /** The author. */
  by: ChangeAuthor;
  /** Number of changes, where a line is about those of a whole commit. */
  count?: number;
  /** The fields that were changed. */
  fields: ChangedField[];
  /** Id of the line. */
  id: string;
  /** The request's `X-Request-Id`, or the trace that it is of; absent = neither was given. */
  request?: string;
  /** The result in a word: `done`, or what a cancel came to. */
  result: string;
  /** The subject. */
  subject: ChangeSubject;
  /** The tenant; absent = none. */
  tenant?: string;
  /** The way in: `api`, `console`, `mcp`, `page`, or `cli` for a process that opened the store itself. */
  via: string;
}

/**
 * The way in which a hit matched: by its id; as the message of a mail's tag; as an event with this cancellation key; as a
 * recipient who has the address, or had it within `keep`.
 */
export type Matched = "id" | "tag" | "cancellation_key" | "address" | "former_address" | (string & {});

/** A member of a tenant. */
export interface Member {
  /** Id of the recipient. */
  id: string;
  /** Name to show. */
  name: string | null;
}

/** A membership to add or to remove. */
export interface MemberChange {
  /** Id of the recipient. */
  recipient: string;
  /** True = remove the membership. */
  remove?: boolean | null | undefined;
}

/** A page of members. */
export interface MembersPage {
  /** The members, sorted by the bytes of their ids. */
  members: Member[];
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
}

/** The content of a message as its reader sees it. Each channel has some of the fields. */
export interface MessageContent {
  /** HTML of a mail. */
  html?: string;
  /** Number of parts of a text message that are paid for. */
  parts?: number;
  /** Subject of a mail; title of a push message, or of a card in Teams. */
  subject?: string;
  /** The words: the plain text of a mail, all of a text message with its link, the body of a webhook's request. */
  text?: string;
}

/** A message with its history. */
export interface MessageDetails extends MessageShown {
  /** Attempts to hand it over that the provider answered, and later reports, in their order. */
  attempts: AttemptShown[];
  /** The id by which the provider and the log know it; null = it has no content. */
  batch?: string | null;
  /** Its notifications. Those of deleted days are left out. */
  items: MessageItem[];
  /** Notifications that the checks before sending left out, or that were removed later. */
  left_out: LeftOut[];
  /**
   * Its history in order: the entries of its lane (the first 100), the rules that decided its time, attempts,
   * outcomes.
   */
  timeline: ExplainedStep[];
}

/** A notification in a message. */
export interface MessageItem {
  /** The event. */
  event: string;
  /** Its object. */
  object: string;
  /** The reasons for which the recipient got it. */
  reasons: string[];
  /** Time at which it entered its lane. */
  t: string;
  /** Its type. */
  type: string;
}

/** A page of messages, newest first by `due`. */
export interface MessagePage {
  /** The messages. */
  messages: MessageShown[];
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
}

/** A message as it looks, built again now. */
export interface MessagePreview extends MessageContent {
  /** Its channel. */
  channel: string;
  /**
   * False if what was sent looked different: an object, the recipient or the configuration has changed since. Null
   * if there is nothing to compare: the message is not built, has no notifications left, was not handed to a
   * provider yet, or was by a version that kept no hash of its content.
   */
  same: boolean | null;
}

/** A message to one recipient. */
export interface MessageShown {
  /** Time at which it was built, which fixed its content; null = not built yet. */
  built?: string | null;
  /** The channel. */
  channel: string;
  /** Time at which its lane was due. */
  due: string;
  /** Time of its outcome; null = none yet. */
  ended?: string | null;
  /** Number of its notifications; null = not built yet. */
  entries?: number | null;
  /** Number of failed attempts of a message that is retried, else 0. */
  failed_attempts: number;
  /** The unavailable destination or channel that holds it; absent = none known. */
  held?: HeldShown;
  /** Its id. */
  id: string;
  /** Batch key of the lane; absent = empty. */
  key?: string | null;
  /** The lane. */
  lane: string;
  /** Time of the next attempt; null = none. */
  next_try?: string | null;
  /** The reason why it was not handed over; null = it was, or the outcome is open. */
  reason?: string | null;
  /** The recipient; null = erased. */
  recipient?: string | null;
  /**
   * `planned` (due, not built yet), `sending`, `retrying` (an attempt failed, another one follows), `sent`,
   * `failed`, `unknown` (it may or may not have been handed over), `suppressed` (the checks before sending left no
   * notification) or `cancelled` (all notifications were removed).
   */
  state: string;
  /** Tenant of its notifications; absent = none. */
  tenant?: string;
}

/** A muted topic or object, on a channel or on each (`*`). */
export interface Mute {
  /** The channel; `*` = each. */
  channel: string;
  /** The object. */
  object?: string | null;
  /** Its title, if it is known. */
  title?: string | null;
  /** The topic, with everything below it. */
  topic?: string | null;
}

/** The new state of an object, with its id. Fields that are left out keep their value. */
export interface NamedObject {
  /** Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`. */
  data?: Record<string, unknown> | null | undefined;
  /** Id of the object; the same as in the path, if that has one. */
  id: string;
  /** Address of a picture. */
  image?: string | null | undefined;
  /** Size of the picture; removed by a new `image` without one. */
  image_size?: ImageSize | null | undefined;
  /** False = notifications about it are not sent. */
  notifiable?: boolean | null | undefined;
  /** A title to show, or an object with a title for each locale. */
  title?: HostText | null | undefined;
  /** Address of its page. */
  url?: string | null | undefined;
}

/** A change of a profile, with the recipient's id. Fields that are left out keep their value. */
export interface NamedRecipient {
  /** Addresses by channel; null removes those of a channel, or all. */
  addresses?: Addresses | null | undefined;
  /** Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`. */
  data?: Record<string, unknown> | null | undefined;
  /** Address of the e-mail channel, short for `addresses.email`. */
  email?: string | null | undefined;
  /** Id of the recipient; the same as in the path, if that has one. */
  id: string;
  /** Latitude, in degrees north. */
  lat?: number | null | undefined;
  /** BCP 47 locale. */
  locale?: string | null | undefined;
  /** Longitude, in degrees east. */
  lon?: number | null | undefined;
  /** Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and without a title. */
  name?: string | null | undefined;
  /** Quiet hours: the recipient's own, null = none, `default` = those of each channel. */
  quiet_hours?: QuietHoursChoice | null | undefined;
  /** The state, which decides whether messages are sent; `active` for a new recipient. */
  state?: RecipientState | undefined;
  /** All tenants of which the recipient is a member; null = none. */
  tenants?: readonly string[] | null | undefined;
  /** IANA time zone. */
  tz?: string | null | undefined;
}

/** A change of a tenant, with its id. Fields that are left out keep their value. */
export interface NamedTenant {
  /** Keys that override `[brand]`, one by one; null removes all. */
  brand?: BrandChange | null | undefined;
  /** Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`. */
  data?: Record<string, unknown> | null | undefined;
  /** True = publishing is refused, and pending notifications are cancelled. */
  disabled?: boolean | undefined;
  /** Sender name of its messages, at most 1 KiB. */
  from_name?: string | null | undefined;
  /** Id of the tenant; the same as in the path, if that has one. */
  id: string;
  /** BCP 47 locale, for recipients without one. */
  locale?: string | null | undefined;
  /** Name to show, at most 1 KiB. */
  name?: string | null | undefined;
  /** All its defaults, which replace the types' policies. Mutes are not allowed. */
  preferences?: readonly Preference[] | null | undefined;
  /** Quiet hours, for recipients without their own: hours, null = none, `default` = those of each channel. */
  quiet_hours?: QuietHoursChoice | null | undefined;
  /** Mailbox for replies to its mails. */
  reply_to?: string | null | undefined;
  /** IANA time zone, for recipients without one. */
  tz?: string | null | undefined;
}

/** Something of which the id is spelled alike. */
export interface NearId {
  /** Its id. */
  id: string;
  /** The kind. */
  kind: FoundKind;
}

/** A mail as it would be sent if nothing else happened. */
export interface NextMail {
  /** Due time, or now if that has passed. */
  at: string;
  /** Number of notifications in the mail. */
  entries: number;
  /** The HTML. */
  html: string;
  /** Batch key of the lane; left out where it is empty. */
  key?: string | null;
  /** Name of the lane. */
  lane: string;
  /**
   * The whole mail, without a signature. Its ids and links differ from those of the mail that will be sent. Left out
   * where the recipient has no address that mail can be sent to.
   */
  source?: string;
  /** The subject. */
  subject: string;
  /** The plain text. */
  text: string;
}

/** A message as a channel would send it if nothing else happened. */
export interface NextMessage extends MessageContent {
  /** Due time, or now if that has passed. */
  at: string;
  /** The channel. */
  channel: string;
  /** Number of notifications in the message. */
  entries: number;
  /** Batch key of the lane; left out where it is empty. */
  key?: string | null;
  /** Name of the lane. */
  lane: string;
  /**
   * The whole mail, without a signature. Its ids and links differ from those of the mail that will be sent. Left out
   * of other messages, and where the recipient has no address that mail can be sent to.
   */
  source?: string;
  /** Tenant of the notifications; left out where they are of none. */
  tenant?: string;
  /** The page that it opens, where its text doesn't have it. */
  url?: string;
}

/** A node as `GET /v1/nodes` shows it. */
export interface NodeShown {
  /** The address at which other nodes reach it. */
  address: string;
  /**
   * Digest of the configuration that it applies when it holds the store: the same on all nodes with the same
   * configuration and version.
   */
  config: string;
  /** Number of its term; null = it has no shards. */
  epoch?: number | null;
  /** True if it has the intake, which accepts events, and all shards that no other node has. */
  intake: boolean;
  /** Milliseconds by which its oldest message was overdue at its last heartbeat; 0 if it has no shards. */
  lag_ms: number;
  /** Its name. */
  node: string;
  /** Numbers of its shards; null = it has all of them. */
  parts?: number[] | null;
  /** Milliseconds since its last heartbeat, by the clock of the database. */
  silent_ms: number;
  /** Time since which it has its state. */
  since: string;
  /** `holding`, `opening`, `standby`, `draining`, or `silent` after 5 seconds without a heartbeat. */
  state: string;
}

/** A change of an object; only the given fields change. */
export interface ObjectChange {
  /** Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`. */
  data?: Record<string, unknown> | null | undefined;
  /** Id of the object; the same as in the path, if that has one. */
  id?: string | undefined;
  /** Address of a picture. */
  image?: string | null | undefined;
  /** Size of the picture; removed by a new `image` without one. */
  image_size?: ImageSize | null | undefined;
  /** False = notifications about it are not sent. */
  notifiable?: boolean | null | undefined;
  /** A title to show, or an object with a title for each locale. */
  title?: HostText | null | undefined;
  /** Address of its page. */
  url?: string | null | undefined;
}

/** The tenant of the event in the path. */
export interface OfTenant {
  /** The tenant of the event; absent = any. */
  tenant?: string | null | undefined;
}

/** The result of a change of a message. */
export interface OperatedAnswer {
  /** Number of notifications cancelled with it. */
  cancelled: number;
  /** With `dry`: what the call would touch. */
  concerns?: Concerned;
  /** With `dry`: true, and nothing was done. */
  dry?: boolean;
  status: OperatedStatus;
}

/**
 * Result of a change of a message: `accepted` = it is sent; `cancelled` = it is not sent any more; `too_late` = it was
 * handed over, or may have been; `nothing_left` = it had failed, or had no notifications left.
 */
export type OperatedStatus = "accepted" | "cancelled" | "too_late" | "nothing_left" | (string & {});

/** A page of an inbox, newest first. */
export interface Page extends InboxCounts {
  /** Its groups. */
  groups: Group[];
  /** The next page's cursor; null = this is the last. */
  next: string | null;
}

/** A page of parked rows, newest first. `missing` names the feed where its database can't be read now. */
export interface ParkedPage {
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
  /** The rows. */
  parked: ParkedRow[];
}

/** A row of a feed that was refused. It is read again once it is changed, or its `refused` is set to null. */
export interface ParkedRow {
  /** Time when the host wrote it. */
  at: string;
  /** Key that the host gave it. */
  key: string | null;
  /** The problem, as the call that publishes events answers it. */
  problem: Record<string, unknown>;
  /** Number of the row in the table. */
  row: string;
}

/** Types and channels that are paused. */
export interface PausedShown {
  /** Channels. */
  channels: string[];
  /** Types. */
  types: string[];
}

/** All pending notifications of a recipient. */
export interface Pending {
  /** Open lanes with pending notifications. */
  lanes: PendingLane[];
  /** Built messages that wait for a retry, the next first; at most 1,000. */
  messages: RetriedMessage[];
  /** Scheduled events, by time. */
  scheduled: Waiting[];
}

/** A lane with pending notifications, which become one message. */
export interface PendingLane {
  /** The channel. */
  channel: string;
  /** Due time; null = none at present, such as while its type is paused. */
  due?: string | null;
  /** The pending notifications, by time and arrival. */
  entries: Waiting[];
  /** The reason why it is held although it is due; null = it is not held. */
  held_by?: HeldBy | null;
  /** Batch key of the lane; absent = empty. */
  key?: string | null;
  /** Name of the lane; `paused` holds the notifications of paused types. */
  lane: string;
  /** Tenant of the lane; absent = none. */
  tenant?: string;
}

/** The policy of a type on a channel. */
export interface PolicyShown {
  /** Delay of its entries after those of the inbox. */
  after?: string | null;
  /** Expression of the batch key, for a policy that has one. */
  batch_key?: string | null;
  /** For `first_event`: `first` or `earliest`. */
  decide?: string | null;
  /** For `digest`: the digest's name. */
  digest?: string | null;
  /** For `first_event`: the time for which the first entry waits. */
  hold?: string | null;
  /** Lane of its entries; null for `never`. */
  lane?: string | null;
  /** Number of entries with which a lane is due at once. */
  max_items?: number | null;
  /** For `cooldown`: the longest wait; `none` = no bound. */
  max_wait?: string | null;
  /** `now`, `first_event`, `cooldown`, `leading`, `digest` or `never`. */
  policy: string;
  /** For `cooldown` and `leading`: the quiet time. */
  quiet?: string | null;
}

/**
 * A preference for a type, a category or all categories, the mute of a topic or an object, or the times of a digest. A
 * mute has precedence over a type, a type over its category, and that over all categories.
 */
export interface Preference {
  /** The time of the digest, a full quarter of an hour such as `17:15`; null or `default` resets it. */
  at?: string | null | undefined;
  /** A category of the configuration; `*` = all categories, including later ones. */
  category?: string | null | undefined;
  /** The channel; `*` = all channels, including later ones, for a mute or for the category `*`. */
  channel?: string | null | undefined;
  /** A digest whose times recipients may choose: with `on`, `at` or both, and without `channel` and `mode`. */
  digest?: string | null | undefined;
  /**
   * `never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no preference), or the
   * name of a digest. Mutes have `never` and `default`. `never` is refused for a required type, and does not apply
   * to the required types of a category.
   */
  mode?: string | null | undefined;
  /** An object to mute, also as a target. */
  object?: string | null | undefined;
  /** The day of the digest, `mon` to `sun`, or 1 to 31 of a month; null or `default` resets it. */
  on?: DigestDay | null | undefined;
  /** The tenant to whose notifications the preference applies; absent = all notifications. */
  tenant?: string | null | undefined;
  /** A topic to mute, with everything below it. */
  topic?: string | null | undefined;
  /** A type of the configuration. */
  type?: string | null | undefined;
}

/** A change of preferences: their list, or an object with it. */
export type PreferenceChange = readonly Preference[] | PreferencesAndHours;

/** A level at which a preference is set. */
export type PreferenceLevel = "type" | "category" | "*" | "default" | (string & {});

/** Preferences to set, and quiet hours. */
export interface PreferencesAndHours {
  /** Preferences to set; the others stay as they are. */
  preferences?: readonly Preference[] | undefined;
  /** Quiet hours: the recipient's own, null = none, `default` = those of each channel. */
  quiet_hours?: QuietHoursChoice | null | undefined;
}

/** A list of preferences: those that are set, or an object that also has the modes that may be chosen. */
export type PreferencesAnswer = Preference[] | AllPreferences;

/** A preview of what a recipient gets next. */
export interface Preview {
  /** The mail; null = no open lane will become one. Absent where a channel is named. */
  mail?: NextMail | null;
  /** The message of the channel that is named; null = no open lane will become one. Absent where none is. */
  message?: NextMessage | null;
  /** The scheduled entries, which are in no lane yet; null = none. */
  scheduled?: ScheduledCount | null;
}

/** A problem as it is sent (RFC 9457). */
export interface Problem {
  /** The stable code: use it in programs. */
  code: string;
  /** For a change that would touch more people than its caller expects: what it would touch. */
  concerns?: Concerned;
  /** The fault of this request. */
  detail: string;
  /** A way to fix it. */
  hint: string;
  /** For `data` that does not fit its type: the JSON pointer (RFC 6901) of the fault, from the event on. */
  pointer?: string;
  /** The HTTP status. */
  status: number;
  /** A short description of the code. */
  title: string;
  /** A path of the server that describes the code. */
  type: string;
}

/** The result of one event, or of each event of an array. */
export type PublishAnswer = PublishedEvent | EventOutcome[];

export type PublishBody = Event | readonly Event[];

/** An event as it was published; absent fields are null. */
export interface PublishedAs {
  actor?: EventObject | null;
  body?: HostText | null;
  cancellation_key?: string | null;
  channels?: string[] | null;
  data?: Record<string, unknown> | null;
  delay?: string | null;
  deliver_at?: string | null;
  deliver_local?: string | null;
  expires_at?: string | null;
  id: string;
  object: EventObject;
  occurred_at?: string | null;
  score: number;
  target?: EventObject | null;
  /** The tenant; absent = none. */
  tenant?: string;
  to: Audience;
  trace?: string | null;
  type: string;
}

/** The result of one event. */
export interface PublishedEvent {
  /**
   * In a cluster: true once all shards have applied the event, so that the counts are complete and inboxes have it.
   */
  applied?: boolean;
  /** With `dry`: what the call would touch. */
  concerns?: Concerned;
  /** With `dry`: true, and nothing was done. */
  dry?: boolean;
  /** The event's id, generated by the server if the event had none. */
  id: string;
  /** In a stream: the line number, from 1. */
  line?: number;
  /** Number of recipients with at least one entry. */
  notifications: number;
  /** `accepted`, or `duplicate` if its id is known and nothing happened. */
  status: PublishedStatus;
  /** Number of recipients left out by the admission of its type. */
  suppressed: number;
  /** A warning about an event that is accepted, but probably not intended as it is. */
  warnings: EventWarning[];
}

export type PublishedStatus = "accepted" | "duplicate" | "cancelled";

/** A browser's Web Push subscription among a recipient's addresses. */
export interface PushAddress {
  /** Address of the browser's push service. */
  endpoint: string;
  /** Keys of the browser. */
  keys: PushKeys;
  /** The tenant whose messages it gets, beside those without a tenant; absent = all messages. */
  tenant?: string | null | undefined;
}

/** The key by which browsers subscribe to Web Push. */
export interface PushKey {
  /** The public key of the server (VAPID), in base64url. */
  key: string;
}

/** Keys of a browser, in base64url. */
export interface PushKeys {
  /** Authentication secret. */
  auth: string;
  /** Public key. */
  p256dh: string;
}

/** A browser's Web Push subscription, the result of `JSON.stringify(subscription)`; `expirationTime` is ignored. */
export interface PushSubscription {
  /** Address of the browser's push service. */
  endpoint: string;
  /** Keys of the browser. */
  keys: PushKeys;
}

/** Hours of the wall clock in which only urgent notifications are sent. */
export interface QuietHours {
  /** The channels to which they apply; all if absent. The others keep those of the channel. */
  channels?: string[] | null | undefined;
  /** The weekdays on which they begin; all if absent. */
  days?: Weekday[] | null | undefined;
  /** The time at which they begin, HH:MM. */
  from: string;
  /** The time at which they end, different from `from`; on the next day if it is earlier. */
  to: string;
}

/** Quiet hours as a profile shows them; null = none. */
export type QuietHoursChoice = QuietHours | QuietHoursOfChannel;

/** Quiet hours in force on a channel. */
export interface QuietHoursInForce {
  /** The channel. */
  channel: string;
  /** The hours, by the wall clock of `tz`. */
  hours: QuietHours;
  /** Their source: the `recipient`, the `tenant`, or the configuration of the `channel`. */
  set_by: QuietHoursSetBy;
}

/** The value for the hours of each channel. */
export type QuietHoursOfChannel = "default";

/** The source of quiet hours. */
export type QuietHoursSetBy = "recipient" | "tenant" | "channel" | (string & {});

/**
 * A profile, or some of its fields. Null removes a value (for `quiet_hours`: no quiet hours); give `lat` and `lon`
 * together.
 */
export interface RecipientChange {
  /** Addresses by channel; null removes those of a channel, or all. */
  addresses?: Addresses | null | undefined;
  /** Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`. */
  data?: Record<string, unknown> | null | undefined;
  /** Address of the e-mail channel, short for `addresses.email`. */
  email?: string | null | undefined;
  /** Id of the recipient; the same as in the path, if that has one. */
  id?: string | undefined;
  /** Latitude, in degrees north. */
  lat?: number | null | undefined;
  /** BCP 47 locale. */
  locale?: string | null | undefined;
  /** Longitude, in degrees east. */
  lon?: number | null | undefined;
  /** Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and without a title. */
  name?: string | null | undefined;
  /** Quiet hours: the recipient's own, null = none, `default` = those of each channel. */
  quiet_hours?: QuietHoursChoice | null | undefined;
  /** The state, which decides whether messages are sent; `active` for a new recipient. */
  state?: RecipientState | undefined;
  /** All tenants of which the recipient is a member; null = none. */
  tenants?: string[] | null | undefined;
  /** IANA time zone. */
  tz?: string | null | undefined;
}

/** The result of an erasure. */
export interface RecipientErased {
  /** With `dry`: what the call would touch. */
  concerns?: Concerned;
  /** With `dry`: true, and nothing was done. */
  dry?: boolean;
  /**
   * Number of what was deleted: `profile`, `addresses`, `preferences`, `subscriptions`, `memberships`; what there
   * was none of is absent. Empty = there is no such recipient.
   */
  erased: Record<string, number>;
  /** The data that is kept without their name and addresses. */
  kept: KeptData[];
  /** The trace of the erasure in the log of changes; null = there was nobody, or nothing was done. */
  receipt: ErasureReceipt | null;
}

/** Everything that is known about a recipient, at one moment. */
export interface RecipientExport {
  /** All items of the inbox that they have not deleted, newest first. */
  inbox: Item[];
  /** The lines of the log of changes about them and their addresses, and those that they caused, newest first. */
  log: LoggedChange[];
  /** The tenants of which they are a member, sorted by the bytes of their ids. */
  memberships: ExportedMembership[];
  /** All messages to them, newest first, each as `GET /v1/messages/{id}` shows it. */
  messages: MessageDetails[];
  /** All preferences, as `GET /v1/recipients/{id}/preferences` lists them. */
  preferences: Preference[];
  /** The profile. */
  recipient: RecipientProfile;
  /** The topics that they follow, sorted by bytes. */
  subscriptions: ExportedSubscription[];
  /** Those of their addresses that are suppressed. */
  suppressions: SuppressedAddress[];
}

/** The fate of a recipient's notification of an event on a channel. */
export interface RecipientFate {
  /** Id of the message that has it, or that left it out; absent = none. */
  message?: string;
  /** The reason of an outcome; of `left_out`: `preference`, `once_pending` or `once_ever`. Absent = none. */
  reason?: string;
  /**
   * `scheduled`; `pending` (waits for its message); `sending`; an outcome: `delivered`, `cancelled`, `skipped`,
   * `expired`, `failed` or `unknown`; or `left_out`: there is none on this channel.
   */
  state: string;
}

/** A recipient's profile. */
export interface RecipientProfile {
  /** Addresses by channel, that of the e-mail channel included. */
  addresses: AddressesShown;
  /** Data of the host. */
  data?: Record<string, unknown> | null;
  /** Address of the e-mail channel. */
  email?: string | null;
  /** Id of the recipient. */
  id: string;
  /** Latitude, in degrees north. */
  lat?: number | null;
  /** BCP 47 locale; null = the configuration's default. */
  locale?: string | null;
  /** Longitude, in degrees east. */
  lon?: number | null;
  /** Name to show. */
  name?: string | null;
  /** Quiet hours: null = none, `default` = those of each channel. */
  quiet_hours?: QuietHoursChoice | null;
  /** The state, which decides whether messages are sent. */
  state: RecipientState;
  /** The tenants of which the recipient is a member, sorted by the bytes of their ids; absent = none. */
  tenants?: string[];
  /** IANA time zone; null = the configuration's default. */
  tz?: string | null;
}

/**
 * The state of a recipient: notifications of an `unconfirmed` one wait on every channel but the
 * inbox, those of a `disabled` one end when they are due.
 */
export type RecipientState = "active" | "unconfirmed" | "disabled" | (string & {});

/** A page of recipients. */
export interface RecipientsPage {
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
  /** The recipients, sorted by the bytes of their ids. */
  recipients: ListedRecipient[];
}

/** An item that failed; the others succeeded. */
export interface Rejected {
  /** The item's `id`, if it could be read. */
  id?: string;
  /** In a stream: the line number, from 1. */
  line?: number;
  /** The problem of the item. */
  problem: Problem;
  status: RejectedStatus;
}

export type RejectedStatus = "rejected";

/** The occurrences to send again. */
export interface Replay {
  /** Time of the first occurrence: an instant (RFC 3339), or a duration before now. */
  since: string;
}

/** A message that waits for its next attempt. */
export interface RetriedMessage extends MessageShown {
  /** The reason why it is held; null = it is not held. */
  held_by?: HeldBy | null;
  /** The provider's last answer; null = none. */
  last?: AttemptShown | null;
}

/** Messages that wait for a retry. */
export interface RetryingShown {
  /** Number of them. */
  messages: number;
  /** The next ones, at most 100. */
  next: RetriedMessage[];
}

/** The role of an API key: the calls that it may make. */
export type RoleName = "figures" | "read" | "support" | "publish" | "operate" | "admin" | (string & {});

/** Events published with `deliver_at`. */
export interface Scheduled {
  /** Number of them. */
  events: number;
  /** The next ones, by time. */
  next: Waiting[];
}

/** Notifications that are scheduled: they enter their lanes later. */
export interface ScheduledCount {
  /** The time at which the first enters its lane. */
  first: string;
  /** Number of them; those of one event at one instant count once. */
  notifications: number;
}

/** The text of a search. */
export interface Search {
  /** An id, the tag of a mail, a cancellation key or an address, of 1 to 512 bytes. */
  q: string;
}

/** A hit of a search. */
export interface SearchHit {
  /** Its id. */
  id: string;
  /** The kind. */
  kind: FoundKind;
  /** The way in which it matched. */
  matched: Matched;
}

/** The result of a search. */
export interface SearchResult {
  /**
   * The hits, at most 50: those by id, then the message of a tag, events by cancellation key, recipients by address;
   * those of one way by id.
   */
  hits: SearchHit[];
  /** Nodes of a cluster that did not answer: what they have is not found. Absent if all answered. */
  missing?: string[];
  /** Without a hit: at most three ids that are spelled alike. Absent where there is a hit. */
  nearest?: NearId[];
}

/** A channel that sends messages. */
export interface SendingChannel {
  /** True if an operator has paused it. */
  paused: boolean;
  /** The kinds of its providers (such as `file`, `smtp`), in order of preference. */
  providers: string[];
}

/** A session of the console. */
export interface Session {
  /** The time at which it began. */
  began: string;
  /** The one who is signed in. */
  by: SignedIn;
  /** Its id; no secret. */
  id: string;
  /** The time at which it ends, however much it is used. */
  until: string;
  /** The time of its last use. Two hours without use end it. */
  used: string;
}

/** A page of sessions, newest first. */
export interface SessionPage {
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
  /** The sessions. */
  sessions: Session[];
}

/** The one who is signed in. */
export interface SignedIn {
  /** Id of the key, or the name that the proxy gives the person. */
  id: string;
  /** `key` or `person`. */
  kind: string;
  /** The role when they signed in. */
  role?: string;
}

/** A signing key that was made. */
export interface SigningKeyMade extends SigningKeyShown {
  /**
   * The secret, whose text is the key of HS256; absent with a public key, and in the stored answer to an earlier
   * request.
   */
  secret?: string;
}

/** A signing key, without what it signs with. */
export interface SigningKeyShown {
  /** The algorithm of its tokens: `HS256` or `EdDSA`. */
  alg: string;
  /** Its id, which tokens name as `kid`; no secret. */
  id: string;
  /** The time when it was made. */
  made: string;
  /** The name given to it; may be empty. */
  name: string;
  /** The most that its tokens may open; null = everything. */
  scope: string | null;
  /** The tenant that its tokens must name; absent = they may name any, or none. */
  tenant?: string;
}

/** A new signing key. */
export interface SigningKeyToMake {
  /** A name to recognise it by. */
  name?: string | null | undefined;
  /** A public key of Ed25519 in PEM: the server then has nothing that can sign. Absent = a secret is made. */
  public?: string | null | undefined;
  /**
   * The most that its tokens may open, of `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated
   * by spaces; absent = everything.
   */
  scope?: string | null | undefined;
  /** The tenant that its tokens must name; absent = they may name any, or none. */
  tenant?: string | null | undefined;
}

/** The signing keys in force. */
export interface SigningKeysAnswer {
  /** By when they were made. */
  keys: SigningKeyShown[];
}

/** The status of the server. */
export interface StatusAnswer {
  /** Providers and destinations that are unavailable, at most 20. */
  away: AwayShown[];
  /** The channels that send messages, by name. */
  channels: Record<string, SendingChannel>;
  /**
   * Seconds by which the clock is behind the newest step, if more than 60: the clock was ahead before. Deadlines
   * follow the clock; records have the time of the newest step meanwhile. null = not behind.
   */
  clock_behind_seconds?: number | null;
  /** Counts of entries, deleted days included. */
  entries: EntriesCounted;
  /** Days before this one are deleted; null = none yet. */
  forgotten_before?: string | null;
  /**
   * Messages that wait because their recipient or destination uses its share of a channel's threads, or because the
   * destination is unavailable.
   */
  kept_aside: number;
  /**
   * Nodes of a cluster that did not answer: their shards are left out, so each count is a lower bound. Absent if all
   * answered.
   */
  missing?: string[];
  /** Instant of the newest step, which never goes back; null = none yet. */
  newest_step?: string | null;
  /** Time by the server's clock. */
  now: string;
  /** Due time of the oldest overdue, unsent message; null = none is known. */
  oldest_due?: string | null;
  /** Age of that message in seconds, by the server's clock; null = none. */
  oldest_due_age_seconds?: number | null;
  /** Types and channels that are paused. */
  paused: PausedShown;
  /** Number of recipients. */
  recipients: number;
  /** Messages that wait for a retry. */
  retrying: number;
  /** Seconds since the server started; null = a command reads the data directory without a server. */
  uptime_seconds?: number | null;
  /** Version of tidings. */
  version: string;
}

/** A subscription to add or to remove. */
export interface Subscription {
  /** Id of the recipient. */
  recipient: string;
  /** The tenant of the topic; absent = none. */
  tenant?: string | null | undefined;
  /** The topic. */
  topic: string;
  /** True = remove the subscription. */
  unsubscribe?: boolean | null | undefined;
}

/** The topics of a recipient. */
export interface Subscriptions {
  /** Topics of tenants, by tenant id; absent = none. */
  tenants?: Record<string, string[]>;
  /**
   * Topics without a tenant, sorted by bytes; with a tenant in the token, the key or the query, the topics of that
   * tenant.
   */
  topics: string[];
}

/** A suppressed address. */
export interface SuppressedAddress {
  /**
   * The address in the form in which addresses are compared: that of an e-mail in small letters, the endpoint of a
   * Web Push subscription.
   */
  address: string;
  /** The channel. */
  channel: string;
  /** Time at which the suppression ends; null = never. */
  expires_at?: string | null;
  /** The reason. */
  reason: SuppressionReason;
  /** Time since which it is suppressed. */
  since: string;
}

/** The reason and the end of a suppression. */
export interface Suppression {
  /** Time at which the suppression ends; absent = never. */
  expires_at?: string | Date | null | undefined;
  /** The reason; `manual` if absent. */
  reason?: SuppressionReason | null | undefined;
}

/** A page of suppressed addresses, by channel and address. */
export interface SuppressionPage {
  /** Nodes of a cluster that did not answer: their rows are left out. Absent if all answered. */
  missing?: string[];
  /**
   * The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one,
   * since a page looks at a bounded number of rows.
   */
  next: string | null;
  /** The addresses. */
  suppressions: SuppressedAddress[];
}

/**
 * The reason of a suppression: `manual` (set by an operator or the host), `bounce` (messages come back), `complaint`
 * (its owner reported spam), `stop` (its owner opted out at the provider) or `gone` (the address no longer exists).
 */
export type SuppressionReason = "manual" | "bounce" | "complaint" | "stop" | "gone" | (string & {});

/** A tenant. */
export interface Tenant {
  /** Keys that override `[brand]`. */
  brand: TenantBrand;
  /** Data of the host. */
  data?: Record<string, unknown> | null;
  /** True = publishing is refused, and nothing is sent. */
  disabled: boolean;
  /** Sender name of its messages. */
  from_name?: string | null;
  /** Id of the tenant. */
  id: string;
  /** BCP 47 locale, for recipients without one; null = the configuration's default. */
  locale?: string | null;
  /** Name to show. */
  name?: string | null;
  /** Its defaults, which replace the types' policies. */
  preferences: Preference[];
  /** Quiet hours, for recipients without their own: null = none, `default` = those of each channel. */
  quiet_hours?: QuietHoursChoice | null;
  /** Mailbox for replies to its mails. */
  reply_to?: string | null;
  /** IANA time zone, for recipients without one; null = the configuration's default. */
  tz?: string | null;
}

/** Keys that override `[brand]`. */
export interface TenantBrand {
  /** `familiar` or `formal`. */
  address?: string;
  /** Colour of links and buttons. */
  color?: string;
  /** Text at the foot of mails. */
  footer?: string;
  /** Picture shown instead of the name. */
  logo?: string;
  /** Picture for dark mode. */
  logo_dark?: string;
  /** Name at the head of mails. */
  name?: string;
  /** Postal address at the foot of mails. */
  postal_address?: string;
  /** Public address at the start of links. */
  url?: string;
}

/** A tenant, or some of its fields. Null removes a value (for `quiet_hours`: no quiet hours). */
export interface TenantChange {
  /** Keys that override `[brand]`, one by one; null removes all. */
  brand?: BrandChange | null | undefined;
  /** Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`. */
  data?: Record<string, unknown> | null | undefined;
  /** True = publishing is refused, and pending notifications are cancelled. */
  disabled?: boolean | undefined;
  /** Sender name of its messages, at most 1 KiB. */
  from_name?: string | null | undefined;
  /** Id of the tenant; the same as in the path, if that has one. */
  id?: string | undefined;
  /** BCP 47 locale, for recipients without one. */
  locale?: string | null | undefined;
  /** Name to show, at most 1 KiB. */
  name?: string | null | undefined;
  /** All its defaults, which replace the types' policies. Mutes are not allowed. */
  preferences?: readonly Preference[] | null | undefined;
  /** Quiet hours, for recipients without their own: hours, null = none, `default` = those of each channel. */
  quiet_hours?: QuietHoursChoice | null | undefined;
  /** Mailbox for replies to its mails. */
  reply_to?: string | null | undefined;
  /** IANA time zone, for recipients without one. */
  tz?: string | null | undefined;
}

/** A page of tenants. */
export interface TenantsPage {
  /** The next page's cursor; null = this is the last. */
  next: string | null;
  /** The tenants, sorted by the bytes of their ids. */
  tenants: Tenant[];
}

/** A token that was signed. */
export interface TokenSigned {
  /** The time when it ends. */
  expires: string;
  /** The token. */
  token: string;
}

/** A token to sign. */
export interface TokenToSign {
  /** Its life, at most `[users] tokens`; 15 minutes if absent, or that if it is less. */
  for?: string | null | undefined;
  /** Id of the recipient. */
  recipient: string;
  /**
   * The parts that it opens, of `inbox`, `inbox:read`, `preferences`, `subscriptions` and `push`, separated by spaces; absent =
   * everything.
   */
  scope?: string | null | undefined;
  /** The tenant whose notifications the token shows, with those without a tenant; absent = all. */
  tenant?: string | null | undefined;
}

/** The tokens that are refused. */
export interface TokensRevoked {
  /** Those that were issued at or before the second of this time: an earlier request may have named a later one. */
  before: string;
}

/** The tokens to revoke. */
export interface TokensToRevoke {
  /** Those that were issued at or before the second of this time, at most 5 minutes ahead; now if absent. */
  before?: string | Date | null | undefined;
}

/** A type and its choices. */
export interface TypeChoice {
  /** Its channels. */
  channels: ChannelChoice[];
  /** True if it can't be turned off. */
  required: boolean;
  /** Its title, in the recipient's language. */
  title: string;
  /** Its name. */
  type: string;
}

/** A type. */
export interface TypeShown {
  /** The admission: `always`, `once_pending`, `once_ever` or `last_only`. */
  admission: string;
  /** Its category. */
  category: string;
  /** The policy for each channel. */
  channels: Record<string, PolicyShown>;
  /** The condition that is checked before sending; null = none. */
  condition?: string | null;
  /** True if seen notifications are dropped; null = yes, except in digests. */
  drop_if_seen?: boolean | null;
  /** Time after its due time at which a message that could not be handed over fails. */
  give_up_after?: string | null;
  /** The role by which lines are grouped: `object`, `actor` or `target`; null = the one with the fewest groups. */
  group?: string | null;
  /** True if actors are notified of their own events. */
  include_actor: boolean;
  /** Greatest age of an entry that is sent; null = no limit. */
  look_back?: string | null;
  /** True if an operator has paused it. */
  paused: boolean;
  /** The scope within which the admission compares entries: `type`, `object` or `target`. */
  per: string;
  /** True if neither `never` nor a mute applies to it. */
  required: boolean;
  /** The handling of a message of unknown outcome: `resend` or `give_up`. */
  unknown_outcome: string;
  /** The handling of its messages while the resolver does not answer: `send` or `wait`. */
  unresolved: string;
  /** True if it does not wait for a digest. */
  urgent: boolean;
}

/** The configured types and their delivery. */
export interface TypesAnswer {
  /** Categories for a preference page, by name. */
  categories: Record<string, CategoryShown>;
  /** By name. */
  channels: Record<string, ChannelShown>;
  /** Available digests, by name. */
  digests: Record<string, DigestShown>;
  /** By name. */
  types: Record<string, TypeShown>;
}

/** A pending notification. */
export interface Waiting {
  /** The event. */
  event: string;
  /** Its object. */
  object: string;
  /** Time at which it entered its lane, or will enter it. */
  t: string;
  /** Its tenant; absent = none. */
  tenant?: string;
  /** Its type. */
  type: string;
}

/** The answer to preferences that are set, but probably not intended as they are. */
export interface Warned {
  /** The warnings: `only_required` for a `never` of a category whose types are all required. */
  warnings: EventWarning[];
}

/** A weekday. */
export type Weekday = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun" | (string & {});
