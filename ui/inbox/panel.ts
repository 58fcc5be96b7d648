import type { Inbox } from "../core/inbox.js";
import { asProblem, isOnline } from "../core/problem.js";
import type { Filter, Group, Item, MarkName, Target, Unseen } from "../core/types.js";
import { h, icon, say, set, sheet } from "../element/h.js";
import type { Key } from "../locales/inbox/en.js";
import { icons } from "./icons.js";
import { Menu } from "./menu.js";
import css from "./panel.css";
import { Place, RowList, skeleton, state, Tabs, type Tab } from "./parts.js";
import rowCss from "./row.css";
import type { Action, Row, RowView } from "./row.js";
import { morning, soon } from "./time.js";

/** What a panel knows of its element. */
export interface Host {
  element: HTMLElement;
  root: HTMLElement;
  inbox(): Inbox | undefined;
  locale(): string;
  t(key: Key, values?: Record<string, string | number>): string;
  /** What is written here is read out. */
  voice: HTMLElement;
  /** Tells that an item is opened; false if its way is the host's. */
  open(item: Item): boolean;
  toggled(shown: boolean): void;
}

type View = "active" | "archived" | "snoozed";

const TOAST_MS = 6000;
let style: CSSStyleSheet | undefined;

/** The list with its head, tabs and states: a dialog beside the bell, a sheet on a phone, or a part of the page. */
export class Panel {
  readonly #page: boolean;
  readonly #place = new Place();
  readonly #tabs = new Tabs((id) => this.#choose(id));
  readonly #rows = new RowList(() => this.#rowView());
  readonly #menu = new Menu();
  readonly #heading = h("h2", { id: "heading" });
  readonly #state = h("div");
  readonly #more = h("div", { class: "more" });
  readonly #note = h("div", { class: "note", hidden: true });
  readonly #pill = h("button", { class: "pill", hidden: true, onclick: () => this.#release() });
  readonly #toast = h("div", { class: "toast", hidden: true });
  readonly #tools: Record<"back" | "readAll" | "archive" | "close", HTMLButtonElement>;
  readonly #scroll: HTMLElement;
  readonly #panel: HTMLElement;
  readonly #end = new AbortController();
  #shut: AbortController | undefined;
  #bell: HTMLElement | undefined;

  #inSight = false;
  #atTop = true;
  #pointed = false;
  #nearEnd = false;
  #endObserver: IntersectionObserver | undefined;
  #view: View = "active";
  #picked: string | undefined;
  /** The names of the tenants that were heard of, by id: one of which all is read keeps its tab. */
  readonly #tenants = new Map<string, string>();
  #stateKey = "";
  #asked = new Set<string>();
  #titles: Record<string, string> | undefined;
  #toastTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly host: Host) {
    const { root, element } = host;
    const shadow = root.getRootNode() as ShadowRoot;
    shadow.adoptedStyleSheets.push((style ??= sheet(css + rowCss)), this.#place.sheet);
    this.#page = element.getAttribute("mode") === "page";
    const tool = (name: string, path: string, run: () => void) =>
      h("button", { class: `tool ${name}`, onclick: run }, icon(path));
    this.#tools = {
      back: tool("back", icons.back, () => this.#show("active")),
      readAll: tool("read-all", icons.checks, () => void this.#mark("read", { all: true, ...this.#of() })),
      archive: tool("archive", icons.archive, () => this.#show("archived")),
      close: tool("close", icons.close, () => this.hide()),
    };
    const top = h("div");
    this.#scroll = h("div", { class: "scroll", id: "list", "aria-labelledby": "heading" },
      top, this.#rows.element, this.#state, this.#more);
    const slot = h("slot", { name: "footer" });
    const foot = h("div", { class: "foot" }, slot);
    slot.addEventListener("slotchange", () => foot.classList.toggle("filled", slot.assignedNodes().length > 0));
    this.#panel = h(this.#page ? "section" : "dialog", {
      class: this.#page ? "panel page" : "panel", part: "panel", tabindex: "-1", "aria-labelledby": "heading",
    },
      h("span", { class: "grip" }),
      h("div", { class: "head" }, this.#tools.back, this.#heading, this.#tools.readAll, this.#tools.archive, this.#tools.close),
      this.#tabs.element, this.#note,
      h("div", { class: "middle" }, this.#pill, this.#scroll, this.#toast), foot, this.#menu.element);
    root.append(this.#panel);
    this.#listen(top);
    this.relabel();
  }

  #listen(top: HTMLElement): void {
    const { signal } = this.#end;
    const watch = (element: Element, run: (seen: boolean) => void, rootMargin = "0px") => {
      const observer = new IntersectionObserver((entries) => run(entries.at(-1)!.isIntersecting), { rootMargin });
      observer.observe(element);
      signal.addEventListener("abort", () => observer.disconnect());
      return observer;
    };
    watch(this.#panel, (seen) => {
      this.#inSight = seen;
      this.render();
    });
    watch(top, (seen) => {
      this.#atTop = seen;
      this.render();
    });
    this.#endObserver = watch(this.#more, (seen) => {
      this.#nearEnd = seen;
      this.render();
    }, "300px");
    const point = (pointed: boolean) => {
      this.#pointed = pointed;
      this.render();
    };
    const { parentElement: middle } = this.#scroll;
    middle!.addEventListener("pointerenter", ({ pointerType }) => point(pointerType === "mouse"));
    middle!.addEventListener("pointerleave", () => point(false));
    document.addEventListener("visibilitychange", () => this.render(), { signal });
    for (const event of ["online", "offline"]) addEventListener(event, () => this.render(), { signal });
    this.#panel.addEventListener("keydown", (event) => this.#key(event));
    this.#panel.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.hide();
    });
    // A press beside a sheet is one on its backdrop, which is the dialog itself.
    this.#panel.addEventListener("click", ({ target, clientY }) => {
      if (target === this.#panel && this.#bell && clientY < this.#panel.getBoundingClientRect().top) this.hide();
    });
    const tick = () => {
      if (signal.aborted) return;
      setTimeout(tick, 30_000);
      if (this.#visible) for (const row of this.#rows.rows) row.tick();
    };
    tick();
  }

  /** Opens beside the bell. */
  show(bell: HTMLElement): void {
    if (this.#bell) return;
    this.#bell = bell;
    this.#shut = new AbortController();
    const { signal } = this.#shut;
    const panel = this.#panel as HTMLDialogElement;
    if (!panel.showPopover || matchMedia("(max-width: 600px)").matches) {
      panel.removeAttribute("popover");
      panel.showModal();
    } else {
      const place = () => this.#place.panel(panel, bell);
      place();
      panel.setAttribute("popover", "manual");
      panel.showPopover();
      addEventListener("resize", place, { signal });
      addEventListener("scroll", place, { signal, capture: true, passive: true });
      const outside = (event: Event) => !event.composedPath().includes(this.host.element) && this.hide(false);
      document.addEventListener("pointerdown", outside, { signal });
      document.addEventListener("focusin", outside, { signal });
      document.addEventListener("keydown", ({ key }) => key === "Escape" && this.hide(), { signal });
    }
    // Behind a sheet everything is inert, the voice too.
    panel.append(this.host.voice);
    panel.focus();
    this.host.toggled(true);
    this.prepare();
    this.render();
  }

  /** Closes; the focus goes back to the bell unless somebody has put it elsewhere. */
  hide(back = true): void {
    const bell = this.#bell;
    if (!bell) return;
    this.#bell = undefined;
    this.#shut?.abort();
    this.#menu.close();
    const panel = this.#panel as HTMLDialogElement;
    if (panel.hasAttribute("popover")) panel.hidePopover();
    else panel.close();
    this.host.root.append(this.host.voice);
    if (back) bell.focus();
    for (const row of this.#rows.rows) row.fresh = false;
    this.#asked.clear();
    // Whoever has scrolled far begins at the top next time, with one page.
    if (this.#rows.rows.length > 100) {
      this.#list?.unload();
      this.#toTop();
    }
    if (this.#view !== "active") this.#show("active");
    this.host.toggled(false);
  }

  /** Forgets what is shown: another person may come. */
  clear(): void {
    this.#rows.clear();
    this.#titles = undefined;
    this.#tenants.clear();
    this.#asked.clear();
    this.#toast.hidden = true;
    this.render();
  }

  /** Leaves the element. */
  end(): void {
    this.#end.abort();
    this.#panel.remove();
  }

  get #visible(): boolean {
    return (this.#page ? this.#inSight : !!this.#bell) && document.visibilityState === "visible";
  }

  #filter(): Filter {
    return this.#view === "active" ? this.#of() : { state: this.#view };
  }

  /** What the tab shows, as lists and marks say it. */
  #of(): { category?: string; tenant?: string } {
    const by = this.#tabbed;
    return by && this.#picked !== undefined ? { [by]: this.#picked } : {};
  }

  /** What a tab counts, or the whole inbox. A tenant's view holds what is of no tenant too. */
  #counts(picked = this.#of()): Unseen | undefined {
    const counts = this.host.inbox()?.counts;
    if (!counts) return undefined;
    if (picked.category !== undefined) return counts.categories[picked.category];
    if (picked.tenant === undefined) return counts;
    const others = Object.entries(counts.tenants ?? {}).filter(([id]) => id !== picked.tenant).map(([, of]) => of);
    const without = (flag: keyof Unseen) => others.reduce((left, of) => left - of[flag], counts[flag]);
    return { unseen: without("unseen"), unread: without("unread") };
  }

  get #list() {
    return this.host.inbox()?.list(this.#filter());
  }

  /** By what there are tabs. In the view of one tenant there is nothing to choose by. */
  get #tabbed(): "category" | "tenant" | undefined {
    const by = this.host.element.getAttribute("tabs");
    if (by === "tenant") return this.host.inbox()?.tenant === undefined ? by : undefined;
    return by === "category" ? by : undefined;
  }

  /** Reads the list, for whoever is about to look at it. */
  prepare(): void {
    this.#load();
    if (this.#tabbed === "category") void this.#name();
    this.render();
  }

  #load(): void {
    const list = this.#list;
    if (list && !list.loading && (!list.rows.loaded || list.stale)) void list.load();
  }

  /** Titles of categories come with the preferences, where the token opens them. */
  async #name(): Promise<void> {
    const inbox = this.host.inbox();
    if (!inbox?.counts || this.#titles || !opens(inbox, "preferences")) return;
    const titles: Record<string, string> = (this.#titles = {});
    try {
      type Named = { id?: string; category?: string; name?: string; title?: string };
      const answer = await inbox.api.call<{ choices?: Named[] | { categories?: Named[] } }>("GET", "/preferences");
      const { choices } = answer;
      for (const { id, category, name, title } of Array.isArray(choices) ? choices : (choices?.categories ?? [])) {
        const key = id ?? category ?? name;
        if (key && title) titles[key] = title;
      }
      this.render();
    } catch {
      // The name of the configuration has to do.
    }
  }

  #show(view: View): void {
    if (this.#view !== "active") this.#list?.unload();
    const { archive, back } = this.#tools;
    const active = this.#panel.matches(":focus-within");
    this.#view = view;
    this.#turn();
    if (active && this.#bell) (view === "active" ? archive : back).focus();
  }

  #choose(id: string): void {
    if (this.#view !== "active") {
      this.#list?.unload();
      this.#view = id as View;
    } else this.#picked = id === "*" ? undefined : id.slice(1);
    this.#turn();
  }

  #turn(): void {
    this.#toTop();
    this.prepare();
  }

  #toTop(): void {
    this.#rows.clear();
    this.#scroll.scrollTop = 0;
    this.#observeEnd();
  }

  /** Waits for the browser to say again whether the end is near: what it said was of other rows. */
  #observeEnd(): void {
    this.#nearEnd = false;
    this.#endObserver?.unobserve(this.#more);
    this.#endObserver?.observe(this.#more);
  }

  /** Shows the rows that wait. */
  #release(): void {
    this.#panel.focus();
    this.#pointed = false;
    this.#atTop = true;
    if (this.#page) this.#panel.scrollIntoView({ block: "nearest" });
    this.#scroll.scrollTop = 0;
    this.render(false);
    this.#rows.rows[0]?.link.focus({ preventScroll: true });
  }

  #rowView(): RowView {
    const inbox = this.host.inbox();
    const actions: Action[] = inbox && !opens(inbox, "inbox") ? []
      : this.#view === "active" ? ["read", "archive", "snooze"]
      : ["read", this.#view === "archived" ? "unarchive" : "unsnooze", "snooze"];
    return {
      actions, lang: this.host.locale(), now: Date.now(), t: this.host.t,
      // In the view of one tenant all is of it.
      tenants: inbox?.tenant === undefined,
      act: (action, row, from) => void this.#act(action, row, from),
      open: (row, item, event, single) => this.#open(row, item, event, single),
    };
  }

  relabel(): void {
    for (const [name, tool] of Object.entries(this.#tools)) {
      const text = this.host.t(name as Key);
      set(tool, "aria-label", text);
      set(tool, "title", text);
    }
    this.#stateKey = "?";
    this.#note.textContent = "";
    this.render();
  }

  render(held = this.#pointed || !this.#atTop || !!this.#rows.focused): void {
    if (!this.#page && !this.#bell) return;
    this.#renderHead();
    const list = this.#list;
    const groups = list?.groups() ?? [];
    const visible = this.#visible;
    const lost = this.#rows.show(groups, held && visible, ({ seen }) => this.#view === "active" && !seen);
    if (lost) this.#panel.focus();
    this.#renderState(groups.length);
    const { waiting } = this.#rows;
    if (waiting) this.#pill.replaceChildren(icon(icons.up), this.host.t("fresh", { n: waiting }));
    this.#pill.hidden = !waiting;
    this.#more.hidden = !list?.hasMore;
    if (this.#nearEnd && list?.hasMore && !list.problem && groups.length) {
      this.#nearEnd = false;
      void list.more().then(() => this.#observeEnd());
    }
    const state = this.host.inbox()?.state;
    if (visible && !list?.problem && state !== "signed_out" && state !== "stopped") this.#load();
    if (visible && this.#view === "active") this.#see();
  }

  #renderHead(): void {
    const { host } = this;
    const inbox = host.inbox();
    const counts = inbox?.counts;
    const active = this.#view === "active";
    say(this.#heading, host.t(active ? "title" : "archive"));
    const { back, readAll, archive, close } = this.#tools;
    back.hidden = active;
    archive.hidden = !active;
    readAll.hidden = !active || !this.#rowView().actions.length;
    close.hidden = this.#page || this.#panel.hasAttribute("popover");
    readAll.disabled = !this.#counts()?.unread;
    const tabs: Tab[] = active
      ? [{ id: "*", text: host.t("all"), count: counts?.unread ?? 0 }]
      : (["archived", "snoozed"] as const).map((id) => ({ id, text: host.t(`${id}Tab`), count: 0 }));
    if (active && this.#tabbed === "tenant") {
      for (const id of Object.keys(counts?.tenants ?? {})) if (!this.#tenants.has(id)) this.#tenants.set(id, id);
      for (const { tenant, tenant_name } of this.#list?.groups() ?? []) if (tenant) this.#tenants.set(tenant, tenant_name ?? tenant);
      const all = [...this.#tenants].sort(([, a], [, b]) => a.localeCompare(b, host.locale()));
      for (const [tenant, text] of all) tabs.push({ id: `=${tenant}`, text, count: this.#counts({ tenant })?.unread ?? 0 });
    } else if (active && this.#tabbed) {
      // The counts may have come only now: before them nobody knows what the token opens.
      if (this.#visible) void this.#name();
      // Titles come in the order of the configuration.
      const order = Object.keys(this.#titles ?? {});
      const all = Object.entries(counts?.categories ?? {}).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
      for (const [name, { unread, title }] of all) {
        const words = name.charAt(0).toUpperCase() + name.slice(1).replace(/[_-]/g, " ");
        tabs.push({ id: `=${name}`, text: title ?? this.#titles?.[name] ?? words, count: unread });
      }
    }
    const { category, tenant } = this.#of();
    const chosen = category ?? tenant;
    this.#tabs.show(host.t("title"), tabs, !active ? this.#view : chosen === undefined ? "*" : `=${chosen}`);
    const tabbed = tabs.length > 1;
    set(this.#scroll, "role", tabbed ? "tabpanel" : "group");
    // A server that has no stream to give answers all the same: then the counts are asked for.
    const lost = inbox?.state === "offline" && inbox.problem?.code === "network";
    // Rows that are no longer kept right say so.
    const stale = inbox?.state === "stopped" && this.#rows.rows.length > 0;
    const note = lost ? host.t(isOnline() ? "unreachable" : "offline")
      : stale ? host.t(inbox.unavailable ? "unavailable" : "signedOut")
      : "";
    if (note && this.#note.textContent !== note) this.#note.replaceChildren(icon(icons.cloud), note);
    this.#note.hidden = !note;
  }

  #renderState(rows: number): void {
    const { host } = this;
    const inbox = host.inbox();
    const list = this.#list;
    const out = !inbox || inbox.state === "signed_out" || inbox.state === "stopped" || list?.problem?.unauthorized;
    const key = rows ? "" : inbox?.unavailable ? "unavailable" : out ? "out" : list?.rows.loaded ? this.#view : list?.problem ? "failed" : "loading";
    set(this.#scroll, "aria-busy", key === "loading" || null);
    if (key === this.#stateKey) return;
    this.#stateKey = key;
    const { t } = host;
    const again = () => h("button", { class: "button", onclick: () => this.#again() }, t("retry"));
    this.#state.replaceChildren(...(
      key === "" ? []
      : key === "out" ? [state(icons.bell, t("signedOut"), t("signIn"), inbox && again())]
      : key === "unavailable" ? [state(icons.warning, t("unavailable"), undefined, again())]
      : key === "failed" ? [state(icons.warning, t("failed"), undefined, again())]
      : key === "loading" ? [skeleton(t("loading"))]
      : key === "active" ? [state(icons.check, t("emptyTitle"), t("empty"))]
      : key === "archived" ? [state(icons.archive, t("noArchiveTitle"), t("noArchive"))]
      : [state(icons.clock, t("noSnoozedTitle"), t("noSnoozed"))]
    ));
    if (key === this.#view) set(this.#state.firstElementChild!, "part", "empty");
  }

  #again(): void {
    const inbox = this.host.inbox();
    if (inbox?.state === "signed_out" || inbox?.state === "stopped") inbox.refresh();
    void this.#list?.load();
  }

  /** Marks as seen what is shown. */
  #see(): void {
    const inbox = this.host.inbox();
    if (!inbox || !opens(inbox, "inbox")) return;
    const shown = this.#rows.rows.filter(({ group }) => !group.seen);
    const fresh = shown.filter(({ group }) => !this.#asked.has(group.key + group.order));
    if (!fresh.length) return;
    for (const { group } of fresh) this.#asked.add(group.key + group.order);
    const counts = this.#counts();
    const newest = fresh.reduce((at, { group }) => (group.newest_at > at ? group.newest_at : at), "");
    // Nothing else is unseen: one mark does it. Otherwise what is not shown must stay as it is.
    const all = shown.length >= (counts?.unseen ?? Infinity);
    const marks: Target[] = all ? [{ up_to: newest, ...this.#of() }] : fresh.map(({ group }) => ({ group: group.key }));
    // Nobody asked for it, so that nobody is told if it fails: it is tried again later.
    const again = () => setTimeout(() => this.#asked.clear(), 30_000);
    for (const target of marks) inbox.mark("seen", target).catch(again);
  }

  /** Marks a row, or what a target names; false, with a word, if it failed. */
  async #mark(name: MarkName, what: Target | Group, when?: Target): Promise<boolean> {
    const inbox = this.host.inbox();
    try {
      await ("items" in what ? inbox?.markRow(name, what, when) : inbox?.mark(name, what));
      return true;
    } catch (error) {
      this.#say(this.host.t(asProblem(error).code === "network" && !isOnline() ? "notDoneOffline" : "notDone"));
      return false;
    }
  }

  async #act(action: Action, row: Row, from: HTMLElement): Promise<void> {
    const { host } = this;
    const { group } = row;
    const events = group.items.map(({ event }) => event);
    const undo = (name: MarkName) => () => void Promise.all(events.map((event) => this.#mark(name, { event })));
    if (action === "read") await this.#mark(group.read ? "unread" : "read", group);
    else if (action === "archive") {
      if (await this.#mark("archive", group)) this.#say(host.t("archived"), undo("unarchive"));
    } else if (action !== "snooze") await this.#mark(action, group);
    else {
      const now = Date.now();
      const lang = host.locale();
      const active = this.#view === "active";
      const snooze = async (when: Target) => {
        if (!(await this.#mark("snooze", group, when))) return;
        const until = when.until ?? new Date(Date.now() + 3_600_000).toISOString();
        // What was archived would come back to the inbox.
        this.#say(host.t("snoozed", { time: soon(until, now, lang) }), active ? undo("unsnooze") : undefined);
      };
      const at = (key: "tomorrow" | "monday") => {
        const day = morning(now, key);
        const hint = new Intl.DateTimeFormat(lang, { hour: "numeric", minute: "2-digit" }).format(day);
        return { text: host.t(key), hint, run: () => void snooze({ until: day.toISOString() }) };
      };
      const hour = { text: host.t("hour"), run: () => void snooze({ for: "1h" }) };
      this.#menu.show(from, host.t("snooze"), [hour, at("tomorrow"), at("monday")], (menu, button) => this.#place.menu(menu, button));
    }
  }

  /** A word at the foot of the panel, with a way back. */
  #say(text: string, undo?: () => void): void {
    const gone = () => {
      this.#toast.hidden = true;
    };
    const back = () => {
      gone();
      undo!();
      this.#panel.focus();
    };
    this.#toast.replaceChildren(h("span", {}, text));
    if (undo) this.#toast.append(h("button", { onclick: back }, this.host.t("undo")));
    this.#toast.hidden = false;
    say(this.host.voice, text);
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(gone, TOAST_MS);
  }

  #open(row: Row, item: Item, event: MouseEvent, single: boolean): void {
    if (event.type === "auxclick" && event.button !== 1) return;
    const { group } = row;
    if (!group.read && this.#rowView().actions.length) {
      void this.#mark("read", single ? { event: item.event } : group);
    }
    const plain = event.type === "click" && !(event.ctrlKey || event.metaKey || event.shiftKey);
    if (plain && !this.host.open(item)) event.preventDefault();
  }

  #key(event: KeyboardEvent): void {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.#rows.focused;
    if (key === "ArrowDown" || key === "ArrowUp") this.#rows.move(key === "ArrowDown" ? 1 : -1);
    else if (row && (key === "Home" || key === "End")) this.#rows.move(key === "Home" ? -Infinity : Infinity);
    else {
      const button = row?.element.querySelector<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
      if (!button) return;
      button.click();
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/** True if the token of an inbox opens a scope. */
function opens({ scope }: Inbox, name: string): boolean {
  return scope === undefined || scope.split(" ").includes(name);
}
