/** A text, or one for each plural form of the language. `{n}` and other names in braces are filled in. */
export type Text = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);

export type Texts<Key extends string = string> = Record<Key, Text>;

/** What a locale's file exports: the texts of each element. */
export type Locale = Partial<Record<"inbox" | "preferences" | "follow", Texts>>;

/** The languages that there are, beside English and `zh-Hant`. */
export const languages = "ar cs da de es fa fi fr he hi it ja ko nb nl pl pt ru sv tr uk zh";

const loaded = new Map<string, Promise<Locale | undefined>>();

/** Hands in a locale, where a bundler has it already: then nothing is loaded. */
export function addLocale(tag: string, locale: Locale): void {
  loaded.set(tag, Promise.resolve(locale));
}

/** The locale that serves a tag in its canonical form; `en` where there is none. */
export function pick(lang: string): string {
  if (/^zh-(Hant|TW|HK|MO)/.test(lang)) return "zh-Hant";
  const tag = lang.split("-")[0]!.replace(/^no$/, "nb");
  return loaded.has(tag) || languages.includes(tag) ? tag : "en";
}

/** Loads a locale from beside the script, else from the server. Undefined: English has to do. */
export function load(tag: string, script: string, server: string): Promise<Locale | undefined> {
  let locale = loaded.get(tag);
  if (!locale) {
    const from = (base: string) =>
      import(/* @vite-ignore */ /* webpackIgnore: true */ `${base}/locales/${tag}.js`).then((module) => module.default);
    const beside = script.replace(/\/[^/]*$/, "");
    locale = from(beside).catch(() => from(`${server}/ui`)).catch(() => {
      loaded.delete(tag);
      return undefined;
    });
    loaded.set(tag, locale);
  }
  return locale;
}

/** Fills a text in. A value `n` chooses the plural form, and is written as the language writes numbers. */
export function fill(text: Text, lang: string, values: Record<string, string | number> = {}): string {
  const n = Number(values.n);
  const form = typeof text === "string" ? text : (text[new Intl.PluralRules(lang).select(n)] ?? text.other);
  return form.replace(/\{(\w+)\}/g, (_, name) => Object(values[name] ?? "").toLocaleString(lang));
}
