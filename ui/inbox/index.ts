import { define } from "../element/element.js";
import { TidingsInbox } from "./element.js";

export { addLocale } from "../element/texts.js";
export { TidingsInbox };
define("tidings-inbox", TidingsInbox);
