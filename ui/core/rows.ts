import type { Filter, Frame, Group, Page } from "./types.js";

interface Known {
  /** The `rev` at which this was so. */
  rev: number;
  /** Undefined: the row was gone. */
  row: Group | undefined;
}

/** A part of the list that a page told: everything from `top` down to `floor`, as it was at `rev`. */
interface Stretch {
  top: string;
  floor: string;
  rev: number;
}

const TOP = "\u{10ffff}";

/**
 * The rows of one view, put together from pages and frames that may come late, twice, or in another order. What is
 * newer by `rev` holds, row by row; that a row is missing from a page tells only that it was not in that stretch then.
 */
export class Rows {
  #known = new Map<string, Known>();
  #stretches: Stretch[] = [];
  /** Cursor of the next page; null at the end, undefined before the first page. */
  next: string | null | undefined;
  /** The newest `rev` that was heard of the first rows. */
  rev = -1;

  constructor(readonly filter: Filter) {}

  get loaded(): boolean {
    return this.next !== undefined;
  }

  /** Everything below is still to be loaded; empty: nothing is. */
  get floor(): string {
    return this.#stretches.at(-1)?.floor ?? TOP;
  }

  /** The loaded rows, the newest first. */
  all(): Group[] {
    const { floor } = this;
    const rows: Group[] = [];
    for (const { row } of this.#known.values()) if (row && row.order >= floor) rows.push(row);
    return rows.sort((a, b) => (a.order < b.order ? 1 : a.order > b.order ? -1 : 0));
  }

  /** Takes in a page that begins below `top`; without it, the first. */
  page(page: Page, top: string = TOP): void {
    const floor = page.next === null ? "" : (page.groups.at(-1)?.order ?? top);
    const rows = new Set(page.groups.map(({ key }) => key));
    for (const [key, { rev, row }] of this.#known) {
      const told = row && rev <= page.rev && row.order < top && row.order >= floor;
      if (told && !rows.has(key)) this.#known.set(key, { rev, row: undefined });
    }
    for (const row of page.groups) this.#put(row, page.rev);
    this.#cover({ top, floor, rev: page.rev });
    if (floor <= this.floor) this.next = page.next;
    // A later page says nothing of what is above it.
    if (top === TOP) this.rev = Math.max(this.rev, page.rev);
  }

  /** Takes in what a frame tells of active rows. */
  frame(frame: Frame): void {
    const { category, type, tenant } = this.filter;
    for (const key of frame.gone) {
      const known = this.#known.get(key);
      if (!known || known.rev <= frame.rev) this.#known.set(key, { rev: frame.rev, row: undefined });
    }
    for (const row of frame.changed) {
      if (category !== undefined && row.items[0]?.category !== category) continue;
      if (type !== undefined && row.type !== type) continue;
      if (tenant !== undefined && row.tenant !== undefined && row.tenant !== tenant) continue;
      this.#put(row, frame.rev);
    }
    this.rev = Math.max(this.rev, frame.rev);
  }

  /** Forgets what lies below `page`: it was not read anew. */
  end(page: Page): void {
    const bottom = page.groups.at(-1)?.order ?? TOP;
    this.#stretches = this.#stretches.filter(({ floor }) => floor >= bottom);
    this.next = page.next;
  }

  /** Forgets everything: the server begins anew. */
  reset(): void {
    this.#known.clear();
    this.#stretches = [];
    this.next = undefined;
    this.rev = -1;
  }

  #put(row: Group, rev: number): void {
    const known = this.#known.get(row.key);
    if (known && known.rev > rev) return;
    // A newer page told that stretch without this row: it is no longer there.
    const told = this.#stretches.find(({ top, floor }) => row.order < top && row.order >= floor);
    const stale = told !== undefined && told.rev > rev;
    if (stale) {
      if (known) this.#known.set(row.key, { rev, row: undefined });
    } else this.#known.set(row.key, { rev, row });
  }

  /** Lays a stretch over the others; an older one fills only what nothing newer tells. */
  #cover(stretch: Stretch): void {
    const parts: Stretch[] = [];
    let open: Stretch[] = [stretch];
    for (const old of this.#stretches) {
      if (old.rev > stretch.rev) {
        parts.push(old);
        open = open.flatMap((part) => without(part, old));
      } else parts.push(...without(old, stretch));
    }
    this.#stretches = [...parts, ...open].sort((a, b) => (a.top < b.top ? 1 : -1));
    // Pages follow each other, so that a gap can only be below what is read anew: what lies there waits for its page.
    const gap = this.#stretches.findIndex(({ top }, at, all) => top !== (at ? all[at - 1]!.floor : TOP));
    if (gap >= 0) this.#stretches.length = gap;
  }

  /** Forgets rows that are gone. They are remembered while an answer is on its way that might bring them back. */
  prune(): void {
    for (const [key, { row }] of this.#known) if (!row) this.#known.delete(key);
  }
}

/** What of `part` lies outside `other`. */
function without(part: Stretch, other: Stretch): Stretch[] {
  if (other.floor >= part.top || other.top <= part.floor) return [part];
  const rest: Stretch[] = [];
  if (part.top > other.top) rest.push({ ...part, floor: other.top });
  if (part.floor < other.floor) rest.push({ ...part, top: other.floor });
  return rest;
}
