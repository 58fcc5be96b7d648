//! The state of a bucket: what the fold of its journal leaves in memory.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

use super::lanes::by_address::{BucketLanes, LaneContext};
use super::lanes::caps::CapCounts;
use super::lanes::ended::EndedEntries;
use super::lanes::lane::DeadlineTerms;
use super::people::counted::CountsByReader;
use super::people::followers::Followers;
use super::people::marks::{MarkAt, Marks};
use super::people::members::Members;
use super::people::newest::NewestSeqs;
use super::people::preferences::{Preference, Preferences};
use super::people::roster::Roster;
use super::scheduled::ScheduledSets;
use super::storage::work::Chore;
use crate::index::Index;
use crate::journal::record::{Arrival, Attempts, TenantTopic};
use crate::journal::table::{Key, Owner, Table};
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::number::{ClosingId, LaneNo, Seq};
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::rules::compiled::CompiledRules;
use crate::sets::set::Set;
use crate::sets::shared::{Shared, Tree, WriterOnly};

/// A shard of recipients. A clone is for readers: it has no chores.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    /// Its number.
    pub(crate) no: BucketNo,
    /// The seq that the next record gets; counts from 1.
    pub(crate) next_seq: Seq,
    /// Everything up to this seq was delivered to the inbox.
    pub(crate) delivered_to: Seq,
    /// The clock's time, where it is behind the instants of records.
    pub(crate) clock: Option<Instant>,
    /// The version of the rules in force.
    pub(crate) rules: u32,
    /// The seqs at which versions came into force.
    pub(crate) versions: BTreeMap<Seq, u32>,
    pub(crate) roster: Shared<Roster>,
    pub(crate) followers: Followers,
    pub(crate) members: Members,
    pub(crate) preferences: Shared<Preferences>,
    pub(crate) lanes: BucketLanes,
    pub(crate) marks: Tree<u32, Shared<Marks>>,
    /// The ends of snoozes, each with the recipient; it may have more than there are.
    pub(crate) snoozed: Tree<(Instant, u32), ()>,
    pub(crate) ended: EndedEntries,
    /// Closings whose messages are not all built and sent.
    pub(crate) closings: Tree<Seq, Shared<Closing>>,
    pub(crate) index: Index,
    /// Scheduled events by (t, place), with their recipients.
    pub(crate) scheduled: ScheduledSets,
    /// The messages that caps count.
    pub(crate) cap_counts: WriterOnly<CapCounts>,
    /// The seqs of the newest records that took something out of inboxes.
    pub(crate) hidden: Shared<NewestSeqs>,
    /// No deleted day had a later seq.
    pub(crate) forgotten_to: Seq,
    /// The cache of inbox counts.
    pub(crate) counted: CountsByReader,
    /// The channels that are paused.
    pub(crate) paused: Vec<ChannelNo>,
    pub(crate) dirty: WriterOnly<CheckpointChanges>,
    /// The newest checkpoint covers the records before this seq.
    pub(super) checkpointed: Seq,
    /// The chore in progress.
    pub(super) chore: WriterOnly<Option<Chore>>,
    /// `checkpointed` and the day when nothing was found to index or merge.
    pub(super) rested: Option<(Seq, Day)>,
}

/// A closing with messages that are not all built and sent.
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    pub(crate) lane: LaneKey,
    /// The instant of its record, whose day has it.
    pub(crate) at: Instant,
    /// The clock's time then: earlier, if it was put back.
    pub(crate) clock: Instant,
    /// The first seq of its windows.
    pub(crate) from: Seq,
    /// The start of each window whose message is not built yet, by number.
    pub(crate) unmade: Tree<u32, Seq>,
    /// Recipients whose message is built and has no outcome yet.
    pub(crate) sending: RoaringBitmap,
    /// The failed attempts of these messages, by recipient.
    pub(crate) tried: Tree<u32, Attempts>,
}

impl Closing {
    /// A closing without messages, whose windows begin at a seq.
    pub(crate) fn new(lane: LaneKey, at: Instant, clock: Instant, from: Seq) -> Self {
        Self {
            lane,
            at,
            clock,
            from,
            unmade: Tree::new(),
            sending: RoaringBitmap::new(),
            tried: Tree::new(),
        }
    }

    /// Ends messages that were built.
    pub(super) fn end(&mut self, recipients: &RoaringBitmap) {
        self.sending -= recipients;
        if !self.tried.is_empty() {
            for number in recipients {
                self.tried.remove(&number);
            }
        }
    }
}

/// The changes that the next checkpoint writes.
#[derive(Debug, Default)]
pub(crate) struct CheckpointChanges {
    pub(crate) recipients: RoaringBitmap,
    /// Tenants whose terms changed.
    pub(crate) tenants: BTreeSet<TenantNo>,
    pub(crate) topics: FxHashSet<TenantTopic>,
    /// Changed marks, each with its recipient.
    pub(crate) marks: FxHashSet<(u32, MarkAt)>,
    /// Deleted marks, whose rows are obsolete.
    pub(crate) stale_marks: BTreeSet<(u32, MarkAt)>,
    pub(crate) ended: BTreeSet<(Seq, ChannelNo)>,
    /// Records since the last checkpoint.
    pub(crate) records: u64,
    /// The day of the first of those records.
    pub(crate) since: Option<Day>,
}

impl Bucket {
    pub(crate) fn new(no: BucketNo) -> Self {
        Self {
            no,
            next_seq: Seq(1),
            delivered_to: Seq::default(),
            clock: None,
            rules: 0,
            versions: BTreeMap::new(),
            roster: Shared::default(),
            followers: Followers::default(),
            members: Members::default(),
            preferences: Shared::default(),
            lanes: BucketLanes::default(),
            marks: Tree::new(),
            snoozed: Tree::new(),
            ended: EndedEntries::default(),
            closings: Tree::new(),
            index: Index::new(no),
            scheduled: ScheduledSets::default(),
            cap_counts: WriterOnly::default(),
            hidden: Shared::default(),
            forgotten_to: Seq::default(),
            counted: CountsByReader::default(),
            paused: Vec::new(),
            dirty: WriterOnly::default(),
            checkpointed: Seq(1),
            chore: WriterOnly::default(),
            rested: None,
        }
    }

    /// The beginning of the key of its rows of a table.
    pub(in crate::bucket) fn key(&self, table: Table) -> Key {
        Key::of(Owner::Bucket(self.no), table)
    }

    /// The id of one of its closings.
    pub(crate) fn closing_id(&self, seq: Seq) -> ClosingId {
        let bucket = self.no;
        ClosingId { bucket, seq }
    }

    /// The parts of a deadline that are not in a lane, for the lanes of a tenant or of none.
    pub(crate) fn terms<'a>(
        &'a self,
        tenant: Option<TenantNo>,
        compiled: &'a CompiledRules,
    ) -> DeadlineTerms<'a> {
        let version = compiled.version(self.rules);
        DeadlineTerms::of(&self.roster, &self.ended, version).in_lanes_of(tenant)
    }

    /// The lanes to be changed, beside what their changes depend on.
    pub(crate) fn lanes_and_around<'a>(
        &'a mut self,
        compiled: &'a CompiledRules,
    ) -> (&'a mut BucketLanes, LaneContext<'a>) {
        let around = LaneContext {
            terms: DeadlineTerms::of(&self.roster, &self.ended, compiled.version(self.rules)),
            paused: &self.paused,
            compiled,
        };
        (&mut self.lanes, around)
    }

    /// By lane, the recipients of some arrivals whose window is open and whose deadline has passed.
    pub(crate) fn overdue_of(
        &self,
        arrivals: &[Arrival],
        at: Instant,
        compiled: &CompiledRules,
    ) -> BTreeMap<LaneKey, Set> {
        let mut all: BTreeMap<LaneKey, Set> = BTreeMap::new();
        for arrival in arrivals {
            for variant in &arrival.variants {
                for lane_no in &variant.lanes {
                    let address = compiled.names.address(*lane_no, &arrival.keys, arrival.tenant);
                    let Some(lane) = self.lanes.get(&address) else {
                        continue;
                    };
                    let terms = self.terms(arrival.tenant, compiled);
                    let overdue = lane.deadlines(terms).overdue(&variant.recipients, at);
                    if !overdue.is_empty() {
                        all.entry(address).or_default().0 |= overdue;
                    }
                }
            }
        }
        all
    }

    /// [`Bucket::next_due`] if all lanes know it.
    pub(crate) fn known_due(&self) -> Option<Option<i64>> {
        let of_lanes = self.lanes.known_due()?;
        Some(of_lanes.into_iter().chain(next_return(&self.snoozed)).min())
    }

    /// The earliest deadline of a confirmed recipient's lane or end of a snooze, in milliseconds.
    pub(crate) fn next_due(&mut self, compiled: &CompiledRules) -> Option<i64> {
        let (lanes, around) = self.lanes_and_around(compiled);
        let of_lanes = lanes.next_due(around.terms);
        of_lanes.into_iter().chain(next_return(&self.snoozed)).min()
    }

    /// The lane number for each of these recipients: the kind under which their window was opened.
    pub(crate) fn lanes_of(
        &self,
        lane: &LaneKey,
        mut recipients: RoaringBitmap,
        compiled: &CompiledRules,
    ) -> Vec<(LaneNo, RoaringBitmap)> {
        let mut lanes = Vec::new();
        for other in compiled.names.others(lane.lane) {
            let address = LaneKey { lane: other, ..lane.clone() };
            let open =
                self.lanes.get(&address).map(|lane| lane.open() & &recipients).unwrap_or_default();
            if !open.is_empty() {
                recipients -= &open;
                lanes.push((other, open));
            }
        }
        if !recipients.is_empty() {
            lanes.push((lane.lane, recipients));
        }
        lanes
    }

    /// Bytes of memory used beyond profiles and ids, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let lanes = self.lanes.bytes();
        let waiting = self.ended.bytes() + lanes + self.scheduled.bytes();
        let tenants = self.members.bytes();
        self.roster.bytes() + self.followers.bytes() + tenants + waiting
    }
}

/// The first end of a snooze, in milliseconds.
fn next_return(snoozed: &Tree<(Instant, u32), ()>) -> Option<i64> {
    snoozed.first().map(|((until, _), ())| until.0)
}

/// The version of the rules in force at a seq.
pub(super) fn version_at(versions: &BTreeMap<Seq, u32>, seq: Seq) -> Option<u32> {
    let version = versions.range(..=seq).next_back();
    version.map(|(_, version)| *version)
}

/// All preferences of a recipient, and the times of digests that they chose.
pub(crate) fn preferences_of(bucket: &Bucket, number: u32) -> Vec<Preference> {
    let mut all = bucket.preferences.of(number);
    all.extend(bucket.roster.digest_times.preferences_of(number));
    all
}
