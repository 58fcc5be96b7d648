// The server and the browser as the core meets them, on a virtual clock.
import { claimsOf, Inbox, type Env, type InboxOptions, type MarkName, type Ports } from "../core/index.js";
import { Clock, FakeSight, token } from "./clock.js";
import { World } from "./world.js";

interface Stream {
  send(text: string): void;
  close(): void;
  sub: string;
}

export class FakeServer {
  readonly world: World;
  /** Requests as `METHOD path`, in order, with their instant. */
  readonly requests: { at: number; line: string; token: string | undefined; cursor: string | null }[] = [];
  readonly streams = new Set<Stream>();
  /** The code of a 401 for a token; undefined: it is good. */
  refuse: (token: string) => string | undefined = () => undefined;
  /** An answer in place of the real one. */
  answer: ((line: string) => Response | undefined) | undefined;
  down = false;
  pages = 0;
  /** A comment every 15 s. */
  beats = true;
  latency: () => number = () => 5;
  /** Frames that are older are not replayed: the stream says `reset`. */
  replayFrom = 0;

  constructor(readonly clock: Clock) {
    this.#beat();
    this.world = new World(clock.now);
    this.world.listeners.add((frame) => {
      for (const stream of this.streams) stream.send(this.frame(frame));
    });
  }

  #beat(): void {
    this.clock.after(15_000, () => {
      if (this.beats) for (const stream of this.streams) stream.send(": beat\n\n");
      this.#beat();
    });
  }

  lines(start: string): number {
    return this.requests.filter(({ line }) => line.startsWith(start)).length;
  }

  frame(frame: { rev: number }): string {
    return `event: inbox\nid: c${frame.rev}\ndata: ${JSON.stringify(frame)}\n\n`;
  }

  end(code: string, more: object = {}): void {
    for (const stream of [...this.streams]) {
      stream.send(`event: end\ndata: ${JSON.stringify({ code, ...more })}\n\n`);
      stream.close();
    }
  }

  cut(): void {
    for (const stream of [...this.streams]) stream.close();
  }

  fetch: Env["fetch"] = async (url, init) => {
    const { pathname, searchParams } = new URL(url);
    const headers = new Headers(init.headers);
    const given = headers.get("authorization")?.slice(7);
    const line = `${init.method} ${pathname.replace("/v1/me", "")}`;
    this.requests.push({ at: this.clock.now, line, token: given, cursor: headers.get("last-event-id") });
    const body = init.body ? JSON.parse(String(init.body)) : undefined;
    await this.#pass(init.signal);
    if (this.down) throw new TypeError("fetch failed");
    const made = this.answer?.(line) ?? this.#answer(line, searchParams, body, given);
    await this.#pass(init.signal);
    if (this.down) throw new TypeError("fetch failed");
    return made instanceof Response ? made : this.#open(given!, headers.get("last-event-id"), init.signal);
  };

  #pass(signal: AbortSignal | null | undefined): Promise<void> {
    return new Promise((done, fail) => {
      const abort = () => fail(new DOMException("aborted", "AbortError"));
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort);
      this.clock.after(this.latency(), done);
    });
  }

  #answer(line: string, query: URLSearchParams, body: any, given?: string): Response | "live" {
    this.world.advance(Math.max(this.world.now, this.clock.now));
    const code = given ? this.refuse(given) : "token_missing";
    if (code) return problem(401, code);
    if (line === "GET /live") return "live";
    if (line === "GET /inbox") return Response.json(this.world.page(query));
    if (line === "GET /inbox/counts") return Response.json(this.world.counts());
    const name = /^POST \/inbox\/(\w+)$/.exec(line)?.[1];
    if (name) return Response.json(this.world.mark(name as MarkName, body));
    return problem(404, "not_found");
  }

  #open(given: string, cursor: string | null, signal: AbortSignal | null | undefined): Response {
    let ended = false;
    const { streams, world } = this;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const stream: Stream = {
          sub: claimsOf(given).sub ?? "",
          send: (text) => ended || controller.enqueue(new TextEncoder().encode(text)),
          close: () => {
            if (!ended) controller.close();
            ended = true;
            streams.delete(stream);
          },
        };
        const after = cursor ? Number(cursor.slice(1)) : undefined;
        const reset = after !== undefined && (after < this.replayFrom || after > world.rev);
        stream.send(`event: hello\ndata: ${JSON.stringify({ ...world.counts(), ...(reset ? { reset } : {}) })}\n\n`);
        if (after !== undefined && !reset) {
          for (const frame of world.frames) if (frame.rev > after) stream.send(this.frame(frame));
        }
        streams.add(stream);
        signal?.addEventListener("abort", () => {
          if (!ended) controller.error(new DOMException("aborted", "AbortError"));
          ended = true;
          streams.delete(stream);
        });
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }
}

export function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  return Response.json({ code, status, title: code }, { status, headers });
}

/** Locks and channels of one browser. */
export class FakeBrowser {
  #held = new Map<string, () => void>();
  #queue: { name: string; grant: () => void; gone: () => boolean }[] = [];
  latency: () => number = () => 0;
  #last = new Map<object, number>();
  #channels = new Set<{ name: string; onmessage: ((event: MessageEvent) => void) | null }>();

  constructor(readonly clock: Clock) {}

  readonly ports: Ports = {
    locks: { request: ((...args: [string, LockOptions, () => Promise<void>]) => this.#request(...args)) as LockManager["request"] },
    channel: (name) => {
      const channel = {
        name,
        onmessage: null as ((event: MessageEvent) => void) | null,
        postMessage: (data: unknown) => {
          const copy = structuredClone(data);
          for (const other of this.#channels) {
            if (other === channel || other.name !== name) continue;
            // Messages take their time, and keep their order.
            const at = Math.max(this.#last.get(other) ?? 0, this.clock.now + 1 + this.latency());
            this.#last.set(other, at);
            this.clock.after(at - this.clock.now, () => this.#channels.has(other) && other.onmessage?.({ data: copy } as MessageEvent));
          }
        },
        close: () => void this.#channels.delete(channel),
      };
      this.#channels.add(channel);
      return channel as never;
    },
  };

  #request(name: string, options: LockOptions, run: () => Promise<void>): Promise<void> {
    return new Promise((done, fail) => {
      const abort = () => fail(new DOMException("aborted", "AbortError"));
      const grant = () => {
        let over = false;
        const free = () => {
          if (over) return;
          over = true;
          this.#held.delete(name);
          this.#next(name);
        };
        this.#held.set(name, () => {
          over = true;
          abort();
        });
        void run().then(() => (free(), done()));
      };
      options.signal?.addEventListener("abort", abort);
      if (options.steal) {
        this.#held.get(name)?.();
        grant();
      } else {
        this.#queue.push({ name, grant, gone: () => options.signal?.aborted ?? false });
        this.#next(name);
      }
    });
  }

  #next(name: string): void {
    if (this.#held.has(name)) return;
    const at = this.#queue.findIndex((waiting) => waiting.name === name);
    if (at < 0) return;
    const waiting = this.#queue.splice(at, 1)[0]!;
    const { grant, gone } = waiting;
    if (gone()) this.#next(name);
    else grant();
  }
}

/** A page of `sub` in a browser. */
export function page(server: FakeServer, options: Partial<InboxOptions> & { sub?: string } = {}) {
  const { clock } = server;
  const id = ++server.pages;
  const sight = new FakeSight();
  const asked: number[] = [];
  const inbox = new Inbox({
    server: "https://tidings.test",
    getToken: async () => {
      asked.push(clock.now);
      return token(options.sub ?? "ana", clock.now, 3_600_000, { jti: `${id}.${asked.length}` });
    },
    env: clock.env(server.fetch),
    sight,
    ports: {},
    limit: 4,
    ...options,
  });
  return { inbox, sight, asked };
}
