//! The roster of a bucket: dense numbers, profiles, and the sets that derive from profiles.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use roaring::RoaringBitmap;
use rustc_hash::FxBuildHasher;
use xxhash_rust::xxh3::xxh3_64;

use super::clocks::{RecipientClocks, TenantClock};
use super::digest_times::DigestTimes;
use crate::model::channel::{CHANNEL_KINDS, ChannelNo};
use crate::model::id::Id;
use crate::model::number::RecipientNo;
use crate::model::recipient::{OwnHours, Recipient, RecipientState};
use crate::model::tenant::{TenantNo, TenantTerms};
use crate::rules::calendar::Zone;
use crate::sets::geo_index::GeoIndex;
use crate::sets::shared::{Pages, Shared, Tree};

/// The recipients of a bucket. A number is its recipient's place here and is never given again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roster {
    numbers: Tree<HashedId, u32>,
    /// The ids in order, for lists.
    ids: Tree<Id, ()>,
    profiles: Pages<Option<Arc<Recipient>>>,
    /// The number that the next new recipient gets.
    next: u32,
    zones: IndexMap<Arc<str>, Shared<(Zone, RoaringBitmap)>, FxBuildHasher>,
    zone_of: Pages<u16>,
    /// All recipients that exist.
    pub(crate) everyone: Shared<RoaringBitmap>,
    /// Unconfirmed recipients.
    pub(crate) unconfirmed: Shared<RoaringBitmap>,
    /// Disabled or erased recipients.
    pub(crate) gone: Shared<RoaringBitmap>,
    /// Recipients with an address, by channel.
    reachable: [Shared<RoaringBitmap>; CHANNEL_KINDS.len()],
    /// Recipients with addresses of a tenant.
    addressed: Tree<(TenantNo, u32), ()>,
    /// The same of all tenants.
    narrow: Shared<RoaringBitmap>,
    /// The recipients' places on the map.
    pub(crate) geo_index: Shared<GeoIndex>,
    /// Recipients with quiet hours of their own.
    pub(super) own_hours: Shared<RoaringBitmap>,
    /// Recipients with a zone of their own.
    pub(super) own_zone: Shared<RoaringBitmap>,
    /// The tenants that set a zone or quiet hours.
    tenants: Tree<TenantNo, Arc<TenantClock>>,
    /// The times of digests that recipients chose.
    pub(crate) digest_times: DigestTimes,
}

/// An id, ordered by its hash: neighbours are compared without reading their text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HashedId {
    hash: u64,
    id: Id,
}

impl HashedId {
    fn of(id: &Id) -> Self {
        Self { hash: xxh3_64(id.as_str().as_bytes()), id: id.clone() }
    }
}

impl Roster {
    pub(crate) fn number(&self, id: &str) -> Option<RecipientNo> {
        let hash = xxh3_64(id.as_bytes());
        let compare = |known: &HashedId| {
            let by_hash = known.hash.cmp(&hash);
            by_hash.then_with(|| known.id.as_str().cmp(id))
        };
        self.numbers.find(compare).map(|(_, number)| RecipientNo(*number))
    }

    pub(crate) fn profile(&self, number: RecipientNo) -> Option<&Recipient> {
        self.profiles.get(number.0)?.as_deref()
    }

    /// The ids from a text on, in the order of their bytes.
    pub(crate) fn ids_from(&self, first: &str) -> impl Iterator<Item = &Id> {
        self.ids.from(first).map(|(id, ())| id)
    }

    /// The recipients in a state.
    pub(crate) fn in_state(&self, state: RecipientState) -> RoaringBitmap {
        match state {
            RecipientState::Active => &(&*self.everyone - &*self.unconfirmed) - &*self.gone,
            RecipientState::Unconfirmed => RoaringBitmap::clone(&self.unconfirmed),
            RecipientState::Disabled => &*self.gone & &*self.everyone,
        }
    }

    /// Everyone who ever was here, erased or not.
    pub(crate) fn ever(&self) -> RoaringBitmap {
        let mut ever = RoaringBitmap::new();
        ever.insert_range(0..self.next_number().0);
        ever
    }

    /// The number that the next new recipient gets.
    pub(crate) fn next_number(&self) -> RecipientNo {
        RecipientNo(self.next)
    }

    /// Reserves numbers up to `next` (those of erased recipients, on recovery).
    pub(crate) fn reserve(&mut self, next: u32) {
        if self.next < next {
            self.gone.insert_range(self.next..next);
            self.next = next;
        }
    }

    /// Stores a profile under its number, which is a known one or the next.
    pub(crate) fn put(&mut self, number: RecipientNo, profile: Recipient, default_tz: &str) {
        self.reserve(number.0);
        self.next = self.next.max(number.0 + 1);
        if self.numbers.insert(HashedId::of(&profile.id), number.0).is_none() {
            self.ids.insert(profile.id.clone(), ());
        }
        self.everyone.insert(number.0);
        set_if(&mut self.unconfirmed, number.0, profile.state == RecipientState::Unconfirmed);
        set_if(&mut self.gone, number.0, profile.state == RecipientState::Disabled);
        for (channel, recipients) in CHANNEL_KINDS.iter().zip(&mut self.reachable) {
            set_if(recipients, number.0, profile.addresses.get(channel.number).is_some());
        }
        self.settle_addressed(number, Some(&profile));
        self.geo_index.set(number.0, profile.place);
        set_if(&mut self.own_hours, number.0, profile.quiet_hours.is_some());
        set_if(&mut self.own_zone, number.0, profile.tz.is_some());
        self.settle_zone(number, profile.tz.as_deref().unwrap_or(default_tz));
        *self.profiles.at(number.0) = Some(Arc::new(profile));
    }

    /// Removes a recipient; the number is not reused.
    pub(crate) fn erase(&mut self, number: RecipientNo) {
        if self.profile(number).is_none() {
            return;
        }
        self.settle_addressed(number, None);
        let Some(profile) = self.profiles.at(number.0).take() else {
            return;
        };
        self.numbers.remove(&HashedId::of(&profile.id));
        self.ids.remove(&profile.id);
        self.everyone.remove(number.0);
        self.unconfirmed.remove(number.0);
        for recipients in &mut self.reachable {
            recipients.remove(number.0);
        }
        self.gone.insert(number.0);
        self.own_hours.remove(number.0);
        set_if(&mut self.own_zone, number.0, false);
        self.geo_index.set(number.0, None);
        for zone in self.zones.values_mut() {
            if zone.1.contains(number.0) {
                zone.1.remove(number.0);
            }
        }
    }

    /// The recipients without an address on a channel that needs one.
    pub(crate) fn without_address(
        &self,
        channel: ChannelNo,
        recipients: &RoaringBitmap,
    ) -> RoaringBitmap {
        let at = usize::from(channel);
        match (CHANNEL_KINDS.get(at), self.reachable.get(at)) {
            (Some(channel), Some(reachable)) if !channel.is_inbox() => recipients - &**reachable,
            _ => RoaringBitmap::new(),
        }
    }

    /// The recipients with addresses of tenants, which don't get every message.
    pub(crate) fn narrow(&self) -> &RoaringBitmap {
        &self.narrow
    }

    /// The recipients with addresses of a tenant, ascending.
    pub(crate) fn addressed(&self, tenant: TenantNo) -> impl Iterator<Item = u32> {
        let of = self.addressed.from(&(tenant, 0)).take_while(move |((of, _), ())| *of == tenant);
        of.map(|((_, number), ())| *number)
    }

    /// Notes the tenants of a recipient's new addresses; the profile is still the old one.
    fn settle_addressed(&mut self, number: RecipientNo, new: Option<&Recipient>) {
        if self.narrow.contains(number.0) {
            let known =
                self.profile(number).into_iter().flat_map(|known| known.addresses.tenants());
            for tenant in known.collect::<Vec<_>>() {
                self.addressed.remove(&(tenant, number.0));
            }
        }
        let mut is_narrow = false;
        for tenant in new.into_iter().flat_map(|new| new.addresses.tenants()) {
            self.addressed.insert((tenant, number.0), ());
            is_narrow = true;
        }
        set_if(&mut self.narrow, number.0, is_narrow);
    }

    /// Sets the default time zone and returns the recipients whose zone changed.
    pub(crate) fn set_default_zone(&mut self, tz: &str) -> Vec<u32> {
        let mut changed = Vec::new();
        for number in &*self.everyone.clone() {
            let says = self.profile(RecipientNo(number)).is_none_or(|profile| profile.tz.is_some());
            if !says && self.zone(RecipientNo(number)).is_some_and(|(name, _)| name != tz) {
                self.settle_zone(RecipientNo(number), tz);
                changed.push(number);
            }
        }
        changed
    }

    /// The zone of a recipient.
    pub(crate) fn zone(&self, number: RecipientNo) -> Option<(&str, &Zone)> {
        let at = self.zone_no(number)?;
        self.zones.get_index(usize::from(at)).map(|(name, zone)| (&**name, &zone.0))
    }

    fn zone_no(&self, number: RecipientNo) -> Option<u16> {
        let at = self.zone_of.get(number.0).copied().unwrap_or_default();
        (number < RecipientNo(self.next)).then_some(at)
    }

    /// The clocks and quiet hours that hold for entries of a tenant, or of none.
    pub(crate) fn clocks(&self, tenant: Option<TenantNo>) -> RecipientClocks<'_> {
        let clock = tenant.and_then(|tenant| self.tenants.get(&tenant));
        RecipientClocks::new(self, tenant, clock.map(|clock| &**clock))
    }

    /// Sets the zone and the quiet hours of a tenant.
    pub(crate) fn set_tenant(&mut self, tenant: TenantNo, terms: &TenantTerms) {
        match TenantClock::of(terms) {
            Some(clock) => {
                self.tenants.insert(tenant, Arc::new(clock));
            }
            None if self.tenants.contains_key(&tenant) => {
                self.tenants.remove(&tenant);
            }
            None => {}
        }
    }

    /// The zone's name and the quiet hours that a tenant sets.
    pub(crate) fn set_by(&self, tenant: TenantNo) -> (Option<&str>, Option<&OwnHours>) {
        self.tenants.get(&tenant).map_or((None, None), |clock| clock.set())
    }

    /// Returns true if anybody has quiet hours of their own.
    pub(crate) fn has_own_hours(&self) -> bool {
        !self.own_hours.is_empty()
    }

    /// Splits a set by zone.
    pub(crate) fn by_zone(&self, recipients: &RoaringBitmap) -> Vec<(&Zone, RoaringBitmap)> {
        if recipients.len() < 4 * self.zones.len() as u64 {
            let mut parts: BTreeMap<u16, RoaringBitmap> = BTreeMap::new();
            for number in recipients {
                parts
                    .entry(self.zone_no(RecipientNo(number)).unwrap_or_default())
                    .or_default()
                    .insert(number);
            }
            let zoned = |(at, part)| {
                let zone = self.zones.get_index(usize::from(at));
                zone.map(|(_, zone)| (&zone.0, part))
            };
            return parts.into_iter().filter_map(zoned).collect();
        }
        let parts = self.zones.values().filter_map(|zone| {
            let part = recipients & &zone.1;
            (!part.is_empty()).then_some((&zone.0, part))
        });
        parts.collect()
    }

    /// Bytes of memory used beyond profiles and the texts of ids, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let sets = [&self.everyone, &self.unconfirmed, &self.gone, &self.own_hours, &self.own_zone];
        let sets = sets.into_iter().chain([&self.narrow]).chain(&self.reachable);
        let zones = self.zones.values().map(|zone| zone.1.serialized_size()).sum::<usize>();
        sets.map(|recipients| recipients.serialized_size()).sum::<usize>()
            + zones
            + self.zone_of.bytes()
            + self.ids.len() * size_of::<Id>()
            + self.tenants.len() * size_of::<(TenantNo, TenantClock)>()
            + self.addressed.len() * size_of::<(TenantNo, u32)>()
            + self.geo_index.bytes()
    }

    fn settle_zone(&mut self, number: RecipientNo, name: &str) {
        let old = self.zone_no(number).map(usize::from);
        if let Some((_, zone)) = old.and_then(|old| self.zones.get_index_mut(old))
            && zone.1.contains(number.0)
        {
            zone.1.remove(number.0);
        }
        let at = match self.zones.get_index_of(name) {
            Some(at) => at,
            None => {
                let zone = Zone::find(name).unwrap_or_else(Zone::utc);
                self.zones.insert_full(name.into(), Shared::new((zone, RoaringBitmap::new()))).0
            }
        };
        self.zones[at].1.insert(number.0);
        *self.zone_of.at(number.0) = u16::try_from(at).expect("there are fewer zones than 2^16");
    }
}

/// Adds a number or removes it. A set that has it so already is not copied.
fn set_if(set: &mut Shared<RoaringBitmap>, number: u32, on: bool) {
    if set.contains(number) == on {
        return;
    }
    if on {
        set.insert(number);
    } else {
        set.remove(number);
    }
}
