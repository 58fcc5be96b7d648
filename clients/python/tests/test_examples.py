"""The examples and the page's quick start, as anybody would run them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path

import httpx
from conftest import ROOT, Server

from tidings import Tidings

HERE = Path(__file__).resolve().parent.parent
SECRET = "whsec_" + base64.b64encode(b"s" * 24).decode()


def environment(server: Server) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(HERE / "src"),
        "TIDINGS_URL": server.url,
        "TIDINGS_KEY": server.key,
        "TIDINGS_SIGNING_KEY": server.signing_key,
        "HOOK_SECRET": SECRET,
        "PORT": "0",
    }


def run(server: Server, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env=environment(server),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_quick_start(server: Server, client: Tidings) -> None:
    client.recipients.upsert("ana")
    before = client.inbox.page("ana").unread
    assert run(server, "examples/quickstart.py") == f"unread: {before + 1}\n"


def test_quick_start_of_the_page(server: Server) -> None:
    code = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)[0]
    lines = [line for line in code.splitlines() if line]
    assert len(lines) == 5
    assert unread(server, code) >= 1


def test_quick_start_of_the_product(server: Server, client: Tidings) -> None:
    client.recipients.upsert("ana")
    told = sum(group.count for group in client.inbox.list("ana"))
    [code] = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
    assert unread(server, code) >= 1
    assert sum(group.count for group in client.inbox.list("ana")) == told + 1


def unread(server: Server, code: str) -> int:
    """Runs a printed program, and returns the number that it prints."""
    code = code.replace("http://127.0.0.1:8990", server.url).replace("key)", f"{server.key!r})")
    return int(run(server, "-c", code + "client.close()"))


def test_the_other_code_of_the_page_is_python() -> None:
    for code in re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S):
        compile(code, "README.md", "exec", flags=0x2000)  # PyCF_ALLOW_TOP_LEVEL_AWAIT


def test_asynchronous(server: Server, client: Tidings) -> None:
    for name in ("ana", "ben", "cleo"):
        client.recipients.upsert(name)
    said = run(server, "examples/asynchronous.py")
    assert said.startswith("told: 3\nartwork_published ")


def test_bring_in(server: Server, client: Tidings, tmp_path: Path) -> None:
    people = [f"{uuid.uuid4()}" for _ in range(600)]
    path = tmp_path / "people.ndjson"
    path.write_text("".join(json.dumps({"id": of, "name": "N"}) + "\n" for of in people))
    assert run(server, "examples/bring_in.py", str(path)) == "done: 600 refused: 0\n"
    assert client.recipients.get(people[-1]).name == "N"


def test_host(server: Server, client: Tidings) -> None:
    client.recipients.upsert("ana")
    command = [sys.executable, "-W", "error", "examples/host.py"]
    with subprocess.Popen(
        command, env=environment(server), stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdout is not None
        url = f"http://127.0.0.1:{host.stdout.readline().strip()}"
        token = httpx.get(f"{url}/tidings-token").json()["token"]
        assert client.with_options(key=token).me.inbox_counts().rev >= 0
        body = b'{"type": "message.sent", "timestamp": "t", "data": {"message": "m1"}}'
        stamp = str(int(time.time()))
        mac = hmac.new(b"s" * 24, f"id1.{stamp}.".encode() + body, hashlib.sha256).digest()
        headers = {"webhook-id": "id1", "webhook-timestamp": stamp}
        headers["webhook-signature"] = "v1," + base64.b64encode(mac).decode()
        for _ in range(2):
            assert httpx.post(url, content=body, headers=headers).status_code == 200
        assert host.stdout.readline() == "message.sent {'message': 'm1'}\n"
        headers["webhook-id"] = "id2"
        assert httpx.post(url, content=body, headers=headers).status_code == 400
        host.terminate()
