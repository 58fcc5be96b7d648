//! The size of a recipient's stored profile, preferences and mutes, which share a row of the checkpoint.

use std::collections::BTreeMap;

use crate::bucket::{Bucket, Preference};
use crate::journal::stored::encode;
use crate::model::limits::{GrowingValue, TooLarge};
use crate::model::number::RecipientNo;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::recipient::Recipient;

/// An upper bound on the bytes of a preference that needs no look at its names.
const PREFERENCE_BYTES: usize = 512;

/// Refuses a profile that is too long for a row together with the preferences of the recipient, after these choices.
///
/// # Errors
/// [`TooLarge`].
pub(in crate::engine::shard) fn check(
    bucket: &Bucket,
    number: Option<RecipientNo>,
    profile: &Recipient,
    choices: &[Preference],
    row_bytes: usize,
) -> Result<(), TooLarge> {
    let profile = encode(profile).len();
    let stored = number.map_or(0, |number| bucket.preferences.count(number.0));
    let most = profile + (stored + choices.len()) * PREFERENCE_BYTES;
    if TooLarge::check(GrowingValue::Recipient, most, row_bytes).is_ok() {
        return Ok(());
    }
    let known = number.map(|number| bucket.preferences.of(number.0)).unwrap_or_default();
    let line = |of: &Preference| ((of.tenant, of.channel, of.scope.clone()), of.mode.clone());
    let mut all: BTreeMap<_, _> = known.iter().map(line).collect();
    all.extend(choices.iter().map(line));
    all.retain(|_, mode| *mode != Mode::Default);
    let preferences: usize = all.iter().map(|((.., scope), mode)| bytes(scope, mode)).sum();
    TooLarge::check(GrowingValue::Recipient, profile + preferences, row_bytes)
}

/// An upper bound on the bytes of a preference in a row.
fn bytes(scope: &PreferenceScope, mode: &Mode) -> usize {
    16 + encode(scope).len() + encode(mode).len()
}
