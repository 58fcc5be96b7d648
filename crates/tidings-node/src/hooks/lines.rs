//! Changes of preferences that are still to be sent to a hook, by the line of the list that they change.
//!
//! A line that a user changes to and fro needs no call for each change: what waits for a call ends with the next change of
//! the same line, so that one user's changes never fill the open set of a hook.

use std::collections::BTreeMap;

use tidings_core::Id;
use tidings_core::model::{ChannelNo, Occurrence, OccurrencePlace, PreferenceScope};

/// A line of a recipient's list: its tenant, scope and channel.
type PreferenceKey = (Id, Option<Id>, PreferenceScope, Option<ChannelNo>);

/// The newest open change of each line.
#[derive(Debug, Default)]
pub(super) struct PreferenceLines {
    newest: BTreeMap<PreferenceKey, OccurrencePlace>,
    /// The lines of those, by their place.
    lines: BTreeMap<OccurrencePlace, PreferenceKey>,
}

/// An occurrence among those of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewestOccurrence {
    /// It is the only one, or has no line.
    IsNew,
    /// It comes after this one.
    Replaces(OccurrencePlace),
    /// A newer one is open.
    IsAnother,
}

fn line_of(occurrence: &Occurrence) -> Option<PreferenceKey> {
    match occurrence {
        Occurrence::Preference { recipient, scope, channel, tenant, .. } => {
            Some((recipient.clone(), tenant.clone(), scope.clone(), *channel))
        }
        Occurrence::Message(_) | Occurrence::Suppressed { .. } => None,
    }
}

impl PreferenceLines {
    /// Adds an occurrence.
    pub(super) fn newest(
        &mut self,
        place: OccurrencePlace,
        occurrence: &Occurrence,
    ) -> NewestOccurrence {
        let Some(line) = line_of(occurrence) else {
            return NewestOccurrence::IsNew;
        };
        match self.newest.get(&line) {
            // A replay reads older changes again: the newer one that is open says what holds now.
            Some(known) if *known > place => return NewestOccurrence::IsAnother,
            Some(known) if *known == place => return NewestOccurrence::IsNew,
            _ => {}
        }
        self.lines.insert(place, line.clone());
        let Some(before) = self.newest.insert(line, place) else {
            return NewestOccurrence::IsNew;
        };
        self.lines.remove(&before);
        NewestOccurrence::Replaces(before)
    }

    /// Removes an occurrence that is not open any more.
    pub(super) fn remove(&mut self, place: OccurrencePlace) {
        if let Some(line) = self.lines.remove(&place) {
            self.newest.remove(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::Instant;
    use tidings_core::model::{ChangedBy, Mode, OccurrenceOwner, OccurrenceRow};

    use super::*;

    #[test]
    fn c7_the_next_change_of_a_line_replaces_the_one_that_is_open() {
        let place = |number| OccurrencePlace {
            owner: OccurrenceOwner::Intake,
            row: OccurrenceRow { at: Instant(0), number },
            index: 0,
        };
        let change = |who: &str, channel: u8, mode| Occurrence::Preference {
            recipient: Id::new(who).unwrap(),
            scope: PreferenceScope::AllCategories,
            channel: Some(ChannelNo(channel)),
            mode,
            by: ChangedBy::User,
            tenant: None,
        };
        let mut lines = PreferenceLines::default();
        let never = change("ana", 1, Mode::Never);
        assert_eq!(lines.newest(place(1), &never), NewestOccurrence::IsNew);
        assert_eq!(
            lines.newest(place(2), &change("ana", 1, Mode::Default)),
            NewestOccurrence::Replaces(place(1))
        );
        assert_eq!(lines.newest(place(3), &change("ana", 2, Mode::Never)), NewestOccurrence::IsNew);
        assert_eq!(lines.newest(place(4), &change("ben", 1, Mode::Never)), NewestOccurrence::IsNew);
        assert_eq!(lines.newest(place(1), &never), NewestOccurrence::IsAnother, "a replay");
        lines.remove(place(1));
        lines.remove(place(2));
        assert_eq!(
            lines.newest(place(5), &never),
            NewestOccurrence::IsNew,
            "the one before was told"
        );
    }
}
