//! The closings whose messages are not all built and sent.

use std::collections::{BTreeMap, BTreeSet};

use crate::bucket::Closing;
use crate::engine::state::Engine;
use crate::journal::record::Attempts;
use crate::model::channel::ChannelNo;
use crate::model::number::{ClosingId, MessageId, RecipientNo, TenantNo};
use crate::model::time::Instant;
use crate::rules::names::LaneName;

/// The open closings of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Closings<'a> {
    engine: &'a Engine,
}

impl Engine {
    /// The closings whose messages are not all built and sent.
    #[must_use]
    pub fn open_closings(&self) -> Closings<'_> {
        Closings { engine: self }
    }
}

impl<'a> Closings<'a> {
    /// The closings with messages still to build, by due time, without those of paused channels.
    #[must_use]
    pub fn unmade(&self) -> Vec<ClosingId> {
        let mut closings = Vec::new();
        for bucket in self.engine.shards.buckets() {
            let unmade = bucket.closings.iter().filter(|(_, closing)| self.can_be_made(closing));
            closings.extend(unmade.map(|(seq, closing)| (closing.clock, bucket.no, *seq)));
        }
        closings.sort_unstable();
        closings.into_iter().map(|(_, bucket, seq)| ClosingId { bucket, seq }).collect()
    }

    /// The due time of the oldest message that is not built, or not known to have been sent.
    #[must_use]
    pub fn oldest_due(&self) -> Option<Instant> {
        let waiting = self
            .engine
            .shards
            .buckets()
            .flat_map(|b| b.closings.values())
            .filter(|c| !c.unmade.is_empty() || !c.sending.is_empty());
        waiting.map(|closing| closing.clock).min()
    }

    /// The due time of the oldest message of each channel that is not built, or not known to have been sent.
    #[must_use]
    pub fn oldest_due_by_channel(&self) -> BTreeMap<ChannelNo, Instant> {
        let mut oldest = BTreeMap::new();
        for closing in self.engine.shards.buckets().flat_map(|b| b.closings.values()) {
            if closing.unmade.is_empty() && closing.sending.is_empty() {
                continue;
            }
            let lane = self.engine.intake.compiled.names.lane(closing.lane.lane);
            let due = oldest.entry(lane.channel).or_insert(closing.clock);
            *due = closing.clock.min(*due);
        }
        oldest
    }

    /// The due time of the oldest message that can be built.
    #[must_use]
    pub fn oldest_to_make(&self) -> Option<Instant> {
        self.engine
            .shards
            .buckets()
            .flat_map(|b| b.closings.values())
            .filter(|closing| self.can_be_made(closing))
            .map(|closing| closing.clock)
            .min()
    }

    /// The name of a closing's lane, as long as its messages are not all built and sent.
    #[must_use]
    pub fn lane_of(&self, closing: ClosingId) -> Option<&'a LaneName> {
        let open = self.engine.shards.held_bucket(closing.bucket)?.closings.get(&closing.seq)?;
        Some(self.engine.intake.compiled.names.lane(open.lane.lane))
    }

    /// The tenant of a closing's lane, as long as its messages are not all built and sent; `None` = of none.
    #[must_use]
    pub fn tenant_of(&self, closing: ClosingId) -> Option<TenantNo> {
        let open = self.engine.shards.held_bucket(closing.bucket)?.closings.get(&closing.seq)?;
        open.lane.tenant
    }

    /// Returns true if there are messages to build.
    #[must_use]
    pub fn has_unmade(&self) -> bool {
        self.has_unmade_of(|_, _, _| true)
    }

    /// Returns true if there are messages to build of wanted closings, each given with its lane and the number of its
    /// messages to build.
    #[must_use]
    pub fn has_unmade_of(
        &self,
        mut is_wanted: impl FnMut(ClosingId, &LaneName, usize) -> bool,
    ) -> bool {
        let names = &self.engine.intake.compiled.names;
        self.engine.shards.buckets().any(|bucket| {
            let mut closings = bucket.closings.iter();
            closings.any(|(seq, closing)| {
                let (id, lane) = (bucket.closing_id(*seq), names.lane(closing.lane.lane));
                self.can_be_made(closing) && is_wanted(id, lane, closing.unmade.len())
            })
        })
    }

    fn can_be_made(&self, closing: &Closing) -> bool {
        let channel = || self.engine.intake.compiled.names.lane(closing.lane.lane).channel;
        !closing.unmade.is_empty() && !self.engine.intake.paused.channels.contains(&channel())
    }

    /// The failed attempts of a message without an outcome.
    #[must_use]
    pub fn attempts_of(&self, MessageId { closing, number }: MessageId) -> Option<Attempts> {
        let bucket = self.engine.shards.held_bucket(closing.bucket)?;
        let open = bucket.closings.get(&closing.seq)?;
        open.tried.get(&number.0).copied()
    }

    /// The messages without an outcome of which an attempt has failed.
    #[must_use]
    pub fn tried(&self) -> BTreeSet<MessageId> {
        let mut tried = BTreeSet::new();
        for bucket in self.engine.shards.buckets() {
            for (seq, open) in &bucket.closings {
                let closing = bucket.closing_id(*seq);
                let numbers = open.tried.keys();
                tried.extend(numbers.map(|number| closing.message(RecipientNo(*number))));
            }
        }
        tried
    }
}
