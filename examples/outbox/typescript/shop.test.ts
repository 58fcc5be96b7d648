// The shop in a database of its own, and tidings, by the binary that TIDINGS_BIN names.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, execFileSync, spawn, type SpawnOptions, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Pool } from "pg";
import { migrate, order, pay, ship } from "./shop.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const binary = process.env.TIDINGS_BIN ?? join(here, "../../../target/debug/tidings");
const skip = !process.env.TIDINGS_REQUIRE_SERVERS && spawnSync("initdb", ["--version"]).status !== 0 && "PostgreSQL is not on the PATH";
const ana = { id: "ana", name: "Ana Ruiz", email: "ana@example.org" };

let folder: string;
let database: ChildProcess;
let url: string;
let pool: Pool;

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "tidings-shop-"));
  // PostgreSQL does not run as root.
  const as: SpawnOptions = { cwd: folder, stdio: "ignore" };
  if (process.getuid?.() === 0) {
    const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))) as [number, number];
    chownSync(folder, uid, gid);
    Object.assign(as, { uid, gid });
  }
  const made = spawnSync("initdb", ["-U", "shop", "-A", "trust", "-D", join(folder, "data")], { ...as, encoding: "utf8", stdio: "pipe" });
  assert.equal(made.status, 0, made.stderr);
  const port = await freePort();
  database = spawn("postgres", ["-D", join(folder, "data"), "-c", `port=${port}`, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="], as);
  url = `postgres://shop@127.0.0.1:${port}/postgres`;
  await until(() => spawnSync("pg_isready", ["-q", "-d", url]).status === 0);
  // Connections may see the end of the database.
  pool = new Pool({ connectionString: url }).on("error", () => {});
});
after(async () => {
  if (skip) return;
  await pool.end();
  database.kill("SIGINT");
  if (database.exitCode === null) await once(database, "exit");
  rmSync(folder, { recursive: true, force: true });
});

test("the day of the README: what is rolled back is not in the outbox", { skip }, async () => {
  const { stdout } = await promisify(execFile)("node", ["--import", "tsx", "main.ts"], { cwd: here, env: { ...process.env, SHOP_DATABASE: url } });
  assert.match(stdout, /not paid: order 2 costs 12900 cents, not 900/);
  const types = (await pool.query<{ type: string }>("SELECT payload->>'type' AS type FROM tidings_outbox ORDER BY id")).rows.map(({ type }) => type);
  assert.deepEqual(types, ["order_placed", "order_placed", "order_paid", "order_shipped"]);
  assert.equal((await pool.query("SELECT FROM payments")).rowCount, 1);
});

test("a step is done once, and its event is there once, however many try it at once", { skip }, async () => {
  await migrate(pool);
  const id = await order(pool, ana, "A table", 100);
  await assert.rejects(ship(pool, id, "p"), /not in a state/);
  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => pay(pool, id, 100)));
  assert.equal(tries.filter(({ status }) => status === "fulfilled").length, 1);
  const { rows } = await pool.query("SELECT payload->>'type' AS type FROM tidings_outbox WHERE key = $1 ORDER BY id", [`order/${id}`]);
  assert.deepEqual(rows, [{ type: "order_placed" }, { type: "order_paid" }]);
});

test("each payload is a body that the server takes", { skip }, async () => {
  const config = readFileSync(join(here, "tidings.toml"), "utf8").replace(/\[feeds\.shop\][^[]*/, "");
  await serving(config, async (server) => {
    const { rows } = await pool.query<{ payload: object }>("SELECT payload FROM tidings_outbox ORDER BY id");
    assert.equal(rows.length, 6);
    for (const { payload } of rows) {
      const answer = await fetch(`${server}/v1/events`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(payload) });
      assert.equal(answer.status, 202, await answer.text());
    }
    assert.equal(await items(server), 6);
  });
});

const reads = spawnSync(binary, ["outbox", "--help"]).status === 0;

test("the outbox is the one that tidings prints, and all of it is told once", { skip: skip || (!reads && "the binary has no feeds") }, async () => {
  const printed = execFileSync(binary, ["outbox", "sql", "--feed", "shop", "--config", "tidings.toml"], { cwd: here, encoding: "utf8" });
  assert.equal(readFileSync(join(here, "outbox.sql"), "utf8"), printed);
  await migrate(pool);
  await serving(readFileSync(join(here, "tidings.toml"), "utf8"), async (server) => {
    const waiting = async () => Number((await pool.query("SELECT count(*) AS n FROM tidings_outbox WHERE taken_at IS NULL")).rows[0].n);
    await until(async () => (await waiting()) === 0);
    assert.equal(await items(server), 6);
    const id = await order(pool, ana, "A shelf", 700);
    await assert.rejects(pay(pool, id, 1));
    await pay(pool, id, 700);
    await until(async () => (await waiting()) === 0);
    assert.equal(await items(server), 8);
  });
});

/** Runs a server over a new store meanwhile. */
async function serving(config: string, work: (server: string) => Promise<void>): Promise<void> {
  assert.ok(existsSync(binary), `there is no ${binary}`);
  const home = mkdtempSync(join(tmpdir(), "tidings-shop-"));
  writeFileSync(join(home, "tidings.toml"), config);
  const words = ["serve", "--config", "tidings.toml", "--data", "data", "--listen", "127.0.0.1:0", "--dev"];
  const server = spawn(binary, words, { cwd: home, stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, SHOP_DATABASE: url } });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const listening = /^listening on (.*)$/.exec(line)?.[1];
      if (listening) return await work(listening);
    }
    assert.fail("the server did not start");
  } finally {
    server.kill();
    if (server.exitCode === null) await once(server, "exit");
    rmSync(home, { recursive: true, force: true });
  }
}

/** The number of items in the inbox of Ana. */
async function items(server: string): Promise<number> {
  const page = (await (await fetch(`${server}/v1/recipients/ana/inbox?limit=100`)).json()) as { groups: { count: number }[] };
  return page.groups.reduce((all, { count }) => all + count, 0);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

/** Asks until it is so. */
async function until(asked: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await asked()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail("it did not become so within 20 s");
}
