/** A call that failed, or a signature that is wrong: the base of all errors of this package. */
export class TidingsError extends Error {
  /** The `X-Request-Id` by which the server's log names the call, where there was one. */
  readonly requestId: string | undefined;

  constructor(message: string, requestId?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.requestId = requestId || undefined;
  }
}

/** No whole answer: no connection, or one that broke. What was asked may or may not have been done. */
export class ConnectionError extends TidingsError {}

/** No whole answer in time. What was asked may or may not have been done. */
export class TimeoutError extends ConnectionError {}

/** An answer that is no answer of tidings, such as a page of a proxy or a body that is not JSON. */
export class UnexpectedAnswerError extends TidingsError {
  /** The HTTP status. */
  readonly status: number;
  /** Milliseconds to wait before another try, if the answer said so. */
  readonly retryAfter: number | undefined;

  constructor(message: string, status: number, requestId?: string, retryAfter?: number) {
    super(message, requestId);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The body of a refusal (RFC 9457), with whatever else a server adds. */
export interface ProblemBody {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  code?: string;
  hint?: string;
  [member: string]: unknown;
}

/** A refusal of the server. Each code has a class of its own; a code that this client does not know has this one. */
export class ProblemError extends TidingsError {
  /** The HTTP status. */
  readonly status: number;
  /** The stable code, for programs. */
  readonly code: string;
  /** The fault of this request, in words. */
  readonly detail: string;
  /** A way to fix it. */
  readonly hint: string;
  /** Milliseconds to wait before another try, if the server said so. */
  readonly retryAfter: number | undefined;
  /** The whole body. */
  readonly problem: ProblemBody;

  constructor(problem: ProblemBody, status: number, requestId?: string, retryAfter?: number, note = "") {
    const { code = "", title = "", detail = title, hint = "" } = problem;
    super(`${detail}${hint && `: ${hint}`} (${code}, status ${status}${requestId ? `, request ${requestId}` : ""})${note}`, requestId);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.hint = hint;
    this.retryAfter = retryAfter;
    this.problem = problem;
  }
}

/** A webhook whose signature is wrong, or too old. */
export class WebhookError extends TidingsError {}
