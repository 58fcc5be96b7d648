import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const zh: Texts<Key> = {
  follow: "关注",
  following: "已关注",
  unfollow: "取消关注",
  failed: "操作未成功，请重试。",
};

export default zh;
