// A server that answers what a test says, and notes what it was asked.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came. */
export interface Asked {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** A stub that listens. */
export interface Stub {
  url: string;
  asked: Asked[];
  stop(): Promise<void>;
}

/** Starts a stub whose answers a function gives. */
export async function stub(answer: (response: ServerResponse, asked: Asked, count: number) => void): Promise<Stub> {
  const asked: Asked[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const one = { method: request.method!, url: request.url!, headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      answer(response, one, asked.length);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    stop: () => new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    }),
  };
}

/** Answers with JSON. */
export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Type": "application/json", "X-Tidings-Version": "0.1.0", ...headers }).end(JSON.stringify(body));
}

/** Answers with a problem. */
export function problem(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  json(response, status, { type: `/errors/${code}`, title: "T", status, detail: "what was wrong", code, hint: "mend it" }, { "Content-Type": "application/problem+json", ...headers });
}
