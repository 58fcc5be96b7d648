//! The section `[users]`: what end users may do by themselves, with tokens that the host signs.

use std::ops::RangeInclusive;

use tidings_core::model::{MINUTE_MS, check_topic};
use tidings_core::rules::UsersRules;
use tidings_node::TOKEN_MS_MAX;

use crate::duration;
use crate::walk::{ConfigReader, PlacedValue, Section};
use crate::wording::quoted;

/// The life that may be set as the longest of a token.
const TOKENS_MS: RangeInclusive<i64> = MINUTE_MS..=TOKEN_MS_MAX;

/// The most streams that may be set for a server.
const STREAMS_MAX: u32 = 1_000_000;

pub(crate) fn users(walk: &mut ConfigReader, root: &Section<'_>) -> Option<UsersRules> {
    if !root.has("users") {
        return None;
    }
    let section = walk.section(root, "users", "write `[users]`")?;
    walk.only(&section, &["origins", "topics", "tokens", "streams"]);
    let usual = UsersRules::default();
    Some(UsersRules {
        origins: origins(walk, &section),
        topics: topics(walk, &section),
        tokens_ms: tokens_ms(walk, &section).unwrap_or(usual.tokens_ms),
        streams: streams(walk, &section).unwrap_or(usual.streams),
    })
}

fn origins(walk: &mut ConfigReader, section: &Section<'_>) -> Vec<String> {
    let hint =
        "write scheme, host and port as browsers send them, such as `https://app.example.org`";
    let found = list(walk, section, "origins", hint);
    for origin in &found {
        if !is_origin(origin.value) {
            let reason = format!("{} is not the origin of a page", quoted(origin.value));
            walk.bad(&origin.span, reason, hint);
        }
    }
    owned(found)
}

/// Returns true if a text is an origin as browsers send it (RFC 6454): small letters, no path, no usual port.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else {
        return false;
    };
    let is_small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| is_small(byte) || b"+-.".contains(&byte));
    let is_host = host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
        && host.bytes().all(|byte| is_small(byte) || b"-._:[]".contains(&byte));
    let has_usual_port = match scheme {
        "https" => host.ends_with(":443"),
        "http" => host.ends_with(":80"),
        _ => false,
    };
    is_scheme && is_host && !has_usual_port && !host.ends_with(':')
}

fn topics(walk: &mut ConfigReader, section: &Section<'_>) -> Vec<String> {
    let hint = "write how the topics begin, such as `artist/`";
    let found = list(walk, section, "topics", hint);
    for prefix in &found {
        let begun = prefix.value.strip_suffix('/').unwrap_or(prefix.value);
        if check_topic(begun).is_err() {
            let reason = format!("no topic begins with {}", quoted(prefix.value));
            walk.bad(&prefix.span, reason, hint);
        }
    }
    owned(found)
}

fn tokens_ms(walk: &mut ConfigReader, section: &Section<'_>) -> Option<i64> {
    let found = walk.duration(section, "tokens")?;
    if !TOKENS_MS.contains(&found.value) {
        let [got, least, most] =
            [found.value, *TOKENS_MS.start(), *TOKENS_MS.end()].map(duration::print);
        let reason = format!("`tokens` = {got} is not between {least} and {most}");
        walk.bad(&found.span, reason, format!("write a time such as `{most}`"));
        return None;
    }
    Some(found.value)
}

fn streams(walk: &mut ConfigReader, section: &Section<'_>) -> Option<u32> {
    let hint = "write a whole number without quotes, such as `streams = 10000`";
    let found = walk.whole(section, "streams", hint)?;
    match u32::try_from(found.value) {
        Ok(number @ 1..=STREAMS_MAX) => Some(number),
        _ => {
            walk.bad(&found.span, format!("`streams` must be 1 to {STREAMS_MAX}"), hint);
            None
        }
    }
}

fn list<'t>(
    walk: &mut ConfigReader,
    section: &Section<'t>,
    key: &str,
    hint: &str,
) -> Vec<PlacedValue<&'t str>> {
    walk.texts(section, key, hint).map(|found| found.value).unwrap_or_default()
}

fn owned(found: Vec<PlacedValue<&str>>) -> Vec<String> {
    found.into_iter().map(|text| text.value.to_owned()).collect()
}
