import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock, chance } from "./clock.js";
import { FakeBrowser, FakeServer, page } from "./fake.js";
import { act, type World } from "./world.js";

const MINUTE = 60_000;

function tabs(server: FakeServer, n: number, latency = () => 0) {
  const browser = new FakeBrowser(server.clock);
  browser.latency = latency;
  return Array.from({ length: n }, () => page(server, { ports: browser.ports }));
}

test("situation 4: eight pages of a browser share one stream, and all are live", async () => {
  const server = new FakeServer(new Clock());
  const pages = tabs(server, 8);
  for (const { inbox } of pages) inbox.start();
  await server.clock.pass(1000);
  server.world.publish();
  await server.clock.pass(1000);
  assert.equal(server.lines("GET /live"), 1);
  for (const { inbox } of pages) {
    assert.equal(inbox.state, "live");
    assert.equal(inbox.counts!.unseen, 1);
  }
});

test("when the page that has the stream goes another leads, and nothing is missed", async () => {
  const server = new FakeServer(new Clock());
  const pages = tabs(server, 3);
  for (const { inbox } of pages) inbox.start();
  await server.clock.pass(1000);
  server.world.publish();
  await server.clock.pass(100);
  for (let gone = 0; gone < 2; gone++) {
    const leader = pages.find(({ inbox }) => inbox.leading)!;
    leader.inbox.stop();
    pages.splice(pages.indexOf(leader), 1);
    server.world.publish({ object: { id: `gone/${gone}` } });
    await server.clock.pass(200);
    assert.equal(server.streams.size, 1);
    for (const { inbox } of pages) assert.equal(inbox.counts!.rev, server.world.rev);
    assert.equal(server.requests.findLast(({ line }) => line === "GET /live")!.cursor, `c${2 + gone}`);
  }
});

test("a page that joins late has the counts without a request for them", async () => {
  const server = new FakeServer(new Clock());
  const [first, second] = tabs(server, 2) as [ReturnType<typeof page>, ReturnType<typeof page>];
  first.inbox.start();
  await server.clock.pass(1000);
  server.world.publish();
  await server.clock.pass(10 * MINUTE);
  const { length } = server.requests;
  second.inbox.start();
  await server.clock.pass(100);
  assert.equal(second.inbox.counts!.unseen, 1);
  assert.equal(second.inbox.state, "live");
  assert.equal(server.requests.length, length);
});

test("a hidden page hands the stream to one in sight; all hidden, it is closed", async () => {
  const server = new FakeServer(new Clock());
  const [a, b] = tabs(server, 2) as [ReturnType<typeof page>, ReturnType<typeof page>];
  a.inbox.start();
  await server.clock.pass(100);
  b.inbox.start();
  await server.clock.pass(100);
  a.sight.show(false);
  await server.clock.pass(6 * MINUTE);
  assert.equal(a.inbox.leading, false);
  assert.equal(b.inbox.leading, true);
  b.sight.show(false);
  await server.clock.pass(6 * MINUTE);
  assert.equal(server.streams.size, 0);
  server.world.publish();
  a.sight.show(true);
  await server.clock.pass(1000);
  assert.equal(a.inbox.counts!.unseen, 1);
  assert.equal(server.streams.size, 1);
});

test("all pages of a browser know that it is offline", async () => {
  const server = new FakeServer(new Clock());
  const pages = tabs(server, 3);
  for (const { inbox } of pages) inbox.start();
  await server.clock.pass(1000);
  server.down = true;
  server.cut();
  await server.clock.pass(5000);
  for (const { inbox } of pages) {
    assert.equal(inbox.state, "offline");
    assert.equal(inbox.problem?.code, "network");
  }
  server.down = false;
  await server.clock.pass(MINUTE);
  for (const { inbox } of pages) assert.equal(inbox.state, "live");
});

test("people who share a browser do not share a stream", async () => {
  const server = new FakeServer(new Clock());
  const { ports } = new FakeBrowser(server.clock);
  for (const sub of ["ana", "ben"]) page(server, { ports, sub }).inbox.start();
  await server.clock.pass(1000);
  assert.deepEqual([...server.streams].map(({ sub }) => sub).sort(), ["ana", "ben"]);
});

test("a page whose tokens are refused leaves the stream to the others", async () => {
  const server = new FakeServer(new Clock());
  const pages = tabs(server, 3);
  for (const { inbox } of pages) inbox.start();
  await server.clock.pass(1000);
  const bad = new Set([server.requests.find(({ line }) => line === "GET /live")!.token]);
  const leader = pages.find(({ inbox }) => inbox.leading)!;
  server.refuse = (given) => {
    if (!bad.has(given) && bad.size === 1) bad.add(given);
    return bad.has(given) ? "token_key" : undefined;
  };
  server.end("token_key");
  await server.clock.pass(MINUTE);
  assert.equal(leader.inbox.state, "stopped");
  assert.equal(server.streams.size, 1);
  assert.equal(pages.filter(({ inbox }) => inbox.state === "live").length, 2);
});

test("situation 3: after a rotation of the key each page asks its host once, and no page goes on without a token", async () => {
  const server = new FakeServer(new Clock());
  const pages = tabs(server, 8);
  for (const { inbox } of pages) inbox.start();
  await server.clock.pass(1000);
  server.refuse = () => "token_key";
  server.end("token_key");
  await server.clock.pass(1000);
  const { length } = server.requests;
  await server.clock.pass(60 * MINUTE);
  assert.ok(server.requests.length - length <= 2 * pages.length, `${server.requests.length - length}`);
  for (const { asked, inbox } of pages) {
    assert.ok(asked.length <= 2);
    assert.equal(inbox.state, "stopped");
  }
});

test("situation 3: of 1,000 streams each is back within 30 s of a rotation, and neither host nor server meets them all at once", async () => {
  const server = new FakeServer(new Clock());
  const pages = Array.from({ length: 1000 }, () => page(server));
  for (const { inbox } of pages) inbox.start();
  await server.clock.pass(1000);
  assert.equal(server.streams.size, 1000);
  const old = new Set(server.requests.map(({ token }) => token));
  const rotated = server.clock.now;
  server.refuse = (token) => (old.has(token) ? "token_key" : undefined);
  server.end("token_key");
  await server.clock.pass(30_000);
  assert.equal(server.streams.size, 1000);
  const seconds = Array<number>(30).fill(0);
  for (const { asked, inbox } of pages) {
    assert.equal(inbox.state, "live");
    assert.equal(asked.length, 2);
  }
  for (const { at, line } of server.requests) if (line === "GET /live" && at >= rotated) seconds[Math.floor((at - rotated) / 1000)]!++;
  assert.ok(Math.max(...seconds) <= 150, seconds.join(" "));
});

test("situation 1: pages end with the server's rows and counts through cuts, hand-overs, slow answers and marks", async () => {
  const seeds = Number(process.env.TIDINGS_RUNS ?? 1000);
  const only = process.env.TIDINGS_SEED;
  for (let seed = only ? Number(only) : 1; seed <= (only ? Number(only) : seeds); seed++) {
    const random = chance(seed);
    const server = new FakeServer(new Clock(undefined, random));
    server.latency = () => random() * 300;
    const { world } = server;
    while (random() < 0.8) act(world, random);
    const shared = tabs(server, 3, () => random() * 300);
    const pages = [...shared, page(server)];
    for (const { inbox } of pages) {
      inbox.subscribe(() => {
        const { rev, unseen, unread } = inbox.counts ?? {};
        if (rev === undefined) return;
        const had = world.history.get(rev)!;
        assert.deepEqual([unseen, unread], [had.unseen, had.unread], `seed ${seed}, rev ${rev}`);
      });
      inbox.start();
      void inbox.list().load();
      if (random() < 0.5) void inbox.list({ state: "archived" }).load();
    }
    for (let step = 0; step < 25; step++) {
      await server.clock.pass(random() * 400);
      world.advance(server.clock.now);
      if (random() < 0.6) {
        const { now } = world;
        act(world, random);
        world.now = now;
      }
      const { inbox, sight } = pages[Math.floor(random() * pages.length)]!;
      const roll = random();
      if (roll < 0.15) void inbox.list().more();
      else if (roll < 0.3) {
        const row = inbox.list().groups()[0];
        if (row) inbox.markRow(random() < 0.5 ? "read" : "archive", row).catch(() => {});
      } else if (roll < 0.35) server.cut();
      else if (roll < 0.4) server.end("restart", { retry_ms: random() * 3000 });
      else if (roll < 0.45) {
        const leader = shared.find((one) => one.inbox.leading)?.inbox;
        leader?.stop();
        server.clock.after(random() * 2000, () => leader?.start());
      } else if (roll < 0.5) server.replayFrom = random() < 0.5 ? world.rev : 0;
      else if (roll < 0.55) server.down = !server.down;
      else if (roll < 0.6) sight.tell("focus");
    }
    server.down = false;
    await server.clock.pass(2000);
    // What was snoozed comes back within five minutes.
    for (let second = 0; second < 330; second += 15) {
      await server.clock.pass(15_000);
      world.advance(server.clock.now);
    }
    await server.clock.pass(70_000);
    for (const { inbox } of pages) {
      const { categories: _, ...counts } = world.counts();
      const { categories: __, ...shown } = inbox.counts!;
      assert.deepEqual(shown, counts, `seed ${seed}`);
      for (const state of ["active", "archived"] as const) {
        const list = inbox.list({ state });
        if (!list.rows.loaded) continue;
        const brief = (rows: ReturnType<World["rows"]>) => rows.map(({ order, key, count, read }) => `${order} ${key} ${count} ${read}`);
        const rows = world.rows(state).filter(({ order }) => order >= list.rows.floor);
        assert.deepEqual(brief(list.groups()), brief(rows), `seed ${seed}, ${state}`);
      }
    }
  }
});
