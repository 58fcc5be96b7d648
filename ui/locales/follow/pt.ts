import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const pt: Texts<Key> = {
  follow: "Seguir",
  following: "Seguindo",
  unfollow: "Deixar de seguir",
  failed: "Não deu certo. Tente de novo.",
};

export default pt;
