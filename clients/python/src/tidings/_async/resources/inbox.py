"""Inboxes, and seen and read marks.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ... import models
from ..._call import LiveEvent
from ..._values import UNSET, Unset, given, seconds, segment
from ..platform import Stream
from ..transport import AsyncTransport


class AsyncInbox:
    """Inboxes, and seen and read marks."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox",
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

    async def page(
        self,
        recipient: str,
        /,
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

        This is one page; `list` gives all.

        Args:
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox",
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

    async def poll(
        self,
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox",
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
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox/archive",
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

    async def counts(self, recipient: str, /, *, tenant: str | None = None) -> models.InboxCounts:
        """Get the counts of an inbox.

        Returns the number of groups with an unseen and with an unread item, in the whole inbox and
        in each category.

        Args:
            recipient: Recipient id.
            tenant: Only items of this tenant and those without a tenant, as with a token with
                this claim.
        """
        answer: models.InboxCounts = await self._transport.call(
            models.InboxCounts,
            "GET",
            f"/v1/recipients/{segment(recipient)}/inbox/counts",
            query={"tenant": tenant},
        )
        return answer

    async def delete(
        self,
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox/delete",
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
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox/read",
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
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox/seen",
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
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox/snooze",
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
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox/unarchive",
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
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox/unread",
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
        recipient: str,
        /,
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
            recipient: Recipient id.
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
            f"/v1/recipients/{segment(recipient)}/inbox/unsnooze",
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
        recipient: str,
        /,
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
            recipient: Recipient id.
            tenant: Only items of this tenant and those without a tenant, as with a token with
                this claim.
            last_event_id: The `id` of the last event that was received.
        """
        return self._transport.live(
            f"/v1/recipients/{segment(recipient)}/live", {"tenant": tenant}, last_event_id
        )
