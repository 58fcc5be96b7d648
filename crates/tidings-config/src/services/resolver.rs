//! The section `[resolver]`: the host's service that returns the present state of objects.

use tidings_core::model::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS};
use tidings_core::rules::{ResolverRules, UnresolvedFate};

use crate::duration;
use crate::walk::{ConfigReader, Section};

/// The longest time to wait for one answer: nothing else is asked meanwhile.
const TIMEOUT_MS_MAX: i64 = MINUTE_MS;
/// The most objects of one question.
const BATCH_MAX: u32 = 1_000;

pub(crate) fn resolver(walk: &mut ConfigReader, root: &Section<'_>) -> Option<ResolverRules> {
    if !root.has("resolver") {
        return None;
    }
    let section = walk.section(root, "resolver", "write `[resolver]`")?;
    walk.only(&section, &["url", "secret", "timeout", "batch", "wait"]);
    if !section.has("url") {
        let hint = "add `url = \"https://app.example.org/objects\"`";
        walk.missing(&section, "url", hint);
    }
    let hint = "write `https://app.example.org/objects`; a secret goes into `secret`";
    let url = http_url(walk, &section, "resolver", "url", hint);
    let secret = secret(walk, &section, "secret");
    let timeout_ms = bounded(walk, &section, "timeout", SECOND_MS..=TIMEOUT_MS_MAX);
    let wait_ms = bounded(walk, &section, "wait", 0..=DAY_MS);
    let batch = batch(walk, &section);
    Some(ResolverRules {
        url: url?,
        secret,
        timeout_ms: timeout_ms.unwrap_or(5 * SECOND_MS),
        batch: batch.unwrap_or(100),
        wait_ms: wait_ms.unwrap_or(HOUR_MS),
    })
}

/// The address of a service over HTTP, without a secret.
pub(crate) fn http_url(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    name: &str,
    key: &str,
    hint: &str,
) -> Option<String> {
    let text = walk.text(section, key, hint)?;
    let known = ["https://", "http://"];
    let rest = known.iter().find_map(|scheme| text.value.strip_prefix(scheme));
    let host = rest.and_then(|rest| rest.split(['/', '?']).next());
    // What stands before an `@` may be a password: it is not repeated.
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '#');
    let is_valid = host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
        && text.value.chars().all(is_plain);
    if !is_valid {
        walk.bad(&text.span, format!("`{name}.{key}` is no http or https URL"), hint);
        return None;
    }
    Some(text.value.to_owned())
}

/// The name of a secret, written as `${NAME}`.
pub(crate) fn secret(walk: &mut ConfigReader, section: &Section<'_>, key: &str) -> Option<String> {
    let hint = format!(
        "write `{key} = \"${{NAME}}\"`, and set the environment variable NAME, or NAME_FILE"
    );
    let text = walk.text(section, key, &hint)?;
    let name = text.value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match name.filter(|name| !name.is_empty()) {
        Some(name) => Some(name.to_owned()),
        None => {
            let reason = "the configuration must not contain a secret";
            walk.bad(&text.span, reason, hint);
            None
        }
    }
}

fn bounded(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    key: &str,
    range: std::ops::RangeInclusive<i64>,
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

fn batch(walk: &mut ConfigReader, section: &Section<'_>) -> Option<u32> {
    let hint = "write a whole number without quotes, such as `batch = 100`";
    let found = walk.whole(section, "batch", hint)?;
    match u32::try_from(found.value) {
        Ok(number @ 1..=BATCH_MAX) => Some(number),
        _ => {
            walk.bad(&found.span, format!("`batch` must be 1 to {BATCH_MAX}"), hint);
            None
        }
    }
}

/// The fate of a type's messages while the host does not answer.
pub(crate) fn unresolved(walk: &mut ConfigReader, section: &Section<'_>) -> UnresolvedFate {
    match walk.word(section, "unresolved", &["send", "wait"]) {
        Some("wait") => UnresolvedFate::Wait,
        _ => UnresolvedFate::Send,
    }
}
