//! Formatting of numbers, instants and words for people.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

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

/// An instant in a zone: `Mon 12 Feb 1968, 09:00`. In UTC where the zone is unknown.
pub(crate) fn instant(ms: i64, zone: &str) -> String {
    formatted(ms, zone, "%a %-d %b %Y, %H:%M")
}

/// Only the date of an instant in a zone: `12 February 1968`.
pub(crate) fn date(ms: i64, zone: &str) -> String {
    formatted(ms, zone, "%-d %B %Y")
}

/// An instant for machines, for `<time datetime>`.
pub(crate) fn machine(ms: i64) -> String {
    formatted(ms, "UTC", "%Y-%m-%dT%H:%M:%SZ")
}

fn formatted(ms: i64, zone: &str, pattern: &str) -> String {
    let Ok(at) = Timestamp::from_millisecond(ms) else {
        return String::new();
    };
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    at.to_zoned_datetime(zone).strftime(pattern).to_string()
}

/// A lane in words.
pub(crate) fn lane(name: &str) -> &str {
    match name {
        "now" => "at once",
        "digest:weekly" => "weekly",
        "digest:daily" => "daily",
        other => other.strip_prefix("digest:").unwrap_or(other),
    }
}

/// The names of topics that have one, by topic.
pub(crate) type TopicNames = HashMap<String, String>;

/// The reason of a notification in words.
pub(crate) fn reason(word: &str, names: &TopicNames) -> String {
    match word {
        "near" => "near you".to_owned(),
        "named" => "chosen for you".to_owned(),
        "everyone" => "for everyone".to_owned(),
        other => match other.strip_prefix("topic:") {
            Some(topic) => format!("you follow {}", topic_name(topic, names)),
            None => other.to_owned(),
        },
    }
}

/// A topic's name, or the topic itself where it has none.
pub(crate) fn topic_name(topic: &str, names: &TopicNames) -> String {
    names.get(topic).map_or(topic, String::as_str).to_owned()
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

/// Returns true if a link leads to the web and nowhere else.
pub(crate) fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(n), text);
        }
        assert_eq!(milliseconds(3.25), "3.2 ms");
        assert_eq!(milliseconds(41.7), "42 ms");
        assert_eq!(milliseconds(1500.0), "1.5 s");
    }

    #[test]
    fn instants_are_told_where_one_lives() {
        let at = -59_616_000_000; // 1968-02-11T00:00:00Z
        assert_eq!(instant(at, "Asia/Tokyo"), "Sun 11 Feb 1968, 09:00");
        assert_eq!(instant(at, "nowhere"), "Sun 11 Feb 1968, 00:00");
        assert_eq!(date(at, "America/New_York"), "10 February 1968");
        assert_eq!(machine(at), "1968-02-11T00:00:00Z");
    }

    #[test]
    fn reasons_read_like_sentences() {
        let names = TopicNames::from([("artist/joan-miro".to_owned(), "Joan Miró".to_owned())]);
        assert_eq!(reason("topic:artist/joan-miro", &names), "you follow Joan Miró");
        assert_eq!(reason("topic:artist/nobody", &names), "you follow artist/nobody");
        assert_eq!(reason("near", &names), "near you");
        assert_eq!((in_words(9), in_words(13)), ("nine".to_owned(), "13".to_owned()));
    }
}
