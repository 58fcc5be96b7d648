import assert from "node:assert/strict";
import { test } from "node:test";
import { Rows, type Filter, type Frame, type Page } from "../core/index.js";
import { Tally } from "../core/tally.js";
import { chance } from "./clock.js";
import { act, World } from "./world.js";

const seeds = Number(process.env.TIDINGS_RUNS ?? 1000);
const only = process.env.TIDINGS_SEED;

/** One client that hears frames late, twice and in any order, and whose answers take any time. */
class Client {
  rows: Rows;
  tally = new Tally();
  /** What is on its way to it. */
  post: { frame: boolean; run: () => void }[] = [];
  /** The stream broke and did not continue: what is loaded has to be read anew. */
  lost = false;
  #from: number;

  constructor(readonly world: World, readonly filter: Filter, readonly random: () => number) {
    this.rows = new Rows(filter);
    this.#from = world.rev;
    this.tally.take(world.counts());
    world.listeners.add((frame) => this.#send(frame));
  }

  #send(frame: Frame): void {
    if (frame.rev <= this.#from) return;
    const deliver = () => {
      this.rows.frame(structuredClone(frame));
      this.tally.take(frame);
    };
    this.post.push({ frame: true, run: deliver });
    while (this.random() < 0.2) this.post.push({ frame: true, run: deliver });
  }

  ask(): void {
    const more = this.rows.next && this.random() < 0.5;
    const query = new URLSearchParams({ limit: "4" });
    if (this.filter.category) query.set("category", this.filter.category);
    const top = more ? this.rows.floor : undefined;
    if (more) query.set("cursor", this.rows.next!);
    const page: Page = structuredClone(this.world.page(query));
    if (this.random() < 0.5) delete page.categories;
    const deliver = () => {
      this.rows.page(page, top);
      this.tally.take(page);
    };
    this.post.push({ frame: false, run: deliver });
    if (this.random() < 0.1) this.post.push({ frame: false, run: deliver });
  }

  /** Loses the frames that are on their way, or some of them. */
  cut(): void {
    const kept = this.post.filter(({ frame }) => !frame || this.random() < 0.3);
    this.lost ||= kept.length < this.post.length;
    this.post = kept;
  }

  /** Reads what is loaded anew, as a list does after a stream that did not continue. */
  reload(): void {
    const { floor } = this.rows;
    let top: string | undefined;
    do {
      const query = new URLSearchParams({ limit: "4", ...(top ? { cursor: top } : {}), ...this.filter as object });
      const page: Page = structuredClone(this.world.page(query));
      this.tally.take(page);
      this.rows.page(page, top);
      top = page.next ?? undefined;
    } while (top && top > floor);
  }

  /** Delivers something that is on its way, not the oldest of it. */
  hear(): void {
    if (!this.post.length) return;
    const [deliver] = this.post.splice(Math.floor(this.random() * this.post.length), 1);
    deliver!.run();
    this.#check();
  }

  /** A badge shows counts that the server had at that `rev`, and no others. */
  #check(): void {
    const { rev, unseen, unread } = this.tally.counts!;
    const had = this.world.history.get(rev)!;
    assert.deepEqual({ unseen, unread }, { unseen: had.unseen, unread: had.unread });
  }
}

test("situation 1: every page ends with the server's rows and counts, whatever order frames and answers come in", () => {
  for (let seed = only ? Number(only) : 1; seed <= (only ? Number(only) : seeds); seed++) {
    const random = chance(seed);
    const world = new World(Date.parse("2026-03-02T10:00:00Z"));
    while (random() < 0.9) act(world, random);
    const clients = [{}, {}, { category: "following" }].map((filter) => new Client(world, filter, random));
    for (const client of clients) client.ask();
    for (let step = 0; step < 60; step++) {
      if (random() < 0.5) act(world, random);
      const client = clients[Math.floor(random() * clients.length)]!;
      if (random() < 0.2) client.ask();
      if (random() < 0.6) client.hear();
      if (random() < 0.03) client.cut();
    }
    for (const client of clients) {
      if (client.lost) {
        // A list asks for one page at a time, so that its answers are there before it reads anew; frames may be late.
        for (const { frame, run } of client.post) if (!frame) run();
        client.post = client.post.filter(({ frame }) => frame);
        while (random() < 0.8) client.hear();
        client.reload();
      }
      while (client.post.length) client.hear();
      const { category } = client.filter;
      const expected = world.rows("active")
        .filter((row) => !category || row.items[0]!.category === category)
        .filter(({ order }) => order >= client.rows.floor);
      const brief = (rows: typeof expected) => rows.map((row) => `${row.order} ${row.key} ${row.count} ${row.seen}`);
      assert.deepEqual(brief(client.rows.all()), brief(expected), `seed ${seed}`);
      assert.deepEqual(client.rows.all(), expected, `seed ${seed}`);
      const { categories: _, ...counts } = client.tally.counts!;
      const { categories: __, ...had } = world.counts();
      assert.deepEqual(counts, had, `seed ${seed}`);
      if (client.rows.next === null) {
        const all = world.rows("active").filter((row) => !category || row.items[0]!.category === category);
        assert.equal(client.rows.all().length, all.length, `seed ${seed}`);
      }
    }
  }
});
