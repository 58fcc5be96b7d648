import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const sv: Texts<Key> = {
  follow: "Följ",
  following: "Följer",
  unfollow: "Sluta följa",
  failed: "Det gick inte. Försök igen.",
};

export default sv;
