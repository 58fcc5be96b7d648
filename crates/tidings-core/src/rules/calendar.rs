//! The slots of digests: wall-clock rules, evaluated anew for each slot.
//!
//! A rule such as "Mondays at 09:00" has no fixed period in UTC: clocks change, and whole days have
//! been skipped. So a slot is always a wall time first, and an instant second.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp};

use crate::model::preference::OwnTimes;
use crate::model::time::{Instant, MINUTE_MS, SECOND_MS, WallTime};
use crate::rules::{Digest, Every, QuietHours};

/// The zones that were compiled in, so that every machine gives the same answers.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// All of them.
static ALL_ZONES: LazyLock<Vec<Zone>> = LazyLock::new(|| {
    let names = ZONES.available();
    names.filter_map(|name| Zone::find(name.as_str())).collect()
});

/// A time zone of the IANA database. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// Finds a zone by its IANA name, in whatever case; anything else, such as a POSIX rule, an
    /// offset or a file, is no zone.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::rules::Zone;
    ///
    /// assert_eq!(Zone::find("europe/berlin").unwrap().name(), "Europe/Berlin");
    /// assert_eq!(Zone::find("+01:00"), None);
    /// assert_eq!(Zone::find("CET-1CEST,M3.5.0,M10.5.0/3"), None);
    /// ```
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let zone = ZONES.get(name).ok()?;
        (!zone.is_unknown()).then_some(Self(zone))
    }

    /// Coordinated universal time, which has no rules.
    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The zone's name as the database writes it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The offset from UTC at an instant, in milliseconds.
    #[must_use]
    pub(crate) fn offset_ms(&self, at: Instant) -> i64 {
        let at = Timestamp::from_millisecond(at.0);
        at.map_or(0, |at| i64::from(self.0.to_offset(at).seconds()) * SECOND_MS)
    }

    /// The instant at which its clock shows a time: of two the first; where a clock change leaves it out, the first
    /// whole minute after. [`Instant::MAX`] beyond the calendar's end.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::WallTime;
    /// use tidings_core::rules::Zone;
    ///
    /// let morning = WallTime::parse("2024-05-01T09:00").unwrap();
    /// let paris = Zone::find("Europe/Paris").unwrap();
    /// assert_eq!(paris.when(morning).to_string(), "2024-05-01T07:00:00Z");
    /// ```
    #[must_use]
    pub fn when(&self, time: WallTime) -> Instant {
        let instant = self.instant(time.civil()).unwrap_or(Instant::MAX);
        instant.clamp(Instant::MIN, Instant::MAX)
    }

    /// The wall clock at an instant that the calendar has.
    fn wall(&self, at: Instant) -> DateTime {
        let at = Timestamp::from_millisecond(at.0).expect("the calendar carries all instants");
        self.0.to_datetime(at)
    }

    /// The instant of a wall time: of two the first; where a clock change leaves it out, of the
    /// first valid whole minute after. `None` beyond the calendar's end.
    fn instant(&self, mut wall: DateTime) -> Option<Instant> {
        loop {
            let (before, after) = match self.0.to_ambiguous_timestamp(wall).offset() {
                AmbiguousOffset::Gap { before, after } => (before, after),
                AmbiguousOffset::Unambiguous { offset: first }
                | AmbiguousOffset::Fold { before: first, .. } => {
                    let at = first.to_timestamp(wall).ok()?;
                    return Some(Instant(at.as_millisecond()));
                }
            };
            // Had the clock not changed it would show the time left out only after the change.
            let past = before.to_timestamp(wall).ok()?;
            let changes = self.0.preceding(past.checked_add(Span::new().nanoseconds(1)).ok()?);
            let end_of_gap = changes
                .map(|change| after.to_datetime(change.timestamp()))
                .take_while(|shown| *shown > wall)
                .last()?;
            let whole = end_of_gap.second() == 0 && end_of_gap.subsec_nanosecond() == 0;
            wall = if whole { end_of_gap } else { next_minute(end_of_gap)? };
        }
    }
}

/// The recipient's part in a slot.
pub trait PersonCalendar {
    /// The zone; `None` if it is not needed.
    fn zone(&self) -> Option<&Zone>;

    /// The checksum of the id, by which slots are spread.
    fn checksum(&self) -> u32;

    /// The times that they chose for a digest.
    fn own_times(&self, digest: &str) -> OwnTimes;
}

/// Recipients whose deadlines are the same: those of a zone, of the same times of their own and, where slots are spread,
/// of a checksum.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeadlineGroup<'a> {
    /// The zone; `None` if it is not needed.
    pub zone: Option<&'a Zone>,
    /// The checksum of one of them; 0 if it is not needed.
    pub checksum: u32,
    /// The times that they chose for the digest.
    pub own_times: OwnTimes,
}

impl PersonCalendar for DeadlineGroup<'_> {
    fn zone(&self) -> Option<&Zone> {
        self.zone
    }

    fn checksum(&self) -> u32 {
        self.checksum
    }

    fn own_times(&self, _digest: &str) -> OwnTimes {
        self.own_times
    }
}

/// The instants at which the clock of some zone shows a time, ascending.
#[must_use]
pub fn anywhere(time: WallTime) -> BTreeSet<Instant> {
    ALL_ZONES.iter().map(|zone| zone.when(time)).collect()
}

/// The next whole minute after a wall time that is not whole.
fn next_minute(wall: DateTime) -> Option<DateTime> {
    let floor = wall.date().at(wall.hour(), wall.minute(), 0, 0);
    floor.checked_add(Span::new().minutes(1)).ok()
}

/// The first slot of a digest strictly after an instant, in a zone; the digest's own fixed zone is
/// for the caller to look up. [`Instant::MAX`] where the calendar ends before.
///
/// A time that a clock change leaves out moves to the first valid minute after, which may be on
/// the next day; a time that occurs twice counts once, the first; a day that a month lacks is its
/// last (contract, section 2). Of the slots of a day, two that fall together so are one.
///
/// # Examples
/// Clocks in Berlin go forward from 02:00 to 03:00, so a digest at 02:30 comes at 03:00 on that day:
/// ```
/// use tidings_core::Instant;
/// use tidings_core::rules::{Digest, Every, Zone, next_slot};
///
/// let berlin = Zone::find("Europe/Berlin").unwrap();
/// let daily = Digest::new(Every::Day, 2 * 60 + 30);
/// let slot = next_slot(&daily, &berlin, Instant::parse("2024-03-31T00:00:00+01:00")?);
/// assert_eq!(slot, Instant::parse("2024-03-31T03:00:00+02:00")?);
/// # Ok::<(), tidings_core::model::TimeError>(())
/// ```
///
/// In autumn 02:30 occurs twice, and the digest comes once:
/// ```
/// # use tidings_core::Instant;
/// # use tidings_core::rules::{Zone, next_slot};
/// # use tidings_core::rules::{Digest, Every};
/// # let berlin = Zone::find("Europe/Berlin").unwrap();
/// # let daily = Digest::new(Every::Day, 2 * 60 + 30);
/// let first = next_slot(&daily, &berlin, Instant::parse("2024-10-27T00:00:00+02:00")?);
/// assert_eq!(first, Instant::parse("2024-10-27T02:30:00+02:00")?);
/// let second = next_slot(&daily, &berlin, first);
/// assert_eq!(second, Instant::parse("2024-10-28T02:30:00+01:00")?);
/// # Ok::<(), tidings_core::model::TimeError>(())
/// ```
///
/// A month that lacks the day has its slot on its last:
/// ```
/// # use tidings_core::Instant;
/// # use tidings_core::rules::{Zone, next_slot};
/// # use tidings_core::rules::{Digest, Every};
/// let monthly = Digest::new(Every::Month(31), 9 * 60);
/// let slot = next_slot(&monthly, &Zone::utc(), Instant::parse("2024-02-01T00:00:00Z")?);
/// assert_eq!(slot.to_string(), "2024-02-29T09:00:00Z");
/// # Ok::<(), tidings_core::model::TimeError>(())
/// ```
///
/// A digest of every 6 hours goes round the day:
/// ```
/// # use tidings_core::Instant;
/// # use tidings_core::rules::{Zone, next_slot};
/// # use tidings_core::rules::{Digest, Every};
/// let tides = Digest::new(Every::Hours(6), 9 * 60);
/// let slot = next_slot(&tides, &Zone::utc(), Instant::parse("2024-02-01T22:00:00Z")?);
/// assert_eq!(slot.to_string(), "2024-02-02T03:00:00Z");
/// # Ok::<(), tidings_core::model::TimeError>(())
/// ```
#[must_use]
pub fn next_slot(digest: &Digest, zone: &Zone, after: Instant) -> Instant {
    let after = after.clamp(Instant::MIN, Instant::MAX);
    let today = zone.wall(after).date();
    // A slot that yesterday leaves out may have moved to a minute of today that is yet to come.
    let mut date = today.yesterday().unwrap_or(today);
    while let Some(next) = on_or_after(digest.every, date) {
        let times = times_on(next, digest);
        let instant = |time: &DateTime| {
            let instant = zone.instant(*time);
            instant.map_or(Instant::MAX, |instant| instant.min(Instant::MAX))
        };
        // No slot of a day is before one that the clock shows earlier.
        let past = times.partition_point(|time| instant(time) <= after);
        if let Some(time) = times.get(past) {
            return instant(time);
        }
        let Ok(tomorrow) = next.tomorrow() else { break };
        date = tomorrow;
    }
    Instant::MAX
}

/// The wall times of a digest's slots on a date, in order.
fn times_on(date: Date, digest: &Digest) -> Vec<DateTime> {
    const DAY_MINUTES: u16 = 24 * 60;
    let at = digest.at_minute.min(DAY_MINUTES - 1);
    let every = match digest.every {
        Every::Hours(hours) => u16::from(hours.clamp(1, 24)) * 60,
        Every::Day | Every::Weekday | Every::Week(_) | Every::Month(_) => DAY_MINUTES,
    };
    let times = (at % every..DAY_MINUTES).step_by(usize::from(every));
    times.map(|minute| time_on(date, minute)).collect()
}

/// The checksum of a recipient's id, by which slots are spread: CRC-32 (IEEE) of its bytes.
///
/// # Examples
/// ```
/// use tidings_core::rules::checksum;
///
/// assert_eq!(checksum("123456789"), 0xcbf4_3926);
/// ```
#[must_use]
pub fn checksum(id: &str) -> u32 {
    crc32fast::hash(id.as_bytes())
}

/// The time by which the slots of a recipient with this checksum come later, in milliseconds: whole minutes, below
/// the digest's spread.
///
/// # Examples
/// ```
/// use tidings_core::rules::{Digest, Every, delay_ms};
///
/// let mut tides = Digest::new(Every::Hours(6), 9 * 60);
/// assert_eq!(delay_ms(&tides, 67), 0);
/// tides.spread_minutes = 30;
/// assert_eq!(delay_ms(&tides, 67), 7 * 60_000);
/// ```
#[must_use]
pub fn delay_ms(digest: &Digest, checksum: u32) -> i64 {
    let minutes = u32::from(digest.spread_minutes);
    i64::from(checksum.checked_rem(minutes).unwrap_or(0)) * MINUTE_MS
}

/// The end of the quiet hours that hold at an instant, in a zone; `None` where none do. Where one stretch ends
/// in another, it is the end of the last.
///
/// Both ends of a stretch are found as slots are: see [`next_slot`].
///
/// # Examples
/// ```
/// use tidings_core::Instant;
/// use tidings_core::rules::{QuietHours, Zone, quiet_until};
///
/// let night = QuietHours { from_minute: 22 * 60, to_minute: 7 * 60, days: QuietHours::EVERY_DAY };
/// let until = |at: &str| quiet_until(&night, &Zone::utc(), Instant::parse(at).unwrap());
/// assert_eq!(until("2024-01-01T21:59:59Z"), None);
/// assert_eq!(until("2024-01-01T22:00:00Z").unwrap().to_string(), "2024-01-02T07:00:00Z");
/// assert_eq!(until("2024-01-02T07:00:00Z"), None);
/// ```
#[must_use]
pub fn quiet_until(hours: &QuietHours, zone: &Zone, at: Instant) -> Option<Instant> {
    let mut end = stretch_end(hours, zone, at)?;
    while let Some(later) = stretch_end(hours, zone, end) {
        end = later;
    }
    Some(end)
}

/// The end of a stretch that holds an instant.
fn stretch_end(hours: &QuietHours, zone: &Zone, at: Instant) -> Option<Instant> {
    let at = at.clamp(Instant::MIN, Instant::MAX);
    let today = zone.wall(at).date();
    // A stretch may begin two dates before, where the clock leaves one out, and one after, where it goes back
    // over midnight.
    let mut date = today.checked_sub(Span::new().days(2)).unwrap_or(today);
    for _ in 0..4 {
        let tomorrow = date.tomorrow().ok()?;
        if hours.begin_on(date.weekday().to_monday_one_offset().cast_unsigned()) {
            let last = if hours.from_minute < hours.to_minute { date } else { tomorrow };
            let from = zone.instant(time_on(date, hours.from_minute))?;
            let to = zone.instant(time_on(last, hours.to_minute))?;
            if from <= at && at < to {
                return Some(to);
            }
        }
        date = tomorrow;
    }
    None
}

/// The wall time of a date, some minutes after midnight.
fn time_on(date: Date, minute: u16) -> DateTime {
    let part = |number: u16| i8::try_from(number).unwrap_or(0);
    date.at(part(minute / 60 % 24), part(minute % 60), 0, 0)
}

/// The first date of a rule that is not before `date`; `None` beyond the calendar's end.
fn on_or_after(every: Every, date: Date) -> Option<Date> {
    let weekday = date.weekday().to_monday_one_offset();
    let wait = match every {
        Every::Day | Every::Hours(_) => 0,
        Every::Weekday => [0, 2, 1][usize::try_from(weekday - 5).unwrap_or(0)],
        Every::Week(day) => (day.clamp(1, 7).cast_signed() - weekday).rem_euclid(7),
        Every::Month(day) => {
            let this = day_of_month(date, day);
            if this >= date {
                return Some(this);
            }
            return Some(day_of_month(date.last_of_month().tomorrow().ok()?, day));
        }
    };
    date.checked_add(Span::new().days(wait)).ok()
}

/// The day of `date`'s month, or the month's last where it lacks that day.
fn day_of_month(date: Date, day: u8) -> Date {
    let day = day.clamp(1, 31).cast_signed().min(date.days_in_month());
    Date::new(date.year(), date.month(), day).expect("every month has its days")
}

#[cfg(test)]
mod tests;
