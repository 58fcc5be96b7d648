import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const he: Texts<Key> = {
  follow: "מעקב",
  following: "במעקב",
  unfollow: "הפסקת המעקב",
  failed: "זה לא הצליח. אפשר לנסות שוב.",
};

export default he;
