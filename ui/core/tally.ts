import type { Counts, Page } from "./types.js";

/** The counts of the newest `rev` that was heard: never a mixture, never a guess. */
export class Tally {
  counts: Counts | undefined;
  /** True if the newest counts came without those of the categories. */
  #bare = false;

  /** True if `counts` are newer than what was known. */
  take(counts: Counts | Page): boolean {
    const { rev, unseen, unread, categories, tenants = this.counts?.tenants } = counts;
    const old = this.counts;
    if (old && (old.rev > rev || (old.rev === rev && !(categories && this.#bare)))) return false;
    this.#bare = !categories;
    // A page may say nothing of categories: those that were known stay until the next frame.
    this.counts = { rev, unseen, unread, categories: categories ?? old?.categories ?? {}, ...(tenants && { tenants }) };
    return true;
  }

  reset(): void {
    this.counts = undefined;
  }
}
