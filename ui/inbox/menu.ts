import { h } from "../element/h.js";

export interface Choice {
  text: string;
  hint?: string;
  run(): void;
}

/** A menu beside a button: arrows move, Enter chooses, Escape and a click elsewhere leave it. */
export class Menu {
  readonly element = h("div", { class: "menu", role: "menu", popover: "manual" });
  #from: HTMLElement | undefined;

  constructor() {
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !this.element.contains(relatedTarget as Node)) this.close();
    });
  }

  get open(): boolean {
    return this.#from !== undefined;
  }

  show(from: HTMLElement, name: string, choices: Choice[], place: (menu: HTMLElement, from: HTMLElement) => void): void {
    this.#from = from;
    from.setAttribute("aria-expanded", "true");
    this.element.setAttribute("aria-label", name);
    this.element.replaceChildren(
      ...choices.map(({ text, hint, run }) =>
        h("button", {
          role: "menuitem", tabindex: "-1",
          onclick: () => {
            this.close(true);
            run();
          },
        }, h("span", {}, text), hint ? h("span", { class: "hint" }, hint) : undefined)),
    );
    this.element.showPopover?.();
    place(this.element, from);
    (this.element.firstElementChild as HTMLElement).focus();
  }

  close(back = false): void {
    const from = this.#from;
    if (!from) return;
    this.#from = undefined;
    from.removeAttribute("aria-expanded");
    this.element.hidePopover?.();
    if (back) from.focus();
  }

  #key(event: KeyboardEvent): void {
    const all = [...this.element.children] as HTMLElement[];
    const at = all.indexOf((this.element.getRootNode() as ShadowRoot).activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) all[(to + all.length) % all.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") this.close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
