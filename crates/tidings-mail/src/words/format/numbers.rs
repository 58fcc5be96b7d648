//! Formatting of numbers with the digits, the signs and the groups of a locale.

use fixed_decimal::{Decimal, SignedRoundingMode, UnsignedRoundingMode};
use icu_decimal::DecimalFormatter;
use icu_locale_core::Locale;

/// Maximum number of digits after the decimal sign, as in CLDR's patterns of numbers.
const FRACTION_DIGITS_MAX: i16 = 3;
/// Maximum length of a number, in bytes.
const NUMBER_BYTES_MAX: usize = 64;

/// A count: "10,000".
pub(crate) fn count(count: usize, locale: &Locale) -> String {
    formatted(&Decimal::from(count as u64), locale)
}

/// Formats a number: "1,234.5"; `None` if the text is not a number.
pub(super) fn number(text: &str, locale: &Locale) -> Option<String> {
    let mut number = read(text)?;
    round(&mut number, FRACTION_DIGITS_MAX);
    number.absolute.trim_end();
    Some(formatted(&number, locale))
}

/// Parses a number in the syntax of JSON.
pub(super) fn read(text: &str) -> Option<Decimal> {
    if text.len() > NUMBER_BYTES_MAX {
        return None;
    }
    let number: serde_json::Number = serde_json::from_str(text).ok()?;
    if text.contains(['e', 'E']) {
        // A float bounds the number of digits that an exponent makes.
        return number.to_string().replace('+', "").parse().ok();
    }
    text.parse().ok()
}

/// Rounds half away from zero to a number of digits after the decimal sign.
pub(super) fn round(number: &mut Decimal, fraction_digits: i16) {
    let mode = SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfExpand);
    number.round_with_mode(-fraction_digits, mode);
}

/// Formats a number with all of its digits.
pub(super) fn formatted(number: &Decimal, locale: &Locale) -> String {
    match DecimalFormatter::try_new(locale.into(), Default::default()) {
        Ok(formatter) => formatter.format(number).to_string(),
        // Unreachable: the compiled data include the root locale.
        Err(_) => number.to_string(),
    }
}
