// On what the elements lie: the ground of the page, and the pixels of the screen.
import assert from "node:assert/strict";
import { afterEach } from "node:test";
import type { Page } from "playwright-core";
import { violations } from "./axe.js";
import { bell, real, rows, stage, test, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const only = { skip: real ? "the mock's texts" : false };
const grounds = { dark: ["#0d1117", "#e6edf3"], light: ["#fdf6e3", "#222"] } as const;

/** A page of a colour of its own, whatever the system prefers. */
async function show(element: string, system: "light" | "dark", ground: "light" | "dark", attributes = ""): Promise<Page> {
  const ana = scene.person();
  scene.mock.world(ana).publish({ object: { id: "works/1", title: "Water Lilies" }, actor: { id: "ben", title: "Ben Okafor" } });
  const context = await scene.context({ colorScheme: system });
  const script = element === "preferences" ? "preferences" : "inbox";
  const html = `<tidings-${element} ${attributes} TOKEN></tidings-${element}>`;
  const page = await scene.show(ana, script, html, { context });
  await paint(page, ground);
  return page;
}

async function paint(page: Page, ground: "light" | "dark"): Promise<void> {
  const [background, color] = grounds[ground];
  await page.addStyleTag({ content: `body { background: ${background}; color: ${color}; margin: 0 }` });
}

/** The colour of an element's text, from 0 (black) to 255, and whether anything between it and the page has a background. */
const looks = (page: Page, element: string, part: string) =>
  page.locator(`${element} ${part}`).first().evaluate((found) => {
    const channels = getComputedStyle(found).color.match(/[\d.]+/g)!.slice(0, 3).map(Number);
    const scale = getComputedStyle(found).color.startsWith("color(") ? 255 : 1;
    let painted: string | undefined;
    for (let at: Element | null = found.closest("[part=panel], .root"); at; at = at.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(at);
      if (backgroundColor !== "rgba(0, 0, 0, 0)" || backgroundImage !== "none") painted ??= `${at.className}: ${backgroundColor} ${backgroundImage}`;
    }
    return { light: (scale * (channels[0]! + channels[1]! + channels[2]!)) / 3, painted };
  });

for (const [element, attributes, part] of [["inbox", 'mode="page"', "[part=text]"], ["preferences", "", "bdi"]] as const) {
  for (const system of ["light", "dark"] as const) {
    test(`${element} lies on the page's own ground, light or dark, with a system that prefers ${system}`, only, async () => {
      const tag = `tidings-${element}`;
      const page = await show(element, system, "dark", attributes);
      await page.locator(`${tag} ${part}`).first().waitFor();
      await until(async () => (await looks(page, tag, part)).light > 180);
      assert.equal((await looks(page, tag, part)).painted, undefined);
      assert.deepEqual(await violations(page, tag), []);
      // The page changes its colours.
      await paint(page, "light");
      await until(async () => (await looks(page, tag, part)).light < 90);
      assert.equal((await looks(page, tag, part)).painted, undefined);
      assert.deepEqual(await violations(page, tag), []);
    });
  }
}

test("a panel and its menus have a ground of their own, even if the host's is transparent", only, async () => {
  const ana = scene.person();
  scene.mock.world(ana).publish();
  const page = await scene.open(ana);
  await page.addStyleTag({ content: "tidings-inbox { --tidings-background: transparent }" });
  await bell(page).click();
  await rows(page).first().hover();
  const solid = (part: string) => page.locator(`tidings-inbox ${part}`).first().evaluate((found) => getComputedStyle(found).backgroundColor);
  assert.equal(await solid("[part=panel]"), "rgb(255, 255, 255)");
  assert.equal(await solid(".acts"), "rgb(255, 255, 255)");
});

for (const deviceScaleFactor of [1, 1.25, 1.5, 2]) {
  test(`rows have whole heights, and a line between each two, at ${deviceScaleFactor} pixels`, only, async () => {
    const ana = scene.person();
    const world = scene.mock.world(ana);
    for (let n = 1; n <= 5; n++) {
      world.publish({
        object: { id: `works/${n}`, title: n % 2 ? "Water Lilies" : "A title that takes more than the one line that there is for most of them" },
        actor: { id: "ben", title: "Ben Okafor" }, ...(n % 3 === 0 && { body: "First.\n\nSecond.", text: () => "Ben wrote" }),
      });
    }
    world.publish({ object: { id: "works/5", title: "Water Lilies" }, actor: { id: "cleo", title: "Cleo Marsh" } });
    const context = await scene.context({ deviceScaleFactor });
    const page = await scene.open(ana, { context, attributes: 'style="position:absolute;top:3.3px;left:7.7px"' });
    await bell(page).click();
    await until(async () => (await rows(page).count()) === 5);
    await until(() => page.evaluate(() => document.querySelector("tidings-inbox")!.shadowRoot!.getAnimations().length === 0));
    const edges = await rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect()).flatMap(({ top, height }) => [top, height]));
    for (const edge of edges) {
      const pixels = edge * deviceScaleFactor;
      // Browsers keep places in 64ths.
      assert.ok(Math.abs(pixels - Math.round(pixels)) < 0.03, `${edge} px are ${pixels} on the screen`);
    }
    const odd = edges.filter((edge, at) => at % 2 === 1 && edge % 4 !== 0);
    assert.deepEqual(odd, [], "heights are multiples of 4");
    // One line of another colour at the foot of each row but the last.
    const line = await rows(page).first().evaluate((row) => getComputedStyle(row, "::after").borderBlockEndWidth);
    assert.ok(parseFloat(line) * deviceScaleFactor >= 1, line);
  });
}

test("what can be done with a row covers none of its words, and a body has no empty line", only, async () => {
  const ana = scene.person();
  const world = scene.mock.world(ana);
  world.publish({ object: { id: "i/1", title: "INV-2026-0042" }, text: () => "Your invoice INV-2026-0042 of October is here, it is for €1,290.50", actor: { id: "ben", title: "Ben" } });
  world.publish({ type: "other", object: { id: "i/2", title: "Plan" }, body: "@ana can you check the numbers?\n\nThanks", text: () => "Ben mentioned you" });
  const page = await scene.open(ana);
  await bell(page).click();
  for (const at of [0, 1]) {
    const row = rows(page).nth(at);
    await row.hover();
    const covered = await row.evaluate((row) => {
      const acts = row.querySelector(".acts")!.getBoundingClientRect();
      const words = [...row.querySelectorAll(".text, .body, .meta > *")].flatMap((part) => {
        const range = document.createRange();
        range.selectNodeContents(part);
        return [...range.getClientRects()];
      });
      return words.filter((word) => word.right > acts.left && word.left < acts.right && word.bottom > acts.top + 1 && word.top < acts.bottom).length;
    });
    assert.equal(covered, 0, `row ${at}`);
  }
  const heights = await page.locator("tidings-inbox [part=body]").evaluate((body) => [body.getBoundingClientRect().height, body.scrollHeight]);
  assert.deepEqual(heights, [20, 20]);
});

test("with reduced motion nothing fades for longer than a moment, the ground behind a sheet included", async () => {
  const context = await scene.context({ reducedMotion: "reduce", viewport: { width: 375, height: 700 } });
  const page = await scene.open(scene.person(), { context });
  await bell(page).click();
  const backdrop = await page.locator("tidings-inbox [part=panel]").evaluate((panel) => getComputedStyle(panel, "::backdrop").animationDuration);
  assert.equal(backdrop, "1e-05s");
});
