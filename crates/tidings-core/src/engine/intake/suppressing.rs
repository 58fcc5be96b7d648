//! Changes of the list of suppressed addresses, by hosts and by what providers report.

use super::state::Intake;
use crate::engine::acts::act::Act;
use crate::engine::change_log::fields;
use crate::engine::change_log::note::NotedChange;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::occurred::wants;
use crate::engine::rows::suppression_row::SuppressionRow;
use crate::model::id::Id;
use crate::model::occurrence::{ChangedBy, Occurrence, OccurrenceKind, OccurrenceOwner};
use crate::model::suppression::{AddressReport, ChannelAddress, SuppressedFor, Suppression};
use crate::model::time::Instant;

/// A change of an address in the list.
pub(super) struct AddressChange<'a, 'd> {
    pub(super) intake: &'a mut Intake,
    pub(super) draft: &'a mut Draft<'d>,
    pub(super) address: &'a ChannelAddress,
}

impl AddressChange<'_, '_> {
    /// Suppresses the address for a host.
    pub(super) fn suppress(mut self, reason: SuppressedFor, until: Option<Instant>) {
        let suppression = Suppression { reason, since: self.intake.now, until };
        // Precedes the change: hooks learn of an address only if it was not listed, or for another reason.
        self.note_suppressed(suppression, None, ChangedBy::Key);
        self.note_listed(Some(&suppression));
        self.list(SuppressionRow::Suppressed(suppression));
    }

    /// Takes the address off the list.
    pub(super) fn unsuppress(mut self) {
        self.note_listed(None);
        let now = self.intake.now;
        self.list(SuppressionRow::Lifted(now));
    }

    /// Takes in what a provider reports.
    pub(super) fn report(mut self, report: AddressReport, at: Instant, recipient: Option<&Id>) {
        // A provider's clock may be ahead: its report would outrank a removal that the host makes after it.
        let (at, now) = (at.min(self.intake.now), self.intake.now);
        let Some(listed) = self.intake.suppressions.reported(self.address, report, at, now) else {
            return;
        };
        match listed {
            SuppressionRow::Suppressed(suppression) => {
                self.note_suppressed(suppression, recipient, ChangedBy::Provider);
                self.note_listed(Some(&suppression));
            }
            SuppressionRow::Lifted(_) => {
                // Its owner wants messages again.
                let known = self.intake.suppressions.of(self.address, now);
                if known.is_some() {
                    self.draft.noted.note(|| NotedChange {
                        action: Some("unsuppress".into()),
                        ..NotedChange::of(fields::suppression(known, None))
                    });
                }
            }
            SuppressionRow::Bouncing(_) => {}
        }
        self.list(listed);
    }

    fn list(&mut self, listed: SuppressionRow) {
        let (address, at) = (self.address, self.intake.now);
        self.intake.suppressions.put(self.draft, address, listed, at);
        self.draft.log(|| Act::Suppression { address: address.clone(), listed, at });
    }

    /// Notes for the log what changes of the suppression of the address.
    fn note_listed(&mut self, to: Option<&Suppression>) {
        let now = self.intake.now;
        let from = self.intake.suppressions.of(self.address, now);
        let to = to.filter(|to| to.holds(now));
        self.draft.noted.note_fields(|| fields::suppression(from, to));
    }

    /// Notes for hooks that the address is suppressed, if it was not, or for another reason.
    fn note_suppressed(&mut self, suppression: Suppression, recipient: Option<&Id>, by: ChangedBy) {
        let (intake, address) = (&*self.intake, self.address);
        let reason = suppression.reason;
        let known = intake.suppressions.of(address, intake.now);
        let is_new =
            suppression.holds(intake.now) && known.is_none_or(|known| known.reason != reason);
        if is_new && wants(intake.rules(), OccurrenceKind::AddressSuppressed) {
            let (address, recipient) = (address.clone(), recipient.cloned());
            let occurrence = Occurrence::Suppressed { address, reason, recipient, by };
            self.draft.occur(OccurrenceOwner::Intake, occurrence);
        }
    }
}
