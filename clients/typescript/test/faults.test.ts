// A connection that breaks, a server that is busy or slow: one event each, and the right exceptions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ConnectionError, type Event, InvalidBodyError, ProblemError, StoreFullError, type Tidings, TidingsError, TimeoutError, TooBusyError, UnavailableError, UnexpectedAnswerError, UnknownTypeError } from "../src/index.js";
import { type Fault, type Proxy, proxy } from "./proxy.js";
import { itemsOf, Server } from "./server.js";
import { json, problem, stub } from "./stub.js";

let server: Server;
let between: Proxy;
before(async () => {
  server = await Server.start();
  between = await proxy(server.url);
});
after(async () => {
  await between.stop();
  await server.stop();
});

const about = (recipient: string, object = "note-7"): Event => ({ type: "comment", actor: "ben", object: { id: object }, to: { recipients: [recipient] } });
const refused = (status: string, code: string, headers = "") => {
  const body = JSON.stringify({ status: Number(status.slice(0, 3)), code, detail: "what was wrong", hint: "wait", title: "T", type: `/errors/${code}` });
  return { answer: `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n${headers}\r\n${body}` };
};
const valueOf = (head: string, name: string) => new RegExp(`\r\n${name}: ([^\r]*)`, "i").exec(head)?.[1];

const faults: [string, Fault, abstract new (...none: never[]) => TidingsError][] = [
  ["cut before the request", "cut before the request", ConnectionError],
  ["cut in the request", "cut in the request", ConnectionError],
  ["cut after the request", "cut after the request", ConnectionError],
  ["cut in the answer", "cut in the answer", ConnectionError],
  ["429", refused("429 Too Many Requests", "too_busy", "Retry-After: 2\r\n"), TooBusyError],
  ["503", refused("503 Service Unavailable", "unavailable", "Retry-After: 1\r\n"), UnavailableError],
  ["502 of a proxy", { answer: "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\nConnection: close\r\n\r\noops" }, UnexpectedAnswerError],
  ["slow answer", { slow: 60_000 }, TimeoutError],
];

for (const [name, fault, expected] of faults) {
  test(`situation_15_one_event_each: ${name}`, async () => {
    const waits: number[] = [];
    const slow = name === "slow answer";
    const tidings = server.client({ url: `${between.url}/`, timeout: slow ? 1_000 : 30_000, sleep: async (ms) => void waits.push(ms) });
    const recipient = `one ${name}`;
    await tidings.recipients.upsert(recipient, {});
    between.heads.length = 0;
    between.faults.push(fault, fault);
    // The event has no id: the key of the client's own making has to do.
    const { status, notifications } = await tidings.events.publish(about(recipient));
    assert.deepEqual([status, notifications], ["accepted", 1]);
    assert.equal(await itemsOf(tidings, recipient), 1);
    assert.ok(slow ? waits.length >= 2 : waits.length === 2, `${waits}`);
    assert.ok(waits[0]! >= 100 && waits[1]! >= 200, `${waits}`);
    if (name === "429") assert.ok(waits.every((ms) => ms > 2_000 && ms < 2_500), `${waits}`);
    const posts = between.heads.filter((head) => head.startsWith("POST"));
    assert.ok(posts.length > 0);
    for (const header of ["idempotency-key", "x-request-id"]) {
      assert.equal(new Set(posts.map((head) => valueOf(head, header))).size, 1);
      assert.match(valueOf(posts[0]!, header)!, /^[0-9a-f]{32}$/);
    }
  });

  test(`situation_15_right_exception: ${name}`, async () => {
    const tidings = server.client({ url: between.url, timeout: name === "slow answer" ? 300 : 30_000 });
    const recipient = `none ${name}`;
    await server.client().recipients.upsert(recipient, {});
    between.faults.push(fault, fault, fault, fault);
    const caught = await tidings.events.publish(about(recipient)).catch((error: unknown) => error);
    assert.ok(caught instanceof expected, String(caught));
    assert.match(caught.requestId!, /^[0-9a-f]{32}$/);
    assert.equal(between.faults.length, 0, "four tries");
    assert.equal(caught.name, expected.name);
    // Whatever was done by those four was done once at most.
    assert.ok((await itemsOf(server.client(), recipient)) <= 1);
    await tidings.events.publish(about(recipient), { retries: 0 });
  });
}

test("situation_15_no_other_4xx_is_tried_again", async () => {
  const tidings = server.client({ url: between.url });
  between.heads.length = 0;
  await assert.rejects(tidings.events.publish({ ...about("ana"), type: "commnt" }), (error) => {
    assert.ok(error instanceof UnknownTypeError && error instanceof ProblemError);
    assert.deepEqual([error.code, error.status, error.hint.includes("comment")], ["unknown_type", 422, true]);
    assert.match(error.message, /commnt.*comment.*unknown_type, status 422, request [0-9a-f]{32}/);
    return true;
  });
  await assert.rejects(tidings.events.publish({ type: 7 } as never), InvalidBodyError);
  assert.equal(between.heads.length, 2);
});

test("situation_15_a_refusal_that_is_cut_is_not_tried_again", async () => {
  const tidings = server.client({ url: between.url });
  between.heads.length = 0;
  between.faults.push({ answer: "HTTP/1.1 403 Forbidden\r\nContent-Length: 900\r\n\r\n{" });
  await assert.rejects(tidings.events.publish(about("ana")), UnexpectedAnswerError);
  assert.equal(between.heads.length, 1);
});

test("situation_15_an_import_that_breaks_goes_on: each line once", async () => {
  const tidings: Tidings = server.client({ url: between.url });
  await tidings.recipients.upsert("lots", {});
  between.faults.push("cut in the answer", "cut after the request", "cut in the request");
  function* events() {
    for (let n = 0; n < 2_500; n += 1) yield about("lots", `work/${n}`);
  }
  const lines: number[] = [];
  for await (const answer of tidings.events.import(events())) {
    assert.notEqual(answer.status, "rejected");
    lines.push(answer.line!);
    if (answer.line === 1_500) between.faults.push(refused("503 Service Unavailable", "unavailable"), "cut in the answer");
  }
  assert.deepEqual(lines, Array.from({ length: 2_500 }, (_, at) => at + 1));
  assert.equal(between.faults.length, 0);
  assert.equal(await itemsOf(tidings, "lots"), 2_500);
});

test("an import answers each line by itself, and counts", async () => {
  const tidings = server.client();
  await tidings.recipients.upsert("cleo", {});
  const all = await tidings.events.import([about("cleo"), { ...about("cleo"), type: "nothing" }, about("cleo", "note-8")]);
  assert.deepEqual([all.lines, all.done, all.rejected.length], [3, 2, 1]);
  assert.deepEqual([all.rejected[0]!.line, all.rejected[0]!.problem.code], [2, "unknown_type"]);

  const once = tidings.events.import([about("cleo", "note-9")]);
  assert.deepEqual([(await once).done, (await once).done], [1, 1]);
  for await (const answer of once) assert.equal(answer.status, "duplicate");
  assert.equal(await itemsOf(tidings, "cleo"), 3);
});

test("a fault of the server within the answer to an import is one of that line, and the lines behind it are sent again", async () => {
  const said = await stub((response, { body }, count) => {
    const lines = body.split("\n").slice(0, -1);
    const answers = lines.flatMap((line, at) => (line ? [JSON.stringify({ line: at + 1, status: "done" })] : []));
    const fault = JSON.stringify({ line: 2, status: "rejected", problem: { code: "unavailable", status: 503, detail: "away" } });
    response.end(count === 1 ? `${answers[0]}\n${fault}\n` : `${answers.join("\n")}\n`);
  });
  try {
    const waits: number[] = [];
    const tidings = server.client({ url: said.url, sleep: async (ms) => void waits.push(ms) });
    const all = await tidings.recipients.import([{ id: "a" }, { id: "b" }, { id: "c" }]);
    assert.deepEqual(all, { lines: 3, done: 3, rejected: [] });
    assert.deepEqual(said.asked.map(({ body }) => body), ['{"id":"a"}\n{"id":"b"}\n{"id":"c"}\n', '\n{"id":"b"}\n{"id":"c"}\n']);
    assert.equal(said.asked[0]!.headers["idempotency-key"], said.asked[1]!.headers["idempotency-key"]);
    assert.equal(waits.length, 1);
  } finally {
    await said.stop();
  }
});

test("a Retry-After that is too long ends the call at once; an unknown code is a ProblemError", async () => {
  const said = await stub((response, _, count) => {
    if (count === 1) problem(response, 503, "store_full", { "Retry-After": "3600" });
    else problem(response, 418, "of_the_future", { "X-Request-Id": "its-own" });
  });
  try {
    const tidings = server.client({ url: said.url });
    await assert.rejects(tidings.events.get("e"), (error) => error instanceof StoreFullError && error.retryAfter === 3_600_000);
    await assert.rejects(tidings.events.get("e"), (error) => {
      assert.ok(error instanceof ProblemError);
      assert.deepEqual([error.constructor, error.code, error.requestId, error.problem.hint], [ProblemError, "of_the_future", "its-own", "mend it"]);
      return true;
    });
    assert.equal(said.asked.length, 2);
  } finally {
    await said.stop();
  }
});

test("all tries send what the caller gave at first, and the caller's headers", async () => {
  const said = await stub((response, _, count) => (count === 1 ? problem(response, 503, "unavailable") : json(response, 202, { id: "e" })));
  try {
    const event = about("ana");
    const tidings = server.client({ url: said.url, sleep: async () => void (event.type = "changed") });
    await tidings.events.publish(event, { idempotencyKey: "k", requestId: "r", headers: { traceparent: "00-1-2-01" } });
    assert.deepEqual(said.asked.map(({ body, headers }) => [JSON.parse(body).type, headers["idempotency-key"], headers["x-request-id"], headers.traceparent]), Array(2).fill(["comment", "k", "r", "00-1-2-01"]));
  } finally {
    await said.stop();
  }
});

test("a caller ends a call by a signal, also between tries and in the answer", async () => {
  const said = await stub((response, _, count) => {
    if (count === 1) problem(response, 503, "unavailable", { "Retry-After": "50" });
    else json(response, 200, {});
  });
  try {
    const tidings = server.client({ url: said.url, sleep: undefined });
    const ending = new AbortController();
    const waiting = assert.rejects(tidings.events.get("e", { signal: ending.signal }), /enough/);
    while (said.asked.length === 0) await new Promise((done) => setImmediate(done));
    ending.abort(new Error("enough"));
    await waiting;
    await assert.rejects(tidings.events.get("e", { signal: AbortSignal.abort(new Error("before")) }), /before/);
    assert.equal(said.asked.length, 1);
  } finally {
    await said.stop();
  }
});
