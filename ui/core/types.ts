/** An object, an actor or a target as it is now. */
export interface Thing {
  id: string;
  title?: string | null;
  url?: string | null;
  image?: string | null;
  data?: Record<string, unknown>;
}

/** One notification. */
export interface Item {
  event: string;
  type: string;
  category?: string;
  actor?: Thing;
  object: Thing;
  target?: Thing;
  data?: Record<string, unknown>;
  body?: string | null;
  t: string;
  occurred_at?: string;
  reasons: string[];
  seen: boolean;
  read: boolean;
  text?: string;
  lang?: string;
  archived?: boolean;
  snoozed_until?: string | null;
}

/** A row of the inbox: items of one type about one thing. */
export interface Group {
  key: string;
  type: string;
  count: number;
  actors: string[];
  newest_at: string;
  seen: boolean;
  read: boolean;
  items: Item[];
  text?: string;
  lang?: string;
  tenant?: string;
  tenant_name?: string;
  archived?: boolean;
  snoozed_until?: string | null;
  /** The row's place: pages are in falling order of it, compared by bytes. */
  order: string;
}

export interface Unseen {
  unseen: number;
  unread: number;
}

/** Counts of rows as they were at `rev`. */
export interface Counts extends Unseen {
  rev: number;
  categories: Record<string, Unseen & { title?: string }>;
  /** Of the tenants with unread rows, in the view of all. */
  tenants?: Record<string, Unseen>;
}

export interface Page extends Unseen {
  groups: Group[];
  rev: number;
  next: string | null;
  categories?: Counts["categories"];
  tenants?: Counts["tenants"];
}

/** A frame of the stream: the counts, and what changed of the active rows. */
export interface Frame extends Counts {
  changed: Group[];
  gone: string[];
}

export interface Hello extends Counts {
  reset?: boolean;
}

export type ListState = "active" | "unseen" | "unread" | "archived" | "snoozed" | "all";

export interface Filter {
  state?: ListState;
  category?: string;
  type?: string;
  /** Rows of this tenant and of none. */
  tenant?: string;
}

export type MarkName =
  | "seen" | "read" | "unread" | "archive" | "unarchive" | "snooze" | "unsnooze" | "delete";

/** What a mark is about: exactly one of the first five. */
export interface Target {
  event?: string;
  object?: string;
  group?: string;
  up_to?: string;
  all?: true;
  category?: string;
  type?: string;
  tenant?: string;
  /** Of `snooze`: an instant. */
  until?: string;
  /** Of `snooze`: a duration, such as `1h`. */
  for?: string;
}
