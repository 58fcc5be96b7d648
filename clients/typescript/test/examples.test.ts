// The programs of the README and of examples/, run with the package as it is built against a server.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { itemsOf, Server } from "./server.js";

const home = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
let server: Server;
let environment: Record<string, string | undefined>;
before(async () => {
  server = await Server.start();
  environment = { ...process.env, TIDINGS_URL: server.url, TIDINGS_KEY: server.key, TIDINGS_SIGNING_KEY: server.signingKey, HOOK_SECRET: "a secret of tests" };
});
after(() => server.stop());

const blocks = (page = "README.md") => [...readFileSync(join(home, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block]) => block!);

test("the quick start of the README is five lines, and runs", async () => {
  const [quickStart] = blocks();
  assert.equal(quickStart!.trim().split("\n").length, 5);
  const { stdout } = await ran(quickStart!);
  assert.equal(stdout, "Comment · Plan 1\n");
});

test("all programs of the README run, and fit the types", async () => {
  const { stdout, stderr } = await ran(blocks().join("\n"), true);
  assert.match(stdout, /^c1$/m);
  assert.match(stderr, /comment/);
});

test("the quick start of the product's README runs, and fits the types", async () => {
  const programs = blocks("../../README.md");
  assert.equal(programs.length, 1);
  const tidings = server.client();
  await tidings.recipients.upsert("ana", {});
  const told = await itemsOf(tidings, "ana");
  const { stdout } = await ran(programs[0]!, true);
  assert.match(stdout, /^[1-9]\d*\n$/);
  assert.equal(await itemsOf(tidings, "ana"), told + 1);
});

test("examples/import.ts imports", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidings-client-"));
  try {
    writeFileSync(join(folder, "people.ndjson"), '{"id":"p1","name":"One"}\n\n{"id":"p2","tz":"Nowhere"}\n');
    const { stdout, stderr } = await run("node", ["--import", "tsx", "examples/import.ts", join(folder, "people.ndjson")], { cwd: home, env: environment });
    assert.equal(stdout, "1 of 2 recipients\n");
    assert.match(stderr, /^line 2: .*Nowhere/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("examples/site.ts signs tokens, and checks webhooks", async () => {
  const site = spawn("node", ["--import", "tsx", "examples/site.ts"], { cwd: home, env: { ...environment, PORT: "0" }, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const lines = createInterface({ input: site.stdout })[Symbol.asyncIterator]();
    const { value: url } = (await lines.next()) as { value: string };
    const { token } = (await (await fetch(`${url}/tidings-token`)).json()) as { token: string };
    assert.equal((await server.client({ key: token }).me.counts()).rev >= 0, true);
    const [body, at] = ['{"type":"message.sent","timestamp":"2024-03-07T08:00:00Z","data":{"recipient":"ana"}}', String(Math.floor(Date.now() / 1000))];
    const signature = (secret: string) => `v1,${createHmac("sha256", secret).update(`m1.${at}.${body}`).digest("base64")}`;
    const hook = async (secret: string) => (await fetch(`${url}/tidings`, { method: "POST", body, headers: { "webhook-id": "m1", "webhook-timestamp": at, "webhook-signature": signature(secret) } })).status;
    assert.equal(await hook("another secret"), 401);
    assert.equal(await hook("a secret of tests"), 204);
    assert.equal((await lines.next()).value, "message.sent ana");
  } finally {
    site.kill();
  }
});

/** Runs a program in the folder of the package, which finds itself by its name. */
async function ran(program: string, typed = false): Promise<{ stdout: string; stderr: string }> {
  const file = join(home, "test/out.mts");
  writeFileSync(file, program.replaceAll("http://127.0.0.1:8990", server.url));
  try {
    if (typed) execFileSync("npx", ["tsc", "--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "--ignoreConfig", file], { cwd: home, stdio: ["ignore", 2, 2] });
    return await run("node", ["--import", "tsx", file], { cwd: home, env: environment });
  } finally {
    rmSync(file);
  }
}
