"""The server that the tests run against, and what may go wrong on the way to it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from faults import Faults, Stub

from tidings import AsyncTidings, Tidings

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("TIDINGS_BIN") or ROOT / "target/debug/tidings").resolve()
CONFIG = """
[users]
origins = ["http://127.0.0.1:8080"]
topics = ["artist/"]
tokens = "1h"
"""


@dataclass(frozen=True)
class Server:
    """A server over a store of its own."""

    url: str
    key: str
    signing_key: str
    directory: Path

    def run(self, *arguments: str) -> str:
        """Runs a command of the binary, and returns the last line that it prints."""
        return command(self.directory, *arguments)


def command(directory: Path, *arguments: str) -> str:
    ended = subprocess.run(
        [BINARY, *arguments], cwd=directory, check=True, capture_output=True, text=True
    )
    return ended.stdout.strip().rsplit("\n", 1)[-1]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is not there: `cargo build -p tidings`, or set TIDINGS_BIN")
    directory = tmp_path_factory.mktemp("tidings")
    first = (ROOT / "examples/first/tidings.toml").read_text()
    (directory / "tidings.toml").write_text(first + CONFIG)
    key = command(directory, "key", "new", "--data", "data")
    signing_key = command(directory, "signing-key", "new", "--data", "data")
    arguments = ["serve", "--config", "tidings.toml", "--data", "data", "--listen", "127.0.0.1:0"]
    with (
        open(directory / "log", "w") as log,
        subprocess.Popen(
            [BINARY, *arguments], cwd=directory, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("listening on "):
                url = line.removeprefix("listening on ").strip()
                break
        else:
            pytest.fail(f"the server did not start: {(directory / 'log').read_text()}")
        yield Server(url, key, signing_key, directory)
        process.terminate()


@pytest.fixture
def client(server: Server) -> Iterator[Tidings]:
    with Tidings(server.url, server.key) as client:
        yield client


@pytest.fixture
def faults(server: Server) -> Iterator[Faults]:
    with Faults(server.url) as proxy:
        yield proxy


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as stub:
        yield stub


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the client waits between tries. It does not really wait."""
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("tidings._sync.platform.sleep", waited.append)
    monkeypatch.setattr("tidings._async.platform.sleep", pause)
    return waited


def asynchronous(server: Server, url: str | None = None) -> AsyncTidings:
    return AsyncTidings(url or server.url, server.key)
