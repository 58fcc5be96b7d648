// A server over a new store, from the binary that TIDINGS_BIN names.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Settings, Tidings } from "../src/index.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const binary = process.env.TIDINGS_BIN ?? join(root, "target/debug/tidings");

/** A server of its own. */
export class Server {
  private constructor(
    readonly url: string,
    readonly key: string,
    readonly signingKey: string,
    readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  /** Starts one with the configuration of the first example, and more. */
  static async start(more = "", environment: Record<string, string> = {}): Promise<Server> {
    if (!existsSync(binary)) throw new Error(`there is no ${binary}: build it, or name the binary by TIDINGS_BIN`);
    const folder = mkdtempSync(join(tmpdir(), "tidings-client-"));
    const first = readFileSync(join(root, "examples/first/tidings.toml"), "utf8");
    writeFileSync(join(folder, "tidings.toml"), `${first}\n[users]\norigins = ["https://app.example.org"]\ntopics = ["artist/"]\n${more}`);
    const run = (...words: string[]) => execFileSync(binary, words, { cwd: folder, encoding: "utf8" }).trim().split("\n").at(-1)!;
    const key = run("key", "new", "--data", "data");
    const signingKey = run("signing-key", "new", "--data", "data");
    const child = spawn(binary, ["serve", "--config", "tidings.toml", "--data", "data", "--listen", "127.0.0.1:0"], { cwd: folder, stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, ...environment } });
    for await (const line of createInterface({ input: child.stdout! })) {
      const url = /^listening on (.*)$/.exec(line)?.[1];
      if (url) return new Server(url, key, signingKey, folder, child);
    }
    throw new Error("the server did not start");
  }

  /** A client of it. Tries follow each other at once. */
  client(settings: Partial<Settings> = {}): Tidings {
    return new Tidings({ url: this.url, key: this.key, signingKey: this.signingKey, sleep: async () => {}, ...settings });
  }

  async stop(): Promise<void> {
    this.child.kill();
    if (this.child.exitCode === null) await once(this.child, "exit");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The number of items in an inbox. */
export async function itemsOf(tidings: Tidings, recipient: string): Promise<number> {
  let count = 0;
  for await (const group of tidings.inbox.list(recipient, { limit: 100 })) count += group.count;
  return count;
}
