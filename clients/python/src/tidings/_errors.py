"""The errors that have no code of their own. Those of the codes of the API are in `errors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class TidingsError(Exception):
    """Any error of this package."""


class APIConnectionError(TidingsError):
    """No whole answer came: the connection could not be made, or it broke.

    The call was tried as often as `retries` says. A change may or may not have been made: a call
    with the same `idempotency_key` makes it once.
    """

    def __init__(self, message: str, *, request_id: str, idempotency_key: str | None) -> None:
        super().__init__(message)
        self.request_id = request_id
        self.idempotency_key = idempotency_key


class APITimeoutError(APIConnectionError):
    """No answer came in time."""


class AnswerError(TidingsError):
    """The answer is not what the API document says. Is the URL that of a tidings server?"""

    def __init__(self, message: str, *, request_id: str) -> None:
        super().__init__(message)
        self.request_id = request_id


class APIError(TidingsError):
    """The server refused the call, or failed.

    Each code of the API is a class in `tidings.errors`. A code that this version does not know, or
    an answer of something between client and server, is an `APIError` itself.
    """

    known_code: ClassVar[str | None] = None

    def __init__(
        self, status: int, problem: Mapping[str, Any], *, request_id: str, retry_after: float | None
    ) -> None:
        def text(name: str) -> str:
            value = problem.get(name)
            return value if isinstance(value, str) else ""

        self.status = status
        self.code = text("code") or None
        self.title = text("title")
        self.detail = text("detail")
        self.hint = text("hint")
        self.type = text("type")
        self.problem = dict(problem)
        self.request_id = request_id
        self.retry_after = retry_after
        said = ": ".join(part for part in (self.detail or self.title, self.hint) if part)
        known = ", ".join(filter(None, (self.code, f"status {status}", f"request {request_id}")))
        super().__init__(f"{said} ({known})" if said else known)
