import { Inbox } from "../core/inbox.js";
import type { GetToken } from "../core/tokens.js";
import type { Counts, Filter, Group, Item, Target } from "../core/types.js";
import { TidingsElement } from "../element/element.js";
import { h, icon, say, set, sheet } from "../element/h.js";
import en, { type Key } from "../locales/inbox/en.js";
import { icons } from "./icons.js";
import css from "./inbox.css";
import { Menu } from "./menu.js";
import { Place, RowList, skeleton, state, Tabs, wants, type Tab } from "./panel.js";
import type { Action, Row, RowView } from "./row.js";
import { morning, soon } from "./time.js";

const TOAST_MS = 6000;
let style: CSSStyleSheet | undefined;

/** `<tidings-inbox>`: a bell with its panel, or with `mode="page"` the list alone. */
export class TidingsInbox extends TidingsElement<Key> {
  static override observedAttributes = [...TidingsElement.observedAttributes, "mode", "tabs"];

  protected readonly section = "inbox";
  protected readonly english = en;
  /** The core, for hosts that want more than the element shows; undefined without a source of tokens. */
  inbox: Inbox | undefined;

  #place!: Place;
  #panel!: HTMLElement;
  #bell: HTMLButtonElement | undefined;
  #badge: HTMLElement | undefined;
  #heading!: HTMLElement;
  #tools!: Record<"back" | "readAll" | "archive" | "close", HTMLButtonElement>;
  #tabs!: Tabs;
  #rows!: RowList;
  #scroll!: HTMLElement;
  #state!: HTMLElement;
  #more!: HTMLElement;
  #note!: HTMLElement;
  #pill!: HTMLButtonElement;
  #toast!: HTMLElement;
  #voice!: HTMLElement;
  #menu!: Menu;
  #end: AbortController | undefined;
  #shut: AbortController | undefined;

  #shown = false;
  /** The element itself is within the window; in the mode of a page that is what counts. */
  #inSight = false;
  #atTop = true;
  #pointed = false;
  #view: "active" | "archived" | "snoozed" = "active";
  #category: string | undefined;
  #stateKey = "";
  #last: Counts | undefined;
  #asked = new Set<string>();
  #titles: Record<string, string> | undefined;
  #unread = 0;
  #timers: Record<string, ReturnType<typeof setTimeout>> = {};

  get mode(): "bell" | "page" {
    return this.getAttribute("mode") === "page" ? "page" : "bell";
  }
  set mode(mode: string | null) {
    set(this, "mode", mode);
  }
  get tabs(): string | null {
    return this.getAttribute("tabs");
  }
  set tabs(tabs: string | null) {
    set(this, "tabs", tabs);
  }

  /** Asks the host for a token again: after a sign-in, or when a token was refused. */
  refresh(): void {
    this.inbox?.refresh();
  }

  /** Forgets everything of this person. `refresh()` begins with the next. */
  logout(): void {
    this.hide();
    this.inbox?.logout();
  }

  protected styles(): CSSStyleSheet[] {
    this.#place = new Place();
    return [(style ??= sheet(css)), this.#place.sheet];
  }

  protected build(): void {
    const tool = (name: string, path: string, run: () => void) =>
      h("button", { class: `tool ${name}`, onclick: run }, icon(path));
    this.#tools = {
      back: tool("back", icons.back, () => this.#show("active")),
      readAll: tool("read-all", icons.checks, () => this.#mark("read", { all: true, ...this.#of() })),
      archive: tool("archive", icons.archive, () => this.#show("archived")),
      close: tool("close", icons.close, () => this.hide()),
    };
    this.#rows = new RowList(() => this.#rowView());
    this.#tabs = new Tabs((id) => this.#choose(id));
    this.#menu = new Menu();
    this.#heading = h("h2", { id: "heading" });
    this.#state = h("div");
    this.#more = h("div", { class: "more" });
    this.#note = h("div", { class: "note", hidden: true });
    this.#pill = h("button", { class: "pill", hidden: true, onclick: () => this.#release() });
    this.#toast = h("div", { class: "toast", hidden: true });
    this.#voice = h("div", { class: "sr", role: "status", "aria-live": "polite" });
    const top = h("div");
    this.#scroll = h("div", { class: "scroll", id: "list", role: "tabpanel", "aria-labelledby": "heading" },
      top, this.#rows.element, this.#state, this.#more);
    const slot = h("slot", { name: "footer" });
    const foot = h("div", { class: "foot" }, slot);
    slot.addEventListener("slotchange", () => foot.classList.toggle("filled", slot.assignedNodes().length > 0));
    const page = this.mode === "page";
    this.#panel = h(page ? "section" : "dialog", {
      class: page ? "panel page" : "panel", part: "panel", tabindex: page ? null : "-1", "aria-labelledby": "heading",
    },
      h("span", { class: "grip" }),
      h("div", { class: "head" }, this.#tools.back, this.#heading, this.#tools.readAll, this.#tools.archive, this.#tools.close),
      this.#tabs.element, this.#note,
      h("div", { class: "body-of-panel" }, this.#pill, this.#scroll, this.#toast), foot, this.#menu.element);
    this.#bell = this.#badge = undefined;
    if (!page) {
      this.#badge = h("span", { class: "badge", part: "badge", "aria-hidden": "true", hidden: true });
      this.#bell = h("button", {
        class: "bell", part: "bell", "aria-haspopup": "dialog", onclick: () => (this.#shown ? this.hide() : this.show()),
        onpointerenter: () => this.#prepare(), onfocus: () => this.#prepare(),
      }, icon(icons.bell), this.#badge);
    }
    this.root.replaceChildren(...(this.#bell ? [this.#bell] : []), this.#panel, this.#voice);
    this.#listen(top);
  }

  #listen(top: HTMLElement): void {
    const { root } = this;
    const watch = (element: Element, run: (seen: boolean) => void, margin = "0px") =>
      new IntersectionObserver((entries) => run(entries.at(-1)!.isIntersecting), { rootMargin: margin }).observe(element);
    watch(this.#panel, (seen) => {
      this.#inSight = seen;
      if (this.mode === "page") this.render();
    });
    watch(top, (seen) => {
      this.#atTop = seen;
      if (seen) this.render();
    });
    watch(this.#more, (seen) => {
      if (seen) this.#further();
      set(this.#more, "data-seen", seen);
    }, "300px");
    const list = this.#rows.element;
    list.addEventListener("pointerenter", ({ pointerType }) => (this.#pointed = pointerType === "mouse"));
    list.addEventListener("pointerleave", () => {
      this.#pointed = false;
      this.render();
    });
    root.addEventListener("keydown", (event) => this.#key(event));
    this.#panel.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.hide();
    });
    // A press beside a sheet is one on its backdrop, which is the dialog itself.
    this.#panel.addEventListener("click", (event) => {
      if (event.target !== this.#panel) return;
      const { top, bottom } = this.#panel.getBoundingClientRect();
      if (event.clientY < top || event.clientY > bottom) this.hide();
    });
  }

  protected open(server: string, getToken: GetToken): void {
    const inbox = (this.inbox = new Inbox({ server, getToken }));
    this.#end = new AbortController();
    this.#end.signal.addEventListener("abort", inbox.subscribe(() => this.render()));
    document.addEventListener("visibilitychange", () => this.render(), { signal: this.#end.signal });
    inbox.start();
    if (this.mode === "page") void inbox.list(this.#filter()).load();
    const beat = () => {
      this.#timers.beat = setTimeout(beat, 30_000);
      if (this.#visible) for (const row of this.#rows.rows) row.tick();
    };
    beat();
  }

  protected close(): void {
    this.hide();
    this.#end?.abort();
    this.inbox?.logout();
    this.inbox = this.#last = undefined;
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#rows.clear();
    this.#titles = undefined;
    this.render();
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (name !== "mode" && name !== "tabs") return super.attributeChangedCallback(name, old, value);
    if (!this.root || old === value) return;
    if (name === "mode") {
      this.hide();
      this.build();
      if (this.mode === "page") void this.inbox?.list(this.#filter()).load();
    } else this.#category = undefined;
    this.relabel();
  }

  /** Opens the panel. */
  show(): void {
    if (this.#shown || !this.#bell) return;
    this.#shown = true;
    this.#shut = new AbortController();
    const { signal } = this.#shut;
    const panel = this.#panel as HTMLDialogElement;
    if (!panel.showPopover || matchMedia("(max-width: 600px)").matches) {
      panel.removeAttribute("popover");
      panel.showModal();
    } else {
      const place = () => this.#place.panel(panel, this.#bell!);
      place();
      panel.setAttribute("popover", "manual");
      panel.showPopover();
      window.addEventListener("resize", place, { signal });
      window.addEventListener("scroll", place, { signal, capture: true, passive: true });
      const outside = (event: Event) => !event.composedPath().includes(this) && this.hide(false);
      document.addEventListener("pointerdown", outside, { signal });
      document.addEventListener("focusin", outside, { signal });
    }
    panel.focus();
    this.#prepare();
    this.render();
  }

  /** Closes the panel; the focus goes back to the bell unless somebody has put it elsewhere. */
  hide(back = true): void {
    if (!this.#shown) return;
    this.#shown = false;
    this.#shut?.abort();
    this.#menu.close();
    const panel = this.#panel as HTMLDialogElement;
    if (panel.hasAttribute("popover")) panel.hidePopover();
    else panel.close();
    if (back) this.#bell?.focus();
    for (const row of this.#rows.rows) row.fresh = false;
    this.#asked.clear();
    this.#view = "active";
    this.render();
  }

  get #visible(): boolean {
    const here = this.mode === "page" ? this.#inSight : this.#shown;
    return here && document.visibilityState === "visible";
  }

  #filter(): Filter {
    if (this.#view !== "active") return { state: this.#view };
    return this.#category === undefined ? {} : { category: this.#category };
  }

  /** The category that is shown, as marks say it. */
  #of(): { category?: string } {
    return this.#category === undefined ? {} : { category: this.#category };
  }

  /** Whoever comes near the bell will want the list. */
  #prepare(): void {
    const list = this.inbox?.list(this.#filter());
    if (list && wants(list)) void list.load();
    if (this.tabs === "category") void this.#name();
  }

  #further(): void {
    const list = this.inbox?.list(this.#filter());
    if (list?.hasMore && !list.problem && this.#rows.rows.length) void list.more();
  }

  /** Titles of categories come with the preferences, where the token opens them. */
  async #name(): Promise<void> {
    const { inbox } = this;
    const { scope } = inbox ?? {};
    if (!inbox || this.#titles || (scope !== undefined && !scope.split(" ").includes("preferences"))) return;
    this.#titles = {};
    try {
      type Choices = { choices?: { categories?: { category?: string; name?: string; title?: string }[] } };
      const { choices } = await inbox.api.call<Choices>("GET", "/preferences");
      for (const { category, name, title } of choices?.categories ?? []) {
        const key = category ?? name;
        if (key && title) this.#titles[key] = title;
      }
      this.render();
    } catch {
      // The name of the configuration has to do.
    }
  }

  #show(view: "active" | "archived" | "snoozed"): void {
    if (this.#view !== "active") this.inbox?.list(this.#filter()).unload();
    this.#view = view;
    this.#turn();
    if (view === "active") this.#tools.archive.focus();
    else if (this.#tools.archive.matches(":focus")) this.#tools.back.focus();
  }

  #choose(id: string): void {
    if (this.#view !== "active") return this.#show(id as "archived");
    this.#category = id === "*" ? undefined : id.slice(1);
    this.#turn();
  }

  #turn(): void {
    this.#rows.clear();
    this.#scroll.scrollTop = 0;
    this.#prepare();
    this.render();
  }

  #release(): void {
    this.#pill.hidden = true;
    this.#pointed = false;
    this.#atTop = true;
    this.#rows.element.scrollIntoView?.({ block: "start" });
    this.#scroll.scrollTop = 0;
    this.#panel.focus();
    this.render(false);
    this.#rows.move(-1);
  }

  #rowView(): RowView {
    const { inbox } = this;
    const scope = inbox?.scope;
    const may = scope === undefined || scope.split(" ").includes("inbox");
    const actions: Action[] = !may ? []
      : this.#view === "active" ? ["read", "archive", "snooze"]
      : ["read", this.#view === "archived" ? "unarchive" : "unsnooze"];
    return {
      actions, lang: this.locale, now: Date.now(),
      t: (key, values) => this.t(key, values),
      act: (action, row, from) => this.#act(action, row, from),
      open: (row, item, event) => this.#open(row, item, event),
    };
  }

  protected override relabel(): void {
    for (const [name, tool] of Object.entries(this.#tools)) {
      const text = this.t(name as Key);
      set(tool, "aria-label", text);
      set(tool, "title", text);
    }
    this.#stateKey = "";
    this.render();
  }

  protected render(held = this.#pointed || !this.#atTop || !!this.#rows.focused): void {
    const { inbox } = this;
    const counts = inbox?.counts;
    if (counts !== this.#last) this.#count(counts);
    if (this.#bell) {
      const n = counts?.unseen ?? 0;
      set(this.#bell, "aria-label", n ? this.t("bell", { n }) : this.t("title"));
      set(this.#bell, "aria-expanded", String(this.#shown));
    }
    if (!this.#shown && this.mode === "bell") return;
    this.#renderHead();
    const list = inbox?.list(this.#filter());
    const groups = inbox ? list!.groups() : [];
    const visible = this.#visible;
    const fresh = (group: Group) => this.#view === "active" && !group.seen;
    this.#rows.show(groups, held && visible, fresh);
    this.#renderState(groups.length);
    const { waiting } = this.#rows;
    this.#pill.hidden = !waiting;
    if (waiting) {
      this.#pill.replaceChildren(icon(icons.up), this.t("fresh", { n: waiting }));
    }
    this.#more.hidden = !list?.hasMore;
    if (this.#more.hasAttribute("data-seen")) this.#further();
    if (visible && this.#view === "active") this.#see();
  }

  #renderHead(): void {
    const { inbox } = this;
    const active = this.#view === "active";
    const counts = inbox?.counts;
    const { actions } = this.#rowView();
    say(this.#heading, this.t(active ? "title" : "archive"));
    const { back, readAll, archive, close } = this.#tools;
    back.hidden = active;
    readAll.hidden = !active || !actions.length;
    archive.hidden = !active;
    close.hidden = this.#panel.hasAttribute("popover") || this.mode === "page";
    const of = this.#category === undefined ? counts : counts?.categories[this.#category];
    readAll.disabled = !of?.unread;
    const tabs: Tab[] = active
      ? [{ id: "*", text: this.t("all"), count: counts?.unread ?? 0 }]
      : (["archived", "snoozed"] as const).map((id) => ({ id, text: this.t(`${id}Tab`), count: 0 }));
    if (active && this.tabs === "category") {
      for (const [name, { unread, title }] of Object.entries(counts?.categories ?? {})) {
        const words = name.charAt(0).toUpperCase() + name.slice(1).replace(/[_-]/g, " ");
        tabs.push({ id: `=${name}`, text: title ?? this.#titles?.[name] ?? words, count: unread });
      }
    }
    const chosen = !active ? this.#view : this.#category === undefined ? "*" : `=${this.#category}`;
    this.#tabs.show(this.t("title"), tabs, chosen, "list");
    const tabbed = !this.#tabs.element.hidden;
    set(this.#scroll, "role", tabbed ? "tabpanel" : "group");
    const offline = inbox?.state === "offline";
    if (offline && this.#note.hidden) this.#note.replaceChildren(icon(icons.cloud), this.t("offline"));
    this.#note.hidden = !offline;
  }

  #renderState(rows: number): void {
    const { inbox } = this;
    const list = inbox?.list(this.#filter());
    const out = !inbox || inbox.state === "signed_out" || inbox.state === "stopped" || list?.problem?.unauthorized;
    const failed = list?.problem && !list.rows.loaded;
    const key = rows ? "" : out ? "out" : failed ? "failed" : list?.rows.loaded ? `none ${this.#view}` : "loading";
    set(this.#scroll, "aria-busy", key === "loading" ? "true" : null);
    if (key === this.#stateKey) return;
    this.#stateKey = key;
    const again = () => h("button", { class: "button", onclick: () => this.#again() }, this.t("retry"));
    const shown =
      key === "" ? undefined
      : key === "out" ? state(icons.bell, this.t("signedOut"), this.t("signIn"), inbox && again())
      : key === "failed" ? state(icons.warning, this.t("failed"), undefined, again())
      : key === "loading" ? skeleton(this.t("loading"))
      : this.#view === "active" ? state(icons.check, this.t("emptyTitle"), this.t("empty"), undefined, "empty")
      : this.#view === "archived" ? state(icons.archive, this.t("noArchiveTitle"), this.t("noArchive"), undefined, "empty")
      : state(icons.clock, this.t("noSnoozedTitle"), this.t("noSnoozed"), undefined, "empty");
    this.#state.replaceChildren(...(shown ? [shown] : []));
  }

  #again(): void {
    const { inbox } = this;
    if (inbox?.state === "signed_out" || inbox?.state === "stopped") inbox.refresh();
    void inbox?.list(this.#filter()).load();
  }

  /** New counts: the badge, the event, and a word for who does not see the badge. */
  #count(counts: Counts | undefined): void {
    const before = this.#last;
    this.#last = counts;
    const n = counts?.unseen ?? 0;
    if (this.#badge) {
      say(this.#badge, n > 99 ? "99+" : String(n));
      this.#badge.hidden = !n;
      this.#badge.classList.toggle("pop", before !== undefined && n > before.unseen);
    }
    if (!counts) return;
    if (before && n > before.unseen) {
      this.#unread += n - before.unseen;
      // Once a burst, and not while somebody reads what else there is.
      clearTimeout(this.#timers.voice);
      this.#timers.voice = setTimeout(() => {
        say(this.#voice, this.t("arrived", { n: this.#unread }));
        this.#unread = 0;
      }, 1000);
    }
    this.emit("tidings-counts", counts);
  }

  /** Marks as seen what is shown. */
  #see(): void {
    const { inbox } = this;
    if (!inbox || !this.#rowView().actions.length) return;
    const unseen = this.#rows.rows.filter(({ group }) => !group.seen && !this.#asked.has(group.key + group.order));
    if (!unseen.length) return;
    for (const { group } of unseen) this.#asked.add(group.key + group.order);
    const counts = this.#category === undefined ? inbox.counts : inbox.counts?.categories[this.#category];
    const all = this.#rows.rows.filter(({ group }) => !group.seen).length >= (counts?.unseen ?? Infinity);
    const newest = unseen.reduce((at, { group }) => (group.newest_at > at ? group.newest_at : at), "");
    const marks: Target[] = all ? [{ up_to: newest, ...this.#of() }] : unseen.map(({ group }) => ({ group: group.key }));
    // What failed is marked when it is next shown; nobody asked for it, so that nobody is told.
    for (const target of marks) inbox.mark("seen", target).catch(() => {});
  }

  async #mark(name: Parameters<Inbox["mark"]>[0], target: Target): Promise<boolean> {
    try {
      await this.inbox?.mark(name, target);
      return true;
    } catch {
      this.#say(this.t("notDone"));
      return false;
    }
  }

  async #act(action: Action, row: Row, from: HTMLElement): Promise<void> {
    const { group } = row;
    const target = { group: group.key };
    const events = group.items.map(({ event }) => event);
    set(row.element, "data-open", null);
    if (action === "read") await this.#mark(group.read ? "unread" : "read", target);
    else if (action === "archive") {
      if (await this.#mark("archive", target)) this.#say(this.t("archived"), () => this.#undo("unarchive", events));
    } else if (action !== "snooze") await this.#mark(action, target);
    else {
      const now = Date.now();
      const clock = (at: Date) => new Intl.DateTimeFormat(this.locale, { hour: "numeric", minute: "2-digit" }).format(at);
      const snooze = async (when: Target) => {
        if (!(await this.#mark("snooze", { ...target, ...when }))) return;
        const time = soon(when.until ?? new Date(Date.now() + 3_600_000).toISOString(), now, this.locale);
        this.#say(this.t("snoozedNow", { time }), () => this.#undo("unsnooze", events));
      };
      const [tomorrow, monday] = [morning(now, "tomorrow"), morning(now, "monday")];
      const at = (day: Date) => snooze({ until: day.toISOString() });
      this.#menu.show(from, this.t("snooze"), [
        { text: this.t("hour"), run: () => void snooze({ for: "1h" }) },
        { text: this.t("tomorrow"), hint: clock(tomorrow), run: () => void at(tomorrow) },
        { text: this.t("monday"), hint: clock(monday), run: () => void at(monday) },
      ], (menu, button) => this.#place.menu(menu, button));
    }
  }

  #undo(name: "unarchive" | "unsnooze", events: string[]): void {
    void Promise.all(events.map((event) => this.#mark(name, { event })));
  }

  /** A word at the foot of the panel, with a way back. */
  #say(text: string, undo?: () => void): void {
    const gone = () => {
      this.#toast.hidden = true;
    };
    const back = undo && h("button", { onclick: () => (gone(), undo(), this.#rows.move(0)) }, this.t("undo"));
    this.#toast.replaceChildren(h("span", {}, text), ...(back ? [back] : []));
    this.#toast.hidden = false;
    say(this.#voice, text);
    clearTimeout(this.#timers.toast);
    this.#timers.toast = setTimeout(gone, TOAST_MS);
  }

  #open(row: Row, item: Item, event: MouseEvent): void {
    if (event.type === "auxclick" && event.button !== 1) return;
    if (!row.group.read && this.#rowView().actions.length) {
      void this.#mark("read", row.group.items.length > 1 && item !== row.item ? { event: item.event } : { group: row.group.key });
    }
    const plain = event.type === "click" && !(event.ctrlKey || event.metaKey || event.shiftKey);
    if (plain && !this.emit("tidings-open", item, true)) event.preventDefault();
  }

  #key(event: KeyboardEvent): void {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Escape" && this.#shown) this.hide();
    else if (key === "ArrowDown" || key === "ArrowUp") this.#rows.move(key === "ArrowDown" ? 1 : -1);
    else if (key === "Home" && this.#rows.focused) this.#rows.move(-Infinity);
    else if (key === "End" && this.#rows.focused) this.#rows.move(Infinity);
    else {
      const row = this.#rows.focused;
      const button = row?.element.querySelector<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
      if (!button) return;
      button.click();
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
