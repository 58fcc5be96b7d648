"""Messages of channels: history, retry, cancel and resend.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from datetime import date

from ... import models
from ..._values import segment
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
        channel: str | None = None,
        state: str | None = None,
        type: str | None = None,
        tenant: str | None = None,
        day: date | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.MessageShown]:
        """List messages.

        Returns messages of all channels but the inbox, as long as the day on which they were built
        is kept: first those that are not built yet, then by that day, newest first. `GET
        /v1/messages/{id}` returns their content.

        Pages are fetched as they are needed.

        Args:
            recipient: Only messages to this recipient.
            channel: Only messages on this channel.
            state: Only messages in this state: `planned`, `sending`, `retrying`, `sent`,
                `failed`, `unknown`, `suppressed` or `cancelled`.
            type: Only messages with a notification of this type.
            tenant: Only messages of this tenant.
            day: Only messages that were built on this UTC date.
            limit: Maximum number of messages; 50 if absent.
            cursor: Start of the page: `next` of the previous page.
        """
        return self._transport.pages(
            models.MessagePage,
            "messages",
            "/v1/messages",
            {
                "recipient": recipient,
                "channel": channel,
                "state": state,
                "type": type,
                "tenant": tenant,
                "day": day,
                "limit": limit,
                "cursor": cursor,
            },
        )

    def page(
        self,
        *,
        recipient: str | None = None,
        channel: str | None = None,
        state: str | None = None,
        type: str | None = None,
        tenant: str | None = None,
        day: date | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.MessagePage:
        """List messages.

        Returns messages of all channels but the inbox, as long as the day on which they were built
        is kept: first those that are not built yet, then by that day, newest first. `GET
        /v1/messages/{id}` returns their content.

        This is one page; `list` gives all.

        Args:
            recipient: Only messages to this recipient.
            channel: Only messages on this channel.
            state: Only messages in this state: `planned`, `sending`, `retrying`, `sent`,
                `failed`, `unknown`, `suppressed` or `cancelled`.
            type: Only messages with a notification of this type.
            tenant: Only messages of this tenant.
            day: Only messages that were built on this UTC date.
            limit: Maximum number of messages; 50 if absent.
            cursor: Start of the page: `next` of the previous page.
        """
        answer: models.MessagePage = self._transport.call(
            models.MessagePage,
            "GET",
            "/v1/messages",
            query={
                "recipient": recipient,
                "channel": channel,
                "state": state,
                "type": type,
                "tenant": tenant,
                "day": day,
                "limit": limit,
                "cursor": cursor,
            },
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
        idempotency_key: str | None = None,
    ) -> models.OperatedAnswer:
        """Cancel a message.

        Removes all notifications from a message that is surely not handed over; they end as
        `cancelled`, with the reason `message`. `status` is the extent of the cancel.

        Args:
            message: Message id.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.OperatedAnswer = self._transport.call(
            models.OperatedAnswer,
            "POST",
            f"/v1/messages/{segment(message)}/cancel",
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def resend(
        self,
        message: str,
        /,
        *,
        idempotency_key: str | None = None,
    ) -> models.OperatedAnswer:
        """Resend a message.

        Sends a `sent`, `unknown` or `failed` message again: the recipient may get it twice. It
        counts as `resent`; delivered notifications stay delivered, whatever the outcome of the
        copy.

        Args:
            message: Message id.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.OperatedAnswer = self._transport.call(
            models.OperatedAnswer,
            "POST",
            f"/v1/messages/{segment(message)}/resend",
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def retry(
        self,
        message: str,
        /,
        *,
        idempotency_key: str | None = None,
    ) -> models.OperatedAnswer:
        """Retry a message.

        Sends a `failed` message again, as it was built; a `retrying` message is tried at once.
        Notifications that the recipient has set to `never` or muted since are left out.

        Args:
            message: Message id.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.OperatedAnswer = self._transport.call(
            models.OperatedAnswer,
            "POST",
            f"/v1/messages/{segment(message)}/retry",
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def preview(self, recipient: str, /, *, lane: str | None = None) -> models.Preview:
        """Preview the mail that a recipient gets next.

        Builds the mail of the lane that is due first, or of the named lane, with its pending
        entries and the configuration in force. Scheduled entries are in no lane yet, and are
        counted separately. Nothing is sent or recorded.

        Args:
            recipient: Recipient id.
            lane: Name of a lane, as `pending` lists it.
        """
        answer: models.Preview = self._transport.call(
            models.Preview,
            "GET",
            f"/v1/recipients/{segment(recipient)}/preview",
            query={"lane": lane},
        )
        return answer
