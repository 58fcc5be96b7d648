import { ConnectionError, ProblemError, type ProblemBody, TidingsError, TimeoutError, UnexpectedAnswerError } from "./errors.js";
import { PROBLEMS, VERSION } from "./generated/problems.js";
import type { Complete, Options, Settings } from "./options.js";
import { browser, randomId, userAgent } from "./runtime.js";

/** A request. */
export interface Call {
  method: string;
  path: string;
  query?: object | undefined;
  /** Written before the first try: all tries send the same. */
  body?: string | undefined;
  /** The type of the body. */
  type?: string;
  headers?: Record<string, string | undefined>;
}

/** A try, or a stream of an answer, that ends in time. */
export interface Opened {
  response: Response;
  requestId: string;
  /** Resolves as `promise` does, or rejects: in time, at the caller's signal, or where the connection breaks. */
  within<T>(promise: Promise<T>): Promise<T>;
  /** Gives up what is still to come; a whole answer leaves its connection to the next call. */
  close(whole?: boolean): void;
}

const RETRIED = [429, 502, 503, 504];
const BASE_WAIT = 200;
const MAX_WAIT = 5_000;
/** The longest `wait` of a long poll. */
const LONG_POLL = 60_000;

/** Sends requests to a server. */
export class Http {
  readonly url: string;
  /** The version that the server named first. */
  serverVersion: string | undefined;

  constructor(readonly settings: Complete) {
    this.url = new URL(settings.url).href.replace(/\/+$/, "");
  }

  /** The JSON of an answer; undefined where there is none. */
  async json<T>(call: Call, options?: Options): Promise<T> {
    return this.whole(call, options, (text, opened) => (text ? parsed<T>(text, opened) : (undefined as T)));
  }

  /** An answer whose body is still to come. */
  async stream(call: Call, options: Options = {}): Promise<Opened> {
    const retry = new Retry(this.settings, options);
    const headers = this.headers(call, options);
    for (;;) {
      try {
        return await this.open(call, options, headers);
      } catch (fault) {
        await retry.after(fault);
      }
    }
  }

  /** What is read from a whole answer. */
  protected async whole<T>(call: Call, options: Options = {}, read: (text: string, opened: Opened) => T): Promise<T> {
    const retry = new Retry(this.settings, options);
    const headers = this.headers(call, options);
    for (;;) {
      try {
        const opened = await this.open(call, options, headers);
        const text = await opened.within(opened.response.text());
        opened.close(true);
        return read(text, opened);
      } catch (fault) {
        await retry.after(fault);
      }
    }
  }

  /** The headers of a call, the same for all its tries. */
  headers(call: Call, options: Options): Headers {
    const headers = new Headers();
    const set = (name: string, value: string | undefined) => value !== undefined && headers.set(name, value);
    if (call.body !== undefined) set("Content-Type", call.type ?? "application/json");
    if (call.method !== "GET") set("Idempotency-Key", options.idempotencyKey ?? randomId());
    // Pages of another origin may not send these.
    if (!browser) {
      set("X-Request-Id", options.requestId ?? randomId());
      set("User-Agent", userAgent(VERSION));
    }
    Object.entries({ ...call.headers, ...options.headers }).forEach(([name, value]) => set(name, value));
    return headers;
  }

  /** One try. It rejects unless the answer is a success. */
  async open(call: Call, options: Options, headers: Headers): Promise<Opened> {
    const { settings } = this;
    const query = queryOf(call.query);
    const name = `${call.method} ${call.path}`;
    const sent = headers.get("x-request-id") ?? undefined;
    const timeout = (options.timeout ?? settings.timeout ?? 30_000) + (query.includes("wait=") ? LONG_POLL : 0);
    const key = typeof settings.key === "function" ? await settings.key() : settings.key;
    if (key) headers.set("Authorization", `Bearer ${key}`);
    const { signal } = options;
    signal?.throwIfAborted();

    const ending = new AbortController();
    const stop = () => ending.abort();
    signal?.addEventListener("abort", stop);
    const opened = {
      requestId: sent ?? "",
      async within<T>(promise: Promise<T>): Promise<T> {
        let late = false;
        let timer: ReturnType<typeof setTimeout> | undefined;
        let ended: (() => void) | undefined;
        const end = new Promise<never>((_, reject) => {
          ended = () => reject(new Error("ended"));
          if (ending.signal.aborted) ended();
          ending.signal.addEventListener("abort", ended);
          timer = setTimeout(() => ((late = true), ending.abort()), timeout);
        });
        try {
          return await Promise.race([promise, end]);
        } catch (fault) {
          close();
          if (signal?.aborted) throw signal.reason;
          if (late) throw new TimeoutError(`${name} was not answered within ${timeout} ms`, sent);
          throw new ConnectionError(`${name} was not answered: ${reasonOf(fault)}`, sent, fault);
        } finally {
          clearTimeout(timer);
          ending.signal.removeEventListener("abort", ended!);
        }
      },
      close,
    };
    function close(whole = false): void {
      signal?.removeEventListener("abort", stop);
      if (!whole) ending.abort();
    }

    const init: RequestInit = { method: call.method, headers, signal: ending.signal };
    if (call.body !== undefined) init.body = call.body;
    const response = await opened.within((settings.fetch ?? fetch)(this.url + call.path + query, init));
    const requestId = response.headers.get("x-request-id") ?? sent ?? "";
    this.compare(response.headers.get("x-tidings-version"));
    const whole = { ...opened, response, requestId };
    if (response.ok || response.status === 304) return whole;
    const text = await opened.within(response.text()).catch((fault) => {
      if (fault instanceof TidingsError) return "";
      throw fault;
    });
    close(true);
    throw this.refusal(name, text, whole);
  }

  /** The error of an answer that is no success. */
  private refusal(name: string, text: string, { response, requestId }: Opened): TidingsError {
    const { status, headers } = response;
    const after = retryAfter(headers.get("retry-after"));
    const version = headers.get("x-tidings-version") ?? this.serverVersion;
    let problem: ProblemBody | undefined;
    try {
      problem = JSON.parse(text) as ProblemBody;
    } catch {
      // No JSON: said below.
    }
    const code = problem?.code;
    const lacks = [undefined, "not_found", "method_not_allowed"].includes(code) && (status === 404 || status === 405);
    const note = lacks && version && version !== VERSION ? `; the server is tidings ${version}, this client is of ${VERSION}: the server may lack ${name}` : "";
    if (typeof code === "string") return problemOf(problem!, status, requestId, after, note);
    return new UnexpectedAnswerError(`${name} was answered with status ${status}, and by something else than tidings${note}`, status, requestId, after);
  }

  /** Warns once where the server is of another major version. */
  private compare(version: string | null): void {
    if (!version || this.serverVersion !== undefined) return;
    this.serverVersion = version;
    if (major(version) === major(VERSION)) return;
    (this.settings.warn ?? console.warn)(`tidings: the server at ${this.url} is version ${version}, and this client is of ${VERSION}: use a client of the server's major version`);
  }
}

/** The tries of a call. */
export class Retry {
  private tries = 0;

  constructor(
    private readonly settings: Settings,
    private readonly options: Options,
  ) {}

  /** Starts to count anew, since something was achieved. */
  reset(): void {
    this.tries = 0;
  }

  /** Waits before another try, or throws the fault if there shall be none. */
  async after(fault: unknown): Promise<void> {
    const { settings, options } = this;
    const { status, retryAfter } = fault as { status?: number; retryAfter?: number };
    const retried = fault instanceof ConnectionError || (fault instanceof TidingsError && RETRIED.includes(status!));
    const wait = Math.min(BASE_WAIT * 2 ** this.tries, MAX_WAIT) * (0.5 + Math.random() / 2);
    const tooLong = retryAfter !== undefined && retryAfter > (settings.maxRetryAfter ?? 60_000);
    if (!retried || tooLong || this.tries >= (options.retries ?? settings.retries ?? 3)) throw fault;
    this.tries += 1;
    await this.pause((retryAfter ?? 0) + wait);
  }

  /** Waits, or throws at the caller's signal. */
  async pause(ms: number): Promise<void> {
    const { signal } = this.options;
    if (this.settings.sleep) await this.settings.sleep(ms);
    else {
      await new Promise<void>((done) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", end);
          done();
        };
        const timer = setTimeout(end, ms);
        signal?.addEventListener("abort", end);
      });
    }
    signal?.throwIfAborted();
  }
}

/** The error of a problem, of the class of its code. */
export function problemOf(problem: ProblemBody, status: number, requestId?: string, after?: number, note?: string): ProblemError {
  const known = Object.hasOwn(PROBLEMS, problem.code ?? "") ? PROBLEMS[problem.code!] : undefined;
  return new (known ?? ProblemError)(problem, status, requestId, after, note);
}

/** What JSON says. Where it is none the answer was cut (some runtimes do not notice), or is not from tidings. */
export function parsed<T>(text: string, { response, requestId }: Opened): T {
  try {
    return JSON.parse(text) as T;
  } catch (fault) {
    if (response.headers.get("content-type")?.includes("json")) throw new ConnectionError("the answer was cut", requestId, fault);
    throw new UnexpectedAnswerError("the answer is not JSON: it is not from tidings", response.status, requestId);
  }
}

/** Milliseconds of a `Retry-After`, which has seconds or a date. */
function retryAfter(value: string | null): number | undefined {
  if (!value) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

function queryOf(query: object = {}): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) all.append(name, one instanceof Date ? one.toISOString() : String(one));
    }
  }
  const text = all.toString();
  return text && `?${text}`;
}

const major = (version: string) => version.split(".")[0];

/** Why a connection failed: the reason of `fetch` is in the cause of what it throws. */
function reasonOf(fault: unknown): string {
  const { message, cause } = fault as Error;
  const { code, message: inner } = (cause ?? {}) as { code?: string; message?: string };
  return [message, inner || code].filter(Boolean).join(": ");
}
