import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const ko: Texts<Key> = {
  follow: "팔로우",
  following: "팔로잉",
  unfollow: "언팔로우",
  failed: "처리하지 못했습니다. 다시 시도하세요.",
};

export default ko;
