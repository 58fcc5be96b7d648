// Types of the elements for JSX with React. The elements themselves come from `@tidings/ui/inbox` and its neighbours.
import type { DetailedHTMLProps, HTMLAttributes } from "react";
import type { FollowProps, InboxProps, PreferencesProps } from "./element/jsx.js";
import type { TidingsFollow } from "./follow/element.js";
import type { TidingsInbox } from "./inbox/element.js";
import type { TidingsPreferences } from "./preferences/element.js";

type Props<Element, Own> = DetailedHTMLProps<HTMLAttributes<Element>, Element> & Own;

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "tidings-inbox": Props<TidingsInbox, InboxProps>;
      "tidings-preferences": Props<TidingsPreferences, PreferencesProps>;
      "tidings-follow": Props<TidingsFollow, FollowProps>;
    }
  }
}
