"""Publish events, get their outcome, cancel them.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from ... import models, params
from ..._values import UNSET, Unset, given, segment
from ..platform import Items, Stream
from ..transport import Transport


class Events:
    """Publish events, get their outcome, cancel them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def cancel_all(
        self,
        *,
        cancellation_key: str,
        tenant: str | Unset | None = UNSET,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.CancelAnswer:
        """Cancel all events of a key.

        Cancels all events published with this `cancellation_key` so far. The counts are sums over
        all of them.

        Args:
            cancellation_key: All events published with this key so far.
            tenant: Only events of this tenant; absent = of every tenant and of none.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.CancelAnswer = self._transport.call(
            models.CancelAnswer,
            "POST",
            "/v1/cancel",
            query={"dry": dry, "expect": expect},
            body=given({"cancellation_key": cancellation_key, "tenant": tenant}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def list(
        self,
        *,
        type: str | None = None,
        actor: str | None = None,
        object: str | None = None,
        target: str | None = None,
        tenant: str | None = None,
        recipient: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.ListedEvent]:
        """List events.

        Returns events, newest first by their arrival, as long as the day of their arrival is kept.
        With `recipient`, those in whose audience the recipient was, with what became of their
        notifications.

        Pages are fetched as they are needed.

        Args:
            type: Only events of this type.
            actor: Only events with this actor.
            object: Only events with this object.
            target: Only events with this target.
            tenant: Only events of this tenant.
            recipient: Only events in whose audience this recipient was, with `channels`.
            from_: Only events that arrived at this time or later.
            to: Only events that arrived before this time.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.EventsPage,
            "events",
            "/v1/events",
            {
                "type": type,
                "actor": actor,
                "object": object,
                "target": target,
                "tenant": tenant,
                "recipient": recipient,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
        )

    def page(
        self,
        *,
        type: str | None = None,
        actor: str | None = None,
        object: str | None = None,
        target: str | None = None,
        tenant: str | None = None,
        recipient: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.EventsPage:
        """List events.

        Returns events, newest first by their arrival, as long as the day of their arrival is kept.
        With `recipient`, those in whose audience the recipient was, with what became of their
        notifications.

        This is one page; `list` gives all.

        Args:
            type: Only events of this type.
            actor: Only events with this actor.
            object: Only events with this object.
            target: Only events with this target.
            tenant: Only events of this tenant.
            recipient: Only events in whose audience this recipient was, with `channels`.
            from_: Only events that arrived at this time or later.
            to: Only events that arrived before this time.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.EventsPage = self._transport.call(
            models.EventsPage,
            "GET",
            "/v1/events",
            query={
                "type": type,
                "actor": actor,
                "object": object,
                "target": target,
                "tenant": tenant,
                "recipient": recipient,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def publish(
        self,
        *,
        object: params.EventObject,
        to: params.Audience,
        type: str,
        actor: params.IdOrObject | Unset | None = UNSET,
        body: params.HostText | Unset | None = UNSET,
        cancellation_key: str | Unset | None = UNSET,
        channels: Sequence[str] | Unset | None = UNSET,
        data: Mapping[str, Any] | Unset | None = UNSET,
        delay: str | Unset | None = UNSET,
        deliver_at: datetime | str | Unset | None = UNSET,
        deliver_local: str | Unset | None = UNSET,
        expires_at: datetime | str | Unset | None = UNSET,
        id: str | Unset | None = UNSET,
        occurred_at: datetime | str | Unset | None = UNSET,
        score: float | Unset | None = UNSET,
        target: params.IdOrObject | Unset | None = UNSET,
        tenant: str | Unset | None = UNSET,
        trace: str | Unset | None = UNSET,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.PublishedEvent:
        """Publish events.

        Takes one event as an object, many as an array (`application/json`), or a stream of any
        length with one event per line (`application/x-ndjson`). Events are answered in order, once
        they are durable.

        An event with a known id is a `duplicate`: nothing happens. An event without an id gets one.
        (With shards on several nodes it derives from an `Idempotency-Key` and the request.) An
        invalid event of an array is `rejected` with its problem, and the others are accepted.

        In a cluster the answer waits up to a second until all shards have applied the event, and
        `applied` says whether they have. With `Prefer: respond-async` it does not wait.

        A stream is read as fast as it becomes durable, and each line is answered like an item of an
        array. Read the answers while you write. A problem of the server (status 429 or 503) ends
        the stream: send the lines without an answer again, with the same ids. With an
        `Idempotency-Key`, an event without an id gets one that derives from the key, the line
        number and the line's content, so that it is a duplicate when sent again.

        CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode
        (`application/cloudevents+json`), as a batch (`application/cloudevents-batch+json`), and in
        binary mode (any JSON with the headers `ce-specversion`, `ce-id`, `ce-source` and
        `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
        the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered
        like an array.

        Args:
            object: The object that the event is about.
            to: The audience.
            type: A type of the configuration.
            actor: The actor, who caused the event.
            body: Text that a person wrote, such as a comment: plain, at most 2 KiB, or an
                object with a text for each locale. Messages and inboxes show it.
            cancellation_key: A key to cancel several events at once.
            channels: The channels to use, of those of the type; `["inbox"]` imports a history
                without sending mail.
            data: Data of the host, returned with the inbox item.
            delay: Duration after its arrival before which nothing is delivered, such as `90s`,
                `36h` or `PT4M`.
            deliver_at: Time before which nothing is delivered; at most one of `deliver_at`,
                `delay` and `deliver_local`.
            deliver_local: Time on each recipient's wall clock before which nothing is
                delivered, such as `2024-05-01T09:00`. If it has passed, the event is delivered at
                its arrival.
            expires_at: Time after which nothing is delivered.
            id: Id of the event: the same id is the same event. Generated by the server if
                absent.
            occurred_at: Time of the event that people are shown. It has no effect on delivery.
            score: Rank among the events of a message: the highest is shown first; 0 if absent.
            target: The target: the place or the purpose of the event, such as the thread of a
                comment.
            tenant: The tenant of the event and of all its notifications.
            trace: The W3C `traceparent` of the event's cause, to which the spans of its
                messages link; that of the request if absent.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.PublishedEvent = self._transport.call(
            models.PublishedEvent,
            "POST",
            "/v1/events",
            query={"dry": dry, "expect": expect},
            body=given(
                {
                    "object": object,
                    "to": to,
                    "type": type,
                    "actor": actor,
                    "body": body,
                    "cancellation_key": cancellation_key,
                    "channels": channels,
                    "data": data,
                    "delay": delay,
                    "deliver_at": deliver_at,
                    "deliver_local": deliver_local,
                    "expires_at": expires_at,
                    "id": id,
                    "occurred_at": occurred_at,
                    "score": score,
                    "target": target,
                    "tenant": tenant,
                    "trace": trace,
                }
            ),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def publish_many(
        self,
        items: Sequence[params.Event],
        /,
        *,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> builtins.list[models.EventOutcome]:
        """Publish events.

        Takes one event as an object, many as an array (`application/json`), or a stream of any
        length with one event per line (`application/x-ndjson`). Events are answered in order, once
        they are durable.

        An event with a known id is a `duplicate`: nothing happens. An event without an id gets one.
        (With shards on several nodes it derives from an `Idempotency-Key` and the request.) An
        invalid event of an array is `rejected` with its problem, and the others are accepted.

        In a cluster the answer waits up to a second until all shards have applied the event, and
        `applied` says whether they have. With `Prefer: respond-async` it does not wait.

        A stream is read as fast as it becomes durable, and each line is answered like an item of an
        array. Read the answers while you write. A problem of the server (status 429 or 503) ends
        the stream: send the lines without an answer again, with the same ids. With an
        `Idempotency-Key`, an event without an id gets one that derives from the key, the line
        number and the line's content, so that it is a duplicate when sent again.

        CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode
        (`application/cloudevents+json`), as a batch (`application/cloudevents-batch+json`), and in
        binary mode (any JSON with the headers `ce-specversion`, `ce-id`, `ce-source` and
        `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
        the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered
        like an array.

        Args:
            items: What is sent, in its order.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: builtins.list[models.EventOutcome] = self._transport.call(
            builtins.list[models.EventOutcome],
            "POST",
            "/v1/events",
            query={"dry": dry, "expect": expect},
            body=items,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def publish_stream(
        self,
        items: Items[params.Event],
        /,
        *,
        answers: Literal["all", "problems"] | None = None,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> Stream[models.EventLineAnswer]:
        """Publish events.

        Takes one event as an object, many as an array (`application/json`), or a stream of any
        length with one event per line (`application/x-ndjson`). Events are answered in order, once
        they are durable.

        An event with a known id is a `duplicate`: nothing happens. An event without an id gets one.
        (With shards on several nodes it derives from an `Idempotency-Key` and the request.) An
        invalid event of an array is `rejected` with its problem, and the others are accepted.

        In a cluster the answer waits up to a second until all shards have applied the event, and
        `applied` says whether they have. With `Prefer: respond-async` it does not wait.

        A stream is read as fast as it becomes durable, and each line is answered like an item of an
        array. Read the answers while you write. A problem of the server (status 429 or 503) ends
        the stream: send the lines without an answer again, with the same ids. With an
        `Idempotency-Key`, an event without an id gets one that derives from the key, the line
        number and the line's content, so that it is a duplicate when sent again.

        CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode
        (`application/cloudevents+json`), as a batch (`application/cloudevents-batch+json`), and in
        binary mode (any JSON with the headers `ce-specversion`, `ce-id`, `ce-source` and
        `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
        the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered
        like an array.

        Args:
            items: What is sent, one by one.
            answers: For a stream of lines: `all` answers each line; `problems` answers only
                failed lines, and adds a last line of counts. An array is always answered item by
                item.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        return self._transport.upload(
            models.EventLineAnswer,
            "/v1/events",
            items,
            query={"answers": answers, "dry": dry, "expect": expect},
            idempotency_key=idempotency_key,
        )

    def get(self, event: str, /) -> models.EventWithOutcome:
        """Get an event and its outcome.

        Returns the event, and the number of its entries by channel, outcome and reason, as long as
        the day of its arrival is kept.

        Args:
            event: Event id.
        """
        answer: models.EventWithOutcome = self._transport.call(
            models.EventWithOutcome, "GET", f"/v1/events/{segment(event)}"
        )
        return answer

    def cancel(
        self,
        event: str,
        /,
        *,
        tenant: str | Unset | None = UNSET,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.CancelAnswer:
        """Cancel an event.

        Cancels pending notifications at once, and removes them from messages that are built and not
        handed over yet. `status` is the extent of the cancel. An unknown event is not an error: the
        status is `remembered`, and the event is cancelled if it arrives within 24 hours.

        Args:
            event: Event id.
            tenant: The tenant of the event; absent = any.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.CancelAnswer = self._transport.call(
            models.CancelAnswer,
            "POST",
            f"/v1/events/{segment(event)}/cancel",
            query={"dry": dry, "expect": expect},
            body=given({"tenant": tenant}) or UNSET,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def recipients(
        self,
        event: str,
        /,
        *,
        channel: str | None = None,
        outcome: str | None = None,
        reason: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.EventRecipient]:
        """List the recipients of an event.

        Returns all whom the audience of the event reached, whether they got a notification or not,
        sorted by the bytes of their ids, as long as the day of its arrival is kept.

        Pages are fetched as they are needed.

        Args:
            event: Event id.
            channel: Only this channel counts for `outcome` and `reason`.
            outcome: Only recipients with a notification in this state: `scheduled`, `pending`,
                `sending`, `delivered`, `cancelled`, `skipped`, `expired`, `failed`, `unknown` or
                `left_out`.
            reason: Only recipients with a notification with this reason; with `outcome` the
                same one.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.EventRecipientsPage,
            "recipients",
            f"/v1/events/{segment(event)}/recipients",
            {
                "channel": channel,
                "outcome": outcome,
                "reason": reason,
                "limit": limit,
                "cursor": cursor,
            },
        )

    def recipients_page(
        self,
        event: str,
        /,
        *,
        channel: str | None = None,
        outcome: str | None = None,
        reason: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.EventRecipientsPage:
        """List the recipients of an event.

        Returns all whom the audience of the event reached, whether they got a notification or not,
        sorted by the bytes of their ids, as long as the day of its arrival is kept.

        This is one page; `recipients` gives all.

        Args:
            event: Event id.
            channel: Only this channel counts for `outcome` and `reason`.
            outcome: Only recipients with a notification in this state: `scheduled`, `pending`,
                `sending`, `delivered`, `cancelled`, `skipped`, `expired`, `failed`, `unknown` or
                `left_out`.
            reason: Only recipients with a notification with this reason; with `outcome` the
                same one.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.EventRecipientsPage = self._transport.call(
            models.EventRecipientsPage,
            "GET",
            f"/v1/events/{segment(event)}/recipients",
            query={
                "channel": channel,
                "outcome": outcome,
                "reason": reason,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def withdraw(
        self,
        event: str,
        /,
        *,
        tenant: str | Unset | None = UNSET,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.CancelAnswer:
        """Withdraw an event.

        Cancels the event as `cancel` does, and removes it from inboxes. Removed entries still count
        as delivered.

        Args:
            event: Event id.
            tenant: The tenant of the event; absent = any.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.CancelAnswer = self._transport.call(
            models.CancelAnswer,
            "POST",
            f"/v1/events/{segment(event)}/withdraw",
            query={"dry": dry, "expect": expect},
            body=given({"tenant": tenant}) or UNSET,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def explain(
        self,
        *,
        event: params.EventInQuestion,
        recipient: str | Unset = UNSET,
    ) -> models.Explanation:
        """Explain why recipients got an event, or did not.

        Returns the rules in their order, each with its inputs and its result, up to the message
        that carried the event or the rule that ended it, as long as the day of the event's arrival
        is kept. Facts that are not stored, such as the audience of that time, are shown as they are
        now, and marked so. An event in place of an id is hypothetical: the answer shows its result
        if it were published now, and nothing is published. The body has at most 512 KiB.

        Without a recipient the answer counts the whole audience by channel, outcome and reason. A
        hypothetical event is told as at the end of the instant of its arrival: what would be sent
        is pending.

        Args:
            event: Id of an event, or a hypothetical event in the form of a publish.
            recipient: Id of the recipient; absent = the whole audience.
        """
        answer: models.Explanation = self._transport.call(
            models.Explanation,
            "POST",
            "/v1/explain",
            body=given({"event": event, "recipient": recipient}),
        )
        return answer

    def withdraw_all(
        self,
        *,
        cancellation_key: str,
        tenant: str | Unset | None = UNSET,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.CancelAnswer:
        """Withdraw an event, or all events of a key.

        Withdraws one event, or all events published with this `cancellation_key` so far. The counts
        are sums over all of them.

        Args:
            cancellation_key: All events published with this key so far.
            tenant: Only events of this tenant; absent = of every tenant and of none.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.CancelAnswer = self._transport.call(
            models.CancelAnswer,
            "POST",
            "/v1/withdraw",
            query={"dry": dry, "expect": expect},
            body=given({"cancellation_key": cancellation_key, "tenant": tenant}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer
