//! A policy in words: when a message goes out on a channel.

use serde_json::Value;

/// The policy of a channel of a type in words, as `GET /v1/types` answers: "waits for 4 quiet minutes, 15 at most".
pub(crate) fn words(policy: &Value, digests: &Value) -> String {
    let text = |name: &str| policy[name].as_str();
    let mut words = match text("policy").unwrap_or_default() {
        "now" => "sent at once".to_owned(),
        "never" => return "not sent".to_owned(),
        "first_event" => first_event(text("hold").unwrap_or("?"), text("decide")),
        "cooldown" => cooldown(text("quiet").unwrap_or("?"), text("max_wait")),
        "leading" => format!(
            "sent at once; what follows within {} waits for the end of that",
            span(text("quiet").unwrap_or("?"))
        ),
        "digest" => {
            let name = text("digest").unwrap_or_default();
            format!("in the digest {name}: {}", slots(&digests[name]))
        }
        policy => policy.to_owned(),
    };
    if let Some(items) = policy["max_items"].as_u64() {
        words += &format!(", or as soon as {items} wait");
    }
    if let Some(key) = text("batch_key") {
        words += &format!("; one message for each {key}");
    }
    if let Some(after) = text("after") {
        words += &format!("; only what is still unseen in the inbox after {}", span(after));
    }
    words
}

fn first_event(hold: &str, decide: Option<&str>) -> String {
    match decide {
        Some("earliest") => {
            format!("waits until the hold of any that waits is over, here {}", span(hold))
        }
        _ => format!("waits {} from the first event", span(hold)),
    }
}

fn cooldown(quiet: &str, max_wait: Option<&str>) -> String {
    let quiet_words = match single(quiet) {
        Some((count, unit)) => format!("waits for {count} quiet {}", noun(count, unit)),
        None => format!("waits for {} of quiet", span(quiet)),
    };
    match max_wait {
        None => quiet_words,
        Some("none") => format!("{quiet_words}, however long that takes"),
        Some(most) => match (single(quiet), single(most)) {
            (Some((_, unit)), Some((count, same))) if unit == same => {
                format!("{quiet_words}, {count} at most")
            }
            _ => format!("{quiet_words}, {} at most", span(most)),
        },
    }
}

/// The slots of a digest in words.
fn slots(digest: &Value) -> String {
    let text = |name: &str| digest[name].as_str();
    let at = text("at").unwrap_or("?");
    let on = text("on").unwrap_or_default();
    let days = match text("every").unwrap_or_default() {
        "day" => format!("every day at {at}"),
        "weekday" => format!("Mondays to Fridays at {at}"),
        "week" => format!("{} at {at}", weekday(on)),
        "month" => format!("on day {on} of each month at {at}"),
        hours => format!("every {}, as from {at}", span(hours)),
    };
    let clock = match text("tz") {
        Some(tz) => format!("in {tz}"),
        None => "on the recipient’s clock".to_owned(),
    };
    let mut words = format!("{days}, {clock}");
    if let Some(spread) = text("spread") {
        words += &format!(", spread over {}", span(spread));
    }
    if let Some(items) = digest["min_items"].as_u64() {
        words += &format!(", once skipped below {items}");
    }
    words
}

fn weekday(day: &str) -> &str {
    match day {
        "mon" => "Mondays",
        "tue" => "Tuesdays",
        "wed" => "Wednesdays",
        "thu" => "Thursdays",
        "fri" => "Fridays",
        "sat" => "Saturdays",
        "sun" => "Sundays",
        day => day,
    }
}

/// A duration as the configuration writes it, such as `1h30m`, in words.
fn span(text: &str) -> String {
    let parts = parts(text);
    if parts.is_empty() {
        return text.to_owned();
    }
    let words = parts.into_iter().map(|(count, unit)| format!("{count} {}", noun(count, unit)));
    words.collect::<Vec<_>>().join(" ")
}

/// The number and the unit of a duration that has one of each.
fn single(text: &str) -> Option<(u64, &str)> {
    match parts(text)[..] {
        [part] => Some(part),
        _ => None,
    }
}

/// The numbers of a duration with their units; none if it is no duration.
fn parts(text: &str) -> Vec<(u64, &str)> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|letter: char| letter.is_ascii_digit() || letter == ' ');
        let (unit, after) = after.split_at(letters.unwrap_or(after.len()));
        match number.parse() {
            Ok(number) if ["ms", "s", "m", "h", "d", "w"].contains(&unit) => {
                parts.push((number, unit));
            }
            _ => return Vec::new(),
        }
        rest = after.trim_start();
    }
    parts
}

/// A duration in milliseconds.
pub(super) fn duration_ms(text: &str) -> Option<u64> {
    let parts = parts(text);
    let ms = parts.iter().try_fold(0_u64, |sum, (count, unit)| {
        let unit = match *unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => 7 * 86_400_000,
        };
        count.checked_mul(unit).and_then(|ms| sum.checked_add(ms))
    });
    ms.filter(|_| !parts.is_empty())
}

fn noun(count: u64, unit: &str) -> &'static str {
    let (one, many) = match unit {
        "ms" => ("millisecond", "milliseconds"),
        "s" => ("second", "seconds"),
        "m" => ("minute", "minutes"),
        "h" => ("hour", "hours"),
        "d" => ("day", "days"),
        _ => ("week", "weeks"),
    };
    if count == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Policies and digests as a server answers them.
    #[test]
    fn a_policy_is_said_in_words() {
        let digests = json!({
            "weekly": {"every": "week", "on": "mon", "at": "09:00", "tz": null},
            "month": {"every": "month", "on": "1", "at": "08:30", "tz": "Europe/Madrid", "spread": "1h"},
            "six": {"every": "6h", "on": null, "at": "09:00", "tz": null, "min_items": 3},
        });
        for (policy, said) in [
            (json!({"policy": "now", "lane": "now"}), "sent at once"),
            (json!({"policy": "never", "lane": null}), "not sent"),
            (
                json!({"policy": "cooldown", "lane": "cooldown", "quiet": "4m", "max_wait": "15m"}),
                "waits for 4 quiet minutes, 15 at most",
            ),
            (
                json!({"policy": "cooldown", "quiet": "1m", "max_wait": "1h"}),
                "waits for 1 quiet minute, 1 hour at most",
            ),
            (
                json!({"policy": "cooldown", "quiet": "1h30m", "max_wait": "none"}),
                "waits for 1 hour 30 minutes of quiet, however long that takes",
            ),
            (
                json!({"policy": "first_event", "hold": "15m", "decide": "first", "max_items": 20}),
                "waits 15 minutes from the first event, or as soon as 20 wait",
            ),
            (
                json!({"policy": "leading", "quiet": "10m", "batch_key": "event.target.id"}),
                "sent at once; what follows within 10 minutes waits for the end of that; one message for each event.target.id",
            ),
            (
                json!({"policy": "digest", "digest": "weekly", "after": "30m"}),
                "in the digest weekly: Mondays at 09:00, on the recipient’s clock; only what is still unseen in the inbox after 30 minutes",
            ),
            (
                json!({"policy": "digest", "digest": "month"}),
                "in the digest month: on day 1 of each month at 08:30, in Europe/Madrid, spread over 1 hour",
            ),
            (
                json!({"policy": "digest", "digest": "six"}),
                "in the digest six: every 6 hours, as from 09:00, on the recipient’s clock, once skipped below 3",
            ),
            (json!({"policy": "cooldown", "quiet": "soon"}), "waits for soon of quiet"),
        ] {
            assert_eq!(words(&policy, &digests), said);
        }
    }

    #[test]
    fn durations_are_read_as_the_configuration_writes_them() {
        for (text, ms) in [
            ("4m", Some(240_000)),
            ("1h30m", Some(5_400_000)),
            ("500ms", Some(500)),
            ("2w", Some(1_209_600_000)),
            ("", None),
            ("none", None),
            ("4", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(duration_ms(text), ms, "{text}");
        }
    }
}
