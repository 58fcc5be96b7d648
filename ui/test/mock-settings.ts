import type { DigestTimes, Preference } from "../core/index.js";

const types = [
  { type: "artwork_published", category: "following", title: "New works", inbox: "immediate", email: "weekly" },
  { type: "show_opens", category: "following", title: "Shows near you", inbox: "immediate", email: "daily" },
  { type: "comment", category: "comments", title: "Comments on your works", inbox: "immediate", email: "immediate" },
  { type: "mention", category: "comments", title: "Mentions", inbox: "immediate", email: "immediate" },
  { type: "invoice", category: "account", title: "Invoices", inbox: "immediate", email: "immediate", required: true },
];
const categories = { following: "Artists and galleries you follow", comments: "Comments", account: "Your account" };
const digests = { daily: "Once a day", weekly: "Every Monday" };

/** The preferences of one person, as the mock keeps them. */
export class MockSettings {
  preferences: Preference[] = [{ topic: "artist/7", channel: "*", mode: "never" }];
  quiet: unknown = "default";
  push: unknown;
  pushKey: string | undefined;
  waiting = 4;
  channels = ["inbox", "email"];
  /** The channels without an address of this person. */
  lacking: string[] = [];
  /** The quiet hours of channels, where the person has none. */
  hours: object[] = [];
  tz = "Europe/Madrid";
  /** The titles of digests. */
  digests: Record<string, string> = digests;
  /** The digests whose times may be chosen, as they are by default. */
  times: Omit<DigestTimes, "on" | "at">[] = [];

  answer(): object {
    const choice = (row: (typeof types)[0]) => ({
      type: row.type, title: row.title, required: row.required ?? false,
      channels: this.channels.map((channel) => this.#choice(row, channel)),
    });
    return {
      preferences: this.preferences,
      choices: Object.entries(categories).map(([category, title]) => {
        const rows = types.filter((row) => row.category === category).map(choice);
        const channels = this.channels.map((channel, at) => {
          const own = this.#find({ category }, channel);
          const modes = new Set(rows.map((row) => row.channels[at]!.mode));
          const { modes: all, connected } = rows[0]!.channels[at]!;
          return { channel, modes: all, mode: modes.size === 1 ? [...modes][0] : null, from: own ? "category" : "default", connected };
        });
        return { category, title, required: rows.every(({ required }) => required), channels, types: rows };
      }),
      digests: this.digests,
      digest_times: this.times.map((of) => {
        const own = this.preferences.find(({ digest }) => digest === of.digest);
        return { ...of, on: own?.on ?? of.default_on, at: own?.at ?? of.default_at };
      }),
      mutes: this.preferences.filter(({ topic, object }) => topic ?? object).map(({ mode: _, ...mute }) => ({ ...mute, title: "Andy Warhol" })),
      quiet_hours: this.quiet,
      quiet_hours_in_force: this.quiet === "default" ? this.hours : [],
      tz: this.tz,
      ...(this.pushKey && { push: { key: this.pushKey } }),
    };
  }

  patch(body: any): string | undefined {
    if ("quiet_hours" in body) this.quiet = body.quiet_hours;
    for (const line of Array.isArray(body) ? (body as Preference[]) : (body.preferences ?? [])) {
      if (line.digest) {
        const fault = this.#choose(line);
        if (fault) return fault;
        continue;
      }
      if (line.mode === "never" && types.some(({ type, required }) => type === line.type && required)) return "required";
      this.preferences = this.preferences.filter((one) => !same(one, line));
      if (line.mode !== "default") this.preferences.push(line);
    }
    return undefined;
  }

  /** Sets the times of a digest that a line names. */
  #choose(line: Preference): string | undefined {
    const of = this.times.find(({ digest }) => digest === line.digest);
    const known = this.preferences.find(({ digest }) => digest === line.digest);
    const { on = null, at = null } = { ...known, ...line };
    const isOpen = (["on", "at"] as const).every((key) => line[key] === undefined || of?.choose.includes(key));
    const isDay = on === null || (of?.every === "month" ? typeof on === "number" : /^[a-z]{3}$/.test(`${on}`));
    if (!isOpen || !isDay || (at !== null && !/^\d\d:(00|15|30|45)$/.test(at))) return "preference";
    this.preferences = this.preferences.filter((one) => one !== known);
    if (on !== null || at !== null) this.preferences.push({ digest: line.digest!, on, at });
    return undefined;
  }

  lanes(): object[] {
    const mode = this.#mode(types[0]!, "email").mode;
    if (mode === "never" || mode === "immediate" || !this.waiting) return [];
    const due = new Date();
    const own = this.preferences.find(({ digest }) => digest === mode);
    const [hour, minute] = (own?.at ?? "09:00").split(":").map(Number);
    const day = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].indexOf(String(own?.on ?? "mon"));
    due.setHours(hour!, minute!, 0, 0);
    due.setDate(due.getDate() + (mode === "weekly" ? (7 + day - due.getDay()) % 7 || 7 : 1));
    return [{ channel: "email", lane: `digest:${mode}`, due: due.toISOString(), held_by: null, entries: Array(this.waiting).fill({}) }];
  }

  flush(): object {
    this.waiting = 0;
    return {};
  }

  #find(of: Partial<Preference>, channel: string): Preference | undefined {
    return this.preferences.find((one) => same(one, { ...of, channel } as Preference));
  }

  #choice(row: (typeof types)[0], channel: string) {
    return { channel, ...this.#mode(row, channel), connected: !this.lacking.includes(channel) };
  }

  #mode(row: (typeof types)[0], channel: string): { mode: string; from: string; modes: string[] } {
    const usual = channel === "inbox" || channel === "email" ? row[channel] : "immediate";
    const own = this.#find({ type: row.type }, channel);
    const of = this.#find({ category: row.category }, channel);
    const mode = own?.mode ?? (row.required && of?.mode === "never" ? usual : (of?.mode ?? usual));
    const modes = channel === "inbox" ? ["never", "immediate"] : ["never", "immediate", "daily", "weekly"];
    return { mode, from: own ? "type" : of ? "category" : "default", modes: row.required ? modes.slice(1) : modes };
  }
}

function same(a: Preference, b: Preference): boolean {
  return (["category", "type", "topic", "object", "channel"] as const).every((key) => (a[key] ?? null) === (b[key] ?? null));
}
