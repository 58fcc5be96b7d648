"""Databases from which events are read.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins

from ... import models
from ..._values import segment
from ..platform import Stream
from ..transport import AsyncTransport


class AsyncFeeds:
    """Databases from which events are read."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> builtins.list[models.Feed]:
        """List the feeds.

        Returns the feeds of the configuration, by name, with their present state.
        """
        answer: builtins.list[models.Feed] = await self._transport.call(
            builtins.list[models.Feed], "GET", "/v1/feeds"
        )
        return answer

    def parked(
        self,
        name: str,
        /,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.ParkedRow]:
        """List the parked rows of a feed.

        Returns the rows that were refused, newest first by the time when the host wrote them, each
        with its problem.

        Pages are fetched as they are needed.

        Args:
            name: Name of the feed.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.ParkedPage,
            "parked",
            f"/v1/feeds/{segment(name)}/parked",
            {"limit": limit, "cursor": cursor},
        )

    async def parked_page(
        self,
        name: str,
        /,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ParkedPage:
        """List the parked rows of a feed.

        Returns the rows that were refused, newest first by the time when the host wrote them, each
        with its problem.

        This is one page; `parked` gives all.

        Args:
            name: Name of the feed.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.ParkedPage = await self._transport.call(
            models.ParkedPage,
            "GET",
            f"/v1/feeds/{segment(name)}/parked",
            query={"limit": limit, "cursor": cursor},
        )
        return answer

    async def pause(self, name: str, /, *, idempotency_key: str | None = None) -> None:
        """Pause a feed.

        Stops reading from the database until the feed is resumed, also after a restart. Rows wait
        in the table.

        Args:
            name: Name of the feed.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "POST",
            f"/v1/feeds/{segment(name)}/pause",
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def resume(self, name: str, /, *, idempotency_key: str | None = None) -> None:
        """Resume a feed.

        Reads a feed again that was paused, or that stopped by itself.

        Args:
            name: Name of the feed.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "POST",
            f"/v1/feeds/{segment(name)}/resume",
            changes=True,
            idempotency_key=idempotency_key,
        )
