//! Formatting of amounts of money, with CLDR's digits and symbols of currencies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use fixed_decimal::{Decimal, Sign};
use icu_locale_core::Locale;
use unicode_bidi::{BidiClass, bidi_class};

use super::numbers;

/// The digits after the decimal sign of most currencies.
const USUAL_DIGITS: i16 = 2;

static TABLE: LazyLock<CurrencyTable> =
    LazyLock::new(|| CurrencyTable::read(include_str!("currencies.tsv")));

/// CLDR's data about currencies.
struct CurrencyTable {
    /// Number of digits after the decimal sign, if it is not the usual one.
    digits: BTreeMap<&'static str, i16>,
    codes: BTreeSet<&'static str>,
    locales: BTreeMap<&'static str, CurrencyLocale>,
}

/// The differences between a locale and its parent.
#[derive(Clone)]
struct CurrencyLocale {
    parent: &'static str,
    patterns: Option<Patterns>,
    symbols: BTreeMap<&'static str, &'static str>,
}

/// Patterns with an amount (`#`) and a symbol (`¤`); the one after a semicolon is for negative amounts.
#[derive(Clone, Copy)]
struct Patterns {
    /// With symbols such as `$`.
    usual: &'static str,
    /// With symbols whose character next to the amount is a letter.
    of_letters: &'static str,
    /// The decimal sign and the group sign of numbers, each followed by its replacement in amounts; empty = none.
    decimal: &'static str,
    group: &'static str,
}

impl CurrencyTable {
    fn read(text: &'static str) -> Self {
        let mut table =
            Self { digits: BTreeMap::new(), codes: BTreeSet::new(), locales: BTreeMap::new() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split('\t');
            let pairs = |fields: std::str::Split<'static, char>| {
                fields.filter_map(|field| field.split_once(' ')).collect::<BTreeMap<_, _>>()
            };
            match fields.next().unwrap_or_default() {
                "digits" => {
                    let digits = pairs(fields).into_iter();
                    table.digits =
                        digits.filter_map(|(code, of)| Some((code, of.parse().ok()?))).collect();
                }
                "codes" => table.codes = fields.collect(),
                locale => {
                    let mut next = || fields.next().unwrap_or_default();
                    let parent = next();
                    let patterns = Patterns {
                        usual: next(),
                        of_letters: next(),
                        decimal: next(),
                        group: next(),
                    };
                    let patterns = Some(patterns).filter(|patterns| !patterns.usual.is_empty());
                    let row = CurrencyLocale { parent, patterns, symbols: pairs(fields) };
                    table.locales.insert(locale, row);
                }
            }
        }
        table
    }

    /// The row of a locale, followed by those of its ancestors.
    fn rows(&self, locale: &Locale) -> impl Iterator<Item = &CurrencyLocale> {
        let tag = locale.id.to_string().to_ascii_lowercase();
        let mut tag = &tag[..];
        let first = loop {
            match (self.locales.get(tag), tag.rsplit_once('-')) {
                (Some(row), _) => break Some(row),
                (None, Some((shorter, _))) => tag = shorter,
                (None, None) => break self.locales.get("und"),
            }
        };
        std::iter::successors(first, |row| self.locales.get(row.parent))
    }
}

/// Formats an amount in units of a currency: "€12.50"; for an unknown currency the number and the code. `None` if the amount
/// is not a number.
pub(super) fn money(amount: &str, currency: &str, locale: &Locale) -> Option<String> {
    let mut amount = numbers::read(amount)?;
    let code = currency.to_ascii_uppercase();
    if !TABLE.codes.contains(&*code) {
        return Some(format!("{}\u{a0}{currency}", numbers::formatted(&amount, locale)));
    }
    let digits = TABLE.digits.get(&*code).copied().unwrap_or(USUAL_DIGITS);
    numbers::round(&mut amount, digits);
    amount.absolute.pad_end(-digits);
    let rows = || TABLE.rows(locale);
    let patterns = rows().find_map(|row| row.patterns)?;
    let symbol = rows().find_map(|row| row.symbols.get(&*code).copied()).unwrap_or(&code);
    let is_before = patterns.usual.find('¤') < patterns.usual.find('#');
    let neighbour = if is_before { symbol.chars().next_back() } else { symbol.chars().next() };
    let pattern = if neighbour.is_some_and(is_sign) { patterns.usual } else { patterns.of_letters };
    let (positive, negative) = match pattern.split_once(';') {
        Some((positive, negative)) => (positive, Some(negative)),
        None => (pattern, None),
    };
    let pattern = match (amount.sign(), negative) {
        (Sign::Negative, Some(negative)) => negative.replace('-', &minus(locale)),
        (Sign::Negative, None) => format!("{}{positive}", minus(locale)),
        _ => positive.to_owned(),
    };
    let plain = Decimal::new(Sign::None, amount.absolute);
    let number = patterns.with_signs(&numbers::formatted(&plain, locale));
    Some(pattern.replace('#', &number).replace('¤', symbol))
}

impl Patterns {
    /// Replaces the signs of a number by those of amounts.
    fn with_signs(self, number: &str) -> String {
        let own = |c: char| {
            let instead = [self.decimal, self.group]
                .into_iter()
                .find_map(|pair| pair.strip_prefix(c).and_then(|own| own.chars().next()));
            instead.unwrap_or(c)
        };
        number.chars().map(own).collect()
    }
}

/// Returns true for the sign of a currency, which is written without a space before the amount, unlike a letter.
fn is_sign(c: char) -> bool {
    // All signs have that class except the Afghan one, which belongs to a right-to-left script.
    bidi_class(c) == BidiClass::ET || c == '؋'
}

/// The minus sign of a locale, with its marks.
fn minus(locale: &Locale) -> String {
    let one = Decimal::from(1_u64);
    let negative = numbers::formatted(&Decimal::new(Sign::Negative, one.absolute.clone()), locale);
    negative.trim_end_matches(&numbers::formatted(&one, locale)).to_owned()
}
