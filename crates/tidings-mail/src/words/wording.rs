//! Wording of what differs from mail to mail: the names of types, and dates in the recipient's zone.

use std::fmt::Write;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use tidings_core::Id;
use tidings_core::rules::in_words;
use tidings_core::time::Instant;

use crate::words::text;
use crate::words::{self, Words};

/// "comment, share".
pub(crate) fn types_in_words(types: &[Id]) -> String {
    const TYPES_SHOWN: usize = 3;
    const TYPES_CHARS_MAX: usize = 80;
    let mut words: Vec<String> = types
        .iter()
        .take(TYPES_SHOWN)
        .map(|event_type| text::clean(&in_words(event_type.as_str())))
        .collect();
    if types.len() > TYPES_SHOWN {
        words.push("…".to_owned());
    }
    text::cut(&words.join(", "), TYPES_CHARS_MAX)
}

/// Dates in the recipient's language and time zone.
pub(crate) struct Calendar {
    zone: TimeZone,
    sent_year: i16,
    words: Arc<Words>,
}

impl Calendar {
    /// Dates in a zone, for a mail of that instant; an unknown zone counts as UTC.
    pub(crate) fn new(zone: &str, sent: Instant, words: &Arc<Words>) -> Self {
        let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        let sent_year = timestamp(sent).to_zoned_datetime(zone.clone()).year();
        Self { zone, sent_year, words: words.clone() }
    }

    /// "4 March", with the year where it is not the mail's.
    pub(crate) fn day(&self, at: Instant) -> String {
        let zoned = timestamp(at).to_zoned_datetime(self.zone.clone());
        let pattern =
            if zoned.year() == self.sent_year { &self.words.day } else { &self.words.day_of_year };
        self.filled(pattern, &zoned)
    }

    /// "Monday 4 March 2024".
    pub(crate) fn full_day(&self, at: Instant) -> String {
        let zoned = timestamp(at).to_zoned_datetime(self.zone.clone());
        self.filled(&self.words.full_day, &zoned)
    }

    /// "Monday 4 March 2024, 09:00".
    pub(crate) fn minute(&self, at: Instant) -> String {
        let zoned = timestamp(at).to_zoned_datetime(self.zone.clone());
        self.filled(&self.words.minute, &zoned)
    }

    /// The common name of the zone: "Paris time".
    pub(crate) fn zone_name(&self) -> String {
        let name = self.zone.iana_name().unwrap_or("UTC");
        match name.rsplit_once('/') {
            Some((area, place)) if area != "Etc" => {
                let place = self.words.isolated(place.replace('_', " "));
                words::fill(&self.words.zone, "{place}", &place)
            }
            _ => "UTC".to_owned(),
        }
    }

    fn filled(&self, pattern: &str, zoned: &ZonedDateTime) -> String {
        let index = |number: i8| usize::try_from(number - 1).unwrap_or(0);
        let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        let mut out = String::with_capacity(pattern.len());
        let mut rest = pattern;
        while let Some((before, place)) = rest.split_once('{') {
            out.push_str(before);
            let (place, after) = place.split_once('}').unwrap_or((place, ""));
            // Writing to a string does not fail.
            let _ = match place {
                "weekday" => {
                    let weekday = zoned.weekday().to_monday_one_offset();
                    write!(out, "{}", name(&self.words.weekdays, index(weekday)))
                }
                // French counts the first day of a month, and no other.
                "ordinal" if zoned.day() == 1 => write!(out, "1er"),
                "day" | "ordinal" => write!(out, "{}", zoned.day()),
                "month" => write!(out, "{}", name(&self.words.months, index(zoned.month()))),
                "year" => write!(out, "{}", zoned.year()),
                _ => write!(out, "{:02}:{:02}", zoned.hour(), zoned.minute()),
            };
            rest = after;
        }
        out.push_str(rest);
        self.words.in_digits(out)
    }
}

/// The `Date` header's form (RFC 5322, section 3.3), in UTC.
pub(crate) fn rfc5322_date(at: Instant) -> String {
    timestamp(at).to_zoned_datetime(TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S %z").to_string()
}

fn timestamp(at: Instant) -> Timestamp {
    // Kept within the bounds of instants, which are those of the calendar library.
    Timestamp::from_millisecond(at.plus_ms(0).0).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::books;
    use crate::words::locale::Language;

    fn english(zone: &str, sent: Instant) -> Calendar {
        Calendar::new(zone, sent, &books::english())
    }

    #[test]
    fn types_are_called_by_their_names_in_words() {
        let types = |names: &[&str]| -> Vec<Id> {
            names.iter().map(|name| Id::new(name).unwrap()).collect()
        };
        assert_eq!(
            types_in_words(&types(&["comment", "artwork_published"])),
            "comment, artwork published"
        );
        let many = types(&["repo.star", "issue/closed", "issue:opened", "x", "y"]);
        assert_eq!(types_in_words(&many), "repo star, issue closed, issue opened, …");
    }

    #[test]
    fn dates_are_those_of_the_recipient() {
        let sent = Instant::parse("2024-03-03T23:30:00Z").unwrap();
        let paris = english("Europe/Paris", sent);
        assert_eq!(paris.minute(sent), "Monday 4 March 2024, 00:30");
        assert_eq!(paris.zone_name(), "Paris time");
        let new_york = english("America/New_York", sent);
        assert_eq!(new_york.day(sent), "3 March");
        assert_eq!(new_york.zone_name(), "New York time");
        for (locale, date) in [
            ("de", "Montag, 4. März 2024, 00:30"),
            ("fr", "lundi 4 mars 2024, 00:30"),
            ("he", "יום שני, 4 במרץ 2024, 00:30"),
            ("ja", "2024年3月4日 月曜日 00:30"),
        ] {
            let paris = Calendar::new("Europe/Paris", sent, &Language::of(locale).words);
            assert_eq!(paris.minute(sent), date);
        }
        let first = Instant::parse("2024-03-01T10:00:00Z").unwrap();
        let french = Calendar::new("Europe/Paris", sent, &Language::of("fr").words);
        assert_eq!(french.full_day(first), "vendredi 1er mars 2024");
        let old = Instant::parse("1964-10-06T12:00:00Z").unwrap();
        assert_eq!(new_york.day(old), "6 October 1964");
        assert_eq!(rfc5322_date(old), "Tue, 06 Oct 1964 12:00:00 +0000");
        let nowhere = english("Nowhere/At_All", sent);
        assert_eq!(
            (nowhere.full_day(sent), nowhere.zone_name()),
            ("Sunday 3 March 2024".into(), "UTC".into())
        );
    }

    #[test]
    fn the_ends_of_time_have_dates() {
        for at in [Instant::MIN, Instant::MAX, Instant(i64::MIN), Instant(i64::MAX)] {
            let calendar = english("Pacific/Kiritimati", at);
            assert!(!calendar.minute(at).is_empty() && !rfc5322_date(at).is_empty());
        }
    }
}
