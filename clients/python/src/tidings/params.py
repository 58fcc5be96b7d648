"""The types of the parts of requests: dicts.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypedDict

__all__ = [
    "Addresses",
    "Audience",
    "BareId",
    "BrandChange",
    "Circles",
    "DigestDay",
    "Event",
    "EventInQuestion",
    "EventObject",
    "HostText",
    "IdOrObject",
    "IdOrProfile",
    "ImageSize",
    "MemberChange",
    "NamedObject",
    "NamedRecipient",
    "NamedTenant",
    "Near",
    "Preference",
    "PushAddress",
    "PushKeys",
    "QuietHours",
    "QuietHoursChoice",
    "QuietHoursOfChannel",
    "RecipientChange",
    "RecipientState",
    "RoleName",
    "Subscription",
    "SuppressionReason",
    "Weekday",
]


class Addresses(TypedDict, total=False):
    """Addresses by channel; null removes those of one."""

    apns: str | Sequence[str] | None
    """Address of the Apple push channel."""
    discord: str | None
    """Address of the Discord channel."""
    email: str | None
    """Address of the e-mail channel."""
    fcm: str | Sequence[str] | None
    """Address of the Firebase push channel."""
    slack: str | None
    """Address of the Slack channel."""
    sms: str | None
    """Address of the SMS channel."""
    teams: str | None
    """Address of the Teams channel."""
    telegram: str | None
    """Address of the Telegram channel."""
    webhook: str | None
    """Address of the webhook channel."""
    webpush: PushAddress | Sequence[PushAddress] | None
    """Address of the Web Push channel."""


Audience = TypedDict(
    "Audience",
    {
        "everyone": "bool | None",
        "except": "Sequence[str] | None",
        "near": "Circles | None",
        "recipients": "Sequence[IdOrProfile] | None",
        "topics": "Sequence[str] | None",
    },
    total=False,
)


class BrandChange(TypedDict, total=False):
    """Keys of `[brand]`, with the same checks; null = that of the configuration."""

    address: str | None
    """`familiar` or `formal`."""
    color: str | None
    """Colour of links and buttons."""
    footer: str | None
    """Text at the foot of mails."""
    logo: str | None
    """Picture shown instead of the name."""
    logo_dark: str | None
    """Picture for dark mode."""
    name: str | None
    """Name at the head of mails."""
    postal_address: str | None
    """Postal address at the foot of mails."""
    url: str | None
    """Public address at the start of links."""


class _Event(TypedDict):
    """What `Event` must have."""

    object: EventObject
    """The object: what it was done to."""
    to: Audience
    """The audience."""
    type: str
    """A type of the configuration."""


class Event(_Event, total=False):
    """An event: something that happened."""

    actor: IdOrObject | None
    """The actor: who did it."""
    body: HostText | None
    """Text that a person wrote, such as a comment: plain, at most 2 KiB, or an object with a text
    for each locale. Messages and inboxes show it."""
    cancellation_key: str | None
    """A key to cancel several events at once."""
    channels: Sequence[str] | None
    """Restricts the type's channels; `["inbox"]` imports a history without sending mail."""
    data: Mapping[str, Any] | None
    """Anything else, returned with the inbox item."""
    delay: str | None
    """Duration after its arrival before which nothing is delivered, such as `90s`, `36h` or `PT4M`."""
    deliver_at: datetime | str | None
    """Time before which nothing is delivered; one of `deliver_at`, `delay` and `deliver_local` at
    most."""
    deliver_local: str | None
    """Time on each recipient's wall clock before which nothing is delivered, such as
    `2024-05-01T09:00`. Where it is past, the event is delivered at its arrival."""
    expires_at: datetime | str | None
    """Time from which on nothing is delivered."""
    id: str | None
    """Id of the event: the same id is the same event. The server makes one if it is absent."""
    occurred_at: datetime | str | None
    """Time that is shown to people. It has no effect on delivery."""
    score: float | None
    """The rank among the events of a message: the highest is shown first; 0 if it is absent."""
    target: IdOrObject | None
    """The target: what it was done in or for."""
    tenant: str | None
    """The tenant of the event and of all its notifications."""
    trace: str | None
    """The W3C `traceparent` of what made the event: the spans of its messages link to it. By
    default that of the request."""


class _EventObject(TypedDict):
    """What `EventObject` must have."""

    id: str
    """Id of the object."""


class EventObject(_EventObject, total=False):
    """An object in an event. The given fields replace the stored ones."""

    data: Mapping[str, Any] | None
    """Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`."""
    image: str | None
    """A picture: an address as `url`."""
    image_size: ImageSize | None
    """Size of the picture; a new `image` without it has none."""
    title: HostText | None
    """A title to show, at most 1 KiB, or an object with a title for each locale."""
    url: str | None
    """Address of the page: `http`, `https`, `mailto` or relative, at most 2 KiB. Links have it
    percent-encoded."""


class ImageSize(TypedDict):
    """The size of a picture in pixels. Mails arrange pictures by it."""

    height: int
    """Height."""
    width: int
    """Width."""


class _MemberChange(TypedDict):
    """What `MemberChange` must have."""

    recipient: str
    """Id of the recipient."""


class MemberChange(_MemberChange, total=False):
    """A membership to add or to remove."""

    remove: bool | None
    """True = remove the membership."""


class _NamedObject(TypedDict):
    """What `NamedObject` must have."""

    id: str
    """Id of the object. A path that names it has the same."""


class NamedObject(_NamedObject, total=False):
    """The new state of an object, with its id. Fields that are left out keep their value."""

    data: Mapping[str, Any] | None
    """Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`."""
    image: str | None
    """Address of a picture."""
    image_size: ImageSize | None
    """Size of the picture; a new `image` without it has none."""
    notifiable: bool | None
    """False if notifications about it are not sent."""
    title: HostText | None
    """A title to show, or an object with a title for each locale."""
    url: str | None
    """Address of its page."""


class _NamedRecipient(TypedDict):
    """What `NamedRecipient` must have."""

    id: str
    """Id of the recipient. A path that names it has the same."""


class NamedRecipient(_NamedRecipient, total=False):
    """A change of a profile, with the recipient's id. Fields that are left out keep their value."""

    addresses: Addresses | None
    """Addresses by channel; null removes one, or all of them."""
    data: Mapping[str, Any] | None
    """Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`."""
    email: str | None
    """Address of the e-mail channel: the short way to `addresses.email`."""
    lat: float | None
    """Latitude, in degrees north."""
    locale: str | None
    """BCP 47 locale."""
    lon: float | None
    """Longitude, in degrees east."""
    name: str | None
    """Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id that has
    no title."""
    quiet_hours: QuietHoursChoice | None
    """Quiet hours: hours of one's own, null for none at all, or `default` for those of each
    channel."""
    state: RecipientState
    """The state, which says if messages are sent; `active` for a new recipient."""
    tenants: Sequence[str] | None
    """All tenants of which the recipient is a member; null = none."""
    tz: str | None
    """IANA time zone."""


class _NamedTenant(TypedDict):
    """What `NamedTenant` must have."""

    id: str
    """Id of the tenant; the same as in the path, if that has one."""


class NamedTenant(_NamedTenant, total=False):
    """A change of a tenant, with its id. Fields that are left out keep their value."""

    brand: BrandChange | None
    """Keys that override `[brand]`, one by one; null removes all."""
    data: Mapping[str, Any] | None
    """Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`."""
    disabled: bool
    """True = publishing is refused, and pending notifications are cancelled."""
    from_name: str | None
    """Sender name of its messages, at most 1 KiB."""
    locale: str | None
    """BCP 47 locale, for recipients without one."""
    name: str | None
    """Name to show, at most 1 KiB."""
    preferences: Sequence[Preference] | None
    """All its defaults, which replace the types' policies. Mutes are not allowed."""
    quiet_hours: QuietHoursChoice | None
    """Quiet hours, for recipients without their own: hours, null for none, or `default` for those
    of each channel."""
    reply_to: str | None
    """Mailbox for replies to its mails."""
    tz: str | None
    """IANA time zone, for recipients without one."""


class Near(TypedDict):
    """A circle on the map."""

    km: float
    """Radius in kilometres."""
    lat: float
    """Degrees north."""
    lon: float
    """Degrees east."""


class Preference(TypedDict, total=False):
    """A preference for a type, a category or all categories, the mute of a topic or an object, or
    the times of a digest. A mute has precedence over a type, a type over its category, and that
    over all categories."""

    at: str | None
    """The time of the digest's slots, a quarter of an hour such as `17:15`; null or `default` takes
    it back."""
    category: str | None
    """A category of the configuration; `*` for every category, those that are configured later
    included."""
    channel: str | None
    """The channel; `*` is each, those that are configured later included: for a mute, or for the
    category `*`."""
    digest: str | None
    """A digest whose slots come at times of one's own, as far as it lets recipients choose: with
    `on`, `at` or both, and without `channel` and `mode`."""
    mode: str | None
    """`never`, `immediate` (the type's own policy, or at once if that is a digest), `default` (no
    preference), or the name of a digest. Mutes have `never` and `default`. `never` is refused for a
    required type, and leaves those of its category out."""
    object: str | None
    """An object to mute, also where it is the target; one of the four."""
    on: DigestDay | None
    """The day of the digest's slots, `mon` to `sun`, or 1 to 31 of a month; null or `default` takes
    it back."""
    tenant: str | None
    """The tenant to whose notifications it applies; absent = all notifications."""
    topic: str | None
    """A topic to mute, with everything below it."""
    type: str | None
    """A type of the configuration."""


class _PushAddress(TypedDict):
    """What `PushAddress` must have."""

    endpoint: str
    """Address of the browser's push service."""
    keys: PushKeys
    """Keys of the browser."""


class PushAddress(_PushAddress, total=False):
    """A browser's subscription to Web Push among a recipient's addresses."""

    tenant: str | None
    """The tenant whose messages, and those of none, it takes; those of all where it is left out."""


class PushKeys(TypedDict):
    """Keys of a browser, in base64url."""

    auth: str
    """Authentication secret."""
    p256dh: str
    """Public key."""


_QuietHours = TypedDict(
    "_QuietHours",
    {
        "from": "str",
        "to": "str",
    },
)


class QuietHours(_QuietHours, total=False):
    """Hours of the wall clock in which nothing is sent, but what is urgent."""

    channels: Sequence[str] | None
    """The channels on which they hold; all where it is left out. On the others those of the channel
    do."""
    days: Sequence[Weekday] | None
    """The weekdays on which they begin; all where it is left out."""


class RecipientChange(TypedDict, total=False):
    """A profile, or a part of one. Null removes a value (of `quiet_hours` all hours); give `lat`
    and `lon` together."""

    addresses: Addresses | None
    """Addresses by channel; null removes one, or all of them."""
    data: Mapping[str, Any] | None
    """Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`."""
    email: str | None
    """Address of the e-mail channel: the short way to `addresses.email`."""
    id: str
    """Id of the recipient. A path that names it has the same."""
    lat: float | None
    """Latitude, in degrees north."""
    locale: str | None
    """BCP 47 locale."""
    lon: float | None
    """Longitude, in degrees east."""
    name: str | None
    """Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id that has
    no title."""
    quiet_hours: QuietHoursChoice | None
    """Quiet hours: hours of one's own, null for none at all, or `default` for those of each
    channel."""
    state: RecipientState
    """The state, which says if messages are sent; `active` for a new recipient."""
    tenants: Sequence[str] | None
    """All tenants of which the recipient is a member; null = none."""
    tz: str | None
    """IANA time zone."""


class _Subscription(TypedDict):
    """What `Subscription` must have."""

    recipient: str
    """Id of the recipient."""
    topic: str
    """The topic."""


class Subscription(_Subscription, total=False):
    """A subscription to add or to remove."""

    tenant: str | None
    """The tenant of the topic; absent = none."""
    unsubscribe: bool | None
    """True removes the subscription."""


BareId: TypeAlias = str
"""An id alone."""


Circles: TypeAlias = Near | Sequence[Near]


DigestDay: TypeAlias = int | str
"""A day or a time: a word, or the number of a day of the month."""


EventInQuestion: TypeAlias = BareId | Event
"""Id of an event, or an event that is not published."""


HostText: TypeAlias = str | Mapping[str, str]
"""A text for all languages, or an object with a text for each locale (BCP 47). A message shows the
text in its language."""


IdOrObject: TypeAlias = BareId | EventObject
"""An id, or an object with an id and more fields."""


IdOrProfile: TypeAlias = str | RecipientChange


QuietHoursOfChannel: TypeAlias = Literal["default"]
"""The word for the hours of each channel."""


QuietHoursChoice: TypeAlias = QuietHours | QuietHoursOfChannel
"""Quiet hours as a profile shows them; null = none at all."""


RecipientState: TypeAlias = Literal["active", "unconfirmed", "disabled"]
"""The state of a recipient: notifications of an `unconfirmed` one wait on every channel but the
inbox, those of a `disabled` one end when they are due."""


RoleName: TypeAlias = Literal["read", "publish", "operate", "admin"]
"""What an API key may do."""


SuppressionReason: TypeAlias = Literal["manual", "bounce", "complaint", "stop", "gone"]
"""The reason of a suppression: `manual` (an operator or the host said so), `bounce` (messages come
back), `complaint` (its owner called one spam), `stop` (its owner asked the provider for no more) or
`gone` (there is no such address any more)."""


Weekday: TypeAlias = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
"""A weekday."""
