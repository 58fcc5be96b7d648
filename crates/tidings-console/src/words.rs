//! Words that sentences of several screens share: channels, lists, numbers with their nouns, clocks of other zones.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::page::grouped;

/// The name of a channel within a sentence.
pub(crate) fn channel(name: &str) -> &str {
    match name {
        "sms" => "SMS",
        "webpush" => "browser push",
        "fcm" => "Android push",
        "apns" => "Apple push",
        "slack" => "Slack",
        "discord" => "Discord",
        "teams" => "Teams",
        "telegram" => "Telegram",
        "inbox" => "the inbox",
        name => name,
    }
}

/// "a", "a and b", "a, b and c".
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}

/// A number with its noun.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    let shown = grouped(i64::try_from(number).unwrap_or(i64::MAX));
    format!("{shown} {}", if number == 1 { one } else { many })
}

/// The text with a capital letter at its begin.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// An instant by the clock of a zone: the weekday and the time, with the date where a week lies between.
pub(crate) fn clock(at: Timestamp, zone: &TimeZone, now: Timestamp) -> String {
    let far = (at.as_second() - now.as_second()).abs() > 6 * 86_400;
    let form = if far { "%a %-d %b %H:%M" } else { "%a %H:%M" };
    at.to_zoned_datetime(zone.clone()).strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_as_a_person_would() {
        assert_eq!(listed::<&str>(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(counted(1, "item", "items"), "1 item");
        assert_eq!(counted(41_208, "item", "items"), "41,208 items");
        assert_eq!(capital("the inbox"), "The inbox");
    }

    #[test]
    fn a_clock_has_the_date_where_a_weekday_would_mislead() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (now, zone) = (at("2026-11-28T22:00:00Z"), TimeZone::get("Europe/Madrid").unwrap());
        assert_eq!(clock(at("2026-11-30T08:00:00Z"), &zone, now), "Mon 09:00");
        assert_eq!(clock(at("2026-12-07T08:00:00Z"), &zone, now), "Mon 7 Dec 09:00");
        assert_eq!(clock(at("2026-11-20T08:00:00Z"), &zone, now), "Fri 20 Nov 09:00");
    }
}
