import { memory } from "./dom.js";

const page = () => document.body.dataset.zone!;
let wanted = page();

/** The zone that the viewer reads: the one of the device, or UTC after `Z`. */
function chosen(): string {
  return memory.get("zone") === "UTC" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

/** Hands the zone to the server with a cookie, and writes the times of this page in it. Returns true if they were in another. */
export function zone(): boolean {
  wanted = chosen();
  const path = document.body.dataset.base || "/";
  document.cookie = `tidings-zone=${wanted}; path=${path}; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
  if (wanted === page()) return false;
  times(document);
  document.querySelector(".zone")!.textContent = wanted;
  document.body.dataset.zone = wanted;
  return true;
}

/** Turns between UTC and the zone of the device. */
export function turn(): void {
  memory.set("zone", chosen() === "UTC" ? "" : "UTC");
  zone();
}

/** Writes all times within a node in the viewer's zone, in the forms that the server uses. */
export function times(within: ParentNode): void {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: wanted, hourCycle: "h23", year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
  });
  const of = (at: Date) => Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]));
  const today = of(new Date());
  for (const element of within.querySelectorAll("time")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(+at)) continue;
    const { year, month, day, hour, minute, second } = of(at);
    const clock = `${hour}:${minute}`;
    const isToday = year === today.year && month === today.month && day === today.day;
    element.textContent =
      element.dataset.form === "hour" ? clock
      : isToday ? `${clock}:${second}`
      : `${day} ${month} ${year === today.year ? "" : `${year} `}${clock}`;
  }
}
