import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { violations } from "./axe.js";
import { real, stage, test, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const only = { skip: real ? "the mock has to misbehave" : false };

test("a follow button knows, follows and unfollows; several ask once", async () => {
  const ana = scene.person();
  await scene.publish(ana);
  const asked = scene.host.asked;
  const page = await scene.show(ana, "follow",
    `<tidings-follow topic="artist/42" TOKEN></tidings-follow><tidings-follow topic="artist/a b/ü" TOKEN></tidings-follow>`);
  const [first, second] = [page.locator("tidings-follow button").first(), page.locator("tidings-follow button").nth(1)];
  await until(async () => await first.isEnabled());
  assert.equal(scene.host.asked, asked + 1);
  await page.evaluate(() => {
    (window as any).told = [];
    document.addEventListener("tidings-follow", (event) => (window as any).told.push((event as CustomEvent).detail));
  });
  await first.click();
  await second.focus();
  await page.keyboard.press("Space");
  await until(() => page.evaluate(() => (window as any).told.length === 2));
  await page.reload();
  await until(async () => (await first.getAttribute("aria-pressed")) === "true" && (await second.getAttribute("aria-pressed")) === "true");
  if (!real) assert.deepEqual([...scene.mock.topics.get(ana)!].sort(), ["artist/42", "artist/a b/ü"]);
  await first.click();
  await page.reload();
  await until(async () => (await second.getAttribute("aria-pressed")) === "true");
  assert.equal(await first.getAttribute("aria-pressed"), "false");
});

test("a topic that is not open is taken back with a word", async () => {
  const page = await scene.show(scene.person(), "follow", `<tidings-follow topic="secret/1" TOKEN></tidings-follow>`);
  const button = page.locator("tidings-follow button");
  await until(() => button.isEnabled());
  await button.click();
  await page.getByText("That didn’t work").waitFor();
  assert.equal(await button.getAttribute("aria-pressed"), "false");
});

test("without a token a follow button asks nothing", only, async () => {
  const { length } = scene.mock.requests;
  const page = await scene.show("ana", "follow", `<tidings-follow topic="artist/1"></tidings-follow>`);
  assert.ok(await page.locator("tidings-follow button").isDisabled());
  assert.equal(scene.mock.requests.length, length);
});

for (const [colorScheme, lang] of [["light", "en"], ["dark", "he"]] as const) {
  test(`axe finds nothing in follow buttons: ${colorScheme}, ${lang}`, async () => {
    const page = await scene.show(scene.person(), "follow", `<tidings-follow topic="artist/1" TOKEN></tidings-follow>`, {
      context: await scene.context({ colorScheme }), lang,
    });
    const button = page.locator("tidings-follow button");
    await until(() => button.isEnabled());
    assert.deepEqual(await violations(page, "tidings-follow"), []);
    await button.click();
    await page.mouse.move(0, 0);
    // Between two states colours are neither's.
    await page.locator("tidings-follow").evaluate(async (follow) => {
      await Promise.all((follow.shadowRoot?.getAnimations() ?? []).map((one) => one.finished.catch(() => 0)));
    });
    assert.deepEqual(await violations(page, "tidings-follow"), []);
  });
}
