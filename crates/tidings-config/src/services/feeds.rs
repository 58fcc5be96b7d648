//! The sections `[feeds.NAME]`: databases of the host out of which events are read.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use tidings_core::model::{DAY_MS, HOUR_MS, SECOND_MS};
use tidings_core::rules::{FeedRules, OnRefusal};

use crate::duration;
use crate::walk::{ConfigReader, Section};
use crate::wording::quoted;

/// The name of the table that `tidings outbox sql` makes where none is configured.
const TABLE: &str = "tidings_outbox";

/// The times that may be between two looks at a table.
const EVERY_MS: RangeInclusive<i64> = 10..=HOUR_MS;

/// The times for which rows may stay that were taken.
const KEEP_MS: RangeInclusive<i64> = 0..=365 * DAY_MS;

/// The most bytes of a name, which the ids of events begin with.
const NAME_BYTES_MAX: usize = 40;

/// The most bytes of the name of a table, or of its schema: PostgreSQL cuts longer ones, those of indexes included.
const TABLE_BYTES_MAX: usize = 50;

pub(crate) fn feeds(walk: &mut ConfigReader, root: &Section<'_>) -> BTreeMap<String, FeedRules> {
    let mut feeds = BTreeMap::new();
    for (name, section) in walk.named(root, "feeds", "write `[feeds.NAME]`") {
        walk.only(&section, &["url", "table", "every", "refused", "keep"]);
        if !is_name(name) {
            let reason = format!("a feed cannot be called {}", quoted(name));
            let hint = format!("write 1 to {NAME_BYTES_MAX} of a to z, 0 to 9 and `_`");
            walk.bad(&section.header, reason, hint);
        }
        if !section.has("url") {
            walk.missing(&section, "url", "add `url = \"${APP_DATABASE}\"`");
        }
        let url = url(walk, &section);
        let table = table(walk, &section).unwrap_or_else(|| TABLE.to_owned());
        let refused = match walk.word(&section, "refused", &["park", "stop"]) {
            Some("stop") => OnRefusal::Stop,
            _ => OnRefusal::Park,
        };
        let every_ms = bounded(walk, &section, "every", &EVERY_MS).unwrap_or(SECOND_MS);
        let keep_ms = keep_ms(walk, &section).unwrap_or(DAY_MS);
        let Some(url) = url else { continue };
        feeds.insert(name.to_owned(), FeedRules { url, table, every_ms, refused, keep_ms });
    }
    feeds
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

fn url(walk: &mut ConfigReader, section: &Section<'_>) -> Option<String> {
    let hint = "write `url = \"${APP_DATABASE}\"`, and set the environment variable APP_DATABASE, or \
                APP_DATABASE_FILE; or `postgres://USER:${PASSWORD}@HOST/DB`";
    let text = walk.text(section, "url", hint)?;
    if secrets(text.value).is_none() {
        walk.bad(&text.span, "`${` without its `}`", hint);
        return None;
    }
    let is_whole = text.value.starts_with("${");
    let rest =
        ["postgres://", "postgresql://"].iter().find_map(|form| text.value.strip_prefix(form));
    let Some(rest) = rest.or(is_whole.then_some("")) else {
        // What stands there may be a password: it is not repeated.
        walk.bad(&text.span, "it is not the address of a database of PostgreSQL", hint);
        return None;
    };
    if has_password(rest) {
        walk.bad(&text.span, "the configuration must not contain a secret", hint);
        return None;
    }
    Some(text.value.to_owned())
}

/// Returns true if an address without its scheme has a password that is no secret by name.
fn has_password(rest: &str) -> bool {
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let login = place.rsplit_once('@').map_or("", |(login, _)| login);
    let in_login = login.split_once(':').map(|(_, password)| password);
    let in_query = query.split('&').find_map(|pair| pair.strip_prefix("password="));
    let is_open = |password: &str| !password.is_empty() && !password.starts_with("${");
    in_login.is_some_and(is_open) || in_query.is_some_and(is_open)
}

/// The names of secrets in a text, each with its place; `None` where one has no end.
#[must_use]
pub fn secrets(text: &str) -> Option<Vec<(std::ops::Range<usize>, &str)>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find("${") {
        let begin = from + at;
        let name = begin + 2;
        let end = name + text.get(name..)?.find('}')?;
        found.push((begin..end + 1, text.get(name..end).filter(|name| !name.is_empty())?));
        from = end + 1;
    }
    Some(found)
}

fn table(walk: &mut ConfigReader, section: &Section<'_>) -> Option<String> {
    let hint = "write `tidings_outbox`, or `SCHEMA.TABLE`";
    let text = walk.text(section, "table", hint)?;
    let mut parts = text.value.split('.');
    let is_part = |part: &str| {
        (1..=TABLE_BYTES_MAX).contains(&part.len()) && !part.chars().any(char::is_control)
    };
    let is_valid = parts.by_ref().take(2).all(is_part) && parts.next().is_none();
    if !is_valid {
        walk.bad(&text.span, format!("{} is not the name of a table", quoted(text.value)), hint);
        return None;
    }
    Some(text.value.to_owned())
}

/// The time for which rows stay, which may be none.
fn keep_ms(walk: &mut ConfigReader, section: &Section<'_>) -> Option<i64> {
    let text = walk.text(section, "keep", "write a duration in quotes, such as `\"1d\"`")?;
    match duration::parse(text.value) {
        Err(duration::DurationError::Zero) => Some(0),
        _ => bounded(walk, section, "keep", &KEEP_MS),
    }
}

fn bounded(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    key: &str,
    range: &RangeInclusive<i64>,
) -> Option<i64> {
    let found = walk.duration(section, key)?;
    if !range.contains(&found.value) {
        let [got, least, most] = [found.value, *range.start(), *range.end()].map(duration::print);
        let reason = format!("`{key}` = {got} is not between {least} and {most}");
        walk.bad(&found.span, reason, format!("write a time such as `{most}`"));
        return None;
    }
    Some(found.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn faults(section: &str) -> Vec<(Option<(usize, usize)>, String)> {
        let text = format!("[feeds.app]\n{section}");
        let faults = parse(&text, "tidings.toml").unwrap_err();
        let told = |fault: &crate::Fault| {
            (fault.place.as_ref().map(|place| (place.line, place.column)), fault.reason.clone())
        };
        faults.list.iter().map(told).collect()
    }

    #[test]
    fn a_feed_has_what_is_usual_where_nothing_is_said() {
        let rules = parse("[feeds.app]\nurl = \"${APP_DATABASE}\"", "tidings.toml").unwrap();
        let usual = FeedRules {
            url: "${APP_DATABASE}".to_owned(),
            table: TABLE.to_owned(),
            every_ms: 1_000,
            refused: OnRefusal::Park,
            keep_ms: DAY_MS,
        };
        assert_eq!(rules.feeds["app"], usual);
        let text = "[feeds.app]\nurl = \"postgres://u:${PW}@h/d?sslmode=require\"\ntable = \"x.y\"\n\
                    every = \"10ms\"\nrefused = \"stop\"\nkeep = \"0s\"";
        let feed = &parse(text, "tidings.toml").unwrap().feeds["app"];
        assert_eq!((feed.refused, feed.keep_ms), (OnRefusal::Stop, 0));
    }

    #[test]
    fn each_fault_of_a_feed_has_its_place() {
        let url = "url = \"${APP}\"\n";
        for (section, place, reason) in [
            ("", (1, 8), "lacks `url`"),
            ("url = \"postgres://u:hunter2@h/d\"", (2, 7), "must not contain a secret"),
            ("url = \"postgres://u@h/d?password=hunter2\"", (2, 7), "must not contain a secret"),
            ("url = \"mysql://u@h/d\"", (2, 7), "not the address"),
            ("url = \"${APP\"", (2, 7), "without its `}`"),
            (&format!("{url}table = \"a.b.c\""), (3, 9), "not the name of a table"),
            (&format!("{url}mode = \"poll\""), (3, 1), "unknown key"),
            (&format!("{url}every = \"1ms\""), (3, 9), "is not between"),
            (&format!("{url}keep = \"400d\""), (3, 8), "is not between"),
            (&format!("{url}refused = \"drop\""), (3, 11), "cannot be `drop`"),
            (&format!("{url}tabel = \"x\""), (3, 1), "unknown key"),
        ] {
            let found = faults(section);
            assert_eq!(found.len(), 1, "{section}: {found:?}");
            assert_eq!(found[0].0, Some(place), "{section}: {found:?}");
            assert!(found[0].1.contains(reason), "{section}: {found:?}");
            assert!(!found[0].1.contains("hunter2"), "{section}");
        }
        let named = parse("[feeds.App-1]\nurl = \"${APP}\"", "tidings.toml").unwrap_err();
        assert!(named.to_string().contains("a feed cannot be called"), "{named}");
    }
}
