// A thousand pages of as many people, each the core alone, against a server: no browser has so many.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { here, Inbox, type InboxOptions } from "../../core/index.js";
import { until } from "./stage.js";

const { TIDINGS_URL: server, TIDINGS_KEY: key } = process.env;
const STREAMS = 1000;

interface SigningKey {
  id: string;
  secret: string;
}

async function admin<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${server}/v1/admin/signing-keys${path}`, {
    method, headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: body ? JSON.stringify(body) : null,
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

const make = () => admin<SigningKey>("POST", "", {});
const revoke = ({ id }: SigningKey) => admin("DELETE", `/${id}`);

function sign({ id, secret }: SigningKey, sub: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const iat = Math.floor(Date.now() / 1000);
  const signed = `${part({ alg: "HS256", kid: id })}.${part({ sub, iat, exp: iat + 3000 })}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

test("situation 3: of 1,000 streams each is back within 30 s of a rotation, spread, and asks its host once; without a token none goes on", { skip: server && key ? false : "it takes a server" }, async () => {
  let signs: SigningKey | undefined = await make();
  const pages = Array.from({ length: STREAMS }, (_, n) => {
    const page = { asked: 0, tried: [] as number[] };
    const options: InboxOptions = {
      server: server!, ports: {},
      getToken: async () => {
        page.asked++;
        return signs ? sign(signs, `streams-${n}`) : null;
      },
      env: {
        ...here,
        fetch: (url, init) => {
          page.tried.push(Date.now());
          return fetch(url, init);
        },
      },
    };
    return Object.assign(page, { inbox: new Inbox(options) });
  });
  try {
    const began = Date.now();
    for (const { inbox } of pages) inbox.start();
    await until(() => pages.every(({ inbox }) => inbox.state === "live"), 60_000);
    // What a busy machine takes to connect as many streams, and tries again for it, is no part of the rotation.
    const connects = Date.now() - began;
    for (const page of pages) page.tried.length = 0;
    const first = signs;
    signs = await make();
    const rotated = Date.now();
    await revoke(first);
    await until(() => pages.every(({ asked, inbox }) => asked === 2 && inbox.state === "live"), 30_000 + connects);
    const seconds = Array<number>(31).fill(0);
    for (const { tried } of pages) seconds[Math.floor((tried[0]! - rotated) / 1000)]!++;
    console.log(`back after ${Date.now() - rotated} ms; by second ${seconds.join(" ")}`);
    assert.ok(Math.max(...seconds) <= STREAMS / 4, seconds.join(" "));
    assert.equal(pages.filter(({ tried }) => tried.length !== 1).length, 0, "each tries once");
    for (const page of pages) page.tried.length = 0;

    const last = signs;
    signs = undefined;
    await revoke(last);
    // The token was got after a refusal: refused too, it is the last one until refresh().
    await until(() => pages.every(({ inbox }) => inbox.state === "stopped"), 30_000);
    for (const { inbox } of pages) inbox.refresh();
    await until(() => pages.every(({ inbox }) => inbox.state === "signed_out"), 30_000);
    await new Promise((done) => setTimeout(done, 5000));
    for (const { asked, tried } of pages) assert.deepEqual([asked, tried.length], [3, 0]);
  } finally {
    for (const { inbox } of pages) inbox.stop();
  }
});
