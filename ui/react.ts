// Types of the elements for JSX. The elements themselves come from `@tidings/ui/inbox` and its neighbours.
import type { DetailedHTMLProps, HTMLAttributes } from "react";
import type { Counts, Item } from "./core/types.js";
import type { GetToken } from "./core/tokens.js";
import type { TidingsFollow } from "./follow/element.js";
import type { TidingsInbox } from "./inbox/element.js";
import type { TidingsPreferences } from "./preferences/element.js";

interface Common {
  /** Where tidings is; needed where a bundler has put the script elsewhere. */
  server?: string;
  "token-url"?: string;
  getToken?: GetToken;
  theme?: "auto" | "light" | "dark";
}

type Props<Element, More> = DetailedHTMLProps<HTMLAttributes<Element>, Element> & Common & More;

export interface TidingsElements {
  "tidings-inbox": Props<TidingsInbox, {
    mode?: "bell" | "page";
    tabs?: "category";
    "ontidings-open"?: (event: CustomEvent<Item>) => void;
    "ontidings-counts"?: (event: CustomEvent<Counts>) => void;
  }>;
  "tidings-preferences": Props<TidingsPreferences, { "push-worker"?: string }>;
  "tidings-follow": Props<TidingsFollow, { topic: string }>;
}

declare module "react" {
  namespace JSX {
    interface IntrinsicElements extends TidingsElements {}
  }
}
