import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const key = "tsk_K7_secretsecretsecretsecret";
const hosts = [["node", "host.mjs", 18181], ["python3", "host.py", 18182]] as const;

for (const [command, file, port] of hosts) {
  const missing = spawnSync(command, ["--version"]).status !== 0;
  test(`examples/inbox/${file} signs a token, and shows the page`, { skip: missing && `${command} is not there` }, async () => {
    const path = fileURLToPath(new URL(`../../examples/inbox/${file}`, import.meta.url));
    const host = spawn(command, [path], { env: { ...process.env, TIDINGS_SIGNING_KEY: key, PORT: String(port) }, stdio: "ignore" });
    try {
      let answer: Response | undefined;
      for (let tries = 0; !answer && tries < 200; tries++) {
        answer = await fetch(`http://127.0.0.1:${port}/tidings-token`).catch(() => undefined);
        if (!answer) await new Promise((done) => setTimeout(done, 50));
      }
      const { token } = (await answer!.json()) as { token: string };
      const [header, claims, signature] = token.split(".") as [string, string, string];
      const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
      assert.deepEqual(read(header), { alg: "HS256", kid: "K7" });
      const { sub, iat, exp } = read(claims);
      assert.equal(sub, "ana");
      assert.equal(exp - iat, 900);
      assert.equal(signature, createHmac("sha256", key).update(`${header}.${claims}`).digest("base64url"));
      const page = await fetch(`http://127.0.0.1:${port}/`);
      assert.match(page.headers.get("content-type")!, /text\/html/);
      assert.match(await page.text(), /<tidings-inbox token-url="\/tidings-token">/);
    } finally {
      host.kill();
    }
  });
}
