"""The tools of assistants as the official SDK for Python calls them, which checks each answer by its schema."""

import asyncio
import json
import sys

from mcp import Client, MCPError


async def check(url: str, calls: list, mode: str, version: str) -> None:
    async with Client(url, mode=mode) as client:
        assert client.protocol_version == version, client.protocol_version
        listed = await client.list_tools()
        names = [tool.name for tool in listed.tools]
        assert len(names) == 12, names
        called = {"act"}
        for name, given in calls:
            answer = await client.call_tool(name, given)
            assert not answer.is_error, (name, answer)
            assert json.loads(answer.content[0].text) == answer.structured_content, name
            called.add(name)
        assert called == set(names), (called, names)

        # A change: asked about, made, and not made again.
        flush = {"verb": "flush", "recipient": "ada"}
        asked = await client.call_tool("act", flush)
        confirmed = {**flush, "confirm": asked.structured_content["confirm"]}
        assert not (await client.call_tool("act", confirmed)).is_error
        assert (await client.call_tool("act", confirmed)).is_error

        wrong = await client.call_tool("person", {"name": "ada"})
        assert wrong.is_error and "`name` is unknown" in wrong.content[0].text
        try:
            await client.call_tool("drop_tables", {})
        except MCPError as fault:
            assert fault.error.code == -32602, fault
        else:
            raise AssertionError("an unknown tool is called")


async def main() -> None:
    url, path = sys.argv[1:]
    with open(path) as file:
        calls = json.load(file)
    # By default it asks the server what it speaks, and begins with a handshake where it has to.
    for mode, version in [("legacy", "2025-11-25"), ("auto", "2026-07-28")]:
        await check(url, calls, mode, version)


asyncio.run(main())
