// Serves index.html, and tokens for whoever is signed in. TIDINGS_SIGNING_KEY is what `tidings signing-key new` printed.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const secret = process.env.TIDINGS_SIGNING_KEY;
if (!secret) throw new Error("TIDINGS_SIGNING_KEY is not set");

function token(recipient, life = 900) {
  const part = (of) => Buffer.from(JSON.stringify(of)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const header = { alg: "HS256", kid: secret.split("_")[1] };
  const signed = `${part(header)}.${part({ sub: recipient, iat: now, exp: now + life })}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

createServer((request, response) => {
  if (request.url === "/tidings-token") {
    const recipient = "ana"; // take it from your own session: who is signed in; answer 401 if nobody is
    response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-store" });
    return response.end(JSON.stringify({ token: token(recipient) }));
  }
  if (request.url !== "/") return response.writeHead(404).end();
  response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
  response.end(readFileSync(new URL("index.html", import.meta.url)));
}).listen(Number(process.env.PORT ?? 8080), "127.0.0.1");
