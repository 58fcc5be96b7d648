import type { Api } from "./api.js";
import { backOff, pause, type Seen, type Sight } from "./env.js";
import { Live, type LiveSink, type LiveState } from "./live.js";
import { asProblem, Problem } from "./problem.js";
import type { Frame, Hello } from "./types.js";

/** What the pages of one browser share a stream by. Without `locks` each page has its own. */
export interface Ports {
  locks?: Pick<LockManager, "request">;
  channel?: (name: string) => Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">;
}

/** The ports of this browser, as far as it has them. */
export const ports: Ports = {};
if (typeof navigator !== "undefined" && navigator.locks && typeof BroadcastChannel !== "undefined") {
  ports.locks = navigator.locks;
  ports.channel = (name) => new BroadcastChannel(name);
}

type Message =
  | { k: "join" }
  | { k: "hello"; hello: Hello; id: string | undefined; state: LiveState }
  | { k: "frame"; frame: Frame; id: string | undefined }
  | { k: "state"; state: LiveState; code?: string | undefined }
  | { k: "wake"; look: boolean };

const HIDDEN_MS = 5 * 60_000;
const BEAT_MS = 20_000;
/** A leader that says nothing for so long is frozen, and another page takes its place. */
const MUTE_MS = 90_000;

/**
 * The stream of all pages of one browser and one recipient: the page that holds the lock leads, has the stream, and
 * hands on what it brings. When it goes another leads, and goes on from the last frame that it heard.
 */
export class Shared {
  #live: Live;
  #run: AbortController | undefined;
  #lock: AbortController | undefined;
  #release: (() => void) | undefined;
  #channel: ReturnType<NonNullable<Ports["channel"]>> | undefined;
  #name = "";
  #leading = false;
  /** Signed out or refused: nothing goes on before `start`. */
  #ended = false;
  #state: LiveState = "idle";
  /** False from joining to the first hello: frames before it would hide that others were missed. */
  #greeted = false;
  /** The newest counts, for pages that join. */
  #hello: Hello | undefined;
  #beat: unknown;
  #hide: unknown;
  /** The wait for a token of the host. */
  #nap: AbortController | undefined;

  constructor(readonly api: Api, readonly sink: LiveSink, readonly sight: Sight, readonly ports: Ports) {
    this.#live = new Live(api, {
      hello: (hello) => this.#heard({ k: "hello", hello, id: this.#live.cursor, state: "live" }),
      frame: (frame, id) => this.#heard({ k: "frame", frame, id }),
      state: (state, problem) => this.#ownState(state, problem),
    });
  }

  get leading(): boolean {
    return this.#leading;
  }

  start(): void {
    if (this.#run) return;
    const run = (this.#run = new AbortController());
    this.#ended = false;
    const unwatch = this.sight.watch((what) => this.#seen(what));
    run.signal.addEventListener("abort", unwatch);
    if (!this.sight.visible()) this.#seen("visibility");
    void this.#begin(run.signal);
  }

  stop(): void {
    this.#run?.abort();
    this.#run = undefined;
    this.#suspend();
    this.api.env.clearTimeout(this.#hide);
    this.#channel?.close();
    this.#channel = undefined;
    this.#live.cursor = this.#hello = undefined;
    this.#name = "";
  }

  /** Whose stream it is tells only a token, which is asked for until there is one. */
  async #begin(end: AbortSignal): Promise<void> {
    const { env, server, tokens } = this.api;
    for (let failures = 0; !end.aborted; failures++) {
      try {
        this.#tell("connecting");
        await tokens.get();
        if (end.aborted) return;
        const { sub, tenant } = tokens.claims;
        this.#name = `tidings ${JSON.stringify([server, sub, tenant ?? null])}`;
        return this.#join();
      } catch (error) {
        if (end.aborted) return;
        const problem = asProblem(error);
        if (problem.unauthorized) return this.#tell(problem.code as LiveState, problem);
        this.#tell("offline", problem);
        const nap = (this.#nap = new AbortController());
        end.addEventListener("abort", () => nap.abort());
        await pause(env, backOff(env, failures), nap.signal);
      }
    }
  }

  #join(steal = false): void {
    const { locks, channel } = this.ports;
    if (!this.#name || this.#lock || this.#ended) return;
    const lock = (this.#lock = new AbortController());
    if (!locks || !channel) return this.#lead();
    if (!this.#channel) {
      this.#channel = channel(this.#name);
      this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
    }
    this.#greeted = false;
    this.#post({ k: "join" });
    this.#listen();
    const held = () =>
      new Promise<void>((release) => {
        this.#release = release;
        if (lock.signal.aborted) release();
        else this.#lead();
      });
    locks
      .request(this.#name, steal ? { steal } : { signal: lock.signal }, held)
      .catch(() => {
        // Ended by `#suspend`, or another page took the lock of a frozen one: then this one follows.
        if (this.#lock !== lock) return;
        this.#suspend();
        this.#join();
      });
  }

  #lead(): void {
    this.#leading = true;
    this.#live.start();
    this.#pulse();
  }

  /** Gives the stream back, for the other pages to take. */
  #suspend(): void {
    const { env } = this.api;
    env.clearTimeout(this.#beat);
    this.#leading = false;
    this.#live.stop();
    this.#lock?.abort();
    this.#release?.();
    this.#lock = this.#release = undefined;
  }

  /** Tells the others from time to time how things stand, which mends what they may have missed. */
  #pulse(): void {
    const { env } = this.api;
    env.clearTimeout(this.#beat);
    this.#beat = env.setTimeout(() => {
      this.#greet();
      this.#pulse();
    }, BEAT_MS);
  }

  #listen(): void {
    const { env } = this.api;
    env.clearTimeout(this.#beat);
    this.#beat = env.setTimeout(() => {
      if (this.#leading || !this.sight.visible()) return this.#leading ? undefined : this.#listen();
      this.#suspend();
      this.#join(true);
    }, MUTE_MS);
  }

  #greet(): void {
    if (!this.#hello) return this.#post({ k: "state", state: this.#state });
    const { reset: _, ...hello } = this.#hello;
    this.#post({ k: "hello", hello, id: this.#live.cursor, state: this.#state });
  }

  /** What this page's own stream brought. */
  #heard(message: Message): void {
    this.#take(message);
    this.#post(message);
  }

  #ownState(state: LiveState, problem?: Problem): void {
    this.#tell(state, problem);
    this.#ended = state === "signed_out" || state === "stopped" || state === "refused";
    if (this.#ended) this.#suspend();
    else this.#post({ k: "state", state, code: problem?.code });
  }

  /** What another page says. */
  #hear(message: Message): void {
    if (message.k === "join") {
      if (this.#leading) this.#greet();
    } else if (message.k === "wake") {
      if (this.#leading) this.#live.wake(message.look);
    } else if (!this.#leading && !this.#ended) {
      if (this.#lock) this.#listen();
      this.#take(message);
    }
  }

  #take(message: Message): void {
    const { sink } = this;
    if (message.k === "state") {
      return this.#tell(message.state, message.code === undefined ? undefined : new Problem(0, message.code));
    }
    if (message.k === "hello") {
      this.#greeted = true;
      this.#live.cursor = message.id;
      this.#hello = message.hello;
      this.#tell(message.state);
      sink.hello(message.hello);
    } else if (message.k === "frame" && this.#greeted) {
      const { changed: _, gone: __, ...counts } = message.frame;
      if (message.id) this.#live.cursor = message.id;
      this.#hello = counts;
      sink.frame(message.frame, message.id);
    }
  }

  #tell(state: LiveState, problem?: Problem): void {
    if (!this.#run) return;
    this.#state = state;
    this.sink.state(state, problem);
  }

  #post(message: Message): void {
    this.#channel?.postMessage(message);
  }

  #seen(what: Seen): void {
    const { env } = this.api;
    const visible = this.sight.visible();
    if (what === "visibility" || what === "leave") env.clearTimeout(this.#hide);
    if (what === "leave") {
      this.#rest();
    } else if (what === "visibility" && !visible) {
      this.#hide = env.setTimeout(() => this.#rest(), HIDDEN_MS);
    } else if (what !== "offline") {
      if (visible) this.#join();
      const look = what === "focus" || what === "visibility";
      this.#nap?.abort();
      if (this.#leading) this.#live.wake(look);
      else this.#post({ k: "wake", look });
    }
  }

  /** Nobody looks at this page: its stream ends, or goes to a page that is in sight. */
  #rest(): void {
    if (!this.#lock) return;
    this.#suspend();
    this.#tell("idle");
  }
}
