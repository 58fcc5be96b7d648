//! The clocks and quiet hours of recipients, as they hold for entries of a tenant or of none.
//!
//! The recipient's own come first, then the tenant's, then those of the channel and the configuration (contract,
//! section 12).

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::roster::Roster;
use crate::model::channel::ChannelNo;
use crate::model::number::RecipientNo;
use crate::model::preference::OwnTimes;
use crate::model::recipient::OwnHours;
use crate::model::tenant::{TenantNo, TenantTerms};
use crate::model::time::Instant;
use crate::rules::QuietHours;
use crate::rules::calendar::{DeadlineGroup, PersonCalendar, Zone, checksum, quiet_until};

/// The zone and the quiet hours that a tenant sets for its entries; it sets one of them at least.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TenantClock {
    zone: Option<(Box<str>, Zone)>,
    hours: Option<Box<OwnHours>>,
}

impl TenantClock {
    pub(super) fn of(terms: &TenantTerms) -> Option<Self> {
        let zone = terms.tz.as_deref();
        // A name that no zone has was refused before.
        let zone = zone.map(|name| (name.into(), Zone::find(name).unwrap_or_else(Zone::utc)));
        let hours = terms.quiet_hours.clone();
        (zone.is_some() || hours.is_some()).then_some(Self { zone, hours })
    }

    /// The zone's name and the quiet hours.
    pub(crate) fn set(&self) -> (Option<&str>, Option<&OwnHours>) {
        (self.zone.as_ref().map(|(name, _)| &**name), self.hours.as_deref())
    }
}

/// The recipients of a roster, for entries of a tenant or of none.
#[derive(Clone, Copy)]
pub(crate) struct RecipientClocks<'a> {
    roster: &'a Roster,
    number: Option<TenantNo>,
    tenant: Option<&'a TenantClock>,
}

/// One recipient, looked up when a deadline depends on who it is.
#[derive(Clone, Copy)]
pub(crate) struct RecipientClock<'a> {
    clocks: RecipientClocks<'a>,
    number: RecipientNo,
}

impl PersonCalendar for RecipientClock<'_> {
    fn zone(&self) -> Option<&Zone> {
        self.clocks.zone(self.number).map(|(_, zone)| zone)
    }

    fn checksum(&self) -> u32 {
        let profile = self.clocks.roster.profile(self.number);
        profile.map_or(0, |profile| checksum(profile.id.as_str()))
    }

    fn own_times(&self, digest: &str) -> OwnTimes {
        let RecipientClocks { roster, number: tenant, .. } = self.clocks;
        roster.digest_times.of(self.number.0, digest, tenant)
    }
}

impl<'a> RecipientClocks<'a> {
    pub(super) fn new(
        roster: &'a Roster,
        number: Option<TenantNo>,
        tenant: Option<&'a TenantClock>,
    ) -> Self {
        Self { roster, number, tenant }
    }

    fn zone_of_tenant(self) -> Option<(&'a str, &'a Zone)> {
        self.tenant?.zone.as_ref().map(|(name, zone)| (&**name, zone))
    }

    /// The name of the zone of those who have none of their own, beside the default.
    pub(crate) fn usual_zone(self, default: &'a str) -> &'a str {
        self.zone_of_tenant().map_or(default, |(name, _)| name)
    }

    /// Returns true if the tenant sets a zone.
    pub(crate) fn has_zone(self) -> bool {
        self.zone_of_tenant().is_some()
    }

    /// The zone of a recipient.
    pub(crate) fn zone(self, number: RecipientNo) -> Option<(&'a str, &'a Zone)> {
        let of_tenant = self.zone_of_tenant();
        of_tenant
            .filter(|_| !self.roster.own_zone.contains(number.0))
            .or_else(|| self.roster.zone(number))
    }

    /// A recipient's part in a deadline.
    pub(crate) fn member(self, number: RecipientNo) -> RecipientClock<'a> {
        RecipientClock { clocks: self, number }
    }

    /// The quiet hours of a channel for those who have none of their own.
    fn hours(
        self,
        channel: ChannelNo,
        of_channel: Option<&'a QuietHours>,
    ) -> Option<&'a QuietHours> {
        let of_tenant = self.tenant.and_then(|tenant| tenant.hours.as_deref());
        of_tenant.map_or(of_channel, |hours| hours.on(channel, of_channel))
    }

    /// Returns true if anybody has quiet hours on a channel.
    pub(crate) fn may_be_quiet(
        self,
        channel: ChannelNo,
        of_channel: Option<&'a QuietHours>,
    ) -> bool {
        self.hours(channel, of_channel).is_some() || self.roster.has_own_hours()
    }

    /// The recipients among these whose quiet hours hold at an instant, by their end. An erased one has none.
    pub(crate) fn quiet(
        self,
        recipients: &RoaringBitmap,
        channel: ChannelNo,
        of_channel: Option<&'a QuietHours>,
        at: Instant,
    ) -> Vec<(Instant, RoaringBitmap)> {
        let mut quiet = Vec::new();
        let own = recipients & &*self.roster.own_hours;
        if let Some(hours) = self.hours(channel, of_channel) {
            let others = (recipients & &*self.roster.everyone) - &own;
            for (zone, part) in self.by_zone(&others) {
                quiet.extend(quiet_until(hours, zone, at).map(|end| (end, part)));
            }
        }
        for number in own {
            let end = self.quiet_until(RecipientNo(number), channel, of_channel, at);
            quiet.extend(end.map(|end| (end, RoaringBitmap::from_iter([number]))));
        }
        quiet
    }

    /// The end of a recipient's quiet hours that hold at an instant.
    pub(crate) fn quiet_until(
        self,
        number: RecipientNo,
        channel: ChannelNo,
        of_channel: Option<&'a QuietHours>,
        at: Instant,
    ) -> Option<Instant> {
        let of_others = self.hours(channel, of_channel);
        if of_others.is_none() && !self.roster.own_hours.contains(number.0) {
            return None;
        }
        let own = &self.roster.profile(number)?.quiet_hours;
        let hours = own.as_ref().map_or(of_others, |own| own.on(channel, of_others))?;
        quiet_until(hours, self.zone(number)?.1, at)
    }

    /// Splits a set by what the slots of a digest depend on: the zone, own times and, where slots are spread over some
    /// minutes, these.
    pub(crate) fn alike(
        self,
        recipients: &RoaringBitmap,
        digest: &str,
        spread_minutes: u16,
    ) -> Vec<(DeadlineGroup<'a>, RoaringBitmap)> {
        let with_own = recipients & self.roster.digest_times.recipients(digest);
        let mut parts = Vec::new();
        for (zone, mut part) in self.by_zone(recipients) {
            let mut apart: BTreeMap<(OwnTimes, u32), RoaringBitmap> = BTreeMap::new();
            let own = &part & &with_own;
            if spread_minutes == 0 {
                part -= &own;
                apart.extend((!part.is_empty()).then_some(((OwnTimes::default(), 0), part)));
                part = own;
            }
            for number in part {
                let member = self.member(RecipientNo(number));
                let minute = match spread_minutes {
                    0 => 0,
                    minutes => member.checksum() % u32::from(minutes),
                };
                let own = match with_own.contains(number) {
                    true => member.own_times(digest),
                    false => OwnTimes::default(),
                };
                apart.entry((own, minute)).or_default().insert(number);
            }
            parts.extend(apart.into_iter().map(|((own_times, checksum), part)| {
                (DeadlineGroup { zone: Some(zone), checksum, own_times }, part)
            }));
        }
        parts
    }

    /// Splits a set by zone; that of the tenant may be there twice.
    pub(crate) fn by_zone(self, recipients: &RoaringBitmap) -> Vec<(&'a Zone, RoaringBitmap)> {
        let Some((_, zone)) = self.zone_of_tenant() else {
            return self.roster.by_zone(recipients);
        };
        let own = recipients & &*self.roster.own_zone;
        let others = recipients - &own;
        let mut parts = self.roster.by_zone(&own);
        if !others.is_empty() {
            parts.push((zone, others));
        }
        parts
    }
}
