import { Api } from "./api.js";
import { here, type Env } from "./env.js";
import { Tokens, type GetToken } from "./tokens.js";

export interface TopicsOptions {
  server: string;
  getToken: GetToken;
  env?: Env;
}

/** What a person follows. Asked for once, however many buttons show it. */
export class Topics {
  readonly api: Api;
  readonly #tokens: Tokens;
  readonly #listeners = new Set<() => void>();
  #topics: Set<string> | undefined;
  #loading: Promise<void> | undefined;
  /** What was chosen and is not answered yet. */
  readonly #wished = new Map<string, boolean>();

  constructor({ server, getToken, env = here }: TopicsOptions) {
    this.#tokens = new Tokens(env, getToken);
    this.#tokens.changed = () => this.forget();
    this.api = new Api(env, server, this.#tokens);
  }

  subscribe(run: () => void): () => void {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }

  /** Whether a topic is followed, with what was just chosen; undefined as long as nobody knows. */
  follows(topic: string): boolean | undefined {
    return this.#wished.get(topic) ?? this.#topics?.has(topic);
  }

  /** Asks the server, once. */
  load(): Promise<void> {
    return (this.#loading ??= this.api.call<{ topics: string[] }>("GET", "/subscriptions").then(
      ({ topics }) => {
        this.#topics = new Set(topics);
        this.#tell();
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    ));
  }

  /** Follows or unfollows: shown at once, and taken back if it fails, with a `Problem`. */
  async set(topic: string, follow: boolean): Promise<void> {
    this.#wished.set(topic, follow);
    this.#tell();
    try {
      const path = topic.split("/").map(encodeURIComponent).join("/");
      await this.api.call(follow ? "PUT" : "DELETE", `/subscriptions/${path}`, { keepalive: true });
      if (follow) this.#topics?.add(topic);
      else this.#topics?.delete(topic);
    } finally {
      if (this.#wished.get(topic) === follow) this.#wished.delete(topic);
      this.#tell();
    }
  }

  forget(): void {
    this.#topics = this.#loading = undefined;
    this.#tell();
  }

  /** Asks the host for a token again, and the server for the topics. */
  refresh(): Promise<void> {
    this.#tokens.refresh();
    this.forget();
    return this.load();
  }

  close(): void {
    this.#tokens.clear();
  }

  #tell(): void {
    for (const run of this.#listeners) run();
  }
}
