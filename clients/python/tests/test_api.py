"""The calls, against a server."""

from __future__ import annotations

import asyncio
import inspect
import json
import uuid
from datetime import datetime, timedelta, timezone

import pytest
from conftest import ROOT, Server, asynchronous

from tidings import AsyncTidings, Tidings, errors, models, sign_token


@pytest.fixture
def ana(client: Tidings) -> str:
    name = f"ana-{uuid.uuid4().hex[:8]}"
    client.recipients.upsert(name, email="ana@example.org", name="Ana Ruiz", tz="America/New_York")
    return name


def comment(client: Tidings, to: str, id: str | None = None) -> models.PublishedEvent:
    return client.events.publish(
        id=id,
        type="comment",
        actor={"id": "ben", "title": "Ben Okafor"},
        object={"id": f"note-{uuid.uuid4().hex[:8]}", "title": "Plan"},
        to={"recipients": [to]},
        data={"spring": [1, None, "\u2028"]},
    )


def test_every_call_of_the_document_is_a_method() -> None:
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    calls = {
        (method.upper(), path)
        for path, item in document["paths"].items()
        for method in item
        if method in ("get", "put", "post", "patch", "delete")
    }
    with Tidings("http://127.0.0.1:1") as client:
        resources = [of for name, of in vars(client).items() if not name.startswith("_")]
    text = "".join(inspect.getsource(type(of)) for of in resources)
    for _, path in calls:
        start = path.split("{")[0]
        assert f'"{start}' in text or f'f"{start}' in text, path
    methods = sum(not name.startswith("_") for of in resources for name in vars(type(of)))
    assert methods >= len(calls)


def test_both_clients_have_the_same_methods() -> None:
    def methods(client: object) -> set[tuple[str, str, tuple[str, ...]]]:
        return {
            (resource, name, tuple(inspect.signature(method).parameters))
            for resource, of in vars(client).items()
            if not resource.startswith("_")
            for name, method in vars(type(of)).items()
            if not name.startswith("_")
        }

    async def made() -> object:
        async with AsyncTidings("http://127.0.0.1:1") as client:
            return methods(client)

    with Tidings("http://127.0.0.1:1") as client:
        assert methods(client) == asyncio.run(made())


def test_publish_and_read(client: Tidings, ana: str) -> None:
    published = comment(client, ana, id=f"{ana}/1")
    assert (published.id, published.status, published.notifications) == (f"{ana}/1", "accepted", 1)
    assert comment(client, ana, id=f"{ana}/1").status == "duplicate"
    event = client.events.get(f"{ana}/1")
    assert isinstance(event.arrived_at, datetime) and event.arrived_at.tzinfo is not None
    assert event.channels["inbox"].entries == 1
    assert event.event.data == {"spring": [1, None, "\u2028"]}
    page = client.inbox.page(ana)
    assert page.unread == 1 and page.groups[0].items[0].object.title == "Plan"
    assert page.categories["conversations"].unread == 1
    assert client.inbox.mark_read(ana, event=f"{ana}/1").unread == 0
    assert client.events.withdraw(f"{ana}/1").withdrawn == 1
    assert client.inbox.counts(ana).unread == 0


def test_an_array_has_a_result_for_each(client: Tidings, ana: str) -> None:
    known, unknown = client.events.publish_many(
        [
            {"type": "comment", "object": {"id": "o"}, "to": {"recipients": [ana]}},
            {"type": "nothing", "object": {"id": "o"}, "to": {"recipients": [ana]}},
        ]
    )
    assert isinstance(known, models.PublishedEvent)
    assert isinstance(unknown, models.Rejected)
    assert unknown.problem.code == "unknown_type"


def test_pages_are_one_iterator(client: Tidings, ana: str, server: Server) -> None:
    events = {comment(client, ana).id for _ in range(7)}
    found = [group.items[0].event for group in client.inbox.list(ana, limit=2)]
    assert len(found) == 7 and set(found) == events

    async def asynchronously() -> list[str]:
        async with asynchronous(server) as other:
            return [group.items[0].event async for group in other.inbox.list(ana, limit=3)]

    assert asyncio.run(asynchronously()) == found
    for address in ("a@example.org", "b@example.org", "c@example.org"):
        client.suppressions.add("email", address, reason="manual")
    listed = [of.address for of in client.suppressions.list(channel="email", limit=1)]
    assert listed == ["a@example.org", "b@example.org", "c@example.org"]
    client.suppressions.remove("email", "a@example.org")
    with pytest.raises(errors.SuppressionNotFoundError):
        client.suppressions.get("email", "a@example.org")


def test_a_poll_waits_for_news(client: Tidings, ana: str) -> None:
    rev = client.inbox.counts(ana).rev
    assert client.with_options(timeout=0.3).inbox.poll(ana, since=rev, wait="1s") is None
    comment(client, ana)
    page = client.inbox.poll(ana, since=rev)
    assert page is not None and page.rev > rev


def test_names_in_paths_are_escaped(client: Tidings) -> None:
    for name in ("..", ".", "a/b?c#d", "50%", "Zoë ‮x"):
        client.recipients.upsert(name, name="X")
        assert client.recipients.get(name).id == name
        client.subscriptions.follow(name, "artist/42/../..")
        assert client.subscriptions.list(name).topics == ["artist/42/../.."]
        client.recipients.erase(name)


def test_preferences_are_a_list_and_choices_an_object(client: Tidings, ana: str) -> None:
    answer = client.preferences.patch(
        ana,
        preferences=[{"type": "comment", "channel": "email", "mode": "immediate"}],
        quiet_hours={"from": "22:00", "to": "07:00", "days": ["sat", "sun"]},
    )
    assert answer is None
    (preference,) = client.preferences.get(ana)
    assert (preference.type, preference.mode, preference.category) == ("comment", "immediate", None)
    choices = client.preferences.choices(ana)
    assert isinstance(choices.quiet_hours, models.QuietHours)
    assert (choices.quiet_hours.from_, choices.quiet_hours.days) == ("22:00", ["sat", "sun"])
    client.preferences.patch(ana, quiet_hours=None)
    assert client.preferences.choices(ana).quiet_hours is None
    client.preferences.replace(ana, [])
    assert client.preferences.get(ana) == []


def test_instants_go_in_as_datetimes(client: Tidings, ana: str) -> None:
    at = datetime.now(timezone.utc) + timedelta(days=1)
    published = client.events.publish(
        type="comment", object={"id": "o"}, to={"recipients": [ana]}, deliver_at=at
    )
    scheduled = client.events.get(published.id).scheduled_for
    assert scheduled is not None and abs(scheduled - at) < timedelta(seconds=1)
    assert client.pending.get(ana).scheduled[0].event == published.id
    with pytest.raises(ValueError, match="no time zone"):
        client.events.publish(
            type="comment",
            object={"id": "o"},
            to={"recipients": [ana]},
            deliver_at=datetime(2030, 1, 1),
        )


def test_end_users_call_with_a_token(client: Tidings, ana: str, server: Server) -> None:
    comment(client, ana)
    token = sign_token(ana, ttl=timedelta(minutes=5), signing_key=server.signing_key)
    me = client.with_options(key=token).me
    assert me.inbox_page().unread == 1
    assert me.mark_seen(all=True).unseen == 0
    assert [choice.category for choice in me.preferences().choices]
    me.follow("artist/7")
    assert me.subscriptions().topics == ["artist/7"]
    with pytest.raises(errors.TopicNotOpenError):
        me.follow("other/42")
    narrow = sign_token(ana, 60, ["inbox:read"], signing_key=server.signing_key)
    with pytest.raises(errors.ScopeError):
        client.with_options(key=narrow).me.mark_read(all=True)
    late = sign_token(ana, 60, signing_key=server.signing_key, now=1_600_000_000)
    with pytest.raises(errors.TokenExpiredError):
        client.with_options(key=late).me.inbox_page()
    other = sign_token(ana, 60, tenant="nobody", signing_key=server.signing_key)
    with pytest.raises(errors.TokenTenantError):
        client.with_options(key=other).me.inbox_page()
    client.recipients.revoke_tokens(ana)
    with pytest.raises(errors.TokenRevokedError):
        me.inbox_page()


def test_administration(client: Tidings, ana: str) -> None:
    made = client.admin.make_key(name="reader", role="read")
    assert made.key is not None
    with pytest.raises(errors.RoleError):
        client.with_options(key=made.key).recipients.erase(ana)
    client.admin.revoke_key(made.id)
    status = client.admin.status()
    assert status.version and "email" in status.channels
    assert client.types.list().types["comment"].channels["email"].policy == "cooldown"
    client.types.pause("comment")
    assert client.types.list().types["comment"].paused
    client.types.resume("comment")
    assert "tidings_" in client.operating.metrics()
    assert client.operating.readyz()
    assert client.operating.openapi()["info"]["title"] == "tidings"
    assert "invalid_json" in client.operating.error("invalid_json")


def test_the_url_may_end_with_a_slash(server: Server) -> None:
    with Tidings(server.url + "//", server.key) as client:
        assert client.admin.status().version
    with pytest.raises(ValueError, match="http://"):
        Tidings("127.0.0.1:8990")


def test_a_key_is_not_shown(client: Tidings, server: Server) -> None:
    assert server.key not in repr(client)
    assert server.key not in repr(client._transport.options)
