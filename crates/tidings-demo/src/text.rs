//! Numbers, instants and ids as texts for people and for addresses.

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tidings_core::Instant;

/// `1234567` as `1,234,567`.
pub(crate) fn number(n: u64) -> String {
    tidings_mail::grouped(n, ",")
}

/// A duration in milliseconds, as short as its size deserves.
pub(crate) fn milliseconds(ms: f64) -> String {
    if ms < 10.0 {
        format!("{ms:.1} ms")
    } else if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1000.0)
    }
}

/// The date of an instant in UTC: `12 February 1968`.
pub(crate) fn date(at: Instant) -> String {
    let at = Timestamp::from_millisecond(at.0);
    at.map(|at| at.strftime("%-d %B %Y").to_string()).unwrap_or_default()
}

/// A small number as a word, any other in digits.
pub(crate) fn in_words(n: u64) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let word = usize::try_from(n).ok().and_then(|n| WORDS.get(n));
    word.map_or_else(|| number(n), |word| (*word).to_owned())
}

/// An id as one segment of a path.
pub(crate) fn segment(id: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(id, KEPT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_people_write_them() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(n), text);
        }
        assert_eq!(milliseconds(3.25), "3.2 ms");
        assert_eq!(milliseconds(41.7), "42 ms");
        assert_eq!(milliseconds(1500.0), "1.5 s");
        // 1968-02-11T00:00:00Z
        assert_eq!(date(Instant(-59_616_000_000)), "11 February 1968");
        assert_eq!((in_words(9), in_words(13)), ("nine".to_owned(), "13".to_owned()));
        assert_eq!(segment("work/61 240"), "work%2F61%20240");
    }
}
