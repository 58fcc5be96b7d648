import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const it: Texts<Key> = {
  follow: "Segui",
  following: "Segui già",
  unfollow: "Non seguire più",
  failed: "Non ha funzionato. Riprova.",
};

export default it;
