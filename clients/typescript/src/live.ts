import { ConnectionError } from "./errors.js";
import type { Group, InboxCounts } from "./generated/types.js";
import { type Call, type Http, type Opened, Retry } from "./http.js";
import type { Options } from "./options.js";
import { textLines } from "./streams.js";

/** An event of an inbox that is followed. A newer server may send others. */
export type LiveEvent =
  | { event: "hello"; id?: string; data: InboxCounts & { reset?: boolean } }
  | { event: "inbox"; id?: string; data: InboxCounts & { changed: Group[]; gone: string[] } }
  | { event: "end"; id?: string; data: { code: string; retry_ms?: number } };

/** Milliseconds without a word after which a stream is broken: the server says something every 15 seconds. */
const SILENCE = 45_000;

/** The events of an inbox. It is opened again, from where it was, when it breaks and when the server restarts. */
export async function* live(http: Http, call: Call, options: Options = {}): AsyncGenerator<LiveEvent, void, undefined> {
  const retry = new Retry(http.settings, options);
  let last: string | undefined;
  for (;;) {
    let wait: number | undefined;
    try {
      const resumed = { ...call, headers: { "Last-Event-ID": last } };
      const opened = await http.open(resumed, { timeout: SILENCE, ...options }, http.headers(resumed, options));
      for await (const event of events(opened)) {
        retry.reset();
        last = event.id ?? last;
        if (event.event === "end" && event.data.code === "restart") {
          wait = event.data.retry_ms ?? 0;
          break;
        }
        yield event;
        if (event.event === "end") return;
      }
      if (wait === undefined) throw new ConnectionError(`the stream of ${call.path} ended`, opened.requestId);
    } catch (fault) {
      await retry.after(fault);
      continue;
    }
    await retry.pause(wait);
  }
}

/** The events of a stream (`text/event-stream`). */
async function* events(opened: Opened): AsyncGenerator<LiveEvent> {
  let event = "message";
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of textLines(opened)) {
    if (line === "") {
      if (data.length) yield { event, ...(id !== undefined && { id }), data: JSON.parse(data.join("\n")) } as LiveEvent;
      event = "message";
      data = [];
    }
    const [, field, value = ""] = /^(\w+):? ?(.*)$/.exec(line) ?? [];
    if (field === "event") event = value;
    if (field === "id") id = value;
    if (field === "data") data.push(value);
  }
}
