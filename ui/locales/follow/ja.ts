import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const ja: Texts<Key> = {
  follow: "フォローする",
  following: "フォロー中",
  unfollow: "フォロー解除",
  failed: "うまくいきませんでした。もう一度お試しください。",
};

export default ja;
