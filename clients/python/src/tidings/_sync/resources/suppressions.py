"""Addresses to which nothing is sent.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from datetime import datetime

from ... import models, params
from ..._values import UNSET, Unset, given, segment
from ..platform import Stream
from ..transport import Transport


class Suppressions:
    """Addresses to which nothing is sent."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        channel: str | None = None,
        recipient: str | None = None,
        reason: params.SuppressionReason | None = None,
        since: datetime | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.SuppressedAddress]:
        """List suppressed addresses.

        Returns the suppressed addresses, sorted by channel and address, without those whose
        suppression has expired.

        Pages are fetched as they are needed.

        Args:
            channel: Only addresses of this channel.
            recipient: Only addresses that this recipient has now.
            reason: Only addresses that are suppressed for this reason.
            since: Only addresses that are suppressed since this time or a later one.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.SuppressionPage,
            "suppressions",
            "/v1/suppressions",
            {
                "channel": channel,
                "recipient": recipient,
                "reason": reason,
                "since": since,
                "limit": limit,
                "cursor": cursor,
            },
        )

    def page(
        self,
        *,
        channel: str | None = None,
        recipient: str | None = None,
        reason: params.SuppressionReason | None = None,
        since: datetime | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.SuppressionPage:
        """List suppressed addresses.

        Returns the suppressed addresses, sorted by channel and address, without those whose
        suppression has expired.

        This is one page; `list` gives all.

        Args:
            channel: Only addresses of this channel.
            recipient: Only addresses that this recipient has now.
            reason: Only addresses that are suppressed for this reason.
            since: Only addresses that are suppressed since this time or a later one.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.SuppressionPage = self._transport.call(
            models.SuppressionPage,
            "GET",
            "/v1/suppressions",
            query={
                "channel": channel,
                "recipient": recipient,
                "reason": reason,
                "since": since,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def get(self, channel: str, address: str, /) -> models.SuppressedAddress:
        """Get a suppressed address.

        Returns the reason, the beginning and the end of a suppression.

        Args:
            channel: Channel.
            address: Address on the channel.
        """
        answer: models.SuppressedAddress = self._transport.call(
            models.SuppressedAddress,
            "GET",
            f"/v1/suppressions/{segment(channel)}/{segment(address)}",
        )
        return answer

    def add(
        self,
        channel: str,
        address: str,
        /,
        *,
        expires_at: datetime | str | Unset | None = UNSET,
        reason: params.SuppressionReason | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> None:
        """Suppress an address.

        Stops all messages to the address on this channel, whichever recipient has it: due
        notifications end as `skipped`, with the reason `suppressed`. Replaces an earlier
        suppression of the address. The body is optional.

        Args:
            channel: Channel.
            address: Address on the channel.
            expires_at: Time at which the suppression ends; absent = never.
            reason: The reason; `manual` if absent.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "PUT",
            f"/v1/suppressions/{segment(channel)}/{segment(address)}",
            body=given({"expires_at": expires_at, "reason": reason}) or UNSET,
            changes=True,
            idempotency_key=idempotency_key,
        )

    def remove(
        self,
        channel: str,
        address: str,
        /,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Lift the suppression of an address.

        Allows messages to the address again. Skipped notifications do not come back. An address
        that is not suppressed is not an error.

        Args:
            channel: Channel.
            address: Address on the channel.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "DELETE",
            f"/v1/suppressions/{segment(channel)}/{segment(address)}",
            changes=True,
            idempotency_key=idempotency_key,
        )
