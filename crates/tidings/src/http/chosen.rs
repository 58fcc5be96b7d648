//! The choices that a configuration leaves to people: what the API lists, and the page behind mails.

use tidings_core::rules::{Digest, Every, Policy};
use tidings_core::{Mode, Rules};

/// The mode by which a type comes on a channel as its rules say, whatever is chosen for its category or for all.
pub(super) fn own(rules: &Rules, event_type: &str, channel: &str) -> Mode {
    let of_type = rules.types.get(event_type);
    match of_type.and_then(|of_type| Some(&of_type.channels.get(channel)?.policy)) {
        Some(Policy::Digest { digest }) => Mode::Digest(digest.clone()),
        _ => Mode::Immediate,
    }
}

/// The digests, the most frequent first.
pub(super) fn digests(rules: &Rules) -> Vec<(&str, &Digest)> {
    let digests = rules.digests.iter();
    let mut digests: Vec<(&str, &Digest)> =
        digests.map(|(name, digest)| (name.as_str(), digest)).collect();
    digests.sort_by_key(|(_, digest)| hours(digest.every));
    digests
}

/// About how many hours lie between two slots.
pub(super) fn hours(every: Every) -> u32 {
    match every {
        Every::Hours(hours) => u32::from(hours),
        Every::Day => 24,
        Every::Weekday => 34,
        Every::Week(_) => 7 * 24,
        Every::Month(_) => 30 * 24,
    }
}
