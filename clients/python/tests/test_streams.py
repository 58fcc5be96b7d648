"""Lines and events that come and go one by one."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any

import pytest
from conftest import Server, asynchronous
from faults import Faults, Stub, answer, problem

import tidings
from tidings import Tidings, errors, models, params


@pytest.fixture
def crowd(client: Tidings) -> str:
    name = f"crowd-{uuid.uuid4().hex[:8]}"
    client.recipients.upsert(name)
    return name


def events(to: str, count: int, wrong: int | None = None) -> Iterator[params.Event]:
    for number in range(1, count + 1):
        kind = "nothing" if number == wrong else "comment"
        yield {"type": kind, "object": {"id": f"{to}/{number}"}, "to": {"recipients": [to]}}


def lines(*values: Any) -> bytes:
    content = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    return answer(202, content, {"Content-Type": "application/x-ndjson"})


def accepted(line: int, status: str = "accepted") -> dict[str, Any]:
    return {
        "line": line,
        "id": f"e{line}",
        "status": status,
        "notifications": 1,
        "suppressed": 0,
        "warnings": [],
    }


def unavailable(line: int) -> dict[str, Any]:
    body = json.loads(problem(503, "unavailable").split(b"\r\n\r\n")[1])
    return {"line": line, "status": "rejected", "problem": body}


def test_each_line_is_answered(client: Tidings, crowd: str) -> None:
    answers = list(client.events.publish_stream(events(crowd, 1000, wrong=700)))
    assert [of.line for of in answers if not isinstance(of, models.Counted)] == list(range(1, 1001))
    rejected = [of for of in answers if isinstance(of, models.Rejected)]
    assert [(of.line, of.problem.code) for of in rejected] == [(700, "unknown_type")]
    assert client.inbox.counts(crowd).unseen > 0


def test_problems_alone_end_with_counts(client: Tidings, crowd: str, server: Server) -> None:
    async def asynchronously() -> list[models.EventLineAnswer]:
        async def source() -> AsyncIterator[params.Event]:
            for event in events(crowd, 600, wrong=300):
                yield event

        async with asynchronous(server) as other:
            stream = other.events.publish_stream(source(), answers="problems")
            return [of async for of in stream]

    rejected, counted = asyncio.run(asynchronously())
    assert isinstance(rejected, models.Rejected) and rejected.line == 300
    assert isinstance(counted, models.Counted)
    assert (counted.lines, counted.done, counted.problems) == (600, 599, 1)


def test_recipients_and_subscriptions_go_as_lines(client: Tidings, crowd: str) -> None:
    people = [f"{crowd}/{number}" for number in range(300)]
    done = client.recipients.change_stream({"id": of, "name": of} for of in people)
    assert {of.status for of in done if isinstance(of, models.Done)} == {"done"}
    list(client.subscriptions.follow_stream({"recipient": of, "topic": crowd} for of in people))
    told = client.events.publish(type="comment", object={"id": "o"}, to={"topics": [crowd]})
    assert told.notifications == 300
    client.objects.change_many([{"id": f"{crowd}/o", "title": "Title"}])


@pytest.mark.parametrize("fault", ["cut after", "cut in the answer", "cut in the request"])
def test_situation_15_a_stream_that_breaks_publishes_each_event_once(
    fault: str,
    client: Tidings,
    server: Server,
    faults: Faults,
    crowd: str,
    pauses: list[float],
) -> None:
    faults.script.extend(["", fault, ""])
    with Tidings(faults.url, server.key) as other:
        answers = list(other.events.publish_stream(events(crowd, 600)))
    assert [of.line for of in answers if isinstance(of, models.PublishedEvent)] == list(
        range(1, 601)
    )
    told = [of.event for group in client.inbox.list(crowd, grouped=False) for of in group.items]
    assert len(told) == len(set(told)) == 600
    assert len(pauses) == 1


def test_lines_that_the_server_ended_are_sent_again(stub: Stub, pauses: list[float]) -> None:
    stub.answers_with(
        lines(accepted(1), unavailable(2)),
        lines(accepted(1, "duplicate"), accepted(2)),
        lines(accepted(1, "duplicate"), accepted(2, "duplicate"), accepted(3)),
    )
    with Tidings(stub.url, "key") as client:
        answers = list(client.events.publish_stream(events("ana", 3)))
    found = [(of.line, of.status) for of in answers if isinstance(of, models.PublishedEvent)]
    assert found == [(1, "accepted"), (2, "accepted"), (3, "accepted")]
    assert len({of.body for of in stub.requests}) == 1
    assert len({of.headers["idempotency-key"] for of in stub.requests}) == 1
    assert len(pauses) == 2


def test_a_server_that_never_takes_the_lines_is_an_error(stub: Stub, pauses: list[float]) -> None:
    stub.answers_with(lines(accepted(1), unavailable(2)))
    with Tidings(stub.url, "key") as client:
        stream = client.events.publish_stream(events("ana", 3))
        assert next(stream).line == 1
        with pytest.raises(errors.UnavailableError):
            next(stream)
    assert len(pauses) == 3


def test_a_line_that_is_no_object_is_an_error(stub: Stub) -> None:
    stub.answers_with(answer(200, b"<html>\n"))
    with Tidings(stub.url, "key") as client:
        for stream in (client.events.publish_stream(events("ana", 1)), client.admin.export()):
            with pytest.raises(tidings.AnswerError, match="no object"):
                next(stream)


def test_an_export_is_read_line_by_line(client: Tidings, crowd: str) -> None:
    client.recipients.patch(crowd, name="one\u2028two\u0085three")
    with closing(client.admin.export(days=1)) as timeline:
        found = [line for line in timeline if line.get("id") == crowd]
    assert found[0]["name"] == "one\u2028two\u0085three"
    assert b"".join(client.admin.backup())


def test_a_download_that_breaks_is_an_error(server: Server, faults: Faults) -> None:
    faults.script.append("cut in the answer")
    with Tidings(faults.url, server.key) as client, pytest.raises(tidings.APIConnectionError):
        list(client.admin.export())


def test_situation_15_a_stream_that_is_left_early_keeps_no_descriptor(
    client: Tidings, crowd: str, server: Server
) -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    list(client.events.publish_stream(events(crowd, 600)))

    async def leave() -> None:
        async with asynchronous(server) as other:
            before = opened()
            async with aclosing(other.admin.export()) as lines:
                await anext(lines)
            async with aclosing(other.inbox.live(crowd)) as live:
                await anext(live)
            async with aclosing(other.events.publish_stream(events(crowd, 600))) as answers:
                await anext(answers)
            assert opened() == before

    asyncio.run(leave())
    before = opened()
    for stream in (client.admin.export(), client.inbox.live(crowd)):
        with closing(stream):
            next(stream)
    assert opened() <= before


def test_a_live_stream_gives_events(client: Tidings, crowd: str, server: Server) -> None:
    with closing(client.inbox.live(crowd)) as live:
        hello = next(live)
        assert (hello.event, hello.data["unseen"]) == ("hello", 0)
        list(client.events.publish_stream(events(crowd, 1)))
        change = next(live)
    assert (change.event, change.data["unseen"]) == ("inbox", 1)
    assert change.id

    async def again() -> tidings.LiveEvent:
        async with asynchronous(server) as other:
            async with aclosing(other.inbox.live(crowd, last_event_id=change.id)) as events:
                return await anext(events)

    assert asyncio.run(again()).data["unseen"] == 1
