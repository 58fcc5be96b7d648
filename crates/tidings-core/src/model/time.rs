//! Instants in milliseconds and UTC days: the only notions of time that the core keeps.

use std::fmt;

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

/// Milliseconds in a second.
pub const SECOND_MS: i64 = 1_000;
/// Milliseconds in a minute.
pub const MINUTE_MS: i64 = 60 * SECOND_MS;
/// Milliseconds in an hour.
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Milliseconds in a UTC day (leap seconds are not counted, as in POSIX time).
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// An instant: milliseconds since 1970-01-01T00:00:00Z, years 0000 to 9999.
///
/// # Examples
/// ```
/// use tidings_core::Instant;
///
/// assert_eq!(Instant(0).to_string(), "1970-01-01T00:00:00Z");
/// // Milliseconds are printed only where there are any.
/// assert_eq!(Instant(50).to_string(), "1970-01-01T00:00:00.050Z");
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Instant(pub i64);

/// A UTC date, as days since 1970-01-01: the unit of storage and of retention.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Day(pub i32);

/// A time on a wall clock, of any zone.
///
/// # Examples
/// ```
/// use tidings_core::model::WallTime;
///
/// let morning = WallTime::parse("2024-05-01T09:00").unwrap();
/// assert_eq!(morning.to_string(), "2024-05-01T09:00:00");
/// assert_eq!(WallTime::parse("2024-05-01T09:00:00").unwrap(), morning);
/// assert_eq!(WallTime::parse("2024-05-01T09:00Z"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WallTime(DateTime);

/// The reason why a text is not an instant or a date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// The text is not RFC 3339 with an offset.
    #[error("`{0}` is not an instant: write RFC 3339 with an offset, such as 2024-01-01T09:00:00Z")]
    Instant(String),
    /// The text is not a date.
    #[error("`{0}` is not a UTC date: write it as 2024-01-31")]
    Date(String),
}

impl Instant {
    /// Reads RFC 3339 with an offset; digits beyond milliseconds are cut off (towards the past).
    ///
    /// # Errors
    /// [`TimeError::Instant`] where the text is something else or outside the years 0000 to 9999.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Instant;
    ///
    /// // What is finer than a millisecond is cut off towards the past, also before 1970.
    /// let instant = Instant::parse("1969-12-31T23:59:59.9999Z")?;
    /// assert_eq!(instant, Instant(-1));
    /// // A time without an offset could be any of two dozen instants.
    /// assert!(Instant::parse("2024-01-01T09:00:00").is_err());
    /// # Ok::<(), tidings_core::model::TimeError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let fault = || TimeError::Instant(text.to_owned());
        let bytes = text.as_bytes();
        // jiff reads more forms than RFC 3339 has: only `YYYY-MM-DDTHH:MM:SS[.f](Z|+HH:MM)` passes.
        let shape = bytes.len() >= 20
            && bytes[4] == b'-'
            && bytes[7] == b'-'
            && matches!(bytes[10], b'T' | b't' | b' ')
            && bytes[13] == b':'
            && bytes[16] == b':'
            && bytes[..4].iter().all(u8::is_ascii_digit)
            && !text.contains('[');
        if !shape {
            return Err(fault());
        }
        let instant: jiff::Timestamp = text.parse().map_err(|_| fault())?;
        let nanos = instant.as_nanosecond();
        let ms = i64::try_from(nanos.div_euclid(1_000_000)).map_err(|_| fault())?;
        let instant = Self(ms);
        if instant < Self::MIN || instant > Self::MAX {
            return Err(fault());
        }
        Ok(instant)
    }

    /// The earliest instant: 0000-01-01T00:00:00Z.
    pub const MIN: Self = Self(-62_167_219_200_000);
    /// The latest instant: 9999-12-30T22:00:00Z (the end of what the calendar library carries).
    pub const MAX: Self = Self(253_402_207_200_000);

    /// This instant moved by some milliseconds, kept within [`Instant::MIN`] and [`Instant::MAX`].
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Instant;
    /// use tidings_core::model::HOUR_MS;
    ///
    /// let noon = Instant::parse("2024-02-28T12:00:00Z")?;
    /// assert_eq!(noon.plus_ms(24 * HOUR_MS).to_string(), "2024-02-29T12:00:00Z");
    /// // A hold of any length leads to an instant that the calendar has.
    /// assert_eq!(noon.plus_ms(i64::MAX), Instant::MAX);
    /// # Ok::<(), tidings_core::model::TimeError>(())
    /// ```
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms)).clamp(Self::MIN, Self::MAX)
    }

    /// The UTC day that holds this instant.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::{Day, Instant};
    ///
    /// // 23:30 in New York is already the next day in UTC.
    /// let late = Instant::parse("2024-01-31T23:30:00-05:00")?;
    /// assert_eq!(late.day(), Day::parse("2024-02-01")?);
    /// // Before 1970 as well, a day begins at its own midnight.
    /// assert_eq!(Instant(-1).day(), Day(-1));
    /// # Ok::<(), tidings_core::model::TimeError>(())
    /// ```
    #[must_use]
    pub fn day(self) -> Day {
        Day(i32::try_from(self.0.div_euclid(DAY_MS)).unwrap_or(i32::MAX))
    }
}

impl Day {
    /// 00:00 UTC of this day.
    #[must_use]
    pub fn start(self) -> Instant {
        Instant(i64::from(self.0) * DAY_MS)
    }

    /// 00:00 UTC of the next day: the first instant that is no longer in this one.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Day;
    ///
    /// let day = Day::parse("2023-12-31")?;
    /// assert_eq!(day.end().to_string(), "2024-01-01T00:00:00Z");
    /// assert_ne!(day.end().day(), day);
    /// assert_eq!(day.end().plus_ms(-1).day(), day);
    /// # Ok::<(), tidings_core::model::TimeError>(())
    /// ```
    #[must_use]
    pub fn end(self) -> Instant {
        Instant((i64::from(self.0) + 1) * DAY_MS)
    }

    /// Reads `YYYY-MM-DD`.
    ///
    /// # Errors
    /// [`TimeError::Date`] where the text is something else.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::Day;
    ///
    /// assert_eq!(Day::parse("1970-01-02")?, Day(1));
    /// // 2023 was no leap year, and a day has two digits.
    /// assert!(Day::parse("2023-02-29").is_err());
    /// assert!(Day::parse("2024-02-1").is_err());
    /// # Ok::<(), tidings_core::model::TimeError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        if text.len() != 10 {
            return Err(TimeError::Date(text.to_owned()));
        }
        Instant::parse(&format!("{text}T00:00:00Z"))
            .map(Instant::day)
            .map_err(|_| TimeError::Date(text.to_owned()))
    }
}

impl fmt::Display for Instant {
    /// In UTC as `2024-01-01T09:00:00Z`, with `.mmm` only where it is not zero (contract, section 3). What no
    /// calendar reaches, which can only come off a damaged disk, is printed as milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(timestamp) = jiff::Timestamp::from_millisecond(self.0) else {
            return write!(f, "{} ms since 1970", self.0);
        };
        let date = timestamp.to_zoned_datetime(jiff::tz::TimeZone::UTC).datetime();
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            date.year(),
            date.month(),
            date.day(),
            date.hour(),
            date.minute(),
            date.second()
        )?;
        match self.0.rem_euclid(SECOND_MS) {
            0 => f.write_str("Z"),
            ms => write!(f, ".{ms:03}Z"),
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.start().to_string();
        f.write_str(text.split('T').next().unwrap_or_default())
    }
}

impl WallTime {
    /// Reads a date and a time, `2024-05-01T09:00` with or without seconds; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_like = |(at, byte): (usize, u8)| match at {
            4 | 7 => byte == b'-',
            10 => byte == b'T',
            13 | 16 => byte == b':',
            _ => byte.is_ascii_digit(),
        };
        let has_form = matches!(text.len(), 16 | 19) && text.bytes().enumerate().all(is_like);
        text.parse().ok().filter(|_| has_form).map(Self)
    }

    /// The date and the time.
    pub(crate) fn civil(self) -> DateTime {
        self.0
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl From<WallTime> for String {
    fn from(time: WallTime) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for WallTime {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a wall-clock time")
    }
}

/// A duration in the largest unit that divides it.
///
/// # Examples
/// ```
/// use tidings_core::model::duration_text;
///
/// assert_eq!(duration_text(900_000), "15m");
/// assert_eq!(duration_text(1_500), "1500ms");
/// ```
#[must_use]
pub fn duration_text(ms: i64) -> String {
    for (unit_ms, unit) in [(DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "m"), (SECOND_MS, "s")] {
        if ms % unit_ms == 0 {
            return format!("{}{unit}", ms / unit_ms);
        }
    }
    format!("{ms}ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_and_printed() {
        for (text, printed) in [
            ("2024-01-01T09:00:00Z", "2024-01-01T09:00:00Z"),
            ("2024-01-01T09:00:00.0004+01:00", "2024-01-01T08:00:00Z"),
            ("2024-01-01T09:00:00.0509-00:30", "2024-01-01T09:30:00.050Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(Instant::parse(text).unwrap().to_string(), printed, "{text}");
        }
        for text in ["", "2024-01-01", "2024-01-01T09:00:00", "2024-02-30T00:00:00Z", "now"] {
            assert!(Instant::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn days_hold_their_instants() {
        let day = Day::parse("1969-12-31").unwrap();
        assert_eq!(day, Day(-1));
        assert_eq!(day.start().day(), day);
        assert_eq!(day.end().day(), Day(0));
        assert_eq!(day.to_string(), "1969-12-31");
    }
}
