import type { Text } from "../../element/texts.js";

const en = {
  follow: "Follow",
  following: "Following",
  unfollow: "Unfollow",
  failed: "That didn’t work. Try again.",
} satisfies Record<string, Text>;

export type Key = keyof typeof en;
export default en as Record<Key, Text>;
