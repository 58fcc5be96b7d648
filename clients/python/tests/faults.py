"""A proxy that goes wrong as it is told, and a server that answers as it is told."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Request:
    """A request as it came."""

    head: str
    headers: dict[str, str]
    body: bytes
    raw: bytes

    @property
    def line(self) -> str:
        return self.head.removesuffix(" HTTP/1.1")

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class _Listener:
    """Takes connections, each in a thread."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        self.requests: list[Request] = []
        self.connections = 0

    def __enter__(self) -> Any:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads:
            thread.join()

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._open.add(connection)
            self._start(lambda taken=connection: self._serve(taken))  # type: ignore[misc]

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while self._answer(connection):
                    pass
            except OSError:
                pass
        self._open.discard(connection)

    def _answer(self, connection: socket.socket) -> bool:
        """Answers one request; false ends the connection."""
        raise NotImplementedError

    def _read(self, connection: socket.socket, *, half: bool = False) -> Request | None:
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return None
            data += part
        text, body = data.split(b"\r\n\r\n", 1)
        head, *rows = text.decode().split("\r\n")
        headers = {row.split(": ")[0].lower(): row.split(": ", 1)[1] for row in rows}
        length = int(headers.get("content-length", 0))
        while len(body) < (length // 2 if half else length):
            part = connection.recv(65536)
            if not part:
                return None
            body += part
        request = Request(head, headers, body, text + b"\r\n\r\n" + body)
        self.requests.append(request)
        return request


def answer(status: int, body: Any = None, headers: dict[str, str] | None = None) -> bytes:
    """Writes an answer."""
    content = (
        b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    )
    kind = "application/problem+json" if status >= 400 else "application/json"
    given = {"Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})}
    head = f"HTTP/1.1 {status} Answer\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return head.encode() + b"\r\n" + content


def problem(status: int, code: str, headers: dict[str, str] | None = None) -> bytes:
    """Writes an answer that is a problem."""
    body = {
        "type": f"/errors/{code}",
        "title": "Title.",
        "status": status,
        "detail": "Detail.",
        "code": code,
        "hint": "Hint.",
    }
    return answer(status, body, headers)


class Faults(_Listener):
    """A proxy. Each request takes the next of `script`; without one it goes through."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._target = urlsplit(url)
        self.script: deque[str | bytes] = deque()
        self.late = threading.Event()

    def _answer(self, connection: socket.socket) -> bool:
        fault = self.script[0] if self.script else ""
        if fault == "cut before":
            if not connection.recv(1):
                return False
            self.script.popleft()
            return False
        request = self._read(connection, half=fault == "cut in the request")
        if request is None:
            return False
        if self.script:
            self.script.popleft()
        if fault == "cut in the request":
            self._forward(request.raw[: len(request.raw) - len(request.body) // 2 - 1], whole=False)
            return False
        if isinstance(fault, bytes):
            connection.sendall(fault)
            return True
        answered = self._forward(request.raw)
        if fault == "cut after":
            return False
        if fault == "cut in the answer":
            connection.sendall(answered[: -len(answered.split(b"\r\n\r\n", 1)[1]) // 2])
            return False
        if fault == "slow":
            self.late.wait()
        connection.sendall(answered)
        return False

    def _forward(self, raw: bytes, *, whole: bool = True) -> bytes:
        host, port = self._target.hostname, self._target.port
        with socket.create_connection((host or "", port or 0)) as upstream:
            upstream.sendall(raw.replace(b"Connection: keep-alive", b"Connection: close"))
            answered = b""
            while whole and (part := upstream.recv(65536)):
                answered += part
            return answered


class Stub(_Listener):
    """A server whose answers are given beforehand; the last one is given again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: deque[bytes] = deque()

    def answers_with(self, *answers: bytes | Iterable[bytes]) -> None:
        for one in answers:
            self.answers.append(one if isinstance(one, bytes) else b"".join(one))

    def _answer(self, connection: socket.socket) -> bool:
        if self._read(connection) is None:
            return False
        given = self.answers.popleft() if len(self.answers) > 1 else self.answers[0]
        connection.sendall(given)
        return b"Connection: close" not in given
