import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach } from "node:test";
import type { Page } from "playwright-core";
import { token } from "../clock.js";
import { bell, count, real, rows, stage, test, until } from "./stage.js";

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

test("in the view of all tenants a row says whose it is, and each tenant has a tab", { skip: real ? "the mock's tenants" : false }, async () => {
  const ana = scene.person();
  const world = scene.mock.world(ana);
  Object.assign(world.tenants, { acme: "Acme Works", bolt: "Bolt" });
  world.publish({ tenant: "acme", object: { id: "works/1", title: "Aster" } });
  world.publish({ tenant: "bolt", object: { id: "works/2", title: "Birch" } });
  world.publish({ object: { id: "works/3", title: "Common" } });
  const page = await scene.open(ana, { attributes: 'tabs="tenant"' });
  await bell(page).click();
  await until(async () => (await rows(page).count()) === 3);
  assert.deepEqual(await rows(page).locator("[part=tenant]").allTextContents(), ["Bolt", "Acme Works"]);
  const tab = (name: string) => page.locator("tidings-inbox [part=tab]", { hasText: name });
  // A tenant's view holds what is of none, too.
  assert.equal(await tab("Acme Works").textContent(), "Acme Works2");
  await tab("Acme Works").click();
  await until(async () => (await rows(page).count()) === 2);
  assert.deepEqual(await titles(page), ["Aster", "Common"]);
  await page.locator("tidings-inbox .read-all").click();
  await until(() => world.counts().unread === 1);
  // What is read keeps its tab.
  await tab("All").click();
  await until(async () => (await rows(page).count()) === 3);
  assert.equal(await tab("Acme Works").count(), 1);
  world.publish({ tenant: "bolt", object: { id: "works/4", title: "Beech" } });
  await until(async () => (await tab("Bolt").textContent()) === "Bolt2");
});

test("in the view of one tenant rows don't name it, and there are no tabs of tenants", { skip: real ? "the mock's tenants" : false }, async () => {
  const ana = scene.person();
  const { give } = scene.host;
  scene.host.give = (sub) => token(sub, Date.now(), 3_600_000, { tenant: "acme" });
  try {
    scene.mock.world(ana).publish({ tenant: "acme" });
    const page = await scene.open(ana, { attributes: 'tabs="tenant"' });
    await bell(page).click();
    await until(async () => (await rows(page).count()) === 1);
    assert.equal(await page.locator("tidings-inbox [part=tenant]").count(), 0);
    assert.ok(!(await page.locator("tidings-inbox .tabs").isVisible()));
  } finally {
    scene.host.give = give;
  }
});
