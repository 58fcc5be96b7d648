// The tools of assistants as the official SDK for TypeScript calls them, which checks each answer by its schema.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, calls] = process.argv.slice(2);

for (const [mode, version] of [
    ["legacy", "2025-11-25"],
    [{ pin: "2026-07-28" }, "2026-07-28"],
]) {
    const client = new Client({ name: "tidings-test", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    assert.equal(client.getServerVersion().name, "tidings");
    const { tools } = await client.listTools();
    assert.equal(tools.length, 12);
    const called = new Set(["act"]);
    for (const [name, given] of JSON.parse(readFileSync(calls, "utf8"))) {
        const answer = await client.callTool({ name, arguments: given });
        assert.ok(!answer.isError, `${name}: ${JSON.stringify(answer)}`);
        assert.deepEqual(JSON.parse(answer.content[0].text), answer.structuredContent);
        called.add(name);
    }
    assert.deepEqual([...called].sort(), tools.map((tool) => tool.name).sort());

    // A change: asked about, made, and not made again.
    const flush = { verb: "flush", recipient: "ada" };
    const { structuredContent: asked } = await client.callTool({ name: "act", arguments: flush });
    assert.equal(typeof asked.confirm, "string");
    const confirmed = { ...flush, confirm: asked.confirm };
    assert.ok(!(await client.callTool({ name: "act", arguments: confirmed })).isError);
    assert.ok((await client.callTool({ name: "act", arguments: confirmed })).isError);

    const wrong = await client.callTool({ name: "person", arguments: { name: "ada" } });
    assert.ok(wrong.isError && wrong.content[0].text.includes("`name` is unknown"));
    await assert.rejects(client.callTool({ name: "drop_tables", arguments: {} }), /Unknown tool/);
    await client.close();
}
