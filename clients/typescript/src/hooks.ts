/** A message of which a hook tells. */
export interface MessageTold {
  /** Its id, as `messages.get` takes it. */
  message: string;
  recipient: string;
  channel: string;
  /** The address that it went to; null where it never left. */
  address: string | null;
  /** Types of the events that it tells. */
  types: string[];
  /** Ids of the events that it tells. */
  events: string[];
  provider: string | null;
  reason?: string;
}

/** A preference of which a hook tells: of a category, a type, a topic or an object, or a time of a digest. */
export interface PreferenceTold {
  recipient: string;
  category?: string;
  type?: string;
  topic?: string;
  object?: string;
  /** Left out for a digest. */
  channel?: string;
  mode?: string;
  digest?: string;
  /** The day of the digest, or `default`. */
  on?: string;
  /** The time of the digest, or `default`. */
  at?: string;
  /** The tenant to whose notifications it applies, if it is not all. */
  tenant?: string;
  /** By whom: an API key, the recipient, or a link in a mail. */
  by: "key" | "user" | "link" | (string & {});
}

/** An address of which a hook tells. */
export interface SuppressionTold {
  channel: string;
  address: string;
  reason: string;
  recipient?: string;
  by: "provider" | "key" | (string & {});
}

/** A message that the webhook channel delivers to a recipient. */
export interface MessageDelivered {
  recipient: string;
  lane: string;
  at: string;
  title: string;
  text: string;
  url?: string | null;
  count: number;
  items: Record<string, unknown>[];
}

/** The body of a webhook: `type` says what `data` is. A newer server may send other types. */
export type Webhook =
  | { type: "message.sent" | "message.failed" | "message.bounced" | "message.complained"; timestamp: string; data: MessageTold }
  | { type: "preference.changed"; timestamp: string; data: PreferenceTold }
  | { type: "address.suppressed"; timestamp: string; data: SuppressionTold }
  | { type: "notification.message"; timestamp: string; data: MessageDelivered };
