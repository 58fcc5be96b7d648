"""The types of answers.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, TypeAlias

from ._model import Model

__all__ = [
    "Addresses",
    "AddressesShown",
    "AllPreferences",
    "AttemptShown",
    "Audience",
    "AudienceOnChannel",
    "AwayShown",
    "CancelAnswer",
    "CancelStatus",
    "CancelWarning",
    "CategoryChoice",
    "CategoryCounts",
    "CategoryShown",
    "ChangeAuthor",
    "ChangeSubject",
    "ChangedField",
    "ChannelChoice",
    "ChannelFate",
    "ChannelShown",
    "Circles",
    "ComparisonBegun",
    "Concerned",
    "ConfigFault",
    "Counted",
    "DigestDay",
    "DigestShown",
    "DigestTimeFrom",
    "DigestTimes",
    "Done",
    "DoneStatus",
    "DroppedDays",
    "DueAnswer",
    "DueHour",
    "Durations",
    "EditsChecked",
    "EntriesCounted",
    "ErasureReceipt",
    "EventLineAnswer",
    "EventObject",
    "EventOutcome",
    "EventRecipient",
    "EventRecipientsPage",
    "EventWarning",
    "EventWithOutcome",
    "EventsPage",
    "Explained",
    "ExplainedAudience",
    "ExplainedChannel",
    "ExplainedStep",
    "Explanation",
    "ExportedMembership",
    "ExportedSubscription",
    "Feed",
    "Figures",
    "FiguresRow",
    "Flushed",
    "Follower",
    "FollowersBody",
    "FoundKind",
    "GeoCircle",
    "Group",
    "HeldBy",
    "HeldShown",
    "Hook",
    "HookAnswer",
    "HookState",
    "HostText",
    "IdOrProfile",
    "ImageSize",
    "InboxCounts",
    "Item",
    "ItemAnswer",
    "ItemObject",
    "JobMade",
    "JobMaker",
    "JobPage",
    "JobShown",
    "KeptData",
    "KeyMade",
    "KeyShown",
    "KeysAnswer",
    "LeftOut",
    "LineAnswer",
    "ListedEvent",
    "ListedRecipient",
    "LogPage",
    "LoggedChange",
    "Matched",
    "Member",
    "MembersPage",
    "MessageContent",
    "MessageDetails",
    "MessageItem",
    "MessagePage",
    "MessagePreview",
    "MessageShown",
    "Mute",
    "NearId",
    "NextMail",
    "NextMessage",
    "NodeShown",
    "OperatedAnswer",
    "OperatedStatus",
    "Page",
    "ParkedPage",
    "ParkedRow",
    "PausedShown",
    "Pending",
    "PendingLane",
    "PolicyShown",
    "Preference",
    "PreferenceLevel",
    "PreferencesAnswer",
    "Preview",
    "Problem",
    "PublishAnswer",
    "PublishedAs",
    "PublishedEvent",
    "PublishedStatus",
    "PushAddress",
    "PushKey",
    "PushKeys",
    "QuietHours",
    "QuietHoursChoice",
    "QuietHoursInForce",
    "QuietHoursOfChannel",
    "QuietHoursSetBy",
    "RecipientChange",
    "RecipientErased",
    "RecipientExport",
    "RecipientFate",
    "RecipientProfile",
    "RecipientState",
    "RecipientsPage",
    "Rejected",
    "RejectedStatus",
    "RetriedMessage",
    "RetryingShown",
    "RoleName",
    "Scheduled",
    "ScheduledCount",
    "SearchHit",
    "SearchResult",
    "SendingChannel",
    "Session",
    "SessionPage",
    "SignedIn",
    "SigningKeyMade",
    "SigningKeyShown",
    "SigningKeysAnswer",
    "StatusAnswer",
    "Subscriptions",
    "SuppressedAddress",
    "SuppressionPage",
    "SuppressionReason",
    "Tenant",
    "TenantBrand",
    "TenantsPage",
    "TokenSigned",
    "TokensRevoked",
    "TypeChoice",
    "TypeShown",
    "TypesAnswer",
    "Waiting",
    "Warned",
    "Weekday",
]


class Addresses(Model):
    """Addresses by channel; null removes those of one."""

    apns: str | list[str] | None = None
    """Address of the Apple push channel."""
    discord: str | None = None
    """Address of the Discord channel."""
    email: str | None = None
    """Address of the e-mail channel."""
    fcm: str | list[str] | None = None
    """Address of the Firebase push channel."""
    slack: str | None = None
    """Address of the Slack channel."""
    sms: str | None = None
    """Address of the SMS channel."""
    teams: str | None = None
    """Address of the Teams channel."""
    telegram: str | None = None
    """Address of the Telegram channel."""
    webhook: str | None = None
    """Address of the webhook channel."""
    webpush: PushAddress | list[PushAddress] | None = None
    """Address of the Web Push channel."""


class AddressesShown(Model):
    """Addresses by channel."""

    apns: str | list[str] | None = None
    """Address of the Apple push channel."""
    discord: str | None = None
    """Address of the Discord channel."""
    email: str | None = None
    """Address of the e-mail channel."""
    fcm: str | list[str] | None = None
    """Address of the Firebase push channel."""
    slack: str | None = None
    """Address of the Slack channel."""
    sms: str | None = None
    """Address of the SMS channel."""
    teams: str | None = None
    """Address of the Teams channel."""
    telegram: str | None = None
    """Address of the Telegram channel."""
    webhook: str | None = None
    """Address of the webhook channel."""
    webpush: PushAddress | list[PushAddress] | None = None
    """Address of the Web Push channel."""


class AllPreferences(Model):
    """The preferences of a recipient, with all that a page of preferences shows."""

    _required = frozenset(
        ["choices", "digest_times", "digests", "mutes", "preferences", "quiet_hours_in_force", "tz"]
    )

    choices: list[CategoryChoice]
    """The categories that have types, in the order of the configuration."""
    digest_times: list[DigestTimes]
    """The times in force of the digests that let recipients choose some."""
    digests: dict[str, str]
    """The titles of digests in the recipient's language, by name; digests without a title are left
    out."""
    mutes: list[Mute]
    """The muted topics and objects."""
    preferences: list[Preference]
    """The preferences that are set, mutes included."""
    push: PushKey | None = None
    """The key by which browsers subscribe; absent if nothing is sent to browsers."""
    quiet_hours: QuietHoursChoice | None = None
    """Quiet hours: null = none, `default` = those of each channel."""
    quiet_hours_in_force: list[QuietHoursInForce]
    """The quiet hours in force, by channel, whether set by the recipient, the tenant or the
    configuration; channels without any are left out."""
    tz: str
    """The time zone of quiet hours and digests: the recipient's, else the tenant's, else the
    default."""


class AttemptShown(Model):
    """Attempts in a row with the same answer."""

    _required = frozenset(["answer", "at", "count", "provider", "reply", "until"])

    answer: str
    """`sent`, `retry` (surely not handed over), `failed` (refused permanently) or `unknown`; in
    later reports `delivered`, `delayed`, `bounced`, `complained`, `opened` or `clicked`."""
    at: datetime
    """Time of the first."""
    count: int
    """Number of attempts."""
    provider: str
    """The provider, without secrets."""
    reply: str
    """The provider's answer: stage and code of a refusal, without its text, which may contain
    addresses; the receipt of a sent message."""
    until: datetime
    """Time of the last."""


class Audience(Model):
    """The audience of an event: the union of its fields, without the actor and without `except`."""

    _names = {"except_": "except"}

    everyone: bool | None = None
    """All recipients."""
    except_: list[str] | None = None
    """Recipients to leave out by id, whatever their reasons: up to 10,000, see `[limits]`. Unknown
    ones are ignored."""
    near: Circles | None = None
    """Recipients within a circle, or within one of several: up to 50, see `[limits]`."""
    recipients: list[IdOrProfile] | None = None
    """Recipients by id. An object in place of an id first creates the recipient, or changes the
    given fields of the profile."""
    topics: list[str] | None = None
    """Recipients who follow one of these topics, or a parent of it."""


class AudienceOnChannel(Model):
    """The audience of an event on a channel: `concerned` = entries + all that are left out."""

    _required = frozenset(["entries", "left_out", "outcomes", "pending", "reasons"])

    entries: int
    """Number of entries."""
    left_out: dict[str, int]
    """Number of recipients without an entry by reason: `preference`, `once_pending`, `once_ever`."""
    outcomes: dict[str, int]
    """Number of ended entries by outcome."""
    pending: int
    """Number of entries that wait, are scheduled, or are being sent."""
    reasons: dict[str, int]
    """Number of undelivered entries by reason."""


class AwayShown(Model):
    """A provider, or a destination of one, that is unavailable: nothing is sent to it until its
    next probe."""

    _required = frozenset(["channel", "provider", "until", "why"])

    channel: str
    """The channel."""
    destination: str | None = None
    """The host that recipients name, or the domain of mail addresses; null = the whole provider."""
    provider: str
    """The provider, without secrets."""
    until: datetime
    """Time of the next probe."""
    why: str
    """Its last answer."""


class CancelAnswer(Model):
    """The result of a cancel."""

    _required = frozenset(
        ["cancelled", "events", "removed_from_batch", "status", "too_late", "warnings", "withdrawn"]
    )

    cancelled: int
    """Pending or scheduled entries that are now cancelled."""
    concerns: Concerned | None = None
    """With `dry`: what the call would touch."""
    dry: bool | None = None
    """With `dry`: true, and nothing was done."""
    events: int
    """Number of events found."""
    removed_from_batch: int
    """Entries removed from messages that are built and not handed over yet. A message without
    entries is not sent."""
    status: CancelStatus
    too_late: int
    """Entries that can't be cancelled: they are delivered (an inbox entry at once), are being sent,
    or ended when their message was built."""
    warnings: list[CancelWarning]
    """A warning about a request that is accepted, but probably not intended as it is."""
    withdrawn: int
    """Delivered entries that are removed from inboxes; they stay delivered."""


class CancelWarning(Model):
    """A warning about a request that is accepted, but probably not intended as it is."""

    _required = frozenset(["code", "detail"])

    code: str
    """The stable code: `unknown_event` or `unknown_cancellation_key`."""
    detail: str
    """The warning in words."""


class CategoryChoice(Model):
    """A category, and the choices for all of its types."""

    _required = frozenset(["category", "channels", "required", "title", "types"])

    category: str
    """Its name."""
    channels: list[ChannelChoice]
    """The channels that its types have."""
    required: bool
    """True if no type of it can be turned off."""
    title: str
    """Its title, in the recipient's language."""
    types: list[TypeChoice]
    """Its types, in the order of the configuration."""


class CategoryCounts(Model):
    """The counts of a category, or of a tenant."""

    _required = frozenset(["unread", "unseen"])

    unread: int
    """Number of groups with an unread item."""
    unseen: int
    """Number of groups with an unseen item."""


class CategoryShown(Model):
    """A category."""

    _required = frozenset(["title"])

    title: str
    """The title to show, in the default locale; the category's name if it has none."""


class ChangeAuthor(Model):
    """The author of a change."""

    _required = frozenset(["id", "kind"])

    id: str
    """Id of the key or the recipient, or the name of the rest."""
    kind: str
    """`key`, `person`, `user` (with a token), `link`, `feed`, `provider`, `command` or
    `configuration`."""
    role: str | None = None
    """Role of a key or a person."""


class ChangeSubject(Model):
    """The subject of a change."""

    _required = frozenset(["id", "kind"])

    id: str | None
    """Its id; of an address, and of an erased recipient, a keyed hash. Null = several of the kind,
    or the only one."""
    kind: str
    """The kind."""


class ChangedField(Model):
    """A field that was changed."""

    _required = frozenset(["from", "name", "to"])
    _names = {"from_": "from"}

    from_: Any
    """The value before; `"changed"` for names, addresses, data and texts, null for none."""
    name: str
    """Its name."""
    to: Any
    """The value after."""


class ChannelChoice(Model):
    """The choices on a channel, and the one in force."""

    _required = frozenset(["channel", "connected", "from", "modes"])
    _names = {"from_": "from"}

    channel: str
    """The channel."""
    connected: bool
    """False if the recipient has no address on the channel."""
    from_: PreferenceLevel
    """The source of the mode: a preference for the `type`, for its `category`, for all (`*`), or
    none (`default`)."""
    mode: str | None = None
    """The mode in force; null if the types of a category have several. Types that can be turned off
    decide about their category, if it has any."""
    modes: list[str]
    """The modes that may be chosen: `never`, `immediate`, and digests, the most frequent first."""


class ChannelFate(Model):
    """The entries of an event on a channel, by state: entries = pending + all outcomes."""

    _required = frozenset(["entries", "outcomes", "pending", "reasons"])

    entries: int
    """Number of them."""
    outcomes: dict[str, int]
    """Number of ended entries by outcome: `delivered`, `cancelled`, `skipped`, `expired`, `failed`,
    `unknown`."""
    pending: int
    """Number of entries that wait, are scheduled, or are being sent."""
    reasons: dict[str, int]
    """Number of undelivered entries by reason."""


class ChannelShown(Model):
    """A channel."""

    _required = frozenset(["configured", "paused"])

    configured: bool
    """True if it can send messages."""
    paused: bool
    """True if an operator has paused it."""


class ComparisonBegun(Model):
    """A comparison that was begun."""

    _required = frozenset(["job"])

    job: str
    """Id of its job."""


class Concerned(Model):
    """The number of people, entries and messages that a change touches, or would touch."""

    _required = frozenset(["entries", "messages", "people"])

    entries: int
    """Number of entries that it would make, end, send or take back."""
    messages: int
    """Number of built messages that it would send, change or stop; of `flush` the number of lanes."""
    people: int
    """Number of recipients that it would touch."""


class ConfigFault(Model):
    """A fault of a configuration."""

    _required = frozenset(["column", "file", "hint", "line", "reason"])

    column: int | None
    """The column in characters, counted from 1; null = the file as a whole."""
    file: str
    """The file."""
    hint: str
    """A way to fix it."""
    line: int | None
    """The line, counted from 1; null = the file as a whole."""
    reason: str
    """The fault in words."""


class Counted(Model):
    """The last line of the answer to a stream with `answers=problems`."""

    _required = frozenset(["done", "lines", "problems"])

    done: int
    """Number of lines that succeeded."""
    lines: int
    """Number of lines read, without blank ones."""
    problems: int
    """Number of lines that failed."""


class DigestShown(Model):
    """A digest."""

    _required = frozenset(["at", "every"])

    at: str
    """The wall-clock time."""
    choose: list[str] | None = None
    """The times that recipients may choose for themselves: `on`, `at` or both."""
    every: str
    """`day`, `weekday`, `week`, `month`, or hours such as `6h`."""
    min_items: int | None = None
    """Number of entries below which a slot is skipped, once."""
    on: str | None = None
    """The day of the week (`mon` to `sun`) or of the month (`1` to `31`); null for other digests."""
    spread: str | None = None
    """The time over which the recipients' slots are spread."""
    tz: str | None = None
    """The time zone; null = the recipient's."""


class DigestTimes(Model):
    """The times of a digest for a recipient."""

    _required = frozenset(
        ["at", "at_from", "choose", "default_at", "digest", "every", "on_from", "tz"]
    )

    at: str
    """The time in force."""
    at_from: DigestTimeFrom
    """The source of the time."""
    choose: list[str]
    """The times that may be chosen: `on`, `at` or both."""
    default_at: str
    """The time after a reset of the choice."""
    default_on: DigestDay | None = None
    """The day after a reset of the choice: in a tenant's view the recipient's own, else the
    digest's."""
    digest: str
    """The digest."""
    every: str
    """`day`, `weekday`, `week` or `month`."""
    on: DigestDay | None = None
    """The day in force, `mon` to `sun`, or 1 to 31; null for daily digests."""
    on_from: DigestTimeFrom
    """The source of the day."""
    tz: str
    """The time zone of both: that of the digest if it has one, else the recipient's."""


class Done(Model):
    """An item that succeeded."""

    _required = frozenset(["status"])
    _constant = {"status": "done"}

    line: int | None = None
    """In a stream: the line number, from 1."""
    status: DoneStatus


class DroppedDays(Model):
    """The result of deleting days."""

    _required = frozenset(["days", "expired"])

    days: int
    """Number of deleted days."""
    expired: int
    """Number of pending entries deleted with them; they end as expired."""


class DueAnswer(Model):
    """All lanes, messages and events that come due."""

    _required = frozenset(["deferred", "lanes", "scheduled", "sending", "unmade"])

    deferred: RetryingShown
    """Messages that wait for a retry."""
    lanes: list[DueHour]
    """Open lanes by hour, channel and name; lanes that are never due come last."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their shards are left out. Absent if all answered."""
    scheduled: Scheduled
    """Events published with `deliver_at`."""
    sending: int
    """Messages that are built and have no outcome yet, deferred ones included."""
    unmade: int
    """Messages that are due and not built yet."""


class DueHour(Model):
    """Lanes of one name that are due within one hour."""

    _required = frozenset(["channel", "held", "lane", "recipients"])

    channel: str
    """The channel."""
    held: int
    """Number of recipients whose lane stays open when it is due: unconfirmed or paused."""
    hour: datetime | None = None
    """The hour (UTC) in which they are due; null = none at present, such as while a type is paused."""
    lane: str
    """Name of the lane."""
    recipients: int
    """Number of recipients."""


class Durations(Model):
    """Durations, each within 5 %."""

    _required = frozenset(["n"])

    n: int
    """Number of them."""
    p50_ms: int | None = None
    """The median, in milliseconds; null = there are none."""
    p95_ms: int | None = None
    """The 95th percentile, in milliseconds; null = there are none."""


class EditsChecked(Model):
    """The result of a check of edits."""

    _required = frozenset(["diff", "faults"])

    diff: str
    """The edits as a unified diff of the file without context, for `git apply --unidiff-zero` or
    `patch`; empty = they change nothing."""
    faults: list[ConfigFault]
    """The faults of the configuration with the edits, as `tidings check --json` prints them; none =
    it may be put in force."""


class EntriesCounted(Model):
    """Counts of entries by outcome, without scheduled ones."""

    _required = frozenset(["all", "outcomes", "reasons"])

    all: int
    """All entries that entered a lane."""
    outcomes: dict[str, int]
    """Number of ended entries by outcome."""
    pending: int | None = None
    """Number of entries that wait or are being sent; null while nodes are `missing`, since their
    entries may wait too."""
    reasons: dict[str, int]
    """Number of undelivered entries by reason."""


class ErasureReceipt(Model):
    """The trace of an erasure."""

    _required = frozenset(["id", "subject"])

    id: str
    """Id of the line in the log of changes."""
    subject: str
    """The keyed hash that stands for the id of the person in all lines of the log."""


class EventObject(Model):
    """An object in an event. The given fields replace the stored ones."""

    _required = frozenset(["id"])

    data: dict[str, Any] | None = None
    """Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`."""
    id: str
    """Id of the object."""
    image: str | None = None
    """A picture: an address as `url`."""
    image_size: ImageSize | None = None
    """Size of the picture; removed by a new `image` without one."""
    title: HostText | None = None
    """A title to show, at most 1 KiB, or an object with a title for each locale."""
    url: str | None = None
    """Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB. Links are
    percent-encoded."""


class EventRecipient(Model):
    """A recipient whom the audience of an event reached."""

    _required = frozenset(["channels", "recipient"])

    channels: dict[str, RecipientFate]
    """The fates of their notifications, by channel: each channel of the type that the event allows."""
    recipient: str
    """Id of the recipient."""


class EventRecipientsPage(Model):
    """A page of an event's recipients, by the bytes of their ids."""

    _required = frozenset(["next", "recipients"])

    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""
    recipients: list[EventRecipient]
    """The recipients."""


class EventWarning(Model):
    """A warning about an event that is accepted, but probably not intended as it is."""

    _required = frozenset(["code", "detail", "hint"])

    code: str
    """The stable code: `unknown_recipient`; `no_followers`, `only_exceptions`, `only_the_actor`,
    `nobody_near` or `nobody_concerned` if the audience is empty; `already_expired`,
    `expires_before_delivery`; `differs` for an id that was used before for another event; or
    `more_warnings` in place of many."""
    detail: str
    """The problem in words."""
    hint: str
    """A way to fix it."""


class EventWithOutcome(Model):
    """An event with its outcomes."""

    _required = frozenset(["arrived_at", "channels", "event", "notifications", "suppressed"])

    arrived_at: datetime
    """Time of acceptance."""
    channels: dict[str, ChannelFate]
    """Its entries by channel; empty if the audience was empty."""
    event: PublishedAs
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: the counts lack their shards. Absent if all answered."""
    notifications: int
    """Number of recipients with at least one entry when it was accepted."""
    scheduled_for: datetime | None = None
    """Time at which it enters its lanes; null = it has entered them."""
    suppressed: dict[str, int]
    """Number of recipients left out by the admission of its type, by reason: `once_pending`,
    `once_ever`."""


class EventsPage(Model):
    """A page of events, newest first by arrival."""

    _required = frozenset(["events", "next"])

    events: list[ListedEvent]
    """The events."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""


class Explained(Model):
    """The path of an event to a recipient, rule by rule."""

    _required = frozenset(["as_of", "channels", "event", "recipient", "steps", "supposed", "type"])

    as_of: datetime
    """The time as of which it is explained."""
    channels: list[ExplainedChannel]
    """The channels of the event; empty if an earlier rule left the recipient out."""
    event: str
    """The event."""
    recipient: str
    """The recipient."""
    steps: list[ExplainedStep]
    """The rules that hold for all channels, in their order."""
    supposed: bool
    """True if the event was not published."""
    tenant: str | None = None
    """Its tenant; absent = none."""
    type: str
    """Its type."""


class ExplainedAudience(Model):
    """An event over its audience: counts by channel, outcome and reason."""

    _required = frozenset(
        ["as_of", "channels", "concerned", "event", "notifications", "supposed", "type"]
    )

    as_of: datetime
    """The time as of which it is told."""
    channels: dict[str, AudienceOnChannel]
    """The channels of its type that it allows."""
    concerned: int
    """Number of recipients in its audience."""
    event: str
    """The event."""
    missing: list[str] | None = None
    """Nodes of a cluster whose shards are left out. Absent if there are none."""
    notifications: int
    """Number of recipients with at least one entry when it was accepted."""
    supposed: bool
    """True if the event was not published."""
    tenant: str | None = None
    """Its tenant; absent = none."""
    type: str
    """Its type."""


class ExplainedChannel(Model):
    """The path of an event on one channel."""

    _required = frozenset(["channel", "state", "steps"])

    at: datetime | None = None
    """The time at which it ended, is due or enters its lane; null = none."""
    channel: str
    """The channel."""
    reason: str | None = None
    """The reason why it was not delivered, as in the outcome of an event; null = none."""
    state: str
    """`none` (no entry), `scheduled`, `pending`, `sending`, or the outcome."""
    steps: list[ExplainedStep]
    """The rules, in their order."""


class ExplainedStep(Model):
    """A rule that was applied."""

    _required = frozenset(["ends", "looked_at", "result", "rule"])

    at: datetime | None = None
    """The time at which it was applied, or that it set; null = unknown."""
    ends: bool
    """True if it is the last: there is no entry, or the entry ended here."""
    looked_at: str
    """The inputs of the rule, in words."""
    result: str
    """The result, in words."""
    rule: str
    """The rule."""


class ExportedMembership(Model):
    """A tenant of which a recipient is a member."""

    _required = frozenset(["tenant"])

    tenant: str
    """The tenant."""


class ExportedSubscription(Model):
    """A topic that a recipient follows."""

    _required = frozenset(["topic"])

    tenant: str | None = None
    """The tenant of the topic; absent = none."""
    topic: str
    """The topic."""


class Feed(Model):
    """A feed: a database from which events are read."""

    _required = frozenset(["name", "parked", "state", "taken"])

    fault: str | None = None
    """The reason why it is not read."""
    lag_ms: int | None = None
    """Age of the oldest row that waits, in milliseconds; 0 = none waits, null = unknown."""
    name: str
    """Its name in the configuration."""
    newest: str | None = None
    """Number of the newest row that was taken."""
    parked: int
    """Number of rows that are parked in the table with their problem."""
    state: str
    """`running`; `failing` while its table can't be read (retried; `fault` has the reason);
    `paused`; `stopped` if somebody has to fix something first."""
    taken: int
    """Number of rows taken since the server started."""


class Figures(Model):
    """Figures of some days."""

    _required = frozenset(["days_without", "from", "rows", "to", "zone"])
    _names = {"from_": "from"}

    complete_to: datetime | None = None
    """Time up to which all shards have counted; null = nothing has happened yet."""
    days_without: list[str]
    """Days whose rows are not kept, or on which counting had not begun."""
    from_: date
    """First day."""
    rows: list[FiguresRow]
    """The rows, in the order of `by`, without those of zeros."""
    to: date
    """The day after the last."""
    zone: str
    """The zone of days and hours."""


class FiguresRow(Model):
    """A row of figures: the parts of its name that `by` gives, and the measures that were asked
    for."""

    category: str | None = None
    """Category of the type as it is configured now; null = the type is not configured any more."""
    channel: str | None = None
    """Channel; null = what is counted once an event."""
    day: date | None = None
    """Day in UTC."""
    delay: Durations | None = None
    """Time from an entry's `t` to being sent, of told items."""
    ended: dict[str, int] | None = None
    """Of these entries, those that ended, by outcome."""
    entries: int | None = None
    """Entries (a notification on a channel), on the day on which they entered their lane."""
    events: int | None = None
    """Accepted events, on the day of their arrival; null = a channel is named."""
    hour: datetime | None = None
    """Hour in UTC, by its beginning."""
    items: int | None = None
    """Entries that messages told, on the day on which the message was due."""
    messages: dict[str, int] | None = None
    """Messages by final state, on the day on which they were due, for the type of their first
    entry."""
    muted: int | None = None
    """Times that a user, or a link, set `never` and it reached the type, on the day of the choice."""
    notifications: int | None = None
    """Pairs of an event and a recipient with an entry, on the day of the event's arrival; null = a
    channel is named."""
    read: int | None = None
    """Inbox items that were read, on the day of their entry."""
    reasons: dict[str, int] | None = None
    """Of these entries, those that were not delivered, by reason; reasons without one are absent."""
    reported: dict[str, int] | None = None
    """Messages of which providers reported something later, once each."""
    resent: int | None = None
    """Messages that were sent again after an unknown outcome."""
    seen: int | None = None
    """Inbox items that were seen, on the day of their entry."""
    tenant: str | None = None
    """Tenant."""
    told_to_seen: Durations | None = None
    """Time from being told to being seen first, of inbox items."""
    type: str | None = None
    """Type."""


class Flushed(Model):
    """The marker of a flush."""

    _required = frozenset(["lanes", "marker"])

    concerns: Concerned | None = None
    """With `dry`: what the call would touch."""
    dry: bool | None = None
    """With `dry`: true, and nothing was done."""
    lanes: int
    """Number of open lanes that are due now, each of which becomes a message; 0 if nothing waited."""
    marker: str
    """Position in the order of events; everything after it is new. The marker of an earlier flush
    means that nothing was pending."""
    scheduled: ScheduledCount | None = None
    """The scheduled entries, which are in no lane yet and not sent now; null = none."""


class Follower(Model):
    """A follower of a topic."""

    _required = frozenset(["recipient"])

    recipient: str
    """Id of the recipient."""


class FollowersBody(Model):
    """A page of the followers of a topic."""

    _required = frozenset(["count", "followers", "next"])

    count: int
    """Number of all followers of the topic."""
    followers: list[Follower]
    """The followers, sorted by the bytes of their ids."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out and not counted. Absent if
    all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""


class GeoCircle(Model):
    """A circle on the map."""

    _required = frozenset(["km", "lat", "lon"])

    km: float
    """Radius in kilometres."""
    lat: float
    """Degrees north."""
    lon: float
    """Degrees east."""


class Group(Model):
    """A group: items of one type about one thing on one day, of one tenant or of none. Read items
    are in a group of their own."""

    _required = frozenset(
        [
            "actors",
            "archived",
            "count",
            "items",
            "key",
            "lang",
            "newest_at",
            "order",
            "read",
            "seen",
            "snoozed_until",
            "text",
            "type",
        ]
    )

    actors: list[str]
    """The actors of the listed items, each once, newest first."""
    archived: bool
    """True if it is archived."""
    count: int
    """Number of items, listed or not."""
    items: list[Item]
    """The newest items, newest first, at most 25."""
    key: str
    """Key of the group, unique in this inbox."""
    lang: str
    """The language that `text` is in."""
    newest_at: datetime
    """Time of its position: that of the newest item, or of its return from a snooze."""
    order: str
    """Its position: groups are in falling order of these texts, compared by bytes."""
    read: bool
    """True if all items were read."""
    seen: bool
    """True if all items were seen."""
    snoozed_until: datetime | None
    """The earliest end of a snooze; null = not snoozed."""
    tenant: str | None = None
    """The tenant of its items; absent = none."""
    tenant_name: str | None = None
    """The name of the tenant; absent where it has none."""
    text: str
    """The sentence of its type, plain, in the recipient's language."""
    type: str
    """The type."""


class HeldShown(Model):
    """The reason why a message is held: its destination, or all providers of its channel, are
    unavailable."""

    _required = frozenset(["reason", "until"])

    channel: str | None = None
    """The channel, if all of its providers are unavailable; else absent."""
    destination: str | None = None
    """The host that the recipient names, or the domain of the mail address; absent = the whole
    channel."""
    reason: str
    """Its last answer."""
    until: datetime
    """Time of the next attempt to send any message to it."""


class Hook(Model):
    """A hook."""

    _required = frozenset(["backlog", "name", "state", "url"])

    backlog: int
    """Number of occurrences that are still to be sent to it."""
    last: HookAnswer | None = None
    """The last answer; absent before the first one."""
    name: str
    """Its name."""
    state: HookState
    """`on`, or `off` after it answered 410."""
    url: str
    """The address that is called."""


class HookAnswer(Model):
    """The last answer of a hook."""

    _required = frozenset(["at", "status"])

    at: datetime
    """Its time."""
    status: int
    """Its HTTP status; 0 = there was no answer."""


class ImageSize(Model):
    """The size of a picture in pixels, by which mails arrange pictures."""

    _required = frozenset(["height", "width"])

    height: int
    """Height."""
    width: int
    """Width."""


class InboxCounts(Model):
    """The counts of an inbox."""

    _required = frozenset(["categories", "rev", "unread", "unseen"])

    categories: dict[str, CategoryCounts]
    """The same for each category, by its name."""
    rev: int
    """Revision: the answer with the higher number is newer."""
    tenants: dict[str, CategoryCounts] | None = None
    """The same for each tenant with unread items, by tenant id; absent in the view of one tenant,
    and if tenants are off."""
    unread: int
    """Number of groups with an unread item, in the whole inbox."""
    unseen: int
    """Number of groups with an unseen item, in the whole inbox: the badge."""


class Item(Model):
    """One notification."""

    _required = frozenset(
        [
            "archived",
            "body",
            "event",
            "lang",
            "object",
            "read",
            "reasons",
            "seen",
            "snoozed_until",
            "t",
            "text",
            "type",
        ]
    )

    actor: ItemObject | None = None
    """The actor as it is now; absent if the event has none."""
    archived: bool
    """True if it is archived."""
    body: str | None
    """The event's `body`; null = it has none."""
    category: str | None = None
    """The category of the type; absent if the type is no longer configured."""
    data: dict[str, Any] | None = None
    """The event's `data`; absent if it has none."""
    event: str
    """The event."""
    lang: str
    """The language that `text` is in."""
    object: ItemObject
    """The object as it is now."""
    occurred_at: datetime | None = None
    """The event's `occurred_at`, if it has one."""
    read: bool
    """True if it was read."""
    reasons: list[str]
    """The reasons why this recipient was notified: `everyone`, `named`, `near`, or `topic:` and a
    topic that they follow."""
    seen: bool
    """True if it was seen."""
    snoozed_until: datetime | None
    """The end of its snooze; null = not snoozed."""
    t: datetime
    """Time at which it entered the inbox."""
    target: ItemObject | None = None
    """The target as it is now; absent if the event has none."""
    tenant: str | None = None
    """Its tenant; absent = none."""
    text: str
    """The sentence of its type, plain, in the recipient's language."""
    type: str
    """Its type."""


class ItemObject(Model):
    """An object, an actor or a target as it is now."""

    _required = frozenset(["id"])

    data: dict[str, Any] | None = None
    """Data of the host about it."""
    id: str
    """Its id."""
    image: str | None = None
    """Address of a picture."""
    title: str | None = None
    """A title to show."""
    url: str | None = None
    """Address of its page."""


class JobMade(Model):
    """A job that was made."""

    _required = frozenset(["job", "of"])

    job: str
    """Its id."""
    of: int
    """Number of its messages."""


class JobMaker(Model):
    """The maker of a job."""

    _required = frozenset(["id", "kind"])

    id: str
    """The id, such as that of the key; `dev` of the key of `serve --dev`."""
    kind: str
    """As in the log of changes, such as `key`."""
    role: str | None = None
    """The role of the key."""


class JobPage(Model):
    """A page of jobs, newest first."""

    _required = frozenset(["jobs", "next"])

    jobs: list[JobShown]
    """The jobs."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""


class JobShown(Model):
    """A job."""

    _required = frozenset(["at", "done", "id", "left_out", "of", "state", "verb"])

    at: datetime
    """Time at which it was made."""
    began: datetime | None = None
    """Time at which it began; absent = not yet."""
    by: JobMaker | None = None
    """Its author; absent = unknown."""
    done: int
    """Number of messages that were changed, or of lines that were played."""
    ended: datetime | None = None
    """Time at which it ended; absent = not yet."""
    filter: dict[str, Any] | None = None
    """The filter that chose its messages; absent = it is none of messages."""
    id: str
    """Its id."""
    left_out: dict[str, int]
    """Messages that stayed as they were, by the status or the code that the call for each answers.
    With `done` they add up to `of` in the end."""
    of: int
    """Number of its messages; of a comparison the number of lines that are played, 0 while they are
    gathered."""
    problem: str | None = None
    """The reason why a comparison that nobody stopped has no result."""
    result: list[dict[str, Any]] | None = None
    """The figures of both configurations of a comparison, `current` and `proposed`, as `tidings
    simulate --compare --json` prints them; absent = it is none, or has none yet."""
    state: str
    """`waiting`, `running`, `done` or `stopped`."""
    verb: str
    """The change: `retry`, `cancel` or `resend`; or `compare`."""


class KeptData(Model):
    """Data that an erasure leaves."""

    _required = frozenset(["until", "what"])

    until: datetime | None
    """The time at which the last of it is deleted; null = it is kept for good."""
    what: str
    """`events` (which may name the person as their actor), `messages` (without their recipient),
    `log` (with a keyed hash for the id) or `suppressions`."""


class KeyShown(Model):
    """An API key, without the key itself."""

    _required = frozenset(["id", "made", "name", "role"])

    id: str
    """Its id; no secret."""
    made: datetime
    """The time when it was made."""
    name: str
    """The name given to it; may be empty."""
    role: RoleName
    """Its role."""


class KeyMade(KeyShown):
    """An API key that was made."""

    _required = frozenset(["id", "made", "name", "role"])

    key: str | None = None
    """The key itself, which is stored nowhere; absent in the stored answer to an earlier request."""


class KeysAnswer(Model):
    """The API keys that are accepted."""

    _required = frozenset(["keys"])

    keys: list[KeyShown]
    """By when they were made."""


class LeftOut(Model):
    """A notification that a message leaves out."""

    _required = frozenset(["event", "reason"])

    event: str
    """The event."""
    reason: str
    """The reason, as in the outcome of an event."""


class ListedEvent(Model):
    """An event in a list."""

    _required = frozenset(["actor", "arrived_at", "id", "object", "target", "type"])

    actor: str | None
    """Id of the actor."""
    arrived_at: datetime
    """Time of its arrival."""
    channels: dict[str, RecipientFate] | None = None
    """The fates of the recipient's notifications, by channel: each channel of the type that the
    event allows. Absent without `recipient`."""
    id: str
    """Id of the event."""
    object: str
    """Id of the object."""
    target: str | None
    """Id of the target."""
    tenant: str | None = None
    """Its tenant; absent = none."""
    type: str
    """Its type."""


class ListedRecipient(Model):
    """A recipient in a list."""

    _required = frozenset(["id", "name", "state"])

    id: str
    """Id of the recipient."""
    name: str | None
    """Name to show."""
    state: RecipientState
    """The state."""
    tenants: list[str] | None = None
    """The tenants of which the recipient is a member, sorted by the bytes of their ids; absent =
    none."""


class LogPage(Model):
    """A page of the log of changes, newest first."""

    _required = frozenset(["log", "next"])

    log: list[LoggedChange]
    """The lines."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""


class LoggedChange(Model):
    """A change."""

    _required = frozenset(["action", "at", "by", "fields", "id", "result", "subject", "via"])

    action: str
    """The name of the call, or `configuration.loaded`, `suppressed`, `data.exported`,
    `store.restored` and the like."""
    at: datetime
    """Time of the change."""
    by: ChangeAuthor
    """The author."""
    count: int | None = None
    """Number of changes, where a line is about those of a whole commit."""
    fields: list[ChangedField]
    """The fields that were changed."""
    id: str
    """Id of the line."""
    request: str | None = None
    """The request's `X-Request-Id`, or the trace that it is of; absent = neither was given."""
    result: str
    """The result in a word: `done`, or what a cancel came to."""
    subject: ChangeSubject
    """The subject."""
    tenant: str | None = None
    """The tenant; absent = none."""
    via: str
    """The way in: `api`, `console`, `mcp`, `page`, or `cli` for a process that opened the store
    itself."""


class Member(Model):
    """A member of a tenant."""

    _required = frozenset(["id", "name"])

    id: str
    """Id of the recipient."""
    name: str | None
    """Name to show."""


class MembersPage(Model):
    """A page of members."""

    _required = frozenset(["members", "next"])

    members: list[Member]
    """The members, sorted by the bytes of their ids."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""


class MessageContent(Model):
    """The content of a message as its reader sees it. Each channel has some of the fields."""

    html: str | None = None
    """HTML of a mail."""
    parts: int | None = None
    """Number of parts of a text message that are paid for."""
    subject: str | None = None
    """Subject of a mail; title of a push message, or of a card in Teams."""
    text: str | None = None
    """The words: the plain text of a mail, all of a text message with its link, the body of a
    webhook's request."""


class MessageShown(Model):
    """A message to one recipient."""

    _required = frozenset(["channel", "due", "failed_attempts", "id", "lane", "state"])

    built: datetime | None = None
    """Time at which it was built, which fixed its content; null = not built yet."""
    channel: str
    """The channel."""
    due: datetime
    """Time at which its lane was due."""
    ended: datetime | None = None
    """Time of its outcome; null = none yet."""
    entries: int | None = None
    """Number of its notifications; null = not built yet."""
    failed_attempts: int
    """Number of failed attempts of a message that is retried, else 0."""
    held: HeldShown | None = None
    """The unavailable destination or channel that holds it; absent = none known."""
    id: str
    """Its id."""
    key: str | None = None
    """Batch key of the lane; absent = empty."""
    lane: str
    """The lane."""
    next_try: datetime | None = None
    """Time of the next attempt; null = none."""
    reason: str | None = None
    """The reason why it was not handed over; null = it was, or the outcome is open."""
    recipient: str | None = None
    """The recipient; null = erased."""
    state: str
    """`planned` (due, not built yet), `sending`, `retrying` (an attempt failed, another one
    follows), `sent`, `failed`, `unknown` (it may or may not have been handed over), `suppressed`
    (the checks before sending left no notification) or `cancelled` (all notifications were
    removed)."""
    tenant: str | None = None
    """Tenant of its notifications; absent = none."""


class MessageDetails(MessageShown):
    """A message with its history."""

    _required = frozenset(
        [
            "attempts",
            "channel",
            "due",
            "failed_attempts",
            "id",
            "items",
            "lane",
            "left_out",
            "state",
            "timeline",
        ]
    )

    attempts: list[AttemptShown]
    """Attempts to hand it over that the provider answered, and later reports, in their order."""
    batch: str | None = None
    """The id by which the provider and the log know it; null = it has no content."""
    items: list[MessageItem]
    """Its notifications. Those of deleted days are left out."""
    left_out: list[LeftOut]
    """Notifications that the checks before sending left out, or that were removed later."""
    timeline: list[ExplainedStep]
    """Its history in order: the entries of its lane (the first 100), the rules that decided its
    time, attempts, outcomes."""


class MessageItem(Model):
    """A notification in a message."""

    _required = frozenset(["event", "object", "reasons", "t", "type"])

    event: str
    """The event."""
    object: str
    """Its object."""
    reasons: list[str]
    """The reasons for which the recipient got it."""
    t: datetime
    """Time at which it entered its lane."""
    type: str
    """Its type."""


class MessagePage(Model):
    """A page of messages, newest first by `due`."""

    _required = frozenset(["messages", "next"])

    messages: list[MessageShown]
    """The messages."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""


class MessagePreview(MessageContent):
    """A message as it looks, built again now."""

    _required = frozenset(["channel", "same"])

    channel: str
    """Its channel."""
    same: bool | None
    """False if what was sent looked different: an object, the recipient or the configuration has
    changed since. Null if there is nothing to compare: the message is not built, has no
    notifications left, was not handed to a provider yet, or was by a version that kept no hash of
    its content."""


class Mute(Model):
    """A muted topic or object, on a channel or on each (`*`)."""

    _required = frozenset(["channel"])

    channel: str
    """The channel; `*` = each."""
    object: str | None = None
    """The object."""
    title: str | None = None
    """Its title, if it is known."""
    topic: str | None = None
    """The topic, with everything below it."""


class NearId(Model):
    """Something of which the id is spelled alike."""

    _required = frozenset(["id", "kind"])

    id: str
    """Its id."""
    kind: FoundKind
    """The kind."""


class NextMail(Model):
    """A mail as it would be sent if nothing else happened."""

    _required = frozenset(["at", "entries", "html", "lane", "subject", "text"])

    at: datetime
    """Due time, or now if that has passed."""
    entries: int
    """Number of notifications in the mail."""
    html: str
    """The HTML."""
    key: str | None = None
    """Batch key of the lane; left out where it is empty."""
    lane: str
    """Name of the lane."""
    source: str | None = None
    """The whole mail, without a signature. Its ids and links differ from those of the mail that
    will be sent. Left out where the recipient has no address that mail can be sent to."""
    subject: str
    """The subject."""
    text: str
    """The plain text."""


class NextMessage(MessageContent):
    """A message as a channel would send it if nothing else happened."""

    _required = frozenset(["at", "channel", "entries", "lane"])

    at: datetime
    """Due time, or now if that has passed."""
    channel: str
    """The channel."""
    entries: int
    """Number of notifications in the message."""
    key: str | None = None
    """Batch key of the lane; left out where it is empty."""
    lane: str
    """Name of the lane."""
    source: str | None = None
    """The whole mail, without a signature. Its ids and links differ from those of the mail that
    will be sent. Left out of other messages, and where the recipient has no address that mail can
    be sent to."""
    tenant: str | None = None
    """Tenant of the notifications; left out where they are of none."""
    url: str | None = None
    """The page that it opens, where its text doesn't have it."""


class NodeShown(Model):
    """A node as `GET /v1/nodes` shows it."""

    _required = frozenset(
        ["address", "config", "intake", "lag_ms", "node", "silent_ms", "since", "state"]
    )

    address: str
    """The address at which other nodes reach it."""
    config: str
    """Digest of the configuration that it applies when it holds the store: the same on all nodes
    with the same configuration and version."""
    epoch: int | None = None
    """Number of its term; null = it has no shards."""
    intake: bool
    """True if it has the intake, which accepts events, and all shards that no other node has."""
    lag_ms: int
    """Milliseconds by which its oldest message was overdue at its last heartbeat; 0 if it has no
    shards."""
    node: str
    """Its name."""
    parts: list[int] | None = None
    """Numbers of its shards; null = it has all of them."""
    silent_ms: int
    """Milliseconds since its last heartbeat, by the clock of the database."""
    since: datetime
    """Time since which it has its state."""
    state: str
    """`holding`, `opening`, `standby`, `draining`, or `silent` after 5 seconds without a heartbeat."""


class OperatedAnswer(Model):
    """The result of a change of a message."""

    _required = frozenset(["cancelled", "status"])

    cancelled: int
    """Number of notifications cancelled with it."""
    concerns: Concerned | None = None
    """With `dry`: what the call would touch."""
    dry: bool | None = None
    """With `dry`: true, and nothing was done."""
    status: OperatedStatus


class Page(InboxCounts):
    """A page of an inbox, newest first."""

    _required = frozenset(["categories", "groups", "next", "rev", "unread", "unseen"])

    groups: list[Group]
    """Its groups."""
    next: str | None
    """The next page's cursor; null = this is the last."""


class ParkedPage(Model):
    """A page of parked rows, newest first. `missing` names the feed where its database can't be
    read now."""

    _required = frozenset(["next", "parked"])

    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""
    parked: list[ParkedRow]
    """The rows."""


class ParkedRow(Model):
    """A row of a feed that was refused. It is read again once it is changed, or its `refused` is
    set to null."""

    _required = frozenset(["at", "key", "problem", "row"])

    at: datetime
    """Time when the host wrote it."""
    key: str | None
    """Key that the host gave it."""
    problem: dict[str, Any]
    """The problem, as the call that publishes events answers it."""
    row: str
    """Number of the row in the table."""


class PausedShown(Model):
    """Types and channels that are paused."""

    _required = frozenset(["channels", "types"])

    channels: list[str]
    """Channels."""
    types: list[str]
    """Types."""


class Pending(Model):
    """All pending notifications of a recipient."""

    _required = frozenset(["lanes", "messages", "scheduled"])

    lanes: list[PendingLane]
    """Open lanes with pending notifications."""
    messages: list[RetriedMessage]
    """Built messages that wait for a retry, the next first; at most 1,000."""
    scheduled: list[Waiting]
    """Scheduled events, by time."""


class PendingLane(Model):
    """A lane with pending notifications, which become one message."""

    _required = frozenset(["channel", "entries", "lane"])

    channel: str
    """The channel."""
    due: datetime | None = None
    """Due time; null = none at present, such as while its type is paused."""
    entries: list[Waiting]
    """The pending notifications, by time and arrival."""
    held_by: HeldBy | None = None
    """The reason why it is held although it is due; null = it is not held."""
    key: str | None = None
    """Batch key of the lane; absent = empty."""
    lane: str
    """Name of the lane; `paused` holds the notifications of paused types."""
    tenant: str | None = None
    """Tenant of the lane; absent = none."""


class PolicyShown(Model):
    """The policy of a type on a channel."""

    _required = frozenset(["policy"])

    after: str | None = None
    """Delay of its entries after those of the inbox."""
    batch_key: str | None = None
    """Expression of the batch key, for a policy that has one."""
    decide: str | None = None
    """For `first_event`: `first` or `earliest`."""
    digest: str | None = None
    """For `digest`: the digest's name."""
    hold: str | None = None
    """For `first_event`: the time for which the first entry waits."""
    lane: str | None = None
    """Lane of its entries; null for `never`."""
    max_items: int | None = None
    """Number of entries with which a lane is due at once."""
    max_wait: str | None = None
    """For `cooldown`: the longest wait; `none` = no bound."""
    policy: str
    """`now`, `first_event`, `cooldown`, `leading`, `digest` or `never`."""
    quiet: str | None = None
    """For `cooldown` and `leading`: the quiet time."""


class Preference(Model):
    """A preference for a type, a category or all categories, the mute of a topic or an object, or
    the times of a digest. A mute has precedence over a type, a type over its category, and that
    over all categories."""

    at: str | None = None
    """The time of the digest, a full quarter of an hour such as `17:15`; null or `default` resets
    it."""
    category: str | None = None
    """A category of the configuration; `*` = all categories, including later ones."""
    channel: str | None = None
    """The channel; `*` = all channels, including later ones, for a mute or for the category `*`."""
    digest: str | None = None
    """A digest whose times recipients may choose: with `on`, `at` or both, and without `channel`
    and `mode`."""
    mode: str | None = None
    """`never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no
    preference), or the name of a digest. Mutes have `never` and `default`. `never` is refused for a
    required type, and does not apply to the required types of a category."""
    object: str | None = None
    """An object to mute, also as a target."""
    on: DigestDay | None = None
    """The day of the digest, `mon` to `sun`, or 1 to 31 of a month; null or `default` resets it."""
    tenant: str | None = None
    """The tenant to whose notifications the preference applies; absent = all notifications."""
    topic: str | None = None
    """A topic to mute, with everything below it."""
    type: str | None = None
    """A type of the configuration."""


class Preview(Model):
    """A preview of what a recipient gets next."""

    mail: NextMail | None = None
    """The mail; null = no open lane will become one. Absent where a channel is named."""
    message: NextMessage | None = None
    """The message of the channel that is named; null = no open lane will become one. Absent where
    none is."""
    scheduled: ScheduledCount | None = None
    """The scheduled entries, which are in no lane yet; null = none."""


class Problem(Model):
    """A problem as it is sent (RFC 9457)."""

    _required = frozenset(["code", "detail", "hint", "status", "title", "type"])

    code: str
    """The stable code: use it in programs."""
    concerns: Concerned | None = None
    """For a change that would touch more people than its caller expects: what it would touch."""
    detail: str
    """The fault of this request."""
    hint: str
    """A way to fix it."""
    pointer: str | None = None
    """For `data` that does not fit its type: the JSON pointer (RFC 6901) of the fault, from the
    event on."""
    status: int
    """The HTTP status."""
    title: str
    """A short description of the code."""
    type: str
    """A path of the server that describes the code."""


class PublishedAs(Model):
    """An event as it was published; absent fields are null."""

    _required = frozenset(["id", "object", "score", "to", "type"])

    actor: EventObject | None = None
    body: HostText | None = None
    cancellation_key: str | None = None
    channels: list[str] | None = None
    data: dict[str, Any] | None = None
    delay: str | None = None
    deliver_at: datetime | None = None
    deliver_local: str | None = None
    expires_at: datetime | None = None
    id: str
    object: EventObject
    occurred_at: datetime | None = None
    score: float
    target: EventObject | None = None
    tenant: str | None = None
    """The tenant; absent = none."""
    to: Audience
    trace: str | None = None
    type: str


class PublishedEvent(Model):
    """The result of one event."""

    _required = frozenset(["id", "notifications", "status", "suppressed", "warnings"])

    applied: bool | None = None
    """In a cluster: true once all shards have applied the event, so that the counts are complete
    and inboxes have it."""
    concerns: Concerned | None = None
    """With `dry`: what the call would touch."""
    dry: bool | None = None
    """With `dry`: true, and nothing was done."""
    id: str
    """The event's id, generated by the server if the event had none."""
    line: int | None = None
    """In a stream: the line number, from 1."""
    notifications: int
    """Number of recipients with at least one entry."""
    status: PublishedStatus
    """`accepted`, or `duplicate` if its id is known and nothing happened."""
    suppressed: int
    """Number of recipients left out by the admission of its type."""
    warnings: list[EventWarning]
    """A warning about an event that is accepted, but probably not intended as it is."""


class PushAddress(Model):
    """A browser's Web Push subscription among a recipient's addresses."""

    _required = frozenset(["endpoint", "keys"])

    endpoint: str
    """Address of the browser's push service."""
    keys: PushKeys
    """Keys of the browser."""
    tenant: str | None = None
    """The tenant whose messages it gets, beside those without a tenant; absent = all messages."""


class PushKey(Model):
    """The key by which browsers subscribe to Web Push."""

    _required = frozenset(["key"])

    key: str
    """The public key of the server (VAPID), in base64url."""


class PushKeys(Model):
    """Keys of a browser, in base64url."""

    _required = frozenset(["auth", "p256dh"])

    auth: str
    """Authentication secret."""
    p256dh: str
    """Public key."""


class QuietHours(Model):
    """Hours of the wall clock in which only urgent notifications are sent."""

    _required = frozenset(["from", "to"])
    _names = {"from_": "from"}

    channels: list[str] | None = None
    """The channels to which they apply; all if absent. The others keep those of the channel."""
    days: list[Weekday] | None = None
    """The weekdays on which they begin; all if absent."""
    from_: str
    """The time at which they begin, HH:MM."""
    to: str
    """The time at which they end, different from `from`; on the next day if it is earlier."""


class QuietHoursInForce(Model):
    """Quiet hours in force on a channel."""

    _required = frozenset(["channel", "hours", "set_by"])

    channel: str
    """The channel."""
    hours: QuietHours
    """The hours, by the wall clock of `tz`."""
    set_by: QuietHoursSetBy
    """Their source: the `recipient`, the `tenant`, or the configuration of the `channel`."""


class RecipientChange(Model):
    """A profile, or some of its fields. Null removes a value (for `quiet_hours`: no quiet hours);
    give `lat` and `lon` together."""

    addresses: Addresses | None = None
    """Addresses by channel; null removes those of a channel, or all."""
    data: dict[str, Any] | None = None
    """Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`."""
    email: str | None = None
    """Address of the e-mail channel, short for `addresses.email`."""
    id: str | None = None
    """Id of the recipient; the same as in the path, if that has one."""
    lat: float | None = None
    """Latitude, in degrees north."""
    locale: str | None = None
    """BCP 47 locale."""
    lon: float | None = None
    """Longitude, in degrees east."""
    name: str | None = None
    """Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and
    without a title."""
    quiet_hours: QuietHoursChoice | None = None
    """Quiet hours: the recipient's own, null = none, `default` = those of each channel."""
    state: RecipientState | None = None
    """The state, which decides whether messages are sent; `active` for a new recipient."""
    tenants: list[str] | None = None
    """All tenants of which the recipient is a member; null = none."""
    tz: str | None = None
    """IANA time zone."""


class RecipientErased(Model):
    """The result of an erasure."""

    _required = frozenset(["erased", "kept", "receipt"])

    concerns: Concerned | None = None
    """With `dry`: what the call would touch."""
    dry: bool | None = None
    """With `dry`: true, and nothing was done."""
    erased: dict[str, int]
    """Number of what was deleted: `profile`, `addresses`, `preferences`, `subscriptions`,
    `memberships`; what there was none of is absent. Empty = there is no such recipient."""
    kept: list[KeptData]
    """The data that is kept without their name and addresses."""
    receipt: ErasureReceipt | None
    """The trace of the erasure in the log of changes; null = there was nobody, or nothing was done."""


class RecipientExport(Model):
    """Everything that is known about a recipient, at one moment."""

    _required = frozenset(
        [
            "inbox",
            "log",
            "memberships",
            "messages",
            "preferences",
            "recipient",
            "subscriptions",
            "suppressions",
        ]
    )

    inbox: list[Item]
    """All items of the inbox that they have not deleted, newest first."""
    log: list[LoggedChange]
    """The lines of the log of changes about them and their addresses, and those that they caused,
    newest first."""
    memberships: list[ExportedMembership]
    """The tenants of which they are a member, sorted by the bytes of their ids."""
    messages: list[MessageDetails]
    """All messages to them, newest first, each as `GET /v1/messages/{id}` shows it."""
    preferences: list[Preference]
    """All preferences, as `GET /v1/recipients/{id}/preferences` lists them."""
    recipient: RecipientProfile
    """The profile."""
    subscriptions: list[ExportedSubscription]
    """The topics that they follow, sorted by bytes."""
    suppressions: list[SuppressedAddress]
    """Those of their addresses that are suppressed."""


class RecipientFate(Model):
    """The fate of a recipient's notification of an event on a channel."""

    _required = frozenset(["state"])

    message: str | None = None
    """Id of the message that has it, or that left it out; absent = none."""
    reason: str | None = None
    """The reason of an outcome; of `left_out`: `preference`, `once_pending` or `once_ever`. Absent
    = none."""
    state: str
    """`scheduled`; `pending` (waits for its message); `sending`; an outcome: `delivered`,
    `cancelled`, `skipped`, `expired`, `failed` or `unknown`; or `left_out`: there is none on this
    channel."""


class RecipientProfile(Model):
    """A recipient's profile."""

    _required = frozenset(["addresses", "id", "state"])

    addresses: AddressesShown
    """Addresses by channel, that of the e-mail channel included."""
    data: dict[str, Any] | None = None
    """Data of the host."""
    email: str | None = None
    """Address of the e-mail channel."""
    id: str
    """Id of the recipient."""
    lat: float | None = None
    """Latitude, in degrees north."""
    locale: str | None = None
    """BCP 47 locale; null = the configuration's default."""
    lon: float | None = None
    """Longitude, in degrees east."""
    name: str | None = None
    """Name to show."""
    quiet_hours: QuietHoursChoice | None = None
    """Quiet hours: null = none, `default` = those of each channel."""
    state: RecipientState
    """The state, which decides whether messages are sent."""
    tenants: list[str] | None = None
    """The tenants of which the recipient is a member, sorted by the bytes of their ids; absent =
    none."""
    tz: str | None = None
    """IANA time zone; null = the configuration's default."""


class RecipientsPage(Model):
    """A page of recipients."""

    _required = frozenset(["next", "recipients"])

    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""
    recipients: list[ListedRecipient]
    """The recipients, sorted by the bytes of their ids."""


class Rejected(Model):
    """An item that failed; the others succeeded."""

    _required = frozenset(["problem", "status"])
    _constant = {"status": "rejected"}

    id: str | None = None
    """The item's `id`, if it could be read."""
    line: int | None = None
    """In a stream: the line number, from 1."""
    problem: Problem
    """The problem of the item."""
    status: RejectedStatus


class RetriedMessage(MessageShown):
    """A message that waits for its next attempt."""

    _required = frozenset(["channel", "due", "failed_attempts", "id", "lane", "state"])

    held_by: HeldBy | None = None
    """The reason why it is held; null = it is not held."""
    last: AttemptShown | None = None
    """The provider's last answer; null = none."""


class RetryingShown(Model):
    """Messages that wait for a retry."""

    _required = frozenset(["messages", "next"])

    messages: int
    """Number of them."""
    next: list[RetriedMessage]
    """The next ones, at most 100."""


class Scheduled(Model):
    """Events published with `deliver_at`."""

    _required = frozenset(["events", "next"])

    events: int
    """Number of them."""
    next: list[Waiting]
    """The next ones, by time."""


class ScheduledCount(Model):
    """Notifications that are scheduled: they enter their lanes later."""

    _required = frozenset(["first", "notifications"])

    first: datetime
    """The time at which the first enters its lane."""
    notifications: int
    """Number of them; those of one event at one instant count once."""


class SearchHit(Model):
    """A hit of a search."""

    _required = frozenset(["id", "kind", "matched"])

    id: str
    """Its id."""
    kind: FoundKind
    """The kind."""
    matched: Matched
    """The way in which it matched."""


class SearchResult(Model):
    """The result of a search."""

    _required = frozenset(["hits"])

    hits: list[SearchHit]
    """The hits, at most 50: those by id, then the message of a tag, events by cancellation key,
    recipients by address; those of one way by id."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: what they have is not found. Absent if all answered."""
    nearest: list[NearId] | None = None
    """Without a hit: at most three ids that are spelled alike. Absent where there is a hit."""


class SendingChannel(Model):
    """A channel that sends messages."""

    _required = frozenset(["paused", "providers"])

    paused: bool
    """True if an operator has paused it."""
    providers: list[str]
    """The kinds of its providers (such as `file`, `smtp`), in order of preference."""


class Session(Model):
    """A session of the console."""

    _required = frozenset(["began", "by", "id", "until", "used"])

    began: datetime
    """The time at which it began."""
    by: SignedIn
    """The one who is signed in."""
    id: str
    """Its id; no secret."""
    until: datetime
    """The time at which it ends, however much it is used."""
    used: datetime
    """The time of its last use. Two hours without use end it."""


class SessionPage(Model):
    """A page of sessions, newest first."""

    _required = frozenset(["next", "sessions"])

    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""
    sessions: list[Session]
    """The sessions."""


class SignedIn(Model):
    """The one who is signed in."""

    _required = frozenset(["id", "kind"])

    id: str
    """Id of the key, or the name that the proxy gives the person."""
    kind: str
    """`key` or `person`."""
    role: str | None = None
    """The role when they signed in."""


class SigningKeyShown(Model):
    """A signing key, without what it signs with."""

    _required = frozenset(["alg", "id", "made", "name", "scope"])

    alg: str
    """The algorithm of its tokens: `HS256` or `EdDSA`."""
    id: str
    """Its id, which tokens name as `kid`; no secret."""
    made: datetime
    """The time when it was made."""
    name: str
    """The name given to it; may be empty."""
    scope: str | None
    """The most that its tokens may open; null = everything."""
    tenant: str | None = None
    """The tenant that its tokens must name; absent = they may name any, or none."""


class SigningKeyMade(SigningKeyShown):
    """A signing key that was made."""

    _required = frozenset(["alg", "id", "made", "name", "scope"])

    secret: str | None = None
    """The secret, whose text is the key of HS256; absent with a public key, and in the stored
    answer to an earlier request."""


class SigningKeysAnswer(Model):
    """The signing keys in force."""

    _required = frozenset(["keys"])

    keys: list[SigningKeyShown]
    """By when they were made."""


class StatusAnswer(Model):
    """The status of the server."""

    _required = frozenset(
        [
            "away",
            "channels",
            "entries",
            "kept_aside",
            "now",
            "paused",
            "recipients",
            "retrying",
            "version",
        ]
    )

    away: list[AwayShown]
    """Providers and destinations that are unavailable, at most 20."""
    channels: dict[str, SendingChannel]
    """The channels that send messages, by name."""
    clock_behind_seconds: int | None = None
    """Seconds by which the clock is behind the newest step, if more than 60: the clock was ahead
    before. Deadlines follow the clock; records have the time of the newest step meanwhile. null =
    not behind."""
    entries: EntriesCounted
    """Counts of entries, deleted days included."""
    forgotten_before: date | None = None
    """Days before this one are deleted; null = none yet."""
    kept_aside: int
    """Messages that wait because their recipient or destination uses its share of a channel's
    threads, or because the destination is unavailable."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their shards are left out, so each count is a lower
    bound. Absent if all answered."""
    newest_step: datetime | None = None
    """Instant of the newest step, which never goes back; null = none yet."""
    now: datetime
    """Time by the server's clock."""
    oldest_due: datetime | None = None
    """Due time of the oldest overdue, unsent message; null = none is known."""
    oldest_due_age_seconds: int | None = None
    """Age of that message in seconds, by the server's clock; null = none."""
    paused: PausedShown
    """Types and channels that are paused."""
    recipients: int
    """Number of recipients."""
    retrying: int
    """Messages that wait for a retry."""
    uptime_seconds: int | None = None
    """Seconds since the server started; null = a command reads the data directory without a server."""
    version: str
    """Version of tidings."""


class Subscriptions(Model):
    """The topics of a recipient."""

    _required = frozenset(["topics"])

    tenants: dict[str, list[str]] | None = None
    """Topics of tenants, by tenant id; absent = none."""
    topics: list[str]
    """Topics without a tenant, sorted by bytes; with a tenant in the token, the key or the query,
    the topics of that tenant."""


class SuppressedAddress(Model):
    """A suppressed address."""

    _required = frozenset(["address", "channel", "reason", "since"])

    address: str
    """The address in the form in which addresses are compared: that of an e-mail in small letters,
    the endpoint of a Web Push subscription."""
    channel: str
    """The channel."""
    expires_at: datetime | None = None
    """Time at which the suppression ends; null = never."""
    reason: SuppressionReason
    """The reason."""
    since: datetime
    """Time since which it is suppressed."""


class SuppressionPage(Model):
    """A page of suppressed addresses, by channel and address."""

    _required = frozenset(["next", "suppressions"])

    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their rows are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few rows, or none, may have a
    next one, since a page looks at a bounded number of rows."""
    suppressions: list[SuppressedAddress]
    """The addresses."""


class Tenant(Model):
    """A tenant."""

    _required = frozenset(["brand", "disabled", "id", "preferences"])

    brand: TenantBrand
    """Keys that override `[brand]`."""
    data: dict[str, Any] | None = None
    """Data of the host."""
    disabled: bool
    """True = publishing is refused, and nothing is sent."""
    from_name: str | None = None
    """Sender name of its messages."""
    id: str
    """Id of the tenant."""
    locale: str | None = None
    """BCP 47 locale, for recipients without one; null = the configuration's default."""
    name: str | None = None
    """Name to show."""
    preferences: list[Preference]
    """Its defaults, which replace the types' policies."""
    quiet_hours: QuietHoursChoice | None = None
    """Quiet hours, for recipients without their own: null = none, `default` = those of each
    channel."""
    reply_to: str | None = None
    """Mailbox for replies to its mails."""
    tz: str | None = None
    """IANA time zone, for recipients without one; null = the configuration's default."""


class TenantBrand(Model):
    """Keys that override `[brand]`."""

    address: str | None = None
    """`familiar` or `formal`."""
    color: str | None = None
    """Colour of links and buttons."""
    footer: str | None = None
    """Text at the foot of mails."""
    logo: str | None = None
    """Picture shown instead of the name."""
    logo_dark: str | None = None
    """Picture for dark mode."""
    name: str | None = None
    """Name at the head of mails."""
    postal_address: str | None = None
    """Postal address at the foot of mails."""
    url: str | None = None
    """Public address at the start of links."""


class TenantsPage(Model):
    """A page of tenants."""

    _required = frozenset(["next", "tenants"])

    next: str | None
    """The next page's cursor; null = this is the last."""
    tenants: list[Tenant]
    """The tenants, sorted by the bytes of their ids."""


class TokenSigned(Model):
    """A token that was signed."""

    _required = frozenset(["expires", "token"])

    expires: datetime
    """The time when it ends."""
    token: str
    """The token."""


class TokensRevoked(Model):
    """The tokens that are refused."""

    _required = frozenset(["before"])

    before: datetime
    """Those that were issued at or before the second of this time: an earlier request may have
    named a later one."""


class TypeChoice(Model):
    """A type and its choices."""

    _required = frozenset(["channels", "required", "title", "type"])

    channels: list[ChannelChoice]
    """Its channels."""
    required: bool
    """True if it can't be turned off."""
    title: str
    """Its title, in the recipient's language."""
    type: str
    """Its name."""


class TypeShown(Model):
    """A type."""

    _required = frozenset(
        [
            "admission",
            "category",
            "channels",
            "include_actor",
            "paused",
            "per",
            "required",
            "unknown_outcome",
            "unresolved",
            "urgent",
        ]
    )

    admission: str
    """The admission: `always`, `once_pending`, `once_ever` or `last_only`."""
    category: str
    """Its category."""
    channels: dict[str, PolicyShown]
    """The policy for each channel."""
    condition: str | None = None
    """The condition that is checked before sending; null = none."""
    drop_if_seen: bool | None = None
    """True if seen notifications are dropped; null = yes, except in digests."""
    give_up_after: str | None = None
    """Time after its due time at which a message that could not be handed over fails."""
    group: str | None = None
    """The role by which lines are grouped: `object`, `actor` or `target`; null = the one with the
    fewest groups."""
    include_actor: bool
    """True if actors are notified of their own events."""
    look_back: str | None = None
    """Greatest age of an entry that is sent; null = no limit."""
    paused: bool
    """True if an operator has paused it."""
    per: str
    """The scope within which the admission compares entries: `type`, `object` or `target`."""
    required: bool
    """True if neither `never` nor a mute applies to it."""
    unknown_outcome: str
    """The handling of a message of unknown outcome: `resend` or `give_up`."""
    unresolved: str
    """The handling of its messages while the resolver does not answer: `send` or `wait`."""
    urgent: bool
    """True if it does not wait for a digest."""


class TypesAnswer(Model):
    """The configured types and their delivery."""

    _required = frozenset(["categories", "channels", "digests", "types"])

    categories: dict[str, CategoryShown]
    """Categories for a preference page, by name."""
    channels: dict[str, ChannelShown]
    """By name."""
    digests: dict[str, DigestShown]
    """Available digests, by name."""
    types: dict[str, TypeShown]
    """By name."""


class Waiting(Model):
    """A pending notification."""

    _required = frozenset(["event", "object", "t", "type"])

    event: str
    """The event."""
    object: str
    """Its object."""
    t: datetime
    """Time at which it entered its lane, or will enter it."""
    tenant: str | None = None
    """Its tenant; absent = none."""
    type: str
    """Its type."""


class Warned(Model):
    """The answer to preferences that are set, but probably not intended as they are."""

    _required = frozenset(["warnings"])

    warnings: list[EventWarning]
    """The warnings: `only_required` for a `never` of a category whose types are all required."""


CancelStatus: TypeAlias = (
    Literal[
        "cancelled",
        "removed_from_batch",
        "withdrawn",
        "too_late",
        "nothing_left",
        "remembered",
        "unknown",
    ]
    | str
)
"""The extent of the cancel: `removed_from_batch` = entries were removed from a message; `cancelled`
= only pending entries were cancelled; `withdrawn` = delivered entries were removed from inboxes;
`too_late` = everything was delivered already; `nothing_left` = the event was cancelled before or
has no recipients; `remembered` = no event with this id is known, and it is cancelled if it arrives
within 24 hours; `unknown` = no event with this key was found."""


Circles: TypeAlias = GeoCircle | list[GeoCircle]


DigestDay: TypeAlias = int | str
"""A day or a time: a text, or the number of a day of the month."""


DigestTimeFrom: TypeAlias = Literal["tenant", "recipient", "default"] | str
"""The source of a time of a digest."""


DoneStatus: TypeAlias = Literal["done"] | str


EventLineAnswer: TypeAlias = PublishedEvent | Rejected | Counted
"""The answer to a line of a stream of events."""


EventOutcome: TypeAlias = PublishedEvent | Rejected
"""The result of one event of an array."""


Explanation: TypeAlias = Explained | ExplainedAudience
"""An explanation for one recipient, or for the whole audience."""


FoundKind: TypeAlias = (
    Literal["recipient", "event", "message", "object", "topic", "tenant", "type"]
    | str
)
"""A kind of what is found."""


HeldBy: TypeAlias = Literal["paused", "unconfirmed"] | str
"""The reason why a due lane or message is held."""


HookState: TypeAlias = Literal["on", "off"] | str
"""The state of a hook."""


HostText: TypeAlias = str | dict[str, str]
"""A text for all languages, or an object with a text for each locale (BCP 47). A message shows the
text in its language."""


IdOrProfile: TypeAlias = str | RecipientChange


ItemAnswer: TypeAlias = Done | Rejected
"""The answer to an item of an array."""


LineAnswer: TypeAlias = Done | Rejected | Counted
"""The answer to a line of a stream."""


Matched: TypeAlias = Literal["id", "tag", "cancellation_key", "address", "former_address"] | str
"""The way in which a hit matched: by its id; as the message of a mail's tag; as an event with this
cancellation key; as a recipient who has the address, or had it within `keep`."""


OperatedStatus: TypeAlias = Literal["accepted", "cancelled", "too_late", "nothing_left"] | str
"""Result of a change of a message: `accepted` = it is sent; `cancelled` = it is not sent any more;
`too_late` = it was handed over, or may have been; `nothing_left` = it had failed, or had no
notifications left."""


PreferenceLevel: TypeAlias = Literal["type", "category", "*", "default"] | str
"""A level at which a preference is set."""


PreferencesAnswer: TypeAlias = list[Preference] | AllPreferences
"""A list of preferences: those that are set, or an object that also has the modes that may be
chosen."""


PublishAnswer: TypeAlias = PublishedEvent | list[EventOutcome]
"""The result of one event, or of each event of an array."""


PublishedStatus: TypeAlias = Literal["accepted", "duplicate", "cancelled"] | str


QuietHoursOfChannel: TypeAlias = Literal["default"] | str
"""The value for the hours of each channel."""


QuietHoursChoice: TypeAlias = QuietHours | QuietHoursOfChannel
"""Quiet hours as a profile shows them; null = none."""


QuietHoursSetBy: TypeAlias = Literal["recipient", "tenant", "channel"] | str
"""The source of quiet hours."""


RecipientState: TypeAlias = Literal["active", "unconfirmed", "disabled"] | str
"""The state of a recipient: notifications of an `unconfirmed` one wait on every channel but the
inbox, those of a `disabled` one end when they are due."""


RejectedStatus: TypeAlias = Literal["rejected"] | str


RoleName: TypeAlias = Literal["figures", "read", "support", "publish", "operate", "admin"] | str
"""The role of an API key: the calls that it may make."""


SuppressionReason: TypeAlias = Literal["manual", "bounce", "complaint", "stop", "gone"] | str
"""The reason of a suppression: `manual` (set by an operator or the host), `bounce` (messages come
back), `complaint` (its owner reported spam), `stop` (its owner opted out at the provider) or `gone`
(the address no longer exists)."""


Weekday: TypeAlias = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"] | str
"""A weekday."""
