/** Makes an element of attributes and children; texts stay texts. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: Record<string, string> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

let said: HTMLElement | undefined;
let gone = 0;

/** Says a word at the foot of the window, for eyes and for screen readers, for a short time. */
export function say(text: string): void {
  said ??= document.body.appendChild(h("p", { role: "status" }));
  said.textContent = text;
  said.className = "said";
  clearTimeout(gone);
  gone = window.setTimeout(() => {
    said!.textContent = said!.className = "";
  }, 2500);
}

/** What this browser remembers for the console; nothing where storage is forbidden. */
export const memory = {
  get(name: string): string | null {
    try {
      return localStorage.getItem(`tidings-${name}`);
    } catch {
      return null;
    }
  },
  set(name: string, value: string): void {
    try {
      localStorage.setItem(`tidings-${name}`, value);
    } catch {
      // It lasts as long as the page.
    }
  },
};
