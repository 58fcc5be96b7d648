// A site that signs tokens for its pages, and is told by webhooks what became of messages:
//
//     TIDINGS_SIGNING_KEY=tsk_… HOOK_SECRET=… npx tsx examples/site.ts
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { signToken, verifyWebhook, WebhookError } from "@tidings/client";

const { TIDINGS_SIGNING_KEY = "", HOOK_SECRET = "", PORT = "8080" } = process.env;

const site = createServer(async (request, response) => {
  try {
    if (request.url === "/tidings-token") {
      const user = "ana"; // Whoever is signed in here.
      response.end(JSON.stringify({ token: await signToken(TIDINGS_SIGNING_KEY, user, "15m") }));
    } else if (request.method === "POST" && request.url === "/tidings") {
      const { type, data } = await verifyWebhook(HOOK_SECRET, request.headers, await text(request));
      console.log(type, data.recipient);
      response.writeHead(204).end();
    } else {
      response.writeHead(404).end();
    }
  } catch (error) {
    response.writeHead(error instanceof WebhookError ? 401 : 500).end();
  }
});
site.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${(site.address() as { port: number }).port}`));
