import assert from "node:assert/strict";
import { test } from "node:test";
import { claimsOf } from "../core/index.js";
import { Clock, token } from "./clock.js";
import { FakeServer, page, problem } from "./fake.js";

const MINUTE = 60_000;

test("without a token there is no request", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server, { getToken: () => null });
  inbox.start();
  await inbox.list().load();
  await server.clock.pass(10 * MINUTE);
  assert.equal(inbox.state, "signed_out");
  assert.deepEqual(server.requests, []);
});

test("a token is renewed at 80 % of its life, and the stream goes on", async () => {
  const server = new FakeServer(new Clock());
  const { inbox, asked } = page(server);
  inbox.start();
  await server.clock.pass(47 * MINUTE);
  assert.equal(asked.length, 1);
  await server.clock.pass(2 * MINUTE);
  assert.equal(asked.length, 2);
  assert.equal(server.lines("GET /live"), 1);
  // The stream ends with the old token, and begins again at once with the new one.
  const before = server.clock.now;
  server.end("token_expired");
  await server.clock.pass(100);
  assert.equal(server.lines("GET /live"), 2);
  assert.equal(asked.length, 2);
  assert.ok(server.requests.at(-1)!.at - before < 50);
});

test("a host that hands out one token again and again is not asked in a loop", async () => {
  const server = new FakeServer(new Clock());
  const only = token("ana", server.clock.now);
  let asked = 0;
  const { inbox } = page(server, { getToken: () => (asked++, only) });
  inbox.start();
  await server.clock.pass(59 * MINUTE);
  assert.ok(asked <= 25, `${asked}`);
});

test("a clock of the browser that is hours off neither renews in a loop nor too late", async () => {
  for (const off of [-5, 5]) {
    const server = new FakeServer(new Clock());
    let asked = 0;
    const { inbox } = page(server, {
      getToken: () => (asked++, token("ana", server.clock.now + off * 60 * MINUTE)),
    });
    inbox.start();
    await server.clock.pass(47 * MINUTE);
    assert.equal(asked, 1);
    await server.clock.pass(2 * MINUTE);
    assert.equal(asked, 2);
  }
});

test("after a 401 a token is got once, and the request is sent again", async () => {
  const server = new FakeServer(new Clock());
  const { inbox, asked } = page(server);
  inbox.start();
  await server.clock.pass(1000);
  const old = server.requests.at(-1)!.token;
  server.refuse = (given) => (given === old ? "token_key" : undefined);
  const read = inbox.list().load();
  const counts = inbox.mark("read", { all: true });
  await server.clock.pass(1000);
  await read;
  await counts;
  assert.equal(asked.length, 2);
  assert.ok(inbox.list().rows.loaded);
});

test("after token_revoked a token is got 2 s later", async () => {
  const server = new FakeServer(new Clock());
  const { inbox, asked } = page(server);
  inbox.start();
  await server.clock.pass(1000);
  const old = server.requests.at(-1)!.token;
  server.refuse = (given) => (given === old ? "token_revoked" : undefined);
  const ended = server.clock.now;
  server.end("token_revoked");
  await server.clock.pass(10_000);
  assert.equal(asked.length, 2);
  assert.equal(asked[1]! - ended, 2000);
  assert.equal(inbox.state, "live");
});

test("situation 3: a 401 with the token so got stops everything until refresh()", async () => {
  const server = new FakeServer(new Clock());
  const { inbox, asked, sight } = page(server);
  inbox.start();
  await server.clock.pass(1000);
  server.refuse = () => "token_key";
  server.end("token_key");
  await server.clock.pass(MINUTE);
  assert.equal(inbox.state, "stopped");
  assert.equal(asked.length, 2);
  const { length } = server.requests;
  sight.tell("focus");
  await inbox.list().load();
  await assert.rejects(inbox.mark("read", { all: true }), { code: "stopped" });
  await server.clock.pass(60 * MINUTE);
  assert.equal(server.requests.length, length);
  assert.equal(asked.length, 2);

  server.refuse = () => undefined;
  inbox.refresh();
  await server.clock.pass(1000);
  assert.equal(inbox.state, "live");
  assert.equal(asked.length, 3);
});

test("a token that was got after a refusal is not tried if it is the refused one", async () => {
  const server = new FakeServer(new Clock());
  const only = token("ana", server.clock.now);
  const { inbox } = page(server, { getToken: () => only });
  server.refuse = () => "token_expired";
  inbox.start();
  await server.clock.pass(MINUTE);
  assert.equal(inbox.state, "stopped");
  assert.equal(server.requests.length, 1);
});

test("a host that fails to give a token is asked again, more and more seldom", async () => {
  const server = new FakeServer(new Clock());
  const asked: number[] = [];
  const { inbox } = page(server, {
    getToken: async () => {
      asked.push(server.clock.now);
      throw new Error("the host is down");
    },
  });
  inbox.start();
  await server.clock.pass(10 * MINUTE);
  assert.equal(inbox.state, "offline");
  assert.ok(asked.length >= 10 && asked.length <= 25, `${asked.length}`);
  assert.deepEqual(server.requests, []);
});

test("logout() forgets everything, and refresh() begins with the next person", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  server.world.publish();
  inbox.start();
  await server.clock.pass(1000);
  await Promise.all([inbox.list().load(), server.clock.pass(100)]);
  assert.equal(inbox.counts!.unseen, 1);
  inbox.logout();
  const { length } = server.requests;
  assert.equal(inbox.counts, undefined);
  assert.deepEqual(inbox.list().groups(), []);
  await inbox.list().load();
  await server.clock.pass(10 * MINUTE);
  assert.equal(server.requests.length, length);
  inbox.refresh();
  await server.clock.pass(1000);
  assert.equal(inbox.counts!.unseen, 1);
});

test("a token of another person leaves nothing of the one before", async () => {
  const server = new FakeServer(new Clock());
  let sub = "ana";
  const { inbox } = page(server, { getToken: () => token(sub, server.clock.now) });
  server.world.publish();
  inbox.start();
  await server.clock.pass(1000);
  await Promise.all([inbox.list().load(), server.clock.pass(100)]);
  sub = "ben";
  server.world.withdraw("e-1");
  server.cut();
  await server.clock.pass(55 * MINUTE);
  assert.equal(claimsOf(server.requests.at(-1)!.token!).sub, "ben");
  assert.equal(inbox.counts!.unseen, 0);
  assert.equal(inbox.list().rows.loaded, false);
});

test("a scope that lacks ends the stream for good", async () => {
  const server = new FakeServer(new Clock());
  const { inbox } = page(server);
  server.answer = () => problem(403, "scope");
  inbox.start();
  await server.clock.pass(60 * MINUTE);
  assert.equal(inbox.state, "refused");
  assert.equal(inbox.problem?.code, "scope");
  assert.equal(server.requests.length, 1);
});
