import { define } from "../element/element.js";
import { TidingsFollow } from "./element.js";

export { addLocale } from "../element/texts.js";
export { TidingsFollow };
define("tidings-follow", TidingsFollow);
