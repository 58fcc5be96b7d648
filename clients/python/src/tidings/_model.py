"""Answers as objects: what is known has a type, and what a newer server adds is kept."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

_FRACTION = re.compile(r"\.(\d+)")


class Model:
    """An answer, or a part of one.

    Its attributes are those of the API document. What this version of the client does not know is
    in `extra`, and `to_dict()` is the whole JSON.
    """

    _required: ClassVar[frozenset[str]] = frozenset()
    _constant: ClassVar[Mapping[str, str]] = {}
    _names: ClassVar[Mapping[str, str]] = {}
    _raw: Mapping[str, Any]

    def __init__(self, raw: Mapping[str, Any]) -> None:
        values = self.__dict__
        values["_raw"] = raw
        for name, attribute, convert in _fields(type(self)):
            if name in raw:
                values[attribute] = convert(raw[name])

    @property
    def extra(self) -> dict[str, Any]:
        """The fields that this version of the client does not know."""
        known = {name for name, _, _ in _fields(type(self))}
        return {name: value for name, value in self._raw.items() if name not in known}

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON as it came."""
        return dict(self._raw)

    def __getattr__(self, attribute: str) -> Any:
        known = any(attribute == of for _, of, _ in _fields(type(self)))
        why = "the server did not send it" if known else "unknown fields are in `extra`"
        raise AttributeError(f"{type(self).__name__} has no `{attribute}`: {why}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__["_raw"] == self._raw

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" for name, value in self.__dict__.items() if name != "_raw"
        )
        return f"{type(self).__name__}({shown})"


_Convert = Callable[[Any], Any]

_KNOWN: dict[type[Model], tuple[tuple[str, str, _Convert], ...]] = {}


def _fields(model: type[Model]) -> tuple[tuple[str, str, _Convert], ...]:
    known = _KNOWN.get(model)
    if known is None:
        known = _KNOWN[model] = _find_fields(model)
    return known


def _find_fields(model: type[Model]) -> tuple[tuple[str, str, _Convert], ...]:
    hints = get_type_hints(model)
    found = []
    for attribute, hint in hints.items():
        if not attribute.startswith("_"):
            name = model._names.get(attribute, attribute)
            found.append((name, attribute, converter(hint)))
    return tuple(found)


@lru_cache(maxsize=None)
def converter(hint: Any) -> _Convert:
    """Returns what makes a value of a type out of JSON. Where it cannot, the JSON stays as it is."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list:
        return _list_of(converter(arguments[0]))
    if origin is dict:
        return _dict_of(converter(arguments[1]))
    if origin is Union or origin is types.UnionType:
        return _one_of(arguments)
    if hint is datetime:
        return _instant
    if hint is date:
        return _date
    if isinstance(hint, type) and issubclass(hint, Model):
        return _model_of(hint)
    return _same


def _same(value: Any) -> Any:
    return value


def _list_of(convert: _Convert) -> _Convert:
    return lambda value: [convert(one) for one in value] if isinstance(value, list) else value


def _dict_of(convert: _Convert) -> _Convert:
    def converted(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: convert(one) for name, one in value.items()}

    return converted


def _model_of(model: type[Model]) -> _Convert:
    return lambda value: model(value) if isinstance(value, dict) else value


def _one_of(choices: tuple[Any, ...]) -> _Convert:
    """Chooses by the kind of JSON; of several objects, by the fields that each must have."""
    models = [of for of in choices if isinstance(of, type) and issubclass(of, Model)]
    lists = [converter(of) for of in choices if get_origin(of) is list]
    dicts = [converter(of) for of in choices if get_origin(of) is dict]
    texts = [converter(of) for of in choices if of in (datetime, date)]

    def converted(value: Any) -> Any:
        if isinstance(value, dict):
            model = _best(models, value)
            if model is not None:
                return model(value)
            return dicts[0](value) if dicts else value
        if isinstance(value, list) and lists:
            return lists[0](value)
        if isinstance(value, str) and texts:
            return texts[0](value)
        return value

    return converted


def _best(models: list[type[Model]], value: dict[str, Any]) -> type[Model] | None:
    def fits(model: type[Model]) -> bool:
        return all(value.get(name) == of for name, of in model._constant.items())

    def weight(model: type[Model]) -> tuple[bool, int]:
        return model._required <= value.keys(), len(model._required & value.keys())

    return max(filter(fits, models), key=weight, default=None)


def _instant(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = _FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), value, count=1)
    if text.endswith(("Z", "z")):
        text = text[:-1] + "+00:00"
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return value


def _date(value: Any) -> Any:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        return value
