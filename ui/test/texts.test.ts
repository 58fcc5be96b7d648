import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fill, languages, pick, type Text, type Texts } from "../element/texts.js";

const tags = [...languages.split(" "), "zh-Hant"];
const elements = ["inbox", "preferences", "follow"] as const;
const texts = async (element: string, tag: string): Promise<Texts> =>
  (await import(`../locales/${element}/${tag}.ts`)).default;
const forms = (text: Text) => (typeof text === "string" ? [text] : Object.values(text));
const places = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort().join(" ");

/** The texts of all elements and languages, with what a failure says. */
async function* all(): AsyncGenerator<{ tag: string; key: string; text: Text; english: Text; where: string }> {
  for (const element of elements) {
    const english = await texts(element, "en");
    for (const tag of ["en", ...tags]) {
      const own = await texts(element, tag);
      assert.deepEqual(Object.keys(own).sort(), Object.keys(english).sort(), `${element}/${tag}`);
      for (const [key, text] of Object.entries(own)) yield { tag, key, text, english: english[key]!, where: `${element}/${tag} ${key}` };
    }
  }
}

test("the elements speak the languages in which tidings has words", () => {
  const books = readdirSync(new URL("../../crates/tidings-mail/locales", import.meta.url));
  const own = books.map((book) => book.replace(/\.toml$/, "")).map((tag) => (tag === "zh-Hans" ? "zh" : tag));
  assert.deepEqual(["en", ...tags].sort(), own.sort());
  for (const element of elements) {
    const files = readdirSync(new URL(`../locales/${element}`, import.meta.url)).map((file) => file.replace(/\.ts$/, ""));
    assert.deepEqual(files.sort(), ["en", ...tags].sort(), element);
  }
});

test("a tag gets the texts that the server's messages are in", () => {
  for (const [tag, texts] of Object.entries({
    "de-AT": "de", "pt-PT": "pt", "zh": "zh", "zh-CN": "zh", "zh-Hans-TW": "zh", "zh-TW": "zh-Hant", "zh-HK": "zh-Hant", "zh-MO": "zh-Hant",
    "zh-Hant-CN": "zh-Hant", "ZH-tw": "zh-Hant", "no": "nb", "nb-NO": "nb", "iw": "he", "fa-AF": "fa", "eo": "en", "an": "en",
  })) assert.equal(pick(Intl.getCanonicalLocales(tag)[0]!), texts, tag);
});

test("each text has the places of the English one, and no other", async () => {
  for await (const { text, english, where } of all()) {
    const needed = places(forms(english).at(-1)!);
    for (const form of forms(text)) {
      // "One new notification" may do without a digit.
      const may = needed.replace(/ ?\{n\}/, "");
      assert.ok([needed, ...(typeof text === "object" ? [may] : [])].includes(places(form)), `${where}: ${form}`);
    }
    assert.ok(places(typeof text === "string" ? text : text.other) === needed, where);
  }
});

test("a text with forms has one for each number that is shown", async () => {
  const numbers = Array.from({ length: 200 }, (_, n) => n + 1);
  for await (const { tag, text, where } of all()) {
    if (typeof text === "string" || !("one" in text)) continue;
    const rules = new Intl.PluralRules(tag);
    for (const category of new Set(numbers.map((n) => rules.select(n)))) {
      assert.ok(category in text, `${where} lacks the form ${category}`);
    }
    const known = rules.resolvedOptions().pluralCategories;
    for (const category of Object.keys(text)) assert.ok(known.includes(category as Intl.LDMLPluralRule), `${where}: ${category}`);
  }
});

test("Polish, Russian and Arabic count 0, 1, 2, 3, 5, 11, 22 and 100", async () => {
  const counted = async (tag: string) => {
    const { arrived } = await texts("inbox", tag);
    return [0, 1, 2, 3, 5, 11, 22, 100].map((n) => fill(arrived!, tag, { n }));
  };
  assert.deepEqual(await counted("pl"), [
    "0 nowych powiadomień", "1 nowe powiadomienie", "2 nowe powiadomienia", "3 nowe powiadomienia", "5 nowych powiadomień",
    "11 nowych powiadomień", "22 nowe powiadomienia", "100 nowych powiadomień",
  ]);
  assert.deepEqual(await counted("ru"), [
    "0 новых уведомлений", "1 новое уведомление", "2 новых уведомления", "3 новых уведомления", "5 новых уведомлений",
    "11 новых уведомлений", "22 новых уведомления", "100 новых уведомлений",
  ]);
  assert.deepEqual((await counted("ar")).map((text) => text.replace(/[٠-٩]/g, (digit) => String("٠١٢٣٤٥٦٧٨٩".indexOf(digit)))), [
    "لا إشعارات جديدة", "إشعار جديد واحد", "إشعاران جديدان", "3 إشعارات جديدة", "5 إشعارات جديدة",
    "11 إشعارًا جديدًا", "22 إشعارًا جديدًا", "100 إشعار جديد",
  ]);
});

test("where a language has two ways to speak to people, the elements use neither", async () => {
  // Which of the two a brand speaks says `[brand] address`, which the elements don't know.
  const either: Record<string, RegExp> = {
    de: /\b([Dd]u|[Dd]ich|[Dd]ir|[Dd]ein\w*|Sie|Ihr\w*|Ihnen)\b/, zh: /[你您]/, "zh-Hant": /[你您]/,
  };
  for await (const { tag, text, where } of all()) {
    for (const form of forms(text)) assert.doesNotMatch(form, either[tag] ?? /$^/, where);
  }
});
