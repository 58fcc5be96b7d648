// Takes pictures of each language at 375 px: `node --import tsx test/languages.ts [OUT] [TAGS]`. Mails, the pages behind
// their links, push, inbox and preferences of a server over the words of this tree; TIDINGS is its binary. OUT/TAG.png
// and OUT/TAG-ui.png have them side by side, OUT/counts.png the words of Polish and Arabic by number.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium, type Page } from "playwright-core";
import { fill, pick, type Text } from "../element/texts.js";
import { HostSite } from "./host.js";
import { foreign, words } from "./words.js";

const out = resolve(process.argv[2] ?? "test/out/languages");
const tags = process.argv[3]?.split(",") ?? Object.keys(words);
const tidings = resolve(process.env.TIDINGS ?? "../target/debug/tidings");
const WIDTH = 375;
const COUNTS = [0, 1, 2, 3, 5, 11, 22, 100];
const counted = ["pl", "ar"].filter((tag) => tags.includes(tag));
const rtl = (tag: string) => ["ar", "fa", "he"].includes(tag);
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

// The host: its pages have the elements as they were built last. Beside it what takes push messages.
const host = await new HostSite().start();
const dist = new URL("../dist/", import.meta.url);
for (const file of readdirSync(dist, { recursive: true }) as string[]) {
  if (file.endsWith(".js")) host.pages.set(`/ui/${file}`, { html: readFileSync(new URL(file, dist), "utf8"), type: "text/javascript" });
}
interface Push { title: string; text: string; }
const pushed = new Map<string, Push>();
const pushes = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { data } = JSON.parse(Buffer.concat(chunks).toString());
  pushed.set(data.recipient, data);
  response.writeHead(204).end();
});
await new Promise<void>((done) => pushes.listen(0, "127.0.0.1", done));

// The server.
const dir = `${out}/server`;
rmSync(dir, { recursive: true, force: true });
mkdirSync(dir, { recursive: true });
cpSync(new URL("../../crates/tidings-mail/locales", import.meta.url), `${dir}/locales`, { recursive: true });
const text = (key: string, part: (of: (typeof words)[string]) => string) =>
  Object.entries(words).map(([tag, of]) => `${key}.${tag} = ${JSON.stringify(part(of))}`).join("\n");
writeFileSync(`${dir}/tidings.toml`, `
[brand]
name = "Gallery"
[users]
origins = ["${host.url}"]
topics = ["artist/"]
[digests.daily]
every = "day"
at = "09:00"
[categories.comments]
${text("title", ([category]) => category)}
[types.comment]
category = "comments"
${text("title", ([, title]) => title)}
${text("sentence", ([, , sentence]) => sentence)}
${text("action", ([, , , action]) => action)}
[types.comment.channels]
inbox = { policy = "now" }
email = { policy = "cooldown", quiet = "1h", max_wait = "2h" }
webhook = { policy = "cooldown", quiet = "1h", max_wait = "2h" }
[types.account]
category = "comments"
required = true
${text("title", ([category]) => category)}
[types.account.channels]
email = { policy = "now" }
[channels.email]
provider = "file://mail"
from = "Gallery <gallery@example.org>"
[channels.webhook]
provider = "webhook://\${SECRET}?base=http://127.0.0.1:${(pushes.address() as AddressInfo).port}"
`);
const port = 20_000 + (process.pid % 20_000);
const server = spawn(tidings, ["serve", "--config", "tidings.toml", "--data", "data", "--dev", "--listen", `127.0.0.1:${port}`], { cwd: dir, env: { ...process.env, SECRET: "0123456789abcdef0123456789abcdef" }, stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => server.kill());
for await (const line of createInterface({ input: server.stdout })) if (line.startsWith("listening on ")) break;
server.stdout.resume();
const url = `http://127.0.0.1:${port}`;
const call = async (method: string, path: string, body?: object) => {
  const answer = await fetch(`${url}/v1${path}`, { method, headers: { "content-type": "application/json" }, body: body ? JSON.stringify(body) : null });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : await answer.json();
};
const { secret } = (await call("POST", "/admin/signing-keys", {})) as { secret: string };
host.give = (sub) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const iat = Math.floor(Date.now() / 1000);
  const signed = `${part({ alg: "HS256", kid: secret.split("_")[1] })}.${part({ sub, iat, exp: iat + 3600 })}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
};

interface Mail { subject: string; html: string; text: string; }

/** A recipient with so many comments: the mail that waits, and the push message. */
async function told(tag: string, id: string, count: number): Promise<{ mail: Mail; push: Push; links: Record<"u" | "more", string | undefined> }> {
  const [, , , , people, things, body] = words[tag]!;
  const who = [...people, ...foreign.people];
  const what = [...things, ...foreign.things];
  await call("PUT", `/recipients/${id}`, { email: `${id}@example.org`, locale: tag, tz: "Europe/Paris", addresses: { webhook: `https://push.example/${id}` } });
  await call("PUT", "/objects/artist%2F1", { title: foreign.people[0]! });
  await call("PUT", `/recipients/${id}/subscriptions/artist%2F1`, {});
  await call("PATCH", `/recipients/${id}/preferences`, { preferences: [{ topic: "artist/1", channel: "webhook", mode: "never" }] });
  for (let n = 0; n < count; n++) {
    const actor = who[n % 3]!;
    const thing = count > 5 ? `${what[n % 4]} ${n + 1}` : what[n % 4]!;
    await call("POST", "/events", {
      id: `${id}-${n}`, type: "comment", actor: { id: `p${who.indexOf(actor)}-${tag}`, title: actor },
      object: { id: `${id}-w${count > 5 ? n : n % 4}`, title: thing, url: "https://example.org/1" }, ...(n % 3 === 0 && { body }),
      to: n % 2 ? { recipients: [id] } : { recipients: [id], topics: ["artist/1"] },
    });
  }
  const { mail } = (await call("GET", `/recipients/${id}/preview`)) as { mail: Mail };
  for (const channel of ["email", "webhook"]) await call("POST", `/recipients/${id}/flush`, { channel });
  for (let tries = 0; !(pushed.has(id) && sentTo(id)) && tries < 100; tries++) await wait(50);
  // Links lead somewhere once the message was sent.
  const text = sentTo(id)?.replace(/=\r?\n/g, "") ?? "";
  const link = (part: string) => new RegExp(`/${part}/[\\w-]+`).exec(text)?.[0];
  return { mail, push: pushed.get(id) ?? { title: "", text: "" }, links: { u: link("u"), more: link("more") } };
}

/** The newest mail to somebody, as it was sent. */
function sentTo(id: string): string | undefined {
  const files = (readdirSync(dir, { recursive: true }) as string[]).filter((file) => file.startsWith("mail/new/"));
  return files.map((file) => readFileSync(`${dir}/${file}`, "utf8")).find((mail) => mail.includes(`\nTo: ${id}@`));
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** Takes a picture at 375 px, and says what is wider than the page. */
async function shot(name: string, tag: string, show: (page: Page) => Promise<unknown>, then?: (page: Page) => Promise<unknown>, full = true): Promise<string> {
  const context = await browser.newContext({ viewport: { width: WIDTH, height: 740 }, locale: tag, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  page.on("pageerror", (error) => console.log(name, error));
  await show(page);
  await wait(300);
  await then?.(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > WIDTH) console.log(`${name}: ${wide} px wide`);
  const path = `${out}/${name}.png`;
  if (full) await page.setViewportSize({ width: WIDTH, height: Math.min(1500, await page.evaluate(() => document.documentElement.scrollHeight)) });
  await page.screenshot({ path });
  await context.close();
  return path;
}

async function sheet(name: string, paths: string[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: paths.length * (WIDTH + 10) + 10, height: 100 } });
  const images = paths.map((path) => `<img src="data:image/png;base64,${readFileSync(path).toString("base64")}">`);
  await page.setContent(`<body style="margin:10px;display:flex;gap:10px;align-items:flex-start;background:#888">${images.join("")}`);
  await page.screenshot({ path: `${out}/${name}.png`, fullPage: true });
  await page.close();
}

const html = (tag: string, inner: string) => `<!doctype html><html lang="${tag}" dir="${rtl(tag) ? "rtl" : "ltr"}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Host</title>
<style>body{margin:0;font:15px system-ui}header{display:flex;justify-content:space-between;padding:10px 16px;border-bottom:1px solid #ddd}</style>
<script type="module" src="/ui/inbox.js"></script><script type="module" src="/ui/preferences.js"></script><script type="module" src="/ui/follow.js"></script><body>${inner}`;
const open = (tag: string, inner: string) => async (page: Page) => {
  host.pages.set("/page", { html: html(tag, inner) });
  await page.goto(`${host.url}/page`);
};
const escaped = (of: string) => of.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
const card = ({ title, text }: Push, tag: string) =>
  `<div dir="${rtl(tag) ? "rtl" : "ltr"}" lang="${tag}" style="margin:8px;padding:12px;border-radius:16px;background:#f2f2f5;font:14px/1.35 system-ui"><b dir="auto">${escaped(title)}</b><div dir="auto">${escaped(text)}</div></div>`;
const content = (of: string) => (page: Page) => page.setContent(`<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><body style="margin:0">${of}`);

for (const tag of tags) {
  const one = await told(tag, `${tag}-one`, 1);
  const many = await told(tag, `${tag}-many`, 25);
  const link = (part: "u" | "more") => async (page: Page) => {
    if (many.links[part]) await page.goto(url + many.links[part]);
  };
  const mail = (of: Mail) => (page: Page) => page.setContent(of.html);
  const inbox = `<header><b>Gallery</b><tidings-inbox server="${url}" token-url="/token?sub=${tag}-many"></tidings-inbox></header>`;
  const bell = (page: Page) => page.locator("tidings-inbox [part=bell]").click().then(() => wait(500));
  await sheet(tag, [
    await shot(`${tag}-single`, tag, mail(one.mail)),
    await shot(`${tag}-digest`, tag, mail(many.mail)),
    await shot(`${tag}-u`, tag, link("u")),
    await shot(`${tag}-more`, tag, link("more")),
    await shot(`${tag}-push`, tag, content([one, many].map(({ push, mail }) => `<p dir="auto" style="font:14px system-ui;margin:8px"><b dir="auto">${escaped(mail.subject)}</b></p>${card(push, tag)}`).join(""))),
  ]);
  const settings = `<tidings-preferences server="${url}" token-url="/token?sub=${tag}-many"></tidings-preferences>`;
  await sheet(`${tag}-ui`, [
    await shot(`${tag}-inbox`, tag, open(tag, inbox), bell, false),
    await shot(`${tag}-snooze`, tag, open(tag, inbox), async (page) => {
      await bell(page);
      await page.locator(".dots").first().tap();
      await wait(200);
      await page.locator("[data-action=snooze]").first().tap();
      await wait(200);
    }, false),
    await shot(`${tag}-snoozed`, tag, open(tag, inbox), async (page) => {
      await bell(page);
      await page.locator(".menu button, [role=menuitem]").first().isVisible();
      await page.evaluate(() => (document.querySelector("tidings-inbox") as any).shadowRoot.querySelector(".tool.archive")?.click());
      await wait(500);
    }, false),
    await shot(`${tag}-preferences`, tag, open(tag, settings), async (page) => {
      await page.locator("[data-key=quiet]").click();
      await page.locator("[data-key^=open]").click();
      await wait(400);
    }),
    await shot(`${tag}-follow`, tag, open(tag, ["1", "2"].map((n) => `<p style="margin:16px"><tidings-follow topic="artist/${n}" server="${url}" token-url="/token?sub=${tag}-many"></tidings-follow></p>`).join("")), () => wait(300)),
  ]);
  console.log(tag, one.mail.subject, "|", many.mail.subject, "|", many.push.title, "|", many.push.text);
}

if (counted.length) {
  const columns = [];
  for (const tag of counted) {
    const lines: string[] = [];
    for (const n of COUNTS) {
      lines.push(`<h3 dir="ltr" style="margin:8px 0 0">${n}</h3>`);
      if (n) {
        const { mail, push } = await told(tag, `${tag}-${n}`, n);
        lines.push(`<p dir="auto">${escaped(mail.subject)}</p>`, card(push, tag));
      }
      for (const element of ["inbox", "preferences"]) {
        const own = (await import(`../locales/${element}/${pick(tag)}.ts`)).default as Record<string, Text>;
        for (const text of Object.values(own)) {
          if (typeof text !== "string") lines.push(`<div>${escaped(fill(text, tag, { n, channel: own.email as string ?? "", time: "9:00" }))}</div>`);
        }
      }
    }
    columns.push(await shot(`counts-${tag}`, tag, content(`<div lang="${tag}" dir="${rtl(tag) ? "rtl" : "ltr"}" style="padding:8px;font:14px system-ui">${lines.join("")}</div>`)));
  }
  await sheet("counts", columns);
}
await browser.close();
await host.stop();
pushes.close();
server.kill();
