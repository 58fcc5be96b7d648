const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in a word or two; from a week on the day. */
export function ago(instant: string, now: number, lang: string): string {
  const at = Date.parse(instant);
  const past = Math.max(0, now - at);
  if (past >= 7 * DAY) {
    const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? undefined : ("numeric" as const);
    return new Intl.DateTimeFormat(lang, { day: "numeric", month: "short", ...(year && { year }) }).format(at);
  }
  const words = new Intl.RelativeTimeFormat(lang, { numeric: "auto" });
  if (past < MINUTE) return words.format(0, "second");
  if (past < HOUR) return words.format(-Math.floor(past / MINUTE), "minute");
  if (past < DAY) return words.format(-Math.floor(past / HOUR), "hour");
  return words.format(-Math.floor(past / DAY), "day");
}

/** The instant in full. */
export function full(instant: string, lang: string): string {
  return new Intl.DateTimeFormat(lang, { dateStyle: "full", timeStyle: "short" }).format(Date.parse(instant));
}

/** An instant that is to come: its time today, else its day too. */
export function soon(instant: string, now: number, lang: string): string {
  const at = new Date(instant);
  const today = at.toDateString() === new Date(now).toDateString();
  const day = today ? {} : ({ weekday: "short", day: "numeric", month: "short" } as const);
  return new Intl.DateTimeFormat(lang, { ...day, hour: "numeric", minute: "2-digit" }).format(at);
}

/** 09:00 on the reader's clock: tomorrow, or on the next Monday. */
export function morning(now: number, when: "tomorrow" | "monday"): Date {
  const day = new Date(now);
  const days = when === "tomorrow" ? 1 : (8 - day.getDay()) % 7 || 7;
  day.setDate(day.getDate() + days);
  day.setHours(9, 0, 0, 0);
  return day;
}
