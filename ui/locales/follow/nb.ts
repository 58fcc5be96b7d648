import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const nb: Texts<Key> = {
  follow: "Følg",
  following: "Følger",
  unfollow: "Slutt å følge",
  failed: "Det gikk ikke. Prøv igjen.",
};

export default nb;
