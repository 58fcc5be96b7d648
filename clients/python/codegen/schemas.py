"""The types of answers (`models`) and of the parts of requests (`params`)."""

from __future__ import annotations

import json

from .document import Document, Schema, Types, class_name, identifier, sentence

_HEAD = '''"""{about}

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations
'''

_MODELS = """
from datetime import date, datetime
from typing import Any, Literal, TypeAlias

from ._model import Model

__all__ = {names}
"""

_PARAMS = """
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, TypeAlias, TypedDict

__all__ = {names}
"""


def models(document: Document, names: list[str]) -> str:
    """Writes the classes of answers."""
    types = Types("", sends=False)
    classes = [name for name in names if document.is_object(document.schemas[name])]
    parts = [_model(document, types, name) for name in _bases_first(document, classes)]
    aliases = [name for name in names if name not in classes]
    parts += [_alias(document, types, name) for name in _used_first(document, aliases)]
    return _file("The types of answers.", _MODELS, names, parts)


def params(document: Document, names: list[str]) -> str:
    """Writes the types of the parts of requests."""
    types = Types("", sends=True)
    classes = [name for name in names if document.is_object(document.schemas[name])]
    aliases = [name for name in names if name not in classes]
    parts = [_param(document, types, name) for name in classes]
    parts += [_alias(document, types, name) for name in _used_first(document, aliases)]
    return _file("The types of the parts of requests: dicts.", _PARAMS, names, parts)


def _file(about: str, imports: str, names: list[str], parts: list[str]) -> str:
    listed = "[\n" + "".join(f'    "{class_name(name)}",\n' for name in names) + "]"
    body = "\n\n".join(parts)
    head = _HEAD.format(about=about) + imports.format(names=listed)
    unused = [
        ("date, datetime", "datetime", "date |" not in body and "date\n" not in body),
        ("Any, ", "", "Any" not in body),
        ("Literal, ", "", "Literal" not in body),
    ]
    for old, new, absent in unused:
        if absent:
            head = head.replace(old, new)
    return head + "\n\n" + body


def _bases_first(document: Document, names: list[str]) -> list[str]:
    """Orders classes so that the parts of `allOf` come before what is made of them."""
    done: list[str] = []

    def add(name: str) -> None:
        if name in done:
            return
        for part in document.schemas[name].get("allOf", []):
            for base in document.uses(part) if "$ref" in part else []:
                add(base)
        done.append(name)

    for name in names:
        add(name)
    return done


def _used_first(document: Document, names: list[str]) -> list[str]:
    """Orders aliases so that each comes after those that it names."""
    done: list[str] = []

    def add(name: str) -> None:
        if name in done or name not in names:
            return
        for used in document.uses(document.schemas[name]):
            add(used)
        done.append(name)

    for name in names:
        add(name)
    return done


def _doc(text: str, indent: str) -> str:
    words = sentence(text, indent, first=3)
    last = words.rsplit("\n", 1)[-1]
    close = f"\n{indent}" if len(last) + len(indent) > 97 or words.endswith('"') else ""
    return f'{indent}"""{words}{close}"""\n'


def _model(document: Document, types: Types, name: str) -> str:
    schema = document.schemas[name]
    bases, own, required = [], dict(schema.get("properties", {})), set(schema.get("required", []))
    for part in schema.get("allOf", []):
        if "$ref" in part:
            bases.append(class_name(document.uses(part)[0]))
        else:
            own.update(part.get("properties", {}))
            required |= set(part.get("required", []))
    lines = [f"class {class_name(name)}({', '.join(bases) or 'Model'}):\n"]
    lines.append(_doc(schema.get("description") or f"An answer of the API: `{name}`.", "    "))
    lines.append("\n" + _facts(document, own, document.required(schema)))
    for field, of in own.items():
        kind = types.of(of)
        if field not in required:
            kind = f"{kind.removesuffix(' | None')} | None = None"
        lines.append(f"    {identifier(field)}: {kind}\n")
        if "description" in _described(of):
            lines.append(_doc(_described(of)["description"], "    "))
    return "".join(lines)


def _facts(document: Document, own: dict[str, Schema], required: set[str]) -> str:
    """Writes what chooses between classes, and names that Python does not take."""
    text = ""
    if required:
        text += _set("_required", sorted(required))
    constant = {}
    for field, of in own.items():
        values = document.resolve(of).get("enum", [])
        if len(values) == 1:
            constant[field] = values[0]
    if constant:
        text += f"    _constant = {json.dumps(constant)}\n"
    renamed = {identifier(field): field for field in own if identifier(field) != field}
    if renamed:
        text += f"    _names = {json.dumps(renamed)}\n"
    return text + "\n" if text else ""


def _set(name: str, values: list[str]) -> str:
    quoted = [json.dumps(value) for value in values]
    line = f"    {name} = frozenset([{', '.join(quoted)}])\n"
    if len(line) <= 101:
        return line
    inner = f"        [{', '.join(quoted)}]\n"
    if len(inner) > 101:
        rows = "".join(f"            {value},\n" for value in quoted)
        inner = f"        [\n{rows}        ]\n"
    return f"    {name} = frozenset(\n{inner}    )\n"


def _described(of: Schema) -> Schema:
    if "description" in of:
        return of
    for part in of.get("oneOf", []):
        if "description" in part:
            found: Schema = part
            return found
    return {}


def _param(document: Document, types: Types, name: str) -> str:
    schema = document.schemas[name]
    fields, required = document.fields(schema), document.required(schema)
    must = {field: of for field, of in fields.items() if field in required}
    may = {field: of for field, of in fields.items() if field not in required}
    python = class_name(name)
    about = schema.get("description") or f"A part of a request: `{name}`."
    if must and may:
        base = f"_{python}"
        first = _typed_dict(types, base, "TypedDict", must, f"What `{python}` must have.", True)
        return f"{first}\n\n{_typed_dict(types, python, base, may, about, False)}"
    return _typed_dict(types, python, "TypedDict", must or may, about, bool(must))


def _typed_dict(
    types: Types, name: str, base: str, fields: dict[str, Schema], about: str, total: bool
) -> str:
    ending = "" if total else ", total=False"
    if any(identifier(field) != field for field in fields):
        rows = "".join(f'        "{field}": "{types.of(of)}",\n' for field, of in fields.items())
        inner = name if base == "TypedDict" else f"{name}Words"
        text = f'{inner} = TypedDict(\n    "{inner}",\n    {{\n{rows}    }},\n{_total(total)})\n'
        if base == "TypedDict":
            return text
        return f"{text}\n\nclass {name}({base}, {inner}):\n{_doc(about, '    ')}"
    lines = [f"class {name}({base}{ending}):\n", _doc(about, "    "), "\n"]
    for field, of in fields.items():
        lines.append(f"    {field}: {types.of(of)}\n")
        if "description" in _described(of):
            lines.append(_doc(_described(of)["description"], "    "))
    return "".join(lines)


def _total(total: bool) -> str:
    return "" if total else "    total=False,\n"


def _alias(document: Document, types: Types, name: str) -> str:
    schema = document.schemas[name]
    kind = types.of(schema)
    line = f"{class_name(name)}: TypeAlias = {kind}\n"
    if len(line) > 101:
        parts = [_part(part) for part in kind.split(" | ")]
        line = f"{class_name(name)}: TypeAlias = (\n    " + "\n    | ".join(parts) + "\n)\n"
    return line + (_doc(schema["description"], "") if "description" in schema else "")


def _part(part: str) -> str:
    if len(part) < 95:
        return part
    start, words = part.removesuffix("]").split("[", 1)
    return f"{start}[\n" + "".join(f"        {word},\n" for word in words.split(", ")) + "    ]"
