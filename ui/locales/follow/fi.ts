import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const fi: Texts<Key> = {
  follow: "Seuraa",
  following: "Seurataan",
  unfollow: "Lopeta seuraaminen",
  failed: "Se ei onnistunut. Yritä uudelleen.",
};

export default fi;
