import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { real, stage, test, until } from "./stage.js";

const scene = stage();
afterEach(() => scene.clean());
const only = { skip: real ? "a push service has to be there" : false };

test("the worker shows what is pushed: the server's messages, declarative ones, and others", only, async () => {
  const { host } = scene;
  host.pages.set("/push.js", { html: `importScripts("${scene.server}/ui/worker.js")`, type: "text/javascript" });
  host.pages.set("/push", { html: "<!doctype html><title>Host</title>" });
  const context = await scene.context();
  await context.grantPermissions(["notifications"], { origin: host.url });
  const page = await context.newPage();
  await page.goto(`${host.url}/push`);
  const cdp = await context.newCDPSession(page);
  let registrationId = "";
  cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => (registrationId = registrations[0]?.registrationId ?? registrationId));
  await cdp.send("ServiceWorker.enable");
  await page.evaluate(async () => {
    await navigator.serviceWorker.register("/push.js");
    await navigator.serviceWorker.ready;
  });
  await until(() => registrationId);
  const shown = async (data: string) => {
    await cdp.send("ServiceWorker.deliverPushMessage", { origin: host.url, registrationId, data });
    let told: unknown[] = [];
    await until(async () => {
      told = await page.evaluate(async () => {
        const all = await (await navigator.serviceWorker.ready).getNotifications();
        const told = all.map(({ title, body, data }) => ({ title, body, data }));
        for (const one of all) one.close();
        return told;
      });
      return told.length > 0;
    }, 60_000);
    return told[0];
  };
  assert.deepEqual(await shown('{"title":"Second Sleep","body":"Rob published it","url":"/works/1"}'), {
    title: "Second Sleep", body: "Rob published it", data: "/works/1",
  });
  assert.deepEqual(await shown('{"web_push":8030,"notification":{"title":"Two","navigate":"https://app.example.org/2"}}'), {
    title: "Two", body: "", data: "https://app.example.org/2",
  });
  // What the server sends: a tag by which the next takes its place, and a badge.
  assert.deepEqual(await shown('{"web_push":8030,"id":"b1","app_badge":3,"notification":{"title":"Three","body":"B","navigate":"/","renotify":true,"tag":"t","app_badge":"3"}}'), {
    title: "Three", body: "B", data: "/",
  });
  assert.deepEqual(await shown("not JSON"), { title: new URL(host.url).host, body: "", data: null });
});

test("the preferences subscribe this browser, and end it", only, async () => {
  const ana = scene.person();
  scene.mock.settingsOf(ana).pushKey = "BKey";
  const page = await scene.show(ana, "preferences", `<p>Host</p>`);
  await page.evaluate((sub) => {
    const state = { there: null as object | null, options: undefined as object | undefined };
    const made = {
      toJSON() { return { endpoint: "https://push.example.net/1", keys: { p256dh: "p", auth: "a" } }; },
      async unsubscribe() { state.there = null; return true; },
    };
    Object.assign(window, {
      state,
      pushManager: {
        async getSubscription() { return state.there; },
        async subscribe(options: object) { state.options = options; return (state.there = made); },
      },
    });
    const element = document.createElement("tidings-preferences");
    element.setAttribute("token-url", `/token?sub=${sub}`);
    document.body.append(element);
  }, ana);
  const flip = page.locator('tidings-preferences [data-key="push"]');
  await flip.click();
  await until(async () => (await flip.getAttribute("aria-checked")) === "true");
  assert.equal((scene.mock.settingsOf(ana).push as any).endpoint, "https://push.example.net/1");
  assert.deepEqual(await page.evaluate(() => (window as any).state.options), { userVisibleOnly: true, applicationServerKey: "BKey" });
  await flip.click();
  await until(async () => (await flip.getAttribute("aria-checked")) === "false");
  assert.equal(scene.mock.settingsOf(ana).push, undefined);
});

test("a worker that the host names subscribes, where the page could by itself, too", only, async () => {
  const ana = scene.person();
  scene.mock.settingsOf(ana).pushKey = "BKey";
  const page = await scene.show(ana, "preferences", `<p>Host</p>`);
  await page.evaluate((sub) => {
    const asked: string[] = [];
    const [ofPage, ofWorker] = ["page", "worker"].map((name) => ({
      there: null as object | null,
      async getSubscription() { return this.there; },
      async subscribe() {
        asked.push(name);
        return (this.there = {
          toJSON() { return { endpoint: `https://push.example.net/${name}`, keys: { p256dh: "p", auth: "a" } }; },
        });
      },
    }));
    const registration = { pushManager: ofWorker };
    Object.assign(window, { asked, pushManager: ofPage });
    Object.defineProperty(navigator, "serviceWorker", { value: {
      async register(path: string) { asked.push(path); return registration; },
      async getRegistration() { return registration; },
      ready: Promise.resolve(registration),
    } });
    const element = document.createElement("tidings-preferences");
    element.setAttribute("token-url", `/token?sub=${sub}`);
    element.setAttribute("push-worker", "/push.js");
    document.body.append(element);
  }, ana);
  const flip = page.locator('tidings-preferences [data-key="push"]');
  await flip.click();
  await until(async () => (await flip.getAttribute("aria-checked")) === "true");
  assert.deepEqual(await page.evaluate(() => (window as any).asked), ["/push.js", "worker"]);
  assert.equal((scene.mock.settingsOf(ana).push as any).endpoint, "https://push.example.net/worker");
});
