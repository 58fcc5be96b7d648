import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { violations } from "./axe.js";
import { real, stage, test, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const only = { skip: real ? "the mock's categories" : false };
const html = "<tidings-preferences TOKEN></tidings-preferences>";
const weekly = { digest: "weekly", choose: ["on", "at"], every: "week", default_on: "mon", default_at: "09:00", tz: "Europe/Madrid" } as const;
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

const six = ["inbox", "email", "slack", "telegram", "sms", "webhook"];
for (let channels = 1; channels <= 6; channels++) {
  test(`names stay whole and nothing leaves its place, with ${channels} channels, from 320 to 1280 px`, only, async () => {
    const ana = scene.person();
    const settings = scene.mock.settingsOf(ana);
    settings.channels = six.slice(0, channels);
    settings.times = [weekly];
    const page = await scene.show(ana, "preferences", `<div id="box">${html}</div>`);
    await page.locator(key("open following")).click();
    await page.locator(key("following show_opens inbox")).waitFor();
    for (let width = 320; width <= 1280; width += 40) {
      const found = await page.evaluate(async (width) => {
        const box = document.querySelector<HTMLElement>("#box")!;
        box.style.width = `${width}px`;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const root = document.querySelector("tidings-preferences")!.shadowRoot!;
        const broken: string[] = [];
        for (const name of root.querySelectorAll("bdi, .lock")) {
          for (const text of [...name.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)) {
            const words = [...text.textContent!.matchAll(/\S+/g)];
            for (const { 0: word, index } of words) {
              const range = document.createRange();
              range.setStart(text, index);
              range.setEnd(text, index + word.length);
              if (range.getClientRects().length > 1) broken.push(word);
            }
          }
        }
        const { right } = box.getBoundingClientRect();
        const outside = [...root.querySelectorAll("th, td, li, button, select")].filter((one) => one.getBoundingClientRect().right > right + 0.5);
        const stacked = !!root.querySelector(".stacked");
        const names = [...root.querySelectorAll("tbody th")].map((one) => one.getBoundingClientRect().width);
        return { broken, outside: outside.length, stacked, narrowest: Math.min(...names) };
      }, width);
      assert.deepEqual([found.broken, found.outside], [[], 0], `${width} px`);
      assert.ok(found.narrowest >= 150, `${width} px: names have ${found.narrowest} px`);
      // What has its place is not stacked, unless its words need more than usual.
      const room = width - 180 - 130 * channels;
      if (room < 0) assert.ok(found.stacked, `${width} px`);
      if (room > 60) assert.ok(!found.stacked, `${width} px`);
    }
  });
}

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

test("quiet hours of channels are shown with their zone, and a person may have others, none, or these again", only, async () => {
  const ana = scene.person();
  const settings = scene.mock.settingsOf(ana);
  settings.hours = [
    { channel: "email", hours: { from: "22:00", to: "07:00" }, set_by: "channel" },
    { channel: "sms", hours: { from: "21:00", to: "09:30", days: ["sat", "sun"] }, set_by: "tenant" },
  ];
  settings.tz = "America/New_York";
  const page = await scene.show(ana, "preferences", html);
  const quiet = page.locator("tidings-preferences [part=quiet]");
  const select = page.locator(key("quiet"));
  await select.waitFor();
  assert.equal(await select.inputValue(), "default");
  const said = (await quiet.innerText()).replace(/\u202f/g, " ");
  assert.match(said, /Email · 10:00 PM – 7:00 AM\n/);
  assert.match(said, /SMS · 9:00 PM – 9:30 AM · Sat, Sun\n/);
  assert.match(said, /Time zone: Eastern Time/);
  await select.selectOption("own");
  await page.locator(key("quiet from")).waitFor();
  assert.deepEqual(settings.quiet, { from: "22:00", to: "07:00" });
  assert.match(await quiet.innerText(), /Time zone: Eastern Time/);
  await select.selectOption("never");
  await until(() => settings.quiet === null);
  assert.doesNotMatch(await quiet.innerText(), /Eastern Time|Email ·/);
  await select.selectOption("default");
  await until(() => settings.quiet === "default");
});

test("the day and the time of a digest are chosen, kept, and go back to the default", async () => {
  const ana = scene.person();
  if (!real) scene.mock.settingsOf(ana).times = [weekly];
  await scene.address(ana);
  const page = await scene.show(ana, "preferences", html);
  const on = page.locator(key("on weekly"));
  const at = page.locator(key("at weekly"));
  const own = async () => (await scene.preferences(ana)).filter(({ digest }) => digest).map(({ digest, on, at }) => [digest, on ?? null, at ?? null]);
  const saved = async (...lines: unknown[]) => until(async () => JSON.stringify(await own()) === JSON.stringify(lines));
  await on.waitFor();
  // The default is named where it stands.
  assert.equal(await on.locator("option:checked").innerText(), "Monday · Default");
  assert.match((await at.locator("option:checked").innerText()).replace(/\u202f/g, " "), /^9:00 AM · Default$/);
  assert.deepEqual([await on.locator("option").count(), await at.locator("option").count()], [7, 96]);
  await on.selectOption("fri");
  await saved(["weekly", "fri", null]);
  await at.selectOption("17:15");
  await saved(["weekly", "fri", "17:15"]);
  await page.reload();
  await on.waitFor();
  assert.deepEqual([await on.inputValue(), await at.inputValue()], ["fri", "17:15"]);
  await on.selectOption("default");
  await saved(["weekly", null, "17:15"]);
  await at.selectOption("default");
  await saved();
  assert.equal(await on.locator("option:checked").innerText(), "Monday · Default");
});

test("digests that nothing comes with, and times that are not open, are no choice", only, async () => {
  const ana = scene.person();
  const settings = scene.mock.settingsOf(ana);
  settings.digests = { ...settings.digests, monthly: "Once a month" };
  settings.times = [
    { ...weekly, digest: "daily", choose: ["at"], every: "day", default_on: null, default_at: "09:10", tz: "Asia/Tokyo" },
    { ...weekly, digest: "monthly", choose: ["on"], every: "month", default_on: 1 },
    weekly,
  ];
  const page = await scene.show(ana, "preferences", html);
  const times = page.locator("tidings-preferences [part=times]");
  const rows = () => times.locator("li bdi").allInnerTexts();
  await page.locator(key("at daily")).waitFor();
  assert.deepEqual(await rows(), ["Once a day", "Every Monday"]);
  assert.equal(await page.locator(key("on daily")).count(), 0);
  // A time between the quarters is there, as it is the default.
  assert.equal(await page.locator(`${key("at daily")} option`).count(), 97);
  // The zone of the person, and that of a digest that has its own.
  assert.deepEqual(await times.locator("p").allInnerTexts(), ["Time zone: Central European Time", "Time zone: Japan Standard Time"]);
  settings.preferences.push({ type: "show_opens", channel: "email", mode: "monthly" });
  await page.reload();
  const on = page.locator(key("on monthly"));
  await on.waitFor();
  assert.deepEqual(await rows(), ["Once a month", "Every Monday"]);
  await on.selectOption("31");
  await until(() => settings.preferences.some(({ digest, on }) => digest === "monthly" && on === 31));
  // Off on each channel, nothing comes with it.
  await page.locator(key("following email")).selectOption("never");
  settings.preferences = settings.preferences.filter(({ type }) => !type);
  await page.reload();
  await page.locator(key("following email")).waitFor();
  assert.equal(await times.count(), 0);
});

test("the lists of days and times are named, and follow the language", only, async () => {
  const names = async (lang: string) => {
    const ana = scene.person();
    scene.mock.settingsOf(ana).times = [weekly];
    const page = await scene.show(ana, "preferences", html, { lang });
    await page.locator(key("on weekly")).waitFor();
    await until(async () => lang === "en" || !(await page.locator("tidings-preferences h3").allInnerTexts()).includes("Delivery times"));
    const select = (part: string) => page.locator(key(`${part} weekly`));
    const first = (part: string, n: number) => select(part).locator("option").nth(n).innerText();
    return [await select("on").getAttribute("aria-label"), await select("at").getAttribute("aria-label"), await first("on", 0), await first("at", 69)];
  };
  assert.deepEqual((await names("en")).map((name) => name!.replace(/\u202f/g, " ")), ["Every Monday, day of the week", "Every Monday, hour", "Sunday", "5:15 PM"]);
  assert.deepEqual(await names("de"), ["Every Monday, Wochentag", "Every Monday, Stunde", "Montag · Standard", "17:15"]);
  assert.deepEqual(await names("ja"), ["Every Monday, 曜日", "Every Monday, 時", "日曜日", "17:15"]);
  // The days of a month are those of the calendar by which the server counts, which is not that of each language.
  const ana = scene.person();
  const settings = scene.mock.settingsOf(ana);
  settings.times = [{ ...weekly, digest: "monthly", choose: ["on"], every: "month", default_on: 1 }];
  settings.preferences.push({ type: "show_opens", channel: "email", mode: "monthly" });
  const page = await scene.show(ana, "preferences", html, { lang: "fa" });
  const days = page.locator(`${key("on monthly")} option`);
  await days.first().waitFor({ state: "attached" });
  const told = await days.allInnerTexts();
  assert.deepEqual([told.length, told[1], told[30]], [31, "۲", "۳۱"]);
});

test("long names of digests stay within the element, from 320 to 1280 px", only, async () => {
  const ana = scene.person();
  const settings = scene.mock.settingsOf(ana);
  settings.digests = { ...settings.digests, weekly: "Everything that happened at the galleries since last week" };
  settings.times = [weekly];
  const page = await scene.show(ana, "preferences", `<div id="box">${html}</div>`);
  await page.locator(key("on weekly")).waitFor();
  for (let width = 320; width <= 1280; width += 80) {
    const outside = await page.evaluate(async (width) => {
      const box = document.querySelector<HTMLElement>("#box")!;
      box.style.width = `${width}px`;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const parts = document.querySelector("tidings-preferences")!.shadowRoot!.querySelectorAll("[part=times] :is(bdi, select)");
      return [...parts].filter((one) => one.getBoundingClientRect().right > box.getBoundingClientRect().right).length;
    }, width);
    assert.equal(outside, 0, `${width} px`);
  }
});

test("channels without an address are no choice", only, async () => {
  const ana = scene.person();
  const settings = scene.mock.settingsOf(ana);
  settings.channels = ["inbox", "email", "slack", "webhook"];
  settings.lacking = ["slack", "webhook"];
  const page = await scene.show(ana, "preferences", html);
  await page.locator(key("comments inbox")).waitFor();
  const columns = () => page.locator("tidings-preferences thead th").allInnerTexts();
  assert.deepEqual((await columns()).slice(1), ["In the app", "Email"]);
  settings.lacking = ["slack"];
  await page.reload();
  await page.locator(key("comments webhook")).waitFor();
  assert.deepEqual((await columns()).slice(1), ["In the app", "Email", "Connected app"]);
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

test("a time of a digest that failed is taken back with a word, and the keyboard keeps its place", only, async () => {
  const ana = scene.person();
  scene.mock.settingsOf(ana).times = [weekly];
  const page = await scene.show(ana, "preferences", html);
  const on = page.locator(key("on weekly"));
  await on.focus();
  await page.keyboard.press("F");
  await page.getByText("Saved").waitFor();
  assert.equal(await on.inputValue(), "fri");
  assert.equal(await page.evaluate(() => (document.activeElement!.shadowRoot!.activeElement as HTMLElement).dataset.key), "on weekly");
  scene.mock.fail = (line) => (line === "PATCH /preferences" ? 422 : undefined);
  await on.selectOption("sat");
  await page.getByText("That didn’t work").waitFor();
  assert.equal(await on.inputValue(), "fri");
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
    const ana = scene.person();
    scene.mock.settingsOf(ana).times = [weekly];
    const page = await scene.show(ana, "preferences", html, { context, lang });
    await page.locator(key("open following")).click();
    await page.locator(key("quiet")).click();
    await page.locator(key("day sun")).waitFor();
    assert.deepEqual(await violations(page, "tidings-preferences"), []);
  });
}
