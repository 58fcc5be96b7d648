import { Api } from "./api.js";
import { here, type Env } from "./env.js";
import { isFaulty } from "./problem.js";
import { Tokens, type GetToken } from "./tokens.js";

/** What a person chose: for a category, a type, a topic or an object, on a channel; or the times of a digest. */
export interface Preference {
  category?: string | null;
  type?: string | null;
  topic?: string | null;
  object?: string | null;
  digest?: string | null;
  /** Absent for a digest. */
  channel?: string;
  mode?: string;
  /** The day and the time of a digest; null: its default. */
  on?: string | number | null;
  at?: string | null;
}

/** The times of a digest for this person. */
export interface DigestTimes {
  digest: string;
  /** The times that may be chosen: `on`, `at` or both. */
  choose: readonly ("on" | "at")[];
  every: "day" | "weekday" | "week" | "month";
  /** The day in force: `mon` to `sun`, 1 to 31, or null where there is none. */
  on: string | number | null;
  /** The time in force, such as `09:00`. */
  at: string;
  /** The day and the time in force once a choice is taken back. */
  default_on: string | number | null;
  default_at: string;
  /** The zone of both: the digest's own, else the person's. */
  tz: string;
}

export interface ChannelChoice {
  channel: string;
  /** The modes that may be chosen: `never`, `immediate`, names of digests. */
  modes: string[];
  /** The mode in force; null where the types of a category have several. */
  mode: string | null;
  /** Where it comes from: `type`, `category`, `*`, or `default`. */
  from?: string;
  /** False if the person has no address there. */
  connected?: boolean;
}

export interface Choice {
  category?: string;
  type?: string;
  title: string;
  /** It can't be turned off. */
  required: boolean;
  channels: ChannelChoice[];
  types: Choice[];
}

export interface QuietHours {
  from: string;
  to: string;
  days?: string[] | null;
  channels?: string[] | null;
}

/** The quiet hours in force on a channel. */
export interface ChannelHours {
  channel: string;
  hours: QuietHours;
  set_by: "recipient" | "tenant" | "channel";
}

export interface Mute {
  topic?: string;
  object?: string;
  title?: string;
  channel: string;
}

/** What waits on a channel: when it comes, and how many. */
export interface Next {
  channel: string;
  due: string | null;
  count: number;
}

interface Pending {
  lanes: { channel: string; due?: string | null; entries: unknown[] }[];
}

/** A person's preferences. What is changed shows at once, and is taken back if it fails. */
export class Settings {
  readonly api: Api;
  readonly #tokens: Tokens;
  readonly #listeners = new Set<() => void>();
  #loading: Promise<void> | undefined;
  choices: Choice[] | undefined;
  /** Titles of digests, where the server tells them. */
  digests: Record<string, string> = {};
  /** The digests whose times may be chosen. */
  times: DigestTimes[] = [];
  mutes: Mute[] = [];
  /** `default`: those of the channels. */
  quiet: QuietHours | "default" | null = "default";
  /** The hours that hold with `default`, of the channels that have any, as far as the server told them. */
  usual: ChannelHours[] = [];
  /** The zone in which quiet hours are; undefined: the server doesn't tell it. */
  zone: string | undefined;
  next: Next[] = [];
  /** The key with which a browser subscribes to Web Push; undefined: the server sends none. */
  pushKey: string | undefined;

  constructor({ server, getToken, env = here }: { server: string; getToken: GetToken; env?: Env }) {
    this.#tokens = new Tokens(env, getToken);
    this.#tokens.changed = () => {
      this.choices = undefined;
      this.#tell();
    };
    this.api = new Api(env, server, this.#tokens);
  }

  /** True if the host's tokens are refused whoever signs in. */
  get unavailable(): boolean {
    return isFaulty(this.#tokens.refusal);
  }

  subscribe(run: () => void): () => void {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }

  /** Reads everything anew. */
  load(): Promise<void> {
    return (this.#loading ??= this.#read().finally(() => (this.#loading = undefined)));
  }

  async #read(): Promise<void> {
    this.#take(await this.api.call<Record<string, any>>("GET", "/preferences"));
    await this.waits();
  }

  /** Reads what waits. A token that doesn't open the inbox sees nothing of it. */
  async waits(): Promise<void> {
    try {
      const { lanes } = await this.api.call<Pending>("GET", "/pending");
      const next = new Map<string, Next>();
      for (const { channel, due = null, entries } of lanes) {
        if (!entries.length) continue;
        const known = next.get(channel) ?? { channel, due, count: 0 };
        // The first message that comes, and what is in it.
        if (due === known.due) known.count += entries.length;
        else if (due !== null && (known.due === null || Date.parse(due) < Date.parse(known.due))) {
          Object.assign(known, { due, count: entries.length });
        }
        next.set(channel, known);
      }
      this.next = [...next.values()];
    } catch {
      this.next = [];
    }
    this.#tell();
  }

  /** Chooses a mode for a category or a type. */
  choose(choice: Choice, channel: string, mode: string): Promise<void> {
    const now = choice.channels.find((one) => one.channel === channel);
    const before = now?.mode;
    if (now && mode !== "default") now.mode = mode;
    const of = choice.type === undefined ? { category: choice.category } : { type: choice.type };
    return this.#change([{ ...of, channel, mode } as Preference], () => {
      if (now) now.mode = before ?? null;
    });
  }

  /** Chooses the day (`on`) or the time (`at`) of a digest; null takes the choice back. */
  chooseTime(of: DigestTimes, key: "on" | "at", value: string | number | null): Promise<void> {
    const before = this.times;
    this.times = before.map((one) => (one === of ? { ...one, [key]: value ?? one[`default_${key}`] } : one));
    return this.#change([{ digest: of.digest, [key]: value }], () => (this.times = before));
  }

  mute(mute: Mute, on: boolean): Promise<void> {
    const before = this.mutes;
    this.mutes = on ? [...before, mute] : before.filter((one) => one !== mute);
    const { title: _, ...line } = mute;
    return this.#change([{ ...line, mode: on ? "never" : "default" }], () => (this.mutes = before));
  }

  setQuiet(quiet: QuietHours | "default" | null): Promise<void> {
    const before = this.quiet;
    this.quiet = quiet;
    return this.#change({ quiet_hours: quiet }, () => (this.quiet = before));
  }

  /** Sends now what waits on a channel. */
  async flush(channel: string): Promise<void> {
    await this.api.call("POST", "/flush", { body: { channel } });
    await this.waits();
  }

  /** This browser's subscription to Web Push joins the person's addresses, or leaves them. */
  async push(subscription: object, on: boolean): Promise<void> {
    await this.api.call(on ? "PUT" : "DELETE", "/push", { body: subscription });
    // A channel may have its first address now, or have lost its last.
    await this.load().catch(() => {});
  }

  /** Asks the host for a token again, and reads everything. */
  refresh(): Promise<void> {
    this.#tokens.refresh();
    return this.load();
  }

  close(): void {
    this.#tokens.clear();
  }

  async #change(body: unknown, undo: () => void): Promise<void> {
    this.#tell();
    try {
      await this.api.call("PATCH", "/preferences", { body, keepalive: true });
    } catch (error) {
      undo();
      this.#tell();
      throw error;
    }
    // What is in force elsewhere, and what waits, may be others now.
    await this.load().catch(() => {});
  }

  #take(told: Record<string, any>): void {
    const answer = Array.isArray(told) ? { preferences: told } : told;
    const { choices, digests = {}, digest_times: times = [], mutes, preferences = [], quiet_hours, quiet_hours_in_force = [], tz, push } = answer as Record<string, any>;
    this.choices = (Array.isArray(choices) ? choices : (choices?.categories ?? [])).map(choice);
    this.digests = Object.fromEntries(
      Object.entries<any>(digests).map(([name, digest]) => [name, typeof digest === "string" ? digest : digest?.title]),
    );
    this.times = times;
    this.mutes = mutes ?? preferences.filter(({ topic, object, mode }: Preference) => (topic ?? object) && mode === "never");
    this.quiet = quiet_hours === undefined ? "default" : quiet_hours;
    // Hours of one's own hide the others, which were heard of before or are not known.
    if (this.quiet === "default") this.usual = quiet_hours_in_force;
    this.zone = tz;
    this.pushKey = push?.key;
    this.#tell();
  }

  #tell(): void {
    for (const run of this.#listeners) run();
  }
}

/** A choice as the server tells it. A category without channels of its own has those of its types. */
function choice(told: Record<string, any>): Choice {
  const types: Choice[] = (told.types ?? []).map(choice);
  const channels: ChannelChoice[] = Array.isArray(told.channels)
    ? told.channels
    : Object.entries<any>(told.channels ?? {}).map(([channel, rest]) => ({ channel, ...rest }));
  if (!channels.length) {
    for (const { channels: own } of types) {
      for (const { channel, modes, mode, connected } of own) {
        const known = channels.find((one) => one.channel === channel);
        if (!known) channels.push({ channel, modes: [...modes], mode, ...(connected !== undefined && { connected }) });
        else {
          known.modes = known.modes.filter((one) => modes.includes(one));
          if (known.mode !== mode) known.mode = null;
        }
      }
    }
  }
  const required = told.required ?? (types.length > 0 && types.every((one) => one.required));
  return { ...told, title: told.title ?? told.type ?? told.category, required, channels, types };
}
