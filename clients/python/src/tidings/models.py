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
    """The digests in the recipient's language, by name; those for which there are no words are left
    out."""
    mutes: list[Mute]
    """The muted topics and objects."""
    preferences: list[Preference]
    """The preferences that are set, mutes among them."""
    push: PushKey | None = None
    """The key by which browsers subscribe; left out where nothing is sent to browsers."""
    quiet_hours: QuietHoursChoice | None = None
    """Quiet hours: null = none at all, `default` = those of each channel."""
    quiet_hours_in_force: list[QuietHoursInForce]
    """The quiet hours in force, whoever set them, by channel; a channel without any is left out."""
    tz: str
    """The time zone of quiet hours and digests: the recipient's, else the tenant's, else the
    default."""


class AttemptShown(Model):
    """Attempts in a row with the same answer."""

    _required = frozenset(["answer", "at", "count", "provider", "reply", "until"])

    answer: str
    """`sent`, `retry` (surely not handed over), `failed` (refused for good) or `unknown`; reported
    later: `delivered`, `delayed`, `bounced`, `complained`, `opened` or `clicked`."""
    at: datetime
    """Time of the first."""
    count: int
    """Number of attempts."""
    provider: str
    """The provider, without secrets."""
    reply: str
    """The provider's words: stage and code of a refusal, without the text, which may contain
    addresses; the receipt of what was sent."""
    until: datetime
    """Time of the last."""


class Audience(Model):
    """The audience of an event: all of these together, without the actor and those in `except`."""

    _names = {"except_": "except"}

    everyone: bool | None = None
    """All recipients."""
    except_: list[str] | None = None
    """Recipients who are left out, by their ids, whatever their reasons: up to 10,000, see
    `[limits]`. Unknown ones don't matter."""
    near: Circles | None = None
    """Recipients within a circle, or within one of several: up to 50, see `[limits]`."""
    recipients: list[IdOrProfile] | None = None
    """Recipients, by their ids. An object in place of an id makes the recipient, or changes the
    given fields of the profile, before the audience is asked for."""
    topics: list[str] | None = None
    """Recipients who follow one of these topics, or a parent of it."""


class AwayShown(Model):
    """A provider, or a destination of one, that takes nothing and is left alone."""

    _required = frozenset(["channel", "provider", "until", "why"])

    channel: str
    """The channel."""
    destination: str | None = None
    """The host that recipients name, or the domain of mail addresses; null = the provider takes
    nothing for anybody."""
    provider: str
    """The provider, without secrets."""
    until: datetime
    """When it is asked again."""
    why: str
    """Its last answer."""


class CancelAnswer(Model):
    """The result of a cancel."""

    _required = frozenset(
        ["cancelled", "events", "removed_from_batch", "status", "too_late", "warnings", "withdrawn"]
    )

    cancelled: int
    """Entries that were pending or scheduled and are now cancelled."""
    events: int
    """Number of events found."""
    removed_from_batch: int
    """Entries removed from messages that were built and not handed over yet. A message with no
    entries left is not sent."""
    status: CancelStatus
    too_late: int
    """Entries that can't be cancelled: they were delivered (an inbox entry at once), are being
    sent, or had ended when their message was built."""
    warnings: list[CancelWarning]
    """A warning: the request is accepted, and probably not what was meant."""
    withdrawn: int
    """Delivered entries that were taken out of inboxes. They stay delivered."""


class CancelWarning(Model):
    """A warning: the request is accepted, and probably not what was meant."""

    _required = frozenset(["code", "detail"])

    code: str
    """The stable code: `unknown_event` or `unknown_cancellation_key`."""
    detail: str
    """The warning in words."""


class CategoryChoice(Model):
    """A category, and what may be chosen for all its types."""

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
    """The title that people see, in the default locale; the category's name where it has none
    there."""


class ChannelChoice(Model):
    """What may be chosen on a channel, and what is in force."""

    _required = frozenset(["channel", "connected", "from", "modes"])
    _names = {"from_": "from"}

    channel: str
    """The channel."""
    connected: bool
    """False if nothing arrives here, as the recipient has no address on the channel."""
    from_: PreferenceLevel
    """Where it comes from: a preference for the `type`, for its `category`, for all (`*`), or none
    (`default`)."""
    mode: str | None = None
    """The mode in force; null where the types of a category have several. Of a category it is that
    of the types that can be turned off, if it has any."""
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
    """True if messages can leave by it."""
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
    """The number of entries below which a slot is passed over, once."""
    on: str | None = None
    """The day of the week (`mon` to `sun`) or of the month (`1` to `31`); null for the others."""
    spread: str | None = None
    """The time over which the recipients' slots are spread."""
    tz: str | None = None
    """The time zone; null = the recipient's."""


class DigestTimes(Model):
    """The times of a digest for a recipient."""

    _required = frozenset(["at", "at_from", "choose", "digest", "every", "on_from"])

    at: str
    """The time in force."""
    at_from: DigestTimeFrom
    """Where the time comes from."""
    choose: list[str]
    """The times that may be chosen: `on`, `at` or both."""
    digest: str
    """The digest."""
    every: str
    """`day`, `weekday`, `week` or `month`."""
    on: DigestDay | None = None
    """The day in force, `mon` to `sun`, or 1 to 31; null for digests of each day."""
    on_from: DigestTimeFrom
    """Where the day comes from."""


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
    """Everything that comes due."""

    _required = frozenset(["deferred", "lanes", "scheduled", "sending", "unmade"])

    deferred: RetryingShown
    """Messages that wait for a retry."""
    lanes: list[DueHour]
    """Open lanes by hour, channel and name; lanes that are never due come last."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their parts are left out. Absent if all did."""
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
    """Number of these that stay open all the same: unconfirmed, or paused."""
    hour: datetime | None = None
    """The hour (UTC) in which they are due; null = none at present, as while a type is paused."""
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
    """Number of entries that wait or are being sent; null while parts are `missing`, whose entries
    may wait too."""
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
    """Size of the picture; a new `image` without it has none."""
    title: HostText | None = None
    """A title to show, at most 1 KiB, or an object with a title for each locale."""
    url: str | None = None
    """Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB. Links have it
    percent-encoded."""


class EventWarning(Model):
    """A warning: what was sent is accepted, and probably not what was meant."""

    _required = frozenset(["code", "detail", "hint"])

    code: str
    """The stable code: `unknown_recipient`; `no_followers`, `only_exceptions`, `only_the_actor`,
    `nobody_near` or `nobody_concerned` if the audience is empty; `already_expired`,
    `expires_before_delivery`; `differs` for an id that was used before for another event; or
    `more_warnings` in place of many."""
    detail: str
    """The fault, in words."""
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
    """Nodes of a cluster that did not answer: their parts of the counts are left out. Absent if all
    did."""
    notifications: int
    """Number of recipients with at least one entry when it was accepted."""
    scheduled_for: datetime | None = None
    """Time at which it enters its lanes; null = it has entered them."""
    suppressed: dict[str, int]
    """Number of recipients whom the admission of its type left out, by reason: `once_pending`,
    `once_ever`."""


class Explained(Model):
    """The path of an event to a recipient, rule by rule."""

    _required = frozenset(["as_of", "channels", "event", "recipient", "steps", "supposed", "type"])

    as_of: datetime
    """The time as of which it is explained."""
    channels: list[ExplainedChannel]
    """The channels of the event, unless a rule before them left the recipient out."""
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
    """The time at which it ended, or else is due or enters its lane; null = there is none."""
    channel: str
    """The channel."""
    reason: str | None = None
    """The reason why it was not delivered, as in the outcome of an event; null = there is none."""
    state: str
    """`none` (no entry), `scheduled`, `pending`, `sending`, or the outcome."""
    steps: list[ExplainedStep]
    """The rules, in their order."""


class ExplainedStep(Model):
    """A rule that was applied."""

    _required = frozenset(["ends", "looked_at", "result", "rule"])

    at: datetime | None = None
    """The time at which it was applied, or that it gave; null = it is not known."""
    ends: bool
    """True if nothing comes after it: there is no entry, or the entry ended here."""
    looked_at: str
    """The values that it looked at, in words."""
    result: str
    """The result, in words."""
    rule: str
    """The rule."""


class Feed(Model):
    """A feed: a database out of which events are read."""

    _required = frozenset(["name", "parked", "state", "taken"])

    fault: str | None = None
    """Why it is not read as it should be."""
    lag_ms: int | None = None
    """Age of the oldest row that waits, in milliseconds; 0 if none does, null if nobody knows."""
    name: str
    """Its name in the configuration."""
    newest: str | None = None
    """The number of the row that was taken last."""
    parked: int
    """Rows that are parked in the table with their problem."""
    state: str
    """`running`; `failing` while its table can't be read, which is tried again and again, for the
    reason `fault`; `paused`; `stopped` if somebody has to mend something first."""
    taken: int
    """Rows taken since the server started."""


class Flushed(Model):
    """The marker of a flush."""

    _required = frozenset(["lanes", "marker"])

    lanes: int
    """Open lanes that are due now, each of which becomes a message; 0 where nothing waited."""
    marker: str
    """Marks the position after which everything is new. The marker of an earlier flush means that
    nothing was pending."""
    scheduled: ScheduledCount | None = None
    """The scheduled entries, in no lane yet: they are not sent now. Null = nothing is."""


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
    """The earliest end of a snooze; null = it is not snoozed."""
    tenant: str | None = None
    """The tenant of its items; absent = none."""
    tenant_name: str | None = None
    """The name of the tenant; absent where it has none."""
    text: str
    """The sentence of its type, plain, in the recipient's language."""
    type: str
    """The type."""


class HeldShown(Model):
    """What keeps a message back: a destination, or all providers of its channel, are left alone
    since they take nothing."""

    _required = frozenset(["reason", "until"])

    channel: str | None = None
    """The channel, if it takes nothing for anybody; else absent."""
    destination: str | None = None
    """The host that the recipient names, or the domain of the mail address; absent = the channel as
    a whole."""
    reason: str
    """Its last answer."""
    until: datetime
    """Time of the next attempt of a message to it, which may be another one."""


class Hook(Model):
    """A hook."""

    _required = frozenset(["backlog", "name", "state", "url"])

    backlog: int
    """Number of occurrences that it is still to be told."""
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
    """Its instant."""
    status: int
    """The status; 0 = there was no answer."""


class ImageSize(Model):
    """The size of a picture in pixels. Mails arrange pictures by it."""

    _required = frozenset(["height", "width"])

    height: int
    """Height."""
    width: int
    """Width."""


class InboxCounts(Model):
    """The counts of an inbox."""

    _required = frozenset(["categories", "rev", "unread", "unseen"])

    categories: dict[str, CategoryCounts]
    """The same of each category, by its name."""
    rev: int
    """Revision: of two answers the one with the higher number is newer."""
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
    """The reason why this recipient was notified: `everyone`, `named`, `near`, or `topic:` and the
    topic that they follow."""
    seen: bool
    """True if it was seen."""
    snoozed_until: datetime | None
    """The end of its snooze; null = it is not snoozed."""
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
    """A notification that a message does not tell."""

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
    """Nodes of a cluster that did not answer: their members are left out. Absent if all did."""
    next: str | None
    """The next page's cursor; null = this is the last."""


class MessageShown(Model):
    """A message to one recipient."""

    _required = frozenset(["channel", "due", "failed_attempts", "id", "lane", "state"])

    built: datetime | None = None
    """Time at which it was built: its content is fixed since; null = it is not built yet."""
    channel: str
    """The channel."""
    due: datetime
    """Time at which its lane was due."""
    ended: datetime | None = None
    """Time of its outcome; null = it has none."""
    entries: int | None = None
    """Number of its notifications; null = it is not built yet."""
    failed_attempts: int
    """Number of failed attempts of a message that is retried; else 0."""
    held: HeldShown | None = None
    """What keeps it back at present; absent = nothing that is known."""
    id: str
    """Its id."""
    key: str | None = None
    """Batch key of the lane; left out where it is empty."""
    lane: str
    """The lane."""
    next_try: datetime | None = None
    """Time of the next attempt; null = there is none."""
    reason: str | None = None
    """The reason why it was not handed over; null = it was, or nobody knows yet."""
    recipient: str | None = None
    """The recipient; null = was erased."""
    state: str
    """`planned` (due, and not built yet), `sending`, `retrying` (an attempt failed, and another one
    follows), `sent`, `failed`, `unknown` (it may or may not have been handed over), `suppressed`
    (the checks before sending left nothing to tell) or `cancelled` (everything was taken out of
    it)."""
    tenant: str | None = None
    """Tenant of its notifications; absent = none."""


class MessageDetails(MessageShown):
    """A message with its time line."""

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
    """The attempts to hand it over of which the provider said something, and what was reported
    later, in their order."""
    batch: str | None = None
    """The id under which the provider and the log know it; null = it tells nothing."""
    items: list[MessageItem]
    """The notifications that it tells, or will. Those of deleted days are left out."""
    left_out: list[LeftOut]
    """The notifications that the checks before sending left out, or that were taken out of it
    later."""
    timeline: list[ExplainedStep]
    """Its history, in its order: what entered its lane (the first 100), the rules that decided when
    it went, attempts, outcomes."""


class MessageItem(Model):
    """A notification that a message tells."""

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
    """Nodes of a cluster that did not answer: their messages are left out. Absent if all did."""
    next: str | None
    """The next page's cursor; null = this is the last. A page with few messages, or none, may have
    a next one: a page looks at a bounded number of messages."""


class Mute(Model):
    """A muted topic or object, on a channel or on each (`*`)."""

    _required = frozenset(["channel"])

    channel: str
    """The channel; `*` is each."""
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
    """Due time; now, if it has passed."""
    entries: int
    """Number of notifications in the mail."""
    html: str
    """The HTML."""
    key: str | None = None
    """Batch key of the lane; left out where it is empty."""
    lane: str
    """Name of the lane."""
    source: str
    """The whole mail, without a signature. Its ids, and so its links, are not those that it will
    have."""
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
    """Digest of the configuration that it puts in force when it holds the store: the same on all
    nodes that have the same configuration and version."""
    epoch: int | None = None
    """Number of the term in which it holds the store; null = it holds nothing."""
    intake: bool
    """True if it has the intake, which accepts events: it holds all parts that no other node has."""
    lag_ms: int
    """Milliseconds for which the oldest message has been overdue, as of its last heartbeat; 0 if it
    holds nothing."""
    node: str
    """Its name."""
    parts: list[int] | None = None
    """Numbers of the parts of the store that it holds; null = it holds the whole store."""
    silent_ms: int
    """Milliseconds since its last heartbeat, by the clock of the database."""
    since: datetime
    """The instant since which it has had its state."""
    state: str
    """`holding`, `opening`, `standby`, `draining`, or `silent` after 5 seconds without a heartbeat."""


class OperatedAnswer(Model):
    """The result of a change of a message."""

    _required = frozenset(["cancelled", "status"])

    cancelled: int
    """Number of notifications that were cancelled with it."""
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
    """Everything that is pending for a recipient."""

    _required = frozenset(["lanes", "messages", "scheduled"])

    lanes: list[PendingLane]
    """Open lanes with pending notifications."""
    messages: list[RetriedMessage]
    """Built messages that wait for a retry, the next first; 1,000 at most."""
    scheduled: list[Waiting]
    """Scheduled events, by time."""


class PendingLane(Model):
    """A lane with pending notifications, which become one message."""

    _required = frozenset(["channel", "entries", "lane"])

    channel: str
    """The channel."""
    due: datetime | None = None
    """Due time; null = none at present, as while its type is paused."""
    entries: list[Waiting]
    """The pending notifications, by time and arrival."""
    held_by: HeldBy | None = None
    """The reason why it is held although it is due: it is paused, or the recipient is unconfirmed;
    null = it is not held."""
    key: str | None = None
    """Batch key of the lane; left out where it is empty."""
    lane: str
    """Name of the lane; `paused` holds the notifications of paused types."""
    tenant: str | None = None
    """Tenant of the lane; absent = none."""


class PolicyShown(Model):
    """The policy of a type on a channel."""

    _required = frozenset(["policy"])

    after: str | None = None
    """The time by which its entries come later than those of the inbox."""
    batch_key: str | None = None
    """Expression of the batch key, for a policy that has one."""
    decide: str | None = None
    """For `first_event`: `first` or `earliest`."""
    digest: str | None = None
    """For `digest`: the digest's name."""
    hold: str | None = None
    """For `first_event`: how long the first entry waits."""
    lane: str | None = None
    """Lane of its entries; null for `never`."""
    max_items: int | None = None
    """The number of entries that makes a lane due."""
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
    """The time of the digest's slots, a quarter of an hour such as `17:15`; null or `default` takes
    it back."""
    category: str | None = None
    """A category of the configuration; `*` for every category, those that are configured later
    included."""
    channel: str | None = None
    """The channel; `*` is each, those that are configured later included: for a mute, or for the
    category `*`."""
    digest: str | None = None
    """A digest whose slots come at times of one's own, as far as it lets recipients choose: with
    `on`, `at` or both, and without `channel` and `mode`."""
    mode: str | None = None
    """`never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no
    preference), or the name of a digest. Mutes have `never` and `default`. `never` is refused for a
    required type, and leaves those of its category out."""
    object: str | None = None
    """An object to mute, also where it is the target; one of the four."""
    on: DigestDay | None = None
    """The day of the digest's slots, `mon` to `sun`, or 1 to 31 of a month; null or `default` takes
    it back."""
    tenant: str | None = None
    """The tenant to whose notifications it applies; absent = all notifications."""
    topic: str | None = None
    """A topic to mute, with everything below it."""
    type: str | None = None
    """A type of the configuration."""


class Preview(Model):
    """The mail that a recipient gets next."""

    mail: NextMail | None = None
    """The mail; null = no lane waits that will become one."""
    scheduled: ScheduledCount | None = None
    """The scheduled entries, in no lane yet; null = nothing is."""


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
    """Of `data` that does not fit its type: the JSON pointer (RFC 6901) of what is wrong, from the
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
    """Of several machines: true if all parts of the store have applied the event, so that the
    counts are whole and inboxes have it."""
    id: str
    """The event's id; made by the server if the event had none."""
    line: int | None = None
    """In a stream: the line number, from 1."""
    notifications: int
    """Number of recipients with at least one entry."""
    status: PublishedStatus
    """`accepted`, or `duplicate` if its id is known: then nothing happened."""
    suppressed: int
    """Number of recipients whom the admission of its type left out."""
    warnings: list[EventWarning]
    """A warning: what was sent is accepted, and probably not what was meant."""


class PushAddress(Model):
    """A browser's subscription to Web Push among a recipient's addresses."""

    _required = frozenset(["endpoint", "keys"])

    endpoint: str
    """Address of the browser's push service."""
    keys: PushKeys
    """Keys of the browser."""
    tenant: str | None = None
    """The tenant whose messages, and those of none, it takes; those of all where it is left out."""


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
    """Hours of the wall clock in which nothing is sent, but what is urgent."""

    _required = frozenset(["from", "to"])
    _names = {"from_": "from"}

    channels: list[str] | None = None
    """The channels on which they hold; all where it is left out. On the others those of the channel
    do."""
    days: list[Weekday] | None = None
    """The weekdays on which they begin; all where it is left out."""
    from_: str
    """The time at which they begin, HH:MM."""
    to: str
    """The time at which they end, another one; on the next day where it is before `from`."""


class QuietHoursInForce(Model):
    """Quiet hours in force on a channel."""

    _required = frozenset(["channel", "hours", "set_by"])

    channel: str
    """The channel."""
    hours: QuietHours
    """The hours, by the wall clock of `tz`."""
    set_by: QuietHoursSetBy
    """Who set them: the `recipient`, the `tenant`, or the configuration of the `channel`."""


class RecipientChange(Model):
    """A profile, or a part of one. Null removes a value (of `quiet_hours` all hours); give `lat`
    and `lon` together."""

    addresses: Addresses | None = None
    """Addresses by channel; null removes one, or all of them."""
    data: dict[str, Any] | None = None
    """Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`."""
    email: str | None = None
    """Address of the e-mail channel: the short way to `addresses.email`."""
    id: str | None = None
    """Id of the recipient. A path that names it has the same."""
    lat: float | None = None
    """Latitude, in degrees north."""
    locale: str | None = None
    """BCP 47 locale."""
    lon: float | None = None
    """Longitude, in degrees east."""
    name: str | None = None
    """Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id that has
    no title."""
    quiet_hours: QuietHoursChoice | None = None
    """Quiet hours: hours of one's own, null for none at all, or `default` for those of each
    channel."""
    state: RecipientState | None = None
    """The state, which says if messages are sent; `active` for a new recipient."""
    tenants: list[str] | None = None
    """All tenants of which the recipient is a member; null = none."""
    tz: str | None = None
    """IANA time zone."""


class RecipientProfile(Model):
    """A recipient's profile."""

    _required = frozenset(["addresses", "id", "state"])

    addresses: AddressesShown
    """Addresses by channel, the one of the e-mail channel among them."""
    data: dict[str, Any] | None = None
    """Data of the host."""
    email: str | None = None
    """Address of the e-mail channel."""
    id: str
    """Id of the recipient."""
    lat: float | None = None
    """Latitude, in degrees north."""
    locale: str | None = None
    """BCP 47 locale; the configuration's default where null."""
    lon: float | None = None
    """Longitude, in degrees east."""
    name: str | None = None
    """Name to show."""
    quiet_hours: QuietHoursChoice | None = None
    """Quiet hours: null = none at all, `default` = those of each channel."""
    state: RecipientState
    """The state, which says if messages are sent."""
    tenants: list[str] | None = None
    """The tenants of which the recipient is a member, sorted by the bytes of their ids; left out
    where there are none."""
    tz: str | None = None
    """IANA time zone; the configuration's default where null."""


class Rejected(Model):
    """An item that failed; the others succeeded."""

    _required = frozenset(["problem", "status"])
    _constant = {"status": "rejected"}

    id: str | None = None
    """The item's `id`, if it could be read."""
    line: int | None = None
    """In a stream: the line number, from 1."""
    problem: Problem
    """Why."""
    status: RejectedStatus


class RetriedMessage(MessageShown):
    """A message that waits for its next attempt."""

    _required = frozenset(["channel", "due", "failed_attempts", "id", "lane", "state"])

    held_by: HeldBy | None = None
    """The reason why it is held; null = it is not."""
    last: AttemptShown | None = None
    """The provider's last answer; null = it said nothing."""


class RetryingShown(Model):
    """Messages that wait for a retry."""

    _required = frozenset(["messages", "next"])

    messages: int
    """Number of them."""
    next: list[RetriedMessage]
    """The next ones, 100 at most."""


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
    """Their number; those of one event at one instant count once."""


class SendingChannel(Model):
    """A channel that sends messages."""

    _required = frozenset(["paused", "providers"])

    paused: bool
    """True if an operator has paused it."""
    providers: list[str]
    """The kinds of its providers (such as `file`, `smtp`), in the order in which they are asked."""


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
    """Providers and destinations that take nothing and are left alone, 20 at most."""
    channels: dict[str, SendingChannel]
    """The channels that send messages, by name."""
    clock_behind_seconds: int | None = None
    """Seconds by which the clock is behind the newest step, if more than 60: it was ahead before.
    What waits is due by the clock all the same; what is recorded meanwhile has the time of that
    step. null = it is not behind."""
    entries: EntriesCounted
    """Counts of entries, deleted days included."""
    forgotten_before: date | None = None
    """Days before this one are deleted; null = none yet."""
    kept_aside: int
    """Messages that wait for a recipient or a destination that has its share of the threads of a
    channel, or for a destination that takes nothing."""
    missing: list[str] | None = None
    """Nodes of a cluster that did not answer: their parts are left out, so every count is a lower
    bound. Absent if all did."""
    newest_step: datetime | None = None
    """Instant of the newest step, which never goes back; null = none yet."""
    now: datetime
    """Time by the server's clock."""
    oldest_due: datetime | None = None
    """Due time of the oldest overdue, unsent message; null = none, but for parts that are
    `missing`."""
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
    """Topics of tenants, by tenant id; absent = there are none."""
    topics: list[str]
    """Topics without a tenant, sorted by bytes; with a tenant in the token, the key or the query,
    the topics of that tenant."""


class SuppressedAddress(Model):
    """A suppressed address."""

    _required = frozenset(["address", "channel", "reason", "since"])

    address: str
    """The address as it is compared: that of an e-mail in small letters, the endpoint of a Web Push
    subscription."""
    channel: str
    """The channel."""
    expires_at: datetime | None = None
    """Time from which on it is not suppressed any more; null = it stays."""
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
    """A type, and what may be chosen for it."""

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
    """The condition that is asked before something is sent; null = none."""
    drop_if_seen: bool | None = None
    """True if seen notifications are dropped; null = yes, except in digests."""
    give_up_after: str | None = None
    """The time after which a message that could not be handed over has failed, from when it was
    due."""
    group: str | None = None
    """The role by which lines are grouped: `object`, `actor` or `target`; null = that of the fewest
    lines."""
    include_actor: bool
    """True if actors are notified of their own events."""
    look_back: str | None = None
    """Greatest age of an entry that is sent; null = no limit."""
    paused: bool
    """True if an operator has paused it."""
    per: str
    """The part of the admission's key beside the recipient and the type: `type` for none, `object`
    or `target`."""
    required: bool
    """True if neither `never` nor a mute leaves it out."""
    unknown_outcome: str
    """The consequence where nobody knows whether a message was handed over: `resend` or `give_up`."""
    unresolved: str
    """The fate of its messages while the host does not answer what objects are: `send` or `wait`."""
    urgent: bool
    """True if it is sent without waiting for a digest."""


class TypesAnswer(Model):
    """The configured types, and how they are delivered."""

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
    """Time at which it entered its lane, or will."""
    tenant: str | None = None
    """Its tenant; absent = none."""
    type: str
    """Its type."""


class Warned(Model):
    """The answer to preferences that were set and are probably not what was meant."""

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
= only pending entries were cancelled; `withdrawn` = delivered entries were taken out of inboxes;
`too_late` = everything was delivered already; `nothing_left` = the event was cancelled before or
has no recipients; `remembered` = no event of this id is known, and it is cancelled if it comes
within 24 hours; `unknown` = no event of this key was found."""


Circles: TypeAlias = Near | list[Near]


DigestDay: TypeAlias = int | str
"""A day or a time: a word, or the number of a day of the month."""


DigestTimeFrom: TypeAlias = Literal["tenant", "recipient", "default"] | str
"""Where a time of a digest comes from."""


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
"""Result of a change of a message: `accepted` = it goes; `cancelled` = it is not sent any more;
`too_late` = it was handed over, or may have been; `nothing_left` = it had failed, or had nothing
left to tell."""


PreferenceLevel: TypeAlias = Literal["type", "category", "*", "default"] | str
"""A level at which a preference is set."""


PreferencesAnswer: TypeAlias = list[Preference] | AllPreferences
"""Preferences as they are listed: what is set, or all that may be."""


PublishAnswer: TypeAlias = PublishedEvent | list[EventOutcome]
"""The result of one event, or of each event of an array."""


PublishedStatus: TypeAlias = Literal["accepted", "duplicate", "cancelled"] | str


QuietHoursOfChannel: TypeAlias = Literal["default"] | str
"""The word for the hours of each channel."""


QuietHoursChoice: TypeAlias = QuietHours | QuietHoursOfChannel
"""Quiet hours as a profile shows them; null = none at all."""


QuietHoursSetBy: TypeAlias = Literal["recipient", "tenant", "channel"] | str
"""Who set quiet hours."""


RecipientState: TypeAlias = Literal["active", "unconfirmed", "disabled"] | str
"""The state of a recipient: notifications of an `unconfirmed` one wait on every channel but the
inbox, those of a `disabled` one end when they are due."""


RejectedStatus: TypeAlias = Literal["rejected"] | str


RoleName: TypeAlias = Literal["read", "publish", "operate", "admin"] | str
"""What an API key may do."""


SuppressionReason: TypeAlias = Literal["manual", "bounce", "complaint", "stop", "gone"] | str
"""The reason of a suppression: `manual` (an operator or the host said so), `bounce` (messages come
back), `complaint` (its owner called one spam), `stop` (its owner asked the provider for no more) or
`gone` (there is no such address any more)."""


Weekday: TypeAlias = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"] | str
"""A weekday."""
