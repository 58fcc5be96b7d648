import type { Env, Seen, Sight } from "../core/index.js";

/** Numbers that look like chance, the same for the same seed. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

interface Timer {
  at: number;
  run: () => void;
}

/** A clock that stands still until it is told to go on. */
export class Clock {
  #timers = new Set<Timer>();

  constructor(public now = Date.parse("2026-03-02T10:00:00Z"), readonly random: () => number = chance(1)) {}

  env(fetch: Env["fetch"]): Env {
    return {
      now: () => this.now,
      random: this.random,
      fetch,
      setTimeout: (run, ms) => {
        const timer = { at: this.now + Math.max(0, ms), run };
        this.#timers.add(timer);
        return timer;
      },
      clearTimeout: (timer) => void this.#timers.delete(timer as Timer),
    };
  }

  after(ms: number, run: () => void): void {
    this.#timers.add({ at: this.now + ms, run });
  }

  /** Runs everything that is due within `ms`, in order, and what follows from it. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await settle();
    for (;;) {
      let next: Timer | undefined;
      for (const timer of this.#timers) if (timer.at <= end && (!next || timer.at < next.at)) next = timer;
      if (!next) break;
      this.#timers.delete(next);
      this.now = Math.max(this.now, next.at);
      next.run();
      await settle();
    }
    this.now = end;
  }
}

/** Lets promises go on until nothing is left to do now. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
}

/** A page that a test shows and hides. */
export class FakeSight implements Sight {
  #runs = new Set<(what: Seen) => void>();
  shown = true;

  visible(): boolean {
    return this.shown;
  }
  watch(run: (what: Seen) => void): () => void {
    this.#runs.add(run);
    return () => this.#runs.delete(run);
  }
  tell(what: Seen): void {
    for (const run of [...this.#runs]) run(what);
  }
  show(shown: boolean): void {
    this.shown = shown;
    this.tell("visibility");
  }
}

/** A token as a host makes it; nobody checks its signature here. */
export function token(sub: string, now: number, lifeMs = 3_600_000, more: object = {}): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const iat = Math.floor(now / 1000);
  return `${encode({ alg: "HS256", kid: "k" })}.${encode({ sub, iat, exp: iat + lifeMs / 1000, ...more })}.AAAA`;
}
