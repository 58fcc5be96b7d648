//! The words of a case file: times, durations, ids.

use std::str::FromStr;

use tidings_core::model::{ChannelNo, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, channel_no};
use tidings_core::{Id, Instant};

/// A result of reading, or the reason for which it can't be read.
pub(super) type ReadResult<T> = Result<T, String>;

/// `HH:MM[:SS]` on 2024-01-01, `MM-DDTHH:MM[:SS]` in 2024, or RFC 3339.
pub(super) fn time(text: &str) -> ReadResult<Instant> {
    let clock = |clock: &str| match clock.len() {
        5 => format!("{clock}:00Z"),
        _ => format!("{clock}Z"),
    };
    let full = match text.split_once('T') {
        None => format!("2024-01-01T{}", clock(text)),
        Some((date, rest)) if date.len() == 5 => format!("2024-{date}T{}", clock(rest)),
        Some(_) => text.to_owned(),
    };
    Instant::parse(&full).map_err(|fault| fault.to_string())
}

/// A duration in milliseconds, such as `4m`.
pub(super) fn duration(text: &str) -> ReadResult<i64> {
    let unit = match text.as_bytes().last() {
        Some(b's') => SECOND_MS,
        Some(b'm') => MINUTE_MS,
        Some(b'h') => HOUR_MS,
        Some(b'd') => DAY_MS,
        _ => return Err(format!("no duration: {text}")),
    };
    Ok(number::<i64>(&text[..text.len() - 1])? * unit)
}

/// The sides of `KEY=VALUE`.
pub(super) fn pair(text: &str) -> ReadResult<(&str, &str)> {
    text.split_once('=').ok_or_else(|| format!("KEY=VALUE, not {text}"))
}

/// An id.
pub(super) fn id(text: &str) -> ReadResult<Id> {
    Id::new(text).map_err(|fault| fault.to_string())
}

/// Ids with commas between them.
pub(super) fn ids(text: &str) -> ReadResult<Vec<Id>> {
    text.split(',').map(id).collect()
}

/// The channels of these names, with commas between them.
pub(super) fn channels(names: &str) -> Vec<ChannelNo> {
    names.split(',').filter_map(channel_no).collect()
}

/// A number.
pub(super) fn number<T: FromStr<Err: ToString>>(text: &str) -> ReadResult<T> {
    parsed(text)
}

/// A value of any type that is written as text.
pub(super) fn parsed<T: FromStr<Err: ToString>>(text: &str) -> ReadResult<T> {
    text.parse().map_err(|fault: T::Err| format!("{text}: {}", fault.to_string()))
}
