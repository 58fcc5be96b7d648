"""Situation 15: a connection that breaks, a server that is older or newer, patches, descriptors."""

from __future__ import annotations

import asyncio
import os
import random
import uuid
import warnings
from typing import Any

import pytest
from conftest import Server
from faults import Faults, Stub, answer, problem

import tidings
from tidings import UNSET, AsyncTidings, Tidings, errors, models

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
ACCEPTED = {"id": "e1", "status": "accepted", "notifications": 1, "suppressed": 0, "warnings": []}


def publish(kind: str, url: str, key: str, to: str, **settings: Any) -> models.PublishedEvent:
    """Publishes an event without an id."""
    fields: Any = {"type": "comment", "object": {"id": "note-7"}, "to": {"recipients": [to]}}
    if kind == "sync":
        with Tidings(url, key, **settings) as client:
            return client.events.publish(**fields)

    async def asynchronously() -> models.PublishedEvent:
        async with AsyncTidings(url, key, **settings) as client:
            return await client.events.publish(**fields)

    return asyncio.run(asynchronously())


@pytest.fixture
def reader(client: Tidings) -> str:
    """A recipient whose inbox is empty."""
    name = f"reader-{uuid.uuid4().hex[:8]}"
    client.recipients.upsert(name)
    return name


def told(client: Tidings, reader: str) -> list[str]:
    """The events that an inbox tells."""
    return [
        item.event for group in client.inbox.list(reader, grouped=False) for item in group.items
    ]


@BOTH
@pytest.mark.parametrize(
    "fault", ["cut before", "cut in the request", "cut after", "cut in the answer"]
)
def test_situation_15_one_event_where_the_connection_breaks(
    kind: str,
    fault: str,
    server: Server,
    client: Tidings,
    faults: Faults,
    reader: str,
    pauses: list[float],
) -> None:
    faults.script.append(fault)
    published = publish(kind, faults.url, server.key, reader)
    assert told(client, reader) == [published.id]
    keys = {of.headers["idempotency-key"] for of in faults.requests}
    ids = {of.headers["x-request-id"] for of in faults.requests}
    assert len(keys) == len(ids) == 1, "all tries are one call"
    assert len(pauses) == 1


@BOTH
@pytest.mark.parametrize(
    "refused",
    [
        problem(429, "too_busy", {"Retry-After": "7"}),
        problem(503, "stopping", {"Retry-After": "5"}),
        answer(502, b"<html>Bad Gateway</html>"),
        answer(504, b""),
    ],
    ids=["429", "503", "502", "504"],
)
def test_situation_15_one_event_where_the_server_is_busy(
    kind: str,
    refused: bytes,
    server: Server,
    client: Tidings,
    faults: Faults,
    reader: str,
    pauses: list[float],
) -> None:
    faults.script.extend([refused, "cut after", refused])
    published = publish(kind, faults.url, server.key, reader)
    assert told(client, reader) == [published.id]
    assert len(faults.requests) == 4
    asked = {b"7": 7.0, b"5": 5.0}.get(refused.partition(b"Retry-After: ")[2][:1], 0.0)
    for pause, wait, most in zip(pauses, (asked, 0.0, asked), (0.25, 0.5, 1.0), strict=True):
        assert wait + most / 2 <= pause <= wait + most


@BOTH
def test_situation_15_one_event_where_the_answer_is_slow(
    kind: str,
    server: Server,
    client: Tidings,
    faults: Faults,
    reader: str,
    pauses: list[float],
) -> None:
    faults.script.append("slow")
    published = publish(kind, faults.url, server.key, reader, timeout=0.5)
    faults.late.set()
    assert told(client, reader) == [published.id]
    assert len(pauses) == 1


@BOTH
def test_situation_15_one_event_each_whatever_goes_wrong(
    kind: str,
    server: Server,
    client: Tidings,
    faults: Faults,
    reader: str,
    pauses: list[float],
) -> None:
    choices: list[str | bytes] = [
        "",
        "cut before",
        "cut in the request",
        "cut after",
        "cut in the answer",
        problem(429, "too_busy", {"Retry-After": "1"}),
        problem(503, "unavailable"),
    ]
    chance = random.Random(15)
    published = []
    for _ in range(60):
        faults.script.clear()
        faults.script.extend(chance.choices(choices, k=3))
        published.append(publish(kind, faults.url, server.key, reader).id)
    assert len(set(published)) == 60
    assert sorted(told(client, reader)) == sorted(published)
    assert len(pauses) > 60


@BOTH
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("cut after", tidings.APIConnectionError),
        ("cut before", tidings.APIConnectionError),
        (problem(429, "too_busy"), errors.TooBusyError),
        (problem(503, "store_full"), errors.StoreFullError),
        (answer(502, b"<html>"), tidings.APIError),
    ],
    ids=["cut after", "cut before", "429", "503", "502"],
)
def test_situation_15_the_error_after_three_retries(
    kind: str,
    fault: str | bytes,
    error: type[tidings.TidingsError],
    server: Server,
    client: Tidings,
    faults: Faults,
    reader: str,
    pauses: list[float],
) -> None:
    faults.script.extend([fault] * 9)
    with pytest.raises(error) as raised:
        publish(kind, faults.url, server.key, reader)
    assert type(raised.value) is error
    assert len(faults.script) == 5, "one try and three more"
    assert len(pauses) == 3
    assert vars(raised.value)["request_id"]
    assert len(told(client, reader)) == (1 if fault == "cut after" else 0)


@BOTH
def test_situation_15_the_error_of_a_slow_server(
    kind: str, server: Server, faults: Faults, reader: str, pauses: list[float]
) -> None:
    faults.script.extend(["slow"] * 2)
    with pytest.raises(tidings.APITimeoutError) as raised:
        publish(kind, faults.url, server.key, reader, timeout=0.2, retries=1)
    faults.late.set()
    assert raised.value.idempotency_key == faults.requests[0].headers["idempotency-key"]


@BOTH
@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 413, 422, 500, 501])
def test_situation_15_nothing_else_is_tried_again(
    kind: str, status: int, faults: Faults, pauses: list[float]
) -> None:
    faults.script.append(problem(status, "invalid_body", {"Retry-After": "1"}))
    with pytest.raises(errors.InvalidBodyError):
        publish(kind, faults.url, "key", "ana")
    assert len(faults.requests) == 1
    assert pauses == []


def test_situation_15_a_server_that_asks_for_too_long_a_wait_is_not_tried_again(
    stub: Stub, pauses: list[float]
) -> None:
    stub.answers_with(problem(503, "unavailable", {"Retry-After": "3600"}))
    with pytest.raises(errors.UnavailableError) as raised:
        publish("sync", stub.url, "key", "ana")
    assert raised.value.retry_after == 3600
    assert pauses == []


def test_situation_15_the_real_server_names_the_request(client: Tidings, server: Server) -> None:
    with pytest.raises(errors.EventNotFoundError) as raised:
        client.events.get("nothing")
    fault = raised.value
    assert isinstance(fault, errors.NotFoundError)
    assert (fault.status, fault.code) == (404, "event_not_found")
    assert fault.title and fault.hint and fault.request_id
    assert fault.request_id in str(fault)
    with pytest.raises(errors.UnauthorizedError), Tidings(server.url, "no key") as other:
        other.events.get("nothing")


def test_situation_15_absent_null_and_a_value_of_a_patch(client: Tidings, reader: str) -> None:
    def state() -> tuple[str | None, str | None]:
        profile = client.recipients.get(reader)
        return profile.name, profile.tz

    client.recipients.upsert(reader, name="Ana", tz="America/New_York")
    client.recipients.patch(reader, name=UNSET, tz="Europe/Lisbon")
    assert state() == ("Ana", "Europe/Lisbon")
    client.recipients.patch(reader, name=None)
    assert state() == (None, "Europe/Lisbon")
    client.recipients.patch(reader, name="Ana Ruiz")
    assert state() == ("Ana Ruiz", "Europe/Lisbon")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_situation_15_descriptors_are_constant_over_10000_calls(stub: Stub) -> None:
    stub.answers_with(*[problem(404, "not_found")] * 10, answer(202, ACCEPTED))
    with Tidings(stub.url, "key") as client:
        seen = set()
        for call in range(10_000):
            try:
                options = client.with_options(timeout=10) if call % 2 else client
                options.events.publish(type="comment", object={"id": "o"}, to={"everyone": True})
            except errors.NotFoundError:
                pass
            if call % 100 == 99:
                seen.add(descriptors())
    one_connection = 2
    assert max(seen) - min(seen) <= one_connection, seen
    assert stub.connections < 10, "none a call"


def test_situation_15_descriptors_are_constant_over_10000_asynchronous_calls(stub: Stub) -> None:
    stub.answers_with(answer(202, ACCEPTED))

    before = descriptors()

    async def calls() -> int:
        most = 0
        async with AsyncTidings(stub.url, "key") as client:
            for _ in range(1000):
                together = [
                    client.events.publish(type="c", object={"id": "o"}, to={"everyone": True})
                    for _ in range(10)
                ]
                await asyncio.gather(*together)
                most = max(most, descriptors())
        return most

    most = asyncio.run(calls())
    assert stub.connections < 100, "none a call"
    loop = 3
    assert most <= before + loop + 2 * 10, "ten connections with both of their ends"
    assert descriptors() <= before + 10


def test_situation_15_descriptors_are_closed_where_streams_and_connections_break(
    server: Server, client: Tidings, faults: Faults, pauses: list[float]
) -> None:
    client.recipients.upsert("ana")
    lines = client.admin.export()
    next(lines)
    lines.close()
    with Tidings(faults.url, server.key) as other:
        before = descriptors()
        for _ in range(50):
            faults.script.extend(["cut in the answer"] * 4)
            with pytest.raises(tidings.APIConnectionError):
                other.admin.status()
    for thread in faults._threads[1:]:
        thread.join()
    assert descriptors() <= before


OLDER: dict[str, Any] = {
    # It knows no `suppressed` and no `warnings`.
    "id": "e1",
    "status": "accepted",
    "notifications": 1,
}
NEWER: dict[str, Any] = {
    **ACCEPTED,
    "status": "merged",
    "warnings": [{"code": "x", "detail": "d", "hint": "h", "url": "https://example.org"}],
    "merged_into": {"event": "e0"},
}


@BOTH
def test_situation_15_an_older_server(kind: str, stub: Stub) -> None:
    stub.answers_with(answer(202, OLDER))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        published = publish(kind, stub.url, "key", "ana")
    assert (published.id, published.notifications, published.applied) == ("e1", 1, None)
    with pytest.raises(AttributeError, match="the server did not send it"):
        _ = published.warnings


def test_situation_15_an_older_server_that_lacks_a_call(stub: Stub) -> None:
    stub.answers_with(problem(404, "not_found", {"X-Tidings-Version": "0.0.9"}))
    with Tidings(stub.url, "key") as client:
        with pytest.raises(errors.NotFoundError, match=r"The server is tidings 0\.0\.9"):
            client.operating.nodes()
        assert client.server_version == "0.0.9"


@BOTH
def test_situation_15_a_newer_server(kind: str, stub: Stub) -> None:
    stub.answers_with(answer(202, NEWER, {"X-Tidings-Version": "1.0.0"}))
    with pytest.warns(
        tidings.VersionWarning, match=r"tidings 1\.0\.0, this client is made for 0\."
    ):
        published = publish(kind, stub.url, "key", "ana")
    assert published.status == "merged"
    assert published.extra == {"merged_into": {"event": "e0"}}
    assert published.warnings[0].extra == {"url": "https://example.org"}
    assert published.to_dict() == NEWER


def test_situation_15_the_version_is_compared_once(stub: Stub) -> None:
    stub.answers_with(answer(202, ACCEPTED, {"X-Tidings-Version": "2.0.0"}))

    def send(client: Tidings) -> None:
        client.events.publish(type="comment", object={"id": "o"}, to={"everyone": True})

    with Tidings(stub.url, "key") as client:
        with pytest.warns(tidings.VersionWarning):
            send(client)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            send(client)
            send(client.with_options(timeout=1))


def test_situation_15_a_minor_version_is_no_warning(stub: Stub) -> None:
    stub.answers_with(answer(202, ACCEPTED, {"X-Tidings-Version": "0.9.0"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert publish("sync", stub.url, "key", "ana").id == "e1"


def test_situation_15_a_code_that_is_not_known(stub: Stub) -> None:
    stub.answers_with(problem(409, "hook_sleeps"))
    with pytest.raises(tidings.APIError) as raised:
        publish("sync", stub.url, "key", "ana")
    assert type(raised.value) is tidings.APIError
    assert (raised.value.code, raised.value.status) == ("hook_sleeps", 409)
