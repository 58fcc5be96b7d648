import type { AnyData } from "./event.js";
import { Resources } from "./generated/resources.js";
import { type Options, type Settings, withEnvironment } from "./options.js";
import { type Scope, signToken } from "./token.js";
import { Transport } from "./transport.js";

/**
 * A client of a tidings server. One is enough for a whole program.
 *
 * `D` maps types of events to their `data`, as a generator writes it from `tidings types`: `new Tidings<EventData>(…)`.
 */
export class Tidings<D = AnyData> extends Resources<D> {
  constructor(settings: Settings = {}) {
    super(new Transport(withEnvironment(settings)));
  }

  /** The version of the server, once it has answered. */
  get serverVersion(): string | undefined {
    return this.http.serverVersion;
  }

  /** Signs a token with the client's `signingKey`, as the function `signToken` does. No request is made. */
  async signToken(recipient: string, ttl?: number | string, scope?: string | readonly Scope[], options?: { tenant?: string }): Promise<string> {
    const { signingKey } = this.http.settings;
    if (!signingKey) throw new TypeError("`signingKey` is missing among the settings of the client");
    return signToken(signingKey, recipient, ttl, scope, options);
  }

  /** Makes a call for which this client has no method. */
  request<T = unknown>(method: string, path: string, { body, query, ...options }: Options & { body?: unknown; query?: Record<string, unknown> } = {}): Promise<T> {
    return this.http.send<T>(method.toUpperCase(), path, options, body, query);
  }
}
