import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const de: Texts<Key> = {
  follow: "Folgen",
  following: "Gefolgt",
  unfollow: "Nicht mehr folgen",
  failed: "Das hat nicht geklappt. Bitte noch einmal versuchen.",
};

export default de;
