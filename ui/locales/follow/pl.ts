import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const pl: Texts<Key> = {
  follow: "Obserwuj",
  following: "Obserwujesz",
  unfollow: "Przestań obserwować",
  failed: "Nie udało się. Spróbuj ponownie.",
};

export default pl;
