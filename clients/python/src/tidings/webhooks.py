"""The check of what tidings sends to your application: webhooks and hooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ._errors import TidingsError


class WebhookError(TidingsError):
    """The request is not from tidings, or is too old: answer 400 and do nothing."""


@dataclass(frozen=True)
class Webhook:
    """What a request says, once its signature was found right."""

    id: str
    """The same for every attempt: remember it, and do it once."""
    type: str
    """Such as `message.sent`, or `notification.message`."""
    data: dict[str, Any]
    """What it is about."""
    body: dict[str, Any]
    """The whole body."""


def verify(
    payload: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float | timedelta = 300,
    now: float | None = None,
) -> Webhook:
    """Checks the signature of a request, and returns what it says.

    Args:
        payload: The body as it came, byte by byte: not what was parsed and written again.
        headers: The headers of the request, in whatever case.
        secret: That of the configuration, with its `whsec_` if it has one.
        tolerance: How far the time of the request may be away from now, in seconds.
        now: The time, in seconds since 1970.

    Raises:
        WebhookError: The signature is wrong, or the request is too old.
    """
    body = payload.encode() if isinstance(payload, str) else payload
    given = {name.lower(): value for name, value in headers.items()}
    try:
        identity, stamp = given["webhook-id"], given["webhook-timestamp"]
        signatures = given["webhook-signature"].split(" ")
    except KeyError as fault:
        raise WebhookError(f"the header {fault.args[0]} is missing") from None
    if not stamp.isdecimal():
        raise WebhookError("the header webhook-timestamp is no number of seconds")
    key = _key(secret)
    signed = f"{identity}.{stamp}.".encode() + body
    right = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    found = [hmac.compare_digest(one.encode(), right) for one in signatures]
    if not any(found):
        raise WebhookError("the signature is wrong: is this the secret, and the body as it came?")
    most = tolerance.total_seconds() if isinstance(tolerance, timedelta) else tolerance
    away = abs((time.time() if now is None else now) - int(stamp))
    if away > most:
        raise WebhookError(f"the request was signed {away:.0f} s away from now")
    try:
        content = json.loads(body)
    except ValueError as fault:
        raise WebhookError(f"the body is no JSON: {fault}") from None
    if not isinstance(content, dict):
        raise WebhookError("the body is no object")
    data = content.get("data")
    kind = content.get("type")
    return Webhook(
        id=identity,
        type=kind if isinstance(kind, str) else "",
        data=data if isinstance(data, dict) else {},
        body=content,
    )


def _key(secret: str) -> bytes:
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise ValueError("the secret is not base64 after whsec_") from None
