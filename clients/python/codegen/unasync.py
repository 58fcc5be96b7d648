"""Makes the synchronous client of the asynchronous one."""

from __future__ import annotations

import re

_WORDS = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\b__a(enter|exit)__", r"__\1__"),
    (r"\ba(close|read|iter_bytes)\b", r"\1"),
    (r"\b_async\b", "_sync"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
)


def synchronous(text: str) -> str:
    """Returns the text of a file without waiting."""
    for pattern, by in _WORDS:
        text = re.sub(pattern, by, text)
    return text
