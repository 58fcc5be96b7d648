import assert from "node:assert/strict";
import { afterEach } from "node:test";
import type { Page } from "playwright-core";
import { violations } from "./axe.js";
import { css, plain } from "./hostile.js";
import { bell, count, real, rows, stage, test, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const only = { skip: real ? "the mock has to hold still" : false };
async function filled(sub: string): Promise<void> {
  const ines = { id: "ines", title: "Inés Marchetti" };
  for (const actor of [ines, { id: "otto", title: "Otto Brandt" }, { id: "yuki", title: "Yuki Tanaka" }]) {
    await scene.publish(sub, { actor, object: { id: "works/1", title: "Water Lilies", url: "#lilies" } });
  }
  await scene.publish(sub, { actor: ines, object: { id: "works/2", title: "Tide Table" } });
  await scene.mark(sub, "read", { object: "works/2" });
  await scene.publish(sub, { actor: ines, object: { id: "works/3", title: "Second Sleep", url: "#sleep" }, body: "Could you send it?" });
}

for (const [name, colorScheme, lang] of [["light", "light", "en"], ["dark", "dark", "en"], ["right-to-left", "light", "he"], ["dark right-to-left", "dark", "he"]] as const) {
  test(`situation 7: axe finds nothing: ${name}`, async () => {
    const ana = scene.person();
    await filled(ana);
    const context = await scene.context({ colorScheme, reducedMotion: "reduce" });
    const page = await scene.open(ana, { context, lang, attributes: 'tabs="category"' });
    const settled = () => page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => 0))));
    await until(async () => (await count(page)) === 2);
    assert.deepEqual(await violations(page, "tidings-inbox"), [], "closed");
    await bell(page).click();
    await until(async () => (await rows(page).count()) === 3);
    await settled();
    assert.deepEqual(await violations(page, "tidings-inbox"), [], "open");
    await page.locator("tidings-inbox .others").click();
    await page.locator("tidings-inbox [data-action=snooze]").first().focus();
    await page.keyboard.press("Enter");
    await settled();
    assert.deepEqual(await violations(page, "tidings-inbox"), [], "expanded, with the menu");
    await page.keyboard.press("Escape");
    await page.locator("tidings-inbox .tool.archive").click();
    await page.locator("tidings-inbox [part=empty]").waitFor();
    await settled();
    assert.deepEqual(await violations(page, "tidings-inbox"), [], "empty archive");
    await page.evaluate(() => document.querySelector("tidings-inbox")!.setAttribute("mode", "page"));
    await until(async () => (await rows(page).count()) === 3);
    await settled();
    assert.deepEqual(await violations(page, "tidings-inbox"), [], "as a page");
  });
}

test("situation 7: the keyboard alone opens, walks, reads, archives, snoozes and closes; the focus comes back", async () => {
  const ana = scene.person();
  for (const title of ["One", "Two", "Three"]) await scene.publish(ana, { object: { id: `works/${title}`, title } });
  const page = await scene.open(ana);
  await until(async () => (await count(page)) === 3);
  const focused = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent ?? "");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until(async () => (await rows(page).count()) === 3);
  await page.keyboard.press("ArrowDown");
  assert.match(await focused(), /Three/);
  await page.keyboard.press("ArrowDown");
  assert.match(await focused(), /Two/);
  await page.keyboard.press("r");
  await until(async () => (await rows(page).nth(1).getAttribute("data-unread")) === null);
  await until(async () => /Two/.test(await focused()));
  await page.keyboard.press("e");
  await until(async () => (await rows(page).count()) === 2);
  assert.match(await focused(), /One/);
  await page.keyboard.press("ArrowUp");
  assert.match(await focused(), /Three/);
  await page.keyboard.press("s");
  await page.locator("tidings-inbox [role=menu]").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await bell(page).getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Escape");
  assert.equal(await bell(page).getAttribute("aria-expanded"), "false");
  assert.ok(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.matches("[part=bell]")));
});

test("new ones are read out once a burst", async () => {
  const ana = scene.person();
  const page = await scene.open(ana);
  await page.evaluate(() => {
    (window as any).heard = [];
    const voice = document.querySelector("tidings-inbox")!.shadowRoot!.querySelector("[role=status]")!;
    new MutationObserver(() => (window as any).heard.push(voice.textContent)).observe(voice, { childList: true });
  });
  await until(() => page.evaluate(() => !!(document.querySelector("tidings-inbox") as any).inbox.counts));
  for (let n = 0; n < 5; n++) await scene.publish(ana, { object: { id: `works/${n}` } });
  await until(() => page.evaluate(() => (window as any).heard.length > 0));
  await page.waitForTimeout(300);
  assert.deepEqual(await page.evaluate(() => (window as any).heard), ["5 new notifications"]);
});

async function picture(page: Page): Promise<Buffer> {
  await bell(page).click();
  await until(async () => (await rows(page).count()) === 3);
  await page.mouse.move(5, 600);
  await until(() => page.evaluate(() => document.querySelector("tidings-inbox")!.shadowRoot!.getAnimations().every(({ playState }) => playState === "finished")));
  await page.waitForTimeout(400);
  const { x, y, width, height } = (await page.locator("tidings-inbox [part=panel]").boundingBox())!;
  // The page shows through the rounded corners.
  return page.screenshot({ clip: { x: x + 12, y: y + 12, width: width - 24, height: height - 24 } });
}

/** How many pixels are others, beyond what smoothing does by itself. */
function difference(page: Page, pictures: Buffer[]): Promise<number> {
  return page.evaluate(async (sources) => {
    const [a, b] = await Promise.all(sources.map(async (src) => {
      const image = Object.assign(new Image(), { src });
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
      canvas.drawImage(image, 0, 0);
      return canvas.getImageData(0, 0, image.width, image.height);
    }));
    if (a!.width !== b!.width || a!.height !== b!.height) return Infinity;
    return a!.data.reduce((sum, value, at) => sum + Number(Math.abs(value - b!.data[at]!) > 16), 0);
  }, pictures.map((one) => `data:image/png;base64,${one.toString("base64")}`));
}

test("situation 6: a hostile page under a strict policy changes nothing, and nothing is reported", only, async () => {
  const ana = scene.person();
  await filled(ana);
  scene.mock.world(ana).mark("seen", { all: true });
  const policy = {
    "content-security-policy": `default-src 'none'; script-src 'self' ${scene.server}; style-src 'self'; connect-src 'self' ${scene.server}; img-src 'self'; require-trusted-types-for 'script'; report-uri /report`,
  };
  scene.host.pages.set("/hostile.css", { html: css, type: "text/css" });
  scene.host.pages.set("/plain.css", { html: plain, type: "text/css" });
  const html = (sheet: string) =>
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><link rel="stylesheet" href="/${sheet}.css"><script type="module" src="${scene.server}/ui/inbox.js"></script><body><header>INBOX</header><main class="container">Host</main>`;
  const pictures: Buffer[] = [];
  for (const sheet of ["plain", "hostile"]) {
    const page = await scene.open(ana, { html: html(sheet), headers: policy });
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(String(error)));
    await until(async () => (await bell(page).count()) === 1);
    pictures.push(await picture(page));
    assert.ok(
      await page.evaluate(() => {
        const element = document.querySelector("tidings-inbox")!;
        const box = element.shadowRoot!.querySelector("[part=panel]")!.getBoundingClientRect();
        return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === element;
      }),
      "the panel is above everything, and not clipped",
    );
    assert.deepEqual(problems.filter((text) => !text.includes("favicon")), [], sheet);
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("main")!).display), sheet === "plain" ? "block" : "none");
  }
  assert.deepEqual(scene.host.reports.filter((report) => !report.includes("favicon")), []);
  assert.equal(await difference(await (await scene.context()).newPage(), pictures), 0);
});

test("copies, moves and late definitions work", async () => {
  const ana = scene.person();
  await scene.publish(ana);
  const page = await scene.open(ana, {
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><body><div id="a"></div><div id="b"></div>`,
  });
  await page.evaluate(async ([server, url]) => {
    const early = document.createElement("tidings-inbox") as any;
    early.getToken = async () => (await (await fetch(url!)).json()).token;
    document.querySelector("#a")!.append(early);
    await import(`${server}/ui/inbox.js`);
    (window as any).copy = early.cloneNode(true);
  }, [scene.server, `/token?sub=${ana}`] as const);
  await until(async () => (await count(page)) === 1);
  const before = scene.host.asked;
  await page.evaluate(() => document.querySelector("#b")!.append(document.querySelector("tidings-inbox")!));
  await scene.publish(ana, { object: { id: "works/2" } });
  await until(async () => (await count(page)) === 2);
  assert.equal(scene.host.asked, before, "a move does not begin anew");
  await page.evaluate((url) => {
    const { copy } = window as any;
    document.querySelector("tidings-inbox")!.replaceWith(copy);
    copy.setAttribute("token-url", url);
  }, `/token?sub=${ana}`);
  await until(async () => (await count(page)) === 2);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await bell(page).click();
  await until(async () => (await rows(page).count()) === 2);
  await page.evaluate(() => document.querySelector("tidings-inbox")!.remove());
  await page.waitForTimeout(100);
  assert.deepEqual(errors, []);
  if (!real) await until(() => scene.mock.streams.size === 0);
});

test("texts come in the language of the page, from beside the script; an unknown one is English", async () => {
  const ana = scene.person();
  for (let n = 0; n < 5; n++) await scene.publish(ana, { object: { id: `works/${n}` } });
  for (const [lang, name, dir] of [
    ["pl", "Powiadomienia, 5 nowych", "ltr"], ["de-AT", "Benachrichtigungen, 5 neu", "ltr"], ["ar", "الإشعارات، 5 إشعارات جديدة", "rtl"],
    ["xx", "Notifications, 5 unseen", "ltr"], ["ja", "通知、新着5件", "ltr"],
  ] as const) {
    const page = await scene.open(ana, { lang });
    await until(async () => (await bell(page).getAttribute("aria-label")) === name);
    assert.equal(await page.locator("tidings-inbox .root").getAttribute("dir"), dir);
    await page.close();
  }
});
