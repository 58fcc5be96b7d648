import { ConnectionError, type ProblemBody } from "./errors.js";
import type { Call, Http } from "./http.js";
import { problemOf, Retry } from "./http.js";
import { Lazy } from "./lazy.js";
import type { Options } from "./options.js";
import { randomId } from "./runtime.js";
import { linesOf } from "./streams.js";

/** Lines of a part, at most. */
const LINES = 1_000;
/** Characters of a part from which on it is sent. */
const LENGTH = 1 << 20;

/** What became of an import. */
export interface Imported<A> {
  /** Number of lines. */
  lines: number;
  /** Number of lines that succeeded. */
  done: number;
  /** The answers to the lines that were rejected. */
  rejected: Extract<A, { status: "rejected" }>[];
}

/** An import: awaited, its counts and what was rejected; iterated over, the answer to each line. */
export class Import<A extends { line?: number }> extends Lazy<Imported<A>> implements AsyncIterable<A> {
  /** Where somebody iterates twice, the same lines are the same events. */
  private readonly key: string;

  constructor(
    private readonly http: Http,
    private readonly path: string,
    private readonly lines: Iterable<unknown> | AsyncIterable<unknown>,
    private readonly options: Options = {},
  ) {
    super();
    this.key = options.idempotencyKey ?? randomId();
  }

  protected async run(): Promise<Imported<A>> {
    const all: Imported<A> = { lines: 0, done: 0, rejected: [] };
    for await (const answer of this) {
      all.lines += 1;
      if ((answer as { status?: string }).status === "rejected") all.rejected.push(answer as never);
      else all.done += 1;
    }
    return all;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<A, void, undefined> {
    let before = 0;
    for await (const part of parts(this.lines)) {
      yield* this.part(part, before, `${this.key}-${before}`);
      before += part.length;
    }
  }

  /** The answers to a part, whose first line is the one after `before`. */
  private async *part(lines: string[], before: number, idempotencyKey: string): AsyncGenerator<A> {
    const { http, options } = this;
    const retry = new Retry(http.settings, options);
    const call: Call = { method: "POST", path: this.path, body: "", type: "application/x-ndjson" };
    const headers = http.headers(call, { ...options, idempotencyKey });
    for (let answered = 0; answered < lines.length; ) {
      try {
        // Empty lines stand for those that are answered: events without an id get theirs from the number of the line.
        call.body = "\n".repeat(answered) + lines.slice(answered).join("\n") + "\n";
        const opened = await http.open(call, options, headers);
        for await (const answer of linesOf<A & { problem?: ProblemBody }>(opened)) {
          if (answer.line === undefined) continue;
          const { problem } = answer;
          // A fault of the server ends the answer, and this line and those behind it are not done.
          if (problem && (problem.status === 429 || problem.status! >= 500)) throw problemOf(problem, problem.status!, opened.requestId);
          answered = answer.line;
          retry.reset();
          yield { ...answer, line: before + answer.line };
        }
        if (answered < lines.length) throw new ConnectionError(`the answer of POST ${this.path} ended before the last line`, opened.requestId);
      } catch (fault) {
        await retry.after(fault);
      }
    }
  }
}

/** Lines of JSON, so many at once as make a request. */
async function* parts(lines: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<string[]> {
  let part: string[] = [];
  let length = 0;
  for await (const line of lines) {
    const text = JSON.stringify(line);
    part.push(text);
    length += text.length;
    if (part.length >= LINES || length >= LENGTH) {
      yield part;
      part = [];
      length = 0;
    }
  }
  if (part.length) yield part;
}
