import { pause, type Env } from "./env.js";
import { asProblem, isOnline, problemOf, warn } from "./problem.js";
import type { Tokens } from "./tokens.js";

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Finishes the request even if the page is left meanwhile. */
  keepalive?: boolean;
  /** Hears the token that the answer was given to. */
  used?: (token: string) => void;
}

/** The calls of `/v1/me`: each with the token, and once more with another if that one is refused. */
export class Api {
  readonly server: string;
  /** True from the first answer on: what fails later is the network's. */
  #reached = false;

  constructor(readonly env: Env, server: string, readonly tokens: Tokens) {
    this.server = server.replace(/\/+$/, "");
  }

  /** The answer's JSON; undefined where it has none. A server that asks for some seconds is asked again. */
  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        const response = await this.open(method, path, options);
        const text = await response.text();
        return (text ? JSON.parse(text) : undefined) as T;
      } catch (error) {
        const problem = asProblem(error);
        if (tries === 3 || !(problem.retryAfterMs! <= 5000)) throw problem;
        await pause(this.env, problem.retryAfterMs! + this.env.random() * 500, options.signal);
      }
    }
  }

  /** The answer before its body was read; a `Problem` if it is not 2xx. */
  async open(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    let used = await this.tokens.get();
    for (let again = false; ; again = true) {
      const response = await this.#send(method, path, used, options);
      if (response.ok) {
        options.used?.(used);
        return response;
      }
      const problem = await problemOf(response, this.env.now());
      if (response.status !== 401) throw problem;
      used = await this.tokens.refused(used, problem.code);
      if (again) throw problem;
    }
  }

  async #send(method: string, path: string, token: string, options: CallOptions): Promise<Response> {
    const { body, signal = null, keepalive = false } = options;
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, ...options.headers };
    const init: RequestInit = { method, headers, signal, keepalive, cache: "no-store", credentials: "omit" };
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    try {
      const response = await this.env.fetch(`${this.server}/v1/me${path}`, init);
      this.#reached = true;
      return response;
    } catch (error) {
      if (!this.#reached && !signal?.aborted && isOnline()) {
        warn("network", `no answer from ${this.server}. Has it ${globalThis.location?.origin} in [users] origins?`);
      }
      throw asProblem(error);
    }
  }
}
