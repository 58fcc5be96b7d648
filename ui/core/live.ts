import type { Api } from "./api.js";
import { backOff, pause } from "./env.js";
import { asProblem, Problem } from "./problem.js";
import { SseReader, type SseEvent } from "./sse.js";
import type { Frame, Hello } from "./types.js";

/**
 * How the stream stands: `offline` tries again by itself, `waiting` was replaced by newer pages of the same person,
 * `signed_out` and `stopped` wait for `refresh()`, as `refused` does (the server won't, whoever asks).
 */
export type LiveState = "idle" | "connecting" | "live" | "offline" | "waiting" | "signed_out" | "stopped" | "refused";

/** Hears what a stream brings, in order. */
export interface LiveSink {
  hello(hello: Hello): void;
  frame(frame: Frame, id: string | undefined): void;
  state(state: LiveState, problem?: Problem): void;
}

/** The server says something at least every 15 s. */
const SILENCE_MS = 45_000;
const REPLACED_MS = 60_000;
/** A stream that lived so long was a good one: the next trouble begins anew. */
const GOOD_MS = 10_000;

interface Ended {
  code: string;
  retry_ms?: number;
  token: string;
}

/** One stream of `GET /live`: reads it, and connects again until it is stopped. */
export class Live {
  /** Where the stream goes on; undefined before the first frame. */
  cursor: string | undefined;
  #run: AbortController | undefined;
  #nap: { end: AbortController; forLook: boolean } | undefined;
  #failures = 0;
  #connectedAt = Infinity;

  constructor(readonly api: Api, readonly sink: LiveSink) {}

  get running(): boolean {
    return this.#run !== undefined;
  }

  start(): void {
    if (this.#run) return;
    this.#run = new AbortController();
    void this.#loop(this.#run);
  }

  stop(): void {
    this.#run?.abort();
    this.#run = undefined;
  }

  /** Ends a wait early: somebody looks at the page (`look`), or the network is back. */
  wake(look: boolean): void {
    if (this.#nap && (look || !this.#nap.forLook)) this.#nap.end.abort();
  }

  async #loop(run: AbortController): Promise<void> {
    const { tokens } = this.api;
    const end = run.signal;
    while (!end.aborted) {
      try {
        this.sink.state("connecting");
        const ended = await this.#read(end);
        if (end.aborted) return;
        this.#failures = 0;
        if (ended.code === "replaced") await this.#replaced(end);
        else if (ended.code.startsWith("token_")) {
          // A key is that of all pages: they don't ask their host at once.
          if (ended.code === "token_key") await pause(this.api.env, this.api.env.random() * 10_000, end);
          if (!end.aborted) await tokens.refused(ended.token, ended.code);
        } else await pause(this.api.env, ended.retry_ms ?? this.api.env.random() * 10_000, end);
      } catch (error) {
        if (end.aborted) return;
        const problem = asProblem(error);
        // Another 403 than the server's own is a proxy's, and may pass.
        const refused = problem.status === 403 && problem.code !== "http_403";
        if (problem.unauthorized || refused) {
          if (this.#run === run) this.#run = undefined;
          this.sink.state(refused ? "refused" : (problem.code as LiveState), problem);
          return;
        }
        this.sink.state("offline", problem);
        await this.#backOff(problem, end);
      }
    }
  }

  /** The stream from its beginning to its end, however that comes about. */
  async #read(end: AbortSignal): Promise<Ended> {
    const { env } = this.api;
    const cut = new AbortController();
    const abort = () => cut.abort();
    end.addEventListener("abort", abort);
    let silence: unknown;
    let silent = false;
    const heard = () => {
      env.clearTimeout(silence);
      silence = env.setTimeout(() => {
        silent = true;
        abort();
      }, SILENCE_MS);
    };
    heard();
    this.#connectedAt = Infinity;
    try {
      let token = "";
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (this.cursor) headers["last-event-id"] = this.cursor;
      const response = await this.api.open("GET", "/live", {
        headers, signal: cut.signal, used: (used) => (token = used),
      });
      const body = response.body!.getReader();
      const text = new TextDecoder();
      const events = new SseReader();
      for (;;) {
        const { done, value } = await body.read();
        if (end.aborted) return { code: "", token };
        if (done) throw new Problem(0, "network", "the stream broke off");
        heard();
        for (const event of events.push(text.decode(value, { stream: true }))) {
          const ended = this.#take(event);
          if (ended) {
            abort();
            return { ...ended, token };
          }
        }
      }
    } catch (error) {
      // Something between here and the server may keep what the stream says.
      throw silent ? new Problem(0, "silent") : error;
    } finally {
      env.clearTimeout(silence);
      end.removeEventListener("abort", abort);
    }
  }

  #take({ event, data, id }: SseEvent): Omit<Ended, "token"> | undefined {
    if (event === "end") return JSON.parse(data);
    if (event === "hello") {
      const hello: Hello = JSON.parse(data);
      if (hello.reset) this.cursor = undefined;
      this.#connectedAt = this.api.env.now();
      this.sink.state("live");
      this.sink.hello(hello);
    } else if (event === "inbox") {
      if (id) this.cursor = id;
      this.sink.frame(JSON.parse(data), id);
    }
    return undefined;
  }

  async #backOff(problem: Problem, end: AbortSignal): Promise<void> {
    const { env } = this.api;
    if (env.now() - this.#connectedAt >= GOOD_MS) this.#failures = 0;
    const wait = backOff(env, this.#failures++);
    // What the server asked for is a floor, with a second in which those who heard the same are spread.
    const asked = problem.retryAfterMs;
    const floor = asked === undefined ? 0 : env.now() + asked + env.random() * 1000;
    await this.#sleep(Math.max(wait, floor - env.now()), end, false);
    const woken = Math.max(floor - env.now(), 0);
    if (woken) await pause(env, woken, end);
  }

  /** A newer page took the place. Whoever looks at this one gets it back, but two pages must not fight for it. */
  async #replaced(end: AbortSignal): Promise<void> {
    const { env } = this.api;
    const earliest = env.now() + REPLACED_MS;
    this.sink.state("waiting");
    await this.#sleep(2 ** 31 - 1, end, true);
    await pause(env, Math.max(earliest - env.now(), 0), end);
  }

  async #sleep(ms: number, end: AbortSignal, forLook: boolean): Promise<void> {
    const nap = { end: new AbortController(), forLook };
    const stop = () => nap.end.abort();
    this.#nap = nap;
    end.addEventListener("abort", stop);
    if (!end.aborted) await pause(this.api.env, ms, nap.end.signal);
    end.removeEventListener("abort", stop);
    if (this.#nap === nap) this.#nap = undefined;
  }
}
