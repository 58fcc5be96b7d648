"""The classes of errors: one for each code of `docs/errors.md`."""

from __future__ import annotations

import re

from .document import class_name, sentence

_HEAD = '''"""The errors of the API: a class for each code.

Made by `python -m codegen` from `docs/errors.md`.
"""

from __future__ import annotations

from ._errors import AnswerError, APIConnectionError, APIError, APITimeoutError, TidingsError

__all__ = {names}
'''

_OWN = ["AnswerError", "APIConnectionError", "APIError", "APITimeoutError", "TidingsError"]


def errors(page: str) -> str:
    """Writes the classes. A code that ends as another one is a kind of it."""
    found = re.findall(r"^## `(\w+)`\n\n(.+?)(?=^## |\Z)", page, re.M | re.S)
    codes = {code: text for code, text in found}
    ordered = sorted(codes, key=lambda code: _base(code, codes) is not None)
    parts = []
    for code in ordered:
        base = _base(code, codes)
        about = re.sub(r" Do not retry; fix the request first\.| You may retry\.", "", codes[code])
        about = re.sub(r" Retry after \d+ s \(`Retry-After`\)\.", "", about)
        parts.append(
            f"class {error_class(code)}({error_class(base) if base else 'APIError'}):\n"
            f'    """{sentence(about, "    ", first=3)}\n    """\n\n'
            f'    known_code = "{code}"\n'
        )
    names = sorted([*_OWN, *map(error_class, codes)], key=str.lower)
    listed = "[\n" + "".join(f'    "{name}",\n' for name in names) + "]"
    rows = "".join(f'    "{code}": {error_class(code)},\n' for code in codes)
    table = f"BY_CODE: dict[str, type[APIError]] = {{\n{rows}}}\n"
    return _HEAD.format(names=listed) + "\n\n" + "\n\n".join([*parts, table])


def error_class(code: str) -> str:
    """Returns the name of the class of a code."""
    return class_name(code) + "Error"


def _base(code: str, codes: dict[str, str]) -> str | None:
    return min((other for other in codes if code.endswith("_" + other)), key=len, default=None)
