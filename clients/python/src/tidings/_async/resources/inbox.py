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
        `tenant` shows the items of that tenant and of none, here and in counts and streams. Of two
        answers the one with the higher `rev` is newer; with `since` and `wait` the answer comes as
        soon as there is a newer one (long poll).

        Pages are fetched as they are needed.

        Args:
            recipient: Recipient id.
            limit: Maximum number of groups; 20 if absent.
            cursor: Start of the page: `next` of the previous page.
            state: The groups to list: `active` (the default), `unseen`, `unread`, `archived`,
                `snoozed` or `all`.
            category: Only items of this category; may be given several times.
            type: Only items of this type; may be given several times.
            grouped: False: each item is a group.
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
        `tenant` shows the items of that tenant and of none, here and in counts and streams. Of two
        answers the one with the higher `rev` is newer; with `since` and `wait` the answer comes as
        soon as there is a newer one (long poll).

        This is one page; `list` gives all.

        Args:
            recipient: Recipient id.
            limit: Maximum number of groups; 20 if absent.
            cursor: Start of the page: `next` of the previous page.
            state: The groups to list: `active` (the default), `unseen`, `unread`, `archived`,
                `snoozed` or `all`.
            category: Only items of this category; may be given several times.
            type: Only items of this type; may be given several times.
            grouped: False: each item is a group.
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
        `tenant` shows the items of that tenant and of none, here and in counts and streams. Of two
        answers the one with the higher `rev` is newer; with `since` and `wait` the answer comes as
        soon as there is a newer one (long poll).

        None if nothing has changed within `wait`.

        Args:
            recipient: Recipient id.
            since: Answer as soon as `rev` is above this one, or 304 if it is not within `wait`.
            wait: The time to wait with `since`, such as `25s`, at most `60s`. A recipient has
                at most 8 calls that wait.
            limit: Maximum number of groups; 20 if absent.
            cursor: Start of the page: `next` of the previous page.
            state: The groups to list: `active` (the default), `unseen`, `unread`, `archived`,
                `snoozed` or `all`.
            category: Only items of this category; may be given several times.
            type: Only items of this type; may be given several times.
            grouped: False: each item is a group.
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

        They leave pages and counts, but for `state=archived` and `all`, and count as seen for other
        channels. Answers with the counts after it, also where it hits nothing. An event or a group
        is marked wherever it is, the others in the inbox.

        Args:
            recipient: Recipient id.
            all: True: all items so far.
            category: With `up_to` or `all`: only those of this category.
            event: The item of this event.
            for_: Of a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only those of this type.
            until: Of a snooze: its end, at most 365 days ahead.
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

        Counts groups with something unseen and with something unread, of the whole inbox and of
        each category, as its page does.

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

        They are gone for good; the books stay. They count as seen for other channels. Answers with
        the counts after it, also where it hits nothing. An event or a group is marked wherever it
        is, the others in the inbox.

        Args:
            recipient: Recipient id.
            all: True: all items so far.
            category: With `up_to` or `all`: only those of this category.
            event: The item of this event.
            for_: Of a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only those of this type.
            until: Of a snooze: its end, at most 365 days ahead.
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

        What is read is seen. Answers with the counts after it, also where it hits nothing. An event
        or a group is marked wherever it is, the others in the inbox.

        Args:
            recipient: Recipient id.
            all: True: all items so far.
            category: With `up_to` or `all`: only those of this category.
            event: The item of this event.
            for_: Of a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only those of this type.
            until: Of a snooze: its end, at most 365 days ahead.
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

        Lowers `unseen`, not `unread`. Answers with the counts after it, also where it hits nothing.
        An event or a group is marked wherever it is, the others in the inbox.

        Args:
            recipient: Recipient id.
            all: True: all items so far.
            category: With `up_to` or `all`: only those of this category.
            event: The item of this event.
            for_: Of a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only those of this type.
            until: Of a snooze: its end, at most 365 days ahead.
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

        They leave the inbox until an instant (`until`) or for a duration (`for`). Then they are in
        it again, unseen and unread, at the place of that instant. Answers with the counts after it.

        Args:
            recipient: Recipient id.
            all: True: all items so far.
            category: With `up_to` or `all`: only those of this category.
            event: The item of this event.
            for_: Of a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only those of this type.
            until: Of a snooze: its end, at most 365 days ahead.
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

        They come back as they were. Answers with the counts after it, also where it hits nothing.
        An event or a group is marked wherever it is, the others in the inbox.

        Args:
            recipient: Recipient id.
            all: True: all items so far.
            category: With `up_to` or `all`: only those of this category.
            event: The item of this event.
            for_: Of a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only those of this type.
            until: Of a snooze: its end, at most 365 days ahead.
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

        What was seen stays seen. Answers with the counts after it, also where it hits nothing. An
        event or a group is marked wherever it is, the others in the inbox.

        Args:
            recipient: Recipient id.
            all: True: all items so far.
            category: With `up_to` or `all`: only those of this category.
            event: The item of this event.
            for_: Of a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only those of this type.
            until: Of a snooze: its end, at most 365 days ahead.
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

        They come back as they were, to where they were. Answers with the counts after it, also
        where it hits nothing. An event or a group is marked wherever it is, the others in the
        inbox.

        Args:
            recipient: Recipient id.
            all: True: all items so far.
            category: With `up_to` or `all`: only those of this category.
            event: The item of this event.
            for_: Of a snooze: its duration, `1m` to `365d`.
            group: The items of the group with this key, as a page shows it.
            object: All items about this object that entered so far.
            type: With `up_to` or `all`: only those of this type.
            until: Of a snooze: its end, at most 365 days ahead.
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

        A stream of server-sent events. The first is `hello`, with the counts; then each change of
        the inbox is an event `inbox`, within 100 ms: the counts, the groups that are new or have
        changed (`changed`), and the keys of those that are no longer there (`gone`). Changes that
        come close together may be one event. Its `id` is a cursor: with `Last-Event-ID` the stream
        goes on from there, or `hello` has `"reset": true`, and the page is to be read anew. A
        comment comes every 15 s. `end` comes before the server closes the stream, with a `code`:
        `restart` (after `retry_ms` it may be opened again), `replaced` (the recipient has opened
        more than 8 of that view, or 32 with long polls), or why the token has ended
        (`token_expired`, `token_revoked`, `token_key`).

        Args:
            recipient: Recipient id.
            tenant: Only items of this tenant and those without a tenant, as with a token with
                this claim.
            last_event_id: The `id` of the last event that was received.
        """
        return self._transport.live(
            f"/v1/recipients/{segment(recipient)}/live", {"tenant": tenant}, last_event_id
        )
