//! Slots of digests, found by walking dates and minutes: slow and simple.
//!
//! Written apart from the engine's calendar on purpose; it must never share code with it.

use jiff::Span;
use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use tidings_core::Instant;
use tidings_core::rules::{Digest, Every};

/// The longest gap that any clock change has made is a day; two leave room.
const GAP_MINUTES_MAX: usize = 2 * 24 * 60;

/// The IANA zone of this name, UTC where there is none.
pub(super) fn zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled()
        .get(name)
        .unwrap_or(TimeZone::UTC)
}

/// The first slot of `digest` strictly after `after`, by the wall clock of `zone`.
/// [`Instant::MAX`] where the calendar ends before there is one.
pub(super) fn next_slot(digest: &Digest, zone: &TimeZone, after: Instant) -> Instant {
    walk(digest, zone, after).unwrap_or(Instant::MAX)
}

fn walk(digest: &Digest, zone: &TimeZone, after: Instant) -> Option<Instant> {
    let local = zone.to_datetime(jiff::Timestamp::from_millisecond(after.0).ok()?);
    // Two days back: a slot of an earlier date may have been moved over midnight.
    let mut date = local
        .date()
        .checked_sub(Span::new().days(2))
        .unwrap_or_else(|_| local.date());
    loop {
        if falls_on(digest.every, date)
            && let Some(slot) = slot_of(digest, zone, date)
            && slot > after
        {
            return Some(slot);
        }
        date = date.tomorrow().ok()?;
    }
}

fn falls_on(every: Every, date: Date) -> bool {
    let weekday = date.weekday();
    match every {
        Every::Day => true,
        Every::Weekday => !matches!(weekday, Weekday::Saturday | Weekday::Sunday),
        Every::Week(on) => weekday.to_monday_one_offset() == i8::try_from(on).unwrap_or(1),
        Every::Month(on) => date.day() == i8::try_from(on).unwrap_or(31).min(date.days_in_month()),
    }
}

/// The instant of a date's slot: the first time that the wall clock shows it; where a clock change
/// leaves it out, the first minute after it that the wall clock does show.
fn slot_of(digest: &Digest, zone: &TimeZone, date: Date) -> Option<Instant> {
    let hour = i8::try_from(digest.at_minute / 60).ok()?;
    let minute = i8::try_from(digest.at_minute % 60).ok()?;
    let mut shown: DateTime = date.at(hour, minute, 0, 0);
    for _ in 0..GAP_MINUTES_MAX {
        let offset = match zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => Some(offset),
            AmbiguousOffset::Fold { before, .. } => Some(before),
            AmbiguousOffset::Gap { .. } => None,
        };
        if let Some(offset) = offset {
            let timestamp = offset.to_timestamp(shown).ok()?;
            return Some(Instant(timestamp.as_millisecond()));
        }
        shown = shown.checked_add(Span::new().minutes(1)).ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(every: Every, at_minute: u16, tz: &str, after: &str) -> String {
        let digest = Digest {
            every,
            at_minute,
            tz: None,
        };
        next_slot(&digest, &zone(tz), Instant::parse(after).unwrap()).to_string()
    }

    #[test]
    fn slots_follow_the_wall_clock() {
        for (every, at, tz, after, expected) in [
            (
                Every::Day,
                540,
                "UTC",
                "2024-01-01T09:00:00Z",
                "2024-01-02T09:00:00Z",
            ),
            (
                Every::Day,
                540,
                "UTC",
                "2024-01-01T08:59:59.999Z",
                "2024-01-01T09:00:00Z",
            ),
            // 02:30 does not exist on 2024-03-31 in Paris: 03:00 summer time it is.
            (
                Every::Day,
                150,
                "Europe/Paris",
                "2024-03-30T12:00:00Z",
                "2024-03-31T01:00:00Z",
            ),
            // 01:30 occurs twice in New York on 2024-11-03: the first, then not the second.
            (
                Every::Day,
                90,
                "America/New_York",
                "2024-11-03T05:00:00Z",
                "2024-11-03T05:30:00Z",
            ),
            (
                Every::Day,
                90,
                "America/New_York",
                "2024-11-03T05:30:00Z",
                "2024-11-04T06:30:00Z",
            ),
            // Midnight itself is left out in Beirut on 2024-03-31.
            (
                Every::Day,
                0,
                "Asia/Beirut",
                "2024-03-30T12:00:00Z",
                "2024-03-30T22:00:00Z",
            ),
            // Apia had no 2011-12-30: its slot moves to the first minute of the 31st.
            (
                Every::Day,
                540,
                "Pacific/Apia",
                "2011-12-29T20:00:00Z",
                "2011-12-30T10:00:00Z",
            ),
            (
                Every::Month(31),
                540,
                "UTC",
                "2024-02-01T00:00:00Z",
                "2024-02-29T09:00:00Z",
            ),
            (
                Every::Weekday,
                540,
                "UTC",
                "2024-01-05T09:00:00Z",
                "2024-01-08T09:00:00Z",
            ),
            (
                Every::Week(1),
                60,
                "Pacific/Auckland",
                "2024-01-01T00:00:00Z",
                "2024-01-07T12:00:00Z",
            ),
            (
                Every::Week(7),
                1380,
                "Pacific/Honolulu",
                "2024-01-01T00:00:00Z",
                "2024-01-01T09:00:00Z",
            ),
        ] {
            assert_eq!(
                slot(every, at, tz, after),
                expected,
                "{every:?} {at} {tz} {after}"
            );
        }
    }

    #[test]
    fn the_calendar_ends_without_harm() {
        let digest = Digest {
            every: Every::Month(31),
            at_minute: 1439,
            tz: None,
        };
        assert_eq!(
            next_slot(&digest, &TimeZone::UTC, Instant::MAX),
            Instant::MAX
        );
        assert!(next_slot(&digest, &TimeZone::UTC, Instant::MIN) > Instant::MIN);
    }
}
