import { h, memory, say } from "./dom.js";
import { times } from "./zone.js";

const EVERY_MS = 5000;

/** Reads this page again as the browser reads pages: no script of it runs, and no text is made into nodes here. */
function read(): Promise<Document | undefined> {
  return new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open("GET", location.href);
    request.responseType = "document";
    request.timeout = 4 * EVERY_MS;
    request.onload = () => done(request.status === 200 ? (request.responseXML ?? undefined) : undefined);
    request.onerror = request.ontimeout = () => done(undefined);
    request.send();
  });
}

const key = (row: Element) => row.querySelector("a")?.getAttribute("href") ?? row.textContent;
const rowsOf = (list: Element | null) => [...(list?.querySelectorAll("tbody > tr, :scope > li") ?? [])];

/**
 * Numbers come anew every five seconds: elements with `data-live="NAME"` are replaced by those of the same name, and
 * above a list with `data-list` stands how many rows are new. A row never moves. A hidden tab reads nothing.
 * Returns what reads at once.
 */
export function live(): () => Promise<void> {
  const button = document.querySelector<HTMLButtonElement>(".live");
  const nothing = () => Promise.resolve();
  if (!button || !document.querySelector("[data-live], [data-list]")) return nothing;
  const pill = document.body.appendChild(h("div", { role: "status" }));
  let isPaused = memory.get("paused") === "yes";
  let isReading = false;

  const show = (word: string) => {
    button.textContent = word;
    button.setAttribute("aria-pressed", String(isPaused));
  };
  const refresh = async () => {
    if (isReading) return;
    isReading = true;
    const page = await read();
    isReading = false;
    if (page && !page.querySelector("#main")) {
      isPaused = true;
      show("paused");
      return say("You are signed out. Load the page again to sign in.");
    }
    if (!isPaused) show(page ? "live" : "no answer");
    if (page) change(page, pill);
  };

  show(isPaused ? "paused" : "live");
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    memory.set("paused", isPaused ? "yes" : "");
    show(isPaused ? "paused" : "live");
    if (!isPaused) void refresh();
  });
  const tick = () => {
    if (!isPaused && !document.hidden) void refresh();
  };
  setInterval(tick, EVERY_MS);
  document.addEventListener("visibilitychange", tick);
  return refresh;
}

function change(page: Document, pill: HTMLElement): void {
  // A server that doesn't know the zone writes UTC.
  if (page.body.dataset.zone !== document.body.dataset.zone) times(page);
  for (const old of document.querySelectorAll<HTMLElement>("[data-live]")) {
    const anew = page.querySelector<HTMLElement>(`[data-live="${CSS.escape(old.dataset.live!)}"]`);
    // What somebody is in stays as it is.
    if (!anew || old.contains(document.activeElement) || old.isEqualNode(anew)) continue;
    const open = [...old.querySelectorAll("details")].map(({ open }) => open);
    anew.querySelectorAll("details").forEach((details, index) => (details.open = open[index] ?? false));
    old.replaceWith(document.adoptNode(anew));
  }
  const list = document.querySelector("[data-list]");
  if (!list || new URLSearchParams(location.search).has("cursor")) return;
  const known = new Set(rowsOf(list).map(key));
  const rows = rowsOf(page.querySelector("[data-list]"));
  const first = rows.findIndex((row) => known.has(key(row)));
  const count = first < 0 ? rows.length : first;
  const words = count ? `${count}${first < 0 && known.size ? "+" : ""} new` : "";
  if (pill.textContent !== words) pill.replaceChildren(...(words ? [h("a", { class: "new", href: location.href }, words)] : []));
}
