import { Lazy } from "./lazy.js";

/** A list in pages: awaited, its first page; iterated over, the items of all pages. Nothing is asked for before. */
export class Pages<P extends { next?: string | null }, I> extends Lazy<P> implements AsyncIterable<I> {
  constructor(
    private readonly page: (cursor?: string) => Promise<P>,
    private readonly items: (page: P) => readonly I[],
  ) {
    super();
  }

  protected run(): Promise<P> {
    return this.page();
  }

  /** The pages, each asked for when it is reached. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.page(cursor);
      yield page;
      if (!page.next) return;
      cursor = page.next;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<I, void, undefined> {
    for await (const page of this.pages()) yield* this.items(page);
  }
}
