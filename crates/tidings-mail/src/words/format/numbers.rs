//! Numbers with the digits, the signs and the groups of a locale.

use fixed_decimal::{Decimal, SignedRoundingMode, UnsignedRoundingMode};
use icu_decimal::DecimalFormatter;
use icu_locale_core::Locale;

/// The digits after the decimal sign that CLDR's patterns of numbers have room for.
const FRACTION_DIGITS_MAX: i16 = 3;
/// The longest number that is read, in bytes.
const NUMBER_BYTES_MAX: usize = 64;

/// A count: "10,000".
pub(crate) fn count(count: usize, locale: &Locale) -> String {
    told(&Decimal::from(count as u64), locale)
}

/// A number: "1,234.5"; `None` if the text is none.
pub(super) fn number(text: &str, locale: &Locale) -> Option<String> {
    let mut number = read(text)?;
    round(&mut number, FRACTION_DIGITS_MAX);
    number.absolute.trim_end();
    Some(told(&number, locale))
}

/// The number that a text is, as JSON writes numbers.
pub(super) fn read(text: &str) -> Option<Decimal> {
    if text.len() > NUMBER_BYTES_MAX {
        return None;
    }
    let number: serde_json::Number = serde_json::from_str(text).ok()?;
    if text.contains(['e', 'E']) {
        // What it had of digits has the bounds of a float.
        return number.to_string().replace('+', "").parse().ok();
    }
    text.parse().ok()
}

/// Rounds to so many digits after the decimal sign, as people do.
pub(super) fn round(number: &mut Decimal, fraction_digits: i16) {
    let mode = SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfExpand);
    number.round_with_mode(-fraction_digits, mode);
}

/// A number with all of its digits.
pub(super) fn told(number: &Decimal, locale: &Locale) -> String {
    match DecimalFormatter::try_new(locale.into(), Default::default()) {
        Ok(formatter) => formatter.format(number).to_string(),
        // Not so: the compiled data end at the root.
        Err(_) => number.to_string(),
    }
}
