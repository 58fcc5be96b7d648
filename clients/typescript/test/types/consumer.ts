// What types say to who uses the package as it is built: a fault that is expected must be one.
import { type Event, type Pages, ProblemError, type RecipientProfile, type Settings, Tidings, UnknownTypeError, verifyWebhook } from "@tidings/client";

declare const tidings: Tidings;
const same = <T>(value: T): T => value;

export async function answers(): Promise<void> {
  const one = await tidings.events.publish({ type: "comment", object: { id: "o" }, to: { everyone: true }, deliver_at: new Date() });
  same<string>(one.id);
  if (one.status === "duplicate") return;
  const many = await tidings.events.publish([{ type: "comment", object: { id: "o" }, to: { near: { lat: 1, lon: 2, km: 3 } } }]);
  for (const outcome of many) {
    if (outcome.status === "rejected") same<string>(outcome.problem.code);
    else same<number>(outcome.notifications);
  }
  same<RecipientProfile>(await tidings.recipients.get("ana"));
  const page: Pages<{ next: string | null }, { recipient?: string | null }> = tidings.messages.list();
  for await (const { recipient } of page) same<string | null | undefined>(recipient);
  for await (const answer of tidings.events.import([] as Event[])) {
    if (answer.status === "rejected") same<string>(answer.problem.hint);
    else same<string>(answer.id);
  }
  for await (const { event, data } of tidings.me.live()) {
    if (event === "inbox") same<string[]>(data.gone);
    if (event === "end") same<string>(data.code);
  }
  const state = (await tidings.recipients.get("ana")).state;
  same<string>(state);
}

export async function patches(): Promise<void> {
  await tidings.recipients.patch("ana", { name: null, email: undefined, tz: "Europe/Paris", quiet_hours: "default" });
  await tidings.recipients.patch("ana", { addresses: { apns: ["a", "b"], sms: null } });
  // @ts-expect-error a field that there is not
  await tidings.recipients.patch("ana", { nmae: "Ana" });
  // @ts-expect-error a state is one of three
  await tidings.recipients.patch("ana", { state: null });
  // @ts-expect-error an event has an audience
  await tidings.events.publish({ type: "comment", object: { id: "o" } });
  // @ts-expect-error since is needed
  await tidings.inbox.newer("ana", {});
}

export function errors(error: unknown): string {
  if (error instanceof UnknownTypeError) return error.hint;
  if (error instanceof ProblemError) return `${error.code} ${error.status} ${error.requestId}`;
  return "";
}

export async function webhooks(request: Request): Promise<string | null> {
  const { type, data } = await verifyWebhook("secret", request.headers, await request.text());
  if (type === "message.bounced") return data.address;
  if (type === "preference.changed") return data.mode ?? null;
  return data.recipient ?? null;
}

/** As a generator writes it from the schemas of `tidings types`. */
interface EventData {
  order_paid: { order: string; tip?: number };
  note: Record<string, unknown>;
}
declare const shop: Tidings<EventData>;
const common = { object: { id: "o" }, to: { recipients: ["ana"] } };

export async function data(): Promise<void> {
  await shop.events.publish({ type: "order_paid", data: { order: "1", tip: 2 }, ...common });
  await shop.events.publish([{ type: "note", ...common }, { type: "note", data: { any: 1 }, ...common }]);
  await shop.events.import([{ type: "note", ...common }]);
  // @ts-expect-error there is no such type
  await shop.events.publish({ type: "order_payed", ...common });
  // @ts-expect-error its data is needed
  await shop.events.publish({ type: "order_paid", ...common });
  // @ts-expect-error its data has an order
  await shop.events.publish({ type: "order_paid", data: { tip: 1 }, ...common });
}

export const settings: Settings = { url: "https://tidings.example.org", key: process.env.TIDINGS_KEY, fetch };
