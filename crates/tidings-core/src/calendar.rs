//! The slots of digests: wall-clock rules, evaluated anew for each slot.
//!
//! A rule such as "Mondays at 09:00" has no fixed period in UTC: clocks change, and whole days have
//! been skipped. So a slot is always a wall time first, and an instant second.

use std::sync::LazyLock;

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp};

use crate::rules::{Digest, Every};
use crate::time::{Instant, SECOND_MS};

/// The zones that were compiled in, so that every machine gives the same answers.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time zone of the IANA database. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// Finds a zone by its IANA name, in whatever case; anything else, such as a POSIX rule, an
    /// offset or a file, is no zone.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::calendar::Zone;
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
    pub fn offset_ms(&self, at: Instant) -> i64 {
        let at = Timestamp::from_millisecond(at.0);
        at.map_or(0, |at| {
            i64::from(self.0.to_offset(at).seconds()) * SECOND_MS
        })
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
            let changes = self
                .0
                .preceding(past.checked_add(Span::new().nanoseconds(1)).ok()?);
            let end_of_gap = changes
                .map(|change| after.to_datetime(change.timestamp()))
                .take_while(|shown| *shown > wall)
                .last()?;
            let whole = end_of_gap.second() == 0 && end_of_gap.subsec_nanosecond() == 0;
            wall = if whole {
                end_of_gap
            } else {
                next_minute(end_of_gap)?
            };
        }
    }
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
/// last (contract, section 2).
///
/// # Examples
/// Clocks in Berlin go forward from 02:00 to 03:00, so a digest at 02:30 comes at 03:00 on that day:
/// ```
/// use tidings_core::Instant;
/// use tidings_core::calendar::{Zone, next_slot};
/// use tidings_core::rules::{Digest, Every};
///
/// let berlin = Zone::find("Europe/Berlin").unwrap();
/// let daily = Digest { every: Every::Day, at_minute: 2 * 60 + 30, tz: None };
/// let slot = next_slot(&daily, &berlin, Instant::parse("2024-03-31T00:00:00+01:00")?);
/// assert_eq!(slot, Instant::parse("2024-03-31T03:00:00+02:00")?);
/// # Ok::<(), tidings_core::time::TimeError>(())
/// ```
///
/// In autumn 02:30 occurs twice, and the digest comes once:
/// ```
/// # use tidings_core::Instant;
/// # use tidings_core::calendar::{Zone, next_slot};
/// # use tidings_core::rules::{Digest, Every};
/// # let berlin = Zone::find("Europe/Berlin").unwrap();
/// # let daily = Digest { every: Every::Day, at_minute: 2 * 60 + 30, tz: None };
/// let first = next_slot(&daily, &berlin, Instant::parse("2024-10-27T00:00:00+02:00")?);
/// assert_eq!(first, Instant::parse("2024-10-27T02:30:00+02:00")?);
/// let second = next_slot(&daily, &berlin, first);
/// assert_eq!(second, Instant::parse("2024-10-28T02:30:00+01:00")?);
/// # Ok::<(), tidings_core::time::TimeError>(())
/// ```
///
/// A month that lacks the day has its slot on its last:
/// ```
/// # use tidings_core::Instant;
/// # use tidings_core::calendar::{Zone, next_slot};
/// # use tidings_core::rules::{Digest, Every};
/// let monthly = Digest { every: Every::Month(31), at_minute: 9 * 60, tz: None };
/// let slot = next_slot(&monthly, &Zone::utc(), Instant::parse("2024-02-01T00:00:00Z")?);
/// assert_eq!(slot.to_string(), "2024-02-29T09:00:00Z");
/// # Ok::<(), tidings_core::time::TimeError>(())
/// ```
#[must_use]
pub fn next_slot(digest: &Digest, zone: &Zone, after: Instant) -> Instant {
    let after = after.clamp(Instant::MIN, Instant::MAX);
    let minute = i8::try_from(digest.at_minute % 60).unwrap_or(0);
    let hour = i8::try_from(digest.at_minute / 60).unwrap_or(23).min(23);
    let today = zone.wall(after).date();
    // A slot that yesterday leaves out may have moved to a minute of today that is yet to come.
    let mut date = today.yesterday().unwrap_or(today);
    while let Some(next) = on_or_after(digest.every, date) {
        match zone.instant(next.at(hour, minute, 0, 0)) {
            Some(slot) if slot > after => return slot.min(Instant::MAX),
            Some(_) => {}
            None => break,
        }
        let Ok(tomorrow) = next.tomorrow() else { break };
        date = tomorrow;
    }
    Instant::MAX
}

/// The first date of a rule that is not before `date`; `None` beyond the calendar's end.
fn on_or_after(every: Every, date: Date) -> Option<Date> {
    let weekday = date.weekday().to_monday_one_offset();
    let wait = match every {
        Every::Day => 0,
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
