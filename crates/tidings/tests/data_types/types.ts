// Written by `tidings types --lang ts`: do not change it here.

/** `data` of `measured`. */
export type MeasuredData = Record<string, number>;

export interface OrderPaidDataItemsItem {
  count?: number;
  name: string;
}

export interface OrderPaidMoney {
  amount: number;
  currency: string;
}

/**
 * `data` of `order_paid`.
 *
 * What was paid.
 */
export interface OrderPaidData {
  "gift-wrapped"?: boolean;
  items: Array<OrderPaidDataItemsItem>;
  more?: unknown;
  note?: string | null;
  /** Number of the order */
  order: string;
  reference?: number | string;
  status: "paid" | "part-paid";
  tags?: Record<string, string>;
  tip?: OrderPaidMoney;
  total: OrderPaidMoney;
  type?: "order";
}

/** `data` of `thread`. */
export interface ThreadData {
  parent?: ThreadData;
  replies?: Array<ThreadData>;
  text: string;
}

/** The `data` of each type of event. */
export interface EventData {
  "9-lives": Record<string, unknown>;
  measured: MeasuredData;
  order_paid: OrderPaidData;
  thread: ThreadData;
}

/** A type of event. */
export type EventType = keyof EventData;
