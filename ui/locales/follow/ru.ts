import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const ru: Texts<Key> = {
  follow: "Подписаться",
  following: "В подписках",
  unfollow: "Отписаться",
  failed: "Не получилось. Попробуйте ещё раз.",
};

export default ru;
