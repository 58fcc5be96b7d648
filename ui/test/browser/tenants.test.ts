import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, test } from "node:test";
import type { Page } from "playwright-core";
import { bell, count, real, rows, stage, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const { TIDINGS_KEY, TIDINGS_SIGNING_KEY } = process.env;
const skip = real && TIDINGS_KEY && TIDINGS_SIGNING_KEY ? false : "a server has to have tenants";

const titles = async (page: Page) => (await rows(page).locator("[part=title]").allTextContents()).sort();

test("a member of two tenants sees A with a token of A, B with one of B, both with none, each with its own badge", { skip }, async () => {
  const ana = scene.person();
  const [a, b] = [`a-${randomUUID()}`, `b-${randomUUID()}`];
  for (const tenant of [a, b]) await scene.member(tenant, ana);
  const publish = (title: string, tenant?: string) =>
    scene.publish(ana, { object: { id: `works/${title}`, title }, ...(tenant && { tenant }) });
  await publish("Aster", a);
  await publish("Birch", b);
  await publish("Beech", b);
  await publish("Common");

  // In one browser: its pages share a stream where they have the same view, and only there.
  const context = await scene.context();
  const open = (tenant: string) => scene.open(ana, { context, tenant });
  const pages = [await open(a), await open(b), await open("")] as const;
  const badges = async () => (await Promise.all(pages.map(count))).join(" ");
  const become = (expected: string) => until(async () => (await badges()) === expected);
  await become("2 3 4");

  await publish("Alder", a);
  await become("3 3 5");
  // What is of no tenant is the next that B sees: nothing of A came between.
  await publish("Clover");
  await become("4 4 6");

  const seen = ["Alder Aster Clover Common", "Beech Birch Clover Common", "Alder Aster Beech Birch Clover Common"];
  for (const [index, page] of pages.entries()) {
    await page.bringToFront();
    await bell(page).click();
    await until(async () => (await rows(page).count()) === seen[index]!.split(" ").length);
    assert.deepEqual((await titles(page)).join(" "), seen[index]);
    // Whose page opens first sees for all: what the view holds is one state.
    await become(["0 2 2", "0 0 0", "0 0 0"][index]!);
  }
});
