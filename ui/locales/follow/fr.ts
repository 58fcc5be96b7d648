import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const fr: Texts<Key> = {
  follow: "Suivre",
  following: "Suivi",
  unfollow: "Ne plus suivre",
  failed: "Cela n’a pas fonctionné. Réessayez.",
};

export default fr;
