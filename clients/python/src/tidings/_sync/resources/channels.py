"""Pause and resume channels.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from ..._values import segment
from ..transport import Transport


class Channels:
    """Pause and resume channels."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def pause(self, channel: str, /, *, idempotency_key: str | None = None) -> None:
        """Pause a channel.

        Closes no lane of the channel and sends no message on it, retries included, until it is
        resumed. A paused inbox does not show new notifications.

        Args:
            channel: Channel.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "POST",
            f"/v1/channels/{segment(channel)}/pause",
            changes=True,
            idempotency_key=idempotency_key,
        )

    def resume(self, channel: str, /, *, idempotency_key: str | None = None) -> None:
        """Resume a channel.

        Sends due lanes at once, one message per lane.

        Args:
            channel: Channel.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "POST",
            f"/v1/channels/{segment(channel)}/resume",
            changes=True,
            idempotency_key=idempotency_key,
        )
