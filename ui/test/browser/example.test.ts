import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { afterEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { count, bell, real, rows, stage, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const { env } = process;
const port = env.TIDINGS_EXAMPLE_PORT;
const skip = real && port ? false : "needs a server that lets in the example's page";

test("the bell of examples/inbox rings for ana as soon as something is published", { skip }, async () => {
  const file = fileURLToPath(new URL("../../../examples/inbox/host.mjs", import.meta.url));
  const host = spawn("node", [file], { env: { ...env, PORT: port }, stdio: "ignore" });
  try {
    const page = await (await scene.context()).newPage();
    // The example names the port that a server listens at by itself.
    const usual = "http://127.0.0.1:8990";
    await page.route(`${usual}/**`, (route) => route.continue({ url: route.request().url().replace(usual, real!) }));
    const site = `http://127.0.0.1:${port}/`;
    await until(() => page.goto(site).then(() => true, () => false));
    await bell(page).waitFor();
    const before = await count(page);
    await scene.publish("ana", { object: { id: "works/bell", title: "Water Lilies" } });
    await until(async () => (await count(page)) === before + 1);
    await bell(page).click();
    await until(async () => (await rows(page).count()) > 0);
    assert.match((await rows(page).first().textContent()) ?? "", /Water Lilies/);
  } finally {
    host.kill();
  }
});
