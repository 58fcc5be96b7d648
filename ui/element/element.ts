import type { GetToken } from "../core/tokens.js";
import { h, set, sheet } from "./h.js";
import { fill, load, pick, type Locale, type Text, type Texts } from "./texts.js";
import theme from "./theme.css";

// Where there is no document (a server that renders pages) the modules load all the same, and do nothing.
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;
const script = import.meta.url;
const home = /^(https?:.*)\/ui\/(?:[^/]+\/)?[^/]*$/.exec(script)?.[1];
const rtl = "ar fa he";

let themeSheet: CSSStyleSheet | undefined;

/**
 * What all elements have in common: `server`, `token-url` or `getToken`, `lang`, `theme`, a shadow root without inline
 * styles, and texts in the language of the page. The constructor does nothing, so that copies work.
 */
export abstract class TidingsElement<Key extends string = string> extends Base {
  static observedAttributes: string[] = ["server", "token-url", "lang", "theme"];

  protected root!: HTMLElement;
  #getToken: GetToken | undefined;
  #texts: Texts | undefined;
  #open = false;
  /** The tag of the texts that are shown. */
  #tag = "en";

  /** Which part of a locale's file is this element's. */
  protected abstract readonly section: keyof Locale;
  /** The texts that are built in. */
  protected abstract readonly english: Texts<Key>;
  /** Builds what is in `root`, once. */
  protected abstract build(): void;
  /** Shows what is known, in the texts of now. */
  protected abstract render(): void;
  /** Begins to work: the element is in a page, and has a server and a source of tokens. */
  protected abstract open(server: string, getToken: GetToken): void;
  /** Ends all work. */
  protected abstract close(): void;
  /** The style sheets beside the theme, made at the first element of a class. */
  protected abstract styles(): CSSStyleSheet[];

  /** A function that promises a token, in place of `token-url`. */
  get getToken(): GetToken | undefined {
    return this.#getToken;
  }
  set getToken(source: GetToken | undefined) {
    this.#getToken = source;
    this.restart();
  }

  /** Where the server is: what the attribute says, else where the script came from. */
  protected get home(): string {
    return this.getAttribute("server")?.replace(/\/+$/, "") || home || location.origin;
  }

  connectedCallback(): void {
    if (!this.root) {
      // A property that was set before the element was defined would hide the accessor of the class.
      if (Object.hasOwn(this, "getToken")) {
        const source = this.getToken;
        delete (this as { getToken?: GetToken }).getToken;
        this.#getToken = source;
      }
      themeSheet ??= sheet(theme);
      const shadow = this.shadowRoot ?? this.attachShadow({ mode: "open" });
      shadow.adoptedStyleSheets = [themeSheet, ...this.styles()];
      shadow.replaceChildren((this.root = h("div", { class: "root" })));
      this.build();
    }
    this.#language();
    this.render();
    queueMicrotask(() => this.#settle());
  }

  disconnectedCallback(): void {
    // An element that only moves is back before this runs.
    queueMicrotask(() => this.#settle());
  }

  attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (!this.root || old === value) return;
    if (name === "lang") this.#language();
    else if (name !== "theme") this.restart();
  }

  /** Begins anew where `server` or the source of tokens has changed. */
  protected restart(): void {
    if (!this.#open) {
      if (this.root) this.#settle();
      return;
    }
    this.close();
    this.#open = false;
    queueMicrotask(() => this.#settle());
  }

  #settle(): void {
    const source = this.#source();
    const wanted = this.isConnected && source !== undefined;
    if (wanted === this.#open) return;
    this.#open = wanted;
    if (wanted) this.open(this.home, source);
    else this.close();
  }

  #source(): GetToken | undefined {
    if (this.#getToken) return this.#getToken;
    const url = this.getAttribute("token-url");
    if (!url) return undefined;
    return async () => {
      const answer = await fetch(url, { credentials: "same-origin", cache: "no-store" });
      // Nobody is signed in: that is no failure.
      if (answer.status === 401 || answer.status === 403) return null;
      if (!answer.ok) throw answer.status;
      return ((await answer.json()) as { token?: string }).token;
    };
  }

  /** The language of texts and times: the element's, else that of what is around it. */
  protected get language(): string {
    const around = this.closest("[lang]")?.getAttribute("lang");
    const lang = around || document.documentElement.lang || navigator.language;
    try {
      return Intl.getCanonicalLocales(lang)[0]!;
    } catch {
      return "en";
    }
  }

  /** The language of the texts; that of times is the same with its region. */
  protected get locale(): string {
    const { language } = this;
    return pick(language) === this.#tag ? language : this.#tag;
  }

  #language(): void {
    const tag = pick(this.language);
    const show = (shown = "en", texts?: Texts) => {
      this.#tag = shown;
      this.#texts = texts;
      set(this.root, "lang", this.locale);
      set(this.root, "dir", rtl.includes(shown) ? "rtl" : "ltr");
      this.relabel();
    };
    if (tag === "en") return show();
    void load(tag, script, this.home).then((locale) => {
      if (pick(this.language) === tag) show(locale && tag, locale?.[this.section]);
    });
    if (!this.root.hasAttribute("dir")) show();
  }

  /** Writes the texts that `render` doesn't. */
  protected relabel(): void {
    this.render();
  }

  /** A text of this element. */
  protected t(key: Key, values?: Record<string, string | number>): string {
    const own = this.#texts?.[key];
    const text: Text = own ?? this.english[key];
    return fill(text, own ? this.locale : "en", values);
  }

  /** Dispatches an event that leaves the shadow root; false if it was prevented. */
  protected emit(name: string, detail: unknown, cancelable = false): boolean {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable }));
  }
}

/** Defines an element, unless there is no document or the page has one of that name. */
export function define(name: string, element: CustomElementConstructor): void {
  if (typeof customElements !== "undefined" && !customElements.get(name)) customElements.define(name, element);
}
