import { h, icon, say, set, sheet } from "../element/h.js";
import type { Group } from "../core/types.js";
import { Row, type RowView } from "./row.js";

/** The rows of a list on the screen: they move only when nobody is about to point at one. */
export class RowList {
  readonly element = h("ul", { role: "list" });
  readonly rows: Row[] = [];
  /** How many rows wait above the list. */
  waiting = 0;
  #places = new Map<string, string>();
  #top = "";
  #current: Row | undefined;

  constructor(readonly view: () => RowView) {
    this.element.addEventListener("focusin", ({ target }) => {
      const row = this.rows.find(({ element }) => element.contains(target as Node));
      if (row) this.#select(row);
    });
  }

  /**
   * Shows the groups; while `held`, what is newer than all that is shown waits. True if the row that had the focus is
   * gone, and no other could take it.
   */
  show(groups: Group[], held: boolean, fresh: (group: Group) => boolean): boolean {
    const first = !this.rows.length;
    if (!held || first) {
      this.#places = new Map(groups.map(({ key, order }) => [key, order]));
      this.#top = groups[0]?.order ?? "";
    }
    const place = ({ key, order }: Group) => this.#places.get(key) ?? order;
    const shown = groups.filter((group) => place(group) <= this.#top);
    this.waiting = groups.length - shown.length;
    shown.sort((a, b) => (place(a) < place(b) ? 1 : -1));

    const view = this.view();
    const old = [...this.rows];
    const next = shown.map((group) => {
      // A row that was read has another key, and is the same row to who looks at it.
      const at = Math.max(
        old.findIndex((row) => row.group.key === group.key),
        old.findIndex((row) => row.item.event === group.items[0]?.event),
      );
      const [row = new Row(this.view)] = at < 0 ? [] : old.splice(at, 1);
      if (at < 0 && !first) row.element.classList.add("in");
      row.fresh ||= fresh(group);
      row.show(group, view);
      return row;
    });
    const lost = old.find((row) => row === this.#current);
    const focused = lost?.element.matches(":focus-within");
    const index = this.rows.indexOf(lost!);
    for (const row of old) row.element.remove();
    next.forEach((row, at) => {
      if (this.element.children[at] !== row.element) this.element.insertBefore(row.element, this.element.children[at] ?? null);
    });
    this.rows.splice(0, this.rows.length, ...next);
    if (lost || !this.#current) {
      this.#current = undefined;
      const near = next[Math.min(Math.max(index, 0), next.length - 1)];
      if (near) this.#select(near);
      if (focused) near?.link.focus();
      return !!focused && !near;
    }
    return false;
  }

  clear(): void {
    this.rows.splice(0);
    this.element.replaceChildren();
    this.#current = undefined;
  }

  /** Moves the focus by some rows; to the current one if it is elsewhere. */
  move(by: number): void {
    const at = this.rows.findIndex(({ element }) => element.matches(":focus-within"));
    const to = at < 0 ? Math.max(0, this.rows.indexOf(this.#current!)) : at + by;
    this.rows[Math.min(Math.max(to, 0), this.rows.length - 1)]?.link.focus();
  }

  get focused(): Row | undefined {
    return this.rows.find(({ element }) => element.matches(":focus-within"));
  }

  #select(row: Row): void {
    if (this.#current && this.#current !== row) this.#current.current = false;
    this.#current = row;
    row.current = true;
  }
}

/** Where a panel and its menus are: a rule of the element's own sheet, as inline styles are not allowed. */
export class Place {
  readonly sheet = sheet("");
  #rules = ["", ""];

  #write(at: number, rule: string): void {
    this.#rules[at] = rule;
    this.sheet.replaceSync(this.#rules.join(""));
  }

  /** Puts the panel under its bell, or above it where there is more room, within the window. */
  panel(panel: HTMLElement, bell: HTMLElement): void {
    const { left, right, top, bottom } = bell.getBoundingClientRect();
    const { innerWidth, innerHeight } = window;
    const width = Math.min(420, innerWidth - 16);
    const below = innerHeight - bottom - 16;
    const above = top - 16;
    const up = below < 360 && above > below;
    const toLeft = (left + right) / 2 > innerWidth / 2;
    const x = Math.min(Math.max(8, toLeft ? right - width : left), innerWidth - width - 8);
    const y = up ? innerHeight - top + 8 : Math.max(8, bottom + 8);
    panel.classList.toggle("above", up);
    // Whole pixels of the screen: lines and letters are sharp.
    const whole = (length: number) => Math.round(length * devicePixelRatio) / devicePixelRatio;
    this.#write(0, `.panel{--x:${whole(x)}px;--y:${whole(y)}px;--w:${width}px;--h:${Math.max(200, Math.min(680, up ? above : below))}px}`);
  }

  menu(menu: HTMLElement, from: HTMLElement): void {
    const button = from.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = menu;
    const rtl = getComputedStyle(menu).direction === "rtl";
    const x = Math.min(Math.max(8, rtl ? button.left : button.right - width), window.innerWidth - width - 8);
    const y = button.bottom + height + 12 > window.innerHeight ? button.top - height - 4 : button.bottom + 4;
    this.#write(1, `.menu{--menu-x:${x}px;--menu-y:${Math.max(8, y)}px}`);
  }
}

/** What a list shows in place of rows. */
export function state(path: string, title: string, text?: string, button?: HTMLElement): HTMLElement {
  return h("div", { class: "state" },
    h("span", { class: "disc" }, icon(path)), h("strong", {}, title), text ? h("p", {}, text) : undefined, button);
}

/** Grey rows, as long as nothing is known. */
export function skeleton(text: string): HTMLElement {
  const rows = Array.from({ length: 5 }, () => h("div", { class: "skeleton", "aria-hidden": "true" }, h("i"), h("div", {}, h("b"), h("b"))));
  return h("div", {}, h("span", { class: "sr" }, text), ...rows);
}

export interface Tab {
  id: string;
  text: string;
  count: number;
}

/** Tabs: arrows move, and what they reach is shown. */
export class Tabs {
  readonly element = h("div", { class: "tabs", role: "tablist" });
  #buttons = new Map<string, HTMLButtonElement>();

  constructor(readonly choose: (id: string) => void) {
    this.element.addEventListener("keydown", (event) => {
      const all = [...this.#buttons.values()];
      const at = all.findIndex((button) => button.matches(":focus"));
      const forward = getComputedStyle(this.element).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
      const step = event.key === forward ? 1 : event.key === "ArrowLeft" || event.key === "ArrowRight" ? -1 : 0;
      const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : step ? (at + step + all.length) % all.length : -1;
      if (at < 0 || to < 0) return;
      event.preventDefault();
      event.stopPropagation();
      all[to]!.focus();
      all[to]!.click();
    });
  }

  show(name: string, tabs: Tab[], chosen: string): void {
    this.element.hidden = tabs.length < 2;
    set(this.element, "aria-label", name);
    for (const [id, button] of this.#buttons) {
      if (tabs.some((tab) => tab.id === id)) continue;
      button.remove();
      this.#buttons.delete(id);
    }
    tabs.forEach(({ id, text, count }, at) => {
      let button = this.#buttons.get(id);
      if (!button) {
        button = h("button", { class: "tab", part: "tab", role: "tab", id: `tab-${at}`, "aria-controls": "list", onclick: () => this.choose(id) },
          h("bdi"), h("span"));
        this.#buttons.set(id, button);
      }
      const [label, badge] = button.children as unknown as [HTMLElement, HTMLElement];
      say(label, text);
      say(badge, count ? String(count) : "");
      badge.hidden = !count;
      set(button, "aria-selected", String(id === chosen));
      set(button, "tabindex", id === chosen ? "0" : "-1");
      if (this.element.children[at] !== button) this.element.insertBefore(button, this.element.children[at] ?? null);
    });
  }
}
