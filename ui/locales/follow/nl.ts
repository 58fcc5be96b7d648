import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const nl: Texts<Key> = {
  follow: "Volgen",
  following: "Volgend",
  unfollow: "Ontvolgen",
  failed: "Dat lukte niet. Probeer het opnieuw.",
};

export default nl;
