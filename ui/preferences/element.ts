import { Settings, type ChannelChoice, type ChannelHours, type Choice, type DigestTimes, type Mute } from "../core/settings.js";
import { asProblem, isOnline, type Problem } from "../core/problem.js";
import type { GetToken } from "../core/tokens.js";
import { TidingsElement } from "../element/element.js";
import { h, icon, say, sheet } from "../element/h.js";
import en, { type Key } from "../locales/preferences/en.js";
import ground from "../element/ground.css";
import { lay } from "../element/ground.js";
import css from "./preferences.css";
import { canPush, current, subscribe } from "./push.js";

const paths = {
  clock: "M10 3a7 7 0 1 0 0 14 7 7 0 1 0 0-14zM10 6.25V10l2.5 1.5",
  down: "M5.5 8 10 12.5 14.5 8",
  lock: "M5.5 9h9v7h-9zM7 9V6.5a3 3 0 0 1 6 0V9",
};
const week = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const clock = { hour: "numeric", minute: "2-digit" } as const;
const known: Record<string, Key> = { inbox: "inbox", email: "email", sms: "sms", webpush: "push", fcm: "push", apns: "push", webhook: "webhook" };
const TOAST_MS = 6000;
/** The widths in pixels that an element has for the names and for each channel, unless it is stacked. */
const NAME_PX = 180;
const CHANNEL_PX = 130;
let style: CSSStyleSheet | undefined;
let ids = 0;

/** `<tidings-preferences>`: what a person gets, on which channel, and when. */
export class TidingsPreferences extends TidingsElement<Key> {
  static override observedAttributes = [...TidingsElement.observedAttributes, "push-worker"];

  protected readonly section = "preferences";
  protected readonly english = en;
  /** The core, for hosts that want more than the element shows; undefined without a source of tokens. */
  settings: Settings | undefined;

  #unsubscribe: (() => void) | undefined;
  #problem: Problem | undefined;
  #open = new Set<string>();
  #pushed: boolean | undefined;
  #blocked = false;
  #body!: HTMLElement;
  #toast!: HTMLElement;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = "";

  /** Asks the host for a token again, and reads everything anew. */
  refresh(): void {
    void this.#load(() => this.settings?.refresh());
  }

  protected styles(): CSSStyleSheet[] {
    return [(style ??= sheet(ground + css))];
  }

  protected build(): void {
    this.#body = h("div", { class: "body" });
    this.#toast = h("div", { class: "toast", role: "status" });
    // Only widths matter, and what is observed must not grow with what is done about it.
    const gauge = h("div");
    new ResizeObserver(() => this.#fit()).observe(gauge);
    this.root.append(gauge, this.#body, this.#toast);
    lay(this.root, true);
  }

  protected open(server: string, getToken: GetToken): void {
    const settings = (this.settings = new Settings({ server, getToken }));
    this.#unsubscribe = settings.subscribe(() => this.render());
    void this.#load(() => settings.load());
    void current().then((subscription) => {
      this.#pushed = !!subscription;
      this.render();
    });
  }

  protected close(): void {
    this.#unsubscribe?.();
    this.settings?.close();
    this.settings = this.#problem = undefined;
    this.render();
  }

  async #load(read: () => Promise<void> | undefined): Promise<void> {
    this.#problem = undefined;
    this.render();
    try {
      await read();
    } catch (error) {
      this.#problem = asProblem(error);
      this.render();
    }
  }

  protected override relabel(): void {
    this.#last = "";
    this.render();
  }

  protected render(): void {
    const { settings } = this;
    const shown = JSON.stringify([
      settings?.choices, settings?.digests, settings?.times, settings?.mutes, settings?.quiet, settings?.usual, settings?.zone, settings?.next, settings?.pushKey,
      this.#problem?.code, [...this.#open], this.#pushed, this.#blocked, this.locale, this.isConnected && !settings,
    ]);
    if (shown === this.#last) return;
    this.#last = shown;
    // What had the focus is drawn anew, and keeps it.
    const focused = (this.shadowRoot!.activeElement as HTMLElement | null)?.dataset.key;
    this.#body.replaceChildren(...this.#parts());
    this.#fit();
    if (focused) this.#body.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Stacks the channels where they have no place side by side, or one of them needs more than usual. */
  #fit(): void {
    const table = this.#body.querySelector("table");
    if (!table) return;
    this.#body.classList.remove("stacked");
    const wanted = NAME_PX + CHANNEL_PX * (table.tHead!.rows[0]!.cells.length - 1);
    const isLarger = table.offsetWidth > table.parentElement!.clientWidth;
    this.#body.classList.toggle("stacked", isLarger || wanted > this.root.clientWidth);
  }

  #parts(): (HTMLElement | string)[] {
    const { settings } = this;
    const title = h("h2", { part: "title" }, this.t("title"));
    if (!settings || this.#problem?.unauthorized) return [title, this.#state(settings?.unavailable ? "unavailable" : "signedOut", !!settings)];
    if (!settings.choices) {
      if (this.#problem) return [title, this.#state("failed", true)];
      const lines = [1, 2, 3, 4].map(() => h("div", { class: "skeleton" }));
      return [title, h("div", { "aria-busy": "true" }, h("span", { class: "sr" }, this.t("loading")), ...lines)];
    }
    return [title, ...this.#next(), this.#table(settings.choices), ...this.#times(settings.choices), this.#quiet(), ...this.#push(), ...this.#muted()];
  }

  #state(key: Key, again: boolean): HTMLElement {
    const button = again && h("button", { class: "button", onclick: () => this.refresh() }, this.t("retry"));
    return h("div", { class: "state", role: "status" }, h("p", {}, this.t(key)), button);
  }

  /** What comes next, and when: what a change does is seen at once. */
  #next(): HTMLElement[] {
    const { settings } = this;
    return settings!.next.filter(({ channel, due }) => channel !== "inbox" && due).map(({ channel, due, count }) => {
      const at = Date.parse(due!);
      const far = at - Date.now() > 6 * 86_400_000;
      const time = new Intl.DateTimeFormat(this.locale, {
        ...(far ? { day: "numeric", month: "short" } : { weekday: "long" }), ...clock,
      }).format(at);
      const send = () => this.#do(() => settings!.flush(channel), "sent");
      return h("div", { class: "next", part: "next" }, icon(paths.clock),
        h("span", {}, this.t("next", { channel: this.#channel(channel), time, n: count })),
        h("button", { class: "text", "data-key": `send ${channel}`, onclick: send }, this.t("sendNow")));
    });
  }

  #table(choices: Choice[]): HTMLElement {
    // A channel on which nothing can arrive is no choice.
    const connected = choices.flatMap(({ channels }) => channels).filter(({ connected }) => connected !== false);
    const channels = [...new Set(connected.map(({ channel }) => channel))];
    const head = h("tr", {}, h("th", { scope: "col" }, h("span", { class: "sr" }, this.t("what"))),
      ...channels.map((channel) => h("th", { scope: "col" }, this.#channel(channel))));
    const rows = choices.flatMap((choice) => {
      const key = choice.category ?? choice.type ?? "";
      const open = this.#open.has(key);
      const row = this.#row(choice, channels, key, choice.types.length > 1);
      return open ? [row, ...choice.types.map((type) => this.#row(type, channels, `${key} ${type.type}`, false))] : [row];
    });
    const table = h("table", { part: "choices" }, h("thead", {}, head), h("tbody", {}, ...rows));
    return h("div", {}, table);
  }

  #row(choice: Choice, channels: string[], key: string, opens: boolean): HTMLElement {
    const open = this.#open.has(key);
    const toggle = () => {
      if (!this.#open.delete(key)) this.#open.add(key);
      this.render();
    };
    const details = opens && h("button", {
      class: "details", "data-key": `open ${key}`, "aria-expanded": String(open), "aria-label": this.t("details", { name: choice.title }), onclick: toggle,
    }, icon(paths.down));
    const name = h("bdi", {}, choice.title);
    const lock = choice.required && h("span", { class: "lock", title: this.t("why") }, icon(paths.lock), this.t("required"));
    const cells = channels.map((channel) => {
      const own = choice.channels.find((one) => one.channel === channel);
      return h("td", {}, own ? this.#control(choice, own, `${key} ${channel}`) : undefined);
    });
    return h("tr", { class: choice.type === undefined ? "category" : "type" }, h("th", { scope: "row" }, h("span", { class: "name" }, details, h("span", { class: "words" }, name, lock))), ...cells);
  }

  /** On and off is a switch, anything else a list. */
  #control(choice: Choice, own: ChannelChoice, key: string): HTMLElement {
    const name = `${choice.title}, ${this.#channel(own.channel)}`;
    const label = h("span", { class: "channel", "aria-hidden": "true" }, this.#channel(own.channel));
    const modes = own.modes.filter((mode) => mode !== "default" && !(choice.required && mode === "never"));
    const choose = (mode: string) => this.#do(() => this.settings!.choose(choice, own.channel, mode), "saved");
    const other = modes.find((mode) => mode !== "never");
    const two = other !== undefined && own.mode !== null && modes.length <= 2 && (modes.includes("never") || modes.length === 1);
    if (two) {
      const fixed = modes.length === 1;
      const on = own.mode !== "never";
      return h("label", { class: "cell" }, label, this.#switch(key, name, on, fixed, () => choose(on ? "never" : other)));
    }
    const all = modes.map((mode): [string, string] => [mode, this.#mode(mode)]);
    const mine = own.from !== undefined && own.from === (choice.type === undefined ? "category" : "type");
    if (mine) all.push(["default", this.t("standard")]);
    return h("label", { class: "cell" }, label, this.#list(key, name, own.mode, all, choose));
  }

  /** A list of values with their words; null: several are in force. */
  #list(key: string, name: string, now: string | null, all: [string, string][], choose: (value: string) => void): HTMLElement {
    const select = h("select", { "data-key": key, "aria-label": name, part: "select", onchange: () => choose(select.value) });
    if (now === null) select.append(h("option", { value: "", disabled: true, selected: true }, this.t("mixed")));
    for (const [value, word] of all) select.append(h("option", { value, selected: value === now }, word));
    return h("span", { class: "select" }, select);
  }

  #switch(key: string, name: string, on: boolean, fixed: boolean, flip: () => void): HTMLElement {
    return h("button", {
      class: "switch", part: "switch", role: "switch", "data-key": key, "aria-label": name, "aria-checked": String(on),
      disabled: fixed, onclick: flip,
    });
  }

  /** The times of the digests with which something comes. */
  #times(choices: Choice[]): HTMLElement[] {
    const { times, zone } = this.settings!;
    const modes = choices.flatMap((choice) => [choice, ...choice.types]).flatMap(({ channels }) => channels.map(({ mode }) => mode));
    const rows = times.filter(({ digest }) => modes.includes(digest)).map((of) =>
      h("li", { class: "slot" }, h("span", {}, h("bdi", {}, this.#mode(of.digest)), of.tz === zone ? undefined : this.#zone(of.tz)), h("div", {}, ...of.choose.map((key) => this.#time(of, key)))));
    if (!rows.length) return [];
    return [h("section", { part: "times" }, h("h3", {}, this.t("times")), this.#zone(zone), h("ul", { role: "list" }, ...rows))];
  }

  /** The day or the time of a digest: a list that names the default where it stands. */
  #time(of: DigestTimes, key: "on" | "at"): HTMLElement {
    const usual = of[`default_${key}`];
    const [field, shown, values] = key === "at" ? (["hour", clock, quarters(of.at, of.default_at)] as const)
      : of.every === "week" ? (["weekday", { weekday: "long" }, this.#week()] as const)
      : (["day", { day: "numeric" }, Array.from({ length: 31 }, (_, n) => n + 1)] as const);
    const format = this.#format(shown);
    const all = values.map((value): [string, string] => {
      const word = format.format(instant(value));
      return value === usual ? ["default", `${word} · ${this.t("standard")}`] : [`${value}`, word];
    });
    const name = `${this.#mode(of.digest)}, ${new Intl.DisplayNames(this.locale, { type: "dateTimeField" }).of(field)}`;
    return this.#list(`${key} ${of.digest}`, name, of[key] === usual ? "default" : `${of[key]}`, all, (value) =>
      this.#do(() => this.settings!.chooseTime(of, key, value === "default" ? null : Number(value) || value), "saved"));
  }

  #quiet(): HTMLElement {
    const settings = this.settings!;
    const { quiet, usual, zone } = settings;
    const on = quiet !== null && quiet !== "default";
    const put = (next: typeof quiet) => this.#do(() => settings.setQuiet(next), "saved");
    const own = { from: "22:00", to: "07:00" };
    const id = `quiet-${++ids}`;
    // Where channels have hours of their own, not to choose any is a choice beside none.
    const three = usual.length > 0 || quiet === null;
    const control = three
      ? this.#list("quiet", this.t("quiet"), on ? "own" : quiet === null ? "never" : "default",
        [["default", this.t("standard")], ["own", this.t("own")], ["never", this.t("never")]],
        (chosen) => put(chosen === "own" ? own : chosen === "never" ? null : "default"))
      : this.#switch("quiet", this.t("quiet"), on, false, () => put(on ? "default" : own));
    const part = h("section", { part: "quiet" },
      h("div", { class: "line" }, h("div", {}, h("h3", { id }, this.t("quiet")), h("p", {}, this.t("quietHint"))), control));
    const zoned = this.#zone(zone);
    if (quiet === "default" && usual.length) {
      part.append(h("ul", { class: "usual", role: "list" }, ...usual.map((hours) => h("li", {}, this.#hours(hours)))), zoned);
    }
    if (!on) return part;
    const time = (end: "from" | "to") => {
      const other = quiet[end === "from" ? "to" : "from"];
      // Not at each change: whoever types the hour goes on with the minutes.
      const done = () => {
        if (!input.value || input.value === other) input.value = quiet[end];
        else if (input.value !== quiet[end]) void put({ ...quiet, [end]: input.value });
      };
      const input = h("input", {
        type: "time", required: true, value: quiet[end], "data-key": `quiet ${end}`, onblur: done,
        onkeydown: ({ key }: KeyboardEvent) => key === "Enter" && done(),
      });
      return h("label", { class: "field" }, this.t(end), input);
    };
    const names = this.#format({ weekday: "short" });
    const days = this.#week().map((day) => {
      const chosen = quiet.days?.includes(day) ?? true;
      const name = names.format(instant(day));
      const pick = () => {
        const all = week.filter((one) => (one === day ? !chosen : (quiet.days?.includes(one) ?? true)));
        if (all.length) void put({ ...quiet, days: all.length === 7 ? null : all });
      };
      return h("button", { class: "day", "data-key": `day ${day}`, "aria-pressed": String(chosen), onclick: pick }, name);
    });
    part.append(h("div", { class: "times" }, time("from"), time("to"),
      h("div", { class: "field", role: "group", "aria-label": this.t("days") }, this.t("days"), h("div", { class: "days" }, ...days))), zoned);
    return part;
  }

  /** The hours of a channel in words: "Email · 10:00 PM – 7:00 AM · Sat, Sun". */
  #hours({ channel, hours: { from, to, days } }: ChannelHours): string {
    const [times, names] = [this.#format(clock), this.#format({ weekday: "short" })];
    const named = days?.map((day) => names.format(instant(day)));
    const parts = [this.#channel(channel), `${times.format(instant(from))} – ${times.format(instant(to))}`];
    if (named) parts.push(new Intl.ListFormat(this.locale, { type: "unit", style: "short" }).format(named));
    return parts.join(" · ");
  }

  #zone(zone: string | undefined): HTMLElement | string {
    return zone ? h("p", {}, this.t("zone", { zone: zoneName(zone, this.locale) })) : "";
  }

  #format(shown: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
    return new Intl.DateTimeFormat(this.locale, { ...shown, calendar: "gregory", timeZone: "UTC" });
  }

  /** The days of a week, which begins as the language's does, where the browser knows. */
  #week(): string[] {
    const { firstDay = 1 } = (new Intl.Locale(this.locale) as { getWeekInfo?(): { firstDay: number } }).getWeekInfo?.() ?? {};
    return [...week.slice(firstDay - 1), ...week.slice(0, firstDay - 1)];
  }

  #push(): HTMLElement[] {
    const settings = this.settings!;
    const worker = this.getAttribute("push-worker");
    if (!settings.pushKey || !canPush(worker)) return [];
    const on = !!this.#pushed;
    const flip = () => this.#do(async () => {
      try {
        const subscription = await subscribe(settings.pushKey!, worker, !on);
        if (subscription) await settings.push(subscription.toJSON(), !on);
        if (on) await subscription?.unsubscribe();
        this.#pushed = !on;
      } finally {
        this.#blocked = globalThis.Notification?.permission === "denied";
        this.render();
      }
    }, "saved");
    return [h("section", { part: "push" },
      h("div", { class: "line" }, h("div", {}, h("h3", {}, this.t("browser")), h("p", {}, this.t(this.#blocked ? "blocked" : "browserHint"))),
        this.#switch("push", this.t("browser"), on, false, flip)))];
  }

  #muted(): HTMLElement[] {
    const settings = this.settings!;
    if (!settings.mutes.length) return [];
    const lift = async (mute: Mute) => {
      if (await this.#do(() => settings.mute(mute, false))) this.#say(this.t("unmuted"), () => this.#do(() => settings.mute(mute, true)));
    };
    const rows = settings.mutes.map((mute) => {
      const name = mute.title ?? mute.topic ?? mute.object ?? "";
      return h("li", {}, h("bdi", {}, name), mute.channel === "*" ? undefined : h("span", { class: "hint" }, this.#channel(mute.channel)),
        h("button", { class: "text", "data-key": `mute ${name}`, "aria-label": `${this.t("unmute")}: ${name}`, onclick: () => void lift(mute) }, this.t("unmute")));
    });
    return [h("section", { part: "mutes" }, h("h3", {}, this.t("muted")), h("ul", { role: "list" }, ...rows))];
  }

  #channel(channel: string): string {
    const key = known[channel];
    return key ? this.t(key) : channel.charAt(0).toUpperCase() + channel.slice(1);
  }

  #mode(mode: string): string {
    if (mode === "never" || mode === "immediate") return this.t(mode);
    return this.settings!.digests[mode] ?? mode.charAt(0).toUpperCase() + mode.slice(1).replace(/[_-]/g, " ");
  }

  async #do(change: () => Promise<void>, word?: Key): Promise<boolean> {
    try {
      await change();
      if (word) this.#say(this.t(word));
      this.emit("tidings-preferences", undefined);
      return true;
    } catch (error) {
      this.#say(this.t(asProblem(error).code === "network" && !isOnline() ? "notDoneOffline" : "notDone"));
      return false;
    } finally {
      // A control that was changed by hand and taken back shows what is.
      this.#last = "";
      this.render();
    }
  }

  #say(text: string, undo?: () => void): void {
    const back = () => {
      say(this.#toast, "");
      undo!();
    };
    this.#toast.replaceChildren(h("span", {}, text));
    if (undo) this.#toast.append(h("button", { onclick: back }, this.t("undo")));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => say(this.#toast, ""), TOAST_MS);
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (name !== "push-worker") return super.attributeChangedCallback(name, old, value);
    if (this.root) this.relabel();
  }
}

/** A zone of times in words: "Central European Time". */
function zoneName(zone: string, locale: string): string {
  try {
    const parts = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: "longGeneric" }).formatToParts();
    return parts.find(({ type }) => type === "timeZoneName")!.value;
  } catch {
    return zone;
  }
}

/** An instant at which a day of the week or month is, or a time: January 2024 begins on a Monday, and has 31 days. */
function instant(of: string | number): number {
  const day = typeof of === "number" ? of : week.indexOf(of) + 1;
  return day ? Date.UTC(2024, 0, day) : Date.parse(`2024-01-01T${of}Z`);
}

/** The quarters of the hours of a day, with other times among them. */
function quarters(...others: string[]): string[] {
  const all = Array.from({ length: 96 }, (_, n) => new Date(n * 900_000).toISOString().slice(11, 16));
  return [...new Set([...all, ...others])].sort();
}
