import type { Event } from "./generated/types.js";

/** The `data` of events where no types of it are given: any object. */
export interface AnyData {
  [type: string]: Record<string, unknown>;
}

/** An event whose `data` is that of its type. `D` maps types of events to their data, as a generator writes it from `tidings types`. */
export type EventOf<D> = string extends keyof D ? Event : { [T in keyof D & string]: Omit<Event, "type" | "data"> & { type: T } & DataOf<D[T]> }[keyof D & string];

/** An event without `data` is one with `{}`. */
type DataOf<T> = {} extends T ? { data?: T | null | undefined } : { data: T };
