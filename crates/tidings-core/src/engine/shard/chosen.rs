//! What hooks tell of changed preferences: one occurrence for each line of the list of preferences.

use std::collections::BTreeMap;

use super::state::Shard;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::occurred::wants;
use crate::model::channel::{ChannelNo, TABLE};
use crate::model::number::RecipientAt;
use crate::model::occurrence::{By, Occurrence, OccurrenceKind, OccurrenceOwner};
use crate::model::preference::{Mode, PreferenceScope};

/// Notes what choices of a recipient change, before they are written.
pub(crate) fn note_chosen(
    shard: &Shard,
    draft: &mut Draft<'_>,
    RecipientAt { bucket, number }: RecipientAt,
    choices: &[(ChannelNo, PreferenceScope, Mode)],
    by: By,
) {
    let of_bucket = &shard.buckets[bucket];
    let profile = of_bucket
        .roster
        .profile(number)
        .filter(|_| wants(shard.rules(), OccurrenceKind::PreferenceChanged));
    let Some(profile) = profile else {
        return;
    };
    let known = of_bucket.preferences.of(number.0);
    for (scope, channel, mode) in changed_lines(known, choices) {
        let recipient = profile.id.clone();
        let occurrence = Occurrence::Preference { recipient, scope, channel, mode, by };
        draft.occur(OccurrenceOwner::Bucket(bucket), occurrence);
    }
}

/// The lines that choices change; `None` = what is the same on each channel, which is one line.
fn changed_lines(
    known: Vec<(ChannelNo, PreferenceScope, Mode)>,
    choices: &[(ChannelNo, PreferenceScope, Mode)],
) -> Vec<(PreferenceScope, Option<ChannelNo>, Mode)> {
    let by_line = |(channel, scope, mode)| ((scope, channel), mode);
    let before: BTreeMap<_, _> = known.into_iter().map(by_line).collect();
    let mut after = before.clone();
    after.extend(choices.iter().cloned().map(by_line));
    let mode_in = |all: &BTreeMap<(PreferenceScope, ChannelNo), Mode>, line: &_| {
        all.get(line).cloned().unwrap_or(Mode::Default)
    };
    let mut changed: BTreeMap<PreferenceScope, BTreeMap<ChannelNo, Mode>> = BTreeMap::new();
    for line in after.keys() {
        let mode = mode_in(&after, line);
        if mode != mode_in(&before, line) {
            changed.entry(line.0.clone()).or_default().insert(line.1, mode);
        }
    }
    let mut lines = Vec::new();
    for (scope, channels) in changed {
        let each = TABLE.iter().map(|of| mode_in(&after, &(scope.clone(), of.number)));
        let mut each: Vec<Mode> = each.collect();
        each.dedup();
        // A mode on one channel alone that returns to its default is a line of that channel.
        let is_lifted = each == [Mode::Default];
        let is_one = each.len() == 1 && (!is_lifted || channels.len() == TABLE.len());
        if is_one && scope.may_be_on_each() {
            lines.extend(each.pop().map(|mode| (scope, None, mode)));
        } else {
            let channels = channels.into_iter();
            lines.extend(channels.map(|(channel, mode)| (scope.clone(), Some(channel), mode)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::channel::{EMAIL_NO, INBOX_NO};

    #[test]
    fn a_line_that_stays_is_not_told() {
        let of_type = || PreferenceScope::Type("comment".to_owned());
        let everything = || PreferenceScope::AllCategories;
        let known = vec![(EMAIL_NO, of_type(), Mode::Never)];
        let lines = |choices: &[_]| changed_lines(known.clone(), choices);
        assert_eq!(lines(&[(EMAIL_NO, of_type(), Mode::Never)]), []);
        assert_eq!(lines(&[(INBOX_NO, of_type(), Mode::Default)]), []);
        assert_eq!(
            lines(&[(EMAIL_NO, of_type(), Mode::Default), (INBOX_NO, of_type(), Mode::Never)]),
            [(of_type(), Some(INBOX_NO), Mode::Never), (of_type(), Some(EMAIL_NO), Mode::Default)]
        );
        let each = |mode: &Mode| -> Vec<_> {
            TABLE.iter().map(|of| (of.number, everything(), mode.clone())).collect()
        };
        assert_eq!(lines(&each(&Mode::Never)), [(everything(), None, Mode::Never)]);
        let silent = each(&Mode::Never);
        let lift = changed_lines(silent.clone(), &each(&Mode::Default));
        assert_eq!(lift, [(everything(), None, Mode::Default)]);
        let lift = changed_lines(silent, &[(EMAIL_NO, everything(), Mode::Default)]);
        assert_eq!(lift, [(everything(), Some(EMAIL_NO), Mode::Default)]);
    }
}
