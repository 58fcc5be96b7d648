"""List, pause and resume types.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

from ... import models
from ..._values import segment
from ..transport import AsyncTransport


class AsyncTypes:
    """List, pause and resume types."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> models.TypesAnswer:
        """List types, categories, digests and channels.

        Returns the configuration in force, as a host needs it to publish and to show a preference
        page.
        """
        answer: models.TypesAnswer = await self._transport.call(
            models.TypesAnswer, "GET", "/v1/types"
        )
        return answer

    async def pause(self, type: str, /, *, idempotency_key: str | None = None) -> None:
        """Pause a type.

        Holds the notifications of the type in a lane of their own, pending ones included. Other
        types are sent as before. A message that is already built and includes the type waits too.

        Args:
            type: Type of the configuration.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "POST",
            f"/v1/types/{segment(type)}/pause",
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def resume(self, type: str, /, *, idempotency_key: str | None = None) -> None:
        """Resume a type.

        Returns waiting notifications to the lanes that apply now, by their time: overdue ones are
        sent at once, a digest sends them at its next slot.

        Args:
            type: Type of the configuration.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "POST",
            f"/v1/types/{segment(type)}/resume",
            changes=True,
            idempotency_key=idempotency_key,
        )
