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

/** True if a token was refused for another reason than its age: signing in again does not help. */
export const isFaulty = (code = "expired"): boolean => !/expired|revoked/.test(code);

/** False if the browser knows that it has no network. */
export const isOnline = (): boolean => globalThis.navigator?.onLine !== false;

const warned = new Set<string>();

/** Tells the developers of the page, once for each code. */
export function warn(code: string, advice: string): void {
  if (!warned.has(code)) console.warn(`tidings: ${code}: ${advice}`);
  warned.add(code);
}

/** The problem that an answer tells. */
export async function problemOf(response: Response, now: number): Promise<Problem> {
  let body: { code?: string; detail?: string; title?: string; hint?: string } = {};
  try {
    body = (await response.json()) ?? {};
  } catch {
    // A proxy's page: the status has to do.
  }
  const { headers, status } = response;
  const { code = `http_${status}`, detail = body.title, hint } = body;
  if ((status === 401 || status === 403) && isFaulty(code)) warn(code, `${detail}. ${hint ?? ""}`);
  return new Problem(
    status,
    code,
    detail,
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
  const ms = isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return ms >= 0 ? ms : undefined;
}
