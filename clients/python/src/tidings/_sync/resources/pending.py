"""Pending notifications, and sending them now.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from ... import models
from ..._values import UNSET, Unset, given, segment
from ..transport import Transport


class Pending:
    """Pending notifications, and sending them now."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def flush(
        self,
        recipient: str,
        /,
        *,
        channel: str | Unset | None = UNSET,
        key: str | Unset | None = UNSET,
        lane: str | Unset | None = UNSET,
        tenant: str | None = None,
        dry: bool | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.Flushed:
        """Send a recipient's pending notifications now.

        Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused
        channel are sent when the channel is resumed; notifications of a paused type and scheduled
        ones stay. The body is optional.

        Args:
            recipient: Recipient id.
            channel: Only lanes of this channel.
            key: Only lanes with this batch key; empty = lanes without one.
            lane: Only lanes of this name.
            tenant: Only entries of this tenant and those without a tenant, as with a token with
                this claim.
            dry: Says what the call would do, and does nothing: the answer is 200 with what it
                would answer, `dry` and `concerns`. Nothing changes, and an `Idempotency-Key` is not
                looked at.
            expect: The most people that the call may touch: with more it is refused with
                `grew`, and nothing changes.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: models.Flushed = self._transport.call(
            models.Flushed,
            "POST",
            f"/v1/recipients/{segment(recipient)}/flush",
            query={"tenant": tenant, "dry": dry, "expect": expect},
            body=given({"channel": channel, "key": key, "lane": lane}) or UNSET,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def get(self, recipient: str, /, *, tenant: str | None = None) -> models.Pending:
        """List a recipient's pending notifications.

        Returns open lanes with their deadlines and notifications, messages that wait for a retry,
        and scheduled events, in the reader's view.

        Args:
            recipient: Recipient id.
            tenant: Only entries of this tenant and those without a tenant, as with a token with
                this claim.
        """
        answer: models.Pending = self._transport.call(
            models.Pending,
            "GET",
            f"/v1/recipients/{segment(recipient)}/pending",
            query={"tenant": tenant},
        )
        return answer
