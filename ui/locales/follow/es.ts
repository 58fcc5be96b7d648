import type { Texts } from "../../element/texts.js";
import type { Key } from "./en.js";

const es: Texts<Key> = {
  follow: "Seguir",
  following: "Siguiendo",
  unfollow: "Dejar de seguir",
  failed: "No ha funcionado. Inténtalo de nuevo.",
};

export default es;
