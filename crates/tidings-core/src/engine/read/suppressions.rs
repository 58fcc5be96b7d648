//! Reads of the list of suppressed addresses.

use std::collections::BTreeSet;

use crate::engine::read::list::{ListPage, PageBuilder, Positioned};
use crate::engine::read::reader::Reader;
use crate::model::channel::{ChannelNo, sending_channels};
use crate::model::id::Id;
use crate::model::suppression::{ChannelAddress, SuppressedFor, Suppression};
use crate::model::time::Instant;

/// A choice among suppressed addresses; what is absent leaves all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuppressionFilter {
    /// Only those of this channel.
    pub channel: Option<ChannelNo>,
    /// Only those that this recipient has now.
    pub recipient: Option<Id>,
    /// Only those that are suppressed for this reason.
    pub reason: Option<SuppressedFor>,
    /// Only those that are suppressed since this instant, or a later one.
    pub since: Option<Instant>,
}

/// A suppressed address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuppressedAddress {
    /// The address.
    pub address: ChannelAddress,
    /// Its suppression.
    pub suppression: Suppression,
}

impl Positioned for SuppressedAddress {
    type Position = ChannelAddress;

    fn position(&self) -> ChannelAddress {
        self.address.clone()
    }
}

impl Reader<'_> {
    /// The suppression of an address on a channel, if there is one now.
    #[must_use]
    pub fn suppression(&self, of: &ChannelAddress) -> Option<Suppression> {
        let intake = &self.engine.intake;
        intake.suppressions.of(of, intake.now).copied()
    }

    /// A page of suppressed addresses, by channel and address.
    #[must_use]
    pub fn suppressions(
        &self,
        filter: &SuppressionFilter,
        after: Option<&ChannelAddress>,
        most: usize,
    ) -> ListPage<SuppressedAddress> {
        let mut page = PageBuilder::new(after.cloned(), most);
        let matches = |known: &Suppression| {
            filter.reason.is_none_or(|wanted| wanted == known.reason)
                && filter.since.is_none_or(|since| since <= known.since)
        };
        let mut add = |address: ChannelAddress, suppression: Suppression| {
            let goes_on = page.looks_at(address.clone());
            if goes_on && matches(&suppression) {
                page.add(SuppressedAddress { address, suppression });
            }
            goes_on
        };
        if let Some(recipient) = &filter.recipient {
            let own = self.addresses_of(recipient, filter.channel);
            let rest = own.into_iter().filter(|address| after.is_none_or(|of| address > of));
            let known = rest.filter_map(|of| self.suppression(&of).map(|known| (of, known)));
            for (address, suppression) in known {
                if !add(address, suppression) {
                    break;
                }
            }
        } else {
            let intake = &self.engine.intake;
            let all = intake.suppressions.all(filter.channel, after, intake.now);
            for (address, suppression) in all {
                if !add(address, suppression) {
                    break;
                }
            }
        }
        page.page()
    }

    /// The addresses that a recipient has on one channel, or on all; none of somebody unknown.
    pub(in crate::engine) fn addresses_of(
        &self,
        recipient: &Id,
        channel: Option<ChannelNo>,
    ) -> BTreeSet<ChannelAddress> {
        let Some(profile) = self.engine.recipient(recipient) else {
            return BTreeSet::new();
        };
        let channels = sending_channels().map(|known| known.number);
        let wanted = channels.filter(|no| channel.is_none_or(|wanted| wanted == *no));
        wanted
            .flat_map(|no| profile.addresses.of(no).map(move |text| ChannelAddress::new(no, text)))
            .collect()
    }
}
