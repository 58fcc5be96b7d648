import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const ar: Texts<Key> = {
  follow: "متابعة",
  following: "تتم المتابعة",
  unfollow: "إلغاء المتابعة",
  failed: "لم ينجح ذلك. حاول مرة أخرى.",
};

export default ar;
