/** What the core takes from outside, so that tests run on a clock of their own. */
export interface Env {
  /** Milliseconds since 1970. */
  now(): number;
  /** A number from 0 up to 1. */
  random(): number;
  fetch(url: string, init: RequestInit): Promise<Response>;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** The page that the core works for: whether it is in sight, and when that changes. */
export interface Sight {
  visible(): boolean;
  /** Calls `run` when the page is shown or hidden, gets the focus, or the network is back; returns the end of it. */
  watch(run: (what: Seen) => void): () => void;
}

export type Seen = "visibility" | "focus" | "online" | "offline" | "leave";

/** The environment of browsers, Node, Deno and workers. */
export const here: Env = {
  now: () => Date.now(),
  random: () => Math.random(),
  fetch: (url, init) => fetch(url, init),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as never),
};

/** The sight of a page; where there is no document, one that is always visible. */
export const sight: Sight = {
  visible: () => typeof document === "undefined" || document.visibilityState !== "hidden",
  watch(run) {
    if (typeof document === "undefined") return () => {};
    const end = new AbortController();
    const on = (to: EventTarget, event: string, what: Seen) =>
      to.addEventListener(event, () => run(what), { signal: end.signal });
    on(document, "visibilitychange", "visibility");
    on(window, "focus", "focus");
    on(window, "online", "online");
    on(window, "offline", "offline");
    on(window, "pagehide", "leave");
    return () => end.abort();
  },
};

/** A pause on the clock of `env`, ended early by `signal`. */
export function pause(env: Env, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = env.setTimeout(end, ms);
    function end() {
      env.clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    }
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}

/** A wait after the n-th failure in a row (from 0): from 1 to 2 s up to 30 to 60 s. */
export function backOff(env: Env, failures: number): number {
  return Math.min(60_000, 2_000 * 2 ** failures) * (0.5 + env.random() / 2);
}
