"""Tokens, webhooks, answers and files, without a server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from conftest import ROOT
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import tidings
from codegen.__main__ import generated, stale
from tidings import _call, errors, models, sign_token, webhooks
from tidings._model import converter

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_generated_files_are_current() -> None:
    assert [path.name for path in stale()] == [], "run `python -m codegen`"
    assert len(generated()) > 30


def test_there_is_a_class_for_each_code() -> None:
    page = (ROOT / "docs/errors.md").read_text()
    codes = [line.strip("#` ") for line in page.splitlines() if line.startswith("## ")]
    assert list(errors.BY_CODE) == codes
    assert all(of.known_code == code for code, of in errors.BY_CODE.items())
    assert issubclass(errors.RecipientNotFoundError, errors.NotFoundError)


def test_the_version_is_that_of_the_server() -> None:
    for path in (ROOT / "clients/python/pyproject.toml", ROOT / "Cargo.toml"):
        assert f'\nversion = "{tidings.__version__}"\n' in path.read_text(), path


def part(text: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def test_a_token_of_a_secret() -> None:
    key = "tsk_abc_secret"
    token = sign_token("ana", timedelta(hours=1), "inbox push", signing_key=key, now=1000.9)
    header, claims, signature = token.split(".")
    assert part(header) == {"alg": "HS256", "typ": "JWT", "kid": "abc"}
    assert part(claims) == {"sub": "ana", "iat": 1000, "exp": 4600, "scope": "inbox push"}
    right = hmac.new(key.encode(), f"{header}.{claims}".encode(), hashlib.sha256).digest()
    assert signature == base64.urlsafe_b64encode(right).rstrip(b"=").decode()


def test_a_token_of_a_tenant() -> None:
    of_acme = sign_token("ana", 60, tenant="acme", signing_key="tsk_a_b", now=1000)
    claims = {"sub": "ana", "iat": 1000, "exp": 1060, "tenant": "acme"}
    assert part(of_acme.split(".")[1]) == claims
    assert "tenant" not in part(sign_token("ana", signing_key="tsk_a_b").split(".")[1])
    with pytest.raises(ValueError, match="tenant"):
        sign_token("ana", tenant="", signing_key="tsk_a_b")


def test_a_token_of_a_private_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    monkeypatch.setenv("TIDINGS_SIGNING_KEY", pem)
    token = sign_token("ana", 60, ["inbox"], key_id="k1")
    signed, signature = token.rsplit(".", 1)
    key.public_key().verify(base64.urlsafe_b64decode(signature + "=="), signed.encode())
    assert part(signed.split(".")[0]) == {"alg": "EdDSA", "typ": "JWT", "kid": "k1"}
    with pytest.raises(ValueError, match="key_id"):
        sign_token("ana", 60)


def test_a_key_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDINGS_SIGNING_KEY", raising=False)
    with pytest.raises(ValueError, match="TIDINGS_SIGNING_KEY"):
        sign_token("ana")
    with pytest.raises(ValueError, match="no signing key"):
        sign_token("ana", signing_key="an API key")
    with pytest.raises(ValueError, match="never be valid"):
        sign_token("ana", -5, signing_key="tsk_a_b")


def signed(body: bytes, key: bytes, stamp: int = 1_700_000_000) -> dict[str, str]:
    mac = hmac.new(key, f"msg_1.{stamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(stamp),
        "Webhook-Signature": "v1,AAAA v1," + base64.b64encode(mac).decode(),
    }


def test_a_webhook_that_is_right() -> None:
    body = json.dumps({"type": "message.sent", "timestamp": "t", "data": {"message": "m"}}).encode()
    for secret, key in ((SECRET, base64.b64decode(SECRET[6:])), ("a" * 24, b"a" * 24)):
        webhook = webhooks.verify(body, signed(body, key), secret, now=1_700_000_100)
        assert (webhook.id, webhook.type, webhook.data) == (
            "msg_1",
            "message.sent",
            {"message": "m"},
        )


def test_a_webhook_of_the_standard() -> None:
    # The example of the Standard Webhooks specification.
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    body = '{"test": 2432232314}'
    assert webhooks.verify(body, headers, SECRET, now=1614265330).body == {"test": 2432232314}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"Webhook-Signature": "v1,AAAA"}, "signature is wrong"),
        ({"Webhook-Signature": "v1a,ä"}, "signature is wrong"),
        ({"Webhook-Id": "msg_2"}, "signature is wrong"),
        ({"Webhook-Timestamp": "soon"}, "no number"),
        ({"Webhook-Timestamp": "1700000001"}, "signature is wrong"),
    ],
)
def test_a_webhook_that_is_wrong(changed: dict[str, str], said: str) -> None:
    body = b"{}"
    headers = {**signed(body, b"a" * 24), **changed}
    with pytest.raises(webhooks.WebhookError, match=said):
        webhooks.verify(body, headers, "a" * 24, now=1_700_000_000)


def test_a_webhook_that_is_old_or_lacks_a_header() -> None:
    headers = signed(b"{}", b"a" * 24)
    with pytest.raises(webhooks.WebhookError, match="301 s away"):
        webhooks.verify(b"{}", headers, "a" * 24, now=1_700_000_301)
    with pytest.raises(webhooks.WebhookError, match="301 s away"):
        webhooks.verify(b"{}", headers, "a" * 24, now=1_700_000_000 - 301)
    with pytest.raises(webhooks.WebhookError, match="webhook-id is missing"):
        webhooks.verify(b"{}", {}, "a" * 24)


def test_answers_keep_what_is_not_known() -> None:
    answer = models.Item({"event": "e", "t": "2026-01-02T03:04:05.123456789Z", "new": [1]})
    assert answer.t == datetime(2026, 1, 2, 3, 4, 5, 123456, timezone.utc)
    assert answer.extra == {"new": [1]}
    assert answer.to_dict()["new"] == [1]
    assert repr(answer).startswith("Item(event='e', t=datetime")
    with pytest.raises(AttributeError, match="unknown fields are in `extra`"):
        _ = answer.new
    assert answer == models.Item(answer.to_dict())


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"status": "done", "line": 1}, models.Done),
        ({"status": "rejected", "problem": {}, "line": 1}, models.Rejected),
        ({"lines": 3, "done": 3, "problems": 0}, models.Counted),
        ({"lines": 3, "done": 3, "problems": 0, "new": 1}, models.Counted),
        ("text", str),
    ],
)
def test_one_of_several_answers(value: Any, kind: type) -> None:
    assert type(converter(models.LineAnswer)(value)) is kind


def test_values_of_another_type_are_kept() -> None:
    raw = {"t": 5, "reasons": "x", "object": "o", "seen": None}
    answer = models.Item(raw)
    assert {name: getattr(answer, name) for name in raw} == raw


def test_lines_end_at_line_feeds_alone() -> None:
    lines = _call.Lines()
    assert lines.feed("a\u2028b\u0085\r\nc".encode()) == ["a\u2028b\u0085".encode()]
    assert lines.feed(b"d\n\n") == [b"cd", b""]
    assert lines.feed(b"rest") == []
    assert lines.end() == [b"rest"]


def test_pauses_grow_and_honour_the_server() -> None:
    def refused(status: int, retry_after: float | None) -> tidings.APIError:
        return tidings.APIError(status, {}, request_id="r", retry_after=retry_after)

    lost = tidings.APIConnectionError("lost", request_id="r", idempotency_key=None)
    for tried, most in ((1, 0.25), (2, 0.5), (3, 1.0)):
        pause = _call.wait_before(tried, 3, lost)
        assert pause is not None and most / 2 <= pause <= most
    assert _call.wait_before(4, 3, lost) is None
    assert _call.wait_before(1, 0, lost) is None
    assert _call.wait_before(1, 3, refused(422, 1.0)) is None
    assert _call.wait_before(1, 3, refused(429, 61.0)) is None
    pause = _call.wait_before(1, 3, refused(429, 60.0))
    assert pause is not None and 60.125 <= pause <= 60.25


def test_retry_after_is_seconds_or_a_date() -> None:
    assert _call.retry_after_of({"retry-after": "12"}) == 12
    assert _call.retry_after_of({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert _call.retry_after_of({"retry-after": "soon"}) is None
    assert _call.retry_after_of({}) is None


def test_a_client_of_httpx_may_be_given() -> None:
    seen: list[httpx.Request] = []

    def take(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, text="ok")

    with httpx.Client(transport=httpx.MockTransport(take)) as http:
        with tidings.Tidings("http://host/", "k", http_client=http, headers={"A": "b"}) as client:
            client.with_options(headers={"C": "d"}).operating.readyz()
        assert not http.is_closed, "whoever made it closes it"
    (request,) = seen
    assert str(request.url) == "http://host/readyz"
    assert request.headers["authorization"] == "Bearer k"
    assert request.headers["user-agent"].startswith(f"tidings-python/{tidings.__version__} httpx/")
    assert (request.headers["a"], request.headers["c"]) == ("b", "d")
    assert "idempotency-key" not in request.headers
    assert request.headers["x-request-id"]


def test_an_answer_that_is_not_of_the_server() -> None:
    page = httpx.MockTransport(lambda _: httpx.Response(200, text="<html>"))
    with httpx.Client(transport=page) as http:
        client = tidings.Tidings("http://host", http_client=http)
        with pytest.raises(tidings.AnswerError, match="no JSON"):
            client.admin.status()


def test_settings_that_are_left_out_are_those_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TIDINGS_URL", raising=False)
    with pytest.raises(ValueError, match="TIDINGS_URL"):
        tidings.Tidings(key="k")
    monkeypatch.setenv("TIDINGS_URL", "http://host/")
    monkeypatch.setenv("TIDINGS_KEY", "of the environment")
    with tidings.Tidings() as client:
        options = client._transport.options
        assert (options.url, options.key) == ("http://host", "of the environment")


def test_a_refusal_says_what_is_wrong_and_what_to_do() -> None:
    problem = {
        "code": "unknown_type",
        "title": "The type is not configured",
        "detail": "unknown type `task_asigned`",
        "hint": "did you mean `task_assigned`?",
    }
    fault = tidings.APIError(422, problem, request_id="r1", retry_after=None)
    said = "unknown type `task_asigned`: did you mean `task_assigned`?"
    assert str(fault) == f"{said} (unknown_type, status 422, request r1)"
    assert str(tidings.APIError(502, {}, request_id="r1", retry_after=None)) == "status 502, request r1"
