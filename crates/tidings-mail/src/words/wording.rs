//! Wording of what differs from mail to mail: the names of types, and the date of headers.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tidings_core::rules::in_words;
use tidings_core::{Id, Instant};

use crate::words::text;

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

/// The `Date` header's form (RFC 5322, section 3.3), in UTC.
pub(crate) fn rfc5322_date(at: Instant) -> String {
    timestamp(at).to_zoned_datetime(TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S %z").to_string()
}

/// An instant for the calendar library.
pub(crate) fn timestamp(at: Instant) -> Timestamp {
    // Kept within the bounds of instants, which are those of the calendar library.
    Timestamp::from_millisecond(at.plus_ms(0).0).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn dates_of_headers_are_in_utc() {
        let old = Instant::parse("1964-10-06T12:00:00Z").unwrap();
        assert_eq!(rfc5322_date(old), "Tue, 06 Oct 1964 12:00:00 +0000");
        for at in [Instant::MIN, Instant::MAX, Instant(i64::MIN), Instant(i64::MAX)] {
            assert!(!rfc5322_date(at).is_empty());
        }
    }
}
