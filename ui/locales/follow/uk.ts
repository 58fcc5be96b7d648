import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const uk: Texts<Key> = {
  follow: "Підписатися",
  following: "У підписках",
  unfollow: "Відписатися",
  failed: "Не вийшло. Спробуйте ще раз.",
};

export default uk;
