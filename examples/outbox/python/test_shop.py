"""The shop in a database of its own, and tidings, by the binary that TIDINGS_BIN names."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path
from typing import Any

import psycopg
import pytest
from shop import Customer, Database, Refused, migrate, order, pay, ship

HERE = Path(__file__).resolve().parent
BINARY = Path(os.environ.get("TIDINGS_BIN") or HERE.parents[2] / "target/debug/tidings").resolve()
ANA = Customer(id="ana", name="Ana Ruiz", email="ana@example.org")


def program(name: str) -> str | None:
    return shutil.which(name) or next(iter(glob(f"/usr/lib/postgresql/*/bin/{name}")), None)


def until(what: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


def as_owner(folder: Path) -> dict[str, Any]:
    """PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return {}
    owner = pwd.getpwnam("postgres")
    os.chown(folder, owner.pw_uid, owner.pw_gid)
    for parent in folder.parents:
        if parent.owner() == "root" and str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    initdb, postgres = program("initdb"), program("postgres")
    if initdb is None or postgres is None:
        if os.environ.get("TIDINGS_REQUIRE_SERVERS"):
            pytest.fail("PostgreSQL is not there")
        pytest.skip("PostgreSQL is not there")
    folder = tmp_path_factory.mktemp("shop")
    owner = as_owner(folder)
    data = str(folder / "data")
    make = [initdb, "-U", "shop", "-A", "trust", "-E", "UTF8", "-D", data]
    subprocess.run(make, check=True, cwd=folder, capture_output=True, **owner)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run = [postgres, "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", ""]
    with subprocess.Popen(run, cwd=folder, stderr=subprocess.DEVNULL, **owner) as process:
        address = f"postgres://shop@127.0.0.1:{port}/postgres"

        def answers() -> bool:
            try:
                psycopg.connect(address).close()
            except psycopg.OperationalError:
                return False
            return True

        until(answers)
        yield address
        process.send_signal(2)


@pytest.fixture
def db(url: str) -> Iterator[Database]:
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection)
        yield connection


def outbox(db: Database, where: str = "true") -> list[str]:
    sql = f"SELECT payload->>'type' FROM tidings_outbox WHERE {where} ORDER BY id"
    return [kind for (kind,) in db.execute(sql.encode())]


def test_the_day_of_the_page(url: str) -> None:
    ended = subprocess.run(
        [sys.executable, "main.py"],
        cwd=HERE,
        env={**os.environ, "SHOP_DATABASE": url},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert "not paid: order 2 costs 12900 cents, not 900" in ended.stdout
    with psycopg.connect(url) as db:
        told = ["order_placed", "order_placed", "order_paid", "order_shipped"]
        assert outbox(db) == told
        assert len(db.execute("SELECT FROM payments").fetchall()) == 1


def test_a_step_is_done_and_told_once_however_many_try_it(url: str, db: Database) -> None:
    number = order(db, ANA, "A table", 100)
    with pytest.raises(Refused, match="not in a state"):
        ship(db, number, "p")

    def paid(_: int) -> bool:
        with psycopg.connect(url, autocommit=True) as other:
            try:
                pay(other, number, 100)
            except Refused:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(paid, range(8))) == 1
    assert outbox(db, f"key = 'order/{number}'") == ["order_placed", "order_paid"]


class Server:
    """tidings over an empty store, which ends with the block."""

    def __init__(self, folder: Path, config: str, database: str) -> None:
        (folder / "tidings.toml").write_text(config)
        arguments = ["serve", "--config", "tidings.toml", "--data", "data", "--dev"]
        self._process = subprocess.Popen(
            [BINARY, *arguments, "--listen", "127.0.0.1:0"],
            cwd=folder,
            env={**os.environ, "SHOP_DATABASE": database},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        lines = (line for line in self._process.stdout if line.startswith("listening on "))
        self.url = next(lines).removeprefix("listening on ").strip()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *fault: object) -> None:
        self._process.kill()
        self._process.communicate()

    def call(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def told(self) -> list[str]:
        groups = self.call("/v1/recipients/ana/inbox?limit=100&grouped=false")["groups"]
        return sorted(item["type"] for group in groups for item in group["items"])


def test_each_payload_is_a_body_that_the_server_takes(db: Database, tmp_path: Path) -> None:
    config = (HERE / "tidings.toml").read_text()
    without_feed = config[config.index("[categories.") :]
    with Server(tmp_path, without_feed, "") as server:
        for (payload,) in db.execute("SELECT payload FROM tidings_outbox ORDER BY id").fetchall():
            server.call("/v1/events", payload)
        assert server.told() == sorted(outbox(db))


def has_feeds() -> bool:
    ended = subprocess.run([BINARY, "outbox", "--help"], capture_output=True)
    return ended.returncode == 0


needs_feeds = pytest.mark.skipif(not has_feeds(), reason=f"{BINARY} has no `outbox`")


@needs_feeds
def test_outbox_sql_is_what_the_command_prints() -> None:
    ended = subprocess.run(
        [BINARY, "outbox", "sql", "--config", HERE / "tidings.toml"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert ended.stdout == (HERE / "outbox.sql").read_text()


@needs_feeds
def test_what_was_committed_is_told_and_nothing_else(
    url: str, db: Database, tmp_path: Path
) -> None:
    config = (HERE / "tidings.toml").read_text()
    with Server(tmp_path, config, url) as server:
        until(lambda: outbox(db, "taken_at IS NULL") == [])
        number = order(db, ANA, "A bed", 500)
        with pytest.raises(Refused):
            pay(db, number, 1)
        pay(db, number, 500)
        ship(db, number, f"parcel-{number}")
        until(lambda: outbox(db, "taken_at IS NULL") == [])
        assert outbox(db, "refused IS NOT NULL") == []
        assert server.told() == sorted(outbox(db))
        (feed,) = server.call("/v1/feeds")
        assert (feed["name"], feed["state"], feed["parked"]) == ("shop", "running", 0)
