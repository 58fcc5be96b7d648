import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const tr: Texts<Key> = {
  follow: "Takip et",
  following: "Takipte",
  unfollow: "Takibi bırak",
  failed: "Olmadı. Tekrar deneyin.",
};

export default tr;
