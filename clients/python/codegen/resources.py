"""The methods of the client: a file for each resource."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from . import names
from .document import Document, Schema, Types, class_name, identifier, sentence

_HEAD = '''"""{about}

Made by `python -m codegen` from `docs/openapi.json`.
"""

from __future__ import annotations

{imports}'''

_CLASS = '''

class Async{name}:
    """{about}"""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
'''


@dataclass
class Argument:
    """An argument of a method: its name there, and in the request."""

    name: str
    sent_as: str
    kind: str
    default: str
    about: str


@dataclass
class Method:
    """A method to write."""

    name: str
    about: str
    path: str
    http: str
    changes: bool
    answer: str
    in_path: list[Argument] = field(default_factory=list)
    query: list[Argument] = field(default_factory=list)
    body: list[Argument] = field(default_factory=list)
    body_required: bool = False
    whole: Argument | None = None
    fixed: dict[str, str] = field(default_factory=dict)
    # One of call, pages, poll, lines, live, data, upload.
    way: str = "call"
    page: str = ""
    items: str = ""


class Resources:
    """Reads the calls of the document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._sent = Types("params.", sends=True, builtins="builtins.")
        self._got = Types("models.", sends=False, builtins="builtins.")
        self.methods: dict[str, list[Method]] = {}
        self.models: list[str] = ["Problem"]
        self.params: list[str] = []
        self._tags = {tag["name"]: tag["description"] for tag in document.raw.get("tags", [])}
        for path, http, operation in document.operations():
            tag = operation["tags"][0]
            resource, name = names.place(operation["operationId"], tag)
            found = self.methods.setdefault(resource, [])
            found.extend(self._methods(path, http, name, operation))

    def files(self) -> dict[str, str]:
        """Writes the files, by name."""
        found = {f"{of}.py": self._file(of, methods) for of, methods in self.methods.items()}
        found["__init__.py"] = self._index()
        return found

    def _methods(self, path: str, http: str, name: str, operation: Schema) -> list[Method]:
        parameters = self._document.parameters(operation)
        changes = any(of["name"] == "Idempotency-Key" for of in parameters)
        about = f"{operation['summary']}.\n\n{operation.get('description', '')}".strip()
        method = Method(name, about, path, http.upper(), changes, "None")
        for of in parameters:
            if of["in"] == "path":
                arg = self._argument(of, names.parameter(path, of["name"]), "")
                method.in_path.append(arg)
            elif of["in"] == "query":
                method.query.append(self._argument(of, of["name"], "None"))
        answers = self._answers(operation)
        if "text/event-stream" in answers:
            method.way, method.answer = "live", "LiveEvent"
            return [method]
        if "application/octet-stream" in answers:
            method.way, method.answer = "data", "bytes"
            return [method]
        if "application/x-ndjson" in answers and "application/json" not in answers:
            method.way, method.answer = "lines", "Any"
            return [method]
        schema = answers.get("application/json") or answers.get("text/plain")
        self._set_answer(method, schema, "204" in operation["responses"])
        paged = self._pages(method, schema)
        if paged:
            return paged
        content = operation.get("requestBody", {}).get("content", {})
        if content:
            return self._with_body(method, operation, content, answers)
        chosen = {**names.CHOICES, **names.OBJECTS}.get(operation["operationId"])
        if chosen is None or schema is None:
            return [method]
        several = self._choose(method, schema, chosen)
        if operation["operationId"] not in names.OBJECTS:
            return several
        several[1].name, several[1].fixed = name, {}
        return several[1:]

    def _answers(self, operation: Schema) -> Schema:
        found: Schema = {}
        for status, of in operation["responses"].items():
            if status.startswith("2"):
                for kind, content in of.get("content", {}).items():
                    found[kind] = content["schema"]
        return found

    def _set_answer(self, method: Method, schema: Schema | None, nothing: bool) -> None:
        if schema is None:
            method.answer = "None"
            return
        self.models += self._document.uses(schema)
        method.answer = self._got.of(schema) + (" | None" if nothing else "")

    def _argument(self, of: Schema, name: str, default: str) -> Argument:
        kind = self._sent.of(of["schema"])
        if default == "None" and not of.get("required"):
            kind = f"{kind.removesuffix(' | None')} | None"
        elif default == "None":
            default = ""
        return Argument(identifier(name), of["name"], kind, default, of.get("description", ""))

    def _pages(self, method: Method, schema: Schema | None) -> list[Method]:
        """Makes of a call that has pages: `list`, `page`, and `poll` where one may wait."""
        if schema is None or not any(arg.sent_as == "cursor" for arg in method.query):
            return []
        fields = self._document.fields(schema)
        items = [
            (name, of["items"])
            for name, of in fields.items()
            if of.get("type") == "array" and "$ref" in of["items"]
        ]
        if "next" not in fields or len(items) != 1:
            return []
        may_wait = any(arg.sent_as == "wait" for arg in method.query)
        waits = [arg for arg in method.query if may_wait and arg.sent_as in ("since", "wait")]
        method.query = [arg for arg in method.query if arg not in waits]
        prefix = "" if method.name == "list" else method.name + "_"
        page = Method(**{**vars(method), "name": prefix + "page"})
        page.about = f"{method.about}\n\nThis is one page; `{method.name}` gives all."
        all_of = Method(**{**vars(method), "way": "pages", "page": method.answer})
        all_of.items = items[0][0]
        all_of.answer = self._got.of(items[0][1])
        all_of.about = f"{method.about}\n\nPages are fetched as they are needed."
        if not waits:
            return [all_of, page]
        poll = Method(**{**vars(method), "name": prefix + "poll", "way": "poll"})
        poll.query = [self._waits(arg) for arg in waits] + method.query
        poll.answer = f"{method.answer} | None"
        poll.about = f"{method.about}\n\nNone if nothing has changed within `wait`."
        return [all_of, page, poll]

    @staticmethod
    def _waits(arg: Argument) -> Argument:
        kind = arg.kind.removesuffix(" | None")
        default = "" if arg.sent_as == "since" else '"25s"'
        about = arg.about.replace("; `0s` if absent", "")
        return Argument(arg.name, arg.sent_as, kind, default, about)

    def _choose(self, method: Method, schema: Schema, choice: str) -> list[Method]:
        """Makes two methods of a call that answers a list, or an object with a parameter."""
        method.query = [arg for arg in method.query if arg.sent_as != choice]
        variants = self._document.resolve(schema)["oneOf"]
        lists = [of for of in variants if of.get("type") == "array"]
        objects = [of for of in variants if of.get("type") != "array"]
        chosen = Method(**{**vars(method), "name": choice, "fixed": {choice: "True"}})
        self.models += self._document.uses(objects[0]) + self._document.uses(lists[0])
        method.answer, chosen.answer = self._got.of(lists[0]), self._got.of(objects[0])
        return [method, chosen]

    def _with_body(
        self, method: Method, operation: Schema, content: Schema, answers: Schema
    ) -> list[Method]:
        found = []
        method.body_required = operation["requestBody"].get("required", False)
        answered = answers.get("application/json")
        plain = Method(**{**vars(method)})
        plain.query = [arg for arg in method.query if arg.sent_as != "answers"]
        schema = content.get("application/json", {}).get("schema", {})
        one, many = self._variants(schema)
        if one is not None:
            single = Method(**{**vars(plain)})
            # What the path or the query says already, the body need not: one argument for both.
            single.body = self._body(one, {arg.sent_as for arg in plain.in_path + plain.query})
            if many is not None and answered is not None and None not in self._variants(answered):
                single.answer = self._got.of(self._variants(answered)[0] or answered)
            found.append(single)
        if many is not None and (one is None or not self._holds(one, many)):
            several = Method(**{**vars(plain)})
            self.params += self._document.uses(many)
            kind = self._sent.of(many)
            several.whole = Argument("items", "", kind, "", "What is sent, in its order.")
            either = "application/x-ndjson" in content or one is not None
            if either and operation["operationId"] not in names.MANY:
                several.name += "_many"
            if one is not None and answered is not None and None not in self._variants(answered):
                several.answer = self._got.of(self._variants(answered)[1] or answered)
            found.append(several)
        if not found:
            self.params += self._document.uses(schema)
            plain.whole = Argument("body", "", self._sent.of(schema), "", "The body.")
            found.append(plain)
        lines = content.get("application/x-ndjson", {}).get("schema")
        if lines is not None:
            stream = Method(**{**vars(method), "way": "upload"})
            stream.name += "_stream"
            self.params += self._document.uses(lines)
            self.models += self._document.uses(answers["application/x-ndjson"])
            kind = f"Items[{self._sent.of(lines)}]"
            stream.whole = Argument("items", "", kind, "", "What is sent, one by one.")
            stream.answer = self._got.of(answers["application/x-ndjson"])
            found.append(stream)
        return found

    def _variants(self, schema: Schema) -> tuple[Schema | None, Schema | None]:
        """Returns the object and the list that a body may be."""
        resolved = self._document.resolve(schema)
        if self._document.is_object(schema):
            return schema, None
        if resolved.get("type") == "array":
            return None, resolved
        found = [self._variants(of) for of in resolved.get("oneOf", [])]
        objects = [one for one, _ in found if one is not None]
        lists = [many for _, many in found if many is not None]
        # Of several objects none can be given by its fields: then the body is given as a whole.
        return objects[0] if len(objects) == 1 else None, lists[0] if lists else None

    def _holds(self, one: Schema, many: Schema) -> bool:
        """Returns true if the object has a field that is such a list: it does for both."""
        fields = self._document.fields(one).values()
        return any(of.get("items") == many["items"] for of in fields)

    def _body(self, schema: Schema, said: set[str]) -> list[Argument]:
        fields, required = self._document.fields(schema), self._document.required(schema)
        found = []
        for name, of in fields.items():
            if name in said:
                continue
            self.params += self._document.uses(of)
            kind = self._sent.of(of)
            about = of.get("description") or next(
                (part["description"] for part in of.get("oneOf", []) if "description" in part), ""
            )
            default = "" if name in required else "UNSET"
            if name not in required:
                bare = kind.removesuffix(" | None")
                kind = f"{bare} | Unset" + kind.removeprefix(bare)
            found.append(Argument(identifier(name), name, kind, default, about))
        return sorted(found, key=lambda arg: arg.default != "")

    def _file(self, resource: str, methods: list[Method]) -> str:
        about = self._tags.get(resource) or names.ABOUT.get(resource) or f"Calls of `{resource}`"
        about = about.rstrip(".") + "."
        body = _CLASS.format(name=class_name(resource), about=about)
        body += "".join("\n" + _written(method) for method in methods)
        return _HEAD.format(about=about, imports=_imports(body)) + body

    def _index(self) -> str:
        found = sorted(self.methods)
        imports = "from ..transport import AsyncTransport\n" + "".join(
            f"from .{of} import Async{class_name(of)}\n" for of in found
        )
        body = '\n\nclass AsyncResources:\n    """All calls, by what they concern."""\n\n'
        body += "    def __init__(self, transport: AsyncTransport) -> None:\n"
        body += "        self._transport = transport\n"
        body += "".join(f"        self.{of} = Async{class_name(of)}(transport)\n" for of in found)
        return _HEAD.format(about="All calls, by what they concern.", imports=imports) + body


def _imports(body: str) -> str:
    def has(*words: str) -> list[str]:
        return [word for word in words if re.search(rf"\b{word}\b", body)]

    lines = []
    if "builtins." in body:
        lines.append("import builtins")
    for module, words in (
        ("collections.abc", has("Mapping", "Sequence")),
        ("datetime", has("date", "datetime")),
        ("typing", has("Any", "Literal")),
    ):
        if words:
            lines.append(f"from {module} import {', '.join(words)}")
    if lines:
        lines.append("")
    local = [word for word in ("models", "params") if f"{word}." in body]
    if local:
        lines.append(f"from ... import {', '.join(local)}")
    if has("LiveEvent"):
        lines.append("from ..._call import LiveEvent")
    values = has("UNSET", "Unset")
    values += [word for word in ("given", "seconds", "segment") if f"{word}(" in body]
    if values:
        lines.append(f"from ..._values import {', '.join(values)}")
    ours = has("Items", "Stream")
    if ours:
        lines.append(f"from ..platform import {', '.join(ours)}")
    lines.append("from ..transport import AsyncTransport")
    return "\n".join(lines) + "\n"


def _written(method: Method) -> str:
    streams = method.way in ("pages", "lines", "live", "data", "upload")
    returns = f"Stream[{method.answer}]" if streams else method.answer
    word = "def" if streams else "async def"
    rows = ["self"]
    rows += [f"{arg.name}: {arg.kind}" for arg in method.in_path]
    if method.whole is not None:
        rows.append(f"{method.whole.name}: {method.whole.kind}")
    if len(rows) > 1:
        rows.append("/")
    named = sorted([*method.body, *method.query], key=lambda arg: arg.default != "")
    keywords = [f"{arg.name}: {arg.kind}" + _default(arg) for arg in named]
    if method.way == "live":
        keywords.append("last_event_id: str | None = None")
    if method.changes:
        keywords.append("idempotency_key: str | None = None")
    if keywords:
        rows += ["*", *keywords]
    head = f"    {word} {method.name}({', '.join(rows)}) -> {returns}:\n"
    if len(head) > 101:
        listed = "".join(f"        {row},\n" for row in rows)
        head = f"    {word} {method.name}(\n{listed}    ) -> {returns}:\n"
    return head + _documented(method, named) + _code(method, returns)


def _default(arg: Argument) -> str:
    return f" = {arg.default}" if arg.default else ""


def _documented(method: Method, named: list[Argument]) -> str:
    indent = " " * 8
    text = f'{indent}"""{sentence(method.about, indent, first=3)}\n'
    whole = [method.whole] if method.whole else []
    listed = [arg for arg in [*method.in_path, *whole, *named] if arg.about]
    rows = [(arg.name, arg.about) for arg in listed]
    if method.way == "live":
        rows.append(("last_event_id", "The `id` of the last event that was received."))
    if method.changes:
        key = "Names the call: one with the same key is made once. Made by itself if absent."
        rows.append(("idempotency_key", key))
    if rows:
        text += f"\n{indent}Args:\n"
    for name, about in rows:
        start = f"{name}: "
        about = " ".join(about.split())
        about += "" if about.endswith((".", "`")) else "."
        more = sentence(about, indent + " " * 8, first=len(start))
        text += f"{indent}    {start}{more}\n"
    return text + f'{indent}"""\n'


def _code(method: Method, returns: str) -> str:
    path = _path(method)
    pairs = [f'"{arg.sent_as}": {arg.name}' for arg in method.query]
    pairs += [f'"{name}": {value}' for name, value in method.fixed.items()]
    query = _dict(pairs)
    start = "        return self._transport."
    if method.way == "live":
        return _wrapped(f"{start}live", [path, query, "last_event_id"])
    if method.way in ("lines", "data"):
        return f"{start}{method.way}({path}, {query})\n"
    if method.way == "pages":
        return _wrapped(f"{start}pages", [method.page, f'"{method.items}"', path, query])
    if method.way == "upload":
        args = [method.answer, path, "items", f"query={query}", "idempotency_key=idempotency_key"]
        return _wrapped(f"{start}upload", args)
    args = ["None" if returns == "None" else method.answer, f'"{method.http}"', path]
    if pairs:
        args.append(f"query={query}")
    if method.whole is not None:
        args.append(f"body={method.whole.name}")
    elif method.body:
        fields = _dict([f'"{arg.sent_as}": {arg.name}' for arg in method.body])
        args.append(f"body=given({fields})" + ("" if method.body_required else " or UNSET"))
    if method.changes:
        args += ["changes=True", "idempotency_key=idempotency_key"]
    if method.way == "poll":
        args.append("longer=seconds(wait)")
    call = "await self._transport.call"
    if returns == "None":
        return _wrapped(f"        {call}", args)
    return _wrapped(f"        answer: {returns} = {call}", args) + "        return answer\n"


def _dict(pairs: list[str]) -> str:
    return f"{{{', '.join(pairs)}}}"


def _wrapped(start: str, args: list[str]) -> str:
    """Writes a call on one line, or with its arguments on one, or with one a line."""
    line = f"{start}({', '.join(args)})\n"
    if len(line) <= 101:
        return line
    inner = "            " + ", ".join(args)
    if len(inner) <= 100:
        return f"{start}(\n{inner}\n        )\n"
    return f"{start}(\n" + "".join(_argument_line(arg) for arg in args) + "        )\n"


def _argument_line(arg: str) -> str:
    indent = " " * 12
    if len(indent + arg) <= 99:
        return f"{indent}{arg},\n"
    start, rest = arg.split("{", 1)
    inner, end = rest.rsplit("}", 1)
    pairs = inner.split(", ")
    if start.endswith("("):
        rows = "".join(f"{indent}        {pair},\n" for pair in pairs)
        opened = f"{indent}{start}\n{indent}    {{\n{rows}{indent}    }}\n{indent}{end},\n"
        return opened
    rows = "".join(f"{indent}    {pair},\n" for pair in pairs)
    return f"{indent}{start}{{\n{rows}{indent}}}{end},\n"


def _path(method: Method) -> str:
    if not method.in_path:
        return f'"{method.path}"'
    path = method.path
    for arg in method.in_path:
        path = path.replace(f"{{{arg.sent_as}}}", f"{{segment({arg.name})}}")
    return f'f"{path}"'
