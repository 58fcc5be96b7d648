//! Slots of open windows after a change of zone: the recipient's, a tenant's or that of the defaults.

use std::collections::BTreeMap;

use tidings_core::rules::{Digest, Policy};

use super::{Model, calendar};

impl Model {
    /// The zone of each open lane of a recipient who is there, and the digest at the times of their choice.
    pub(super) fn zones(&self) -> BTreeMap<usize, (String, Option<Digest>)> {
        let open = self.open.iter().map(|&lane| (lane, &self.lanes[lane]));
        open.filter(|(_, lane)| !self.people[lane.person].gone)
            .map(|(index, lane)| {
                let settings = self.settings(lane.person, lane.tenant);
                let digest = lane.window.as_ref().and_then(|window| match &window.policy {
                    Policy::Digest { digest: name } => {
                        let digest = self.rules[window.rules].digests.get(name)?;
                        Some(settings.digest(name, digest))
                    }
                    _ => None,
                });
                (index, (settings.tz().to_owned(), digest))
            })
            .collect()
    }

    /// After a change of zones or of own times: the next slot after the change, by the rules of each window.
    pub(super) fn change_slots(&mut self, before: &BTreeMap<usize, (String, Option<Digest>)>) {
        for (lane, zone) in self.zones() {
            if before.get(&lane) == Some(&zone) {
                continue;
            }
            let Some(window) = &self.lanes[lane].window else {
                continue;
            };
            if let Policy::Digest { digest: name } = &window.policy
                && !window.slot_has_come(self.now)
                && let Some(digest) = self.rules[window.rules].digests.get(name)
            {
                let person = self.lanes[lane].person;
                let settings = self.settings(person, self.lanes[lane].tenant);
                let (zone, digest) = (settings.zone_of(digest), settings.digest(name, digest));
                let id = self.people[person].id.as_str();
                let slot = calendar::next_slot(&digest, id, &zone, self.now);
                if let Some(window) = &mut self.lanes[lane].window {
                    window.slot = Some(slot);
                }
            }
        }
    }
}
