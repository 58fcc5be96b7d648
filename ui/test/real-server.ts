// A server of `tidings serve --dev` over a new store, and a mail server that answers as it is told. The binary is the one
// of TIDINGS_PROGRAM.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/** The mail server: it takes mails, and refuses those to whom `refuse` answers. */
export class MailServer {
  refuse: (address: string) => string | undefined = () => undefined;
  port = 0;
  #server!: Server;
  #sockets = new Set<Socket>();

  /** Begins, or begins again, at the port that it had. */
  async start(): Promise<void> {
    this.#server = createServer((socket) => this.#talk(socket));
    await new Promise<void>((done) => this.#server.listen(this.port, "127.0.0.1", done));
    this.port = (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #talk(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket)).on("error", () => socket.destroy());
    let inData = false;
    socket.write("220 mail.example.org\r\n");
    createInterface({ input: socket }).on("line", (line) => {
      if (inData) {
        if (line !== ".") return;
        inData = false;
        return void socket.write("250 2.0.0 taken\r\n");
      }
      const word = line.slice(0, 4).toUpperCase();
      const refusal = word === "RCPT" ? this.refuse(line) : undefined;
      inData = word === "DATA";
      socket.write(refusal ? `${refusal}\r\n` : word === "EHLO" ? "250-mail.example.org\r\n250 8BITMIME\r\n" : inData ? "354 go on\r\n" : word === "QUIT" ? "221 bye\r\n" : "250 2.1.0 ok\r\n");
    });
  }
}

export class RealServer {
  url = "";
  readonly dir = mkdtempSync(join(tmpdir(), "tidings-ui-"));
  #process?: ChildProcess;

  async start(configuration: string): Promise<this> {
    writeFileSync(join(this.dir, "tidings.toml"), configuration);
    const started = spawn(process.env.TIDINGS_PROGRAM!, ["serve", "--dev", "--config", "tidings.toml", "--data", "data", "--listen", "127.0.0.1:0"],
      { cwd: this.dir, env: { ...process.env, HOOK_SECRET: "whsec_" + "A".repeat(32) }, stdio: ["ignore", "pipe", "ignore"] });
    this.#process = started;
    this.url = await new Promise((done, failed) => {
      started.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
      createInterface({ input: started.stdout }).on("line", (line) => line.startsWith("listening on ") && done(line.slice(13)));
    });
    return this;
  }

  stop(): void {
    this.#process?.removeAllListeners("exit").kill("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** A call of the API. The path goes out as it is: `fetch` would take `..` for the folder above. */
  async call<T = any>(method: string, path: string, body?: unknown): Promise<T> {
    const { hostname, port } = new URL(this.url);
    const answer = await new Promise<IncomingMessage>((done, failed) => {
      const out = request({ hostname, port, path, method, agent, headers: { "content-type": "application/json" } }, done).on("error", failed);
      out.end(body === undefined ? undefined : JSON.stringify(body));
    });
    let text = "";
    for await (const part of answer.setEncoding("utf8")) text += part;
    if (answer.statusCode! >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }
}
