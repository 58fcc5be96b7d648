//! The list of suppressed addresses, which the intake keeps.
//!
//! It stands apart from recipients: an address may be suppressed before anybody has it, several recipients may share
//! it, and whoever changes their address leaves the suppression behind. So the look before sending compares the
//! addresses of that moment with the list of that moment, and nothing has to follow either of them. Parts read the
//! list as they read withdrawn objects. While a channel has no suppressed address, its looks read none.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::act::Act;
use super::draft::Draft;
use super::rows::each_base;
use crate::bucket::Bucket;
use crate::channel::ChannelNo;
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::number::RecipientNo;
use crate::recipient::{Addresses, Recipient, RecipientChange};
use crate::shared::Tree;
use crate::suppression::{ChannelAddress, Suppression};
use crate::table::{Key, Owner, Partition, Table};
use crate::time::{DAY_MS, Instant};

/// The suppressed addresses, by channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Suppressions {
    by_channel: BTreeMap<ChannelNo, Tree<String, Suppression>>,
    /// Those that end by themselves, by their end.
    ending: Tree<(Instant, ChannelAddress), ()>,
}

/// A suppression as stored.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    address: ChannelAddress,
    suppression: Suppression,
}

/// The key of an address. An address may be longer than a key: its hash stands for it.
fn key(of: &ChannelAddress) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Suppressions)
        .bytes(&[of.channel().0])
        .bytes(&xxh3_128(of.address().as_bytes()).to_be_bytes())
        .done()
}

impl Suppressions {
    /// Reads what is stored.
    pub(super) fn recover(view: &dyn ReadView) -> Result<Self, Unreadable> {
        let mut all = Self::default();
        each_base(view, Table::Suppressions, |_, value| {
            let row: Row = decode("a suppressed address", value)?;
            all.note(&row.address, row.suppression);
            Ok(())
        })?;
        Ok(all)
    }

    fn note(&mut self, of: &ChannelAddress, suppression: Suppression) {
        self.strike(of);
        let addresses = self.by_channel.entry(of.channel()).or_default();
        addresses.insert(of.address().to_owned(), suppression);
        if let Some(until) = suppression.until {
            self.ending.insert((until, of.clone()), ());
        }
    }

    /// Removes an address; returns whether it was there.
    fn strike(&mut self, of: &ChannelAddress) -> bool {
        let addresses = self.by_channel.get_mut(&of.channel());
        let Some(known) = addresses.and_then(|addresses| addresses.remove(of.address())) else {
            return false;
        };
        if let Some(until) = known.until {
            self.ending.remove(&(until, of.clone()));
        }
        true
    }

    /// Puts an address on the list, or changes why and until when it is there, and drops those that ended.
    pub(super) fn put(
        &mut self,
        draft: &mut Draft<'_>,
        of: &ChannelAddress,
        suppression: Suppression,
    ) {
        // A look may be late: it is asked of the instant at which its lane was due.
        let old = suppression.since.plus_ms(-DAY_MS);
        while let Some(((until, ended), ())) = self.ending.first() {
            if *until > old {
                break;
            }
            let ended = ended.clone();
            self.lift(draft, &ended);
        }
        let row = Row {
            address: of.clone(),
            suppression,
        };
        draft.put(Partition::Base, key(of), encode(&row));
        self.note(of, suppression);
    }

    /// Takes an address off the list.
    pub(super) fn lift(&mut self, draft: &mut Draft<'_>, of: &ChannelAddress) {
        if self.strike(of) {
            draft.delete(Partition::Base, key(of));
        }
    }

    /// Takes addresses off the list that a change of a profile gives again, if they were gone.
    pub(super) fn given(&mut self, draft: &mut Draft<'_>, change: &RecipientChange) {
        for address in self.given_again(change) {
            self.lift(draft, &address);
            draft.tell(|| Act::Suppression {
                address,
                suppression: None,
            });
        }
    }

    /// The addresses that a change of a profile gives again and that were gone.
    pub(super) fn given_again(&self, change: &RecipientChange) -> Vec<ChannelAddress> {
        let known = |no: ChannelNo, text: &String| {
            let address = ChannelAddress::new(no, text);
            let known = self.by_channel.get(&no)?.get(address.address())?;
            known.reason.ends_when_given().then_some(address)
        };
        let given = change.addresses.iter();
        let given = given.flat_map(|(no, all)| all.iter().map(|text| (*no, text)));
        given.filter_map(|(no, text)| known(no, text)).collect()
    }

    /// The suppression of an address that holds at an instant.
    pub(super) fn of(&self, of: &ChannelAddress, at: Instant) -> Option<&Suppression> {
        let addresses = self.by_channel.get(&of.channel())?;
        let known = addresses.get(of.address());
        known.filter(|suppression| suppression.holds(at))
    }

    /// Tells whether a channel may have a suppressed address.
    fn concerns(&self, channel: ChannelNo) -> bool {
        let addresses = self.by_channel.get(&channel);
        addresses.is_some_and(|addresses| !addresses.is_empty())
    }

    /// The suppression of a recipient on a channel: that of their first address, if all are suppressed.
    pub(super) fn of_recipient(
        &self,
        profile: &Recipient,
        channel: ChannelNo,
        at: Instant,
    ) -> Option<Suppression> {
        if !self.concerns(channel) {
            return None;
        }
        let addresses = profile.addresses.of(channel);
        let mut all = addresses.map(|text| self.of(&ChannelAddress::new(channel, text), at));
        let first = *all.next()??;
        all.all(|other| other.is_some()).then_some(first)
    }

    /// Those among some recipients whose addresses on a channel are all suppressed.
    pub(super) fn among(
        &self,
        (bucket, channel): (&Bucket, ChannelNo),
        who: &RoaringBitmap,
        at: Instant,
    ) -> RoaringBitmap {
        if !self.concerns(channel) {
            return RoaringBitmap::new();
        }
        let is_suppressed = |number: &u32| {
            let profile = bucket.roster.profile(RecipientNo(*number));
            profile.is_some_and(|profile| self.of_recipient(profile, channel, at).is_some())
        };
        who.iter().filter(is_suppressed).collect()
    }

    /// Leaves out the suppressed addresses of a channel.
    pub(super) fn leave_out(&self, addresses: &mut Addresses, channel: ChannelNo, at: Instant) {
        if !self.concerns(channel) {
            return;
        }
        let others = addresses.of(channel);
        let others = others
            .filter(|text| self.of(&ChannelAddress::new(channel, text), at).is_none())
            .map(str::to_owned);
        let others: Vec<String> = others.collect();
        addresses.set(channel, &others);
    }

    /// Those of one channel, or of all, by channel and address; `after` = those after this one.
    pub(super) fn all<'a>(
        &'a self,
        channel: Option<ChannelNo>,
        after: Option<&'a ChannelAddress>,
        at: Instant,
    ) -> impl Iterator<Item = (ChannelAddress, Suppression)> + 'a {
        let from = after.map(ChannelAddress::channel);
        let of_channels = self.by_channel.iter();
        let of_channels = of_channels.filter(move |(no, _)| {
            channel.is_none_or(|wanted| wanted == **no) && from.is_none_or(|from| from <= **no)
        });
        of_channels.flat_map(move |(no, addresses)| {
            let after = after.filter(|after| after.channel() == *no);
            let after = after.map_or("", ChannelAddress::address);
            let addresses = addresses
                .from(after)
                .filter(move |(text, known)| text.as_str() > after && known.holds(at));
            addresses.map(move |(text, known)| (ChannelAddress::new(*no, text), *known))
        })
    }
}
