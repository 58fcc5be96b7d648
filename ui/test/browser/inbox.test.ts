import assert from "node:assert/strict";
import { afterEach } from "node:test";
import type { Page } from "playwright-core";
import type { Group } from "../../core/index.js";
import { badge, bell, count, real, rows, stage, test, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const only = { skip: real ? "the mock has to misbehave" : false };

test("the bell has a badge and a name with the count; opening it marks what is shown as seen", async () => {
  const ana = scene.person();
  for (let n = 1; n <= 3; n++) await scene.publish(ana, { object: { id: `works/${n}`, title: `Work ${n}` } });
  const page = await scene.open(ana);
  await until(async () => (await count(page)) === 3);
  assert.equal(await bell(page).getAttribute("aria-label"), "Notifications, 3 unseen");
  await bell(page).click();
  await until(async () => (await rows(page).count()) === 3);
  assert.equal(await rows(page).locator("[part=title]").first().textContent(), "Work 3");
  await until(async () => (await count(page)) === 0);
  assert.equal(await bell(page).getAttribute("aria-label"), "Notifications");
  assert.equal(await bell(page).getAttribute("aria-expanded"), "true");
  await page.locator("h1").click();
  await until(async () => (await bell(page).getAttribute("aria-expanded")) === "false");
});

test("two pages are live: an event is on both within a second", async () => {
  const ana = scene.person();
  await scene.publish(ana);
  const pages = [await scene.open(ana)];
  await until(async () => (await count(pages[0]!)) === 1);
  pages.push(await scene.open(ana, { attributes: 'mode="page"' }));
  await until(async () => (await rows(pages[1]!).count()) === 1);
  const at = Date.now();
  await scene.publish(ana, { object: { id: "works/2", title: "Second Sleep" } });
  await until(async () => (await rows(pages[1]!).count()) === 2, 3000);
  await pages[0]!.bringToFront();
  await bell(pages[0]!).click();
  await until(async () => (await rows(pages[0]!).count()) === 2, 3000);
  assert.ok(Date.now() - at < 2000);
});

test("situation 2: what is read, archived or withdrawn here is so there, badge and row in one", async () => {
  const ana = scene.person();
  for (const event of ["one", "two", "three"]) {
    await scene.publish(ana, { event: `${ana}-${event}`, object: { id: `works/${event}`, title: event } });
  }
  const here = await scene.open(ana);
  const there = await scene.open(ana, { attributes: 'mode="page"' });
  await bell(here).click();
  await until(async () => (await rows(here).count()) === 3 && (await rows(there).count()) === 3);

  await rows(here).filter({ hasText: "three" }).hover();
  await rows(here).filter({ hasText: "three" }).locator("[data-action=read]").click();
  await until(async () => !(await rows(there).filter({ hasText: "three" }).getAttribute("data-unread").then((value) => value !== null)));

  await rows(here).filter({ hasText: "two" }).hover();
  await rows(here).filter({ hasText: "two" }).locator("[data-action=archive]").click();
  await until(async () => (await rows(there).count()) === 2);

  await scene.publish(ana, { event: `${ana}-four`, object: { id: "works/four", title: "four" } });
  await bell(here).click();
  await until(async () => (await rows(there).count()) === 3);
  await scene.withdraw(ana, `${ana}-four`);
  await until(async () => (await rows(there).count()) === 2 && (await count(here)) === 0);
});

test("what was archived is found again, and undo brings it back", async () => {
  const ana = scene.person();
  await scene.publish(ana, { object: { id: "works/1", title: "Water Lilies" } });
  const page = await scene.open(ana);
  await bell(page).click();
  await rows(page).first().hover();
  await rows(page).first().locator("[data-action=archive]").click();
  await until(async () => (await rows(page).count()) === 0);
  await page.locator("tidings-inbox [part=empty]").waitFor();
  await page.locator("tidings-inbox .toast button").click();
  await until(async () => (await rows(page).count()) === 1);

  await rows(page).first().hover();
  await rows(page).first().locator("[data-action=archive]").click();
  await page.locator("tidings-inbox .tool.archive").click();
  await until(async () => (await rows(page).count()) === 1);
  await rows(page).first().hover();
  await rows(page).first().locator("[data-action=unarchive]").click();
  await until(async () => (await rows(page).count()) === 0);
  await page.locator("tidings-inbox .tool.back").click();
  await until(async () => (await rows(page).count()) === 1);
});

test("the snooze menu has three times, and what was snoozed comes back unseen", async () => {
  const ana = scene.person();
  await scene.publish(ana, { event: `${ana}-1` });
  const page = await scene.open(ana);
  await bell(page).click();
  await rows(page).first().hover();
  await rows(page).first().locator("[data-action=snooze]").click();
  const menu = page.locator("tidings-inbox [role=menu]");
  await menu.waitFor();
  assert.equal(await menu.locator("[role=menuitem]").count(), 3);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until(async () => (await rows(page).count()) === 0);
  await page.locator("tidings-inbox .toast").filter({ hasText: /Snoozed until .*9:00/ }).waitFor();
  await page.locator("tidings-inbox .toast button").click();
  await until(async () => (await rows(page).count()) === 1);

  await page.keyboard.press("Escape");
  await scene.mark(ana, "snooze", { event: `${ana}-1`, until: new Date(Date.now() + 1500).toISOString() });
  assert.equal(await count(page), 0);
  await until(async () => (await count(page)) === 1);
});

test("situation 4: eight pages of a browser share one stream; the page that has it is closed, another leads, and nothing is missed", async () => {
  const ana = scene.person();
  const context = await scene.context();
  let streams = 0;
  context.on("request", (request) => (streams += Number(request.url().endsWith("/live") && request.method() === "GET")));
  const pages: Page[] = [];
  for (let n = 0; n < 8; n++) pages.push(await scene.open(ana, { context }));
  const leads = (page: Page) => page.evaluate(() => (document.querySelector("tidings-inbox") as any).inbox.leading);
  await until(() => leads(pages[0]!));
  await scene.publish(ana);
  for (const page of pages) await until(async () => (await count(page)) === 1, 3000);
  assert.equal(streams, 1);

  await pages.shift()!.close();
  await scene.publish(ana, { object: { id: "works/2" } });
  for (const page of pages) await until(async () => (await count(page)) === 2, 3000);
  assert.equal((await Promise.all(pages.map(leads))).filter(Boolean).length, 1);
  assert.equal(streams, 2);
});

test("offline it says so, and back online it has what happened meanwhile", async () => {
  const ana = scene.person();
  await scene.publish(ana);
  const context = await scene.context();
  const page = await scene.open(ana, { context });
  await bell(page).click();
  await until(async () => (await rows(page).count()) === 1);
  await context.setOffline(true);
  if (!real) scene.mock.cut();
  await scene.publish(ana, { object: { id: "works/2" } });
  if (!real) await page.locator("tidings-inbox .note").waitFor();
  await context.setOffline(false);
  await until(async () => (await rows(page).count()) === 2);
  await until(async () => !(await page.locator("tidings-inbox .note").isVisible()));
});

test("a token is renewed before it ends, and the bell stays live", async () => {
  const ana = scene.person();
  scene.host.lifeMs = 4000;
  const asked = scene.host.asked;
  const page = await scene.open(ana);
  let refused = 0;
  page.on("response", (response) => (refused += Number(response.status() === 401)));
  await until(() => scene.host.asked >= asked + 3);
  await scene.publish(ana);
  await until(async () => (await count(page)) === 1);
  assert.equal(refused, 0);
});

test("a token that is refused is got once more; refused again everything stops until refresh()", only, async () => {
  const ana = scene.person();
  const { host, mock } = scene;
  const page = await scene.open(ana);
  await until(() => mock.streams.size === 1);
  const asked = host.asked;
  mock.refuse = () => "token_key";
  mock.end("token_key");
  await bell(page).click();
  await page.locator("tidings-inbox .state .button").waitFor();
  const { length } = mock.requests;
  await new Promise((done) => setTimeout(done, 2500));
  assert.equal(host.asked, asked + 1);
  assert.equal(mock.requests.length, length);
  mock.refuse = () => undefined;
  await scene.publish(ana);
  await page.evaluate(() => (document.querySelector("tidings-inbox") as any).refresh());
  await until(async () => (await rows(page).count()) === 1);
});

test("without a token there is no request, and nothing breaks", only, async () => {
  const { host, mock } = scene;
  const { length } = mock.requests;
  const give = host.give;
  host.give = () => null;
  const page = await scene.open("nobody");
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await bell(page).click();
  await page.getByText("You’re signed out").waitFor();
  await page.setContent(`<tidings-inbox></tidings-inbox><script type="module" src="${scene.server}/ui/inbox.js"></script>`);
  await bell(page).click();
  await page.getByText("You’re signed out").waitFor();
  assert.equal(mock.requests.length, length);
  assert.deepEqual(errors, []);
  host.give = give;
});

test("a click marks as read and goes where the item leads; the host may take the way over, not the mark", async () => {
  const ana = scene.person();
  await scene.publish(ana, { object: { id: "works/1", title: "Water Lilies", url: "#lilies" } });
  const page = await scene.open(ana);
  await page.evaluate(() => {
    (window as any).opened = [];
    document.addEventListener("tidings-open", (event) => {
      (window as any).opened.push((event as CustomEvent).detail.object.title);
      if ((window as any).prevent) event.preventDefault();
    });
    (window as any).counts = [];
    document.addEventListener("tidings-counts", (event) => (window as any).counts.push((event as CustomEvent).detail));
    (window as any).prevent = true;
  });
  await bell(page).click();
  await rows(page).first().locator(".link").click();
  await until(async () => (await rows(page).first().getAttribute("data-unread")) === null);
  assert.equal(new URL(page.url()).hash, "");
  await page.evaluate(() => ((window as any).prevent = false));
  await rows(page).first().locator(".link").click();
  await until(() => new URL(page.url()).hash === "#lilies");
  assert.deepEqual(await page.evaluate(() => (window as any).opened), ["Water Lilies", "Water Lilies"]);
  const counts = await page.evaluate(() => (window as any).counts);
  assert.equal(counts.at(-1).unread, 0);
  assert.ok(counts.every((one: any, at: number) => !at || one.rev > counts[at - 1].rev));
});

test("an address that is none of the web leads nowhere", only, async () => {
  const ana = scene.person();
  await scene.publish(ana, { object: { id: "works/1", title: "Trap", url: "javascript:document.title='caught'" } });
  const page = await scene.open(ana);
  await bell(page).click();
  await rows(page).first().locator(".link").click();
  await until(async () => (await rows(page).first().getAttribute("data-unread")) === null);
  assert.equal(await page.title(), "Host");
  assert.equal(await rows(page).locator("a").count(), 0);
});

test("what failed is taken back with a word", only, async () => {
  const ana = scene.person();
  await scene.publish(ana);
  const page = await scene.open(ana);
  await bell(page).click();
  await rows(page).first().hover();
  scene.mock.latency = 1500;
  scene.mock.fail = (line) => (line === "POST /inbox/archive" ? 500 : undefined);
  await rows(page).first().locator("[data-action=archive]").click();
  await until(async () => (await rows(page).count()) === 0, 3000);
  await page.getByText("That didn’t work").first().waitFor();
  assert.equal(await rows(page).count(), 1);
});

test("new ones wait above the list while somebody points at it", async () => {
  const ana = scene.person();
  for (let n = 1; n <= 3; n++) await scene.publish(ana, { object: { id: `works/${n}`, title: `Work ${n}` } });
  const page = await scene.open(ana);
  await bell(page).click();
  await rows(page).nth(1).hover();
  const before = await rows(page).nth(1).boundingBox();
  await scene.publish(ana, { object: { id: "works/4", title: "Work 4" } });
  const pill = page.locator("tidings-inbox .pill");
  await pill.waitFor();
  assert.equal((await pill.textContent())!.trim(), "1 new");
  assert.deepEqual(await rows(page).nth(1).boundingBox(), before);
  await pill.click();
  await until(async () => (await rows(page).count()) === 4);
  assert.match((await rows(page).first().textContent())!, /Work 4/);
  await until(async () => (await count(page)) === 0);
});

test("many rows come page by page", only, async () => {
  const ana = scene.person();
  for (let n = 1; n <= 130; n++) await scene.publish(ana, { object: { id: `works/${n}`, title: `Work ${n}` } });
  const page = await scene.open(ana);
  await until(async () => (await badge(page).textContent()) === "99+");
  await bell(page).click();
  await until(async () => (await rows(page).count()) >= 20);
  assert.ok((await rows(page).count()) <= 60);
  await until(async () => {
    await page.evaluate(() => {
      const scroll = document.querySelector("tidings-inbox")!.shadowRoot!.querySelector(".scroll")!;
      scroll.scrollTop = scroll.scrollHeight;
    });
    return (await rows(page).count()) === 130;
  });
  // In one go, so that the browser does not look in between at what is in sight.
  await page.evaluate(() => {
    const inbox = document.querySelector("tidings-inbox") as any;
    inbox.hide();
    inbox.show();
  });
  await until(async () => { const n = await rows(page).count(); return n >= 20 && n <= 60; });
});

test("tabs filter by category on the server", only, async () => {
  const ana = scene.person();
  await scene.publish(ana, { type: "like", category: "following", object: { id: "works/1", title: "One" } });
  await scene.publish(ana, { type: "comment", category: "comments", object: { id: "works/2", title: "Two" } });
  const page = await scene.open(ana, { attributes: 'tabs="category"' });
  await bell(page).click();
  const tabs = page.locator("tidings-inbox [part=tab]");
  await until(async () => (await tabs.count()) === 3);
  await tabs.filter({ hasText: "Comments" }).click();
  await until(async () => (await rows(page).count()) === 1);
  assert.match((await rows(page).first().textContent())!, /Two/);
  await page.keyboard.press("ArrowLeft");
  await until(async () => /One/.test((await rows(page).allTextContents()).join()));
  assert.equal(await rows(page).count(), 1);
});

for (const mode of ["bell", "page"]) {
  test(`tabs of categories have the titles of the configuration: ${mode}`, async () => {
    const ana = scene.person();
    await scene.publish(ana);
    const page = await scene.open(ana, { attributes: `tabs="category" mode="${mode}"` });
    if (mode === "bell") await bell(page).click();
    const tabs = page.locator("tidings-inbox [part=tab]");
    await until(async () => (await tabs.filter({ hasText: /^Artists .*you follow/ }).count()) === 1);
  });
}

test("without tabs nobody asks for titles", only, async () => {
  const ana = scene.person();
  await scene.publish(ana);
  scene.mock.requests.length = 0;
  const page = await scene.open(ana, { attributes: 'mode="page"' });
  await until(async () => (await rows(page).count()) === 1);
  await page.evaluate(() => (document.querySelector("tidings-inbox") as any).refresh());
  await until(() => scene.mock.requests.filter((line) => line === "GET /live").length === 2);
  assert.ok(!scene.mock.requests.includes("GET /preferences"));
});

test("on a phone the panel is a sheet that keeps the focus", async () => {
  const ana = scene.person();
  await scene.publish(ana);
  const context = await scene.context({ viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true });
  const page = await scene.open(ana, { context });
  await bell(page).tap();
  await until(async () => (await rows(page).count()) === 1);
  const box = (await page.locator("tidings-inbox [part=panel]").boundingBox())!;
  assert.equal(box.width, 375);
  await until(async () => {
    const now = (await page.locator("tidings-inbox [part=panel]").boundingBox())!;
    return Math.round(now.y + now.height) === 700;
  });
  await page.touchscreen.tap(100, 20);
  await until(async () => (await bell(page).getAttribute("aria-expanded")) === "false");
});

test("situation 1: two pages, 50 events and marks of everything beside them; both end with the server's rows and counts", async () => {
  const ana = scene.person();
  const pages = [await scene.open(ana), await scene.open(ana, { attributes: 'mode="page"' })];
  const mark = (page: Page) => page.evaluate(() => (document.querySelector("tidings-inbox") as any).inbox.mark("read", { all: true }).catch(() => {}));
  for (let n = 0; n < 50; n++) {
    await scene.publish(ana, { object: { id: `works/${n % 12}`, title: `Work ${n % 12}` } });
    if (n % 9 === 0) await Promise.all(pages.map(mark));
  }
  const told = (page: Page) => page.evaluate(async () => {
    const { inbox } = document.querySelector("tidings-inbox") as any;
    const shown = inbox.list().groups();
    const { rev, unseen, unread } = inbox.counts;
    return { page: await inbox.api.call("GET", "/inbox?limit=20"), shown, counts: [rev, unseen, unread].join() };
  });
  await pages[0]!.bringToFront();
  await bell(pages[0]!).click();
  const brief = (rows: Group[]) => rows.slice(0, 20).map(({ key, order, count, read, seen }) => [key, order, count, read, seen].join());
  for (const page of pages) {
    await until(async () => {
      const { page: { groups, rev, unseen, unread }, shown, counts } = await told(page);
      return brief(shown).join() === brief(groups).join() && counts === [rev, unseen, unread].join();
    });
  }
});
