//! Slots of digests, found by walking dates and minutes: slow and simple.
//!
//! Written apart from the engine's calendar on purpose; it must never share code with it.

use std::collections::BTreeSet;

use jiff::Span;
use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use tidings_core::model::MINUTE_MS;
use tidings_core::rules::{Digest, Every, QuietHours};
use tidings_core::{Event, Instant};

/// The longest gap that any clock change has made is a day; two leave room.
const GAP_MINUTES_MAX: usize = 2 * 24 * 60;

/// The IANA zone of this name, UTC where there is none.
pub(super) fn zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap_or(TimeZone::UTC)
}

/// The first slot of `digest` strictly after `after` for the recipient of this id, by the wall clock of
/// `zone`. [`Instant::MAX`] where the calendar ends before there is one.
pub(super) fn next_slot(digest: &Digest, id: &str, zone: &TimeZone, after: Instant) -> Instant {
    let minutes = match u32::from(digest.spread_minutes) {
        0 => 0,
        minutes => i64::from(crc32(id) % minutes),
    };
    let late_ms = minutes * MINUTE_MS;
    let slot = walk(digest, zone, after.plus_ms(-late_ms));
    slot.map_or(Instant::MAX, |slot| slot.plus_ms(late_ms))
}

/// The end of the quiet hours at an instant, by the wall clock of `zone`; `None` outside of them.
pub(super) fn quiet_until(hours: &QuietHours, zone: &TimeZone, at: Instant) -> Option<Instant> {
    let local = zone.to_datetime(jiff::Timestamp::from_millisecond(at.0).ok()?);
    for days in -3..=2 {
        let begins = local.date().checked_add(Span::new().days(days)).ok()?;
        let weekday = begins.weekday().to_monday_zero_offset();
        if hours.days >> weekday & 1 == 0 {
            continue;
        }
        let ends =
            if hours.from_minute < hours.to_minute { begins } else { begins.tomorrow().ok()? };
        let from = shown_first(zone, begins, hours.from_minute)?;
        let to = shown_first(zone, ends, hours.to_minute)?;
        if (from..to).contains(&at) {
            // Where clocks change, one stretch may end in the next.
            return quiet_until(hours, zone, to).or(Some(to));
        }
    }
    None
}

/// The instant at which an event enters the lanes of a recipient in this zone (contract, section 6, "Schedules").
pub(super) fn enters(event: &Event, tz: &str, now: Instant) -> Instant {
    let t = match (&event.deliver_local, event.delay_ms, event.deliver_at) {
        (Some(local), _, _) => {
            let shown: DateTime = local.to_string().parse().expect("it is a date and a time");
            let minute = 60 * i16::from(shown.hour()) + i16::from(shown.minute());
            let minute = u16::try_from(minute).expect("no hour is negative");
            shown_first(&zone(tz), shown.date(), minute).unwrap_or(Instant::MAX)
        }
        (None, Some(delay_ms), _) => now.plus_ms(delay_ms),
        (None, None, deliver_at) => deliver_at.unwrap_or(now),
    };
    t.max(now)
}

/// The instants at which an event may enter anybody's lanes.
pub(super) fn all_t(event: &Event, now: Instant) -> BTreeSet<Instant> {
    let all = TimeZoneDatabase::bundled();
    let zones = all.available().map(|name| enters(event, name.as_str(), now));
    match event.deliver_local {
        Some(_) => zones.collect(),
        None => BTreeSet::from([enters(event, "UTC", now)]),
    }
}

/// CRC-32 (IEEE), bit by bit.
fn crc32(text: &str) -> u32 {
    let mut remainder = u32::MAX;
    for byte in text.bytes() {
        remainder ^= u32::from(byte);
        for _ in 0..8 {
            let odd = remainder & 1 == 1;
            remainder >>= 1;
            if odd {
                remainder ^= 0xedb8_8320;
            }
        }
    }
    !remainder
}

fn walk(digest: &Digest, zone: &TimeZone, after: Instant) -> Option<Instant> {
    let local = zone.to_datetime(jiff::Timestamp::from_millisecond(after.0).ok()?);
    // Two days back: a slot of an earlier date may have been moved over midnight.
    let mut date = local.date().checked_sub(Span::new().days(2)).unwrap_or_else(|_| local.date());
    loop {
        if falls_on(digest.every, date) {
            for minute in minutes_of(digest) {
                let slot = shown_first(zone, date, minute)?;
                if slot > after {
                    return Some(slot);
                }
            }
        }
        date = date.tomorrow().ok()?;
    }
}

fn falls_on(every: Every, date: Date) -> bool {
    let weekday = date.weekday();
    match every {
        Every::Day | Every::Hours(_) => true,
        Every::Weekday => !matches!(weekday, Weekday::Saturday | Weekday::Sunday),
        Every::Week(on) => weekday.to_monday_one_offset() == i8::try_from(on).unwrap_or(1),
        Every::Month(on) => date.day() == i8::try_from(on).unwrap_or(31).min(date.days_in_month()),
    }
}

/// The minutes of its day at which a digest has slots, in order.
fn minutes_of(digest: &Digest) -> Vec<u16> {
    let Every::Hours(hours) = digest.every else {
        return vec![digest.at_minute];
    };
    let round_the_day = |hour: u16| (digest.at_minute + 60 * hour) % (24 * 60);
    let mut minutes: Vec<u16> =
        (0..24).filter(|hour| hour % u16::from(hours) == 0).map(round_the_day).collect();
    minutes.sort_unstable();
    minutes
}

/// The first time that the wall clock shows a minute of a date; where a clock change leaves it out, the
/// first minute after it that the wall clock does show.
pub(super) fn shown_first(zone: &TimeZone, date: Date, minute: u16) -> Option<Instant> {
    let (hour, minute) = (i8::try_from(minute / 60).ok()?, i8::try_from(minute % 60).ok()?);
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
        let digest = Digest::new(every, at_minute);
        next_slot(&digest, "ann", &zone(tz), Instant::parse(after).unwrap()).to_string()
    }

    #[test]
    fn slots_follow_the_wall_clock() {
        for (every, at, tz, after, expected) in [
            (Every::Day, 540, "UTC", "2024-01-01T09:00:00Z", "2024-01-02T09:00:00Z"),
            (Every::Day, 540, "UTC", "2024-01-01T08:59:59.999Z", "2024-01-01T09:00:00Z"),
            // 02:30 does not exist on 2024-03-31 in Paris: 03:00 summer time it is.
            (Every::Day, 150, "Europe/Paris", "2024-03-30T12:00:00Z", "2024-03-31T01:00:00Z"),
            // 01:30 occurs twice in New York on 2024-11-03: the first, then not the second.
            (Every::Day, 90, "America/New_York", "2024-11-03T05:00:00Z", "2024-11-03T05:30:00Z"),
            (Every::Day, 90, "America/New_York", "2024-11-03T05:30:00Z", "2024-11-04T06:30:00Z"),
            // Every six hours round the day, and in a gap two that fall together.
            (Every::Hours(6), 540, "UTC", "2024-01-01T21:00:00Z", "2024-01-02T03:00:00Z"),
            (Every::Hours(1), 0, "Europe/Paris", "2024-03-31T01:00:00Z", "2024-03-31T02:00:00Z"),
            // Midnight itself is left out in Beirut on 2024-03-31.
            (Every::Day, 0, "Asia/Beirut", "2024-03-30T12:00:00Z", "2024-03-30T22:00:00Z"),
            // Apia had no 2011-12-30: its slot moves to the first minute of the 31st.
            (Every::Day, 540, "Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z"),
            (Every::Month(31), 540, "UTC", "2024-02-01T00:00:00Z", "2024-02-29T09:00:00Z"),
            (Every::Weekday, 540, "UTC", "2024-01-05T09:00:00Z", "2024-01-08T09:00:00Z"),
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
            assert_eq!(slot(every, at, tz, after), expected, "{every:?} {at} {tz} {after}");
        }
    }

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32("123456789"), 0xcbf4_3926);
    }

    #[test]
    fn the_calendar_ends_without_harm() {
        let digest = Digest::new(Every::Month(31), 1439);
        assert_eq!(next_slot(&digest, "ann", &TimeZone::UTC, Instant::MAX), Instant::MAX);
        assert!(next_slot(&digest, "ann", &TimeZone::UTC, Instant::MIN) > Instant::MIN);
    }
}
