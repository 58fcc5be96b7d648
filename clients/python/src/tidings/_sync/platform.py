"""What the synchronous client has of its own. The asynchronous one has a file of this name."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from contextlib import closing as closing
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Stream: TypeAlias = Generator[T, None, None]
"""Values that come one by one. Leaving early? `contextlib.closing` closes the connection."""

Items: TypeAlias = "Iterable[T]"
"""What is sent one by one."""

sleep = time.sleep


def each(items: Items[T]) -> Stream[T]:
    """Gives each of the items."""
    yield from items
