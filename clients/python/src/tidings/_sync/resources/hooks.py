"""Services of the host that are told what became of messages.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins

from ... import models
from ..._values import given, segment
from ..transport import Transport


class Hooks:
    """Services of the host that are told what became of messages."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> builtins.list[models.Hook]:
        """List the hooks.

        The services of the host that are told what became of messages, preferences and addresses,
        in the order of the configuration. Of several nodes, each tells what its parts of the store
        decided: the counts are of those that answered.
        """
        answer: builtins.list[models.Hook] = self._transport.call(
            builtins.list[models.Hook], "GET", "/v1/hooks"
        )
        return answer

    def replay(self, name: str, /, *, since: str, idempotency_key: str | None = None) -> None:
        """Replay a hook.

        What occurred since an instant, of the kinds that the hook wants, is sent again under the
        same ids. Nothing is sent of days that were deleted, nor of times at which no hook wanted
        it.

        Args:
            name: Name of the hook.
            since: What occurred since then: a time (RFC 3339), or a duration until now.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "POST",
            f"/v1/hooks/{segment(name)}/replay",
            body=given({"since": since}),
            changes=True,
            idempotency_key=idempotency_key,
        )

    def resume(self, name: str, /, *, idempotency_key: str | None = None) -> None:
        """Resume a hook.

        A hook that answered 410 is off, and stays so over a restart. From now on it is on: what it
        was not told is told.

        Args:
            name: Name of the hook.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        self._transport.call(
            None,
            "POST",
            f"/v1/hooks/{segment(name)}/resume",
            changes=True,
            idempotency_key=idempotency_key,
        )
