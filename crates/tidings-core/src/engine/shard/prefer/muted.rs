//! Mutes in the figures: a `never` that a user sets counts once for each type and channel that it reaches.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use super::PreferenceChange;
use crate::bucket::{Preference, preferences_of};
use crate::engine::figures::counting::CountKey;
use crate::engine::figures::measure::Slot;
use crate::model::channel::ChannelNo;
use crate::model::number::{RecipientAt, TypeNo};
use crate::model::occurrence::ChangedBy;
use crate::model::preference::Mode;
use crate::model::tenant::TenantNo;

/// Types that the recipient gets on a channel, for entries of a tenant or of none.
type UnmutedTypes = BTreeSet<(Option<TenantNo>, TypeNo, ChannelNo)>;

impl PreferenceChange<'_, '_> {
    /// The types that the recipient gets before they choose `never`, themselves or by a link; none for other changes.
    pub(super) fn unmuted_before(&self, choices: &[Preference]) -> UnmutedTypes {
        if !matches!(self.by, ChangedBy::User | ChangedBy::Link) {
            return UnmutedTypes::new();
        }
        let RecipientAt { bucket, number } = self.recipient;
        let known = preferences_of(&self.shard.buckets[bucket], number.0);
        let is_new = |of: &&Preference| {
            let is_of_types = !of.scope.is_mute() && of.scope.digest().is_none();
            of.mode == Mode::Never && is_of_types && !known.contains(of)
        };
        let tenants: BTreeSet<_> = choices.iter().filter(is_new).map(|of| of.tenant).collect();
        tenants.into_iter().flat_map(|tenant| self.unmuted(tenant)).collect()
    }

    /// Counts what they do not get any more.
    pub(super) fn count_muted(&mut self, before: &UnmutedTypes) {
        let tenants: BTreeSet<_> = before.iter().map(|(tenant, ..)| *tenant).collect();
        let after: UnmutedTypes =
            tenants.into_iter().flat_map(|tenant| self.unmuted(tenant)).collect();
        for (tenant, type_no, channel) in before.difference(&after) {
            let (at, channel) = (self.shard.now, Some(*channel));
            let of = CountKey { at, type_no: *type_no, tenant: *tenant, channel };
            self.shard.figures.add(of, Slot::MUTED, 1);
        }
    }

    fn unmuted(&self, tenant: Option<TenantNo>) -> UnmutedTypes {
        let RecipientAt { bucket, number } = self.recipient;
        let preferences = &self.shard.buckets[bucket].preferences;
        let mut unmuted = UnmutedTypes::new();
        let Some(version) = self.shard.version() else {
            return unmuted;
        };
        for of_type in version.types() {
            for channel in of_type.channels(None) {
                let recipient = RoaringBitmap::from_iter([number.0]);
                let paused = &self.shard.paused;
                let mut lanes = preferences.lanes(channel, of_type, tenant, paused, recipient);
                if lanes.any(|(lane, subset)| lane.is_some() && !subset.is_empty()) {
                    unmuted.insert((tenant, of_type.no, channel));
                }
            }
        }
        unmuted
    }
}
