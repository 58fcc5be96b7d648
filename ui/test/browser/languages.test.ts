import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { languages } from "../../element/texts.js";
import { real, rows, stage, test, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const tags = ["en", ...languages.split(" "), "zh-Hant"];
const phone = { viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true };

test("in each language the elements fit a phone, uncut and in its direction", { skip: real ? "the mock has mutes and lanes" : false }, async () => {
  const ana = scene.person();
  await scene.publish(ana, { actor: { id: "ben", title: "Ben Okafor" } });
  const settings = scene.mock.settingsOf(ana);
  settings.pushKey = "BKey";
  settings.quiet = { from: "22:00", to: "07:00" };
  settings.digests = { ...settings.digests, weekly: "Everything that happened at the galleries since last week" };
  settings.times = [{ digest: "weekly", choose: ["on", "at"], every: "week", default_on: "wed", default_at: "09:00", tz: "Asia/Tokyo" }];
  const page = await scene.open(ana, {
    context: await scene.context(phone),
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Host</title>
${["inbox", "preferences", "follow"].map((name) => `<script type="module" src="${scene.server}/ui/${name}.js"></script>`).join("")}
<body style="margin:0">INBOX<tidings-preferences push-worker="/push.js" token-url="/token?sub=${ana}"></tidings-preferences>
<tidings-follow topic="artist/1" token-url="/token?sub=${ana}"></tidings-follow>`,
    attributes: 'mode="page"',
  });
  await until(async () => (await rows(page).count()) === 1);
  const elements = page.locator("tidings-inbox, tidings-preferences, tidings-follow");
  for (const tag of tags) {
    await elements.evaluateAll((all, tag) => all.forEach((one) => one.setAttribute("lang", tag)), tag);
    await until(() => elements.evaluateAll((all, tag) => all.every(({ shadowRoot }) => shadowRoot!.querySelector(".root")!.getAttribute("lang") === tag), tag));
    for (const open of [false, true]) {
      if (open) {
        await page.locator("tidings-inbox .dots").tap();
        await page.locator("tidings-inbox [data-action=snooze]").tap();
      }
      const found = await elements.evaluateAll((all) => {
        const parts = all.flatMap(({ shadowRoot }) => [...shadowRoot!.querySelectorAll<HTMLElement>(".root *")]);
        const shown = parts.filter((part) => part.checkVisibility({ visibilityProperty: true }) && !part.closest(".sr, svg, .thumb"));
        const wide = shown.filter((part) => {
          const { left, right } = part.getBoundingClientRect();
          return left < 0 || right > innerWidth || (part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX === "hidden");
        });
        // Han characters differ by language, and `all: initial` would take it away.
        const locales = all.map(({ shadowRoot }) => (getComputedStyle(shadowRoot!.querySelector(".root")!) as any).webkitLocale);
        return { locales, wide: wide.map((part) => `${part.className}: ${part.textContent}`), dirs: all.map(({ shadowRoot }) => getComputedStyle(shadowRoot!.querySelector(".root")!).direction) };
      });
      assert.deepEqual(found, { locales: Array(3).fill(`"${tag}"`), wide: [], dirs: Array(3).fill(["ar", "fa", "he"].includes(tag) ? "rtl" : "ltr") }, tag);
    }
    await page.keyboard.press("Escape");
    await page.locator("tidings-inbox .dots").tap();
  }
});

test("faces have two letters, or one in scripts without capitals, as in mails", async () => {
  const ana = scene.person();
  const names = { "Ben Okafor": "BO", "«Élodie» Brun": "ÉB", madonna: "M", "يوسف المنصوري": "ي", "田中 由紀": "田", "राजेश कुमार": "रा", "דנה כהן": "ד" };
  for (const [n, title] of Object.keys(names).entries()) await scene.publish(ana, { actor: { id: `p${n}`, title }, object: { id: `works/${n}`, title: "Dusk" } });
  const page = await scene.open(ana, { attributes: 'mode="page"' });
  await until(async () => (await rows(page).count()) === Object.keys(names).length);
  assert.deepEqual((await rows(page).locator(".face").allTextContents()).reverse(), Object.values(names));
});

test("a sentence runs as its language does, whoever is named first in it", { skip: real ? "the mock has the sentences" : false }, async () => {
  const ana = scene.person();
  const world = scene.mock.world(ana);
  // Names that run the other way are isolated; "auto" would take their direction all the same.
  world.lang = "fa";
  const object = { id: "works/1", title: "Dusk" };
  world.publish({ type: "comment", actor: { id: "ann", title: "Ann Lee" }, object, body: "Stunning.", text: ([name]) => `\u2068${name}\u2069 نظر داد` });
  const page = await scene.open(ana, { lang: "fa", attributes: 'mode="page"' });
  await until(async () => (await rows(page).count()) === 1);
  const direction = (part: string) => rows(page).locator(part).evaluate((element) => getComputedStyle(element).direction);
  assert.deepEqual([await direction(".text"), await direction(".body")], ["rtl", "ltr"]);
});
