//! The caps: bounds on the messages to one recipient.

use tidings_core::model::{DAY_MS, MINUTE_MS, sending_channels};
use tidings_core::rules::Cap;

use super::duration;
use super::walk::{ConfigReader, Section};

/// The longest time over which messages are counted.
const PER_MS_MAX: i64 = 31 * DAY_MS;
/// The largest number of messages.
const MAX_MAX: u32 = 100;

pub(super) fn caps(walk: &mut ConfigReader, root: &Section<'_>) -> Vec<Cap> {
    let tables = walk.tables(root, "caps", "write `[[caps]]`");
    tables.iter().filter_map(|table| cap(walk, table)).collect()
}

fn cap(walk: &mut ConfigReader, table: &Section<'_>) -> Option<Cap> {
    walk.only(table, &["channel", "per", "max"]);
    let names: Vec<&str> = sending_channels().map(|channel| channel.name).collect();
    for (key, example) in
        [("channel", "channel = \"email\""), ("per", "per = \"24h\""), ("max", "max = 3")]
    {
        if !table.has(key) {
            walk.missing(table, key, &format!("add `{example}`"));
        }
    }
    let channel = walk.word(table, "channel", &names);
    let per = per(walk, table);
    let max = max(walk, table);
    Some(Cap { channel: channel?.to_owned(), per_ms: per?, max: max? })
}

fn per(walk: &mut ConfigReader, table: &Section<'_>) -> Option<i64> {
    let per = walk.duration(table, "per")?;
    if !(MINUTE_MS..=PER_MS_MAX).contains(&per.value) {
        let got = duration::print(per.value);
        let reason = format!("`per` = {got} is not between 1m and 31d");
        walk.bad(&per.span, reason, "write a time such as `24h`");
        return None;
    }
    Some(per.value)
}

fn max(walk: &mut ConfigReader, table: &Section<'_>) -> Option<u32> {
    let hint = "write a whole number without quotes, such as `max = 3`";
    let max = walk.whole(table, "max", hint)?;
    match u32::try_from(max.value) {
        Ok(number @ 1..=MAX_MAX) => Some(number),
        _ => {
            let hint = "choose the policy `never` for types of which nothing is sent";
            walk.bad(&max.span, format!("`max` must be 1 to {MAX_MAX}"), hint);
            None
        }
    }
}
