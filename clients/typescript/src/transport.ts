import { Http } from "./http.js";
import { Import } from "./import.js";
import { live, type LiveEvent } from "./live.js";
import type { Options } from "./options.js";
import { Pages } from "./pages.js";
import { linesOf } from "./streams.js";

/** The shapes that calls have. */
export class Transport extends Http {
  send<T>(method: string, path: string, options?: Options, body?: unknown, query?: object): Promise<T> {
    // Absent members are left out, null is sent.
    return this.json<T>({ method, path, body: JSON.stringify(body), query }, options);
  }

  text(method: string, path: string, options?: Options): Promise<string> {
    return this.whole({ method, path }, options, (text) => text);
  }

  /** The bytes of an answer, as they come. */
  async bytes(method: string, path: string, options?: Options): Promise<ReadableStream<Uint8Array>> {
    const opened = await this.stream({ method, path }, options);
    const reader = opened.response.body!.getReader();
    return new ReadableStream<Uint8Array>({
      async pull(to) {
        try {
          const { done, value } = await opened.within(reader.read());
          if (!done) return to.enqueue(value);
          opened.close(true);
          to.close();
        } catch (fault) {
          to.error(fault);
        }
      },
      cancel: () => opened.close(),
    });
  }

  async *lines(method: string, path: string, options?: Options, body?: unknown, query?: object): AsyncGenerator<Record<string, unknown>> {
    yield* linesOf<Record<string, unknown>>(await this.stream({ method, path, body: JSON.stringify(body), query }, options));
  }

  live(method: string, path: string, options?: Options, _body?: undefined, query?: object): AsyncIterable<LiveEvent> {
    return live(this, { method, path, query }, options);
  }

  pages<P extends { next?: string | null }, I>(path: string, items: string, query?: object, options?: Options): Pages<P, I> {
    return new Pages(
      (cursor) => this.send<P>("GET", path, options, undefined, cursor === undefined ? query : { ...query, cursor }),
      (page) => (page as unknown as Record<string, I[]>)[items] ?? [],
    );
  }

  importing<L, A extends { line?: number }>(path: string, lines: Iterable<L> | AsyncIterable<L>, options?: Options): Import<A> {
    return new Import<A>(this, path, lines, options);
  }
}
