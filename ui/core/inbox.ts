import { Api } from "./api.js";
import { here, pause, sight as page, type Env, type Sight } from "./env.js";
import { List } from "./list.js";
import type { LiveState } from "./live.js";
import { collide, shares, type Pending } from "./marks.js";
import { asProblem, isFaulty, type Problem } from "./problem.js";
import { ports as own, Shared, type Ports } from "./share.js";
import { Tally } from "./tally.js";
import { StreamTokens, type GetToken } from "./tokens.js";
import type { Counts, Filter, Frame, Group, Hello, MarkName, Page, Target } from "./types.js";

export interface InboxOptions {
  /** Where tidings is: `https://tidings.example.org`. */
  server: string;
  getToken: GetToken;
  env?: Env;
  sight?: Sight;
  ports?: Ports;
  /** Rows of a page. */
  limit?: number;
}

/** A stream that says nothing so long after its request may be kept by a proxy: then counts are asked for. */
const HELLO_MS = 4000;
const POLL_MS = 20_000;

/**
 * The inbox of one person, kept right by a stream. It has no look: `subscribe` to it, and show what `counts`, `state`
 * and the lists hold.
 */
export class Inbox {
  readonly env: Env;
  readonly api: Api;
  readonly limit: number;
  readonly #sight: Sight;
  readonly #tokens: StreamTokens;
  readonly #stream: Shared;
  readonly #tally = new Tally();
  readonly #lists = new Map<string, List>();
  readonly #listeners = new Set<() => void>();
  #state: LiveState = "idle";
  #told = false;
  #silence: unknown;
  /** Why the stream is not live. */
  problem: Problem | undefined;
  /** Marks on their way. */
  pending: Pending[] = [];
  /** Raised when the server begins anew: what was asked before is void. */
  era = 0;
  /** The newest `rev` of the stream. */
  heard = -1;

  constructor(options: InboxOptions) {
    this.env = options.env ?? here;
    this.limit = options.limit ?? 20;
    this.#sight = options.sight ?? page;
    this.#tokens = new StreamTokens(this.env, options.getToken, () => this.#sight.visible());
    this.#tokens.changed = () => this.#restart();
    this.api = new Api(this.env, options.server, this.#tokens);
    this.#stream = new Shared(
      this.api,
      {
        hello: (hello) => this.#hello(hello),
        frame: (frame) => this.#frame(frame),
        state: (state, problem) => this.#become(state, problem),
      },
      this.#sight,
      options.ports ?? own,
    );
  }

  /** The newest counts; undefined before the first. */
  get counts(): Counts | undefined {
    return this.#tally.counts;
  }

  get state(): LiveState {
    return this.#state;
  }

  /** True if this page has the stream of its browser. */
  get leading(): boolean {
    return this.#stream.leading;
  }

  /** The scope of the token; undefined if it says none, and so opens all that its key may. */
  get scope(): string | undefined {
    return this.#tokens.claims.scope;
  }

  /** Calls `run` after whatever changed, once a turn; returns the end of it. */
  subscribe(run: () => void): () => void {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }

  /** The tenant whose view the token opens; undefined: all. */
  get tenant(): string | undefined {
    return this.#tokens.claims.tenant;
  }

  /** True if the host's tokens are refused whoever signs in: they are signed for another server, or faulty. */
  get unavailable(): boolean {
    return this.#state === "stopped" && isFaulty(this.#tokens.refusal);
  }

  start(): void {
    this.#stream.start();
  }

  /** Ends the stream, and keeps what is known. */
  stop(): void {
    this.#stream.stop();
    this.#tokens.clear();
    this.#become("idle");
  }

  /** Asks the host for a token again: after a sign-in, or after a refusal. */
  refresh(): void {
    this.#tokens.refresh();
    this.#stream.stop();
    this.#stream.start();
  }

  /** Forgets everything of this person, and makes no request until `refresh()`. */
  logout(): void {
    this.stop();
    this.#tokens.stop("signed_out");
    this.#forget();
    this.#become("signed_out");
  }

  /** The rows of a filter: one list for each. */
  list(filter: Filter = {}): List {
    const key = JSON.stringify([filter.state ?? "active", filter.category, filter.type, filter.tenant]);
    let list = this.#lists.get(key);
    if (!list) this.#lists.set(key, (list = new List(this, filter, this.limit)));
    return list;
  }

  /** A page of the server's, as it is. Lists do this by themselves. */
  page(filter: Filter, limit: number, cursor?: string): Promise<Page> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filter, limit, cursor })) {
      if (value !== undefined) query.set(name, String(value));
    }
    return this.api.call<Page>("GET", `/inbox?${query}`);
  }

  /** Marks, shows it at once, and takes it back if it fails: then the promise is broken with a `Problem`. */
  async mark(name: MarkName, target: Target): Promise<Counts> {
    const rows = [...this.#lists.values()].flatMap((list) => list.rows.all());
    const row = rows.find(({ key }) => key === target.group);
    const events = target.event === undefined ? row?.items.map(({ event }) => event) : [target.event];
    const mark: Pending = {
      name,
      target,
      events: events && new Set(events),
      top: rows.reduce((top, { order }) => (order > top ? order : top), ""),
    };
    const before = this.pending.filter((other) => collide(other, mark)).map(({ done }) => done);
    const sent = this.#send(mark, before);
    mark.done = sent.catch(() => {});
    this.pending = [...this.pending, mark];
    this.changed();
    return sent;
  }

  /**
   * Marks what a row shows. Its key names what it holds when the server reads it, and is another once the row was
   * read, on any page: a row of a few items is marked by these, which nothing changes.
   */
  async markRow(name: MarkName, row: Group, when: Target = {}): Promise<void> {
    const few = row.count === row.items.length && row.count <= 5;
    const targets: Target[] = few ? row.items.map(({ event }) => ({ event, ...when })) : [{ group: row.key, ...when }];
    await Promise.all(targets.map((target) => this.mark(name, target)));
  }

  async #send(mark: Pending, before: unknown[]): Promise<Counts> {
    const { era } = this;
    const { name, target } = mark;
    try {
      if (before.length) await Promise.all(before);
      // The mark before may have given the row another key, which its frame tells.
      const moved = before.length > 0 && target.group !== undefined;
      for (let tries = 0; moved && tries < 10 && this.#lags(mark); tries++) await pause(this.env, 100);
      const row = moved ? this.#rowOf(mark.events!) : undefined;
      const body = row ? { ...target, group: row.key } : target;
      const counts = await this.api.call<Counts>("POST", `/inbox/${name}`, { body, keepalive: true });
      if (era === this.era) {
        mark.rev = counts.rev;
        this.count(counts);
        this.#settle();
      } else this.#drop(mark);
      return counts;
    } catch (error) {
      this.#drop(mark);
      throw asProblem(error);
    }
  }

  /** True while rows don't know of a mark that was answered, and concerns what `mark` does. */
  #lags(mark: Pending): boolean {
    return this.pending.some((other) => other !== mark && other.rev !== undefined && shares(other, mark));
  }

  #rowOf(events: Set<string>): Group | undefined {
    const rows = [...this.#lists.values()].flatMap((list) => list.rows.all());
    return rows.find(({ items }) => items.some(({ event }) => events.has(event)));
  }

  /** Takes in the counts of an answer. */
  count(counts: Counts | Page): void {
    const { length } = this.pending;
    this.#clear();
    if (this.#tally.take(counts) || this.pending.length < length) this.changed();
  }

  /** Tells the listeners, once a turn. */
  changed(): void {
    if (this.#told) return;
    this.#told = true;
    queueMicrotask(() => {
      this.#told = false;
      for (const run of this.#listeners) run();
    });
  }

  #hello(hello: Hello): void {
    if (hello.reset) {
      this.era += 1;
      this.heard = -1;
      this.#tally.reset();
      this.pending = this.pending.filter(({ rev }) => rev === undefined);
      for (const list of this.#lists.values()) {
        list.stale ||= list.rows.loaded;
        list.rows.reset();
      }
    }
    this.heard = Math.max(this.heard, hello.rev);
    this.count(hello);
    for (const list of this.#lists.values()) if (list.stale && !list.loading) void list.load();
    this.#catchUp(hello.rev);
  }

  #frame(frame: Frame): void {
    this.heard = Math.max(this.heard, frame.rev);
    this.#tally.take(frame);
    for (const list of this.#lists.values()) {
      if ((list.filter.state ?? "active") !== "active") continue;
      list.rows.frame(frame);
      if (!list.loading) list.rows.prune();
    }
    this.#catchUp(frame.rev);
    this.#clear();
    this.changed();
  }

  /** Reads anew what is older than `rev`: what frames don't tell of, or what they may have told meanwhile. */
  #catchUp(rev: number): void {
    for (const list of this.#lists.values()) {
      if ((list.rows.loaded || list.loading) && list.rows.rev < rev) void list.load();
    }
  }

  /** The frame of a mark comes on the stream; without one, its rows are read. */
  #settle(): void {
    const wait = this.#state === "live" ? 2000 : 0;
    if (this.pending.length) {
      this.env.setTimeout(() => {
        for (const { rev } of this.pending) if (rev !== undefined) this.#catchUp(rev);
      }, wait);
    }
    this.changed();
  }

  /** Drops the marks that all lists know of. */
  #clear(): void {
    const lists = [...this.#lists.values()].filter(({ rows }) => rows.loaded);
    const oldest = Math.min(...lists.map(({ rows }) => rows.rev));
    this.pending = this.pending.filter(({ rev }) => rev === undefined || rev > oldest);
  }

  #drop(mark: Pending): void {
    this.pending = this.pending.filter((other) => other !== mark);
    this.changed();
  }

  #become(state: LiveState, problem?: Problem): void {
    const before = this.#state;
    this.#state = state;
    this.problem = problem;
    this.changed();
    if (state !== "connecting") this.env.clearTimeout(this.#silence);
    else if (before !== state) this.#listen(HELLO_MS);
    // Where the server answers but has no stream to give, or a proxy keeps it, each try asks for the counts.
    if (state === "offline" && problem?.code !== "network") void this.#poll();
  }

  /** Asks for the counts from time to time, as long as the stream says nothing. */
  #listen(ms: number): void {
    this.env.clearTimeout(this.#silence);
    this.#silence = this.env.setTimeout(() => {
      void this.#poll();
      this.#listen(POLL_MS);
    }, ms);
  }

  /** A page that is neither in sight nor has the stream for others asks nothing. */
  async #poll(): Promise<void> {
    const { era } = this;
    if (!this.leading && !this.#sight.visible()) return;
    try {
      const counts = await this.api.call<Counts>("GET", "/inbox/counts");
      if (era !== this.era) return;
      this.count(counts);
      this.#catchUp(counts.rev);
    } catch {
      // The next try of the stream asks again.
    }
  }

  /** The host's token is another person's: nothing of the last one stays. */
  #restart(): void {
    this.#forget();
    this.#stream.stop();
    this.#stream.start();
  }

  #forget(): void {
    this.era += 1;
    this.heard = -1;
    this.pending = [];
    this.#tally.reset();
    this.#lists.clear();
    this.changed();
  }
}
