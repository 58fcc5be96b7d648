// The package as it is built: in a worker that has web standards and nothing else, and in Deno and Bun where they are there.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { json, stub } from "./stub.js";

const dist = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const answers = () =>
  stub((response, { url }) => {
    if (url.startsWith("/v1/events")) json(response, 202, { id: "e", status: "accepted" });
    else response.writeHead(204).end();
  });

test("a worker needs web standards alone", async () => {
  assert.ok(existsSync(dist), "npm run build");
  const { outputFiles } = await build({ entryPoints: [dist], bundle: true, format: "iife", globalName: "client", write: false });
  const { fetch, Headers, Response, URL, URLSearchParams, TextEncoder, TextDecoder, AbortController, ReadableStream, crypto, atob, btoa, setTimeout, clearTimeout } = globalThis;
  const context = createContext({ fetch, Headers, Response, URL, URLSearchParams, TextEncoder, TextDecoder, AbortController, ReadableStream, crypto, atob, btoa, setTimeout, clearTimeout, Uint8Array, navigator: { userAgent: "Cloudflare-Workers" } });
  const server = await answers();
  try {
    runInContext(outputFiles[0]!.text + "; globalThis.client = client", context);
    const run = `(async () => {
      const tidings = new client.Tidings({ url: ${JSON.stringify(server.url)}, key: "k" });
      await tidings.recipients.upsert("ana", {});
      const { status } = await tidings.events.publish({ type: "comment", object: { id: "o" }, to: { recipients: ["ana"] } });
      return [status, (await client.signToken("tsk_a_b", "ana", 60)).split(".").length];
    })()`;
    assert.deepEqual([...(await runInContext(run, context))], ["accepted", 3]);
    assert.match(server.asked[0]!.headers["user-agent"]!, /^tidings-typescript\/[\d.]+ Cloudflare-Workers$/);
  } finally {
    await server.stop();
  }
});

test("a page of another origin sends no header that its browser would have to ask for", async () => {
  const { outputFiles } = await build({ entryPoints: [dist], bundle: true, format: "iife", globalName: "client", write: false });
  const { Headers, Response, URL, URLSearchParams, AbortController, crypto, setTimeout, clearTimeout } = globalThis;
  const sent: string[][] = [];
  const fetch = async (_: string, { headers }: { headers: Headers }) => (sent.push([...headers.keys()]), new Response("{}"));
  const context = createContext({ fetch, Headers, Response, URL, URLSearchParams, AbortController, crypto, setTimeout, clearTimeout, Uint8Array, navigator: { userAgent: "Mozilla/5.0 (X11)" } });
  runInContext(outputFiles[0]!.text + "; globalThis.client = client", context);
  await runInContext('(async () => { const tidings = new client.Tidings({ url: "http://localhost", key: "token" }); await tidings.me.counts(); await tidings.me.flush({}); })()', context);
  assert.deepEqual(sent, [["authorization"], ["authorization", "content-type", "idempotency-key"]]);
});

for (const [program, ...words] of [["deno", "run", "--allow-net"], ["bun", "run"]] as const) {
  const missing = spawnSync(program, ["--version"]).status !== 0;
  test(`${program} runs it`, { skip: missing && `${program} is not there` }, async () => {
    const server = await answers();
    try {
      const file = join(mkdtempSync(join(tmpdir(), "tidings-client-")), "run.mjs");
      writeFileSync(file, `import { signToken, Tidings } from ${JSON.stringify(pathToFileURL(dist).href)};
        const tidings = new Tidings({ url: ${JSON.stringify(server.url)}, key: "k" });
        await tidings.recipients.upsert("ana", {});
        const { status } = await tidings.events.publish({ type: "comment", object: { id: "o" }, to: { recipients: ["ana"] } });
        console.log(status, (await signToken("tsk_a_b", "ana", 60)).split(".").length);`);
      const child = spawn(program, [...words, file]);
      let out = "";
      child.stdout.on("data", (chunk) => (out += chunk));
      await once(child, "exit");
      assert.equal(out.trim(), "accepted 3");
      assert.match(server.asked[0]!.headers["user-agent"]!, new RegExp(`^tidings-typescript/[\\d.]+ ${program}/`, "i"));
    } finally {
      await server.stop();
    }
  });
}
