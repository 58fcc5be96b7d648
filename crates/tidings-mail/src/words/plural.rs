//! The forms of words that go with a number, by CLDR's rules for whole numbers.

use std::collections::BTreeSet;

use icu_locale_core::Locale;
use icu_plurals::{PluralCategory, PluralRules};
use serde::Deserialize;

use crate::words::tag::parsed;

/// The categories of a locale, and the rules that put numbers into them.
#[derive(Clone, Debug)]
pub(crate) struct Plurals {
    /// The rules are loaded where they are asked: once loaded they can't go from thread to thread.
    locale: Locale,
    /// The categories of whole numbers, in CLDR's order.
    categories: Vec<PluralCategory>,
    /// True if `many` is of millions only, and may be left out.
    is_many_rare: bool,
}

impl Default for Plurals {
    /// The plurals of no language: a single category.
    fn default() -> Self {
        Self {
            locale: Locale::UNKNOWN,
            categories: vec![PluralCategory::Other],
            is_many_rare: false,
        }
    }
}

impl Plurals {
    /// The plurals of a locale; of one that CLDR lacks, a single category.
    pub(crate) fn of(locale: &str) -> Self {
        let mut locale = parsed(locale);
        // The parent of `sr-Latn` or `pa-PK` is the root, since other data depend on the script. CLDR's plural rules don't,
        // and Portuguese alone has others in a region.
        locale.id.script = None;
        if locale.id.language.as_str() != "pt" {
            locale.id.region = None;
        }
        let rules = rules(&locale);
        // CLDR's list of a locale has the categories of fractions too. Its conditions look at a number's last three
        // digits, or at whether it is round: these numbers reach all categories of whole ones.
        let small: BTreeSet<PluralCategory> =
            (0..=1_000).map(|n: usize| rules.category_for(n)).collect();
        let round: BTreeSet<PluralCategory> = (4..=9)
            .map(|digits| 10_usize.pow(digits))
            .flat_map(|n| [n, 2 * n])
            .map(|n: usize| rules.category_for(n))
            .collect();
        let is_many_rare =
            !small.contains(&PluralCategory::Many) && round.contains(&PluralCategory::Many);
        Self { locale, categories: small.union(&round).copied().collect(), is_many_rare }
    }

    /// Returns true if a word has the right number of forms.
    pub(crate) fn fit(&self, forms: usize) -> bool {
        let whole = self.categories.len();
        forms == whole || (self.is_many_rare && forms + 1 == whole)
    }

    /// The form that goes with a number, of as many as fit.
    pub(crate) fn form<'f, T: AsRef<str>>(&self, forms: &'f [T], count: usize) -> &'f str {
        let category = rules(&self.locale).category_for(count);
        let is_short = forms.len() < self.categories.len();
        let left = |other: &&PluralCategory| !is_short || **other != PluralCategory::Many;
        let found = self.categories.iter().filter(left).position(|of| *of == category);
        // A language without a form for millions takes the last one, `other`.
        let form = found.and_then(|at| forms.get(at)).or(forms.last());
        form.map_or("", AsRef::as_ref)
    }

    /// The categories in words: "one, few, many".
    pub(crate) fn in_words(&self) -> String {
        let word = |category: &PluralCategory| match category {
            PluralCategory::Zero => "zero",
            PluralCategory::One => "one",
            PluralCategory::Two => "two",
            PluralCategory::Few => "few",
            PluralCategory::Many => "many",
            PluralCategory::Other => "other",
        };
        let words: Vec<&str> = self.categories.iter().map(word).collect();
        let words = words.join(", ");
        if self.is_many_rare { format!("{words}, or without many") } else { words }
    }

    /// The number of categories.
    pub(crate) fn len(&self) -> usize {
        self.categories.len()
    }
}

/// A phrase about a number: a text for all numbers, or one for each category of its language.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum PluralPhrase {
    All(String),
    Each(Vec<String>),
}

impl PluralPhrase {
    /// The texts, of which [`Plurals::form`] finds one.
    pub(crate) fn forms(&self) -> &[String] {
        match self {
            Self::All(text) => std::slice::from_ref(text),
            Self::Each(forms) => forms,
        }
    }
}

fn rules(locale: &Locale) -> PluralRules {
    PluralRules::try_new_cardinal(locale.into())
        .expect("the compiled data end at the root, which has rules")
}

/// The number whose form a word has where it stands alone, as a heading: three, which most languages count in the
/// nominative plural, or one where the words after three are in another case.
pub(crate) fn number_of_headings(tag: &str) -> usize {
    let language = tag.split('-').next().unwrap_or(tag);
    if matches!(language, "bs" | "et" | "fi" | "hr" | "ru" | "sr") { 1 } else { 3 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn field_11_categories_are_cldrs_of_whole_numbers() {
        for (locale, categories) in [
            ("en", "one, other"),
            ("de-AT", "one, other"),
            ("pl", "one, few, many"),
            ("ru", "one, few, many"),
            ("uk", "one, few, many"),
            ("cs", "one, few, other"),
            ("he", "one, two, other"),
            ("iw", "one, two, other"),
            ("ar", "zero, one, two, few, many, other"),
            ("cy", "zero, one, two, few, many, other"),
            ("lv", "zero, one, other"),
            ("sl", "one, two, few, other"),
            ("ga", "one, two, few, many, other"),
            ("ja", "other"),
            ("zh-TW", "other"),
            ("fr", "one, many, other, or without many"),
            ("es", "one, many, other, or without many"),
            ("it", "one, many, other, or without many"),
            ("pt-PT", "one, many, other, or without many"),
            ("ca", "one, many, other, or without many"),
            ("sr-Latn", "one, few, other"),
            ("uz-Cyrl-UZ", "one, other"),
            ("pa-Arab-PK", "one, other"),
            ("zh-Hant-HK", "other"),
            ("es-419", "one, many, other, or without many"),
            ("xx", "other"),
            ("tlh", "other"),
            ("no tag", "other"),
        ] {
            assert_eq!(Plurals::of(locale).in_words(), categories, "{locale}");
        }
    }

    #[test]
    fn field_11_forms_go_with_numbers() {
        let polish = ["komentarz", "komentarze", "komentarzy"];
        let russian = ["отзыв", "отзыва", "отзывов"];
        let czech = ["komentář", "komentáře", "komentářů"];
        let arabic = ["لا", "واحد", "اثنان", "تعليقات", "تعليقًا", "تعليق"];
        let hebrew = ["תגובה", "שתי תגובות", "תגובות"];
        for (locale, forms, told) in [
            (
                "pl",
                &polish[..],
                &[
                    (0, 2),
                    (1, 0),
                    (2, 1),
                    (4, 1),
                    (5, 2),
                    (12, 2),
                    (21, 2),
                    (22, 1),
                    (25, 2),
                    (112, 2),
                ][..],
            ),
            (
                "ru",
                &russian,
                &[(0, 2), (1, 0), (3, 1), (5, 2), (11, 2), (21, 0), (22, 1), (1_000_000, 2)],
            ),
            ("cs", &czech, &[(0, 2), (1, 0), (4, 1), (5, 2), (22, 2)]),
            (
                "ar",
                &arabic,
                &[(0, 0), (1, 1), (2, 2), (3, 3), (10, 3), (11, 4), (99, 4), (100, 5), (103, 3)],
            ),
            ("he", &hebrew, &[(0, 2), (1, 0), (2, 1), (10, 2), (20, 2)]),
            ("ja", &["件"], &[(0, 0), (1, 0), (1_000, 0)]),
            (
                "fr",
                &["œuvre", "d’œuvres", "œuvres"],
                &[(0, 0), (1, 0), (2, 2), (1_000_000, 1), (1_000_001, 2)],
            ),
            ("fr", &["œuvre", "œuvres"], &[(0, 0), (1, 0), (2, 1), (1_000_000, 1)]),
            ("xx", &["x"], &[(0, 0), (1, 0), (5, 0)]),
        ] {
            let plurals = Plurals::of(locale);
            assert!(plurals.fit(forms.len()), "{locale}");
            for (count, form) in told {
                assert_eq!(plurals.form(forms, *count), forms[*form], "{locale} {count}");
            }
        }
    }

    /// The categories are those of `Intl.PluralRules` of Node 20 for these numbers.
    #[test]
    fn categories_are_those_of_intl() {
        const NUMBERS: [usize; 8] = [0, 1, 2, 3, 5, 11, 22, 100];
        for (locale, expected) in [
            ("ru", "many one few few many many few many"),
            ("pl", "many one few few many many few many"),
            ("cs", "other one few few other other other other"),
            ("ar", "zero one two few few many many other"),
        ] {
            let plurals = Plurals::of(locale);
            let words = plurals.in_words();
            let names: Vec<&str> = words.split(", ").collect();
            let told = NUMBERS.map(|count| plurals.form(&names, count));
            assert_eq!(told.join(" "), expected, "{locale}");
        }
    }

    #[test]
    fn another_number_of_forms_does_not_fit() {
        for (locale, fitting) in
            [("en", &[2][..]), ("pl", &[3]), ("ja", &[1]), ("fr", &[2, 3]), ("ar", &[6])]
        {
            let plurals = Plurals::of(locale);
            let all: Vec<usize> = (0..8).filter(|forms| plurals.fit(*forms)).collect();
            assert_eq!(all, fitting, "{locale}");
        }
    }

    const LOCALES: [&str; 36] = [
        "af", "ar", "be", "bg", "br", "ca", "cs", "cy", "da", "de", "en-GB", "es-MX", "fa", "fi",
        "fr-CA", "ga", "gv", "he", "hi", "hr", "is", "it", "ja", "ko", "kw", "lt", "lv", "mt",
        "pl", "pt-BR", "ro", "ru", "sl", "uk", "vi", "zh-HK",
    ];

    proptest! {
        /// The form is that of the number's category, whatever the number, in every locale.
        #[test]
        fn forms_are_in_cldrs_order(locale in prop::sample::select(&LOCALES[..]), count in 0_usize..=10_000_000) {
            let plurals = Plurals::of(locale);
            let locale: Locale = locale.parse().unwrap();
            let category = rules(&locale).category_for(count);
            let name = |category: &PluralCategory| format!("{category:?}");
            let forms: Vec<String> = plurals.categories.iter().map(name).collect();
            prop_assert!(plurals.fit(forms.len()));
            prop_assert_eq!(plurals.form(&forms, count), name(&category));
        }
    }
}
