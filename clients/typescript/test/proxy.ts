// A proxy that does harm to the requests that pass through it.
import { createServer, type Socket, connect } from "node:net";
import type { AddressInfo } from "node:net";

/** What happens to the next connection; without one it passes. */
export type Fault =
  | "cut before the request"
  | "cut in the request"
  | "cut after the request"
  | "cut in the answer"
  | { answer: string }
  | { slow: number };

/** A proxy that listens. */
export interface Proxy {
  url: string;
  /** Faults of the next requests, in their order. */
  faults: Fault[];
  /** Requests that came, by their heads. */
  heads: string[];
  stop(): Promise<void>;
}

/** Starts a proxy before a server. Each connection serves one request. */
export async function proxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const faults: Fault[] = [];
  const heads: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on("close", () => open.delete(client)).on("error", () => {});
    const fault = faults.shift();
    if (fault === "cut before the request") return void client.resetAndDestroy();
    let request = Buffer.alloc(0);
    let sent = false;
    client.on("data", (chunk: Buffer) => {
      request = Buffer.concat([request, chunk]);
      const whole = wholeOf(request);
      if (fault === "cut in the request" && request.length > 0) {
        heads.push(headOf(request));
        return void client.resetAndDestroy();
      }
      if (!whole || sent) return;
      sent = true;
      heads.push(headOf(request));
      if (typeof fault === "object" && "answer" in fault) return void client.end(fault.answer);
      const server = connect(Number(port), hostname);
      server.on("error", () => client.destroy());
      server.write(request.toString("latin1").replace(/\r\n/, "\r\nConnection: close\r\n").replace(/\r\nconnection: keep-alive/i, ""), "latin1");
      let answer = Buffer.alloc(0);
      server.on("data", (chunk: Buffer) => {
        if (fault === "cut in the answer") {
          answer = Buffer.concat([answer, chunk]);
          return;
        }
        if (fault !== "cut after the request" && typeof fault !== "object") client.write(chunk);
        if (typeof fault === "object" && "slow" in fault) setTimeout(() => client.writable && client.write(chunk), fault.slow).unref();
      });
      server.on("end", () => {
        if (fault === "cut in the answer") client.write(answer.subarray(0, answer.length - 20), () => client.resetAndDestroy());
        else if (fault === "cut after the request") client.resetAndDestroy();
        else if (typeof fault !== "object") client.end();
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    heads,
    stop: () => new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of open) socket.destroy();
    }),
  };
}

const headOf = (request: Buffer) => request.toString("latin1").split("\r\n\r\n")[0]!;

function wholeOf(request: Buffer): boolean {
  const text = request.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length - end - 4 >= length;
}
