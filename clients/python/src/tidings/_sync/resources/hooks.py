"""Services of the host that are called about messages, preferences and addresses.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins

from ... import models
from ..._values import given, segment
from ..transport import Transport


class Hooks:
    """Services of the host that are called about messages, preferences and addresses."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> builtins.list[models.Hook]:
        """List the hooks.

        Returns the services of the host that receive occurrences of messages, preferences and
        addresses, in the order of the configuration. In a cluster each node calls them about its
        own shards: the counts are sums over the nodes that answered.
        """
        answer: builtins.list[models.Hook] = self._transport.call(
            builtins.list[models.Hook], "GET", "/v1/hooks"
        )
        return answer

    def replay(self, name: str, /, *, since: str, idempotency_key: str | None = None) -> None:
        """Replay a hook.

        Sends the occurrences since an instant again, of the kinds that the hook wants, under the
        same ids. Nothing is sent of deleted days, nor of times at which no hook wanted such
        occurrences.

        Args:
            name: Name of the hook.
            since: Time of the first occurrence: an instant (RFC 3339), or a duration before
                now.
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

        Turns a hook on that answered 410 and is off, which a restart does not change. Occurrences
        that it missed are sent.

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
