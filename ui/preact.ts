// Types of the elements for JSX with Preact. The elements themselves come from `@tidings/ui/inbox` and its neighbours.
import type { HTMLAttributes } from "preact";
import type { FollowProps, InboxProps, PreferencesProps } from "./element/jsx.js";
import type { TidingsFollow } from "./follow/element.js";
import type { TidingsInbox } from "./inbox/element.js";
import type { TidingsPreferences } from "./preferences/element.js";

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "tidings-inbox": HTMLAttributes<TidingsInbox> & InboxProps;
      "tidings-preferences": HTMLAttributes<TidingsPreferences> & PreferencesProps;
      "tidings-follow": HTMLAttributes<TidingsFollow> & FollowProps;
    }
  }
}
