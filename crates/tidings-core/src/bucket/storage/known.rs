//! Checks of the numbers in a record that was read back: of recipients, lanes and channels.
//!
//! A record indexes what is in memory by these numbers, without asking again. One that another build wrote, or
//! that a restore by hand mixed up, has to be refused before.

use roaring::RoaringBitmap;

use super::work::CheckpointHead;
use crate::journal::record::{Arrival, Record};
use crate::journal::stored::Unreadable;
use crate::model::batch_key::LaneKey;
use crate::model::channel::{CHANNELS, ChannelNo};
use crate::model::number::{LaneNo, RecipientNo};
use crate::model::tenant::TenantTerms;
use crate::rules::compiled::CompiledRules;

/// The ids and numbers that a record may name.
#[derive(Clone, Copy)]
pub(in crate::bucket) struct KnownNumbers<'a> {
    pub(in crate::bucket) compiled: &'a CompiledRules,
    /// The number that the next new recipient gets.
    pub(in crate::bucket) next_number: u32,
}

/// An upper bound on the recipients of a bucket: it limits what a damaged number can make a start
/// allocate.
const RECIPIENTS_MAX: u64 = 1 << 28;

impl KnownNumbers<'_> {
    /// Refuses a checkpoint with a number that was never given.
    pub(in crate::bucket) fn head(self, head: &CheckpointHead) -> Result<(), Unreadable> {
        if u64::from(head.next_number) >= head.next_seq.0.min(RECIPIENTS_MAX) {
            let what = "a bucket's checkpoint makes no sense";
            return Err(Unreadable(what.to_owned()));
        }
        for closing in &head.closings {
            self.lane_key(&closing.lane)?;
            self.set(&closing.sending)?;
            let tried = closing.tried.iter().map(|(number, _)| *number);
            let unmade = closing.unmade.iter().map(|(number, _)| *number);
            tried.chain(unmade).try_for_each(|number| self.recipient(number))?;
        }
        head.paused.iter().try_for_each(|no| channel(*no))
    }

    /// Refuses a record with a number that was never given.
    pub(in crate::bucket) fn record(self, record: &Record) -> Result<(), Unreadable> {
        match record {
            Record::Arrival(arrival) => self.arrival(arrival),
            Record::Move { overdue, arrivals, .. } => {
                for (lane, recipients) in overdue {
                    self.lane_key(lane)?;
                    self.set(recipients)?;
                }
                arrivals.iter().try_for_each(|one| self.arrival(one))
            }
            Record::Closing { lane, recipients, .. } | Record::Capped { lane, recipients, .. } => {
                self.lane_key(lane)?;
                self.set(recipients)
            }
            Record::Cut { items, .. } | Record::Hidden { items, .. } => {
                items.iter().try_for_each(|item| {
                    channel(item.channel)?;
                    self.set(&item.recipients)
                })
            }
            Record::Dropped { items, .. } | Record::NeverEntered { items, .. } => {
                items.iter().try_for_each(|(no, _, recipients)| {
                    channel(*no)?;
                    self.set(recipients)
                })
            }
            Record::InboxDelivered { except, .. } => {
                except.iter().try_for_each(|(_, _, recipients)| self.set(recipients))
            }
            Record::Made { recipients, nothing, .. } => {
                self.set(recipients)?;
                self.set(nothing)
            }
            Record::Outcome { recipients, .. } | Record::Withdrawn { recipients, .. } => {
                self.set(recipients)
            }
            Record::Reopened(again) => {
                self.lane_key(&again.lane)?;
                self.recipient(again.number.0)
            }
            // A new one is made under the next number.
            Record::Profile { number, .. } if *number == RecipientNo(self.next_number) => Ok(()),
            Record::Profile { number, .. }
            | Record::Mark { number, .. }
            | Record::Items { number, .. }
            | Record::Erased { number, .. }
            | Record::Attempted { number, .. } => self.recipient(number.0),
            Record::Follow { topics, .. } => {
                topics.iter().try_for_each(|(_, recipients)| self.set(recipients))
            }
            Record::Members { tenants, .. } => {
                tenants.iter().try_for_each(|(_, recipients)| self.set(recipients))
            }
            Record::DigestTime { number, .. } => self.recipient(number.0),
            Record::Preference { number, channel: no, .. } => {
                channel(*no)?;
                self.recipient(number.0)
            }
            Record::Flush { number, lanes, .. } => {
                self.recipient(number.0)?;
                lanes.iter().try_for_each(|lane| self.lane_key(lane))
            }
            Record::Pause { channels, emptied, .. } => {
                channels.iter().try_for_each(|no| channel(*no))?;
                emptied.iter().try_for_each(|lane| self.lane(*lane))
            }
            Record::Counted { lane, fewer, enough, .. } => {
                self.lane_key(lane)?;
                self.set(fewer)?;
                self.set(enough)
            }
            Record::Tenant { terms, .. } => self.terms(terms),
            Record::Rules { .. } | Record::Clock { .. } => Ok(()),
        }
    }

    /// Refuses terms of a tenant with an unknown channel number.
    pub(in crate::bucket) fn terms(self, terms: &TenantTerms) -> Result<(), Unreadable> {
        terms.preferences.iter().try_for_each(|(no, ..)| channel(*no))
    }

    fn arrival(self, arrival: &Arrival) -> Result<(), Unreadable> {
        arrival.variants.iter().try_for_each(|variant| {
            variant.lanes.iter().try_for_each(|lane| self.lane(*lane))?;
            let mut elsewhere = variant.elsewhere.iter();
            elsewhere.try_for_each(|of| channel(of.channel))?;
            self.set(&variant.recipients)
        })
    }

    /// Refuses the address of a lane that there can't be: only lanes of some kinds have a batch key.
    fn lane_key(self, lane_key: &LaneKey) -> Result<(), Unreadable> {
        self.lane(lane_key.lane)?;
        let takes_keys = self.compiled.names.lane(lane_key.lane).kind.takes_keys();
        given(lane_key.key.is_empty() || takes_keys, "a batch key of lane", lane_key.lane.0.into())
    }

    /// Refuses the number of a lane that was never given.
    pub(in crate::bucket) fn lane(self, number: LaneNo) -> Result<(), Unreadable> {
        given(self.compiled.names.has_lane(number), "lane", number.0.into())
    }

    /// Refuses a set with the number of a recipient that was never given.
    pub(in crate::bucket) fn set(self, recipients: &RoaringBitmap) -> Result<(), Unreadable> {
        recipients.max().map_or(Ok(()), |most| self.recipient(most))
    }

    /// Refuses the number of a recipient that was never given.
    pub(in crate::bucket) fn recipient(self, number: u32) -> Result<(), Unreadable> {
        given(number < self.next_number, "recipient", number)
    }
}

/// Refuses an unknown channel number.
pub(in crate::bucket) fn channel(number: ChannelNo) -> Result<(), Unreadable> {
    given(usize::from(number) < CHANNELS.len(), "channel", number.0.into())
}

fn given(is_given: bool, what: &str, number: u32) -> Result<(), Unreadable> {
    let fault = || Unreadable(format!("a row names {what} {number}, which there is not"));
    is_given.then_some(()).ok_or_else(fault)
}

/// The fault of a key that makes no sense.
pub(in crate::bucket) fn odd_key(what: &str) -> Unreadable {
    Unreadable(format!("the key of {what} makes no sense"))
}
