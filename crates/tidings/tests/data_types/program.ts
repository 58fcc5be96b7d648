import type { EventData, EventType, OrderPaidData } from "./types";

function publish<T extends EventType>(type: T, data: EventData[T]): string {
  return JSON.stringify({ type, data });
}

const paid: OrderPaidData = {
  order: "1",
  total: { amount: 9.5, currency: "EUR" },
  items: [{ name: "cup" }],
  status: "part-paid",
  "gift-wrapped": true,
  type: "order",
  reference: 7,
};
publish("order_paid", paid);
publish("thread", { text: "a", replies: [{ text: "b" }] });
publish("measured", { width: 2 });
publish("9-lives", { any: "thing" });
// @ts-expect-error: `total` is missing.
publish("order_paid", { order: "1", items: [], status: "paid" });
// @ts-expect-error: no status is called so.
publish("order_paid", { ...paid, status: "open" });
// @ts-expect-error: there is no such type.
publish("order_payed", paid);
