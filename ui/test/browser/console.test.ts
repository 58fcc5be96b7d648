// The script of the console's pages, under their policy, on a page of this file. Its screens: console-screens.test.ts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { until } from "./stage.js";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
  "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'";
const dist = (name: string) => readFileSync(new URL(`../../dist/${name}`, import.meta.url));

let browser: Browser;
let server: Server;
let base: string;
/** What the page shows, and how often it was asked for. */
let world: { count: number; rows: string[]; asked: number; cookies: string[] };

const html = () => `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Now</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/console/console.css"><script type="module" src="/console/console.js"></script></head>
<body data-base="/console" data-zone="UTC"><header class="top"><nav aria-label="Screens"><a href="/console/" aria-current="page">Now</a><a href="/console/messages">Messages</a></nav>
<form class="find" role="search" method="post" action="/console/search"><input name="q" type="search" aria-label="Search"></form>
<button type="button" class="quiet small live">live</button><span class="zone">UTC</span></header>
<main id="main"><h1 class="verdict state-ok" data-live="verdict">${world.count} wait</h1>
<p><time datetime="2026-03-07T23:30:00Z">7 Mar 23:30</time> <button type="button" class="quiet small" data-copy="m-1">Copy</button></p>
<form class="filters" method="get" action="/console/messages"><label>Type <input name="type"></label><label>State <input name="state" value="sent"></label><button>Filter</button></form>
<table data-list><thead><tr><th scope="col">Id</th></tr></thead><tbody>${world.rows.map((id) => `<tr><td><a href="/console/messages/${id}">${id}</a></td></tr>`).join("")}</tbody></table></main></body></html>`;

before(async () => {
  server = createServer((request, answer) => {
    const path = request.url!.split("?")[0]!;
    if (path.endsWith(".css") || path.endsWith(".js")) {
      answer.setHeader("content-type", path.endsWith(".css") ? "text/css" : "text/javascript");
      return void answer.end(dist(path.slice(path.lastIndexOf("/") + 1)));
    }
    world.asked += 1;
    world.cookies.push(request.headers.cookie ?? "");
    answer.setHeader("content-type", "text/html; charset=utf-8").setHeader("content-security-policy", POLICY);
    answer.end(html());
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/console`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(async () => {
  await browser.close();
  server.close();
});
beforeEach(() => {
  world = { count: 1, rows: ["m-2", "m-1"], asked: 0, cookies: [] };
});

/** A page with a clock that stands, and what the browser complains about. */
async function open(url = `${base}/`, options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: "Asia/Tokyo", ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.clock.install({ time: "2026-11-28T22:00:00Z" });
  await page.goto(url);
  return { page, complaints };
}

test("times are in the zone of the device, Z turns to UTC, and the server hears of it", async () => {
  const { page, complaints } = await open();
  assert.equal(await page.locator("time").textContent(), "8 Mar 08:30");
  assert.equal(await page.locator(".zone").textContent(), "Asia/Tokyo");
  await until(() => world.cookies.some((cookie) => cookie.includes("tidings-zone=Asia/Tokyo")));
  await page.keyboard.press("Z");
  assert.equal(await page.locator("time").textContent(), "7 Mar 23:30");
  assert.deepEqual(complaints, []);
});

test("numbers come anew, rows stay, and the new ones are counted above", async () => {
  const { page, complaints } = await open();
  world.count = 2;
  world.rows = ["m-4", "m-3", ...world.rows];
  await page.clock.runFor(5000);
  await page.locator("h1", { hasText: "2 wait" }).waitFor();
  assert.equal(await page.locator(".new").textContent(), "2 new");
  assert.deepEqual(await page.locator("tbody a").allTextContents(), ["m-2", "m-1"]);
  assert.deepEqual(complaints, []);
});

test("nothing is read while it is paused or the tab is hidden", async () => {
  const { page } = await open(`${base}/`, { timezoneId: "UTC" });
  await page.locator(".live").click();
  const before = world.asked;
  await page.clock.runFor(30_000);
  assert.equal(await page.locator(".live").textContent(), "paused");
  assert.equal(world.asked, before);
  await page.locator(".live").click();
  await until(() => world.asked === before + 1);
  await page.evaluate(() => Object.defineProperty(document, "hidden", { value: true, configurable: true }));
  await page.clock.runFor(30_000);
  assert.equal(world.asked, before + 1);
  await page.evaluate(() => Object.defineProperty(document, "hidden", { value: false }));
  await page.clock.runFor(5000);
  await until(() => world.asked === before + 2);
});

test("keys move over rows, open them, focus the search and go to screens, and can be turned off", async () => {
  const { page } = await open();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.equal(await page.locator(".here").textContent(), "m-1");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/messages/m-2");
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.waitForURL("**/console/messages");
  await page.keyboard.press("/");
  await page.keyboard.type("gm?");
  assert.equal(await page.locator(".find input").inputValue(), "gm?");
  await page.locator("h1").click();
  await page.keyboard.press("?");
  await page.locator("dialog input").check();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), "INPUT");
});

test("x marks rows, and y copies their links", async () => {
  const { page } = await open();
  // Words, since the names that the build gives to functions are not known in the page.
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text } } })");
  const copied = async () => {
    await page.keyboard.press("y");
    await page.locator(".said", { hasText: "Copied" }).waitFor();
    return page.evaluate(() => (window as any).copied as string);
  };
  assert.equal(await copied(), page.url());
  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  await page.locator(".said", { hasText: "2 marked" }).waitFor();
  assert.equal((await copied()).split("\n").length, 2);
  await page.keyboard.press("x");
  assert.match(await copied(), /\/messages\/[^\n]+$/);
});

test("a text is copied, also where the browser gives no clipboard", async () => {
  const { page } = await open();
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.locator("[data-copy]").click();
  await page.locator(".said", { hasText: "Copied" }).waitFor();
});

test("empty filters are not in the URL", async () => {
  const { page } = await open();
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL("**/console/messages?state=sent");
});
