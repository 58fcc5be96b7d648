import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const zhHant: Texts<Key> = {
  follow: "追蹤",
  following: "追蹤中",
  unfollow: "取消追蹤",
  failed: "操作未成功，請再試一次。",
};

export default zhHant;
