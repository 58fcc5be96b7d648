import { WebhookError } from "./errors.js";
import type { Webhook } from "./hooks.js";
import { bytes, fromBase64 } from "./token.js";

/** Headers as `fetch`, Node or a framework has them. */
export type WebhookHeaders = { get(name: string): string | null } | Record<string, string | readonly string[] | undefined>;

/** How a webhook is checked. */
export interface WebhookOptions {
  /** Seconds that its time may be off. Default 300. */
  tolerance?: number;
  /** The time now, in milliseconds since 1970. */
  now?: number;
}

/**
 * Checks the signature of a webhook (Standard Webhooks) and returns its body.
 *
 * `secret` is that of `[[hooks]]` or of the webhook channel, or several while one is rotated. `body` is the body as it
 * came: JSON that was read and written again has another signature. Throws a `WebhookError`.
 */
export async function verifyWebhook<W = Webhook>(secret: string | readonly string[], headers: WebhookHeaders, body: string | Uint8Array, options: WebhookOptions = {}): Promise<W> {
  const { tolerance = 300, now = Date.now() } = options;
  const [id, sent, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = headerOf(headers, name);
    if (!value) throw new WebhookError(`the header \`${name}\` is missing`);
    return value;
  }) as [string, string, string];
  if (!/^\d+$/.test(sent) || Math.abs(now / 1000 - Number(sent)) > tolerance) throw new WebhookError("the webhook's time is too far from now");
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const signed = bytes(`${id}.${sent}.`);
  const content = typeof body === "string" ? bytes(body) : body;
  const whole = new Uint8Array(signed.length + content.length);
  whole.set(signed);
  whole.set(content, signed.length);
  for (const one of [secret].flat()) {
    const raw = one.startsWith("whsec_") ? fromBase64(one.slice(6)) : bytes(one);
    const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of signatures.split(" ")) {
      const [version, value = ""] = signature.split(",");
      if (version === "v1" && (await crypto.subtle.verify("HMAC", key, decoded(value), whole))) return JSON.parse(text) as W;
    }
  }
  throw new WebhookError("no signature of the webhook is that of the secret");
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : value?.[0];
}

/** What base64 says, or nothing where it is none. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  try {
    return fromBase64(text);
  } catch {
    return new Uint8Array();
  }
}
