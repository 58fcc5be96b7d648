import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";

for (const name of ["core", "inbox", "preferences", "follow"]) {
  const file = new URL(`../dist/${name}.js`, import.meta.url);
  test(`${name}.js may be imported where there is no document`, { skip: !existsSync(file) }, async () => {
    assert.equal(typeof globalThis.document, "undefined");
    await import(file.href);
  });
}

test("every locale has every text, and its plural forms", async () => {
  const { tags } = await import("../element/texts.js");
  for (const element of ["inbox", "preferences", "follow"]) {
    if (!existsSync(new URL(`../locales/${element}/en.ts`, import.meta.url))) continue;
    const english = (await import(`../locales/${element}/en.js`)).default;
    for (const tag of tags) {
      const { default: locale } = await import(new URL(`../dist/locales/${tag}.js`, import.meta.url).href);
      const texts = locale[element];
      assert.deepEqual(Object.keys(texts).sort(), Object.keys(english).sort(), `${element} ${tag}`);
      const names = (text: unknown) => [...new Set(JSON.stringify(text).match(/\{\w+\}/g) ?? [])].sort();
      for (const key of Object.keys(english)) {
        for (const name of names(texts[key])) assert.ok(names(english[key]).includes(name), `${element} ${tag} ${key}: ${name}`);
        if (typeof texts[key] === "string") assert.deepEqual(names(texts[key]), names(english[key]), `${element} ${tag} ${key}`);
      }
    }
  }
});
