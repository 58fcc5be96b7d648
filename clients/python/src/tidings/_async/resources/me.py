"""Calls of end users, with a token that the application signs.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ... import models, params
from ..._call import LiveEvent
from ..._values import UNSET, Unset, given, seconds, segment
from ..platform import Stream
from ..transport import AsyncTransport


class AsyncMe:
    """Calls of end users, with a token that the application signs."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def flush(
        self,
        *,
        channel: str | Unset | None = UNSET,
        key: str | Unset | None = UNSET,
        lane: str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.Flushed:
        """Send a recipient's pending notifications now.

        Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused
        channel are sent when the channel is resumed; notifications of a paused type and scheduled
        ones stay. The body is optional.

        Args:
            channel: Only lanes of this channel.
            key: Only lanes with this batch key; empty = lanes without one.
            lane: Only lanes of this name.
            tenant: Only entries of this tenant and those without a tenant, as with a token with
                this claim.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.Flushed = await self._transport.call(
            models.Flushed,
            "POST",
            "/v1/me/flush",
            query={"tenant": tenant},
            body=given({"channel": channel, "key": key, "lane": lane}) or UNSET,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def inbox(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        state: str | None = None,
        category: Sequence[str] | None = None,
        type: Sequence[str] | None = None,
        grouped: bool | None = None,
        tenant: str | None = None,
    ) -> Stream[models.Group]:
        """Get a page of an inbox.

        Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox.
        Follow `next` for older groups; new arrivals do not shift the pages. A token with the claim
        `tenant` shows the items of that tenant and of none, here and in counts and streams. The
        answer with the higher `rev` is newer; with `since` and `wait` the answer comes once there
        is a newer one (long poll).

        Pages are fetched as they are needed.

        Args:
            limit: Maximum number of groups; 20 if absent.
            cursor: Start of the page: `next` of the previous page.
            state: The groups to list: `active` (the default), `unseen`, `unread`, `archived`,
                `snoozed` or `all`.
            category: Only items of this category; may be given several times.
            type: Only items of this type; may be given several times.
            grouped: False = each item is a group.
            tenant: Only items of this tenant and those without a tenant; implied by a token
                with the claim `tenant`.
        """
        return self._transport.pages(
            models.Page,
            "groups",
            "/v1/me/inbox",
            {
                "limit": limit,
                "cursor": cursor,
                "state": state,
                "category": category,
                "type": type,
                "grouped": grouped,
                "tenant": tenant,
            },
        )

    async def inbox_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        state: str | None = None,
        category: Sequence[str] | None = None,
        type: Sequence[str] | None = None,
        grouped: bool | None = None,
        tenant: str | None = None,
    ) -> models.Page:
        """Get a page of an inbox.

        Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox.
        Follow `next` for older groups; new arrivals do not shift the pages. A token with the claim
        `tenant` shows the items of that tenant and of none, here and in counts and streams. The
        answer with the higher `rev` is newer; with `since` and `wait` the answer comes once there
        is a newer one (long poll).

        This is one page; `inbox` gives all.

        Args:
            limit: Maximum number of groups; 20 if absent.
            cursor: Start of the page: `next` of the previous page.
            state: The groups to list: `active` (the default), `unseen`, `unread`, `archived`,
                `snoozed` or `all`.
            category: Only items of this category; may be given several times.
            type: Only items of this type; may be given several times.
            grouped: False = each item is a group.
            tenant: Only items of this tenant and those without a tenant; implied by a token
                with the claim `tenant`.
        """
        answer: models.Page = await self._transport.call(
            models.Page,
            "GET",
            "/v1/me/inbox",
            query={
                "limit": limit,
                "cursor": cursor,
                "state": state,
                "category": category,
                "type": type,
                "grouped": grouped,
                "tenant": tenant,
            },
        )
        return answer

    async def inbox_poll(
        self,
        *,
        since: int,
        wait: str = "25s",
        limit: int | None = None,
        cursor: str | None = None,
        state: str | None = None,
        category: Sequence[str] | None = None,
        type: Sequence[str] | None = None,
        grouped: bool | None = None,
        tenant: str | None = None,
    ) -> models.Page | None:
        """Get a page of an inbox.

        Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox.
        Follow `next` for older groups; new arrivals do not shift the pages. A token with the claim
        `tenant` shows the items of that tenant and of none, here and in counts and streams. The
        answer with the higher `rev` is newer; with `since` and `wait` the answer comes once there
        is a newer one (long poll).

        None if nothing has changed within `wait`.

        Args:
            since: A revision to wait for: the answer comes once `rev` is higher, or is 304
                after `wait`.
            wait: Time to wait with `since`, such as `25s`, at most `60s`. A recipient may have
                8 calls that wait.
            limit: Maximum number of groups; 20 if absent.
            cursor: Start of the page: `next` of the previous page.
            state: The groups to list: `active` (the default), `unseen`, `unread`, `archived`,
                `snoozed` or `all`.
            category: Only items of this category; may be given several times.
            type: Only items of this type; may be given several times.
            grouped: False = each item is a group.
            tenant: Only items of this tenant and those without a tenant; implied by a token
                with the claim `tenant`.
        """
        answer: models.Page | None = await self._transport.call(
            models.Page | None,
            "GET",
            "/v1/me/inbox",
            query={
                "since": since,
                "wait": wait,
                "limit": limit,
                "cursor": cursor,
                "state": state,
                "category": category,
                "type": type,
                "grouped": grouped,
                "tenant": tenant,
            },
            longer=seconds(wait),
        )
        return answer

    async def archive(
        self,
        *,
        all: bool | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        event: str | Unset | None = UNSET,
        for_: str | Unset | None = UNSET,
        group: str | Unset | None = UNSET,
        object: str | Unset | None = UNSET,
        type: str | Unset | None = UNSET,
        until: datetime | str | Unset | None = UNSET,
        up_to: datetime | str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.InboxCounts:
        """Archive items.

        Removes items from pages and counts, except with `state=archived` and `all`. They count as
        seen for other channels. Returns the counts afterwards, also if no item matches. An event or
        a group is archived wherever it is, other items only in the inbox.

        Args:
            all: True = all items so far.
            category: With `up_to` or `all`: only items of this category.
            event: The item of this event.
            for_: For a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only items of this type.
            until: For a snooze: its end, at most 365 days ahead.
            up_to: All items up to this time.
            tenant: Only items of this tenant and those without a tenant.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "POST",
            "/v1/me/inbox/archive",
            query={"tenant": tenant},
            body=given(
                {
                    "all": all,
                    "category": category,
                    "event": event,
                    "for": for_,
                    "group": group,
                    "object": object,
                    "type": type,
                    "until": until,
                    "up_to": up_to,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def inbox_counts(self, *, tenant: str | None = None) -> models.InboxCounts:
        """Get the counts of an inbox.

        Returns the number of groups with an unseen and with an unread item, in the whole inbox and
        in each category.

        Args:
            tenant: Only items of this tenant and those without a tenant, as with a token with
                this claim.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts, "GET", "/v1/me/inbox/counts", query={"tenant": tenant}
        )
        return answer

    async def delete(
        self,
        *,
        all: bool | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        event: str | Unset | None = UNSET,
        for_: str | Unset | None = UNSET,
        group: str | Unset | None = UNSET,
        object: str | Unset | None = UNSET,
        type: str | Unset | None = UNSET,
        until: datetime | str | Unset | None = UNSET,
        up_to: datetime | str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.InboxCounts:
        """Delete items from an inbox.

        Removes items for ever; statistics stay. They count as seen for other channels. Returns the
        counts afterwards, also if no item matches. An event or a group is deleted wherever it is,
        other items only in the inbox.

        Args:
            all: True = all items so far.
            category: With `up_to` or `all`: only items of this category.
            event: The item of this event.
            for_: For a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only items of this type.
            until: For a snooze: its end, at most 365 days ahead.
            up_to: All items up to this time.
            tenant: Only items of this tenant and those without a tenant.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "POST",
            "/v1/me/inbox/delete",
            query={"tenant": tenant},
            body=given(
                {
                    "all": all,
                    "category": category,
                    "event": event,
                    "for": for_,
                    "group": group,
                    "object": object,
                    "type": type,
                    "until": until,
                    "up_to": up_to,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def mark_read(
        self,
        *,
        all: bool | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        event: str | Unset | None = UNSET,
        for_: str | Unset | None = UNSET,
        group: str | Unset | None = UNSET,
        object: str | Unset | None = UNSET,
        type: str | Unset | None = UNSET,
        until: datetime | str | Unset | None = UNSET,
        up_to: datetime | str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.InboxCounts:
        """Mark items as read.

        Marks items as read, and hence as seen. Returns the counts afterwards, also if no item
        matches. An event or a group is marked wherever it is, other items only in the inbox.

        Args:
            all: True = all items so far.
            category: With `up_to` or `all`: only items of this category.
            event: The item of this event.
            for_: For a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only items of this type.
            until: For a snooze: its end, at most 365 days ahead.
            up_to: All items up to this time.
            tenant: Only items of this tenant and those without a tenant.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "POST",
            "/v1/me/inbox/read",
            query={"tenant": tenant},
            body=given(
                {
                    "all": all,
                    "category": category,
                    "event": event,
                    "for": for_,
                    "group": group,
                    "object": object,
                    "type": type,
                    "until": until,
                    "up_to": up_to,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def mark_seen(
        self,
        *,
        all: bool | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        event: str | Unset | None = UNSET,
        for_: str | Unset | None = UNSET,
        group: str | Unset | None = UNSET,
        object: str | Unset | None = UNSET,
        type: str | Unset | None = UNSET,
        until: datetime | str | Unset | None = UNSET,
        up_to: datetime | str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.InboxCounts:
        """Mark items as seen.

        Lowers `unseen`, not `unread`. Returns the counts afterwards, also if no item matches. An
        event or a group is marked wherever it is, other items only in the inbox.

        Args:
            all: True = all items so far.
            category: With `up_to` or `all`: only items of this category.
            event: The item of this event.
            for_: For a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only items of this type.
            until: For a snooze: its end, at most 365 days ahead.
            up_to: All items up to this time.
            tenant: Only items of this tenant and those without a tenant.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "POST",
            "/v1/me/inbox/seen",
            query={"tenant": tenant},
            body=given(
                {
                    "all": all,
                    "category": category,
                    "event": event,
                    "for": for_,
                    "group": group,
                    "object": object,
                    "type": type,
                    "until": until,
                    "up_to": up_to,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def snooze(
        self,
        *,
        all: bool | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        event: str | Unset | None = UNSET,
        for_: str | Unset | None = UNSET,
        group: str | Unset | None = UNSET,
        object: str | Unset | None = UNSET,
        type: str | Unset | None = UNSET,
        until: datetime | str | Unset | None = UNSET,
        up_to: datetime | str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.InboxCounts:
        """Snooze items.

        Removes items from the inbox until an instant (`until`) or for a duration (`for`). They then
        return, unseen and unread, at the position of that instant. Returns the counts afterwards.

        Args:
            all: True = all items so far.
            category: With `up_to` or `all`: only items of this category.
            event: The item of this event.
            for_: For a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only items of this type.
            until: For a snooze: its end, at most 365 days ahead.
            up_to: All items up to this time.
            tenant: Only items of this tenant and those without a tenant.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "POST",
            "/v1/me/inbox/snooze",
            query={"tenant": tenant},
            body=given(
                {
                    "all": all,
                    "category": category,
                    "event": event,
                    "for": for_,
                    "group": group,
                    "object": object,
                    "type": type,
                    "until": until,
                    "up_to": up_to,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def unarchive(
        self,
        *,
        all: bool | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        event: str | Unset | None = UNSET,
        for_: str | Unset | None = UNSET,
        group: str | Unset | None = UNSET,
        object: str | Unset | None = UNSET,
        type: str | Unset | None = UNSET,
        until: datetime | str | Unset | None = UNSET,
        up_to: datetime | str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.InboxCounts:
        """Take items out of the archive.

        Brings archived items back as they were. Returns the counts afterwards, also if no item
        matches. An event or a group is brought back wherever it is, other items only if that puts
        them into the inbox.

        Args:
            all: True = all items so far.
            category: With `up_to` or `all`: only items of this category.
            event: The item of this event.
            for_: For a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only items of this type.
            until: For a snooze: its end, at most 365 days ahead.
            up_to: All items up to this time.
            tenant: Only items of this tenant and those without a tenant.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "POST",
            "/v1/me/inbox/unarchive",
            query={"tenant": tenant},
            body=given(
                {
                    "all": all,
                    "category": category,
                    "event": event,
                    "for": for_,
                    "group": group,
                    "object": object,
                    "type": type,
                    "until": until,
                    "up_to": up_to,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def mark_unread(
        self,
        *,
        all: bool | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        event: str | Unset | None = UNSET,
        for_: str | Unset | None = UNSET,
        group: str | Unset | None = UNSET,
        object: str | Unset | None = UNSET,
        type: str | Unset | None = UNSET,
        until: datetime | str | Unset | None = UNSET,
        up_to: datetime | str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.InboxCounts:
        """Mark items as unread.

        Raises `unread`; seen items stay seen. Returns the counts afterwards, also if no item
        matches. An event or a group is marked wherever it is, other items only in the inbox.

        Args:
            all: True = all items so far.
            category: With `up_to` or `all`: only items of this category.
            event: The item of this event.
            for_: For a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only items of this type.
            until: For a snooze: its end, at most 365 days ahead.
            up_to: All items up to this time.
            tenant: Only items of this tenant and those without a tenant.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "POST",
            "/v1/me/inbox/unread",
            query={"tenant": tenant},
            body=given(
                {
                    "all": all,
                    "category": category,
                    "event": event,
                    "for": for_,
                    "group": group,
                    "object": object,
                    "type": type,
                    "until": until,
                    "up_to": up_to,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def unsnooze(
        self,
        *,
        all: bool | Unset | None = UNSET,
        category: str | Unset | None = UNSET,
        event: str | Unset | None = UNSET,
        for_: str | Unset | None = UNSET,
        group: str | Unset | None = UNSET,
        object: str | Unset | None = UNSET,
        type: str | Unset | None = UNSET,
        until: datetime | str | Unset | None = UNSET,
        up_to: datetime | str | Unset | None = UNSET,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.InboxCounts:
        """End the snooze of items.

        Brings snoozed items back as they were, to their old position. Returns the counts
        afterwards, also if no item matches. An event or a group is brought back wherever it is,
        other items only if that puts them into the inbox.

        Args:
            all: True = all items so far.
            category: With `up_to` or `all`: only items of this category.
            event: The item of this event.
            for_: For a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only items of this type.
            until: For a snooze: its end, at most 365 days ahead.
            up_to: All items up to this time.
            tenant: Only items of this tenant and those without a tenant.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "POST",
            "/v1/me/inbox/unsnooze",
            query={"tenant": tenant},
            body=given(
                {
                    "all": all,
                    "category": category,
                    "event": event,
                    "for": for_,
                    "group": group,
                    "object": object,
                    "type": type,
                    "until": until,
                    "up_to": up_to,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def live(
        self,
        *,
        tenant: str | None = None,
        last_event_id: str | None = None,
    ) -> Stream[LiveEvent]:
        """Follow an inbox.

        Streams server-sent events. The first is `hello`, with the counts; then each change of the
        inbox is an event `inbox`, within 100 ms: the counts, the new and changed groups
        (`changed`), and the keys of groups that are gone (`gone`). Changes close together may be
        one event. Its `id` is a cursor: with `Last-Event-ID` the stream goes on from there, or
        `hello` has `"reset": true`, and the page has to be read again. A comment comes every 15 s.
        `end` comes before the server closes the stream, with a `code`: `restart` (open it again
        after `retry_ms`), `replaced` (the recipient opened more than 8 streams of that view, or 32
        with long polls), or the reason for the end of the token (`token_expired`, `token_revoked`,
        `token_key`).

        Args:
            tenant: Only items of this tenant and those without a tenant, as with a token with
                this claim.
            last_event_id: The `id` of the last event that was received.
        """
        return self._transport.live("/v1/me/live", {"tenant": tenant}, last_event_id)

    async def pending(self, *, tenant: str | None = None) -> models.Pending:
        """List a recipient's pending notifications.

        Returns open lanes with their deadlines and notifications, messages that wait for a retry,
        and scheduled events, in the reader's view.

        Args:
            tenant: Only entries of this tenant and those without a tenant, as with a token with
                this claim.
        """
        answer: models.Pending = await self._transport.call(
            models.Pending, "GET", "/v1/me/pending", query={"tenant": tenant}
        )
        return answer

    async def preferences(self) -> models.AllPreferences:
        """List the preferences of a recipient.

        Returns the preferences for types, categories and digests that are configured now, and
        mutes. A preference that is the same on each channel is one item, on `*`. Without a
        preference the policy of the type applies. With `choices=true`, and for end users, the list
        is `preferences` of an object that has everything for a page of preferences: for each
        category and type the modes that may be chosen, the mode in force and its source; mutes,
        quiet hours with those in force and their time zone, and the key of Web Push.
        """
        answer: models.AllPreferences = await self._transport.call(
            models.AllPreferences, "GET", "/v1/me/preferences"
        )
        return answer

    async def patch_preferences(
        self,
        *,
        preferences: Sequence[params.Preference] | Unset = UNSET,
        quiet_hours: params.QuietHoursChoice | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> models.Warned | None:
        """Set some preferences of a recipient.

        Sets the preferences in the list; the others stay as they are. `default` removes a
        preference. Either the whole list is accepted or nothing. Pending notifications move to the
        lane that applies now; `never` cancels them. The body may also be an object with the list as
        `preferences` and with `quiet_hours` like those of a profile, both optional.

        Args:
            preferences: Preferences to set; the others stay as they are.
            quiet_hours: Quiet hours: the recipient's own, null = none, `default` = those of
                each channel.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.Warned | None = await self._transport.call(
            models.Warned | None,
            "PATCH",
            "/v1/me/preferences",
            body=given({"preferences": preferences, "quiet_hours": quiet_hours}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    async def join_push(
        self,
        *,
        endpoint: str,
        keys: params.PushKeys,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        """Add a browser of a recipient.

        Adds the browser's Web Push subscription, the result of `JSON.stringify(subscription)`, to
        the recipient's addresses of the channel `webpush`. With a token of a tenant it gets the
        messages of that tenant and those without one, else all messages. Replaces a subscription
        with the same endpoint and tenant. Beyond 20 browsers for a tenant, or for all tenants, the
        oldest of them is removed, and beyond 40 in all the recipient's oldest.

        Args:
            endpoint: Address of the browser's push service.
            keys: Keys of the browser.
            tenant: Subscribe to messages of this tenant and those without a tenant, as with a
                token with this claim.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "PUT",
            "/v1/me/push",
            query={"tenant": tenant},
            body=given({"endpoint": endpoint, "keys": keys}),
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def leave_push(
        self,
        *,
        endpoint: str,
        tenant: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        """Remove a browser of a recipient.

        Removes the browser's Web Push subscription, of which `endpoint` is enough. A subscription
        for another tenant than that of the token, or for all tenants, stays; a token without a
        tenant removes it for all. An unknown subscription is not an error.

        Args:
            endpoint: Address of the browser's push service.
            tenant: Only the subscription for this tenant, as with a token with this claim.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "DELETE",
            "/v1/me/push",
            query={"tenant": tenant},
            body=given({"endpoint": endpoint}),
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def subscriptions(self) -> models.Subscriptions:
        """List a recipient's subscriptions.

        Returns all topics, sorted by bytes.
        """
        answer: models.Subscriptions = await self._transport.call(
            models.Subscriptions, "GET", "/v1/me/subscriptions"
        )
        return answer

    async def follow(self, topic: str, /, *, idempotency_key: str | None = None) -> None:
        """Follow a topic.

        Subscribes the recipient to the topic and everything below it: a follower of `artist` is
        notified of events to `artist/42`. Slashes in the path may be encoded or not.

        Args:
            topic: Topic; slashes may be encoded or not.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "PUT",
            f"/v1/me/subscriptions/{segment(topic)}",
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def unfollow(self, topic: str, /, *, idempotency_key: str | None = None) -> None:
        """Unfollow a topic.

        Removes the subscription. Earlier events are not cancelled. A topic that the recipient does
        not follow is not an error.

        Args:
            topic: Topic; slashes may be encoded or not.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "DELETE",
            f"/v1/me/subscriptions/{segment(topic)}",
            changes=True,
            idempotency_key=idempotency_key,
        )
