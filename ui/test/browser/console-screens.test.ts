// Every screen of the console over a real server, whose binary TIDINGS_PROGRAM names: what must hold on each of them,
// and the walks of docs/console.md, with their clicks and seconds.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type BrowserContext, type CDPSession, type BrowserContextOptions, type Locator, type Page } from "playwright-core";
import { busy, configuration, fill, hostile, people, seg, until } from "../console-world.js";
import { MailServer, RealServer } from "../real-server.js";

const program = process.env.TIDINGS_PROGRAM;
const options = { skip: !program && "TIDINGS_PROGRAM is not set", timeout: 180_000 };
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const mail = new MailServer();
const full = new RealServer();
const empty = new RealServer();
let browser: Browser;

before(async () => {
  if (!program) return;
  await mail.start();
  await Promise.all([full.start(configuration(mail.port)), empty.start(configuration(mail.port))]);
  await fill(full, mail, 60);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(async () => {
  await browser?.close();
  full.stop();
  empty.stop();
  mail.stop();
});

/** A page that notes what the browser complains about, and how far anything has moved. */
async function open(context: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[]; context: BrowserContext }> {
  const own = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context });
  const page = await own.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && !/Failed to load resource/.test(message.text()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => (complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  await page.addInitScript(() => {
    (window as any).moved = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => ((window as any).moved += (entry as any).value))).observe({ type: "layout-shift", buffered: true });
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => console.error(`policy: ${violatedDirective} ${blockedURI}`));
  });
  return { page, complaints, context: own };
}

/**
 * What axe finds, of all rules, and in the other scheme of contrast alone. The page's policy forbids the eval of
 * `page.evaluate`, but not that of the debugger.
 */
async function faults(page: Page, session: CDPSession, other: "light" | "dark"): Promise<string[]> {
  const run = async (rules: string) => {
    const expression = `Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => 0))).then(() => axe.run(document, { resultTypes: ["violations"]${rules} })).then((result) =>
      result.violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ": " + node.html.slice(0, 200) + " " + node.failureSummary)))`;
    const { result } = await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    return result.value as string[];
  };
  await session.send("Runtime.evaluate", { expression: axe });
  const all = await run("");
  await page.emulateMedia({ colorScheme: other });
  const contrast = await run(', runOnly: ["color-contrast"]');
  await page.emulateMedia({ colorScheme: null });
  return [...all, ...contrast.map((fault) => `${other}: ${fault}`)];
}

/** A job of the console, played: its clicks are counted, of mouse or Enter. */
class Walk {
  clicks = 0;
  readonly #began = performance.now();
  constructor(readonly page: Page, readonly job: string) {}

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.first().click();
    await this.page.waitForLoadState();
  }

  /** Looks for a text in the bar's field: a click into it, and Enter. */
  async find(text: string): Promise<void> {
    this.clicks += 1;
    await this.page.locator(".find input").fill(text);
    await this.page.keyboard.press("Enter");
    await this.page.waitForURL(/people|search|events|messages/);
    await this.page.waitForLoadState();
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.page.locator("main").getByText(text).first().waitFor({ timeout: 30_000 });
  }

  done(): void {
    const seconds = (performance.now() - this.#began) / 1_000;
    console.log(`${this.job}: ${this.clicks} clicks, ${seconds.toFixed(1)} s`);
    assert.ok(this.clicks <= 5, `${this.job}: ${this.clicks} clicks`);
    assert.ok(seconds <= 30, `${this.job}: ${seconds} s`);
  }
}

async function walk(job: string, steps: (walk: Walk, page: Page) => Promise<void>, javaScriptEnabled = true): Promise<void> {
  const { page, complaints, context } = await open({ javaScriptEnabled });
  await page.goto(`${full.url}/console/`);
  const own = new Walk(page, `${job}${javaScriptEnabled ? "" : ", without script"}`);
  await steps(own, page);
  own.done();
  assert.deepEqual(complaints, [], job);
  await context.close();
}

for (const isScripted of [true, false]) {
  const how = isScripted ? "" : ", without script";
  test(`support answers each question within five clicks${how}`, options, async () => {
    await walk("J1 she says that she got nothing", async (walk, page) => {
      await walk.find("PERSON-0@example.org");
      assert.match(page.url(), /people\/ana$/);
      await walk.click(page.getByRole("link", { name: "why", exact: true }));
      await walk.sees(/email/);
      assert.match((await page.locator("h1").textContent())!, /\.$/);
    }, isScripted);
    await walk("J2 what did she see, in which words", async (walk, page) => {
      await walk.find(`person-${isScripted ? 1 : 3}@example.org`);
      await walk.click(page.getByRole("button", { name: /^Show/ }));
      await walk.click(page.locator(".tabs").getByRole("link", { name: "Messages", exact: true }));
      await walk.click(page.locator("main table a").filter({ hasText: /^\d{4}-/ }));
      await walk.sees("Built again now");
      assert.equal(await page.locator("iframe.mail").count(), 1);
      assert.match(await page.frameLocator("iframe.mail").locator("body").innerText(), /\w{3}/);
    }, isScripted);
    await walk("J3 lift a suppression", async (walk, page) => {
      await full.call("PUT", "/v1/suppressions/email/person-7%40example.org", { reason: "manual" });
      await walk.find("person-7@example.org");
      await walk.click(page.locator(".tabs").getByRole("link", { name: "Addresses" }));
      await walk.click(page.getByRole("link", { name: "Lift…" }));
      await walk.click(page.getByRole("button", { name: /Lift/ }));
      await walk.sees("None of their addresses is suppressed");
    }, isScripted);
    await walk("J3 send a message again", async (walk, page) => {
      await walk.find("person-2@example.org");
      await walk.click(page.locator(".tabs").getByRole("link", { name: "Messages", exact: true }));
      await walk.click(page.locator("main table a").filter({ hasText: /^\d{4}-/ }));
      await walk.click(page.getByRole("link", { name: "Resend…" }));
      await walk.click(page.getByRole("button", { name: "Resend" }));
      assert.match(page.url(), /messages\/[^/]+$/);
    }, isScripted);
    await full.call("POST", "/v1/events", { id: `soon-${isScripted}`, type: "comment", object: { id: "soon" }, to: { recipients: ["lukasz", "hostile-formula"] } });
    await walk("J4 what comes next, and when", async (walk, page) => {
      await walk.find("person-13@example.org");
      await walk.click(page.locator(".tabs").getByRole("link", { name: "Next messages" }));
      await walk.sees("if nothing else happens");
    }, isScripted);
  });
}

test("who is on call sees who waits, and sends, stops and cancels within five clicks", options, async () => {
  for (const isScripted of [true, false]) {
    mail.stop();
    await full.call("POST", "/v1/events", { id: `away-${isScripted}`, type: "invoice", object: { id: "bill" }, to: { recipients: people.slice(0, 12) } });
    await until(() => full.call("GET", "/v1/admin/status"), ({ away, retrying }) => retrying > 0 && away.some(({ channel }: any) => channel === "email"));
    await walk("J5 does anybody wait, and whose fault is it", async (walk, page) => {
      assert.match((await page.locator("h1").textContent())!, /wait/);
      await walk.sees(`smtp://127.0.0.1:${mail.port}`);
      await walk.click(page.locator("p[data-live=why] a"));
      await walk.sees("dana");
    }, isScripted);
    const failed = (await full.call("GET", "/v1/messages?state=failed&limit=500")).messages.length;
    assert.ok(failed > 3, "messages have failed");
    await mail.start();
    mail.refuse = (address) => (isScripted ? "552 5.2.2 full" : /away/.test(address) ? "550 5.7.1 blocked" : undefined);
    await walk("J6 the mail server is back: send all that failed", async (walk, page) => {
      await walk.click(page.locator(".stats dd.state-failed a"));
      await walk.click(page.getByRole("link", { name: "Retry…" }));
      await walk.click(page.getByRole("button", { name: "Retry" }));
      assert.match(page.url(), /system\/jobs\//);
      await walk.sees(/messages? (wait|done)/);
    }, isScripted);
    await walk("J7 stop the flood", async (walk, page) => {
      await walk.click(page.locator(".top").getByRole("link", { name: "Types" }));
      await walk.click(page.locator("main").getByRole("link", { name: "comment", exact: true }));
      await walk.click(page.getByRole("link", { name: "Pause…" }));
      await walk.click(page.getByRole("button", { name: "Pause" }));
      await walk.sees(/comment is paused by key dev/);
    }, isScripted);
    await full.call("POST", "/v1/types/comment/resume", {});
    const flood = `flood-${isScripted}`;
    await full.call("POST", "/v1/events", { id: flood, type: "comment", object: { id: "wrong" }, to: { recipients: ["ana", "ben", busy] } });
    await walk("J7 cancel what was published by mistake", async (walk, page) => {
      await walk.click(page.locator(".top").getByRole("link", { name: "Events" }));
      await walk.click(page.locator("main").getByRole("link", { name: flood }));
      await walk.click(page.getByRole("link", { name: "Cancel…" }));
      await walk.click(page.getByRole("button", { name: "Cancel" }));
      await walk.sees("cancelled");
    }, isScripted);
  }
});

test("who owns the product reads figures, and tries another number, within five clicks", options, async () => {
  for (const isScripted of [true, false]) {
    await walk("J10 how many by type, beside the weeks before", async (walk, page) => {
      await walk.click(page.locator(".top").getByRole("link", { name: "Figures" }));
      await walk.click(page.getByLabel("Compare with the days before"));
      await walk.click(page.getByRole("button", { name: "Show" }));
      await walk.sees("compared with");
      const href = await page.getByRole("link", { name: /CSV/ }).getAttribute("href");
      const file = await page.request.get(new URL(href!, page.url()).href);
      assert.match(await file.text(), /^type,/);
    }, isScripted);
    await walk("J11 what if the cool-down were ten minutes", async (walk, page) => {
      await walk.click(page.locator(".top").getByRole("link", { name: "Types" }));
      await walk.click(page.locator("main").getByRole("link", { name: "comment", exact: true }));
      await walk.click(page.getByRole("link", { name: "Try a change" }));
      await page.getByLabel(/quiet/).fill("10m");
      await walk.click(page.getByRole("button", { name: "Compare with what happened" }));
      const id = new URL(page.url()).searchParams.get("job")!;
      await until(() => full.call("GET", `/v1/admin/jobs/${id}`), ({ state }) => state === "done");
      if (isScripted) await page.getByText(/On the last/).waitFor({ timeout: 30_000 });
      else await page.reload();
      await walk.sees("Proposed");
    }, isScripted);
  }
});

const system = ["suppressions", "feeds", "hooks", "tenants", "keys", "sessions", "log", "jobs", "nodes"].map((name) => `/system/${name}`);
const plain = ["/", "/search", "/people", "/events", "/messages", "/types", "/types/comment", "/types/comment/try", "/figures", "/system", ...system];
/** Screens of the filled store, with ids that are only known there. */
async function screens(): Promise<string[]> {
  const message = async (state: string) => (await full.call("GET", `/v1/messages?state=${state}&limit=1`)).messages[0]?.id;
  const messages = (await Promise.all(["sent", "failed", "retrying", "suppressed"].map(message))).filter(Boolean);
  const job = (await full.call("GET", "/v1/admin/jobs")).jobs[0].id;
  const strange = `/people/${seg("a/../b")}`;
  const event = `/events/${seg(`comment/..%2f<i>"${hostile.bidi}`)}`;
  return [
    ...plain, ...["", "inbox", "messages", "next", "preferences", "addresses", "topics"].map((tab) => `/people/ana?tab=${tab}`),
    "/people/maximiliane", strange, `/people/${seg(`${"long-".repeat(39)}id`)}`, `/people/${seg("مريم")}`, `/people/${busy}?tab=messages`, `/people/${seg("'><b>")}`,
    "/people/ana/why/artwork-0", "/people/hostile-image/why/invoice-8", "/people/ben/why/comment-1", "/people/ana/suppose?type=artwork", "/people/ana/suppose?type=nope", event, "/events/artwork-2", "/events?recipient=ana",
    "/messages?state=failed", ...messages.map((id) => `/messages/${seg(id)}`), "/types/artwork", "/figures?by=type,day&compare=previous", `/system/jobs/${seg(job)}`,
    "/people/maximiliane/flush", "/people/ana/erase", "/messages/retry?state=failed", "/events/artwork-2/cancel", "/types/comment/pause",
    "/messages?colour=red", "/people/anna", "/people/ana/nowhere", "/messages/nope", "/types/nope",
  ];
}

for (const [width, colorScheme, other] of [[375, "dark", "light"], [1280, "light", "dark"]] as const) {
  test(`on each screen at ${width} nothing moves, runs or is wider than the window, and axe finds nothing`, options, async () => {
    for (const [server, paths] of [[full, await screens()], [empty, plain]] as const) {
      const { page, complaints, context } = await open({ viewport: { width, height: 900 }, colorScheme });
      const session = await context.newCDPSession(page);
      const kinds = new Set<string>();
      for (const path of paths) {
        const where = `${server === empty ? "empty " : ""}${path} at ${width}, ${colorScheme}`;
        const answer = await page.goto(`${server.url}/console${path}`);
        assert.ok(answer!.status() < 500, `${where}: ${answer!.status()}`);
        const seen = await page.evaluate(() => ({
          wide: document.documentElement.scrollWidth - innerWidth, moved: (window as any).moved as number,
          strange: document.querySelectorAll("main img, main script, main b > b, main i:not([hidden])").length, heads: document.querySelectorAll("h1").length,
        }));
        assert.deepEqual(seen, { wide: Math.min(seen.wide, 0), moved: 0, strange: 0, heads: 1 }, where);
        // On a narrow screen one of each kind is enough: axe takes most of the time.
        const kind = `${server.url} ${path.split("/")[1]} ${path.split("/").length} ${/tab=\w+/.exec(path)}`;
        if (width > 640 || !kinds.has(kind)) assert.deepEqual(await faults(page, session, other), [], where);
        kinds.add(kind);
        assert.deepEqual(complaints, [], where);
      }
      await context.close();
    }
  });
}

test("all that can be used is reached by Tab, and shows that it has the focus", options, async () => {
  const { page, context } = await open();
  for (const path of ["/", "/people/maximiliane", "/messages?state=failed", "/types/comment", "/figures", "/messages/retry?state=failed"]) {
    await page.goto(`${full.url}/console${path}`);
    const wanted = await page.evaluate(() => {
      const all = [...document.querySelectorAll<HTMLElement>("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")].filter((one) => one.tabIndex >= 0).filter((one) => one.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }));
      all.forEach((one, at) => (one.dataset.stop = String(at)));
      return all.map((one, at) => `${at} ${one.outerHTML.slice(0, 120)}`);
    });
    const reached = new Set<string>();
    for (let presses = 0; presses < wanted.length + 40 && reached.size < wanted.length; presses++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const one = document.activeElement as HTMLElement;
        // The field of a date has further stops within it.
        return getComputedStyle(one).outlineStyle === "none" ? undefined : one.dataset.stop;
      });
      if (at) reached.add(at);
    }
    assert.deepEqual(wanted.filter((one) => !reached.has(one.split(" ")[0]!)), [], path);
  }
  await context.close();
});

test("a page that is twice as large, and one on paper, has all its words", options, async () => {
  const { page, context } = await open({ viewport: { width: 640, height: 450 } });
  for (const path of ["/people/ana/why/artwork-0", "/figures"]) {
    await page.goto(`${full.url}/console${path}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator(".top").isVisible(), false);
    assert.ok(await page.locator("h1").isVisible());
    await page.emulateMedia({ media: null });
  }
  await context.close();
});
