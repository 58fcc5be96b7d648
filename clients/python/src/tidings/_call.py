"""One call without its input and output: what is sent, what is tried again, what an answer means."""

from __future__ import annotations

import json
import platform
import random
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

import httpx

from . import _values
from ._errors import AnswerError, APIConnectionError, APIError, APITimeoutError
from .errors import BY_CODE

VERSION = "0.1.0"
USER_AGENT = (
    f"tidings-python/{VERSION} httpx/{httpx.__version__} Python/{platform.python_version()}"
)

BROKEN = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError)
"""Faults of a connection, which another try may mend."""

_TRIED_AGAIN = frozenset({429, 502, 503, 504})
_FIRST_WAIT = 0.25
_LONGEST_WAIT = 8.0
_LONGEST_RETRY_AFTER = 60.0

# httpx reads an answer once the whole request is sent, and the server answers while it reads. What
# is on its way both ways at once has to fit into the buffers of a connection.
_BATCH_LINES = 256
_BATCH_BYTES = 256 * 1024


class VersionWarning(UserWarning):
    """Client and server have different major versions."""


@dataclass
class Known:
    """The version of the server, which all clients of one connection pool look at once."""

    server: str | None = None


@dataclass(frozen=True)
class Options:
    """The settings of a client."""

    url: str
    key: str | None = field(repr=False)
    timeout: float
    retries: int
    headers: Mapping[str, str]
    known: Known = field(default_factory=Known)


@dataclass(frozen=True)
class Call:
    """A request that may be sent several times, each time the same."""

    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None
    timeout: httpx.Timeout
    request_id: str
    idempotency_key: str | None


def new_key() -> str:
    """Makes an `Idempotency-Key`."""
    return str(uuid.uuid4())


def prepare(
    options: Options,
    method: str,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    content: bytes | None = None,
    content_type: str = "application/json",
    accept: str = "application/json",
    changes: bool = False,
    idempotency_key: str | None = None,
    headers: Mapping[str, str | None] | None = None,
    longer: float = 0.0,
) -> Call:
    """Makes the request of a call."""
    request_id = uuid.uuid4().hex
    if changes and idempotency_key is None:
        idempotency_key = new_key()
    sent = {"User-Agent": USER_AGENT, "Accept": accept, "X-Request-Id": request_id}
    if options.key:
        sent["Authorization"] = f"Bearer {options.key}"
    if content is not None:
        sent["Content-Type"] = content_type
    if idempotency_key is not None:
        sent["Idempotency-Key"] = idempotency_key
    sent.update({name: value for name, value in (headers or {}).items() if value is not None})
    sent.update(options.headers)
    pairs = _values.query_of(query or {})
    url = options.url + path + (f"?{urlencode(pairs)}" if pairs else "")
    timeout = httpx.Timeout(options.timeout, read=options.timeout + longer)
    request_id = next(of for name, of in sent.items() if name.lower() == "x-request-id")
    return Call(method, url, sent, content, timeout, request_id, idempotency_key)


def look_at_version(options: Options, headers: Mapping[str, str]) -> None:
    """Compares the server's version with the client's, once."""
    version = headers.get("x-tidings-version")
    if version is None or options.known.server is not None:
        return
    options.known.server = version
    if version.split(".")[0] != VERSION.split(".")[0]:
        text = f"the server is tidings {version}, this client is made for {VERSION}"
        warnings.warn(f"{text}: install the client of the server's version", VersionWarning, 2)


def wait_before(tried: int, retries: int, fault: Exception) -> float | None:
    """Returns the seconds to wait before the next try after so many; none if there is no next."""
    asked = 0.0
    if isinstance(fault, APIError):
        asked = fault.retry_after or 0.0
        if fault.status not in _TRIED_AGAIN or asked > _LONGEST_RETRY_AFTER:
            return None
    if tried > retries:
        return None
    most: float = min(_FIRST_WAIT * 2.0 ** (tried - 1), _LONGEST_WAIT)
    return asked + most * random.uniform(0.5, 1.0)


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Reads `Retry-After`, in seconds or as a date."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def error_of(options: Options, call: Call, response: httpx.Response) -> APIError:
    """Makes the error of an answer whose body was read."""
    try:
        problem = json.loads(response.content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"title": response.reason_phrase, "detail": response.text[:200]}
    server = options.known.server
    if response.status_code in (404, 405) and server not in (None, VERSION):
        versions = f"(The server is tidings {server}, the client {VERSION}.)"
        problem = {**problem, "hint": f"{problem.get('hint', '')} {versions}".strip()}
    request_id = response.headers.get("x-request-id") or call.request_id
    return refusal(response.status_code, problem, request_id, retry_after_of(response.headers))


def refusal(
    status: int, problem: Mapping[str, Any], request_id: str, retry_after: float | None
) -> APIError:
    """Makes the error of a problem, of the class of its code."""
    code = problem.get("code")
    error = BY_CODE.get(code, APIError) if isinstance(code, str) else APIError
    return error(status, problem, request_id=request_id, retry_after=retry_after)


def broken(call: Call, fault: httpx.HTTPError) -> APIConnectionError:
    """Makes the error of a connection that gave no whole answer."""
    late = isinstance(fault, httpx.TimeoutException)
    error = APITimeoutError if late else APIConnectionError
    what = "no answer in time" if late else "no whole answer"
    text = f"{what} from {call.method} {call.url}: {fault or type(fault).__name__}"
    made = error(text, request_id=call.request_id, idempotency_key=call.idempotency_key)
    made.__cause__ = fault
    return made


class Lines:
    """Cuts bytes into lines, at line feeds alone: JSON may hold other ends of lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the lines that are whole now."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        return [line.removesuffix(b"\r") for line in whole]

    def end(self) -> list[bytes]:
        """Returns the last line, if it has no end."""
        return [self._rest] if self._rest else []


@dataclass(frozen=True)
class LiveEvent:
    """An event of a live stream."""

    event: str
    """`hello`, `inbox` or `end`."""
    data: dict[str, Any]
    """Its JSON."""
    id: str | None
    """The cursor after it: give it as `last_event_id` to go on from there."""


class LiveEvents:
    """Makes events out of the lines of a stream of server-sent events."""

    def __init__(self) -> None:
        self._event = ""
        self._data: list[str] = []
        self._id: str | None = None

    def line(self, line: bytes) -> LiveEvent | None:
        """Takes a line; returns the event that it ends."""
        text = line.decode()
        if not text:
            event, data = self._event or "message", "\n".join(self._data)
            self._event, self._data = "", []
            return LiveEvent(event, json.loads(data), self._id) if data else None
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        return None


@dataclass
class Batch:
    """Lines of an upload that go in one request, and how far they were answered."""

    number: int
    first: int
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    answered: int = 0
    ended: bool = False
    problem: Mapping[str, Any] | None = None

    def add(self, item: object) -> bool:
        """Adds a line; returns true once the batch is full."""
        line = _values.to_json(item)
        self.lines.append(line)
        self.size += len(line) + 1
        return len(self.lines) >= _BATCH_LINES or self.size >= _BATCH_BYTES

    def content(self) -> bytes:
        """Returns the body."""
        return b"".join(line + b"\n" for line in self.lines)

    def next(self) -> Batch:
        """Returns the batch after this one."""
        return Batch(self.number + 1, self.first + len(self.lines))

    def is_answered(self) -> bool:
        """Returns true if nothing of it has to be sent again."""
        return self.ended or self.answered >= len(self.lines)

    def take(self, call: Call, line: bytes, counts: Counts) -> Iterator[dict[str, Any]]:
        """Takes a line of the answer, and gives it with its number in the whole upload if it is new."""
        for answer in decoded(call, line):
            if "lines" in answer:
                counts.add(answer)
                self.ended = True
                continue
            self.problem = problem_of_server(answer)
            number = answer.get("line", 0)
            if self.problem is None and number > self.answered:
                self.answered = number
                yield {**answer, "line": self.first + number - 1}

    def fault(self, call: Call) -> Exception:
        """Returns the reason why the answer ended too early."""
        if self.problem is not None:
            status = self.problem["status"]
            return refusal(status, self.problem, call.request_id, None)
        text = f"the answer of {call.url} ended after {self.answered} lines of {len(self.lines)}"
        key = call.idempotency_key
        return APIConnectionError(text, request_id=call.request_id, idempotency_key=key)


def problem_of_server(answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the problem of a line that ended its stream: the server's, not the line's."""
    problem = answer.get("problem")
    if answer.get("status") != "rejected" or not isinstance(problem, dict):
        return None
    return problem if problem.get("status") in _TRIED_AGAIN else None


@dataclass
class Counts:
    """The sums of the last lines of all batches."""

    lines: int = 0
    done: int = 0
    problems: int = 0

    def add(self, answer: Mapping[str, Any]) -> None:
        """Adds the counts of a batch."""
        self.lines += answer.get("lines", 0)
        self.done += answer.get("done", 0)
        self.problems += answer.get("problems", 0)

    def line(self) -> dict[str, int]:
        """Returns the last line of the whole upload."""
        return {"lines": self.lines, "done": self.done, "problems": self.problems}


def decoded(call: Call, line: bytes) -> Iterator[dict[str, Any]]:
    """Gives the object of a line that is not blank."""
    if not line.strip():
        return
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        text = f"{call.method} {call.url} was answered with a line that is no object: {line[:80]!r}"
        raise AnswerError(text, request_id=call.request_id)
    yield value
