//! Filters of templates: how numbers, instants, spans and ids are written on every page.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, State, Value, context};

use crate::call::encoded;

pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("num", number);
    environment.add_filter("seg", segment);
    environment.add_filter("time", time);
    environment.add_filter("hour", hour);
    environment.add_filter("plain", plain);
    environment.add_filter("span", span);
    environment.add_filter("prose", prose);
}

/// A number with a comma between thousands; nothing for null.
fn number(value: &Value) -> String {
    let Some(number) = value.as_i64() else {
        return if value.is_none() { String::new() } else { value.to_string() };
    };
    grouped(number)
}

pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "\u{2212}" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// An id as one segment of a path.
fn segment(id: &str) -> String {
    encoded(id)
}

/// The viewer's zone.
fn zone(state: &State<'_, '_>) -> TimeZone {
    let zone = state.lookup("zone");
    let zone = zone.as_ref().and_then(Value::as_str).unwrap_or("UTC");
    TimeZone::get(zone).unwrap_or(TimeZone::UTC)
}

/// A value of a field of any kind, as people write it: words for null, true and false, an instant in the viewer's zone.
fn plain(state: &State<'_, '_>, value: &Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(Value::from("none")),
        ValueKind::Bool => Ok(Value::from(if value.is_true() { "true" } else { "false" })),
        ValueKind::String => time(state, value),
        ValueKind::Number => Ok(Value::from(number(value))),
        _ => Ok(Value::from(value.to_string())),
    }
}

/// The words of a rule or a refusal in pieces, for `m.prose`: what stands between backticks is `code`, an instant is `at`.
fn prose(text: &Value) -> Value {
    let text = text.as_str().unwrap_or_default();
    let mut pieces = Vec::new();
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without its pair is a backtick.
    let pairs = parts.len() - usize::from(parts.len().is_multiple_of(2));
    for (index, part) in parts[..pairs].iter().enumerate() {
        if index % 2 == 1 {
            pieces.push(context! { code => *part });
        } else {
            with_instants(part, &mut pieces);
        }
    }
    if pairs < parts.len() {
        pieces.push(context! { text => format!("`{}", parts[pairs]) });
    }
    Value::from(pieces)
}

fn with_instants(text: &str, pieces: &mut Vec<Value>) {
    let mut plain = String::new();
    for word in text.split_inclusive([' ', ',', ';', ')', '(']) {
        let bare = word.trim_end_matches([' ', ',', ';', ')', '(']);
        if bare.len() > 19 && bare.ends_with('Z') && bare.parse::<Timestamp>().is_ok() {
            pieces.push(context! { text => std::mem::take(&mut plain) });
            pieces.push(context! { at => bare });
            plain.push_str(&word[bare.len()..]);
        } else {
            plain.push_str(word);
        }
    }
    pieces.push(context! { text => plain });
}

/// An instant as the hour and minute of the viewer's clock; another text as it is.
fn hour(state: &State<'_, '_>, value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let Ok(at) = text.parse::<Timestamp>() else { return Value::from(text) };
    let shown = at.to_zoned_datetime(zone(state)).strftime("%H:%M").to_string();
    let utc = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    // As in `time`, nothing in them can end an attribute.
    Value::from_safe_string(format!(
        "<time datetime=\"{utc}\" title=\"{utc}\" data-form=\"hour\">{shown}</time>"
    ))
}

/// An instant in the viewer's zone, as an element that has it in UTC for scripts, for the pointer and for copying.
fn time(state: &State<'_, '_>, value: &Value) -> Result<Value, Error> {
    let Some(text) = value.as_str() else { return Ok(Value::from("")) };
    let Ok(at) = text.parse::<Timestamp>() else { return Ok(Value::from(text)) };
    let zone = zone(state);
    let now = state.lookup("now");
    let now = now.as_ref().and_then(Value::as_str).and_then(|now| now.parse::<Timestamp>().ok());
    let (at_zone, today) =
        (at.to_zoned_datetime(zone.clone()), now.map(|now: Timestamp| now.to_zoned_datetime(zone)));
    let form = match today {
        Some(today) if today.date() == at_zone.date() => "%H:%M:%S",
        Some(today) if today.year() == at_zone.year() => "%-d %b %H:%M",
        _ => "%-d %b %Y %H:%M",
    };
    let shown = at_zone.strftime(form).to_string();
    let utc = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    // Both texts are digits, letters and signs of dates: nothing in them can end an attribute.
    Ok(Value::from_safe_string(format!("<time datetime=\"{utc}\" title=\"{utc}\">{shown}</time>")))
}

/// A span of milliseconds in its two largest units; nothing for null.
fn span(ms: &Value) -> String {
    let Ok(ms) = f64::try_from(ms.clone()) else { return String::new() };
    #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
    let ms = ms.round() as i64;
    spanned(ms)
}

/// Units of spans: milliseconds, and the word.
const UNITS: [(i64, &str); 4] =
    [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];

pub(crate) fn spanned(ms: i64) -> String {
    if ms.abs() < 1_000 {
        return format!("{ms} ms");
    }
    let mut rest = ms.abs();
    let mut parts = Vec::new();
    for (unit, word) in UNITS {
        if rest >= unit && parts.len() < 2 {
            parts.push(format!("{} {word}", rest / unit));
            rest %= unit;
        } else if !parts.is_empty() {
            break;
        }
    }
    let sign = if ms < 0 { "\u{2212}" } else { "" };
    format!("{sign}{}", parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(template: &str, zone: &str) -> String {
        let mut environment = Environment::new();
        add(&mut environment);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
        let values = minijinja::context! {
            zone, now => "2026-11-28T21:49:28Z",
            today => "2026-11-28T21:37:11.313Z", before => "2026-03-01T23:30:00Z",
            long_ago => "2024-01-02T03:04:05Z", text => "<b>", id => "a/../b", missing => (),
        };
        environment.render_str(template, values).unwrap()
    }

    #[test]
    fn instants_are_in_the_viewers_zone_and_have_utc_beside_them() {
        for (template, zone, shown) in [
            ("{{ today|time }}", "Europe/Madrid", ">22:37:11</time>"),
            ("{{ today|time }}", "UTC", "title=\"2026-11-28T21:37:11Z\">21:37:11</time>"),
            ("{{ today|time }}", "Nowhere/Atlantis", ">21:37:11</time>"),
            ("{{ before|time }}", "Europe/Madrid", ">2 Mar 00:30</time>"),
            ("{{ long_ago|time }}", "UTC", ">2 Jan 2024 03:04</time>"),
            ("{{ today|hour }}", "Asia/Kolkata", "data-form=\"hour\">03:07</time>"),
            ("{{ text|time }}{{ text|hour }}", "UTC", "&lt;b&gt;&lt;b&gt;"),
            ("[{{ missing|time }}]", "UTC", "[]"),
            ("{{ missing|plain }} {{ true|plain }} {{ 1234|plain }}", "UTC", "none true 1,234"),
            ("{{ text|plain }}", "UTC", "&lt;b&gt;"),
            ("{{ id|seg }}", "UTC", "a%2F..%2Fb"),
        ] {
            let text = written(template, zone);
            assert!(text.ends_with(shown), "{template} in {zone}: {text}");
        }
    }

    #[test]
    fn words_of_rules_have_code_and_instants_and_stay_text() {
        let shown = |text: &str| {
            let pieces = prose(&Value::from(text));
            let kinds = pieces.try_iter().unwrap().map(|piece| {
                let of = |name| piece.get_attr(name).unwrap().as_str().map(str::to_owned);
                let (code, at) = (of("code"), of("at"));
                code.map(|code| format!("<{code}>"))
                    .or(at.map(|at| format!("@{at}")))
                    .or(of("text"))
                    .unwrap()
            });
            kinds.collect::<Vec<_>>().join("|")
        };
        assert_eq!(
            shown("digest `weekly`; 5, 2026-11-29T01:50:25.562Z to 2026-11-29T01:50:26Z → due"),
            "digest |<weekly>|; 5, |@2026-11-29T01:50:25.562Z| to |@2026-11-29T01:50:26Z| → due"
        );
        assert_eq!(shown("`a`b` 10:30Z"), "|<a>|b|` 10:30Z");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn numbers_and_spans_are_short() {
        for (number, shown) in
            [(0, "0"), (999, "999"), (41_208, "41,208"), (-1_000, "\u{2212}1,000")]
        {
            assert_eq!(grouped(number), shown);
        }
        for (ms, shown) in
            [(4, "4 ms"), (61_000, "1 min 1 s"), (3_600_000, "1 h"), (90_061_000, "1 d 1 h")]
        {
            assert_eq!(spanned(ms), shown);
        }
    }
}
