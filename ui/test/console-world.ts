// What the console is looked at with: a small shop of made-up people, strings that no page must take for anything but
// text, names of all scripts and lengths, and somebody with a thousand messages.
import type { MailServer, RealServer } from "./real-server.js";

/** A configuration of every policy, with a mail server at that port. */
export const configuration = (port: number) => `
[categories.following]
title = "Artists you follow"

[categories.work]
title = "Work"

[digests.weekly]
every = "week"
on = "mon"
at = "09:00"

[types.comment]
category = "work"
sentence = "{actor} commented on {object}"
channels.inbox = { policy = "now" }
channels.email = { policy = "cooldown", quiet = "4m", max_wait = "15m" }

[types.artwork]
category = "following"
sentence = "{actor} published {object}"
channels.inbox = { policy = "now" }
channels.email = { policy = "digest", digest = "weekly" }

[types.invoice]
category = "work"
sentence = "Invoice {object} is ready"
channels.inbox = { policy = "now" }
channels.email = { policy = "now" }
channels.sms = { policy = "now" }

[channels.email]
provider = "smtp://127.0.0.1:${port}"
from = "Reviews <reviews@example.org>"

[channels.sms]
provider = "caught://"
from = "+15005550006"

[tenants]
on = true

[[hooks]]
name = "app"
url = "http://127.0.0.1:9/hooks"
of = ["message.failed", "message.bounced"]
secret = "\${HOOK_SECRET}"
`;

/** Strings that a page, a table of CSV or a URL might take for something else. */
export const hostile = {
  script: "<script>alert(1)</script>",
  image: `"><img src=x onerror=alert(1)>`,
  quotes: `O'Neil "Q" & Sons`,
  template: "{{ 7 * 7 }} {% raw %}",
  bidi: "abc\u202Egnp.exe\u2066\u200F",
  formula: `=HYPERLINK("https://evil.example","x")`,
  tags: "\u{E0041}\u{E0042}x",
};
const names = [
  "Ana Ruiz", "Ben Okafor", "مريم الحسيني", "דנה כהן", "田中 さくら", "Łukasz Żółć", "Åsa",
  `Maximiliane ${"von Hohenstaufen-Sigmaringen-Wolkenkuckucksheim ".repeat(4)}`.slice(0, 200).trim(), ...Object.values(hostile),
];
export const people = [
  "ana", "ben", "maryam", "dana", "sakura", "lukasz", "asa", "maximiliane", "hostile-script", "hostile-image", "hostile-quotes", "hostile-template",
  "hostile-bidi", "hostile-formula", "hostile-tags", "..", "a/../b", "a%2fb", "x y?&=#", `${"long-".repeat(39)}id`.slice(0, 200),
  "=1+1", "مريم", "'><b>",
];
export const busy = "busy";

export const seg = encodeURIComponent;

/** Fills a store; the busy person gets that many messages. */
export async function fill(server: RealServer, mail: MailServer, many: number): Promise<void> {
  const call = server.call.bind(server);
  await call("PUT", "/v1/tenants/acme", { name: "Acme <b>Works</b>" });
  await Promise.all(people.map(async (id, at) => {
    await call("PUT", `/v1/recipients/${seg(id)}`, {
      email: `person-${at}@${id === "asa" ? "away.example.net" : "example.org"}`, name: names[at % names.length]!, tz: ["Europe/Madrid", "America/New_York", "Asia/Tokyo"][at % 3]!,
      ...(at % 3 === 0 && { addresses: { sms: `+3461234${String(at).padStart(4, "0")}` } }), data: { plan: at % 2 ? "gold" : hostile.image, note: hostile.formula },
    });
    await call("PUT", `/v1/recipients/${seg(id)}/subscriptions/${seg(at % 2 ? "artist/rob" : "artist/kim")}`, {});
  }));
  await call("PUT", `/v1/recipients/${busy}`, { name: "Busy Bee", addresses: { sms: "+34612349999" } });
  await call("PUT", "/v1/tenants/acme/members/ana", {});
  mail.refuse = (address) =>
    /person-5@/.test(address) ? "550 5.1.1 no such user <person-5@example.org>"
    : /person-([89]|1\d)@/.test(address) ? `552 5.2.2 mailbox of ${hostile.script} ${hostile.quotes} is full`
    : /away/.test(address) ? "550 5.7.1 blocked by policy" : undefined;
  const events = [];
  const times: Record<string, number> = { comment: 60, artwork: 12, invoice: 40 };
  let n = 0;
  for (const [type, count] of Object.entries(times)) {
    for (let at = 0; at < count; at++, n++) {
      const title = at % 5 === 0 ? names[(at / 5 + 2) % names.length]! : `Plan for the spring show ${at}`;
      events.push({
        id: at === 7 ? `${type}/..%2f<i>"${hostile.bidi}` : `${type}-${at}`, type, actor: { id: people[n % 7], title: names[n % names.length] },
        object: { id: at === 3 ? hostile.script : `work-${at}`, title, url: "https://example.org/w" },
        to: type === "artwork" ? { topics: [at % 2 ? "artist/rob" : "artist/kim"] } : { recipients: [people[n % people.length], people[(n * 7 + 3) % people.length]] },
        data: { amount: at, note: at % 4 ? "plain" : hostile.script }, ...(at === 5 && { cancellation_key: `order ${hostile.quotes}` }),
      });
    }
  }
  await call("POST", "/v1/events", events);
  // Each of its own turn, or they would be one message.
  for (let at = 0; at < many; at++) await call("POST", "/v1/events", { id: `bill-${at}`, type: "invoice", object: { id: `bill-${at}` }, to: { recipients: [busy] } });
  await call("POST", "/v1/events", { id: "for-acme", type: "invoice", tenant: "acme", object: { id: "acme-1" }, to: { recipients: ["ana"] } });
  for (const id of people.slice(0, 5)) await call("POST", `/v1/recipients/${seg(id)}/flush`, {});
  await call("PUT", "/v1/suppressions/email/person-7%40example.org", { reason: "bounce" });
  await call("PATCH", "/v1/recipients/ana/preferences", { preferences: [{ category: "following", channel: "email", mode: "never" }] });
  await call("POST", "/v1/types/artwork/pause", {});
  await call("POST", "/v1/admin/keys", { name: hostile.image, role: "read" });
  await until(() => call("GET", "/v1/messages?state=failed"), ({ messages }) => messages.length > 3);
  await call("POST", "/v1/messages/resend", { filter: { recipient: "ben" }, expect: 1, now: true });
}

/** Waits until a call answers what is wanted, for ten seconds. */
export async function until<T>(ask: () => Promise<T>, isThere: (answer: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    if (tries === 100) throw new Error(`still ${JSON.stringify(answer).slice(0, 300)}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
