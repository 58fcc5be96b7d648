import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const fa: Texts<Key> = {
  follow: "دنبال کردن",
  following: "دنبال می‌کنید",
  unfollow: "لغو دنبال کردن",
  failed: "انجام نشد. دوباره امتحان کنید.",
};

export default fa;
