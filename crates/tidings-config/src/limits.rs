//! The section `[limits]`: bounds on what one command may carry, and on the configuration itself.

use tidings_core::Rules;
use tidings_core::model::{Bound, Limits, REASON_BYTES_MAX};

use super::walk::{ConfigReader, Section};
use crate::wording::quoted;

/// Maximum number of bytes of a stored configuration, which is one row.
const RULES_BYTES_MAX: usize = 1 << 20;

pub(super) fn limits(walk: &mut ConfigReader, root: &Section<'_>) -> Limits {
    let mut limits = Limits::default();
    if !root.has("limits") {
        return limits;
    }
    let Some(section) = walk.section(root, "limits", "write `[limits]`") else {
        return limits;
    };
    let keys = Bound::ALL.map(Bound::key);
    walk.only(&section, &keys);
    for bound in Bound::ALL {
        let key = bound.key();
        let range = format!("write a whole number from 1 to {}", bound.most());
        let Some(found) = section.has(key).then(|| walk.whole(&section, key, &range)).flatten()
        else {
            continue;
        };
        match u32::try_from(found.value) {
            Ok(value) if (1..=bound.most()).contains(&value) => limits = limits.with(bound, value),
            _ => {
                let path = format!("limits.{key}");
                let reason = format!("{} cannot be {}", quoted(&path), found.value);
                walk.bad(&found.span, reason, range);
            }
        }
    }
    let bytes = limits.reason_bytes();
    if bytes > REASON_BYTES_MAX {
        let reason = format!(
            "the topics of one event and their parent topics could take {bytes} bytes, more than \
             {REASON_BYTES_MAX}"
        );
        let hint = "lower `event_topics`, `topic_levels` or `topic_bytes`: their product counts";
        walk.bad(&section.header, reason, hint);
    }
    limits
}

/// Refuses a configuration that no row of the store can hold.
pub(super) fn fits_a_row(walk: &mut ConfigReader, rules: &Rules) {
    let bytes = serde_json::to_vec(rules).map_or(usize::MAX, |json| json.len());
    if bytes > RULES_BYTES_MAX {
        let reason = format!(
            "the configuration takes {bytes} bytes in the store, more than {RULES_BYTES_MAX}"
        );
        walk.bad(&(0..0), reason, "declare fewer types, or give them shorter names");
    }
}
