//! The addresses that messages of a tenant, or without one, are sent to (contract, section 12, "Readers").
//!
//! An address of a tenant gets the messages of that tenant and those without one; an address of a deleted tenant gets
//! none. Profiles and the list of suppressed addresses change on their own, so each check reads both.

use roaring::RoaringBitmap;

use crate::bucket::Bucket;
use crate::engine::intake::state::Intake;
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::number::{RecipientNo, TenantNo};
use crate::model::recipient::{Recipient, takes};
use crate::model::suppression::{ChannelAddress, Suppression};
use crate::model::time::Instant;
use crate::rules::ChannelRules;

/// Messages of a tenant, or of none, on a channel.
#[derive(Clone, Copy)]
pub(crate) struct TenantChannel {
    pub(crate) channel: ChannelNo,
    pub(crate) tenant: Option<TenantNo>,
}

impl TenantChannel {
    /// The addresses of a recipient that take these messages, suppressed or not.
    pub(crate) fn addresses<'a>(
        self,
        intake: &Intake,
        profile: &'a Recipient,
    ) -> impl Iterator<Item = &'a str> {
        let is_there = |of: TenantNo| intake.tenants.get(of).is_some();
        let all = profile.addresses.views(self.channel);
        all.filter(move |(_, of)| takes(*of, self.tenant) && of.is_none_or(is_there))
            .map(|(address, _)| address)
    }

    /// The suppression of a recipient: that of their first address, if all are suppressed.
    pub(crate) fn suppression(
        self,
        intake: &Intake,
        profile: &Recipient,
        at: Instant,
    ) -> Option<Suppression> {
        let list = &intake.suppressions;
        if !list.concerns(self.channel) {
            return None;
        }
        let addresses = self.addresses(intake, profile);
        let mut all = addresses.map(|text| list.of(&ChannelAddress::new(self.channel, text), at));
        let first = *all.next()??;
        all.all(|other| other.is_some()).then_some(first)
    }

    /// The recipients of a set who have no address for these messages.
    pub(crate) fn without(
        self,
        intake: &Intake,
        bucket: &Bucket,
        recipients: &RoaringBitmap,
    ) -> RoaringBitmap {
        let mut without = bucket.roster.without_address(self.channel, recipients);
        if self.channel == INBOX_NO {
            return without;
        }
        let has_none = |number: &u32| {
            let profile = bucket.roster.profile(RecipientNo(*number));
            profile.is_some_and(|profile| self.addresses(intake, profile).next().is_none())
        };
        without.extend((recipients & bucket.roster.narrow()).iter().filter(has_none));
        without
    }

    /// The recipients of a set whose addresses for these messages are all suppressed.
    pub(crate) fn suppressed(
        self,
        intake: &Intake,
        bucket: &Bucket,
        recipients: &RoaringBitmap,
        at: Instant,
    ) -> RoaringBitmap {
        if !intake.suppressions.concerns(self.channel) {
            return RoaringBitmap::new();
        }
        let is_suppressed = |number: &u32| {
            let profile = bucket.roster.profile(RecipientNo(*number));
            profile.is_some_and(|profile| self.suppression(intake, profile, at).is_some())
        };
        recipients.iter().filter(is_suppressed).collect()
    }

    /// The channel's configuration, where it says which addresses are allowed.
    fn choosing(self, intake: &Intake) -> Option<&ChannelRules> {
        let channel = intake.rules()?.channels.get(self.channel.name())?;
        channel.allow.is_some().then_some(channel)
    }

    /// Returns true if the channel's `allow` leaves out each address of a recipient; `None` = it has no `allow`.
    pub(crate) fn is_left_out(self, intake: &Intake, profile: &Recipient) -> Option<bool> {
        let channel = self.choosing(intake)?;
        Some(!self.addresses(intake, profile).any(|text| channel.allows(self.channel, text)))
    }

    /// The recipients of a set none of whose addresses for these messages is allowed.
    pub(crate) fn not_allowed(
        self,
        intake: &Intake,
        bucket: &Bucket,
        recipients: &RoaringBitmap,
    ) -> RoaringBitmap {
        if self.choosing(intake).is_none() {
            return RoaringBitmap::new();
        }
        let is_left_out = |number: &u32| {
            let profile = bucket.roster.profile(RecipientNo(*number));
            profile.and_then(|profile| self.is_left_out(intake, profile)).unwrap_or(false)
        };
        recipients.iter().filter(is_left_out).collect()
    }

    /// Leaves those of a recipient's addresses on the channel to which a message goes now: each device once, with the keys
    /// that it gave last.
    pub(crate) fn narrow(self, intake: &Intake, profile: &mut Recipient) {
        let list = &intake.suppressions;
        let choosing = self.choosing(intake);
        let has_tenants = profile.addresses.tenants().next().is_some();
        if !list.concerns(self.channel) && choosing.is_none() && !has_tenants {
            return;
        }
        let mut left: Vec<(ChannelAddress, &str)> = Vec::new();
        for text in self.addresses(intake, profile) {
            let device = ChannelAddress::new(self.channel, text);
            let may_go = choosing.is_none_or(|channel| channel.allows(self.channel, text));
            if !may_go || list.of(&device, intake.now).is_some() {
                continue;
            }
            match left.iter_mut().find(|(known, _)| *known == device) {
                Some((_, known)) => *known = text,
                None => left.push((device, text)),
            }
        }
        let left: Vec<String> = left.into_iter().map(|(_, text)| text.to_owned()).collect();
        profile.addresses.set(self.channel, &left);
    }
}
