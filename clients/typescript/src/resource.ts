import type { Transport } from "./transport.js";

/** A group of calls. */
export class Resource {
  constructor(protected readonly http: Transport) {}
}

/** A path whose parts are encoded. Parts that no URL can have are refused: they would name another path. */
export function path(texts: TemplateStringsArray, ...parts: string[]): string {
  return parts.reduce((all, part, at) => {
    if (!part || part === "." || part === "..") throw new TypeError(`a path cannot have the part ${JSON.stringify(part)}`);
    return all + encodeURIComponent(part) + texts[at + 1]!;
  }, texts[0]!);
}
