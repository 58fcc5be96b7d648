import { define } from "../element/element.js";
import { TidingsPreferences } from "./element.js";

export { addLocale } from "../element/texts.js";
export { TidingsPreferences };
define("tidings-preferences", TidingsPreferences);
