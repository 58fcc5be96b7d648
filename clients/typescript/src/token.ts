/** The secret of a signing key (`tsk_…`); or the id of a key of Ed25519, and its private half as PKCS #8 in PEM. */
export type SigningKey = string | { id: string; privateKey: string | CryptoKey };

/** What a token may open. */
export type Scope = "inbox" | "inbox:read" | "preferences" | "subscriptions" | "push";

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * Signs a token with which a recipient's page calls `/v1/me`.
 *
 * `ttl` is its life, in seconds or such as `15m`; the server refuses more than its `[users] tokens`. `scope` is what it
 * opens, separated by spaces or as an array; without one, all that the key may. `tenant` is the one whose notifications it
 * shows, beside those of none; `now` is the time from which it is good, in milliseconds since 1970.
 */
export async function signToken(key: SigningKey, recipient: string, ttl: number | string = 900, scope?: string | readonly Scope[], { tenant, now = Date.now() }: { tenant?: string; now?: number } = {}): Promise<string> {
  const iat = Math.floor(now / 1000);
  const id = typeof key === "string" ? /^tsk_([^_]+)_./.exec(key)?.[1] : key.id;
  if (!id) throw new TypeError("the signing key does not look like `tsk_ID_RANDOM`: make one with `tidings signing-key new`");
  if (!recipient) throw new TypeError("a token needs a recipient");
  if (tenant === "") throw new TypeError("the tenant of a token is an id: leave it out for all tenants");
  const claims = { sub: recipient, iat, exp: iat + secondsOf(ttl), ...(tenant !== undefined && { tenant }), ...(scope !== undefined && { scope: typeof scope === "string" ? scope : scope.join(" ") }) };
  const header = { alg: typeof key === "string" ? "HS256" : "EdDSA", typ: "JWT", kid: id };
  const signed = [header, claims].map((part) => base64url(bytes(JSON.stringify(part)))).join(".");
  const algorithm = typeof key === "string" ? "HMAC" : "Ed25519";
  const signature = await crypto.subtle.sign(algorithm, await imported(key), bytes(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

async function imported(key: SigningKey): Promise<CryptoKey> {
  if (typeof key === "string") return crypto.subtle.importKey("raw", bytes(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const { privateKey } = key;
  if (typeof privateKey !== "string") return privateKey;
  const der = fromBase64(privateKey.replace(/-----[^-]+-----|\s/g, ""));
  return crypto.subtle.importKey("pkcs8", der, "Ed25519", false, ["sign"]);
}

function secondsOf(ttl: number | string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(String(ttl)) ?? [];
  const seconds = typeof ttl === "number" ? Math.floor(ttl) : Number(count) * (SECONDS[unit!] ?? NaN);
  if (!(seconds > 0)) throw new TypeError(`the life of a token is a number of seconds, or such as 15m, not ${JSON.stringify(ttl)}`);
  return seconds;
}

/** The bytes of a text. */
export const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;

/** The bytes that are written as base64. */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const base64url = (data: Uint8Array) => btoa(String.fromCharCode(...data)).replace(/[+/=]/g, (letter) => ({ "+": "-", "/": "_" })[letter] ?? "");
