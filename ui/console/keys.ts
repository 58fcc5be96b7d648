import { copy } from "./copy.js";
import { h, memory, say } from "./dom.js";
import { turn } from "./zone.js";

const GO: Record<string, [string, string]> = {
  n: ["/", "Now"], p: ["/people", "People"], e: ["/events", "Events"], m: ["/messages", "Messages"],
  t: ["/types", "Types"], f: ["/figures", "Figures"], s: ["/system", "System"],
};
const SHEET: [string, string][] = [
  ["/", "Search"],
  ...Object.entries(GO).map(([letter, [, name]]): [string, string] => [`g ${letter}`, name]),
  ["j k", "Next row, the one before"], ["Enter", "Open it"], ["o", "Open it in a new tab"], ["x", "Mark it"],
  ["y", "Copy the link of this page, or of what is marked"], ["Z", "UTC, or your zone"], ["?", "This sheet"],
];

const isOff = () => memory.get("keys") === "off";
const rows = () => [...document.querySelectorAll<HTMLElement>("main tbody > tr, main .rows > li")].filter((row) => row.checkVisibility());
const current = () => document.querySelector<HTMLElement>(".here");

/** Moves to a row: its first link or field has the focus, so that Enter opens it. */
function step(by: number): void {
  const all = rows();
  const at = all.indexOf(current()!);
  const row = all[Math.max(0, Math.min(all.length - 1, at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by))];
  if (!row) return;
  current()?.classList.remove("here");
  row.classList.add("here");
  row.querySelector<HTMLElement>("a[href], button")?.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

const marked = () => rows().filter((row) => row.dataset.marked === "yes");

/** Marks a row, or takes its mark away. */
function mark(): void {
  const row = current();
  if (!row) return;
  if (row.dataset.marked) delete row.dataset.marked;
  else row.dataset.marked = "yes";
  say(`${marked().length} marked`);
}

/** The links of marked rows, a line each; without one the link of the page. */
function links(): string {
  const found = marked().flatMap((row) => row.querySelector<HTMLAnchorElement>("a[href]")?.href ?? []);
  return found.join("\n") || location.href;
}

let dialog: HTMLDialogElement | undefined;

function sheet(): void {
  if (!dialog) {
    const list = h("dl");
    for (const [letters, meaning] of SHEET) {
      const term = h("dt");
      letters.split(" ").forEach((letter, index) => term.append(...(index ? [" "] : []), h("kbd", {}, letter)));
      list.append(term, h("dd", {}, meaning));
    }
    const off = h("input", { type: "checkbox" });
    off.checked = isOff();
    off.addEventListener("change", () => memory.set("keys", off.checked ? "off" : ""));
    dialog = h("dialog", { "aria-labelledby": "keys" },
      h("h2", { id: "keys" }, "Keys"), list,
      h("p", {}, h("label", {}, off, " No keys but ?")),
      h("form", { method: "dialog", class: "actions" }, h("button", { class: "primary", autofocus: "" }, "Close")));
    document.body.append(dialog);
  }
  dialog.showModal();
}

/** Keys for those who live here; each is a link or a button as well. None works within a field. */
export function keys(): void {
  let goes = 0;
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const inField = target.closest("input:not([type=checkbox]), textarea, select, [contenteditable], dialog");
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || inField) return;
    const { key } = event;
    if (isOff() && key !== "?") return;
    const place = event.timeStamp - goes < 1500 && GO[key];
    goes = 0;
    if (place) location.assign(document.body.dataset.base + place[0]);
    else if (key === "g") goes = event.timeStamp;
    else if (key === "/") document.querySelector<HTMLInputElement>(".find input")?.focus();
    else if (key === "j") step(1);
    else if (key === "k") step(-1);
    else if (key === "x") mark();
    else if (key === "o") current()?.querySelector<HTMLAnchorElement>("a[href]")?.dispatchEvent(new MouseEvent("click", { ctrlKey: true, cancelable: true }));
    else if (key === "y") void copy(links());
    else if (key === "Z") turn();
    else if (key === "?") sheet();
    else return;
    event.preventDefault();
  });
}
