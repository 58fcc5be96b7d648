//! Occurrences of changed preferences for hooks: one for each line of the list of preferences.

use std::collections::BTreeMap;

use super::PreferenceChange;
use crate::bucket::{Preference, preferences_of};
use crate::engine::change_log::fields;
use crate::engine::rows::occurred::wants;
use crate::model::channel::{CHANNEL_KINDS, ChannelNo};
use crate::model::number::RecipientAt;
use crate::model::occurrence::{Occurrence, OccurrenceKind, OccurrenceOwner};
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::tenant::TenantNo;

impl PreferenceChange<'_, '_> {
    /// Notes for the log what choices change, before they are written.
    pub(super) fn note_fields(&mut self, choices: &[Preference]) {
        let RecipientAt { bucket, number } = self.recipient;
        let (of_bucket, tenants) = (&self.shard.buckets[bucket], &self.intake.tenants);
        self.draft.noted.note_fields(|| {
            fields::preferences(&preferences_of(of_bucket, number.0), choices, tenants)
        });
    }

    /// Notes what choices change, before they are written.
    pub(super) fn note_chosen(&mut self, choices: &[Preference]) {
        let (RecipientAt { bucket, number }, by) = (self.recipient, self.by);
        let of_bucket = &self.shard.buckets[bucket];
        let profile = of_bucket
            .roster
            .profile(number)
            .filter(|_| wants(self.shard.rules(), OccurrenceKind::PreferenceChanged));
        let Some(profile) = profile else {
            return;
        };
        let known = preferences_of(of_bucket, number.0);
        for PreferenceLine { tenant, scope, channel, mode } in changed_lines(known, choices) {
            let (recipient, tenant) = (profile.id.clone(), self.intake.tenants.id(tenant).cloned());
            let occurrence = Occurrence::Preference { recipient, scope, channel, mode, by, tenant };
            self.draft.occur(OccurrenceOwner::Bucket(bucket), occurrence);
        }
    }
}

/// A line of the list of preferences; `channel` = `None` for what is the same on each.
#[derive(Debug, PartialEq, Eq)]
struct PreferenceLine {
    tenant: Option<TenantNo>,
    scope: PreferenceScope,
    channel: Option<ChannelNo>,
    mode: Mode,
}

/// The scope of lines, and one of their channels.
type ScopedChannel = ((Option<TenantNo>, PreferenceScope), ChannelNo);

/// The lines that choices change.
fn changed_lines(known: Vec<Preference>, choices: &[Preference]) -> Vec<PreferenceLine> {
    let by_line = |of: Preference| (((of.tenant, of.scope), of.channel), of.mode);
    let before: BTreeMap<ScopedChannel, Mode> = known.into_iter().map(by_line).collect();
    let mut after = before.clone();
    after.extend(choices.iter().cloned().map(by_line));
    let mode_in = |all: &BTreeMap<ScopedChannel, Mode>, line: &ScopedChannel| {
        all.get(line).cloned().unwrap_or(Mode::Default)
    };
    let mut changed: BTreeMap<_, BTreeMap<ChannelNo, Mode>> = BTreeMap::new();
    for line in after.keys() {
        let mode = mode_in(&after, line);
        if mode != mode_in(&before, line) {
            changed.entry(line.0.clone()).or_default().insert(line.1, mode);
        }
    }
    let mut lines = Vec::new();
    for (of, channels) in changed {
        if of.1.digest().is_some() {
            let (tenant, scope) = of;
            lines.extend(channels.into_values().map(|mode| PreferenceLine {
                tenant,
                scope: scope.clone(),
                channel: None,
                mode,
            }));
            continue;
        }
        let each =
            CHANNEL_KINDS.iter().map(|channel| mode_in(&after, &(of.clone(), channel.number)));
        let mut each: Vec<Mode> = each.collect();
        each.dedup();
        // A mode on one channel alone that returns to its default is a line of that channel.
        let is_lifted = each == [Mode::Default];
        let is_one = each.len() == 1 && (!is_lifted || channels.len() == CHANNEL_KINDS.len());
        let (tenant, scope) = of;
        if is_one && scope.may_be_on_each() {
            lines.extend(each.pop().map(|mode| PreferenceLine {
                tenant,
                scope,
                channel: None,
                mode,
            }));
        } else {
            lines.extend(channels.into_iter().map(|(channel, mode)| {
                let (scope, channel) = (scope.clone(), Some(channel));
                PreferenceLine { tenant, scope, channel, mode }
            }));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::channel::{EMAIL_NO, INBOX_NO};

    fn set(channel: ChannelNo, scope: PreferenceScope, mode: Mode) -> Preference {
        Preference { tenant: None, channel, scope, mode }
    }

    fn line(scope: PreferenceScope, channel: Option<ChannelNo>, mode: Mode) -> PreferenceLine {
        PreferenceLine { tenant: None, scope, channel, mode }
    }

    #[test]
    fn a_line_that_stays_is_not_told() {
        let of_type = || PreferenceScope::Type("comment".to_owned());
        let everything = || PreferenceScope::AllCategories;
        let known = vec![set(EMAIL_NO, of_type(), Mode::Never)];
        let lines = |choices: &[_]| changed_lines(known.clone(), choices);
        assert_eq!(lines(&[set(EMAIL_NO, of_type(), Mode::Never)]), []);
        assert_eq!(lines(&[set(INBOX_NO, of_type(), Mode::Default)]), []);
        assert_eq!(
            lines(&[
                set(EMAIL_NO, of_type(), Mode::Default),
                set(INBOX_NO, of_type(), Mode::Never)
            ]),
            [
                line(of_type(), Some(INBOX_NO), Mode::Never),
                line(of_type(), Some(EMAIL_NO), Mode::Default)
            ]
        );
        let each = |mode: &Mode| -> Vec<_> {
            CHANNEL_KINDS.iter().map(|of| set(of.number, everything(), mode.clone())).collect()
        };
        assert_eq!(lines(&each(&Mode::Never)), [line(everything(), None, Mode::Never)]);
        let silent = each(&Mode::Never);
        let lift = changed_lines(silent.clone(), &each(&Mode::Default));
        assert_eq!(lift, [line(everything(), None, Mode::Default)]);
        let lift = changed_lines(silent, &[set(EMAIL_NO, everything(), Mode::Default)]);
        assert_eq!(lift, [line(everything(), Some(EMAIL_NO), Mode::Default)]);
    }

    #[test]
    fn lines_of_tenants_are_told_apart() {
        let of_type = || PreferenceScope::Type("comment".to_owned());
        let tenant = Some(TenantNo::FIRST);
        let of_tenant = |mode| Preference { tenant, ..set(EMAIL_NO, of_type(), mode) };
        let known = vec![set(EMAIL_NO, of_type(), Mode::Never), of_tenant(Mode::Never)];
        let lift = changed_lines(known, &[of_tenant(Mode::Default)]);
        let lifted = line(of_type(), Some(EMAIL_NO), Mode::Default);
        assert_eq!(lift, [PreferenceLine { tenant, ..lifted }]);
    }
}
