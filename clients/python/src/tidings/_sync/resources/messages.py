"""Messages of channels: history, retry, cancel and resend.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from ... import models
from ..._values import UNSET, Unset, given, segment
from ..platform import Stream
from ..transport import Transport


class Messages:
    """Messages of channels: history, retry, cancel and resend."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        recipient: str | None = None,
        event: str | None = None,
        channel: str | None = None,
        provider: str | None = None,
        type: Sequence[str] | None = None,
        tenant: str | None = None,
        state: Sequence[str] | None = None,
        reason: str | None = None,
        job: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        day: date | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.MessageShown]:
        """List messages.

        Returns messages of all channels but the inbox, newest first by `due`, as long as the day on
        which they were due is kept. `GET /v1/messages/{id}` returns their content.

        Pages are fetched as they are needed.

        Args:
            recipient: Only messages to this recipient.
            event: Only messages with a notification of this event, whether they tell it or left
                it out.
            channel: Only messages on this channel.
            provider: Only messages of which this provider answered the last attempt, as
                `attempts` names it.
            type: Only messages with a notification of this type, whether they tell it or left
                it out. May be repeated.
            tenant: Only messages of this tenant.
            state: Only messages in this state: `planned`, `sending`, `retrying`, `sent`,
                `failed`, `unknown`, `suppressed` or `cancelled`. May be repeated.
            reason: Only messages that were not handed over for this reason.
            job: Only messages of this job.
            from_: Only messages that were due at this time or later.
            to: Only messages that were due before this time.
            day: Only messages that were due on this UTC date; not beside `from` and `to`.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.MessagePage,
            "messages",
            "/v1/messages",
            {
                "recipient": recipient,
                "event": event,
                "channel": channel,
                "provider": provider,
                "type": type,
                "tenant": tenant,
                "state": state,
                "reason": reason,
                "job": job,
                "from": from_,
                "to": to,
                "day": day,
                "limit": limit,
                "cursor": cursor,
            },
        )

    def page(
        self,
        *,
        recipient: str | None = None,
        event: str | None = None,
        channel: str | None = None,
        provider: str | None = None,
        type: Sequence[str] | None = None,
        tenant: str | None = None,
        state: Sequence[str] | None = None,
        reason: str | None = None,
        job: str | None = None,
        from_: datetime | str | None = None,
        to: datetime | str | None = None,
        day: date | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.MessagePage:
        """List messages.

        Returns messages of all channels but the inbox, newest first by `due`, as long as the day on
        which they were due is kept. `GET /v1/messages/{id}` returns their content.

        This is one page; `list` gives all.

        Args:
            recipient: Only messages to this recipient.
            event: Only messages with a notification of this event, whether they tell it or left
                it out.
            channel: Only messages on this channel.
            provider: Only messages of which this provider answered the last attempt, as
                `attempts` names it.
            type: Only messages with a notification of this type, whether they tell it or left
                it out. May be repeated.
            tenant: Only messages of this tenant.
            state: Only messages in this state: `planned`, `sending`, `retrying`, `sent`,
                `failed`, `unknown`, `suppressed` or `cancelled`. May be repeated.
            reason: Only messages that were not handed over for this reason.
            job: Only messages of this job.
            from_: Only messages that were due at this time or later.
            to: Only messages that were due before this time.
            day: Only messages that were due on this UTC date; not beside `from` and `to`.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.MessagePage = self._transport.call(
            models.MessagePage,
            "GET",
            "/v1/messages",
            query={
                "recipient": recipient,
                "event": event,
                "channel": channel,
                "provider": provider,
                "type": type,
                "tenant": tenant,
                "state": state,
                "reason": reason,
                "job": job,
                "from": from_,
                "to": to,
                "day": day,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def cancel_many(
        self,
        *,
        filter: Mapping[str, Any],
        now: bool | Unset | None = UNSET,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.JobMade:
        """Cancel all messages of a filter.

        Makes a job that does with each message what `POST /v1/messages/{id}/cancel` does, as
        `retry` of a filter.

        Args:
            filter: The choice of messages: one parameter of `GET /v1/messages` or more, but
                `limit` and `cursor`. `state` and `type` may be lists.
            now: True = it begins at once; else after ten seconds.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.JobMade = self._transport.call(
            models.JobMade,
            "POST",
            "/v1/messages/cancel",
            query={"dry": dry, "expect": expect},
            body=given({"filter": filter, "now": now}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def resend_many(
        self,
        *,
        filter: Mapping[str, Any],
        now: bool | Unset | None = UNSET,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.JobMade:
        """Resend all messages of a filter.

        Makes a job that does with each message what `POST /v1/messages/{id}/resend` does, as
        `retry` of a filter.

        Args:
            filter: The choice of messages: one parameter of `GET /v1/messages` or more, but
                `limit` and `cursor`. `state` and `type` may be lists.
            now: True = it begins at once; else after ten seconds.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.JobMade = self._transport.call(
            models.JobMade,
            "POST",
            "/v1/messages/resend",
            query={"dry": dry, "expect": expect},
            body=given({"filter": filter, "now": now}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def retry_many(
        self,
        *,
        filter: Mapping[str, Any],
        now: bool | Unset | None = UNSET,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.JobMade:
        """Retry all messages of a filter.

        Makes a job that does with each message what `POST /v1/messages/{id}/retry` does: 1,000 a
        second at most, each once, also if the server stops meanwhile. It begins after ten seconds,
        so that it can be stopped before. With `dry` the answer is 200 and says what it would do.

        Args:
            filter: The choice of messages: one parameter of `GET /v1/messages` or more, but
                `limit` and `cursor`. `state` and `type` may be lists.
            now: True = it begins at once; else after ten seconds.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.JobMade = self._transport.call(
            models.JobMade,
            "POST",
            "/v1/messages/retry",
            query={"dry": dry, "expect": expect},
            body=given({"filter": filter, "now": now}),
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def get(self, message: str, /) -> models.MessageDetails:
        """Get a message.

        Returns a message with its notifications, its attempts, and its history: the entries of its
        lane, the rules that decided its time, the answers of providers.

        Args:
            message: Message id.
        """
        answer: models.MessageDetails = self._transport.call(
            models.MessageDetails, "GET", f"/v1/messages/{segment(message)}"
        )
        return answer

    def cancel(
        self,
        message: str,
        /,
        *,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.OperatedAnswer:
        """Cancel a message.

        Removes all notifications from a message that is surely not handed over; they end as
        `cancelled`, with the reason `message`. `status` is the extent of the cancel.

        Args:
            message: Message id.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.OperatedAnswer = self._transport.call(
            models.OperatedAnswer,
            "POST",
            f"/v1/messages/{segment(message)}/cancel",
            query={"dry": dry, "expect": expect},
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def preview_message(self, message: str, /) -> models.MessagePreview:
        """Preview a message.

        Builds a message again from its notifications, as it looks now: with the objects, the
        recipient's name, locale and zone, and the configuration of today. Of a message that is not
        built yet it is what would be built now. One without notifications has only a channel.
        Nothing is sent or recorded.

        Args:
            message: Message id.
        """
        answer: models.MessagePreview = self._transport.call(
            models.MessagePreview, "GET", f"/v1/messages/{segment(message)}/preview"
        )
        return answer

    def resend(
        self,
        message: str,
        /,
        *,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.OperatedAnswer:
        """Resend a message.

        Sends a `sent`, `unknown` or `failed` message again: the recipient may get it twice. It
        counts as `resent`; delivered notifications stay delivered, whatever the outcome of the
        copy.

        Args:
            message: Message id.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.OperatedAnswer = self._transport.call(
            models.OperatedAnswer,
            "POST",
            f"/v1/messages/{segment(message)}/resend",
            query={"dry": dry, "expect": expect},
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def retry(
        self,
        message: str,
        /,
        *,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.OperatedAnswer:
        """Retry a message.

        Sends a `failed` message again, as it was built; a `retrying` message is tried at once.
        Notifications that the recipient has set to `never` or muted since are left out.

        Args:
            message: Message id.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.OperatedAnswer = self._transport.call(
            models.OperatedAnswer,
            "POST",
            f"/v1/messages/{segment(message)}/retry",
            query={"dry": dry, "expect": expect},
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def preview(
        self,
        recipient: str,
        /,
        *,
        channel: str | None = None,
        lane: str | None = None,
    ) -> models.Preview:
        """Preview what a recipient gets next.

        Builds the message of a channel whose lane is due first, or of the named lane, with its
        pending entries and the configuration in force. Without `channel` it is the mail, as `mail`.
        Scheduled entries are in no lane yet, and are counted separately. Nothing is sent or
        recorded.

        Args:
            recipient: Recipient id.
            channel: A channel of the configuration other than `inbox`
            lane: Name of a lane, as `pending` lists it.
        """
        answer: models.Preview = self._transport.call(
            models.Preview,
            "GET",
            f"/v1/recipients/{segment(recipient)}/preview",
            query={"channel": channel, "lane": lane},
        )
        return answer
