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
