//! Formatting of dates and times in a reader's calendar and time zone.

use std::cell::OnceCell;
use std::sync::Arc;

use icu_calendar::Gregorian;
use icu_datetime::fieldsets::{D, E, MD, MDT, T, YMD, YMDE};
use icu_datetime::input::{Date, DateTime, Time};
use icu_datetime::{DateTimeFormatter, FixedCalendarDateTimeFormatter, NoCalendarFormatter};
use icu_locale_core::Locale;
use jiff::civil;
use jiff::tz::TimeZone;
use tidings_core::Instant;
use tidings_core::model::SlotDay;

use super::ReaderLocale;
use crate::words::locale::Language;
use crate::words::wording::timestamp;
use crate::words::{self, Words};

/// A parsed date, time, or both.
#[derive(Default)]
struct ParsedDateTime {
    date: Option<civil::Date>,
    time: Option<civil::Time>,
}

impl ParsedDateTime {
    /// Parses ISO 8601. An instant with an offset is converted to the zone; a date or a time without one is not.
    fn read(text: &str, zone: &TimeZone) -> Option<Self> {
        const DATE: &str = "0000-00-00";
        const MINUTE: &str = "00:00";
        // The library also accepts forms without separators, which may be numbers.
        let has_shape = |shape: &str| {
            let fits = |(of, c): (u8, u8)| if of == b'0' { c.is_ascii_digit() } else { c == of };
            text.len() >= shape.len() && shape.bytes().zip(text.bytes()).all(fits)
        };
        // It also accepts an offset or a zone after other times, and ignores it.
        let is_plain = |time: &str| time.bytes().all(|byte| b"0123456789:.,Tt ".contains(&byte));
        if has_shape(MINUTE) {
            let time = is_plain(text).then(|| text.parse().ok()).flatten()?;
            return Some(Self { time: Some(time), ..Self::default() });
        }
        if !has_shape(DATE) {
            return None;
        }
        if text.len() == DATE.len() {
            return Some(Self { date: Some(text.parse().ok()?), ..Self::default() });
        }
        let both = match text.parse::<jiff::Timestamp>() {
            Ok(instant) => zone.to_datetime(instant),
            Err(_) if is_plain(&text[DATE.len()..]) => text.parse().ok()?,
            Err(_) => return None,
        };
        Some(Self { date: Some(both.date()), time: Some(both.time()) })
    }

    fn both(&self) -> Option<DateTime<icu_calendar::Iso>> {
        Some(DateTime { date: iso(self.date?)?, time: clock(self.time?)? })
    }
}

/// "Mar 4, 2024".
pub(super) fn date(text: &str, zone: &TimeZone, locale: &Locale) -> Option<String> {
    let date = iso(ParsedDateTime::read(text, zone)?.date?)?;
    let formatter = DateTimeFormatter::try_new(locale.into(), YMD::medium()).ok()?;
    Some(formatter.format(&date).to_string())
}

/// "9:00 AM".
pub(super) fn time(text: &str, zone: &TimeZone, locale: &Locale) -> Option<String> {
    let time = clock(ParsedDateTime::read(text, zone)?.time?)?;
    let formatter = NoCalendarFormatter::try_new(locale.into(), T::hm()).ok()?;
    Some(formatter.format(&time).to_string())
}

/// "Mar 4, 2024, 9:00 AM".
pub(super) fn date_and_time(text: &str, zone: &TimeZone, locale: &Locale) -> Option<String> {
    let both = ParsedDateTime::read(text, zone)?.both()?;
    let fields = YMD::medium().with_time_hm();
    let formatter = DateTimeFormatter::try_new(locale.into(), fields).ok()?;
    Some(formatter.format(&both).to_string())
}

/// The days of a digest: "Friday", "15".
pub(crate) fn slot_days(days: &[SlotDay], locale: &Locale) -> Vec<String> {
    // Days are those of the Gregorian calendar, whichever the locale prefers.
    let week = FixedCalendarDateTimeFormatter::<Gregorian, _>::try_new(locale.into(), E::long());
    let month = FixedCalendarDateTimeFormatter::<Gregorian, _>::try_new(locale.into(), D::long());
    let named = |day: &SlotDay| {
        // January 2024 begins on a Monday, and has 31 days.
        let date = |day: u8| Date::try_new_gregorian(2024, 1, day).ok();
        match day {
            SlotDay::Week(day) => Some(week.as_ref().ok()?.format(&date(*day)?).to_string()),
            SlotDay::Month(day) => Some(month.as_ref().ok()?.format(&date(*day)?).to_string()),
        }
    };
    days.iter().map(|day| named(day).unwrap_or_else(|| day.to_string())).collect()
}

/// Times of day in minutes after midnight: "9:00 AM".
pub(crate) fn clock_times(minutes: &[u16], locale: &Locale) -> Vec<String> {
    let formatter = NoCalendarFormatter::try_new(locale.into(), T::hm());
    let named = |minute: u16| {
        let part = |number: u16| u8::try_from(number).ok();
        let time = Time::try_new(part(minute / 60)?, part(minute % 60)?, 0, 0).ok()?;
        Some(formatter.as_ref().ok()?.format(&time).to_string())
    };
    let plain = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    minutes.iter().map(|minute| named(*minute).unwrap_or_else(|| plain(*minute))).collect()
}

fn iso(date: civil::Date) -> Option<Date<icu_calendar::Iso>> {
    let part = |number: i8| u8::try_from(number).ok();
    Date::try_new_iso(i32::from(date.year()), part(date.month())?, part(date.day())?).ok()
}

fn clock(time: civil::Time) -> Option<Time> {
    let part = |number: i8| u8::try_from(number).ok();
    Time::try_new(part(time.hour())?, part(time.minute())?, 0, 0).ok()
}

/// The common name of a reader's zone: "Paris time".
pub(crate) fn zone_name(reader: &ReaderLocale, words: &Words) -> String {
    match reader.zone.iana_name().unwrap_or("UTC").rsplit_once('/') {
        Some((area, place)) if area != "Etc" => {
            let place = words.isolated(place.replace('_', " "));
            words::fill(&words.zone, "{place}", &place)
        }
        _ => "UTC".to_owned(),
    }
}

/// Formatter of the dates of a message.
pub(crate) struct Calendar {
    reader: ReaderLocale,
    sent_year: i16,
    words: Arc<Words>,
    /// Formatters that each line uses, loaded once.
    day: OnceCell<Option<DateTimeFormatter<MD>>>,
    full_day: OnceCell<Option<DateTimeFormatter<YMDE>>>,
    time: OnceCell<Option<NoCalendarFormatter<T>>>,
    day_and_time: OnceCell<Option<DateTimeFormatter<MDT>>>,
}

impl Calendar {
    /// Dates for a message sent at an instant, in a language.
    pub(crate) fn new(sent: Instant, language: &Language) -> Self {
        let reader = language.reader.clone();
        let sent_year = reader.zone.to_datetime(timestamp(sent)).year();
        Self {
            reader,
            sent_year,
            words: Arc::clone(&language.words),
            day: OnceCell::new(),
            full_day: OnceCell::new(),
            time: OnceCell::new(),
            day_and_time: OnceCell::new(),
        }
    }

    /// "March 4", with the year where it is not the message's.
    pub(crate) fn day(&self, at: Instant) -> String {
        let date = self.in_zone(at).date();
        let formatted = || {
            let locale = self.locale();
            if date.year() != self.sent_year {
                let formatter = DateTimeFormatter::try_new(locale.into(), YMD::long()).ok()?;
                return Some(formatter.format(&iso(date)?).to_string());
            }
            let load = || DateTimeFormatter::try_new(locale.into(), MD::long()).ok();
            let formatter = self.day.get_or_init(load).as_ref()?;
            Some(formatter.format(&iso(date)?).to_string())
        };
        formatted().unwrap_or_else(|| date.to_string())
    }

    /// "Monday, March 4, 2024".
    pub(crate) fn full_day(&self, at: Instant) -> String {
        let date = self.in_zone(at).date();
        let formatted = || {
            let load = || DateTimeFormatter::try_new(self.locale().into(), YMDE::long()).ok();
            let formatter = self.full_day.get_or_init(load).as_ref()?;
            Some(formatter.format(&iso(date)?).to_string())
        };
        formatted().unwrap_or_else(|| date.to_string())
    }

    /// "9:00 AM".
    pub(crate) fn time(&self, at: Instant) -> String {
        let time = self.in_zone(at).time();
        let formatted = || {
            let load = || NoCalendarFormatter::try_new(self.locale().into(), T::hm()).ok();
            let formatter = self.time.get_or_init(load).as_ref()?;
            Some(formatter.format(&clock(time)?).to_string())
        };
        formatted().unwrap_or_else(|| time.to_string())
    }

    /// "Mar 4, 9:00 AM", with the year where it is not the message's.
    pub(crate) fn day_and_time(&self, at: Instant) -> String {
        let at = self.in_zone(at);
        let formatted = || {
            let both = ParsedDateTime { date: Some(at.date()), time: Some(at.time()) }.both()?;
            if at.year() != self.sent_year {
                let fields = YMD::medium().with_time_hm();
                let formatter = DateTimeFormatter::try_new(self.locale().into(), fields).ok()?;
                return Some(formatter.format(&both).to_string());
            }
            let fields = MD::medium().with_time_hm();
            let load = || DateTimeFormatter::try_new(self.locale().into(), fields).ok();
            let formatter = self.day_and_time.get_or_init(load).as_ref()?;
            Some(formatter.format(&both).to_string())
        };
        formatted().unwrap_or_else(|| at.to_string())
    }

    /// "Monday, March 4, 2024 at 9:00 AM".
    pub(crate) fn minute(&self, at: Instant) -> String {
        let at = self.in_zone(at);
        let formatted = || {
            let both = ParsedDateTime { date: Some(at.date()), time: Some(at.time()) }.both()?;
            let fields = YMDE::long().with_time_hm();
            let formatter = DateTimeFormatter::try_new(self.locale().into(), fields).ok()?;
            Some(formatter.format(&both).to_string())
        };
        formatted().unwrap_or_else(|| at.to_string())
    }

    /// The common name of the zone: "Paris time".
    pub(crate) fn zone_name(&self) -> String {
        zone_name(&self.reader, &self.words)
    }

    fn in_zone(&self, at: Instant) -> civil::DateTime {
        self.reader.zone.to_datetime(timestamp(at))
    }

    fn locale(&self) -> &Locale {
        self.reader.locale_in(&self.words.numbers)
    }
}
