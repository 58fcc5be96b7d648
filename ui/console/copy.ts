import { say } from "./dom.js";

/** Copies a text; on plain http the clipboard of the browser is not there. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    const before = document.activeElement as HTMLElement | null;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    before?.focus();
    if (!done) return say("The browser does not let this page copy.");
  }
  say("Copied");
}

/** `<button data-copy="…">`: copies the text, or the link of the page if it is empty. */
export function copies(): void {
  document.addEventListener("click", ({ target }) => {
    const button = (target as Element).closest<HTMLElement>("[data-copy]");
    if (button) void copy(button.dataset.copy || location.href);
  });
}
