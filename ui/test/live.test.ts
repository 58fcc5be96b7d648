import assert from "node:assert/strict";
import { test } from "node:test";
import { SseReader } from "../core/index.js";
import { Clock, chance } from "./clock.js";
import { FakeServer, page, problem } from "./fake.js";

const MINUTE = 60_000;

test("server-sent events are read from pieces of any size", () => {
  const text = '\uFEFF: hi\r\nevent: hello\rdata: {"a":1}\n\nid: 7\ndata: x\ndata:y\r\n\r\n: beat\n\nevent: end\ndata: z\n\n';
  const whole = new SseReader().push(text);
  assert.deepEqual(whole, [
    { event: "hello", data: '{"a":1}' },
    { event: "message", data: "x\ny", id: "7" },
    { event: "end", data: "z" },
  ]);
  for (let seed = 1; seed <= 200; seed++) {
    const random = chance(seed);
    const reader = new SseReader();
    const events = [];
    for (let at = 0; at < text.length; ) {
      const size = 1 + Math.floor(random() * 5);
      events.push(...reader.push(text.slice(at, at + size)));
      at += size;
    }
    assert.deepEqual(events, whole, `seed ${seed}`);
  }
});

test("a stream that broke off goes on where it was, from 1 s later on", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  inbox.start();
  await server.clock.pass(20_000);
  server.world.publish();
  await server.clock.pass(100);
  const cut = server.clock.now;
  server.cut();
  server.world.publish({ object: { id: "works/2" } });
  await server.clock.pass(5_000);
  const last = server.requests.findLast(({ line }) => line === "GET /live")!;
  assert.equal(last.cursor, "c2");
  assert.ok(last.at - cut >= 1000 && last.at - cut <= 2000, `${last.at - cut}`);
  assert.equal(inbox.counts!.unseen, 2);
});

test("waits grow to a minute at most, with jitter", async () => {
  const firsts = new Set<number>();
  for (let seed = 1; seed <= 20; seed++) {
    const server = new FakeServer(new Clock(undefined, chance(seed)));
    const { inbox } = page(server);
    server.down = true;
    inbox.start();
    await server.clock.pass(20 * MINUTE);
    const at = server.requests.map((request) => request.at);
    const waits = at.slice(1).map((instant, n) => instant - at[n]!);
    assert.ok(waits[0]! >= 1000 && waits[0]! <= 2100, `${waits[0]}`);
    assert.ok(waits.every((wait) => wait <= 60_100), `${waits}`);
    assert.ok(waits.slice(6).every((wait) => wait >= 30_000), `${waits}`);
    firsts.add(waits[0]!);
  }
  assert.ok(firsts.size > 15);
});

test("a stream that ends right after its hello does not begin again ever faster", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  inbox.start();
  for (let second = 0; second < 600; second++) {
    await server.clock.pass(1000);
    server.cut();
  }
  assert.ok(server.lines("GET /live") < 25, `${server.lines("GET /live")}`);
});

test("Retry-After holds, whoever wakes the page", async () => {
  const server = new FakeServer(new Clock());
  const { inbox, sight } = page(server);
  server.answer = (line) => (line === "GET /live" ? problem(503, "streams", { "retry-after": "90" }) : undefined);
  inbox.start();
  await server.clock.pass(30_000);
  sight.tell("online");
  sight.tell("focus");
  await server.clock.pass(59_000);
  assert.equal(server.lines("GET /live"), 1);
  await server.clock.pass(3_000);
  assert.equal(server.lines("GET /live"), 2);
});

test("retry_ms of a server that stops is the wait", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  inbox.start();
  await server.clock.pass(1000);
  const at = server.clock.now;
  server.end("restart", { retry_ms: 7345 });
  await server.clock.pass(10_000);
  assert.equal(server.requests.at(-1)!.at - at, 7345);
});

test("a page that was replaced waits for a look, and a minute at least", async () => {
  const server = new FakeServer(new Clock());
  const { inbox, sight } = page(server);
  inbox.start();
  await server.clock.pass(1000);
  server.end("replaced");
  await server.clock.pass(60 * MINUTE);
  assert.equal(inbox.state, "waiting");
  assert.equal(server.lines("GET /live"), 1);
  sight.tell("online");
  await server.clock.pass(MINUTE);
  assert.equal(server.lines("GET /live"), 1);
  sight.tell("focus");
  await server.clock.pass(1000);
  assert.equal(server.lines("GET /live"), 2);

  // A look right after it does not begin a fight of two pages.
  server.end("replaced");
  await server.clock.pass(1000);
  sight.tell("focus");
  await server.clock.pass(55_000);
  assert.equal(server.lines("GET /live"), 2);
  await server.clock.pass(5_000);
  assert.equal(server.lines("GET /live"), 3);
});

test("a page that comes back online does not wait", async () => {
  const server = new FakeServer(new Clock());
  const { inbox, sight } = page(server);
  server.down = true;
  inbox.start();
  await server.clock.pass(5 * MINUTE);
  server.down = false;
  sight.tell("online");
  await server.clock.pass(100);
  assert.equal(inbox.state, "live");
});

test("a stream that says nothing for 45 s is dead", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  inbox.start();
  await server.clock.pass(MINUTE);
  server.beats = false;
  await server.clock.pass(40_000);
  assert.equal(server.lines("GET /live"), 1);
  await server.clock.pass(10_000);
  assert.equal(server.lines("GET /live"), 2);
});

test("hidden for 5 minutes the stream is closed; in sight again it goes on, and nothing is missed", async () => {
  const server = new FakeServer(new Clock());
  const { inbox, sight } = page(server);
  inbox.start();
  await server.clock.pass(1000);
  await Promise.all([inbox.list().load(), server.clock.pass(100)]);
  sight.show(false);
  await server.clock.pass(4.9 * MINUTE);
  assert.equal(server.streams.size, 1);
  await server.clock.pass(0.2 * MINUTE);
  assert.equal(server.streams.size, 0);
  const { length } = server.requests;
  server.world.publish();
  await server.clock.pass(60 * MINUTE);
  assert.equal(server.requests.length, length);
  sight.show(true);
  await server.clock.pass(1000);
  assert.equal(inbox.counts!.unseen, 1);
  assert.equal(inbox.list().groups().length, 1);
});

test("reset reads the page anew, also where the server's rev went back", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  for (let n = 0; n < 6; n++) server.world.publish({ object: { id: `works/${n}` } });
  inbox.start();
  await server.clock.pass(1000);
  await Promise.all([inbox.list().load(), server.clock.pass(100)]);
  server.world.publish({ object: { id: "works/9" } });
  await server.clock.pass(100);

  // The store was restored from an older backup.
  server.cut();
  Object.assign(server.world, { rev: 2, entries: server.world.entries.slice(0, 1), frames: [] });
  await server.clock.pass(5_000);
  assert.equal(inbox.counts!.rev, 2);
  assert.deepEqual(inbox.list().groups().map(({ key }) => key), server.world.rows("active").map(({ key }) => key));
});

test("a mark shows at once, and is taken back if it fails", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  server.world.publish({ object: { id: "works/1" } });
  server.world.publish({ object: { id: "works/2" } });
  inbox.start();
  await server.clock.pass(1000);
  const list = inbox.list();
  await Promise.all([list.load(), server.clock.pass(100)]);
  const [first] = list.groups();

  server.answer = (line) => (line.startsWith("POST") ? problem(500, "internal") : undefined);
  const failed = assert.rejects(inbox.mark("archive", { group: first!.key }), { code: "internal" });
  assert.equal(list.groups().length, 1);
  assert.equal(inbox.counts!.unread, 2, "a badge is never a guess");
  await server.clock.pass(100);
  await failed;
  assert.equal(list.groups().length, 2);

  server.answer = undefined;
  const done = inbox.mark("read", { group: first!.key });
  assert.equal(list.groups()[0]!.read, true);
  await server.clock.pass(100);
  await done;
  assert.equal(list.groups()[0]!.read, true);
  assert.equal(inbox.counts!.unread, 1);
  assert.deepEqual(inbox.pending, []);
});

test("a mark without a stream reads its rows", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  server.world.publish();
  server.answer = (line) => (line === "GET /live" ? problem(503, "streams", { "retry-after": "3600" }) : undefined);
  inbox.start();
  await server.clock.pass(1000);
  const list = inbox.list();
  await Promise.all([list.load(), server.clock.pass(100)]);
  const done = inbox.mark("read", { group: list.groups()[0]!.key });
  await server.clock.pass(1000);
  await done;
  assert.deepEqual(inbox.pending, []);
  assert.deepEqual(list.groups().map(({ key }) => key), server.world.rows("active").map(({ key }) => key));
});

test("a server without a free stream still tells the counts, at each try", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  server.world.publish();
  server.answer = (line) => (line === "GET /live" ? problem(503, "streams", { "retry-after": "20" }) : undefined);
  inbox.start();
  await server.clock.pass(1000);
  assert.equal(inbox.counts!.unseen, 1);
  await Promise.all([inbox.list().load(), server.clock.pass(100)]);
  server.world.publish({ object: { id: "works/2" } });
  await server.clock.pass(3 * MINUTE);
  assert.equal(inbox.counts!.unseen, 2);
  assert.equal(inbox.list().groups().length, 2);
  assert.ok(server.lines("GET /inbox/counts") <= 10);
});

test("a page that waits for its host's token asks again as soon as it is online", async () => {
  const server = new FakeServer(new Clock());
  let asked = 0;
  const { inbox, sight } = page(server, { getToken: async () => { asked += 1; throw new Error("offline"); } });
  inbox.start();
  await server.clock.pass(10 * MINUTE);
  const before = asked;
  sight.tell("online");
  await server.clock.pass(100);
  assert.equal(asked, before + 1);
});

test("an answer that was asked for before a reset is void", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  for (let n = 0; n < 3; n++) server.world.publish({ object: { id: `works/${n}` } });
  inbox.start();
  await server.clock.pass(1000);
  await Promise.all([inbox.list().load(), server.clock.pass(100)]);
  server.world.publish({ object: { id: "works/9" } });
  await server.clock.pass(100);
  const old = JSON.stringify(server.world.page(new URLSearchParams()));
  server.answer = (line) => (line === "GET /inbox" ? new Response(old) : undefined);
  server.latency = () => 4000;
  void inbox.list().load();
  await server.clock.pass(4500);
  // The store was restored from an older backup while that answer is on its way.
  server.answer = undefined;
  server.latency = () => 5;
  server.cut();
  Object.assign(server.world, { rev: 2, entries: server.world.entries.slice(0, 1), frames: [] });
  await server.clock.pass(10_000);
  assert.equal(inbox.counts!.rev, 2);
  assert.equal(inbox.list().groups().length, 1);
});

test("a list that is unloaded while it is read begins with one page", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  for (let n = 0; n < 100; n++) server.world.publish({ object: { id: `works/${n}` } });
  inbox.start();
  await server.clock.pass(1000);
  const list = inbox.list();
  await Promise.all([list.load(), server.clock.pass(100)]);
  const one = list.groups().length;
  while (list.hasMore) await Promise.all([list.more(), server.clock.pass(100)]);
  assert.equal(list.groups().length, 100);
  for (const passed of [5, 15, 35]) {
    void list.load();
    await server.clock.pass(passed);
    list.unload();
    assert.equal(list.groups().length, 0);
    await Promise.all([list.load(), server.clock.pass(1000)]);
    assert.equal(list.groups().length, one, `after ${passed} ms`);
    while (list.hasMore) await Promise.all([list.more(), server.clock.pass(100)]);
  }
});

test("a page that fails after its list was unloaded is no problem of the next", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  for (let n = 0; n < 3; n++) server.world.publish({ object: { id: `works/${n}` } });
  inbox.start();
  await server.clock.pass(1000);
  const list = inbox.list();
  server.answer = (line) => (line === "GET /inbox" ? problem(403, "scope") : undefined);
  void list.load();
  await server.clock.pass(5);
  list.unload();
  server.answer = undefined;
  await Promise.all([list.load(), server.clock.pass(1000)]);
  assert.equal(list.problem, undefined);
  assert.equal(list.groups().length, 3);
});

test("a machine that lags behind the stream is asked again", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  inbox.start();
  await server.clock.pass(1000);
  const old = JSON.stringify(server.world.page(new URLSearchParams()));
  server.world.publish();
  await server.clock.pass(100);
  server.answer = (line) => (line === "GET /inbox" && server.lines("GET /inbox") < 3 ? new Response(old) : undefined);
  await Promise.all([inbox.list().load(), server.clock.pass(5000)]);
  assert.equal(inbox.list().groups().length, 1);
});

test("marks of one row keep their order, and find it under its new key", async () => {
  for (const items of [1, 7]) {
    const server = new FakeServer(new Clock());
    const { inbox } = page(server);
    for (let n = 0; n < items; n++) server.world.publish();
    inbox.start();
    await server.clock.pass(1000);
    const list = inbox.list();
    await Promise.all([list.load(), server.clock.pass(100)]);
    // The first request is slow, and the row has another key once it is read.
    let slow = 400;
    server.latency = () => (slow ? [slow, (slow = 0)][0]! : 5);
    void inbox.markRow("read", list.groups()[0]!);
    void inbox.markRow("archive", list.groups()[0]!);
    assert.equal(list.groups().length, 0);
    await server.clock.pass(5000);
    assert.equal(list.groups().length, 0, `${items} items`);
    assert.equal(server.world.rows("archived")[0]!.read, true);
    assert.deepEqual(inbox.pending, []);
  }
});

test("while a stream is kept by a proxy counts are asked for after a few seconds, and again", async () => {
  const server = new FakeServer(new Clock());
  const { fetch } = server;
  server.fetch = (url, init) =>
    url.endsWith("/live")
      ? new Promise((_, fail) => init.signal!.addEventListener("abort", () => fail(new DOMException("aborted", "AbortError"))))
      : fetch(url, init);
  const { inbox } = page(server);
  server.world.publish();
  inbox.start();
  await server.clock.pass(3_000);
  assert.equal(inbox.counts, undefined);
  await server.clock.pass(2_000);
  assert.equal(inbox.counts!.unseen, 1);
  server.world.publish({ object: { id: "works/2" } });
  await server.clock.pass(25_000);
  assert.equal(inbox.counts!.unseen, 2);
  // It goes on so, without haste.
  await server.clock.pass(20 * MINUTE);
  const asked = server.lines("GET /inbox/counts");
  assert.ok(asked >= 20 && asked <= 80, `${asked}`);
  inbox.stop();
  await server.clock.pass(5 * MINUTE);
  assert.equal(server.lines("GET /inbox/counts"), asked);
});

test("a stream that speaks is not helped", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  inbox.start();
  await server.clock.pass(10 * MINUTE);
  assert.equal(server.lines("GET /inbox/counts"), 0);
});
