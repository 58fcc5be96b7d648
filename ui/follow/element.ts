import type { GetToken } from "../core/tokens.js";
import { Topics } from "../core/topics.js";
import { TidingsElement } from "../element/element.js";
import { h, say, set, sheet } from "../element/h.js";
import en, { type Key } from "../locales/follow/en.js";
import css from "./follow.css";

let style: CSSStyleSheet | undefined;

/** Buttons of one page and one source of tokens ask once. */
const shared = new Map<unknown, { topics: Topics; users: number }>();

/** `<tidings-follow topic="artist/42">`: follows a topic, or no longer. */
export class TidingsFollow extends TidingsElement<Key> {
  static override observedAttributes = [...TidingsElement.observedAttributes, "topic"];

  protected readonly section = "follow";
  protected readonly english = en;
  #key: unknown;
  #topics: Topics | undefined;
  #unsubscribe: (() => void) | undefined;
  #button!: HTMLButtonElement;
  #word!: HTMLElement;
  #words!: Record<"follow" | "following" | "unfollow", HTMLElement>;

  get #topic(): string {
    return this.getAttribute("topic") ?? "";
  }

  /** Whether the topic is followed; undefined as long as nobody knows. */
  get following(): boolean | undefined {
    return this.#topics?.follows(this.#topic);
  }

  /** Asks the host for a token again: after a sign-in, or when a token was refused. */
  refresh(): void {
    this.#topics?.refresh().catch(() => {});
  }

  protected styles(): CSSStyleSheet[] {
    return [(style ??= sheet(css))];
  }

  protected build(): void {
    const word = (name: Key) => h("span", { class: name });
    this.#words = { follow: word("follow"), following: word("following"), unfollow: word("unfollow") };
    this.#button = h("button", {
      class: "button", part: "button", onclick: () => void this.#toggle(),
      // Right after the click the word says what is now, not what another click would do.
      onpointerleave: () => this.#button.classList.remove("fresh"),
    }, ...Object.values(this.#words));
    this.#word = h("span", { class: "word", role: "status", hidden: true });
    this.root.append(this.#button, this.#word);
  }

  protected open(server: string, getToken: GetToken): void {
    this.#key = this.getToken ?? `${server} ${this.getAttribute("token-url")}`;
    const known = shared.get(this.#key) ?? { topics: new Topics({ server, getToken }), users: 0 };
    known.users += 1;
    shared.set(this.#key, known);
    this.#topics = known.topics;
    this.#unsubscribe = known.topics.subscribe(() => this.render());
    known.topics.load().catch(() => {});
    this.render();
  }

  protected close(): void {
    const known = shared.get(this.#key);
    if (known && --known.users === 0) {
      known.topics.close();
      shared.delete(this.#key);
    }
    this.#unsubscribe?.();
    this.#topics = undefined;
    this.render();
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (name === "topic") this.root && this.render();
    else super.attributeChangedCallback(name, old, value);
  }

  protected render(): void {
    const { following = false } = this;
    for (const [name, word] of Object.entries(this.#words)) say(word, this.t(name as Key));
    set(this.#button, "aria-pressed", String(following));
    set(this.#button, "disabled", !this.#topics || !this.#topic);
  }

  async #toggle(): Promise<void> {
    const topics = this.#topics;
    if (!topics) return;
    const topic = this.#topic;
    this.#word.hidden = true;
    try {
      // Whoever clicks before the answer wants to follow, or does so already: then nothing changes.
      const following = !topics.follows(topic);
      this.#button.classList.toggle("fresh", following);
      await topics.set(topic, following);
      this.emit("tidings-follow", { topic, following });
    } catch {
      this.#word.hidden = false;
      say(this.#word, this.t("failed"));
    }
  }
}
