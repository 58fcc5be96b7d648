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
        idempotency_key: str | None = None,
    ) -> models.CancelAnswer:
        """Cancel all events of a key.

        Cancels all events published with this `cancellation_key` so far. The counts are sums over
        all of them.

        Args:
            cancellation_key: All events published with this key so far.
            tenant: Only events of this tenant; absent = of every tenant and of none.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.CancelAnswer = self._transport.call(
            models.CancelAnswer,
            "POST",
            "/v1/cancel",
            body=given({"cancellation_key": cancellation_key, "tenant": tenant}),
            changes=True,
            idempotency_key=idempotency_key,
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
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.PublishedEvent = self._transport.call(
            models.PublishedEvent,
            "POST",
            "/v1/events",
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
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: builtins.list[models.EventOutcome] = self._transport.call(
            builtins.list[models.EventOutcome],
            "POST",
            "/v1/events",
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
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        return self._transport.upload(
            models.EventLineAnswer,
            "/v1/events",
            items,
            query={"answers": answers},
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
        idempotency_key: str | None = None,
    ) -> models.CancelAnswer:
        """Cancel an event.

        Cancels pending notifications at once, and removes them from messages that are built and not
        handed over yet. `status` is the extent of the cancel. An unknown event is not an error: the
        status is `remembered`, and the event is cancelled if it arrives within 24 hours.

        Args:
            event: Event id.
            tenant: The tenant of the event; absent = any.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.CancelAnswer = self._transport.call(
            models.CancelAnswer,
            "POST",
            f"/v1/events/{segment(event)}/cancel",
            body=given({"tenant": tenant}) or UNSET,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def withdraw(
        self,
        event: str,
        /,
        *,
        tenant: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> models.CancelAnswer:
        """Withdraw an event.

        Cancels the event as `cancel` does, and removes it from inboxes. Removed entries still count
        as delivered.

        Args:
            event: Event id.
            tenant: The tenant of the event; absent = any.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.CancelAnswer = self._transport.call(
            models.CancelAnswer,
            "POST",
            f"/v1/events/{segment(event)}/withdraw",
            body=given({"tenant": tenant}) or UNSET,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def explain(self, *, event: params.EventInQuestion, recipient: str) -> models.Explained:
        """Explain why a recipient got an event, or did not.

        Returns the rules in their order, each with its inputs and its result, up to the message
        that carried the event or the rule that ended it, as long as the day of the event's arrival
        is kept. Facts that are not stored, such as the audience of that time, are shown as they are
        now, and marked so. An event in place of an id is hypothetical: the answer shows its result
        if it were published now, and nothing is published. The body has at most 512 KiB.

        Args:
            event: Id of an event, or a hypothetical event in the form of a publish.
            recipient: Id of the recipient.
        """
        answer: models.Explained = self._transport.call(
            models.Explained,
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
        idempotency_key: str | None = None,
    ) -> models.CancelAnswer:
        """Withdraw an event, or all events of a key.

        Withdraws one event, or all events published with this `cancellation_key` so far. The counts
        are sums over all of them.

        Args:
            cancellation_key: All events published with this key so far.
            tenant: Only events of this tenant; absent = of every tenant and of none.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.CancelAnswer = self._transport.call(
            models.CancelAnswer,
            "POST",
            "/v1/withdraw",
            body=given({"cancellation_key": cancellation_key, "tenant": tenant}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer
