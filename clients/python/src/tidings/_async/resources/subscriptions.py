"""Topics that recipients follow.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Literal

from ... import models, params
from ..._values import segment
from ..platform import Items, Stream
from ..transport import AsyncTransport


class AsyncSubscriptions:
    """Topics that recipients follow."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, recipient: str, /) -> models.Subscriptions:
        """List a recipient's subscriptions.

        Returns all topics, sorted by bytes.

        Args:
            recipient: Recipient id.
        """
        answer: models.Subscriptions = await self._transport.call(
            models.Subscriptions, "GET", f"/v1/recipients/{segment(recipient)}/subscriptions"
        )
        return answer

    async def follow(
        self,
        recipient: str,
        topic: str,
        /,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Follow a topic.

        Subscribes the recipient to the topic and everything below it: a follower of `artist` is
        notified of events to `artist/42`. Slashes in the path may be encoded or not.

        Args:
            recipient: Recipient id.
            topic: Topic; slashes may be encoded or not.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "PUT",
            f"/v1/recipients/{segment(recipient)}/subscriptions/{segment(topic)}",
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def unfollow(
        self,
        recipient: str,
        topic: str,
        /,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Unfollow a topic.

        Removes the subscription. Earlier events are not cancelled. A topic that the recipient does
        not follow is not an error.

        Args:
            recipient: Recipient id.
            topic: Topic; slashes may be encoded or not.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        await self._transport.call(
            None,
            "DELETE",
            f"/v1/recipients/{segment(recipient)}/subscriptions/{segment(topic)}",
            changes=True,
            idempotency_key=idempotency_key,
        )

    async def follow_many(
        self,
        items: Sequence[params.Subscription],
        /,
        *,
        idempotency_key: str | None = None,
    ) -> builtins.list[models.ItemAnswer]:
        """Follow and unfollow many topics.

        Takes an array of at most 10,000 subscriptions, or a stream of any length with one per line;
        `unsubscribe` removes one. Each item is accepted or rejected by itself; the answers are in
        order.

        Args:
            items: What is sent, in its order.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        answer: builtins.list[models.ItemAnswer] = await self._transport.call(
            builtins.list[models.ItemAnswer],
            "POST",
            "/v1/subscriptions",
            body=items,
            changes=True,
            idempotency_key=idempotency_key,
        )
        return answer

    def follow_stream(
        self,
        items: Items[params.Subscription],
        /,
        *,
        answers: Literal["all", "problems"] | None = None,
        idempotency_key: str | None = None,
    ) -> Stream[models.LineAnswer]:
        """Follow and unfollow many topics.

        Takes an array of at most 10,000 subscriptions, or a stream of any length with one per line;
        `unsubscribe` removes one. Each item is accepted or rejected by itself; the answers are in
        order.

        Args:
            items: What is sent, one by one.
            answers: For a stream of lines: `all` answers each line; `problems` answers only
                failed lines, and adds a last line of counts. An array is always answered item by
                item.
            idempotency_key: Names the call: one with the same key is made once. Made by itself
                if absent.
        """
        return self._transport.upload(
            models.LineAnswer,
            "/v1/subscriptions",
            items,
            query={"answers": answers},
            idempotency_key=idempotency_key,
        )

    def followers(
        self,
        topic: str,
        /,
        *,
        tenant: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Stream[models.Follower]:
        """List the followers of a topic.

        Returns the recipients who follow this very topic, not those of topics above or below it,
        sorted by the bytes of their ids. A topic that nobody follows has none.

        Pages are fetched as they are needed.

        Args:
            topic: Topic, with slashes encoded.
            tenant: The followers of this tenant's topic; if absent, those of the topic without
                a tenant.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        return self._transport.pages(
            models.FollowersBody,
            "followers",
            f"/v1/topics/{segment(topic)}/followers",
            {"tenant": tenant, "limit": limit, "cursor": cursor},
        )

    async def followers_page(
        self,
        topic: str,
        /,
        *,
        tenant: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.FollowersBody:
        """List the followers of a topic.

        Returns the recipients who follow this very topic, not those of topics above or below it,
        sorted by the bytes of their ids. A topic that nobody follows has none.

        This is one page; `followers` gives all.

        Args:
            topic: Topic, with slashes encoded.
            tenant: The followers of this tenant's topic; if absent, those of the topic without
                a tenant.
            limit: Maximum number of rows; 50 if absent.
            cursor: Start of the page: `next` of the previous page of this list with this
                filter.
        """
        answer: models.FollowersBody = await self._transport.call(
            models.FollowersBody,
            "GET",
            f"/v1/topics/{segment(topic)}/followers",
            query={"tenant": tenant, "limit": limit, "cursor": cursor},
        )
        return answer
