import { pause, type Env } from "./env.js";
import { asProblem, Problem, problemOf } from "./problem.js";
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

  constructor(readonly env: Env, server: string, readonly tokens: Tokens) {
    this.server = server.replace(/\/+$/, "");
  }

  /** The answer's JSON; undefined where it has none. A server that is busy for seconds is asked again. */
  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        const response = await this.open(method, path, options);
        const text = await response.text();
        return (text ? JSON.parse(text) : undefined) as T;
      } catch (error) {
        const problem = asProblem(error);
        const busy = problem.status === 503 || problem.status === 429;
        if (!busy || tries === 3 || !(problem.retryAfterMs! <= 5000)) throw problem;
        await pause(this.env, problem.retryAfterMs! + this.env.random() * 500, options.signal);
      }
    }
  }

  /** The answer before its body was read; a `Problem` if it is not 2xx. */
  async open(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    let used = await this.tokens.get();
    let response = await this.#send(method, path, used, options);
    if (response.status === 401) {
      const problem = await problemOf(response, this.env.now());
      used = await this.tokens.refused(used, problem.code);
      response = await this.#send(method, path, used, options);
      if (response.status === 401) {
        const again = await problemOf(response, this.env.now());
        await this.tokens.refused(used, again.code);
        throw again;
      }
    }
    if (!response.ok) throw await problemOf(response, this.env.now());
    options.used?.(used);
    return response;
  }

  async #send(method: string, path: string, token: string, options: CallOptions): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, ...options.headers };
    const init: RequestInit = { method, headers, cache: "no-store", credentials: "omit" };
    if (options.signal) init.signal = options.signal;
    if (options.keepalive) init.keepalive = true;
    if (options.body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(options.body);
    }
    try {
      return await this.env.fetch(`${this.server}/v1/me${path}`, init);
    } catch (error) {
      throw new Problem(0, "network", String(error));
    }
  }
}
