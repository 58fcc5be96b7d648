// Takes screenshots of every state: `node --import tsx test/shots.ts [OUT] [only]`. Those of the documentation:
// `… test/shots.ts ../docs/ui docs`.
import { mkdirSync, readFileSync } from "node:fs";
import { chromium, type Page } from "playwright-core";
import { fill, thousand } from "./gallery.js";
import { HostSite } from "./host.js";
import { Mock } from "./mock.js";

const out = process.argv[2] ?? "test/out/shots";
const docs = process.argv[3] === "docs";
const only = docs ? "panel,panel-dark,phone,rtl,empty,page,preferences" : process.argv[3];
mkdirSync(out, { recursive: true });
const mock = await new Mock().start();
const host = await new HostSite().start();
mock.origins.add(host.url);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

// A typeface such as hosts have one; a bare machine has none that is worth a picture.
const inter = readFileSync(new URL("../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2", import.meta.url));
const attributes = (more = "") => `token-url="/token" server="${mock.url}" ${more}`;
const inBox = (inner: string) => /page|preferences/.test(inner);
const page = (inner: string, lang = "en", dark = false) => `<!doctype html><html lang="${lang}" dir="${["ar", "fa", "he"].includes(lang) ? "rtl" : "ltr"}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Host</title>
<style>@font-face{font-family:Inter;src:url(data:font/woff2;base64,${inter.toString("base64")});font-weight:100 900}
body{margin:0;font:15px Inter,system-ui;--tidings-font:Inter,system-ui,sans-serif;background:${dark ? "#101114" : "#f6f6f8"};color:${dark ? "#ddd" : "#222"}}
header{display:flex;align-items:center;justify-content:space-between;padding:10px 24px;background:${dark ? "#17181c" : "#fff"};border-bottom:1px solid ${dark ? "#2a2b30" : "#e6e6ea"}}
main{max-width:720px;margin:24px auto;padding:0 16px}.box{background:${dark ? "#1a1b1f" : "#fff"};border-radius:12px;overflow:hidden;border:1px solid ${dark ? "#2a2b30" : "#e6e6ea"}}</style>
<script type="module" src="${mock.url}/ui/inbox.js"></script><script type="module" src="${mock.url}/ui/preferences.js"></script><script type="module" src="${mock.url}/ui/follow.js"></script>
<header><strong>Gallery</strong>${inBox(inner) ? "" : inner}</header><main>${inBox(inner) ? `<div class="box">${inner}</div>` : ""}</main>`;

interface Shot {
  lang?: string;
  dark?: boolean;
  width?: number;
  inner?: string;
  world?: "fill" | "long" | "thousand" | "none";
  then?: (page: Page) => Promise<unknown>;
  before?: () => void;
  forced?: boolean;
}

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));
const open = (page: Page) => page.locator("tidings-inbox [part=bell]").click();
/** Digests whose times may be chosen: one with a long name, one of a month, one with a zone of its own. */
const times = () => {
  const own = mock.settingsOf("ana");
  own.digests = { daily: "Once a day", weekly: "Everything that happened at the galleries since last week", monthly: "Once a month" };
  const more = { default_at: "09:00", tz: "Europe/Madrid" };
  own.times = [
    { digest: "daily", choose: ["at"], every: "day", default_on: null, ...more, tz: "America/New_York" },
    { digest: "weekly", choose: ["on", "at"], every: "week", default_on: "mon", ...more },
    { digest: "monthly", choose: ["on", "at"], every: "month", default_on: 1, ...more },
  ];
  own.preferences.push({ digest: "weekly", on: "thu", at: "17:15" }, { type: "mention", channel: "email", mode: "monthly" });
};
const wholeTimes = async (page: Page) => {
  await wait(400);
  await page.locator("tidings-preferences [part=times]").evaluate((part) => part.scrollIntoView({ block: "center" }));
};
const shots: Record<string, Shot> = {
  long: { world: "long" }, panel: {}, "panel-dark": { dark: true },
  phone: { width: 375 }, "phone-dark": { width: 375, dark: true },
  "phone-actions": { width: 375, then: async (page) => { await open(page); await wait(400); await page.locator(".dots").nth(1).tap(); await wait(300); } },
  "phone-snooze": { width: 375, lang: "he", then: async (page) => { await open(page); await wait(400); await page.locator(".dots").nth(1).tap(); await wait(200); await page.locator("[data-action=snooze]").nth(1).tap(); await wait(300); } },
  tabs: { inner: `<tidings-inbox ${attributes('tabs="category"')}></tidings-inbox>` },
  page: { inner: `<tidings-inbox ${attributes('mode="page" tabs="category"')}></tidings-inbox>`, then: () => wait(300) },
  "page-phone": { width: 375, inner: `<tidings-inbox ${attributes('mode="page" tabs="category"')}></tidings-inbox>`, then: () => wait(300) },
  rtl: { lang: "he" }, "rtl-dark-phone": { lang: "ar", dark: true, width: 375 },
  german: { lang: "de" }, japanese: { lang: "ja" },
  hover: { then: async (page) => { await open(page); await wait(300); await page.locator("[part=item]").nth(1).hover(); await wait(200); } },
  snooze: { then: async (page) => { await open(page); await wait(300); await page.locator("[part=item]").nth(1).hover(); await page.locator("[part=item] [data-action=snooze]").nth(1).click(); await wait(200); } },
  archived: { then: async (page) => { await open(page); await wait(300); await page.locator("[part=item]").nth(1).hover(); await page.locator("[part=item] [data-action=archive]").nth(1).click(); await wait(400); } },
  archive: { then: async (page) => { mock.world("ana").mark("archive", { object: "works/dream" }); await open(page); await wait(300); await page.locator(".tool.archive").click(); await wait(400); } },
  expanded: { then: async (page) => { await open(page); await wait(300); await page.locator(".others").first().click(); await wait(300); } },
  pill: { then: async (page) => { await open(page); await wait(300); await page.locator("[part=item]").nth(1).hover(); mock.world("ana").publish({ type: "comment", object: { id: "n1", title: "Nightfall" }, actor: { id: "rob", title: "Rob Wynne" } }); mock.world("ana").publish({ object: { id: "n2", title: "Dusk" } }); await wait(400); } },
  empty: { world: "none" }, "empty-dark": { world: "none", dark: true },
  thousand: { world: "thousand", then: async (page) => { await open(page); await wait(300); await page.mouse.move(900, 400); for (let n = 0; n < 10; n++) { await page.mouse.wheel(0, 3000); await wait(150); } } },
  loading: { then: async (page) => { mock.latency = 3000; await open(page); await wait(200); } },
  error: { before: () => (mock.fail = (line) => (line === "GET /inbox" ? 500 : undefined)) },
  offline: { then: async (page) => { await open(page); await wait(400); await page.context().setOffline(true); mock.cut(); await wait(600); } },
  "signed-out": { before: () => (host.give = () => null) },
  failed: { then: async (page) => { await open(page); await wait(300); mock.fail = (line) => (line.startsWith("POST") ? 500 : undefined); await page.locator("[part=item]").nth(1).hover(); await page.locator("[part=item] [data-action=archive]").nth(1).click(); await wait(400); } },
  focus: { then: async (page) => { await page.locator("tidings-inbox [part=bell]").focus(); await page.keyboard.press("Enter"); await wait(300); await page.keyboard.press("ArrowDown"); await page.keyboard.press("ArrowDown"); await wait(300); } },
  unreachable: { before: () => mock.origins.delete(host.url) },
  faulty: { before: () => (mock.refuse = () => "token_key") },
  tenants: { before: () => { const world = mock.world("ana"); Object.assign(world.tenants, { acme: "Acme Works", bolt: "Bolt" }); world.publish({ tenant: "acme", object: { id: "t1", title: "Launch plan" }, actor: { id: "ben", title: "Ben Okafor" } }); world.publish({ tenant: "bolt", object: { id: "t2", title: "A title that is long enough to be cut at the end of its line, or so one hopes" }, text: () => "Ben mentioned you", actor: { id: "ben", title: "Ben Okafor" } }); }, inner: `<tidings-inbox ${attributes('tabs="tenant"')}></tidings-inbox>` },
  "page-dark": { dark: true, inner: `<tidings-inbox ${attributes('mode="page" tabs="category"')}></tidings-inbox>`, then: () => wait(300) },
  "preferences-dark": { dark: true, inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: () => wait(400) },
  "preferences-quiet": { before: () => { const own = mock.settingsOf("ana"); own.hours = [{ channel: "email", hours: { from: "22:00", to: "07:00" } }, { channel: "sms", hours: { from: "21:00", to: "09:30", days: ["sat", "sun"] } }]; own.channels = ["inbox", "email", "slack", "sms"]; }, inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: () => wait(400) },
  "preferences-quiet-phone": { width: 375, lang: "de", before: () => { const own = mock.settingsOf("ana"); own.hours = [{ channel: "email", hours: { from: "22:00", to: "07:00" } }]; own.channels = ["inbox", "email", "slack", "sms"]; }, inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: () => wait(400) },
  preferences: { before: () => { const own = mock.settingsOf("ana"); own.digests = { daily: "Once a day", weekly: "Once a week" }; own.preferences.push({ digest: "weekly", on: "fri", at: "17:15" }); own.times = [{ digest: "weekly", choose: ["on", "at"], every: "week", default_on: "mon", default_at: "09:00", tz: "Europe/Madrid" }]; }, inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: () => wait(400) },
  "preferences-open": { dark: true, inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: async (page) => { await page.locator("[data-key='open following']").click(); await page.locator("[data-key='quiet']").click(); await wait(300); await page.locator("h2").click(); await wait(200); } },
  "preferences-phone": { width: 375, inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: () => wait(400) },
  "preferences-rtl": { lang: "he", inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: () => wait(400) },
  follow: { inner: ["artist/1", "artist/2", "artist/3"].map((topic) => `<tidings-follow topic="${topic}" ${attributes()}></tidings-follow> `).join(""), then: async (page) => { await wait(300); await page.locator("tidings-follow button").nth(1).click(); await page.locator("tidings-follow button").nth(2).click(); await page.mouse.move(400, 400); await wait(300); await page.locator("tidings-follow button").nth(2).hover(); await wait(300); } },
  forced: { forced: true, then: async (page) => { await open(page); await wait(400); await page.locator("[part=item]").nth(2).hover(); await wait(200); } },
  ...Object.fromEntries(([["", {}], ["-dark", { dark: true }], ["-phone", { width: 375 }], ["-phone-dark", { width: 375, dark: true }], ["-ar", { lang: "ar" }], ["-ar-phone", { lang: "ar", width: 375 }], ["-ja", { lang: "ja" }], ["-ja-phone", { lang: "ja", width: 375 }], ["-de-phone", { lang: "de", width: 375 }]] as [string, Shot][]).map(([name, shot]) => [`preferences-times${name}`, { ...shot, before: times, inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: wholeTimes }])),
  "preferences-forced": { forced: true, inner: `<tidings-preferences ${attributes()}></tidings-preferences>`, then: () => wait(400) },
  closed: { then: () => wait(300) },
};

const { give } = host;
for (const [name, shot] of Object.entries(shots)) {
  if (only && !only.split(",").includes(name)) continue;
  mock.worlds.clear();
  mock.fail = () => undefined;
  mock.latency = 0;
  mock.refuse = () => undefined;
  mock.origins.add(host.url);
  mock.settings.clear();
  host.give = give;
  const world = mock.world("ana");
  if (shot.world === "thousand") thousand(world);
  else if (shot.world !== "none") fill(world, shot.world === "long");
  shot.before?.();
  host.pages.set("/", { html: page(shot.inner ?? `<tidings-inbox ${attributes()}></tidings-inbox>`, shot.lang, shot.dark) });
  const width = shot.width ?? 1280;
  const context = await browser.newContext({
    viewport: { width, height: width === 375 ? 740 : 800 }, deviceScaleFactor: docs && shot.inner === undefined ? 1.5 : 1, colorScheme: shot.dark ? "dark" : "light",
    locale: shot.lang ?? "en", forcedColors: shot.forced ? "active" : "none", hasTouch: width === 375, isMobile: width === 375,
  });
  const tab = await context.newPage();
  tab.on("console", (message) => message.type() === "error" && console.log(name, message.text()));
  tab.on("pageerror", (error) => console.log(name, error));
  await tab.goto(host.url);
  await wait(500);
  await (shot.then ?? (async (page) => { await open(page); await wait(500); }))(tab);
  const part = { x: shot.lang === "he" ? 0 : 800, y: 0, width: 480, height: 760 };
  await tab.screenshot({ path: `${out}/${name}.png`, ...(docs && width === 1280 && shot.inner === undefined && { clip: part }) });
  await context.close();
}
await browser.close();
await mock.stop();
await host.stop();
