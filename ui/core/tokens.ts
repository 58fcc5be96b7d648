import { pause, type Env } from "./env.js";
import { Problem } from "./problem.js";

/** Promises a token of the host; null or an empty text if nobody is signed in. */
export type GetToken = () => Promise<string | null | undefined> | string | null | undefined;

/** What a token says of itself. It is not checked: that is the server's part. */
export interface Claims {
  sub?: string;
  tenant?: string;
  iat?: number;
  exp?: number;
  scope?: string;
}

export function claimsOf(token: string): Claims {
  try {
    const part = token.split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/");
    const bytes = Uint8Array.from(atob(part), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    return {};
  }
}

/**
 * The token in use. It is renewed at 80 % of its life and once after a refusal (2 s after `token_revoked`); a refusal
 * of the token so got stops everything until `refresh()`.
 */
export class Tokens {
  #token: string | undefined;
  #renewAt = Infinity;
  /** True from a refusal on: a token that is got then must not be refused again. */
  #refused = false;
  #stopped: string | undefined;
  /** Why the last token was refused. */
  refusal: string | undefined;
  #running: Promise<string> | undefined;
  /** Raised by `refresh` and `clear`: what began before is void. */
  #era = 0;
  #subject: string | undefined;
  #claims: Claims = {};
  /** Called when a token is of another person, or of another view, than the one before. */
  changed: () => void = () => {};

  constructor(readonly env: Env, readonly source: GetToken) {}

  /** What the token in use says. */
  get claims(): Claims {
    return this.#token ? this.#claims : {};
  }

  /** The token to use now. */
  async get(): Promise<string> {
    if (this.#stopped) throw new Problem(401, this.#stopped);
    if (!this.#token) return this.#renew(this.#refused);
    if (this.env.now() < this.#renewAt) return this.#token;
    try {
      return await this.#renew(false);
    } catch (error) {
      // The host did not answer: the old token still has a fifth of its life.
      if (this.#token) return this.#token;
      throw error;
    }
  }

  /** Called when the server refused `token`: promises another, or stops. */
  async refused(token: string, code: string): Promise<string> {
    if (this.#stopped) throw new Problem(401, this.#stopped);
    this.refusal = code;
    if (this.#token && this.#token !== token) return this.#token;
    if (this.#running) return this.#running;
    if (this.#refused) {
      // Without a token a renewal failed on its way: that one goes on. With one, it was refused too.
      if (this.#token) this.stop();
      return this.get();
    }
    this.#refused = true;
    this.#token = undefined;
    return this.#renew(true, code === "token_revoked" ? 2000 : 0, token);
  }

  /** Forgets the token and what was refused: the next request asks the host. */
  refresh(): void {
    this.clear();
    this.#stopped = this.refusal = undefined;
  }

  /** No request from now on, until `refresh()`. */
  stop(code = "stopped"): void {
    this.clear();
    this.#stopped = code;
  }

  clear(): void {
    this.#era += 1;
    this.#token = this.#running = undefined;
    this.#refused = false;
    this.#renewAt = Infinity;
  }

  #renew(afterRefusal: boolean, waitMs = 0, old?: string): Promise<string> {
    if (this.#running) return this.#running;
    const running = this.#ask(afterRefusal, waitMs, old).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    return (this.#running = running);
  }

  async #ask(afterRefusal: boolean, waitMs: number, old?: string): Promise<string> {
    const era = this.#era;
    if (waitMs) await pause(this.env, waitMs);
    const token = await this.source();
    if (era !== this.#era) throw new Problem(0, "aborted");
    if (!token) {
      this.clear();
      throw new Problem(401, "signed_out");
    }
    if (token === old) {
      this.stop();
      throw new Problem(401, "stopped");
    }
    this.#claims = claimsOf(token);
    const { sub, tenant } = this.#claims;
    const subject = JSON.stringify([sub, tenant]);
    const other = this.#subject !== undefined && this.#subject !== subject;
    this.#subject = subject;
    const same = token === this.#token;
    this.#token = token;
    this.#refused = afterRefusal;
    this.#plan(same);
    if (other) this.changed();
    return token;
  }

  /** The clock of the browser may be wrong, so that a token's age counts only where it is plausible. */
  #plan(same: boolean): void {
    const { iat, exp } = this.#claims;
    if (iat === undefined || exp === undefined) {
      this.#renewAt = Infinity;
      return;
    }
    const life = (exp - iat) * 1000;
    const age = this.env.now() - iat * 1000;
    const left = life * 0.8 - (age > 0 && age < life ? age : 0);
    // A host that hands out one token again and again is not asked in a loop.
    const wait = Math.max(left, same || left <= 0 ? Math.min(30_000, life / 5) : 0);
    this.#renewAt = this.env.now() + wait;
    this.planned(wait);
  }

  /** Hears in how many milliseconds the token is due. Without a stream it is renewed at the next request from then on. */
  protected planned(_ms: number): void {}
}

/** Tokens on which a stream depends: they are renewed without a request, while the page is in sight. */
export class StreamTokens extends Tokens {
  #timer: unknown;

  constructor(env: Env, source: GetToken, readonly inSight: () => boolean = () => true) {
    super(env, source);
  }

  override clear(): void {
    super.clear();
    this.env.clearTimeout(this.#timer);
  }

  protected override planned(ms: number): void {
    this.env.clearTimeout(this.#timer);
    this.#timer = this.env.setTimeout(() => {
      if (this.inSight()) this.get().catch(() => {});
    }, Math.min(ms, 2 ** 31 - 1));
  }
}
