// Servers that are older or newer than this client.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { EventNotFoundError, NotFoundError, ProblemError, Tidings, UnexpectedAnswerError, VERSION } from "../src/index.js";
import { json, problem, stub } from "./stub.js";

const client = (url: string, warnings: string[] = []) => new Tidings({ url, key: "k", warn: (text) => warnings.push(text), sleep: async () => {} });

test("situation_15_a_newer_server: unknown fields and words are kept, and it is named once", async () => {
  const said = await stub((response, { url }) => {
    const headers = { "X-Tidings-Version": "1.2.0" };
    if (url.startsWith("/v1/events")) json(response, 202, { id: "e", status: "postponed", notifications: 1, suppressed: 0, warnings: [], of_the_future: { deep: [1] } }, headers);
    else if (url.startsWith("/v1/new")) json(response, 200, { is: "new" }, headers);
    else problem(response, 422, "of_the_future", headers);
  });
  try {
    const warnings: string[] = [];
    const tidings = client(said.url, warnings);
    const answer = await tidings.events.publish({ type: "comment", object: { id: "o" }, to: { everyone: true } });
    assert.deepEqual((answer as unknown as Record<string, unknown>).of_the_future, { deep: [1] });
    assert.equal(answer.status as string, "postponed");
    await assert.rejects(tidings.recipients.get("ana"), (error) => error instanceof ProblemError && error.code === "of_the_future" && error.constructor === ProblemError);
    assert.deepEqual(await tidings.request("post", "/v1/new", { body: { a: null }, query: { deep: true } }), { is: "new" });
    assert.deepEqual([said.asked.at(-1)!.url, said.asked.at(-1)!.body], ["/v1/new?deep=true", '{"a":null}']);
    assert.equal(tidings.serverVersion, "1.2.0");
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /version 1\.2\.0.*0\.1\.0/);
  } finally {
    await said.stop();
  }
});

test("situation_15_an_older_server: a call that it lacks ends in a clear error", async () => {
  const said = await stub((response, { url }) => {
    if (url === "/v1/events/e") problem(response, 404, "event_not_found", { "X-Tidings-Version": "0.0.9" });
    else if (url === "/v1/messages") response.writeHead(404, { "X-Tidings-Version": "0.0.9" }).end("not here");
    else problem(response, 404, "not_found", { "X-Tidings-Version": "0.0.9" });
  });
  try {
    const warnings: string[] = [];
    const tidings = client(said.url, warnings);
    const clear = /the server is tidings 0\.0\.9, this client is of 0\.1\.0: the server may lack GET \/v1\//;
    await assert.rejects(tidings.suppressions.list(), (error) => error instanceof NotFoundError && clear.test(error.message));
    await assert.rejects(tidings.messages.list(), (error) => error instanceof UnexpectedAnswerError && error.status === 404 && clear.test(error.message));
    await assert.rejects(tidings.events.get("e"), (error) => error instanceof EventNotFoundError && !error.message.includes("lack"));
    assert.deepEqual(warnings, [], "it has the same major version");
    assert.equal(said.asked.length, 3);
  } finally {
    await said.stop();
  }
});

test("situation_15_a_server_that_names_no_version is used as it is", async () => {
  const said = await stub((response) => response.writeHead(200, { "Content-Type": "application/json" }).end('{"rev":1}'));
  try {
    const warnings: string[] = [];
    assert.deepEqual(await client(said.url, warnings).inbox.counts("ana"), { rev: 1 });
    assert.deepEqual(warnings, []);
  } finally {
    await said.stop();
  }
});

test("the version of the package is that of the API document", () => {
  assert.equal(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version, VERSION);
});
