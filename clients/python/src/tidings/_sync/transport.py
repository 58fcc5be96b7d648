"""Sends calls, tries them again where that is safe, and reads their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from .. import _call, _values
from .._call import Batch, Call, Counts, Lines, LiveEvent, LiveEvents, Options
from .._errors import AnswerError
from .._model import converter
from . import platform
from .platform import Items, Stream, closing


class Transport:
    """The one connection pool of a client, and its settings."""

    def __init__(self, options: Options, http: httpx.Client) -> None:
        self.options = options
        self.http = http

    def call(
        self,
        answer: Any,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = _values.UNSET,
        changes: bool = False,
        idempotency_key: str | None = None,
        longer: float = 0.0,
    ) -> Any:
        """Makes a call and returns its answer as an object of the type given."""
        call = _call.prepare(
            self.options,
            method,
            path,
            query=query,
            content=None if body is _values.UNSET else _values.to_json(body),
            accept="text/plain, application/problem+json" if answer is str else "application/json",
            changes=changes,
            idempotency_key=idempotency_key,
            longer=longer,
        )
        response = self._send(call)
        if response.status_code in (204, 304):
            return None
        if answer is str:
            return response.text
        try:
            return converter(answer)(json.loads(response.content))
        except ValueError as fault:
            text = f"{call.method} {call.url} was answered with no JSON: {response.text[:80]!r}"
            raise AnswerError(text, request_id=call.request_id) from fault

    def pages(
        self, answer: Any, items: str, path: str, query: Mapping[str, Any]
    ) -> Stream[Any]:
        """Gives the items of all pages, from the page of `cursor` on."""
        query = dict(query)
        while True:
            page = self.call(answer, "GET", path, query=query)
            for item in getattr(page, items):
                yield item
            if page.next is None:
                return
            query["cursor"] = page.next

    def lines(self, path: str, query: Mapping[str, Any]) -> Stream[Any]:
        """Gives the lines of an answer of `application/x-ndjson`."""
        call = _call.prepare(self.options, "GET", path, query=query, accept="application/x-ndjson")
        with closing(self._lines_of(call)) as lines:
            for line in lines:
                for value in _call.decoded(call, line):
                    yield value

    def live(
        self, path: str, query: Mapping[str, Any], last_event_id: str | None
    ) -> Stream[LiveEvent]:
        """Gives the events of a live stream, until the server closes it."""
        headers = {"Last-Event-ID": last_event_id}
        call = _call.prepare(
            self.options,
            "GET",
            path,
            query=query,
            accept="text/event-stream",
            headers=headers,
            longer=30.0,
        )
        events = LiveEvents()
        with closing(self._lines_of(call)) as lines:
            for line in lines:
                event = events.line(line)
                if event is not None:
                    yield event

    def data(self, path: str, query: Mapping[str, Any]) -> Stream[bytes]:
        """Gives the bytes of an answer, in parts."""
        call = _call.prepare(self.options, "GET", path, query=query, accept="*/*")
        response = self._send(call, stream=True)
        try:
            for part in response.iter_bytes():
                yield part
        except _call.BROKEN as fault:
            raise _call.broken(call, fault) from fault
        finally:
            response.close()

    def upload(
        self,
        answer: Any,
        path: str,
        items: Items[Any],
        *,
        query: Mapping[str, Any],
        idempotency_key: str | None = None,
    ) -> Stream[Any]:
        """Sends items as lines, and gives the answers to them.

        The lines go in batches, each with its own key: a try that broke is made again with the same
        lines, and what was answered already is not given twice.
        """
        key = idempotency_key or _call.new_key()
        convert = converter(answer)
        counts = Counts()
        with closing(_batches(items)) as batches:
            for batch in batches:
                with closing(self._upload(path, batch, query, key, counts)) as lines:
                    for line in lines:
                        yield convert(line)
        if query.get("answers") == "problems":
            yield convert(counts.line())

    def _upload(
        self, path: str, batch: Batch, query: Mapping[str, Any], key: str, counts: Counts
    ) -> Stream[dict[str, Any]]:
        call = _call.prepare(
            self.options,
            "POST",
            path,
            query=query,
            content=batch.content(),
            content_type="application/x-ndjson",
            accept="application/x-ndjson",
            changes=True,
            idempotency_key=f"{key}-{batch.number}",
        )
        tried = 0
        while not batch.is_answered():
            tried += 1
            fault: Exception
            try:
                response = self._try(call, stream=True)
                if response.is_success:
                    with closing(self._lines_in(response)) as lines:
                        for line in lines:
                            for new in batch.take(call, line, counts):
                                yield new
                    fault = batch.fault(call)
                else:
                    fault = _call.error_of(self.options, call, response)
            except _call.BROKEN as error:
                fault = _call.broken(call, error)
            if not batch.is_answered():
                self._pause(tried, fault)

    def _lines_of(self, call: Call) -> Stream[bytes]:
        response = self._send(call, stream=True)
        try:
            with closing(self._lines_in(response)) as lines:
                for line in lines:
                    yield line
        except _call.BROKEN as fault:
            raise _call.broken(call, fault) from fault

    def _lines_in(self, response: httpx.Response) -> Stream[bytes]:
        lines = Lines()
        try:
            for part in response.iter_bytes():
                for line in lines.feed(part):
                    yield line
            for line in lines.end():
                yield line
        finally:
            response.close()

    def _send(self, call: Call, *, stream: bool = False) -> httpx.Response:
        """Sends a call until it is answered with success, or must not be sent again."""
        tried = 0
        while True:
            tried += 1
            fault: Exception
            try:
                response = self._try(call, stream)
                if response.is_success or response.status_code == 304:
                    return response
                fault = _call.error_of(self.options, call, response)
            except _call.BROKEN as error:
                fault = _call.broken(call, error)
            self._pause(tried, fault)

    def _try(self, call: Call, stream: bool) -> httpx.Response:
        request = self.http.build_request(
            call.method, call.url, headers=call.headers, content=call.content, timeout=call.timeout
        )
        response = self.http.send(request, stream=True, follow_redirects=False)
        try:
            _call.look_at_version(self.options, response.headers)
            if not stream or not response.is_success:
                response.read()
        except BaseException:
            response.close()
            raise
        return response

    def _pause(self, tried: int, fault: Exception) -> None:
        """Waits before the next try, or raises the fault if there is none."""
        pause = _call.wait_before(tried, self.options.retries, fault)
        if pause is None:
            raise fault
        platform.sleep(pause)


def _batches(items: Items[Any]) -> Stream[Batch]:
    batch = Batch(1, 1)
    with closing(platform.each(items)) as each:
        for item in each:
            if batch.add(item):
                yield batch
                batch = batch.next()
    if batch.lines:
        yield batch
