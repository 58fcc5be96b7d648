"""What the asynchronous client has of its own. The synchronous one has a file of this name."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import aclosing
from typing import TypeAlias, TypeVar

import anyio

T = TypeVar("T")

Stream: TypeAlias = AsyncGenerator[T, None]
"""Values that come one by one. Leaving early? `contextlib.aclosing` closes the connection."""

Items: TypeAlias = "AsyncIterable[T] | Iterable[T]"
"""What is sent one by one."""

sleep = anyio.sleep
closing = aclosing


async def each(items: Items[T]) -> Stream[T]:
    """Gives each of the items."""
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
