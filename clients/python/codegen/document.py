"""The document of the API, and the types that its schemas are in Python."""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

_REF = "#/components/schemas/"
_METHODS = ("get", "put", "post", "patch", "delete")
# Names that a generated class needs for itself.
_TAKEN = {"extra", "to_dict"}


def name_of(ref: str) -> str:
    """Returns the name of the schema that a reference leads to."""
    return ref.removeprefix(_REF)


def identifier(name: str) -> str:
    """Returns a name as Python takes it."""
    name = re.sub(r"\W", "_", name)
    return name + "_" if keyword.iskeyword(name) or name in _TAKEN else name


def class_name(name: str) -> str:
    """Returns `snake_case` as `CamelCase`."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[\W_]+", name))


def sentence(text: str, indent: str, first: int = 0) -> str:
    """Wraps a description, without its first indent. `first` is what its first line has already."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    wrapped: list[str] = []
    for paragraph in paragraphs:
        width = 100 - len(indent)
        gap = " " * first if not wrapped else ""
        lines = textwrap.wrap(
            " ".join(paragraph.split()),
            width,
            initial_indent=gap,
            break_long_words=False,
            break_on_hyphens=False,
        )
        wrapped.append(("\n" + indent).join(lines)[len(gap) :])
    return ("\n\n" + indent).join(wrapped).replace("\\", "\\\\")


class Document:
    """The document of the API."""

    def __init__(self, path: Path) -> None:
        self.raw: Schema = json.loads(path.read_text())
        self.schemas: dict[str, Schema] = self.raw["components"]["schemas"]

    def operations(self) -> list[tuple[str, str, Schema]]:
        """Lists all calls: path, method, description."""
        return [
            (path, method, item[method])
            for path, item in self.raw["paths"].items()
            for method in _METHODS
            if method in item
        ]

    def parameters(self, operation: Schema) -> list[Schema]:
        """Lists the parameters of a call, those that calls share too."""
        shared = self.raw["components"].get("parameters", {})
        listed: list[Schema] = operation.get("parameters", [])
        return [shared[one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one for one in listed]

    def resolve(self, schema: Schema) -> Schema:
        """Follows references."""
        while "$ref" in schema:
            schema = self.schemas[name_of(schema["$ref"])]
        return schema

    def fields(self, schema: Schema) -> dict[str, Schema]:
        """Lists the fields of an object, those of its parts too."""
        schema = self.resolve(schema)
        found: dict[str, Schema] = {}
        for part in schema.get("allOf", []):
            found.update(self.fields(part))
        found.update(schema.get("properties", {}))
        return found

    def required(self, schema: Schema) -> set[str]:
        """Returns the names of the fields that an object must have."""
        schema = self.resolve(schema)
        found = set(schema.get("required", []))
        for part in schema.get("allOf", []):
            found |= self.required(part)
        return found

    def is_object(self, schema: Schema) -> bool:
        """Returns true if the schema is an object whose fields are named."""
        schema = self.resolve(schema)
        named = schema.get("type") == "object" and self._is_named(schema)
        return "allOf" in schema or named

    @staticmethod
    def _is_named(schema: Schema) -> bool:
        extra = schema.get("additionalProperties")
        return "properties" in schema or not isinstance(extra, dict)

    def uses(self, schema: Schema) -> list[str]:
        """Lists the names of the schemas that one names directly."""
        found = []
        if "$ref" in schema:
            found.append(name_of(schema["$ref"]))
        for key in ("oneOf", "anyOf", "allOf"):
            for part in schema.get(key, []):
                found += self.uses(part)
        for part in schema.get("properties", {}).values():
            found += self.uses(part)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                found += self.uses(schema[key])
        return found

    def reachable(self, names: list[str]) -> list[str]:
        """Lists what these schemas need, with them, by name."""
        found: set[str] = set()
        left = list(names)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += self.uses(self.schemas[name])
        return sorted(found)


class Types:
    """How a schema is written as a type: one way in requests, another in answers."""

    def __init__(self, prefix: str, *, sends: bool, builtins: str = "") -> None:
        self._prefix = prefix
        self._sends = sends
        self._builtins = builtins

    def of(self, schema: Schema) -> str:
        """Returns the type of a schema."""
        parts = self._parts(schema)
        if "None" in parts:
            parts = [part for part in parts if part != "None"] + ["None"]
        return " | ".join(dict.fromkeys(parts))

    def _parts(self, schema: Schema) -> list[str]:
        if "$ref" in schema:
            return [self._prefix + class_name(name_of(schema["$ref"]))]
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return [part for one in schema[key] for part in self._parts(one)]
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return [self._kind(kind, schema) for kind in kinds] or ["Any"]

    def _kind(self, kind: str, schema: Schema) -> str:
        if kind == "array":
            items = self.of(schema.get("items", {}))
            return f"Sequence[{items}]" if self._sends else f"{self._builtins}list[{items}]"
        if kind == "object":
            extra = schema.get("additionalProperties")
            values = self.of(extra) if isinstance(extra, dict) else "Any"
            return (
                f"Mapping[str, {values}]" if self._sends else f"{self._builtins}dict[str, {values}]"
            )
        if kind == "string":
            return self._text(schema)
        kinds = {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}
        return kinds.get(kind, "Any")

    def _text(self, schema: Schema) -> str:
        if "enum" in schema:
            literal = f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
            return literal if self._sends else f"{literal} | str"
        made = {"date-time": "datetime", "date": "date"}.get(schema.get("format", ""))
        if made is None:
            return "str"
        return f"{made} | str" if self._sends else made
