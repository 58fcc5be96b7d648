import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { violations } from "./axe.js";
import { real, stage, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const only = { skip: real ? "the mock's categories" : false };
const html = "<tidings-preferences TOKEN></tidings-preferences>";
const key = (name: string) => `tidings-preferences [data-key="${name}"]`;

test("situation 13: the next mail is told, and follows what is chosen", only, async () => {
  const page = await scene.show(scene.person(), "preferences", html);
  const next = page.locator("tidings-preferences [part=next]");
  await next.waitFor();
  assert.match((await next.textContent())!, /Email: next on Monday.* 9:00.*4 notifications/);
  await page.locator(key("following email")).selectOption("daily");
  await until(async () => !/Monday/.test((await next.textContent())!) || new Date().getDay() === 0);
  await page.locator(key("following email")).selectOption("never");
  await until(async () => (await next.count()) === 0);
});

test("a change shows at once, is kept, and goes back to the default", only, async () => {
  const ana = scene.person();
  const page = await scene.show(ana, "preferences", html);
  const inbox = page.locator(key("comments inbox"));
  await inbox.click();
  assert.equal(await inbox.getAttribute("aria-checked"), "false");
  await until(() => scene.mock.settings.get(ana)!.preferences.some(({ category, mode }) => category === "comments" && mode === "never"));
  await page.reload();
  await until(async () => (await inbox.getAttribute("aria-checked")) === "false");
  await page.locator(key("comments email")).selectOption("weekly");
  await until(() => scene.mock.settings.get(ana)!.preferences.length === 3);
  await until(async () => (await page.locator(`${key("comments email")} option[value=default]`).count()) === 1);
  await page.locator(key("comments email")).selectOption("default");
  await until(async () => (await page.locator(key("comments email")).inputValue()) === "immediate");
});

test("a category opens to its types; several modes are mixed, and what is required is locked", only, async () => {
  const page = await scene.show(scene.person(), "preferences", html);
  await page.locator(key("open following")).click();
  await until(async () => (await page.locator(key("following email")).inputValue()) === "");
  await page.locator(key("following show_opens email")).selectOption("weekly");
  await until(async () => (await page.locator(key("following email")).inputValue()) === "weekly");
  assert.ok(await page.locator(key("account inbox")).isDisabled());
  assert.match((await page.locator("tidings-preferences .lock").textContent())!, /Always on/);
});

test("quiet hours are set, and mutes lifted with a way back", only, async () => {
  const ana = scene.person();
  const page = await scene.show(ana, "preferences", html);
  await page.locator(key("quiet")).click();
  await page.locator(key("quiet from")).fill("21:30");
  await page.locator(key("quiet from")).blur();
  await until(() => JSON.stringify(scene.mock.settings.get(ana)!.quiet) === '{"from":"21:30","to":"07:00"}');
  await page.locator(key("day sun")).click();
  await until(() => JSON.stringify(scene.mock.settings.get(ana)!.quiet).includes('"sat"]'));
  await page.locator(key("mute Andy Warhol")).click();
  await until(() => scene.mock.settings.get(ana)!.preferences.length === 0);
  await page.locator("tidings-preferences .toast button").click();
  await until(() => scene.mock.settings.get(ana)!.preferences.length === 1);
});

test("what failed is taken back with a word", only, async () => {
  const page = await scene.show(scene.person(), "preferences", html);
  const select = page.locator(key("comments email"));
  await select.waitFor();
  scene.mock.fail = (line) => (line === "PATCH /preferences" ? 500 : undefined);
  await select.selectOption("weekly");
  await page.getByText("That didn’t work").waitFor();
  assert.equal(await select.inputValue(), "immediate");
});

test("the keyboard keeps its place through a change", only, async () => {
  const page = await scene.show(scene.person(), "preferences", html);
  await page.locator(key("comments inbox")).focus();
  await page.keyboard.press("Space");
  await page.getByText("Saved").waitFor();
  assert.equal(await page.evaluate(() => (document.activeElement!.shadowRoot!.activeElement as HTMLElement).dataset.key), "comments inbox");
});

test("without a token the preferences ask nothing", only, async () => {
  const { length } = scene.mock.requests;
  const page = await scene.show("ana", "preferences", "<tidings-preferences></tidings-preferences>");
  await page.getByText("Sign in to change").waitFor();
  assert.equal(scene.mock.requests.length, length);
});

for (const [colorScheme, lang, width] of [["light", "en", 1280], ["dark", "en", 1280], ["light", "he", 1280], ["dark", "ar", 375]] as const) {
  test(`axe finds nothing in the preferences: ${colorScheme}, ${lang}, ${width} px`, only, async () => {
    const context = await scene.context({ colorScheme, viewport: { width, height: 800 } });
    const page = await scene.show(scene.person(), "preferences", html, { context, lang });
    await page.locator(key("open following")).click();
    await page.locator(key("quiet")).click();
    await page.locator(key("day sun")).waitFor();
    assert.deepEqual(await violations(page, "tidings-preferences"), []);
  });
}
