"""Tokens for end users: your application signs them, and pages show them to tidings."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from collections.abc import Iterable
from datetime import timedelta


def sign_token(
    recipient: str,
    ttl: float | timedelta = 900,
    scope: str | Iterable[str] | None = None,
    *,
    tenant: str | None = None,
    signing_key: str | None = None,
    key_id: str | None = None,
    now: float | None = None,
) -> str:
    """Signs a token, which opens `/v1/me` to one recipient. No call is made.

    Args:
        recipient: Who is signed in. Take it from your session, never from the request.
        ttl: How long it lives, in seconds or as a timedelta; at most `[users] tokens`.
        scope: What it opens, of `inbox`, `inbox:read`, `preferences`, `subscriptions`, `push`:
            a list, or one text with spaces. All that the signing key may, if absent.
        tenant: The tenant whose notifications it shows, beside those of none; all, if absent.
        signing_key: What `tidings signing-key new` printed, or a private key of Ed25519 in PEM
            (`pip install tidings[eddsa]`); `TIDINGS_SIGNING_KEY` in the environment if absent.
        key_id: With a key in PEM: its id, which `tidings signing-key list` shows.
        now: The time, in seconds since 1970.
    """
    key = signing_key or os.environ.get("TIDINGS_SIGNING_KEY")
    if not key:
        raise ValueError("no signing key: give signing_key=, or set TIDINGS_SIGNING_KEY")
    life = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
    if life <= 0:
        raise ValueError(f"a token with a ttl of {life:g} s would never be valid")
    issued = int(time.time() if now is None else now)
    claims: dict[str, object] = {"sub": recipient, "iat": issued, "exp": issued + int(life)}
    if tenant is not None:
        if not tenant:
            raise ValueError("the tenant of a token is an id: leave it out for all tenants")
        claims["tenant"] = tenant
    if scope is not None:
        claims["scope"] = scope if isinstance(scope, str) else " ".join(scope)
    if key.lstrip().startswith("-----BEGIN"):
        if not key_id:
            raise ValueError("a key in PEM needs key_id=: `tidings signing-key list` shows it")
        signed = _signed("EdDSA", key_id, claims)
        return _compact(signed, _ed25519(key, signed))
    parts = key.split("_")
    if len(parts) != 3 or parts[0] != "tsk":
        raise ValueError("this is no signing key: one begins with tsk_, or is a private key in PEM")
    signed = _signed("HS256", parts[1], claims)
    return _compact(signed, hmac.new(key.encode(), signed, hashlib.sha256).digest())


def _signed(algorithm: str, key_id: str, claims: dict[str, object]) -> bytes:
    header = {"alg": algorithm, "typ": "JWT", "kid": key_id}
    return b".".join(
        _part(json.dumps(of, separators=(",", ":")).encode()) for of in (header, claims)
    )


def _compact(signed: bytes, signature: bytes) -> str:
    return (signed + b"." + _part(signature)).decode()


def _part(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _ed25519(pem: str, signed: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise ImportError("keys of Ed25519 need `pip install tidings[eddsa]`") from None
    key = load_pem_private_key(pem.encode(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("the private key is not one of Ed25519")
    return key.sign(signed)
