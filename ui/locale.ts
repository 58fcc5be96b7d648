import type { Locale } from "./element/texts.js";

/** What each `@tidings/ui/locales/TAG` exports: hand it to `addLocale`. */
declare const locale: Locale;
export default locale;
