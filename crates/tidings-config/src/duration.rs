//! Durations as people write them: `90s`, `4m`, `36h`, `7d`, or ISO 8601 without months and years.
//!
//! A day is 24 hours here: these are waits, not dates. Months and years have no fixed length.

pub use tidings_core::model::duration_text as print;
use tidings_core::model::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS};

/// The longest duration that a configuration may ask for, in milliseconds (3650 days).
pub const DURATION_MS_MAX: i64 = 3650 * DAY_MS;

/// The reason why a text is not a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// The text has another form.
    #[error("not a duration")]
    Form,
    /// The duration has months or years, which differ in length.
    #[error("months and years have no fixed length")]
    Calendar,
    /// The duration is 0.
    #[error("a duration must be more than 0")]
    Zero,
    /// The duration is longer than [`DURATION_MS_MAX`].
    #[error("a duration must be at most 3650d")]
    TooLong,
}

impl DurationError {
    /// Advice on how to fix it.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::Form => {
                "write a whole number and one of ms, s, m, h, d, such as `90s` or `7d`, or ISO 8601, \
                 such as `PT4M` or `P1W`"
            }
            Self::Calendar => "write it in days, such as `30d` or `P30D`",
            Self::Zero => "write at least `1ms`",
            Self::TooLong => "write `3650d` or less",
        }
    }
}

/// Reads a duration, in milliseconds: more than 0 and at most [`DURATION_MS_MAX`].
///
/// # Errors
/// [`DurationError`] is the rule that the text breaks.
pub fn parse(text: &str) -> Result<i64, DurationError> {
    let ms = match text.strip_prefix('P') {
        Some(rest) => iso(rest)?,
        None => {
            let (count, unit) = number(text)?;
            let unit_ms = match unit {
                "ms" => 1,
                "s" => SECOND_MS,
                "m" => MINUTE_MS,
                "h" => HOUR_MS,
                "d" => DAY_MS,
                _ => return Err(DurationError::Form),
            };
            count.saturating_mul(unit_ms)
        }
    };
    match ms {
        0 => Err(DurationError::Zero),
        ms if ms > DURATION_MS_MAX => Err(DurationError::TooLong),
        ms => Ok(ms),
    }
}

/// A duration as people say it, in its two largest units: what is finer is rounded.
#[must_use]
pub fn rounded(ms: i64) -> String {
    const UNITS: [(i64, &str); 5] =
        [(DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "m"), (SECOND_MS, "s"), (1, "ms")];
    for pair in UNITS.windows(2) {
        let [(large_ms, large), (small_ms, small)] = pair else {
            continue;
        };
        let small_count = ms.saturating_add(small_ms / 2) / small_ms;
        let small_per_large = large_ms / small_ms;
        if small_count >= small_per_large {
            let (count, rest) = (small_count / small_per_large, small_count % small_per_large);
            return match (rest, *small) {
                (0, _) | (_, "ms") => format!("{count}{large}"),
                _ => format!("{count}{large} {rest}{small}"),
            };
        }
    }
    format!("{ms}ms")
}

/// A whole number and what follows it. Saturates: what is too large is too long in any unit.
fn number(text: &str) -> Result<(i64, &str), DurationError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 {
        return Err(DurationError::Form);
    }
    Ok((text[..end].parse().unwrap_or(i64::MAX), &text[end..]))
}

/// Reads what follows the `P` of ISO 8601.
fn iso(text: &str) -> Result<i64, DurationError> {
    let (dates, times) = match text.split_once('T') {
        Some((_, "")) => return Err(DurationError::Form),
        Some((dates, times)) => (dates, times),
        None if text.is_empty() => return Err(DurationError::Form),
        None => (text, ""),
    };
    if dates.ends_with('W') && times.is_empty() {
        return match number(dates)? {
            (weeks, "W") => Ok(weeks.saturating_mul(7 * DAY_MS)),
            _ => Err(DurationError::Form),
        };
    }
    if dates.contains(['Y', 'M']) && dates.bytes().all(|b| b"0123456789YMWD".contains(&b)) {
        return Err(DurationError::Calendar);
    }
    let days = designated(dates, &[('D', DAY_MS)])?;
    let clock = designated(times, &[('H', HOUR_MS), ('M', MINUTE_MS), ('S', SECOND_MS)])?;
    Ok(days.saturating_add(clock))
}

/// Numbers with their designators, each at most once and in this order.
fn designated(text: &str, units: &[(char, i64)]) -> Result<i64, DurationError> {
    let (mut rest, mut units) = (text, units.iter());
    let mut sum: i64 = 0;
    while !rest.is_empty() {
        let (count, after) = number(rest)?;
        let designator = after.chars().next().ok_or(DurationError::Form)?;
        let (_, unit_ms) =
            units.find(|(unit, _)| *unit == designator).ok_or(DurationError::Form)?;
        sum = sum.saturating_add(count.saturating_mul(*unit_ms));
        rest = &after[designator.len_utf8()..];
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        for (text, ms) in [
            ("250ms", 250),
            ("90s", 90_000),
            ("4m", 240_000),
            ("36h", 129_600_000),
            ("7d", 7 * DAY_MS),
            ("3650d", DURATION_MS_MAX),
            ("PT4M", 240_000),
            ("P7D", 7 * DAY_MS),
            ("P1W", 7 * DAY_MS),
            ("PT1H30M", 5_400_000),
            ("P1DT1S", DAY_MS + 1_000),
        ] {
            assert_eq!(parse(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "", "4", "m", "-4m", "+4m", "4 m", "4M", "1w", "1h30m", "1.5h", "P", "PT", "P1DT",
            "PT30M1H", "PT1M1M", "P1W1D", "P1WT1H", "p1d", "P-1D", "P1.5D", "٤m", "P1Dé",
        ] {
            assert_eq!(parse(text), Err(DurationError::Form), "{text}");
        }
        assert_eq!(parse("P1M"), Err(DurationError::Calendar));
        assert_eq!(parse("P1Y2D"), Err(DurationError::Calendar));
        assert_eq!(parse("0s"), Err(DurationError::Zero));
        assert_eq!(parse("PT0S"), Err(DurationError::Zero));
        assert_eq!(parse("3651d"), Err(DurationError::TooLong));
        assert_eq!(parse("99999999999999999999999999d"), Err(DurationError::TooLong));
    }

    #[test]
    fn printed_durations_are_read_again() {
        for text in ["35d", "36h", "90s", "4m", "1ms"] {
            assert_eq!(print(parse(text).unwrap()), text);
        }
    }

    #[test]
    fn people_hear_two_units() {
        for (ms, said) in [
            (0, "0ms"),
            (999, "999ms"),
            (1_400, "1s"),
            (59_600, "1m"),
            (240_000, "4m"),
            (245_000, "4m 5s"),
            (3_599_900, "1h"),
            (8_000_000, "2h 13m"),
            (86_399_000, "1d"),
            (7 * DAY_MS + 9 * HOUR_MS, "7d 9h"),
        ] {
            assert_eq!(rounded(ms), said);
        }
    }
}
