import type { Counts, Item } from "../core/types.js";
import type { GetToken } from "../core/tokens.js";

interface Common {
  /** Where tidings is; needed where a bundler has put the script elsewhere. */
  server?: string;
  "token-url"?: string;
  getToken?: GetToken;
  theme?: "auto" | "light" | "dark";
}

/** What `<tidings-inbox>` takes beside what all elements take. */
export interface InboxProps extends Common {
  mode?: "bell" | "page";
  tabs?: "category";
  "ontidings-open"?: (event: CustomEvent<Item>) => void;
  "ontidings-counts"?: (event: CustomEvent<Counts>) => void;
}

export interface PreferencesProps extends Common {
  /** Path of a service worker of the host's, for Web Push. */
  "push-worker"?: string;
  "ontidings-preferences"?: (event: CustomEvent) => void;
}

export interface FollowProps extends Common {
  topic: string;
  "ontidings-follow"?: (event: CustomEvent<{ topic: string; following: boolean }>) => void;
}
