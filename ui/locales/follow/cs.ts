import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const cs: Texts<Key> = {
  follow: "Sledovat",
  following: "Sledováno",
  unfollow: "Přestat sledovat",
  failed: "Nepovedlo se. Zkuste to znovu.",
};

export default cs;
