"""Health, metrics, this document, and the pages of errors.

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

import builtins
from typing import Any

from ... import models
from ..._values import given, segment
from ..transport import AsyncTransport


class AsyncOperating:
    """Health, metrics, this document, and the pages of errors."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def error(self, code: str, /) -> str:
        """Get the page of an error.

        Returns the section of `docs/errors.md` on one code: the title, the status, whether to
        retry, and how to fix the fault. The `type` of a problem is the path of this call. Needs no
        key.

        Args:
            code: Code of an error.
        """
        answer: str = await self._transport.call(str, "GET", f"/errors/{segment(code)}")
        return answer

    async def healthz(self) -> str:
        """Check whether the process is alive.

        Returns 200 as long as the process runs, also while it starts. Needs no key.
        """
        answer: str = await self._transport.call(str, "GET", "/healthz")
        return answer

    async def get_llms_txt(self) -> str:
        """Get a guide for language models.

        Returns a short text in Markdown (llmstxt.org): an introduction, the first calls, the pages
        and all calls of this server. Needs no key.
        """
        answer: str = await self._transport.call(str, "GET", "/llms.txt")
        return answer

    async def metrics(self) -> str:
        """Get the metrics.

        Returns the metrics in Prometheus's text format. Also answers while the store can't be used,
        with the metrics that are available then.
        """
        answer: str = await self._transport.call(str, "GET", "/metrics")
        return answer

    async def readyz(self) -> str:
        """Check whether the server is ready.

        Returns 503 while the server starts, while the store can't be used or read, and while it
        stops. A feed that can't be read is named in an answer of 200, since the server serves.
        Needs no key.
        """
        answer: str = await self._transport.call(str, "GET", "/readyz")
        return answer

    async def nodes(self) -> builtins.list[models.NodeShown]:
        """List the nodes.

        Returns the nodes that share the store, as of their last heartbeat, sorted by name; an empty
        list from a server with a data directory of its own.
        """
        answer: builtins.list[models.NodeShown] = await self._transport.call(
            builtins.list[models.NodeShown], "GET", "/v1/nodes"
        )
        return answer

    async def openapi(self) -> builtins.dict[str, Any]:
        """Get this document.

        Returns the OpenAPI document of this server. The same text is `docs/openapi.json` of the
        release. Needs no key.
        """
        answer: builtins.dict[str, Any] = await self._transport.call(
            builtins.dict[str, Any], "GET", "/v1/openapi.json"
        )
        return answer

    async def search(self, *, q: str) -> models.SearchResult:
        """Search by id or address.

        Returns what has this very id; the message whose tag stands in its mail's
        `X-Tidings-Message`; events with this cancellation key; and recipients with this address on
        any channel, as suppressions compare addresses, also those who had it within `keep`. Without
        a hit the answer has ids that are spelled alike.

        Args:
            q: An id, the tag of a mail, a cancellation key or an address, of 1 to 512 bytes.
        """
        answer: models.SearchResult = await self._transport.call(
            models.SearchResult, "POST", "/v1/search", body=given({"q": q})
        )
        return answer
