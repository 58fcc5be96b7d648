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

        One event as an object, many as an array (`application/json`), or a stream of any length
        with one event per line (`application/x-ndjson`). Events are answered in order, once they
        are durable.

        An event with a known id is a `duplicate`: nothing happens. An event without an id gets one.
        (Where parts of the store are at several nodes it derives from an `Idempotency-Key` and the
        request.) An invalid event of an array is `rejected` with its problem, and the others are
        accepted.

        Of several nodes the answer waits up to a second until all parts of the store have the event
        in their inboxes, and `applied` says whether they do. With `Prefer: respond-async` it does
        not wait.

        A stream is read as fast as it can be made durable, and each line is answered as an item of
        an array is. Read the answers while you write. A problem of the server (status 429 or 503)
        ends the stream: send the lines without an answer again, with the same ids. With an
        `Idempotency-Key`, events without an id get one that derives from the key, the line number
        and the line's content: sent again they are duplicates.

        CloudEvents 1.0 (the schema `CloudEvent`) are taken in structured mode
        (`application/cloudevents+json`), as a batch (`application/cloudevents-batch+json`), and in
        binary mode (any JSON with the headers `ce-specversion`, `ce-id`, `ce-source` and
        `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
        the two. `time` is its `occurred_at`, `traceparent` its `trace`. A batch is answered as an
        array is.

        Args:
            object: The object: what it was done to.
            to: The audience.
            type: A type of the configuration.
            actor: The actor: who did it.
            body: Text that a person wrote, such as a comment: plain, at most 2 KiB, or an
                object with a text for each locale. Messages and inboxes show it.
            cancellation_key: A key to cancel several events at once.
            channels: Restricts the type's channels; `["inbox"]` imports a history without
                sending mail.
            data: Anything else, returned with the inbox item.
            delay: Duration after its arrival before which nothing is delivered, such as `90s`,
                `36h` or `PT4M`.
            deliver_at: Time before which nothing is delivered; one of `deliver_at`, `delay` and
                `deliver_local` at most.
            deliver_local: Time on each recipient's wall clock before which nothing is
                delivered, such as `2024-05-01T09:00`. Where it is past, the event is delivered at
                its arrival.
            expires_at: Time from which on nothing is delivered.
            id: Id of the event: the same id is the same event. The server makes one if it is
                absent.
            occurred_at: Time that is shown to people. It has no effect on delivery.
            score: The rank among the events of a message: the highest is shown first; 0 if it
                is absent.
            target: The target: what it was done in or for.
            tenant: The tenant of the event and of all its notifications.
            trace: The W3C `traceparent` of what made the event: the spans of its messages link
                to it. By default that of the request.
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

        One event as an object, many as an array (`application/json`), or a stream of any length
        with one event per line (`application/x-ndjson`). Events are answered in order, once they
        are durable.

        An event with a known id is a `duplicate`: nothing happens. An event without an id gets one.
        (Where parts of the store are at several nodes it derives from an `Idempotency-Key` and the
        request.) An invalid event of an array is `rejected` with its problem, and the others are
        accepted.

        Of several nodes the answer waits up to a second until all parts of the store have the event
        in their inboxes, and `applied` says whether they do. With `Prefer: respond-async` it does
        not wait.

        A stream is read as fast as it can be made durable, and each line is answered as an item of
        an array is. Read the answers while you write. A problem of the server (status 429 or 503)
        ends the stream: send the lines without an answer again, with the same ids. With an
        `Idempotency-Key`, events without an id get one that derives from the key, the line number
        and the line's content: sent again they are duplicates.

        CloudEvents 1.0 (the schema `CloudEvent`) are taken in structured mode
        (`application/cloudevents+json`), as a batch (`application/cloudevents-batch+json`), and in
        binary mode (any JSON with the headers `ce-specversion`, `ce-id`, `ce-source` and
        `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
        the two. `time` is its `occurred_at`, `traceparent` its `trace`. A batch is answered as an
        array is.

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

        One event as an object, many as an array (`application/json`), or a stream of any length
        with one event per line (`application/x-ndjson`). Events are answered in order, once they
        are durable.

        An event with a known id is a `duplicate`: nothing happens. An event without an id gets one.
        (Where parts of the store are at several nodes it derives from an `Idempotency-Key` and the
        request.) An invalid event of an array is `rejected` with its problem, and the others are
        accepted.

        Of several nodes the answer waits up to a second until all parts of the store have the event
        in their inboxes, and `applied` says whether they do. With `Prefer: respond-async` it does
        not wait.

        A stream is read as fast as it can be made durable, and each line is answered as an item of
        an array is. Read the answers while you write. A problem of the server (status 429 or 503)
        ends the stream: send the lines without an answer again, with the same ids. With an
        `Idempotency-Key`, events without an id get one that derives from the key, the line number
        and the line's content: sent again they are duplicates.

        CloudEvents 1.0 (the schema `CloudEvent`) are taken in structured mode
        (`application/cloudevents+json`), as a batch (`application/cloudevents-batch+json`), and in
        binary mode (any JSON with the headers `ce-specversion`, `ce-id`, `ce-source` and
        `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
        the two. `time` is its `occurred_at`, `traceparent` its `trace`. A batch is answered as an
        array is.

        Args:
            items: What is sent, one by one.
            answers: For a stream of lines: `all` answers each line; `problems` answers failed
                lines only, with a last line of counts. An array is always answered item by item.
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
        """Get an event and what became of it.

        Returns the event, and its entries counted by channel, outcome and reason, as long as the
        day of its arrival is kept.

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

        Pending notifications end at once. Those in a message that is built and not handed over yet
        are removed from it. `status` says how far the cancel went. An unknown event is not an
        error: the status is `remembered`, and the event is cancelled if it comes within 24 hours.

        Args:
            event: Event id.
            tenant: The tenant whose event is meant; without it the event of any.
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

        Cancels it as `cancel` does, and takes what inboxes were told of it out of them. It stays
        counted as delivered.

        Args:
            event: Event id.
            tenant: The tenant whose event is meant; without it the event of any.
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

        Returns each rule in its order, with what it looked at and what came of it: up to the
        message that carried the event, or to the rule that ended it, as long as the day of the
        event's arrival is kept. What is not stored, such as who was in an audience then, is told as
        it is now, and the result says so. With an event in place of its id: what would become of it
        if it were published now; nothing is published. The body has at most 512 KiB.

        Args:
            event: Id of an event; or a hypothetical event, as it would be published.
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
