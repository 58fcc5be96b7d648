import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const da: Texts<Key> = {
  follow: "Følg",
  following: "Følger",
  unfollow: "Følg ikke længere",
  failed: "Det lykkedes ikke. Prøv igen.",
};

export default da;
