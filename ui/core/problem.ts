/**
 * An answer that is not the wanted one. `code` is the server's, or one of the core's own: `network` (no answer),
 * `signed_out` (the host has no token) and `stopped` (a token was refused twice; `refresh()` goes on).
 */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail = code,
    readonly retryAfterMs?: number,
    readonly requestId?: string | null,
  ) {
    super(detail);
    this.name = "Problem";
  }

  /** True if nobody is signed in, or the token was refused for good. */
  get unauthorized(): boolean {
    return this.code === "signed_out" || this.code === "stopped";
  }
}

/** The problem that an answer tells. */
export async function problemOf(response: Response, now: number): Promise<Problem> {
  let body: { code?: string; detail?: string; title?: string } = {};
  try {
    body = (await response.json()) ?? {};
  } catch {
    // A proxy's page: the status has to do.
  }
  const { headers, status } = response;
  return new Problem(
    status,
    body.code ?? `http_${status}`,
    body.detail ?? body.title,
    retryAfter(headers.get("retry-after"), now),
    headers.get("x-request-id"),
  );
}

/** The error as a problem: a `fetch` that failed is `network`. */
export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, "network", String(error));
}

function retryAfter(header: string | null, now: number): number | undefined {
  if (!header) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return ms >= 0 ? ms : undefined;
}
