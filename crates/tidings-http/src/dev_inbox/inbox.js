// Gives the elements their tokens, and publishes.
import "/ui/inbox.js";
import "/ui/preferences.js";

const { recipient } = document.body.dataset;

async function call(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(path, { method, headers, body: JSON.stringify(body) });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error([told.detail ?? answer.statusText, told.hint].filter(Boolean).join(". "));
  return told;
}

const getToken = async () => (await call("POST", "/v1/admin/tokens", { recipient })).token;
for (const element of document.querySelectorAll("tidings-inbox, tidings-preferences")) element.getToken = getToken;

const form = document.getElementById("publish");
const output = form?.querySelector("output");
const people = [["ben", "Ben Okafor"], ["cleo", "Cleo Marsh"], ["dora", "Dora Lindqvist"], ["emil", "Emil Hahn"]];
let count = 0;

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [id, title] = people[count++ % people.length];
  const number = Date.now().toString(36);
  try {
    // A recipient whom nobody has made gets nothing: an empty change makes them.
    await call("PATCH", `/v1/recipients/${encodeURIComponent(recipient)}`, {});
    await call("POST", "/v1/events", {
      id: `inbox-${number}`,
      type: new FormData(form).get("type"),
      actor: { id, title },
      object: { id: `example-${number}`, title: `Example ${count}`, url: "https://example.org/" },
      to: { recipients: [recipient] },
    });
    output.className = "";
    output.textContent = `Published inbox-${number}.`;
  } catch (error) {
    output.className = "failed";
    output.textContent = error.message;
  }
});
