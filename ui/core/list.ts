import { backOff, pause } from "./env.js";
import type { Inbox } from "./inbox.js";
import { applied } from "./marks.js";
import { asProblem, type Problem } from "./problem.js";
import { Rows } from "./rows.js";
import type { Filter, Group, Page } from "./types.js";

/** One view of the inbox: the rows of a filter, page by page. */
export class List {
  readonly rows: Rows;
  /** Why the last page did not come. */
  problem: Problem | undefined;
  /** True from the moment that rows are wanted, or may have been missed, until they were read. */
  stale = false;
  #failures = 0;
  #running: Promise<void> | undefined;
  #again = false;
  /** Counts `unload`: a page that was requested before one belongs to rows that are gone. */
  #unloads = 0;

  constructor(readonly inbox: Inbox, readonly filter: Filter, readonly limit: number) {
    this.rows = new Rows(filter);
  }

  get loading(): boolean {
    return this.#running !== undefined;
  }

  /** True if there is another page. */
  get hasMore(): boolean {
    return !!this.rows.next;
  }

  /** The rows that are loaded, the newest first, with the marks that are on their way. */
  groups(): Group[] {
    const marks = this.inbox.pending.filter(({ rev }) => rev === undefined || this.rows.rev < rev);
    return this.rows.all().flatMap((row) => {
      let shown: Group | undefined = row;
      for (const mark of marks) shown = shown && applied(shown, mark, this.filter);
      return shown ?? [];
    });
  }

  /** Reads what is loaded anew, or the first page. */
  load(): Promise<void> {
    this.stale = true;
    if (this.#running) this.#again = true;
    return (this.#running ??= this.#work(() => this.#first()));
  }

  /** Reads the next page. */
  more(): Promise<void> {
    if (!this.hasMore) return this.#running ?? Promise.resolve();
    return (this.#running ??= this.#work(() => this.#next()));
  }

  /** Forgets the rows: a list that nobody looks at need not be kept right. */
  unload(): void {
    this.rows.reset();
    this.stale = false;
    this.#again = false;
    this.#unloads++;
  }

  async #work(read: () => Promise<unknown>): Promise<void> {
    const { inbox } = this;
    this.problem = undefined;
    inbox.changed();
    const era = inbox.era;
    try {
      await read();
      while (this.#again) {
        this.#again = false;
        await this.#first();
      }
    } catch (error) {
      if (era === inbox.era) this.#fail(asProblem(error));
    } finally {
      this.#running = undefined;
      this.#again = false;
      this.rows.prune();
      inbox.changed();
    }
  }

  /** What is live already is asked again; otherwise the stream's hello does it. */
  #fail(problem: Problem): void {
    const { inbox } = this;
    this.problem = problem;
    if (problem.unauthorized || (problem.status >= 400 && problem.status < 429)) return;
    inbox.env.setTimeout(() => {
      if (this.stale && inbox.state === "live") void this.load();
    }, Math.max(backOff(inbox.env, this.#failures++), problem.retryAfterMs ?? 0));
  }

  async #first(): Promise<void> {
    const { inbox, rows } = this;
    const { floor } = rows;
    for (let tries = 0; tries < 3; tries++) {
      const { heard } = inbox;
      let page = await this.#page(undefined);
      const { rev = 0 } = page ?? {};
      // As far down as it was loaded before, within reason.
      for (let pages = 1; page?.next; pages++) {
        const bottom = page.groups.at(-1)?.order;
        if (bottom === undefined || bottom <= floor) break;
        if (pages === 10) {
          rows.end(page);
          break;
        }
        page = await this.#page(page.next, bottom);
      }
      if (!page) return;
      // A machine that lags behind the stream is asked again: no frame will tell what it left out.
      this.stale = rev < heard;
      this.#failures = 0;
      if (!this.stale) return;
      await pause(inbox.env, 250 << tries);
    }
  }

  async #next(): Promise<void> {
    const { next, floor } = this.rows;
    try {
      await this.#page(next!, floor);
    } catch (error) {
      // A cursor that the server no longer takes: what is there is read anew.
      if (asProblem(error).status !== 400) throw error;
      this.rows.reset();
      await this.#first();
    }
  }

  /** One page, taken in; undefined if the server began anew meanwhile, or the list was unloaded. */
  async #page(cursor: string | undefined, top?: string): Promise<Page | undefined> {
    const { inbox, rows } = this;
    const era = inbox.era;
    const unloads = this.#unloads;
    let page: Page;
    try {
      page = await inbox.page(this.filter, this.limit, cursor);
    } catch (error) {
      if (unloads !== this.#unloads) return undefined;
      throw error;
    }
    if (unloads !== this.#unloads) return undefined;
    if (era !== inbox.era) {
      this.#again = true;
      return undefined;
    }
    rows.page(page, top);
    inbox.count(page);
    return page;
  }
}
