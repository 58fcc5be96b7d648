// An inbox that is followed over connections that break.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Tidings, TokenExpiredError, type LiveEvent } from "../src/index.js";
import { problem, stub } from "./stub.js";

const said = (event: string, id: number, data: object) => `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

test("a stream goes on from where it was, and ends where it shall not be opened again", async () => {
  const waits: number[] = [];
  const server = await stub((response, _, count) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    if (count === 1) response.write(said("hello", 1, { rev: 1 }) + ": still here\n\n" + said("inbox", 2, { rev: 2 }), () => response.destroy());
    else if (count === 2) response.end(said("inbox", 3, { rev: 3 }) + said("end", 3, { code: "restart", retry_ms: 70 }));
    else response.end(said("inbox", 4, { rev: 4 }) + said("end", 4, { code: "token_expired" }));
  });
  try {
    const tidings = new Tidings({ url: server.url, sleep: async (ms) => void waits.push(ms) });
    const events: LiveEvent[] = [];
    for await (const event of tidings.me.live()) events.push(event);
    assert.deepEqual(events.map(({ event, id }) => `${event} ${id}`), ["hello 1", "inbox 2", "inbox 3", "inbox 4", "end 4"]);
    assert.deepEqual(server.asked.map(({ headers }) => headers["last-event-id"]), [undefined, "2", "3"]);
    assert.equal(waits.length, 2);
    assert.equal(waits[1], 70);
  } finally {
    await server.stop();
  }
});

test("a stream that is refused ends in the exception, and one that says nothing in time is opened again", async () => {
  const server = await stub((response, _, count) => {
    if (count === 1) response.writeHead(200).flushHeaders();
    else problem(response, 401, "token_expired");
  });
  try {
    const tidings = new Tidings({ url: server.url, sleep: async () => {} });
    await assert.rejects(tidings.me.live({ timeout: 100 })[Symbol.asyncIterator]().next(), TokenExpiredError);
    assert.equal(server.asked.length, 2);
  } finally {
    await server.stop();
  }
});
