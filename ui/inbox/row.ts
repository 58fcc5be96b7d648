import { h, icon, say, set } from "../element/h.js";
import type { Group, Item, Thing } from "../core/types.js";
import type { Key } from "../locales/inbox/en.js";
import { icons } from "./icons.js";
import { ago, full, soon } from "./time.js";

export interface RowView {
  lang: string;
  now: number;
  /** True where rows of several tenants may come, and say whose they are. */
  tenants: boolean;
  /** What may be done with rows; none where the token only reads. */
  actions: Action[];
  t(key: Key, values?: Record<string, string | number>): string;
  /** Somebody acts on the row. */
  act(action: Action, row: Row, from: HTMLElement): void;
  /** Somebody opens an item: the newest of the row, or with `single` one of them. */
  open(row: Row, item: Item, event: MouseEvent, single: boolean): void;
}

export type Action = "read" | "archive" | "unarchive" | "unsnooze" | "snooze";

const keys: Record<Action, string> = { read: "r", archive: "e", unarchive: "e", unsnooze: "e", snooze: "s" };

/** One row of the list: who, what, when, and what can be done with it. */
export class Row {
  readonly element = h("li", { class: "row", part: "item", role: "listitem" });
  link!: HTMLElement;
  group!: Group;
  /** It was unseen when it was first shown, and stays marked until the panel is closed. */
  fresh = false;
  #shown = "";
  #how = "";
  #time: HTMLTimeElement | undefined;
  #current = false;
  #expanded = false;

  constructor(readonly view: () => RowView) {}

  get item(): Item {
    return this.group.items[0]!;
  }

  show(group: Group, view = this.view()): void {
    set(this.element, "data-fresh", this.fresh);
    const how = `${view.actions} ${view.lang} ${this.#expanded}`;
    if (group === this.group && how === this.#how) return;
    this.group = group;
    this.#how = how;
    const shown = JSON.stringify(group) + how;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const inside = this.element.contains((this.element.getRootNode() as ShadowRoot).activeElement);
    const action = (this.element.getRootNode() as ShadowRoot).activeElement?.getAttribute("data-action");
    this.#build();
    if (inside) (this.element.querySelector<HTMLElement>(`[data-action="${action}"]`) ?? this.link).focus();
  }

  /** The row that the arrow keys have reached: only it is in the order of Tab. */
  set current(current: boolean) {
    this.#current = current;
    for (const part of this.element.querySelectorAll("a, button")) set(part, "tabindex", current ? "0" : "-1");
  }

  /** Writes the time anew. */
  tick(): void {
    const { lang, now } = this.view();
    if (this.#time) say(this.#time, ago(this.group.newest_at, now, lang));
  }

  #build(): void {
    const { group, item, element } = this;
    const { actions, act, lang, now, open, t, tenants } = this.view();
    set(element, "data-unread", !group.read);
    const names = [...group.items.map(({ actor }) => actor?.title), item.target?.title];
    const { title } = item.object;
    const words = group.text || item.object.title || item.object.id;
    const text = h("span", { class: "text", part: "text", lang: group.lang, dir: direction(group) }, ...emphasized(words, title, names));
    const meta = h("span", { class: "meta" });
    this.#time = h("time", { part: "time", datetime: group.newest_at, title: full(group.newest_at, lang) });
    meta.append(this.#time);
    const tenant = tenants && (group.tenant_name ?? group.tenant);
    if (tenant) meta.append(h("bdi", { class: "title tenant", part: "tenant" }, tenant));
    if (title && !words.includes(title)) meta.append(h("bdi", { class: "title", part: "title" }, title));
    if (group.snoozed_until) {
      meta.append(h("span", { class: "until" }, icon(icons.clock), t("snoozed", { time: soon(group.snoozed_until, now, lang) })));
    }
    const body = group.count === 1 && item.body ? h("span", { class: "body", part: "body", dir: "auto" }, item.body) : undefined;
    const unread = group.read ? undefined : h("span", { class: "sr" }, `${t("isUnread")}. `);
    const url = link(item);
    this.link = h(url ? "a" : "button", { class: "link", href: url }, unread, text, body, meta);
    for (const kind of ["click", "auxclick"]) {
      this.link.addEventListener(kind, (event) => open(this, item, event as MouseEvent, false));
    }

    const buttons = actions.map((action) => {
      const [name, path] = label(action, group);
      const button = h("button", {
        part: "action", class: "act", "data-action": action, "aria-label": t(name), title: t(name),
        "aria-keyshortcuts": keys[action], onclick: () => act(action, this, button),
        ...(action === "snooze" && { "aria-haspopup": "menu" }),
      }, icon(icons[path]));
      return button;
    });
    const more = h("button", {
      class: "act dots", "data-action": "dots", "aria-label": t("actions"),
      onclick: () => set(element, "data-open", !element.hasAttribute("data-open")),
    }, icon(icons.dots));
    const acts = buttons.length > 0 && h("div", { class: "acts" }, ...buttons);
    element.classList.toggle("acting", !!acts);
    element.replaceChildren(
      face(group), h("div", { class: "main" }, h("div", { class: "lines" }, this.link, acts), this.#others()), thumb(group),
      ...(acts ? [more] : []),
    );
    this.current = this.#current;
    this.tick();
  }

  /** A group told in one sentence hides who else there was: it opens in its place. */
  #others(): HTMLElement | undefined {
    const { group } = this;
    if (group.count < 2 || group.items.length < 2) return undefined;
    const { lang, now, open, t } = this.view();
    const toggle = h("button", {
      class: "others", "data-action": "others", "aria-expanded": String(this.#expanded),
      onclick: () => {
        this.#expanded = !this.#expanded;
        this.show(group);
      },
    }, t("items", { n: group.count }), icon(icons.down));
    if (!this.#expanded) return toggle;
    const items = group.items.map((item) => {
      const url = link(item);
      const inner = [
        h("span", { dir: direction(item), lang: item.lang }, item.text || item.object.title || item.object.id),
        item.body && h("span", { class: "body", dir: "auto" }, item.body),
        h("time", { datetime: item.t, title: full(item.t, lang) }, ago(item.t, now, lang)),
      ];
      const way = h(url ? "a" : "button", { href: url, class: "sub" }, ...inner);
      way.addEventListener("click", (event) => open(this, item, event as MouseEvent, true));
      return h("li", {}, way);
    });
    return h("div", {}, toggle, h("ul", { role: "list" }, ...items));
  }
}

/**
 * A sentence runs as its language does: "auto" would take the direction of a name that stands first, isolated or not.
 * What has no sentence shows a title of any language.
 */
function direction({ text, lang }: Group | Item): "ltr" | "rtl" | "auto" {
  if (!text || !lang) return "auto";
  return /^(ar|arc|ckb|dv|fa|he|ks|nqo|ps|sd|syr|ug|ur|yi)\b/.test(lang) ? "rtl" : "ltr";
}

/** Where an item leads; what is no address of the web leads nowhere. */
function link({ object, target }: Item): string | undefined {
  const url = object.url || target?.url;
  if (!url) return undefined;
  try {
    return /^(https?|mailto):$/.test(new URL(url, location.href).protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

function label(action: Action, group: Group): [Key, keyof typeof icons] {
  if (action === "read") return group.read ? ["unread", "dot"] : ["read", "check"];
  if (action === "archive") return ["archiveRow", "archive"];
  return action === "snooze" ? ["snooze", "clock"] : ["unarchive", "inbox"];
}

/** The sentence, with the names in it set off. */
function emphasized(text: string, title: string | null | undefined, names: (string | null | undefined)[]): (Node | string)[] {
  const known = [...new Set([title, ...names])].filter((name): name is string => !!name && text.includes(name));
  if (!known.length) return [text];
  known.sort((a, b) => b.length - a.length);
  const escaped = known.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text
    .split(new RegExp(`(${escaped.join("|")})`))
    .map((part) => (known.includes(part) ? h("b", { part: part === title && "title" }, part) : part));
}

/** Who did it: one face, or two of several; without anybody, the thing itself. */
function face({ items }: Group): HTMLElement {
  const actors = new Map<string, Thing>();
  for (const { actor } of items) if (actor && !actors.has(actor.id)) actors.set(actor.id, actor);
  const [first, second] = actors.values();
  if (!first) {
    const { image } = items[0]!.object;
    const thing = h("span", { class: "face thing" }, icon(icons.bell));
    if (image) picture(thing, image);
    return h("div", { class: "faces", "aria-hidden": "true" }, thing);
  }
  return h("div", { class: second ? "faces two" : "faces", "aria-hidden": "true" }, second && person(second), person(first));
}

/** The picture of the thing, where somebody's face has the place before the words. */
function thumb({ items: [item] }: Group): HTMLElement | string {
  if (!item?.actor || !item.object.image) return "";
  const made = h("span", { class: "thumb", "aria-hidden": "true" });
  picture(made, item.object.image);
  return made;
}

/** The first letters of the first and the last name, as in mails: one in scripts without capitals, where two look like a word. */
function initialsOf(name: string): string {
  const letters = name.split(/\s+/u).flatMap((word) => /[\p{L}\p{N}]\p{M}*/u.exec(word)?.[0] ?? []);
  const [first = ""] = letters;
  const hasCase = first.toLowerCase() !== first.toUpperCase();
  return (letters.length > 1 && hasCase ? first + letters.at(-1) : first).toUpperCase();
}

function person({ id, title, image }: Thing): HTMLElement {
  let hash = 0;
  for (const char of id) hash = (hash * 31 + char.codePointAt(0)!) >>> 0;
  const made = h("span", { class: `face hue${hash % 6}` }, initialsOf(title || id));
  if (image) picture(made, image);
  return made;
}

/** Lays a picture over what is shown without it, once it has come. */
function picture(over: HTMLElement, src: string): void {
  const image = h("img", { src, alt: "", loading: "lazy", decoding: "async", draggable: "false" });
  image.addEventListener("error", () => image.remove());
  over.append(image);
}
