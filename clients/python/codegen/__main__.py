"""Writes the generated files, or checks them."""

from __future__ import annotations

import sys
from pathlib import Path

from . import schemas
from .document import Document
from .problems import errors
from .resources import Resources
from .unasync import synchronous

HERE = Path(__file__).resolve().parent.parent
DOCS = HERE.parent.parent / "docs"
SOURCE = HERE / "src" / "tidings"


def generated() -> dict[Path, str]:
    """Makes all files, by path."""
    document = Document(DOCS / "openapi.json")
    resources = Resources(document)
    files = {
        SOURCE / "errors.py": errors((DOCS / "errors.md").read_text()),
        SOURCE / "models.py": schemas.models(document, document.reachable(resources.models)),
        SOURCE / "params.py": schemas.params(document, document.reachable(resources.params)),
    }
    for name, text in resources.files().items():
        files[SOURCE / "_async" / "resources" / name] = text
        files[SOURCE / "_sync" / "resources" / name] = synchronous(text)
    for name in ("transport.py", "client.py"):
        text = (SOURCE / "_async" / name).read_text()
        files[SOURCE / "_sync" / name] = synchronous(text)
    return files


def stale() -> list[Path]:
    """Lists the files that are not what they would be, and those that would not be there."""
    files = generated()
    found = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for folder in ("_async/resources", "_sync/resources"):
        found += [path for path in (SOURCE / folder).glob("*.py") if path not in files]
    return found


def main() -> int:
    """Runs the command."""
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"{path.relative_to(HERE)} is not current: run `python -m codegen`")
        return 1 if stale() else 0
    files = generated()
    for path in stale():
        if path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path])
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
