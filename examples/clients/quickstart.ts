// Follow a topic, publish to it, and look at the inbox, with a generated client.
//
// Make the types and run this against a server that has `examples/first/tidings.toml`, in this directory:
//
//     npm ci
//     npx openapi-typescript ../../docs/openapi.json --output api.d.ts
//     npx tsc && TIDINGS_URL=http://127.0.0.1:8990 TIDINGS_KEY=$KEY node out/quickstart.js

import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const { TIDINGS_URL, TIDINGS_KEY } = process.env;
const client = createClient<paths>({ baseUrl: TIDINGS_URL, headers: { Authorization: `Bearer ${TIDINGS_KEY}` } });
const ana = { path: { id: "ana" } };
const comment = { type: "comment", actor: "ben", object: { id: "works/1", title: "Water Lilies" } };

await client.PUT("/v1/recipients/{id}", { params: ana, body: { email: "ana@example.org", state: "active" } });
await client.PUT("/v1/recipients/{id}/subscriptions/{topic}", { params: { path: { id: "ana", topic: "artist/42" } } });
const published = await client.POST("/v1/events", { body: { ...comment, to: { topics: ["artist/42"] } } });
const page = await client.GET("/v1/recipients/{id}/inbox", { params: { ...ana, query: { limit: 10 } } });
const event = published.data as { id: string; status: string; notifications: number };
const state = await client.GET("/v1/events/{id}", { params: { path: { id: event.id } } });

console.log("published:", event.status, "to", event.notifications);
console.log("inbox:", page.data?.groups[0].items[0].object.title, "unseen", page.data?.unseen);
console.log("state:", Object.entries(state.data?.channels ?? {}).map(([name, channel]) => `${name} ${channel.pending}`));
