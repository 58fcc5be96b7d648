//! Wording of names, lists, dates and reasons.
//!
//! The sentences are English; the recipient's locale waits for translations.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tidings_core::Id;
use tidings_core::rules::{capitalised, in_words};
use tidings_core::time::Instant;

use crate::text;

/// Names what happened: "Comment", or "3 new: comment, share" where there are several.
pub(crate) fn happened(kinds: &[Id], entries: usize) -> String {
    match entries {
        0 | 1 => capitalised(&kinds_in_words(kinds)),
        _ => format!("{} new: {}", number(entries), kinds_in_words(kinds)),
    }
}

/// The same, to stand for a title: "New comment".
pub(crate) fn untitled(kinds: &[Id], entries: usize) -> String {
    match entries {
        0 | 1 => format!("New {}", kinds_in_words(kinds)),
        _ => happened(kinds, entries),
    }
}

/// "comment, share".
pub(crate) fn kinds_in_words(kinds: &[Id]) -> String {
    const KINDS_SHOWN: usize = 3;
    const KINDS_CHARS_MAX: usize = 80;
    let mut words: Vec<String> = kinds
        .iter()
        .take(KINDS_SHOWN)
        .map(|kind| text::clean(&in_words(kind.as_str())))
        .collect();
    if kinds.len() > KINDS_SHOWN {
        words.push("…".to_owned());
    }
    text::cut(&words.join(", "), KINDS_CHARS_MAX)
}

/// "A", "A and B", "A, B and C", "A, B and 3 others"; of the others some may have no name.
pub(crate) fn listed(names: &[String], unnamed: usize) -> String {
    let others = |count: usize| match count {
        1 => "1 other".to_owned(),
        _ => format!("{} others", number(count)),
    };
    match (names, unnamed) {
        ([], 0) => String::new(),
        ([], _) => others(unnamed),
        ([a], 0) => a.clone(),
        ([a, b], 0) => format!("{a} and {b}"),
        ([a, b, c], 0) => format!("{a}, {b} and {c}"),
        ([a], _) => format!("{a} and {}", others(unnamed)),
        ([a, b, rest @ ..], _) => format!("{a}, {b} and {}", others(rest.len() + unnamed)),
    }
}

/// A count with thousands set apart: "10,000".
pub(crate) fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Dates in the recipient's time zone.
pub(crate) struct Calendar {
    zone: TimeZone,
    sent_year: i16,
}

impl Calendar {
    /// Dates in a zone, for a mail of that instant; an unknown zone counts as UTC.
    pub(crate) fn new(zone: &str, sent: Instant) -> Self {
        let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        let sent_year = timestamp(sent).to_zoned(zone.clone()).year();
        Self { zone, sent_year }
    }

    /// "4 March", with the year where it is not the mail's.
    pub(crate) fn day(&self, at: Instant) -> String {
        let zoned = timestamp(at).to_zoned(self.zone.clone());
        let form = if zoned.year() == self.sent_year {
            "%-d %B"
        } else {
            "%-d %B %Y"
        };
        zoned.strftime(form).to_string()
    }

    /// "Monday 4 March 2024".
    pub(crate) fn full_day(&self, at: Instant) -> String {
        timestamp(at)
            .to_zoned(self.zone.clone())
            .strftime("%A %-d %B %Y")
            .to_string()
    }

    /// "Monday 4 March 2024, 09:00".
    pub(crate) fn minute(&self, at: Instant) -> String {
        timestamp(at)
            .to_zoned(self.zone.clone())
            .strftime("%A %-d %B %Y, %H:%M")
            .to_string()
    }

    /// The common name of the zone: "Paris time".
    pub(crate) fn zone_name(&self) -> String {
        let name = self.zone.iana_name().unwrap_or("UTC");
        match name.rsplit_once('/') {
            Some((area, place)) if area != "Etc" => format!("{} time", place.replace('_', " ")),
            _ => "UTC".to_owned(),
        }
    }
}

/// The `Date` header's form (RFC 5322, section 3.3), in UTC.
pub(crate) fn rfc5322_date(at: Instant) -> String {
    timestamp(at)
        .to_zoned(TimeZone::UTC)
        .strftime("%a, %d %b %Y %H:%M:%S %z")
        .to_string()
}

fn timestamp(at: Instant) -> Timestamp {
    // Kept within the bounds of instants, which are those of the calendar library.
    Timestamp::from_millisecond(at.plus_ms(0).0).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_told_by_the_names_of_types() {
        let kinds = |names: &[&str]| -> Vec<Id> {
            names.iter().map(|name| Id::new(name).unwrap()).collect()
        };
        let (one, two) = (
            kinds(&["artwork_published"]),
            kinds(&["comment", "artwork_published"]),
        );
        assert_eq!(happened(&one, 1), "Artwork published");
        assert_eq!(happened(&two, 3), "3 new: comment, artwork published");
        assert_eq!(untitled(&one, 1), "New artwork published");
        assert_eq!(untitled(&two, 2), "2 new: comment, artwork published");
        let many = kinds(&["repo.star", "issue/closed", "issue:opened", "x", "y"]);
        assert_eq!(
            kinds_in_words(&many),
            "repo star, issue closed, issue opened, …"
        );
    }

    #[test]
    fn lists_name_two_and_count_the_rest() {
        let names: Vec<String> = ["A", "B", "C", "D", "E"].map(str::to_owned).to_vec();
        for (named, unnamed, list) in [
            (1, 0, "A"),
            (2, 0, "A and B"),
            (3, 0, "A, B and C"),
            (5, 0, "A, B and 3 others"),
            (1, 1, "A and 1 other"),
            (1, 2, "A and 2 others"),
            (2, 1, "A, B and 1 other"),
            (3, 1_000, "A, B and 1,001 others"),
        ] {
            assert_eq!(listed(&names[..named], unnamed), list);
        }
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(number),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn dates_are_those_of_the_recipient() {
        let sent = Instant::parse("2024-03-03T23:30:00Z").unwrap();
        let paris = Calendar::new("Europe/Paris", sent);
        assert_eq!(paris.minute(sent), "Monday 4 March 2024, 00:30");
        assert_eq!(paris.zone_name(), "Paris time");
        let new_york = Calendar::new("America/New_York", sent);
        assert_eq!(new_york.day(sent), "3 March");
        assert_eq!(new_york.zone_name(), "New York time");
        let old = Instant::parse("1964-10-06T12:00:00Z").unwrap();
        assert_eq!(new_york.day(old), "6 October 1964");
        assert_eq!(rfc5322_date(old), "Tue, 06 Oct 1964 12:00:00 +0000");
        let nowhere = Calendar::new("Nowhere/At_All", sent);
        assert_eq!(
            (nowhere.full_day(sent), nowhere.zone_name()),
            ("Sunday 3 March 2024".into(), "UTC".into())
        );
    }

    #[test]
    fn the_ends_of_time_have_dates() {
        for at in [
            Instant::MIN,
            Instant::MAX,
            Instant(i64::MIN),
            Instant(i64::MAX),
        ] {
            let calendar = Calendar::new("Pacific/Kiritimati", at);
            assert!(!calendar.minute(at).is_empty() && !rfc5322_date(at).is_empty());
        }
    }
}
