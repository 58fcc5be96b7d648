//! Slots of open windows where a zone changes, whoever set it: the recipient, a tenant, or the defaults.

use std::collections::BTreeMap;

use tidings_core::rules::Policy;

use super::{Model, calendar};

impl Model {
    /// The zone of each open lane of somebody who is there.
    pub(super) fn zones(&self) -> BTreeMap<usize, String> {
        let open = self.open.iter().map(|&lane| (lane, &self.lanes[lane]));
        open.filter(|(_, lane)| !self.people[lane.person].gone)
            .map(|(index, lane)| (index, self.settings(lane.person, lane.tenant).tz().to_owned()))
            .collect()
    }

    /// After a change of zones: the next slot after the change, by the rules of each window.
    pub(super) fn change_slots(&mut self, before: &BTreeMap<usize, String>) {
        for (lane, zone) in self.zones() {
            if before.get(&lane) == Some(&zone) {
                continue;
            }
            let Some(window) = &self.lanes[lane].window else {
                continue;
            };
            if let Policy::Digest { digest } = &window.policy
                && !window.slot_has_come(self.now)
                && let Some(digest) = self.rules[window.rules].digests.get(digest)
            {
                let person = self.lanes[lane].person;
                let zone = self.settings(person, self.lanes[lane].tenant).zone_of(digest);
                let id = self.people[person].id.as_str();
                let slot = calendar::next_slot(digest, id, &zone, self.now);
                if let Some(window) = &mut self.lanes[lane].window {
                    window.slot = Some(slot);
                }
            }
        }
    }
}
