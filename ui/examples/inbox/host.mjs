// A page with an inbox, and the token that it asks for: `TIDINGS_SIGNING_KEY=tsk_… node host.mjs`
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const key = process.env.TIDINGS_SIGNING_KEY; // what `tidings signing-key new` shows once
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function token(recipient) {
  const now = Math.floor(Date.now() / 1000);
  const signed = `${part({ alg: "HS256", kid: key.split("_")[1] })}.${part({ sub: recipient, iat: now, exp: now + 900 })}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

createServer(({ url }, response) => {
  // "ana" stands for whoever is signed in; nobody is: 401.
  if (url === "/token") response.end(JSON.stringify({ token: token("ana") }));
  else response.setHeader("content-type", "text/html").end(readFileSync(new URL("index.html", import.meta.url)));
}).listen(process.env.PORT ?? 8080, "localhost");
