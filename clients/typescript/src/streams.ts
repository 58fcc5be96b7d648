import { type Opened, parsed } from "./http.js";

/** The lines of an answer, as they come. The connection is given back when the reader ends or leaves. */
export async function* textLines(opened: Opened): AsyncGenerator<string> {
  const reader = opened.response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let whole = false;
  try {
    for (;;) {
      const { done, value } = reader ? await opened.within(reader.read()) : { done: true, value: undefined };
      whole = done;
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop()!;
      for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
      if (done) {
        if (rest) yield rest;
        return;
      }
    }
  } finally {
    opened.close(whole);
  }
}

/** The objects of an answer of one a line. */
export async function* linesOf<T>(opened: Opened): AsyncGenerator<T> {
  for await (const line of textLines(opened)) {
    if (line) yield parsed<T>(line, opened);
  }
}
