// A server with the calls of `/v1/me` that the elements make, for tests in a browser. What it knows of inboxes is
// `world.ts`; tokens are read, not verified.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { claimsOf, type MarkName } from "../core/index.js";
import { MockSettings } from "./mock-settings.js";
import { World } from "./world.js";

interface Stream {
  response: ServerResponse;
  sub: string;
  exp: number;
}

export class Mock {
  readonly worlds = new Map<string, World>();
  readonly streams = new Set<Stream>();
  readonly requests: string[] = [];
  /** What each recipient follows. */
  readonly topics = new Map<string, Set<string>>();
  readonly settings = new Map<string, MockSettings>();
  /** `[users] topics`. */
  open = ["artist/", "show/"];
  /** Other calls of `/v1/me`: `METHOD /path` without the query. Undefined: 404. */
  readonly routes = new Map<string, (body: any, sub: string, path: string) => unknown>();
  readonly server: Server;
  /** Origins that may call. */
  origins = new Set<string>();
  /** The code of a 401 for a token; undefined: it is good. */
  refuse: (token: string) => string | undefined = () => undefined;
  /** A status for a call in place of its answer. */
  fail: (line: string) => number | undefined = () => undefined;
  /** Milliseconds before each answer. */
  latency = 0;
  /** Something on the way keeps streams: not even the head of the answer comes. */
  silent = false;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.server = createServer((request, response) => void this.#answer(request, response));
  }

  get url(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  async start(port = 0): Promise<this> {
    await new Promise<void>((done) => this.server.listen(port, done));
    this.#timer = setInterval(() => this.#tick(), 50);
    return this;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.end("restart", { retry_ms: 100 });
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  world(sub: string): World {
    let world = this.worlds.get(sub);
    if (!world) {
      this.worlds.set(sub, (world = new World(Date.now())));
      world.listeners.add((frame) => {
        for (const stream of this.streams) if (stream.sub === sub) send(stream.response, "inbox", frame, `c${frame.rev}`);
      });
    }
    return world;
  }

  settingsOf(sub: string): MockSettings {
    const settings = this.settings.get(sub) ?? new MockSettings();
    this.settings.set(sub, settings);
    return settings;
  }

  /** Ends streams with a code. */
  end(code: string, more: object = {}): void {
    for (const { response } of this.streams) {
      send(response, "end", { code, ...more });
      response.end();
    }
    this.streams.clear();
  }

  /** Breaks streams off without a word. */
  cut(): void {
    for (const { response } of this.streams) response.destroy();
  }

  #tick(): void {
    const now = Date.now();
    for (const world of this.worlds.values()) world.advance(now);
    for (const stream of this.streams) {
      if (stream.exp * 1000 > now) continue;
      send(stream.response, "end", { code: "token_expired" });
      stream.response.end();
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, this.url);
    if (pathname.startsWith("/ui/")) return this.#file(pathname, response);
    const { origin } = request.headers;
    if (origin && this.origins.has(origin)) {
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("access-control-expose-headers", "Retry-After, X-Request-Id");
    }
    response.setHeader("vary", "Origin");
    if (request.method === "OPTIONS") {
      response.setHeader("access-control-allow-headers", "Authorization, Content-Type, Last-Event-ID, Idempotency-Key");
      response.setHeader("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE");
      response.setHeader("access-control-max-age", "600");
      return void response.writeHead(204).end();
    }
    const path = pathname.replace("/v1/me", "");
    const line = `${request.method} ${path}`;
    this.requests.push(line);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
    if (this.latency) await new Promise((done) => setTimeout(done, this.latency));

    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const { sub, exp = 0 } = token ? claimsOf(token) : {};
    const code = !token ? "token_missing" : exp * 1000 < Date.now() ? "token_expired" : this.refuse(token);
    if (code || sub === undefined) return problem(response, 401, code ?? "token_malformed");
    const failed = this.fail(line);
    if (failed) return problem(response, failed, "made_to_fail");
    if (line === "GET /live" && this.silent) return;
    if (line === "GET /live") return this.#live(request, response, sub, exp);
    const answer = this.#me(line, path, searchParams, body, sub);
    if (answer === undefined) return problem(response, 404, "not_found");
    if (answer === null) return void response.writeHead(204).end();
    if (typeof answer === "string") return problem(response, 403, answer);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }

  #me(line: string, path: string, query: URLSearchParams, body: any, sub: string): unknown {
    const world = this.world(sub);
    world.advance(Date.now());
    if (line === "GET /inbox") return world.page(query);
    if (line === "GET /inbox/counts") return world.counts();
    const request = line.split(" ")[0];
    const mark = /^POST \/inbox\/(seen|read|unread|archive|unarchive|snooze|unsnooze|delete)$/.exec(line)?.[1];
    if (mark) return world.mark(mark as MarkName, body);
    const settings = this.settingsOf(sub);
    if (line === "GET /preferences") return settings.answer();
    if (line === "PATCH /preferences") return settings.patch(body) ?? null;
    if (line === "GET /pending") return { lanes: settings.lanes(), messages: [], scheduled: [] };
    if (line === "POST /flush") return settings.flush();
    if (path === "/push") {
      settings.push = request === "PUT" ? body : undefined;
      return null;
    }
    const topics = this.topics.get(sub) ?? new Set();
    this.topics.set(sub, topics);
    if (line === "GET /subscriptions") return { topics: [...topics].sort() };
    const [, verb, topic] = /^(PUT|DELETE) \/subscriptions\/(.+)$/.exec(line) ?? [];
    if (verb) {
      const name = decodeURIComponent(topic!);
      if (!this.open.some((start) => name.startsWith(start))) return "topic_not_open";
      if (verb === "PUT") topics.add(name);
      else topics.delete(name);
      return null;
    }
    const start = `/${path.split("/")[1]}`;
    const route = this.routes.get(line) ?? this.routes.get(`${line.split(" ")[0]} ${start}`);
    return route?.(body, sub, path);
  }

  #live(request: IncomingMessage, response: ServerResponse, sub: string, exp: number): void {
    const world = this.world(sub);
    const cursor = request.headers["last-event-id"];
    const after = typeof cursor === "string" ? Number(cursor.slice(1)) : undefined;
    const reset = after !== undefined && !(after <= world.rev);
    response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no", "cache-control": "no-store" });
    send(response, "hello", { ...world.counts(), ...(reset ? { reset } : {}) });
    if (after !== undefined && !reset) {
      for (const frame of world.frames) if (frame.rev > after) send(response, "inbox", frame, `c${frame.rev}`);
    }
    const stream = { response, sub, exp };
    this.streams.add(stream);
    const beat = setInterval(() => response.write(": beat\n\n"), 15_000);
    response.on("close", () => {
      clearInterval(beat);
      this.streams.delete(stream);
    });
  }

  #file(pathname: string, response: ServerResponse): void {
    const name = pathname.replace(/^\/ui\//, "");
    try {
      const file = readFileSync(new URL(`../dist/${name}`, import.meta.url));
      response.writeHead(200, { "content-type": "text/javascript", "access-control-allow-origin": "*" }).end(file);
    } catch {
      response.writeHead(404, { "access-control-allow-origin": "*" }).end();
    }
  }
}

function send(response: ServerResponse, event: string, data: object, id?: string): void {
  response.write(`event: ${event}\n${id ? `id: ${id}\n` : ""}data: ${JSON.stringify(data)}\n\n`);
}

function problem(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/problem+json" }).end(JSON.stringify({ status, code, title: code }));
}
