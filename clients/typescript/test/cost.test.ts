// What calls cost: no descriptor, no timer and no listener is left behind.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Tidings } from "../src/index.js";
import { Server } from "./server.js";
import { json, problem, stub } from "./stub.js";

const descriptors = () => readdirSync("/proc/self/fd").length;
const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
const skip = !existsSync("/proc/self/fd") && "there is no /proc";

test("situation_15_descriptors_constant_over_10000_calls", { skip }, async () => {
  const said = await stub((response, { method }, count) => {
    if (count % 100 === 0) problem(response, 503, "unavailable");
    else if (count % 100 === 1) problem(response, 404, "event_not_found");
    else if (count % 100 === 2) response.destroy();
    else if (method === "GET") json(response, 200, { groups: [], next: null });
    else response.writeHead(204).end();
  });
  try {
    const tidings = new Tidings({ url: said.url, key: "k", sleep: async () => {} });
    const ending = new AbortController();
    const { signal } = ending;
    const calls = async (count: number) => {
      for (let n = 0; n < count; n += 4) {
        await Promise.allSettled([tidings.recipients.upsert("ana", {}, { signal }), tidings.inbox.list("ana"), tidings.inbox.counts("ana", { signal }), tidings.subscriptions.follow("ana", "artist/1")]);
      }
    };
    await calls(400);
    const before = descriptors();
    await calls(10_000);
    assert.ok(descriptors() <= before + 4, `${before} before, ${descriptors()} after`);
    assert.equal(getEventListeners(signal, "abort").length, 0);
    assert.ok(timers() <= 4, `${timers()} timers`);
    assert.ok(said.asked.length > 10_400);
  } finally {
    await said.stop();
  }
});

test("calls share a connection", async () => {
  const ports = new Set<number | undefined>();
  const said = await stub((response) => {
    ports.add(response.socket?.remotePort);
    json(response, 200, {});
  });
  try {
    const tidings = new Tidings({ url: said.url });
    for (let n = 0; n < 50; n += 1) await tidings.inbox.counts("ana");
    // Node alternates between two.
    assert.ok(ports.size <= 2, `${ports.size} connections`);
  } finally {
    await said.stop();
  }
});

test("situation_15_descriptors_constant_over_1000_calls of a server", { skip }, async () => {
  const server = await Server.start();
  try {
    const tidings = server.client();
    await tidings.recipients.upsert("ana", {});
    const call = async (n: number) => {
      await tidings.recipients.patch("ana", { name: `Ana ${n}` });
      await tidings.recipients.get("nobody").catch(() => {});
      for await (const _ of tidings.inbox.list("ana")) break;
      for await (const _ of tidings.admin.export()) break;
    };
    for (let n = 0; n < 10; n += 1) await call(n);
    const before = descriptors();
    for (let n = 0; n < 250; n += 1) await call(n);
    assert.ok(descriptors() <= before + 4, `${before} before, ${descriptors()} after`);
  } finally {
    await server.stop();
  }
});
