//! How things are said: names, lists, dates and reasons.
//!
//! Type and category names are the host's, so the sentences name nothing but counts, names and ways
//! of being concerned. They are English; the recipient's locale waits for translations.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tidings_core::time::Instant;

use crate::text;

/// The longest name that is shown whole, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Words that stay small inside names.
const SMALL_WORDS: [&str; 19] = [
    "a", "an", "and", "at", "da", "de", "del", "der", "di", "du", "for", "in", "la", "of", "on",
    "the", "van", "von", "y",
];

/// What to call something of which only the id is known: `artist/andy-warhol` is Andy Warhol, while
/// `artist/42` or `u-8f3a` stay as they are, since half a number says less than the whole id.
pub(crate) fn display_name(id: &str) -> String {
    let last = id.rsplit(['/', ':']).next().unwrap_or(id);
    let is_slug = last.starts_with(char::is_alphabetic)
        && last
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, '-' | '_' | '\'' | '.' | ' '));
    if !is_slug {
        return text::cut(&text::clean(id), NAME_CHARS_MAX);
    }
    let words = last
        .split(['-', '_', ' '])
        .filter(|word| !word.is_empty())
        .enumerate();
    let words: Vec<String> = words
        .map(|(at, word)| match word {
            word if at > 0 && SMALL_WORDS.contains(&word) => word.to_owned(),
            word => capitalised(word),
        })
        .collect();
    text::cut(&text::clean(&words.join(" ")), NAME_CHARS_MAX)
}

/// A name as the host gives it; `None` where nothing of it can be shown.
pub(crate) fn given_name(name: &str) -> Option<String> {
    let name = text::cut(&text::clean(name), NAME_CHARS_MAX);
    (!name.is_empty()).then_some(name)
}

/// A word with a capital at its beginning.
pub(crate) fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// "A", "A and B", "A, B and C", "A, B and 3 others".
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [a] => a.clone(),
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} others", number(rest.len())),
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

/// Dates on the recipient's wall.
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

    /// The zone's name as people know it: "Paris time".
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
    fn slugs_become_names_and_other_ids_stay() {
        for (id, name) in [
            ("artist/andy-warhol", "Andy Warhol"),
            ("user:rob_wynne", "Rob Wynne"),
            ("the-museum-of-modern-art", "The Museum of Modern Art"),
            ("Van-Gogh", "Van Gogh"),
            ("anni-müller", "Anni Müller"),
            ("MoMA", "MoMA"),
            ("artist/42", "artist/42"),
            ("moma-ps1", "moma-ps1"),
            ("r00001", "r00001"),
            ("a/", "a/"),
            ("-", "-"),
        ] {
            assert_eq!(display_name(id), name, "{id}");
        }
    }

    #[test]
    fn lists_name_two_and_count_the_rest() {
        let names: Vec<String> = ["A", "B", "C", "D", "E"].map(str::to_owned).to_vec();
        assert_eq!(listed(&names[..1]), "A");
        assert_eq!(listed(&names[..2]), "A and B");
        assert_eq!(listed(&names[..3]), "A, B and C");
        assert_eq!(listed(&names), "A, B and 3 others");
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
