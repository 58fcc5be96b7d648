"""Values as they go into a request: the mark of what is left out, and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any, Final, Literal
from urllib.parse import quote


class _Unset(Enum):
    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


Unset = Literal[_Unset.UNSET]
"""The type of `UNSET`."""

UNSET: Final = _Unset.UNSET
"""A field that is left out: a change leaves it as it is. `None` removes its value."""


def given(fields: Mapping[str, object]) -> dict[str, object]:
    """Returns the fields that are not left out."""
    return {name: value for name, value in fields.items() if value is not UNSET}


def to_json(value: object) -> bytes:
    """Writes a body."""
    text = json.dumps(
        value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode()


def _plain(value: object) -> object:
    if isinstance(value, (date, datetime)):
        return instant(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return list(value)
    to_dict = getattr(value, "to_dict", None)
    if callable(to_dict):
        return to_dict()
    raise TypeError(f"a {type(value).__name__} cannot be sent as JSON: {value!r}")


def instant(value: date | datetime) -> str:
    """Writes a date, or an instant with its time zone."""
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone: use datetime.now(timezone.utc)")
    return value.isoformat()


def segment(value: str) -> str:
    """Writes a part of a path. Dots alone would lead elsewhere, so they are escaped too."""
    if value in (".", ".."):
        return value.replace(".", "%2E")
    return quote(value, safe="")


def query_of(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Lists the parameters of a query; `None` is left out, a list gives its name several times."""
    pairs: list[tuple[str, str]] = []
    for name, value in fields.items():
        if value is None:
            continue
        values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        pairs.extend((name, _word(one)) for one in values)
    return pairs


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return instant(value)
    return str(value)


def seconds(duration: str | None) -> float:
    """Reads a duration such as `25s` or `1m`; 0 where it is none that a server takes."""
    if not duration:
        return 0.0
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
    digits = duration.rstrip("smh")
    unit = units.get(duration[len(digits) :])
    return int(digits) * unit if digits.isdecimal() and unit is not None else 0.0
