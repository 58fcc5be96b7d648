// The whole API, each call as the API document has it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Tidings } from "../src/index.js";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const api = JSON.parse(readFileSync(here("../../../docs/openapi.json"), "utf8")) as { paths: Record<string, Record<string, { parameters?: { name: string }[] }>> };

test("the generated files are those of the API document", () => {
  execFileSync("node", [here("../generate.mjs"), "--check"], { stdio: "inherit" });
});

test("each call of the API document has a method, and an Idempotency-Key where it changes something", async () => {
  const made = new Map<string, Headers>();
  const fetch = async (url: string, init: RequestInit) => {
    made.set(`${init.method} ${decodeURIComponent(new URL(url).pathname)}`, new Headers(init.headers));
    return new Response('{"line":1}\n', { status: 200 });
  };
  const tidings = new Tidings({ url: "http://localhost/", key: "k", fetch, retries: 0 });
  for (const [property, resource] of Object.entries(tidings) as [string, object][]) {
    if (property === "http") continue;
    const prototype = Object.getPrototypeOf(resource) as Record<string, (...parts: unknown[]) => unknown>;
    for (const name of Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor")) {
      const method = prototype[name]!;
      // As many ids as the path takes: a template names them.
      const ids = [...(/`([^`]*)`/.exec(method.toString())?.[1] ?? "").matchAll(/\$\{(\w+)\}/g)].map(([, id]) => `{${id}}`);
      const answer = name.startsWith("import") ? method.call(resource, ...ids, [{}]) : method.call(resource, ...ids, {});
      if (typeof (answer as PromiseLike<unknown>).then === "function") await answer;
      else await (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]().next().catch(() => {});
    }
  }
  const listed = Object.entries(api.paths).flatMap(([path, item]) => Object.keys(item).map((verb) => ({ name: `${verb.toUpperCase()} ${path}`, call: item[verb]! })));
  assert.deepEqual([...made.keys()].sort(), listed.map(({ name }) => name).sort());
  for (const { name, call } of listed) {
    if (call.parameters?.some((one) => one.name === "Idempotency-Key")) assert.match(made.get(name)!.get("idempotency-key")!, /^[0-9a-f]{32}/, name);
    assert.match(made.get(name)!.get("x-request-id")!, /^[0-9a-f]{32}$/, name);
    assert.match(made.get(name)!.get("user-agent")!, /^tidings-typescript\/\d+\.\d+\.\d+ Node\.js\/\d+/, name);
  }
});

test("ids are encoded, and those that no URL can have are refused", async () => {
  const urls: string[] = [];
  const tidings = new Tidings({ url: new URL("http://localhost/below//"), fetch: async (url) => (urls.push(url), new Response(null, { status: 204 })) });
  await tidings.recipients.erase("a/b?c#é");
  await tidings.subscriptions.follow("ana", "artist/42");
  await tidings.messages.list({ type: undefined, limit: 2 } as object);
  await tidings.inbox.newer("ana", { since: 3, category: ["a", "b&c"] });
  assert.deepEqual(urls, [
    "http://localhost/below/v1/recipients/a%2Fb%3Fc%23%C3%A9",
    "http://localhost/below/v1/recipients/ana/subscriptions/artist%2F42",
    "http://localhost/below/v1/messages?limit=2",
    "http://localhost/below/v1/recipients/ana/inbox?since=3&category=a&category=b%26c",
  ]);
  for (const id of ["", ".", ".."]) assert.throws(() => void tidings.recipients.erase(id), TypeError);
});

test("a tenant is given with the query, or with the options where nothing else is", async () => {
  const urls: string[] = [];
  const bodies: unknown[] = [];
  const fetch = async (url: string, { body }: RequestInit) => (urls.push(url), bodies.push(body), new Response("{}", { status: 200 }));
  const tidings = new Tidings({ url: "http://localhost", fetch, retries: 0 });
  await tidings.inbox.list("ana", { limit: 2, tenant: "acme" });
  await tidings.inbox.counts("ana", { tenant: "acme", timeout: 1_000 });
  await tidings.inbox.counts("ana", { timeout: 1_000 });
  await tidings.me.markRead({ all: true }, { tenant: "a&b" });
  await tidings.me.live({ tenant: "acme", timeout: 1_000 })[Symbol.asyncIterator]().next().catch(() => {});
  await tidings.tenants.addMember("acme", "ana");
  assert.deepEqual(urls, [
    "http://localhost/v1/recipients/ana/inbox?limit=2&tenant=acme",
    "http://localhost/v1/recipients/ana/inbox/counts?tenant=acme",
    "http://localhost/v1/recipients/ana/inbox/counts",
    "http://localhost/v1/me/inbox/read?tenant=a%26b",
    "http://localhost/v1/me/live?tenant=acme",
    "http://localhost/v1/tenants/acme/members/ana",
  ]);
  bodies.length = 0;
  await tidings.events.cancel("e", {}, { timeout: 1_000 });
  await tidings.events.withdraw("e", {}, { tenant: "acme", timeout: 1_000 });
  assert.deepEqual(bodies, [undefined, '{"tenant":"acme"}']);
});

test("a key may be a function, which each try asks", async () => {
  const keys: (string | null)[] = [];
  let count = 0;
  const fetch = async (_: string, init: RequestInit) => {
    keys.push(new Headers(init.headers).get("authorization"));
    return new Response("{}", { status: keys.length === 1 ? 503 : 200 });
  };
  const tidings = new Tidings({ url: "http://localhost", key: async () => `t${(count += 1)}`, fetch, sleep: async () => {} });
  await tidings.me.counts();
  assert.deepEqual(keys, ["Bearer t1", "Bearer t2"]);
});

test("settings that are left out are those of the environment", () => {
  const { TIDINGS_URL, TIDINGS_KEY } = process.env;
  try {
    delete process.env.TIDINGS_URL;
    assert.throws(() => new Tidings(), /address of the server is missing.*TIDINGS_URL/);
    assert.throws(() => new Tidings({ key: "k" }), /TIDINGS_URL/);
    process.env.TIDINGS_URL = "http://localhost/";
    process.env.TIDINGS_KEY = "of the environment";
    const { http } = new Tidings() as unknown as { http: { url: string; settings: { key?: unknown } } };
    assert.deepEqual([http.url, http.settings.key], ["http://localhost", "of the environment"]);
    const given = new Tidings({ url: "http://other", key: "given" }) as unknown as { http: { url: string; settings: { key?: unknown } } };
    assert.deepEqual([given.http.url, given.http.settings.key], ["http://other", "given"]);
  } finally {
    for (const [name, value] of Object.entries({ TIDINGS_URL, TIDINGS_KEY })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});
