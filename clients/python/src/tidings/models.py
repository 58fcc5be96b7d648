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
    "AwayShown",
    "CancelAnswer",
    "CancelStatus",
    "CancelWarning",
    "CategoryChoice",
    "CategoryCounts",
    "CategoryShown",
    "ChannelChoice",
    "ChannelFate",
    "ChannelShown",
    "Circles",
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
    "EntriesCounted",
    "EventLineAnswer",
    "EventObject",
    "EventOutcome",
    "EventWarning",
    "EventWithOutcome",
    "Explained",
    "ExplainedChannel",
    "ExplainedStep",
    "Feed",
    "Flushed",
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
    "KeyMade",
    "KeyShown",
    "KeysAnswer",
    "LeftOut",
    "LineAnswer",
    "Member",
    "MembersPage",
    "MessageDetails",
    "MessageItem",
    "MessagePage",
    "MessageShown",
    "Mute",
    "Near",
    "NextMail",
    "NodeShown",
    "OperatedAnswer",
    "OperatedStatus",
    "Page",
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
    "RecipientProfile",
    "RecipientState",
    "Rejected",
    "RejectedStatus",
    "RetriedMessage",
    "RetryingShown",
    "RoleName",
    "Scheduled",
    "ScheduledCount",
    "SendingChannel",
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


class Flushed(Model):
    """The marker of a flush."""

    _required = frozenset(["lanes", "marker"])

    lanes: int
    """Number of open lanes that are due now, each of which becomes a message; 0 if nothing waited."""
    marker: str
    """Position in the order of events; everything after it is new. The marker of an earlier flush
    means that nothing was pending."""
    scheduled: ScheduledCount | None = None
    """The scheduled entries, which are in no lane yet and not sent now; null = none."""


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
    """What it may do."""


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
    """Nodes of a cluster that did not answer: their members are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last."""


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
    """A page of messages: those that are not built yet, then by the day on which they were built,
    newest first."""

    _required = frozenset(["messages", "next"])

    messages: list[MessageShown]
    """The messages."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their messages are left out. Absent if all answered."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few messages, or none, may have
    a next one, since a page reads a bounded number of messages."""


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


class Near(Model):
    """A circle on the map."""

    _required = frozenset(["km", "lat", "lon"])

    km: float
    """Radius in kilometres."""
    lat: float
    """Degrees north."""
    lon: float
    """Degrees east."""


class NextMail(Model):
    """A mail as it would be sent if nothing else happened."""

    _required = frozenset(["at", "entries", "html", "lane", "source", "subject", "text"])

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
    source: str
    """The whole mail, without a signature. Its ids and links differ from those of the mail that
    will be sent."""
    subject: str
    """The subject."""
    text: str
    """The plain text."""


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
    status: OperatedStatus


class Page(InboxCounts):
    """A page of an inbox, newest first."""

    _required = frozenset(["categories", "groups", "next", "rev", "unread", "unseen"])

    groups: list[Group]
    """Its groups."""
    next: str | None
    """The next page's cursor; null = this is the last."""


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
    """A preview of the mail that a recipient gets next."""

    mail: NextMail | None = None
    """The mail; null = no open lane will become one."""
    scheduled: ScheduledCount | None = None
    """The scheduled entries, which are in no lane yet; null = none."""


class Problem(Model):
    """A problem as it is sent (RFC 9457)."""

    _required = frozenset(["code", "detail", "hint", "status", "title", "type"])

    code: str
    """The stable code: use it in programs."""
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


class SendingChannel(Model):
    """A channel that sends messages."""

    _required = frozenset(["paused", "providers"])

    paused: bool
    """True if an operator has paused it."""
    providers: list[str]
    """The kinds of its providers (such as `file`, `smtp`), in order of preference."""


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
    """What its tokens may open at most; null = everything."""
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

    next: str | None
    """The next page's cursor; null = this is the last."""
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


Circles: TypeAlias = Near | list[Near]


DigestDay: TypeAlias = int | str
"""A day or a time: a text, or the number of a day of the month."""


DigestTimeFrom: TypeAlias = Literal["tenant", "recipient", "default"] | str
"""The source of a time of a digest."""


DoneStatus: TypeAlias = Literal["done"] | str


EventLineAnswer: TypeAlias = PublishedEvent | Rejected | Counted
"""The answer to a line of a stream of events."""


EventOutcome: TypeAlias = PublishedEvent | Rejected
"""The result of one event of an array."""


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


RoleName: TypeAlias = Literal["read", "publish", "operate", "admin"] | str
"""What an API key may do."""


SuppressionReason: TypeAlias = Literal["manual", "bounce", "complaint", "stop", "gone"] | str
"""The reason of a suppression: `manual` (set by an operator or the host), `bounce` (messages come
back), `complaint` (its owner reported spam), `stop` (its owner opted out at the provider) or `gone`
(the address no longer exists)."""


Weekday: TypeAlias = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"] | str
"""A weekday."""
