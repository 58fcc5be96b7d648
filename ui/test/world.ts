// A small model of one person's inbox as the server keeps it: rows, counts, `rev`, frames. It is the tests' double of
// the server, and says what a page has to show.
import type { Counts, Frame, Group, Item, MarkName, Page, Target, Thing } from "../core/index.js";

interface Entry {
  item: Item;
  tenant?: string | undefined;
  at: number;
  /** Where the row stands: `t`, or the instant at which it came back. */
  place: number;
  seq: number;
  seen: boolean;
  read: boolean;
  archived: boolean;
  snoozed: number | undefined;
  gone: boolean;
}

export interface Publish {
  event?: string;
  type?: string;
  category?: string;
  tenant?: string;
  actor?: Thing;
  object?: Thing;
  target?: Thing;
  body?: string;
  text?: (actors: string[], count: number, object: string) => string;
  at?: number;
}

type Where = "active" | "archived" | "snoozed";

export class World {
  rev = 1;
  /** The language of its sentences. */
  lang = "en";
  entries: Entry[] = [];
  /** Every frame, for streams that continue. */
  frames: Frame[] = [];
  /** The counts that the server had at each `rev`. */
  readonly history = new Map<number, Counts>();
  readonly listeners = new Set<(frame: Frame) => void>();
  readonly retracted = new Set<string>();
  readonly texts = new Map<string, NonNullable<Publish["text"]>>();
  readonly titles: Record<string, string> = {};
  /** Names of tenants, by id; without any there are no tenants. */
  readonly tenants: Record<string, string> = {};
  #seq = 0;

  constructor(public now: number, readonly categories: string[] = ["following", "comments"]) {
    this.history.set(this.rev, this.counts());
  }

  publish(event: Publish = {}): string {
    const seq = ++this.#seq;
    const id = event.event ?? `e-${seq}`;
    const type = event.type ?? "comment";
    const object = event.object ?? { id: "works/1", title: "Water Lilies", url: "/works/1" };
    if (event.text) this.texts.set(type, event.text);
    const at = event.at ?? this.now;
    const item: Item = {
      event: id, type, category: event.category ?? this.categories[0]!, object, body: event.body ?? null,
      t: new Date(at).toISOString(), reasons: ["named"], seen: false, read: false,
    };
    if (event.actor) item.actor = event.actor;
    if (event.target) item.target = event.target;
    this.#change(() => {
      this.entries.push({ item, tenant: event.tenant, at, place: at, seq, seen: false, read: false, archived: false, snoozed: undefined, gone: false });
    });
    return id;
  }

  /** Takes an event out of the inbox, as `withdraw` does. */
  withdraw(event: string): void {
    this.#change(() => {
      for (const entry of this.entries) if (entry.item.event === event) entry.gone = true;
    });
  }

  retract(object: string, lift = false): void {
    this.#change(() => void (lift ? this.retracted.delete(object) : this.retracted.add(object)));
  }

  /** Lets time pass: what was snoozed comes back. */
  advance(now: number): void {
    this.now = now;
    const due = this.entries.filter(({ snoozed }) => snoozed !== undefined && snoozed <= now);
    for (const at of [...new Set(due.map(({ snoozed }) => snoozed!))].sort((a, b) => a - b)) {
      this.#change(() => {
        for (const entry of due) {
          if (entry.snoozed !== at) continue;
          Object.assign(entry, { snoozed: undefined, place: at, seq: ++this.#seq, seen: false, read: false });
        }
      });
    }
  }

  mark(name: MarkName, target: Target): Counts {
    this.#change(() => {
      for (const entry of this.#hit(name, target)) {
        if (name === "seen") entry.seen = true;
        if (name === "read") entry.seen = entry.read = true;
        if (name === "unread") entry.read = false;
        if (name === "archive") Object.assign(entry, { archived: true, snoozed: undefined });
        if (name === "unarchive") entry.archived = false;
        if (name === "snooze") Object.assign(entry, { archived: false, snoozed: this.#until(target) });
        if (name === "unsnooze") entry.snoozed = undefined;
        if (name === "delete") entry.gone = true;
      }
    });
    return this.counts();
  }

  counts(): Counts {
    const categories = Object.fromEntries(
      this.categories.map((name) => [
        name, { unseen: 0, unread: 0, ...(this.titles[name] ? { title: this.titles[name] } : {}) },
      ]),
    ) as Counts["categories"];
    const counts: Counts = { rev: this.rev, unseen: 0, unread: 0, categories };
    for (const row of this.rows("active")) {
      const of = categories[row.items[0]!.category!]!;
      if (!row.seen) (counts.unseen++, of.unseen++);
      if (!row.read) (counts.unread++, of.unread++);
      if (row.tenant && !row.read) {
        const own = ((counts.tenants ??= {})[row.tenant] ??= { unseen: 0, unread: 0 });
        own.unread++;
        if (!row.seen) own.unseen++;
      }
    }
    return counts;
  }

  page(query: URLSearchParams): Page {
    const state = query.get("state") ?? "active";
    const limit = Number(query.get("limit") ?? 20);
    const cursor = query.get("cursor");
    const categories = query.getAll("category");
    const types = query.getAll("type");
    const tenant = query.get("tenant");
    const where: Where[] =
      state === "all" ? ["active", "archived", "snoozed"] : state === "archived" || state === "snoozed" ? [state] : ["active"];
    const rows = where
      .flatMap((one) => this.rows(one))
      .filter((row) => state !== "unseen" || !row.seen)
      .filter((row) => state !== "unread" || !row.read)
      .filter((row) => !categories.length || categories.includes(row.items[0]!.category!))
      .filter((row) => !types.length || types.includes(row.type))
      .filter((row) => tenant === null || row.tenant === undefined || row.tenant === tenant)
      .sort(byOrder)
      .filter((row) => cursor === null || row.order < cursor);
    const groups = rows.slice(0, limit);
    const { categories: of, ...counts } = this.counts();
    return { groups, ...counts, categories: of, next: rows.length > limit ? groups.at(-1)!.order : null };
  }

  rows(where: Where): Group[] {
    const groups = new Map<string, Entry[]>();
    for (const entry of this.entries) {
      if (entry.gone || this.retracted.has(entry.item.object.id) || whereIs(entry) !== where) continue;
      const { type, object, t } = entry.item;
      const key = [where, type, object.id, entry.tenant, t.slice(0, 10), entry.read ? "r" : "u"].join("|");
      groups.set(key, [...(groups.get(key) ?? []), entry]);
    }
    return [...groups].map(([key, entries]) => this.#row(key, entries)).sort(byOrder);
  }

  #row(key: string, entries: Entry[]): Group {
    entries.sort((a, b) => b.place - a.place || b.seq - a.seq);
    const [newest] = entries as [Entry];
    const { type, object } = newest.item;
    const names = [...new Set(entries.map(({ item }) => item.actor?.title ?? item.actor?.id ?? "Somebody"))];
    const say = this.texts.get(type) ?? ((actors, _, title) => `${actors.join(" and ")} commented on ${title}`);
    const text = (actors: string[], count: number) => say(actors, count, object.title ?? object.id);
    const soonest = entries.map(({ snoozed }) => snoozed).filter((at) => at !== undefined).sort((a, b) => a - b)[0];
    const until = soonest === undefined ? null : new Date(soonest).toISOString();
    return {
      key, type, count: entries.length, ...(newest.tenant && { tenant: newest.tenant, tenant_name: this.tenants[newest.tenant]! }),
      actors: [...new Set(entries.flatMap(({ item }) => item.actor?.id ?? []))],
      newest_at: new Date(newest.place).toISOString(),
      seen: entries.every(({ seen }) => seen),
      read: entries.every(({ read }) => read),
      items: entries.slice(0, 25).map(({ item, seen, read, archived, snoozed }) => ({
        ...item, seen, read, archived, snoozed_until: snoozed === undefined ? null : new Date(snoozed).toISOString(),
        text: text([item.actor?.title ?? "Somebody"], 1), lang: this.lang,
      })),
      text: text(names, entries.length), lang: this.lang, archived: newest.archived, snoozed_until: until,
      order: `${String(newest.place).padStart(14, "0")}.${String(newest.seq).padStart(8, "0")}`,
    };
  }

  #hit(name: MarkName, target: Target): Entry[] {
    const { event, object, group, up_to, all, category, type, tenant } = target;
    const there = this.entries.filter(({ gone }) => !gone);
    if (event !== undefined) return there.filter(({ item }) => item.event === event);
    if (group !== undefined) {
      const where = (["active", "archived", "snoozed"] as const).find((one) => group.startsWith(`${one}|`));
      const row = where && this.rows(where).find(({ key }) => key === group);
      const events = new Set(row?.items.map((item) => item.event));
      return there.filter(({ item }) => events.has(item.event));
    }
    const wanted: Where = name === "unarchive" ? "archived" : name === "unsnooze" ? "snoozed" : "active";
    const hit = there
      .filter((entry) => whereIs(entry) === wanted)
      .filter((entry) => tenant === undefined || entry.tenant === undefined || entry.tenant === tenant);
    if (object !== undefined) return hit.filter(({ item }) => item.object.id === object);
    const limit = all ? this.now : Date.parse(up_to!);
    return hit.filter(({ item, place }) =>
      place <= limit && (category === undefined || item.category === category) && (type === undefined || item.type === type));
  }

  #until({ until, for: duration }: Target): number {
    if (until) return Date.parse(until);
    const [, n, unit] = /^(\d+)([smhd])$/.exec(duration ?? "1h")!;
    return this.now + Number(n) * { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as "s"]!;
  }

  #change(run: () => void): void {
    const before = this.#shape();
    const old = new Map(this.rows("active").map((row) => [row.key, JSON.stringify(row)]));
    run();
    if (this.#shape() === before) return;
    this.rev += 1;
    const rows = this.rows("active");
    const keys = new Set(rows.map(({ key }) => key));
    const counts = this.counts();
    this.history.set(this.rev, counts);
    const frame: Frame = {
      ...counts,
      changed: rows.filter((row) => old.get(row.key) !== JSON.stringify(row)),
      gone: [...old.keys()].filter((key) => !keys.has(key)),
    };
    this.frames.push(frame);
    for (const listener of this.listeners) listener(frame);
  }

  #shape(): string {
    return JSON.stringify([this.rows("active"), this.rows("archived"), this.rows("snoozed")]);
  }
}

function whereIs({ archived, snoozed }: Entry): Where {
  return archived ? "archived" : snoozed !== undefined ? "snoozed" : "active";
}

function byOrder(a: Group, b: Group): number {
  return a.order < b.order ? 1 : -1;
}

/** Something that happens, by chance. */
export function act(world: World, random: () => number): void {
  const pick = <T>(from: T[]): T => from[Math.floor(random() * from.length)]!;
  const events = world.entries.map(({ item }) => item.event);
  world.advance(world.now + Math.floor(random() * 60_000));
  const roll = random();
  if (roll < 0.4 || !events.length) {
    const n = Math.floor(random() * 6);
    const like = random() < 0.5;
    const type = like ? "like" : "comment";
    world.publish({ category: like ? "comments" : "following", type, object: { id: `works/${n}` } });
  } else if (roll < 0.45) world.withdraw(pick(events));
  else if (roll < 0.5) world.retract(`works/${Math.floor(random() * 6)}`, random() < 0.6);
  else {
    const name = pick(["seen", "read", "unread", "archive", "unarchive", "snooze", "unsnooze", "delete"] as const);
    const rows = world.rows(pick(["active", "archived", "snoozed"]));
    const until = new Date(world.now + random() * 300_000).toISOString();
    const target = pick([
      { event: pick(events) }, { object: `works/${Math.floor(random() * 6)}` },
      { group: pick(rows)?.key ?? "none" },
      ...(random() < 0.15 ? [{ all: true as const }, { up_to: new Date(world.now - 30_000).toISOString() }] : []),
    ]);
    world.mark(name, name === "snooze" ? { ...target, until } : target);
  }
}
