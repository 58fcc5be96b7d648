// What the API does by this client, with a server.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { ScopeError, signToken, TokenSignatureError, TokenTenantError, verifyWebhook, type Webhook, WebhookError } from "../src/index.js";
import { itemsOf, Server } from "./server.js";

let server: Server;
const received: { headers: Record<string, string>; body: string }[] = [];
const secret = "a secret of tests, 30 bytes...";
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => (received.push({ headers: request.headers as Record<string, string>, body }), response.end()));
});
before(async () => {
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const { port } = receiver.address() as AddressInfo;
  server = await Server.start(`
[types.alarm]
category = "conversations"
[types.alarm.channels]
inbox = { policy = "now" }
webhook = { policy = "now" }
[channels.webhook]
provider = "webhook://\${HOOK_SECRET}?base=http://127.0.0.1:${port}"
`, { HOOK_SECRET: secret });
});
after(async () => {
  receiver.close();
  await server.stop();
});

test("situation_15_a_patch_tells_absent_null_and_a_value_apart", async () => {
  const tidings = server.client();
  const name = async () => (await tidings.recipients.get("ben")).name ?? null;
  await tidings.recipients.upsert("ben", { name: "Ben", email: "ben@example.org" });
  await tidings.recipients.patch("ben", { tz: "Europe/Paris", name: undefined });
  assert.equal(await name(), "Ben");
  await tidings.recipients.patch("ben", { name: "Benjamin" });
  assert.equal(await name(), "Benjamin");
  await tidings.recipients.patch("ben", { name: null });
  assert.equal(await name(), null);
  const { email, tz } = await tidings.recipients.get("ben");
  assert.deepEqual([email, tz], ["ben@example.org", "Europe/Paris"]);
});

test("a page when awaited, all items when iterated over", async () => {
  const tidings = server.client();
  await tidings.recipients.upsert("pages", {});
  const all = await tidings.events.publish(Array.from({ length: 30 }, (_, at) => ({ type: "comment", object: { id: `o/${at}` }, to: { recipients: ["pages"] } })));
  assert.ok(all.every((one) => !("problem" in one) && one.status === "accepted"));
  const page = await tidings.inbox.list("pages", { limit: 7 });
  assert.equal(page.groups.length, 7);
  assert.equal(page.unseen, 30);
  const keys = new Set<string>();
  for await (const group of tidings.inbox.list("pages", { limit: 7 })) keys.add(group.key);
  assert.equal(keys.size, 30);
  let pages = 0;
  for await (const { next } of tidings.inbox.list("pages", { limit: 7 }).pages()) pages += next ? 1 : 10;
  assert.equal(pages, 14);
  assert.equal(await tidings.inbox.newer("pages", { since: page.rev }), undefined);
  const counts = await tidings.inbox.markRead("pages", { all: true, category: "conversations" });
  assert.equal(counts.unread, 0);
});

test("lines out, bytes out", async () => {
  const tidings = server.client();
  const people = Array.from({ length: 1_200 }, (_, at) => ({ id: `p/${at}`, name: `P ${at}` }));
  const imported = await tidings.recipients.import(people);
  assert.deepEqual(imported, { lines: 1_200, done: 1_200, rejected: [] });
  const ids = new Set<unknown>();
  for await (const line of tidings.admin.export({ days: 1 })) if (line.op === "recipient") ids.add(line.id);
  assert.ok(people.every(({ id }) => ids.has(id)));
  let size = 0;
  const reader = (await tidings.admin.backup()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) size += part.value.length;
  assert.ok(size > 1_000);
  await (await tidings.admin.backup()).cancel();
});

test("an inbox is followed", async () => {
  const tidings = server.client();
  await tidings.recipients.upsert("live", {});
  const seen: string[] = [];
  for await (const { event, data } of tidings.inbox.live("live")) {
    seen.push(event);
    if (event === "hello") await tidings.events.publish({ type: "comment", object: { id: "o" }, to: { recipients: ["live"] } });
    if (event === "inbox") {
      assert.equal(data.changed[0]?.type, "comment");
      break;
    }
  }
  assert.deepEqual(seen, ["hello", "inbox"]);
});

test("a token opens what its scope says, for its recipient", async () => {
  const tidings = server.client();
  await tidings.recipients.upsert("zoë", {});
  await tidings.events.publish({ type: "comment", object: { id: "o" }, to: { recipients: ["zoë"] } });
  const mine = server.client({ key: () => tidings.signToken("zoë", "15m", ["inbox:read"]) });
  assert.equal((await mine.me.counts()).unseen, 1);
  await assert.rejects(mine.me.markSeen({ all: true }), ScopeError);
  const all = server.client({ key: await signToken(server.signingKey, "zoë") });
  assert.equal((await all.me.markSeen({ all: true })).unseen, 0);
  assert.ok((await all.me.preferences()).choices.length > 0);
  const forged = server.client({ key: await signToken(`${server.signingKey}x`, "zoë", 60) });
  await assert.rejects(forged.me.counts(), TokenSignatureError);
});

test("a token says whose tenant it is", async () => {
  const claims = (token: string) => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
  const at = { tenant: "acme", now: 1_700_000_000_900 };
  assert.deepEqual(claims(await signToken("tsk_a_b", "ana", 60, "inbox", at)), { sub: "ana", iat: 1_700_000_000, exp: 1_700_000_060, tenant: "acme", scope: "inbox" });
  assert.equal("tenant" in claims(await signToken("tsk_a_b", "ana")), false);
  const tidings = server.client();
  assert.equal(claims(await tidings.signToken("ana", "15m", undefined, { tenant: "acme" })).tenant, "acme");
  await assert.rejects(signToken("tsk_a_b", "ana", 60, undefined, { tenant: "" }), TypeError);
  const unknown = server.client({ key: await tidings.signToken("ana", "15m", undefined, { tenant: "nobody" }) });
  await assert.rejects(unknown.me.counts(), TokenTenantError);
});

test("a token may be signed by a key of Ed25519", async () => {
  const tidings = server.client();
  const pair = generateKeyPairSync("ed25519");
  const { id } = await tidings.admin.makeSigningKey({ name: "ed", public: pair.publicKey.export({ type: "spki", format: "pem" }) as string });
  const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const mine = server.client({ key: await signToken({ id, privateKey }, "zoë", 60, "inbox") });
  assert.equal((await mine.me.counts()).unseen, 0);
});

test("bad keys, lives and recipients of tokens are refused", async () => {
  const refusals: [string, string, number | string][] = [["tidings_abc", "ana", 60], [server.signingKey, "", 60], [server.signingKey, "ana", 0], [server.signingKey, "ana", "soon"], [server.signingKey, "ana", NaN]];
  for (const [key, recipient, ttl] of refusals) await assert.rejects(signToken(key, recipient, ttl), TypeError);
});

test("the signature of a webhook of the server is checked", async () => {
  const tidings = server.client();
  await tidings.recipients.upsert("hook", { addresses: { webhook: "https://example.org/in" } });
  await tidings.events.publish({ type: "alarm", object: { id: "o", title: "Fire" }, to: { recipients: ["hook"] } });
  while (received.length === 0) await new Promise((done) => setTimeout(done, 20));
  const [{ headers, body }] = received as [(typeof received)[0]];
  const webhook: Webhook = await verifyWebhook(secret, headers, body);
  assert.deepEqual([webhook.type, webhook.data.recipient], ["notification.message", "hook"]);
  const whsec = `whsec_${Buffer.from(secret).toString("base64")}`;
  await verifyWebhook(["another secret of tests", whsec], new Headers(headers), Buffer.from(body));
  const wrong: [string, typeof headers, string][] = [
    ["another secret", headers, body],
    [secret, headers, `${body} `],
    [secret, { ...headers, "webhook-id": "x" }, body],
    [secret, { ...headers, "webhook-signature": "v1,not-base64!" }, body],
    [secret, { ...headers, "webhook-timestamp": "soon" }, body],
    [secret, {}, body],
  ];
  for (const [key, with_, text] of wrong) await assert.rejects(verifyWebhook(key, with_, text), WebhookError);
  const late = Number(headers["webhook-timestamp"]) * 1000 + 301_000;
  await assert.rejects(verifyWebhook(secret, headers, body, { now: late }), WebhookError);
  await verifyWebhook(secret, headers, body, { now: late, tolerance: 600 });
});

test("what changes nothing is answered too", async () => {
  const tidings = server.client();
  await tidings.recipients.upsert("eve", {});
  const { id } = await tidings.events.publish({ type: "comment", object: { id: "o" }, to: { recipients: ["eve"] } });
  assert.equal((await tidings.events.explain({ event: id, recipient: "eve" })).supposed, false);
  assert.equal((await tidings.events.get(id)).notifications, 1);
  assert.equal((await tidings.pending.list("eve")).lanes.length, 1);
  assert.equal((await tidings.pending.flush("eve")).lanes, 1);
  assert.ok((await tidings.admin.signToken({ recipient: "eve" })).token);
  assert.equal(await tidings.server.health(), "ok\n");
  assert.match(await tidings.server.error("unknown_type"), /422/);
  assert.match(await tidings.server.metrics(), /^tidings_/m);
  assert.equal((await tidings.admin.status()).version, "0.1.0");
  assert.ok((await tidings.configuration.types()).types.alarm);
  assert.equal((await tidings.server.openapi()).openapi, "3.1.0");
});

test("a preference is set, and suppressed addresses are listed", async () => {
  const tidings = server.client();
  await tidings.recipients.upsert("dee", {});
  assert.equal(await tidings.preferences.patch("dee", [{ type: "comment", channel: "email", mode: "never" }]), undefined);
  assert.deepEqual((await tidings.preferences.get("dee")).map(({ mode }) => mode), ["never"]);
  assert.ok((await tidings.preferences.choices("dee")).choices.length > 0);
  await tidings.suppressions.add("email", "x@example.org", { reason: "manual", expires_at: new Date(Date.now() + 3_600_000) });
  for await (const { address, reason } of tidings.suppressions.list({ channel: "email" })) assert.deepEqual([address, reason], ["x@example.org", "manual"]);
  await tidings.suppressions.remove("email", "x@example.org");
  assert.equal(await itemsOf(tidings, "dee"), 0);
});
