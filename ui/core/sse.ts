/** One event of a stream of server-sent events. */
export interface SseEvent {
  event: string;
  data: string;
  /** The cursor after this event; undefined where it names none. */
  id?: string;
}

/** Reads server-sent events from text in pieces of any size. */
export class SseReader {
  #rest = "";
  #afterReturn = false;
  #data: string[] = [];
  #event = "";
  #id: string | undefined;

  push(piece: string): SseEvent[] {
    const events: SseEvent[] = [];
    // A line ends with CR, LF or both, and the two may come in different pieces.
    if (this.#afterReturn && piece.startsWith("\n")) piece = piece.slice(1);
    if (piece) this.#afterReturn = piece.endsWith("\r");
    const lines = (this.#rest + piece).split(/\r\n|\n|\r/);
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line.replace(/^\uFEFF/, ""), events);
    return events;
  }

  #line(line: string, events: SseEvent[]): void {
    if (!line) {
      if (this.#data.length) {
        const event: SseEvent = { event: this.#event || "message", data: this.#data.join("\n") };
        if (this.#id !== undefined) event.id = this.#id;
        events.push(event);
      }
      this.#data = [];
      this.#event = "";
      this.#id = undefined;
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
  }
}
