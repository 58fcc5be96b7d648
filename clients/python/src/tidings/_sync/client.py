"""The client itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

import httpx

from .._call import Options
from .resources import Resources
from .transport import Transport


class Tidings(Resources):
    """A client of a tidings server, on one connection pool. Make one, and use it from everywhere.

    Args:
        url: Where the server is; `TIDINGS_URL` in the environment if absent.
        key: An API key, `TIDINGS_KEY` in the environment if absent; or the token of an end user,
            which opens `me` alone.
        timeout: Seconds to wait for a connection, and for each part of an answer.
        retries: How often a call is sent again after an answer 429, 502, 503 or 504, and after a
            connection that broke or took too long.
        headers: Headers of every request, beside those of the client.
        http_client: A client of httpx to use. Whoever made it closes it.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        url = url or os.environ.get("TIDINGS_URL")
        if not url:
            raise ValueError("the address of the server is missing: pass `url`, or set TIDINGS_URL")
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is no URL of a server: it begins with http:// or https://")
        options = Options(
            url=url.rstrip("/"),
            key=key or os.environ.get("TIDINGS_KEY"),
            timeout=timeout,
            retries=retries,
            headers=dict(headers or {}),
        )
        self._closes = http_client is None
        super().__init__(Transport(options, http_client or httpx.Client()))

    def with_options(
        self,
        *,
        key: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Tidings:
        """Returns a client with other settings on the same connection pool. It needs no closing."""
        given: dict[str, Any] = {"key": key, "timeout": timeout, "retries": retries}
        changed = {name: value for name, value in given.items() if value is not None}
        options = self._transport.options
        if headers is not None:
            changed["headers"] = {**options.headers, **headers}
        client = object.__new__(type(self))
        client._closes = False
        transport = Transport(replace(options, **changed), self._transport.http)
        Resources.__init__(client, transport)
        return client

    @property
    def server_version(self) -> str | None:
        """The version of the server; known after the first answer."""
        return self._transport.options.known.server

    def close(self) -> None:
        """Closes the connections."""
        if self._closes:
            self._transport.http.close()

    def __enter__(self) -> Tidings:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._transport.options.url!r})"
