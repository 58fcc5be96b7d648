import type { Filter, Group, Item, MarkName, Target } from "./types.js";

/** A mark on its way: what a person did is shown at once, and taken back if it fails. */
export interface Pending {
  name: MarkName;
  target: Target;
  /** The items that are marked, of a row or by themselves: what enters the row later is new. */
  events: Set<string> | undefined;
  /** Kept once it was answered, or failed. */
  done?: Promise<unknown>;
  /** The highest place at that moment, for marks of everything. */
  top: string;
  /** The `rev` of the answer: rows as new as that need no help any more. */
  rev?: number;
}

/** What a mark makes of a row; undefined: it leaves this list. */
export function applied(row: Group, mark: Pending, { state = "active" }: Filter): Group | undefined {
  const hit = row.items.filter((item) => hits(mark, row, item));
  if (!hit.length) return row;
  const whole = hit.length === row.items.length;
  if (leaves(mark.name, state)) {
    if (whole) return undefined;
    return { ...row, items: row.items.filter((item) => !hit.includes(item)), count: row.count - hit.length };
  }
  const change = flags(mark.name);
  if (!change) return row;
  const items = row.items.map((item) => (hit.includes(item) ? { ...item, ...change } : item));
  const all = (flag: "seen" | "read") => (whole ? (change[flag] ?? row[flag]) : items.every((item) => item[flag]));
  return { ...row, items, seen: all("seen"), read: all("read") };
}

/** True if two marks concern one item, so that the later one has to wait: they might pass each other on their way. */
export function collide(a: Pending, b: Pending): boolean {
  return a.name !== "seen" && b.name !== "seen" && a.rev === undefined && shares(a, b);
}

export function shares(a: Pending, b: Pending): boolean {
  return !!a.events && !!b.events && [...a.events].some((event) => b.events!.has(event));
}

function hits({ target, events, top }: Pending, row: Group, item: Item): boolean {
  if (target.category !== undefined && item.category !== target.category) return false;
  if (target.type !== undefined && row.type !== target.type) return false;
  if (target.tenant !== undefined && row.tenant !== undefined && row.tenant !== target.tenant) return false;
  if (target.event !== undefined) return item.event === target.event;
  if (target.object !== undefined) return item.object.id === target.object;
  if (target.up_to !== undefined) return Date.parse(row.newest_at) <= Date.parse(target.up_to);
  if (target.all) return row.order <= top;
  return events?.has(item.event) ?? false;
}

function leaves(name: MarkName, state: NonNullable<Filter["state"]>): boolean {
  if (name === "delete") return true;
  if (name === "archive") return state !== "all" && state !== "archived";
  if (name === "snooze") return state !== "all" && state !== "snoozed";
  if (name === "unarchive") return state === "archived";
  return name === "unsnooze" && state === "snoozed";
}

function flags(name: MarkName): Partial<Pick<Item, "seen" | "read">> | undefined {
  if (name === "read") return { seen: true, read: true };
  if (name === "seen") return { seen: true };
  return name === "unread" ? { read: false } : undefined;
}
