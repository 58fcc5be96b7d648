import { Inbox } from "../core/inbox.js";
import type { GetToken } from "../core/tokens.js";
import type { Counts } from "../core/types.js";
import { TidingsElement } from "../element/element.js";
import { h, icon, say, set, sheet } from "../element/h.js";
import en, { type Key } from "../locales/inbox/en.js";
import ground from "../element/ground.css";
import { lay } from "../element/ground.js";
import css from "./bell.css";
import { icons } from "./icons.js";
import type { Panel } from "./panel.js";

let style: CSSStyleSheet | undefined;

/**
 * `<tidings-inbox>`: a bell with its panel, or with `mode="page"` the list alone. The panel is a module of its own,
 * which comes when the page has nothing else to do, or somebody nears the bell.
 */
export class TidingsInbox extends TidingsElement<Key> {
  static override observedAttributes = [...TidingsElement.observedAttributes, "mode", "tabs"];

  protected readonly section = "inbox";
  protected readonly english = en;
  /** The core, for hosts that want more than the element shows; undefined without a source of tokens. */
  inbox: Inbox | undefined;

  #panel: Panel | undefined;
  #coming: Promise<Panel | undefined> | undefined;
  #wanted = false;
  #bell: HTMLButtonElement | undefined;
  #badge: HTMLElement | undefined;
  #voice!: HTMLElement;
  #last: Counts | undefined;
  #arrived = 0;
  #end: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  get #page(): boolean {
    return this.getAttribute("mode") === "page";
  }

  /** Asks the host for a token again: after a sign-in, or when a token was refused. */
  refresh(): void {
    this.inbox?.refresh();
    this.render();
  }

  /** Forgets everything of this person. `refresh()` begins with the next. */
  logout(): void {
    this.hide();
    this.inbox?.logout();
  }

  /** Opens the panel. */
  show(): void {
    this.#wanted = true;
    void this.#load().then((panel) => {
      if (!panel) this.#wanted = false;
      else if (this.#wanted && this.#bell) panel.show(this.#bell);
    });
  }

  /** Closes the panel. */
  hide(): void {
    this.#wanted = false;
    this.#panel?.hide();
  }

  protected styles(): CSSStyleSheet[] {
    return [(style ??= sheet(ground + css))];
  }

  protected build(): void {
    this.#voice = h("div", { class: "sr", role: "status", "aria-live": "polite" });
    this.#bell = this.#badge = undefined;
    if (!this.#page) {
      const near = () => void this.#load().then((panel) => panel?.prepare());
      this.#badge = h("span", { class: "badge", part: "badge", "aria-hidden": "true", hidden: true });
      this.#bell = h("button", {
        class: "bell", part: "bell", "aria-haspopup": "dialog", "aria-expanded": "false",
        onclick: () => (this.#wanted ? this.hide() : this.show()), onpointerenter: near, onfocus: near,
      }, icon(icons.bell), this.#badge);
    }
    this.root.replaceChildren(...(this.#bell ? [this.#bell] : []), this.#voice);
    lay(this.root, this.#page);
  }

  #load(): Promise<Panel | undefined> {
    return (this.#coming ??= import("./panel.js").then(
      ({ Panel }) =>
        (this.#panel ??= new Panel({
          element: this,
          root: this.root,
          inbox: () => this.inbox,
          locale: () => this.locale,
          t: (key, values) => this.t(key, values),
          voice: this.#voice,
          open: (item) => this.emit("tidings-open", item, true),
          toggled: (shown) => {
            this.#wanted = shown;
            if (this.#bell) set(this.#bell, "aria-expanded", String(shown));
          },
        })),
      () => (this.#coming = undefined),
    ));
  }

  protected open(server: string, getToken: GetToken): void {
    const inbox = (this.inbox = new Inbox({ server, getToken }));
    this.#end = new AbortController();
    this.#end.signal.addEventListener("abort", inbox.subscribe(() => this.render()));
    inbox.start();
    if (this.#page) void this.#load().then((panel) => panel?.prepare());
    else (globalThis.requestIdleCallback ?? setTimeout)(() => this.isConnected && this.#load());
    this.render();
  }

  protected close(): void {
    this.hide();
    this.#end?.abort();
    clearTimeout(this.#timer);
    this.inbox?.logout();
    this.inbox = undefined;
    this.#panel?.clear();
    this.render();
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (name !== "mode" && name !== "tabs") return super.attributeChangedCallback(name, old, value);
    if (!this.root || old === value) return;
    if (name === "mode") {
      this.hide();
      this.#panel?.end();
      this.#panel = this.#coming = this.#last = undefined;
      this.build();
      if (this.#page) void this.#load().then((panel) => panel?.prepare());
    }
    this.relabel();
  }

  protected override relabel(): void {
    this.#panel?.relabel();
    this.render();
  }

  protected render(): void {
    const counts = this.inbox?.counts;
    if (counts !== this.#last) this.#count(counts);
    if (this.#bell) {
      const n = counts?.unseen ?? 0;
      set(this.#bell, "aria-label", n ? this.t("bell", { n }) : this.t("title"));
    }
    this.#panel?.render();
  }

  /** New counts: the badge, the event, and a word for who does not see the badge. */
  #count(counts: Counts | undefined): void {
    const before = this.#last;
    this.#last = counts;
    const n = counts?.unseen ?? 0;
    const more = before ? n - before.unseen : 0;
    if (this.#badge) {
      say(this.#badge, n > 99 ? "99+" : String(n));
      this.#badge.hidden = !n;
      this.#badge.classList.toggle("pop", more > 0);
    }
    if (!counts) return;
    if (more > 0) {
      this.#arrived += more;
      // Once a burst.
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => {
        say(this.#voice, this.t("arrived", { n: this.#arrived }));
        this.#arrived = 0;
      }, 1000);
    }
    this.emit("tidings-counts", counts);
  }
}
