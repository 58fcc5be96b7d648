import { environment } from "./runtime.js";
import type { SigningKey } from "./token.js";

/** The settings of a client. */
export interface Settings {
  /**
   * Address of the server, such as `https://tidings.example.org`; a path in it stays, a slash at its end does not.
   * `TIDINGS_URL` of the environment if absent.
   */
  url?: string | URL | undefined;
  /**
   * The API key, or the token of an end user for the calls of `me`; or a function that gives one for each try.
   * `TIDINGS_KEY` of the environment if absent.
   */
  key?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** The signing key of `signToken`. */
  signingKey?: SigningKey | undefined;
  /** Milliseconds that a try may take, its answer included; of a stream, from one piece to the next. Default 30,000. */
  timeout?: number | undefined;
  /** Times that a call is tried again after 429, 502, 503, 504 or a broken connection. Default 3. */
  retries?: number | undefined;
  /** Milliseconds that a `Retry-After` is obeyed at most; where it says more, the call fails at once. Default 60,000. */
  maxRetryAfter?: number | undefined;
  /** Used in place of the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Takes warnings, such as that of a server of another major version. Default `console.warn`. */
  warn?: ((message: string) => void) | undefined;
  /** Waits before another try. Default a timer. */
  sleep?: ((ms: number) => Promise<void>) | undefined;
}

/** The settings of a client, with its address. */
export type Complete = Settings & { url: string | URL };

/** Takes from the environment what settings lack. */
export function withEnvironment(settings: Settings): Complete {
  const url = settings.url ?? environment("TIDINGS_URL");
  if (!url) throw new TypeError("The address of the server is missing: pass `url`, or set TIDINGS_URL");
  return { ...settings, url, key: settings.key ?? environment("TIDINGS_KEY") };
}

/** The settings of one call. */
export interface Options {
  /** Ends the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** In place of the client's `timeout`. */
  timeout?: number | undefined;
  /** In place of the client's `retries`. */
  retries?: number | undefined;
  /** In place of a key of the client's own making: the same call under the same key within 24 hours is done once. */
  idempotencyKey?: string | undefined;
  /** Further headers, such as `traceparent`. */
  headers?: Record<string, string> | undefined;
  /** Sent as `X-Request-Id`, by which the server's log names the call. */
  requestId?: string | undefined;
}
