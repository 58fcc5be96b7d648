// What the elements say when something is wrong, and to whom: readers see what it is to them, developers read the console.
import assert from "node:assert/strict";
import { afterEach } from "node:test";
import type { Page } from "playwright-core";
import { badge, bell, real, rows, stage, test, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const only = { skip: real ? "the mock's faults" : false };

/** The lines that tidings has written to the console of a page opened so. */
async function watched(open: () => Promise<Page>): Promise<{ page: Page; told: string[] }> {
  const told: string[] = [];
  const context = await scene.context();
  context.on("console", (message) => message.type() === "warning" && message.text().startsWith("tidings: ") && told.push(message.text()));
  scene.context = async () => context;
  try {
    return { page: await open(), told };
  } finally {
    delete (scene as { context?: unknown }).context;
  }
}

test("an origin that may not call is no reader without a network: the console names it, once", only, async () => {
  scene.mock.origins.delete(scene.host.url);
  const { page, told } = await watched(() => scene.open(scene.person()));
  await bell(page).click();
  await page.getByText("Can’t reach notifications. Trying again.").waitFor();
  assert.equal(await page.getByText("offline").count(), 0);
  // It is tried again, and told no more.
  await until(() => scene.mock.requests.length >= 0 && told.length > 0);
  await page.waitForTimeout(2500);
  assert.equal(told.length, 1);
  assert.match(told[0]!, /^tidings: network: .*\[users\] origins/);
  assert.ok(told[0]!.includes(scene.host.url));
  // Once it may call the bell goes on by itself.
  scene.mock.origins.add(scene.host.url);
  await until(async () => !(await page.getByText("Can’t reach").isVisible()));
});

test("a reader without a network is told so, and what failed for it too", only, async () => {
  const ana = scene.person();
  scene.mock.world(ana).publish();
  const page = await scene.open(ana);
  await bell(page).click();
  await until(async () => (await rows(page).count()) === 1);
  await page.context().setOffline(true);
  scene.mock.cut();
  await page.getByText("You’re offline. This updates when you’re back.").waitFor();
  await rows(page).first().hover();
  await page.locator("tidings-inbox [data-action=archive]").click();
  await page.locator("tidings-inbox .toast").getByText("You’re offline. Nothing was changed.").waitFor();
});

for (const [code, said] of [
  ["token_tenant", "are not available right now"], ["token_key", "are not available right now"], ["token_signature", "are not available right now"],
  ["token_expired", "Sign in"], ["token_revoked", "Sign in"],
] as const) {
  test(`${code}: readers are told "${said}"`, only, async () => {
    scene.mock.refuse = () => code;
    const ana = scene.person();
    const inbox = await watched(() => scene.open(ana));
    await bell(inbox.page).click();
    await inbox.page.locator("tidings-inbox .state").getByText(said).waitFor({ timeout: 30_000 });
    const preferences = await watched(() => scene.show(ana, "preferences", "<tidings-preferences TOKEN></tidings-preferences>"));
    await preferences.page.locator("tidings-preferences .state").getByText(said).waitFor({ timeout: 30_000 });
    const follow = await watched(() => scene.show(ana, "follow", '<tidings-follow topic="artist/1" TOKEN></tidings-follow>'));
    const faulty = said !== "Sign in";
    for (const { told } of [inbox, preferences, follow]) {
      if (faulty) await until(() => told.length > 0);
      assert.equal(told.length, faulty ? 1 : 0, `${told}`);
      assert.ok(told.every((line) => line.startsWith(`tidings: ${code}: `)));
    }
  });
}

test("rows that are no longer kept right say so", only, async () => {
  const ana = scene.person();
  scene.mock.world(ana).publish();
  const page = await scene.open(ana);
  await bell(page).click();
  await until(async () => (await rows(page).count()) === 1);
  scene.mock.refuse = () => "token_signature";
  scene.mock.end("token_signature");
  await page.locator("tidings-inbox .note").getByText("are not available right now").waitFor({ timeout: 30_000 });
  assert.equal(await rows(page).count(), 1);
});

test("a stream that a proxy keeps leaves no bell empty", only, async () => {
  scene.mock.silent = true;
  const ana = scene.person();
  scene.mock.world(ana).publish();
  const page = await scene.open(ana);
  await until(async () => (await badge(page).textContent()) === "1");
  await bell(page).click();
  await until(async () => (await rows(page).count()) === 1);
  // A second page of the browser, which has no stream of its own.
  const second = await scene.open(ana, { context: page.context() });
  await until(() => second.locator("tidings-inbox").evaluate((one: any) => one.inbox.counts?.rev > 0));
});
