//! A bucket: a shard of recipients with one writer, and the fold of its journal.
//!
//! State changes only by [`Bucket::apply`]: live and on recovery the same records go through it, so
//! what was recovered is what there was.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

use crate::batch_key::LaneKey;
use crate::channel::{ChannelNo, INBOX_NO};
use crate::command::MarkKind;
use crate::compiled::CompiledRules;
use crate::id::{BucketNo, Id};
use crate::index::Index;
use crate::journal::record::{Arrival, Attempts, Covered, Entries, Record};
use crate::journal::stored::StoredArrival;
use crate::number::{ClosingId, EventNo, LaneNo};
use crate::set::Set;
use crate::shared::{Own, Shared, Tree};
use crate::time::{Day, Instant};

mod caps;
mod change;
pub(crate) mod checkpoint;
mod chore;
mod column;
mod counted;
mod counting;
mod ended;
mod followers;
mod forget;
mod known;
mod lane;
mod lanes;
mod marks;
mod mutes;
mod pause;
mod preferences;
pub(crate) mod recovery;
mod roster;
mod scheduled;
mod values;
mod waiting;
mod wheel;

use caps::CapCounts;
use chore::Chore;
pub(crate) use counted::{AsOf, Counted, Counts};
use ended::Ended;
use followers::Followers;
use lane::Entering;
pub(crate) use lane::{Due, Lane, Terms};
pub(crate) use lanes::{Around, Lanes};
pub(crate) use marks::{Looked, MarkAt, Marking, Marks, Reading, State};
pub(crate) use mutes::{Left, Why};
use preferences::Preferences;
use roster::Roster;
pub(crate) use scheduled::{Frozen, FrozenPart};

/// A shard of recipients. A clone is for readers: it has no chores.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    /// Its number.
    pub(crate) no: BucketNo,
    /// The seq that the next record gets; counts from 1.
    pub(crate) next_seq: u64,
    /// Everything up to this seq was delivered to the inbox.
    pub(crate) delivered_to: u64,
    /// The version of the rules in force.
    pub(crate) rules: u32,
    /// The seqs at which versions came into force.
    pub(crate) versions: BTreeMap<u64, u32>,
    pub(crate) roster: Shared<Roster>,
    pub(crate) followers: Followers,
    pub(crate) preferences: Shared<Preferences>,
    pub(crate) lanes: Lanes,
    pub(crate) marks: Tree<u32, Shared<Marks>>,
    pub(crate) ended: Ended,
    /// Closings whose messages are not all built and sent.
    pub(crate) closings: Tree<u64, Shared<Closing>>,
    pub(crate) index: Index,
    /// Scheduled events by (t, place), with their recipients.
    pub(crate) scheduled: Tree<(Instant, EventNo), Shared<RoaringBitmap>>,
    /// The messages that caps count.
    pub(crate) cap_counts: Own<CapCounts>,
    /// The seq of the newest record since the start that took something out of inboxes; 0 = there was none.
    pub(crate) hidden: u64,
    /// The cache of inbox counts.
    pub(crate) counted: Counted,
    /// The channels that are paused.
    pub(crate) paused: Vec<ChannelNo>,
    pub(crate) dirty: Own<Dirty>,
    /// The newest checkpoint covers the records before this seq.
    checkpointed: u64,
    /// The chore in progress.
    chore: Own<Option<Chore>>,
    /// `checkpointed` and the day when nothing was found to index or merge.
    rested: Option<(u64, Day)>,
}

/// A closing with messages that are not all built and sent.
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    pub(crate) lane: LaneKey,
    pub(crate) at: Instant,
    /// The first seq of its windows.
    pub(crate) from: u64,
    /// The start of each window whose message is not built yet, by number.
    pub(crate) unmade: Tree<u32, u64>,
    /// Recipients whose message is built and has no outcome yet.
    pub(crate) sending: RoaringBitmap,
    /// The failed attempts of these messages, by recipient.
    pub(crate) tried: Tree<u32, Attempts>,
}

impl Closing {
    /// Ends messages that were built.
    fn end(&mut self, who: &RoaringBitmap) {
        self.sending -= who;
        if !self.tried.is_empty() {
            for number in who {
                self.tried.remove(&number);
            }
        }
    }
}

/// The changes that the next checkpoint writes.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    pub(crate) recipients: RoaringBitmap,
    pub(crate) topics: FxHashSet<Id>,
    /// Changed marks, each with its recipient.
    pub(crate) marks: FxHashSet<(u32, MarkAt)>,
    /// Deleted marks, whose rows are obsolete.
    pub(crate) stale_marks: BTreeSet<(u32, MarkAt)>,
    pub(crate) ended: BTreeSet<(u64, ChannelNo)>,
    /// Records since the last checkpoint.
    pub(crate) records: u64,
    /// The day of the first of those records.
    pub(crate) since: Option<Day>,
}

impl Bucket {
    pub(crate) fn new(no: BucketNo) -> Self {
        Self {
            no,
            next_seq: 1,
            delivered_to: 0,
            rules: 0,
            versions: BTreeMap::new(),
            roster: Shared::default(),
            followers: Followers::default(),
            preferences: Shared::default(),
            lanes: Lanes::default(),
            marks: Tree::new(),
            ended: Ended::default(),
            closings: Tree::new(),
            index: Index::new(no),
            scheduled: Tree::new(),
            cap_counts: Own::default(),
            hidden: 0,
            counted: Counted::default(),
            paused: Vec::new(),
            dirty: Own::default(),
            checkpointed: 1,
            chore: Own::default(),
            rested: None,
        }
    }

    /// The id of one of its closings.
    pub(crate) fn closing_id(&self, seq: u64) -> ClosingId {
        let bucket = self.no;
        ClosingId { bucket, seq }
    }

    /// Folds one record in. `seq` is the next one, `row` that of the first record of its row, `day` the
    /// one in whose journal it stands.
    pub(crate) fn apply(
        &mut self,
        (seq, row): (u64, u64),
        day: Day,
        record: Record,
        compiled: &CompiledRules,
    ) {
        debug_assert_eq!(seq, self.next_seq, "records are folded in order");
        self.next_seq = seq + record.seqs();
        self.dirty.records += 1;
        self.dirty.since.get_or_insert(day);
        match record {
            Record::Arrival(arrival) => {
                self.arrive(StoredArrival { seq, row, arrival }, None, compiled);
            }
            Record::Closing { at, lane, who } => self.close((seq, at), lane, &who, compiled),
            Record::Cut { at, items, .. } => {
                self.settle_urgent(at, &items, compiled);
                self.end(&items);
            }
            Record::Move {
                overdue, arrivals, ..
            } => {
                let overdue = overdue.into_iter().collect();
                for (seq, arrival) in (seq..).zip(arrivals) {
                    self.arrive(
                        StoredArrival { seq, row, arrival },
                        Some(&overdue),
                        compiled,
                    );
                }
            }
            Record::Dropped { .. } => {}
            Record::Mark {
                at,
                before,
                number,
                what,
                kind,
            } => {
                self.mark(seq, number, (at, before), what, kind);
            }
            Record::InboxDelivered { to, except, .. } => {
                self.delivered_to = to;
                for (seq, _, who) in except {
                    self.end_one(seq, INBOX_NO, &who);
                }
            }
            Record::Made {
                at,
                closing,
                who,
                nothing,
            } => self.made(at, closing, (&who, &nothing), compiled),
            Record::Outcome { closing, who, .. } => {
                if let Some(open) = self.closings.get_mut(&closing) {
                    open.end(&who.0);
                }
                self.settle_closing(closing);
            }
            Record::Profile {
                at,
                number,
                profile,
            } => self.profile(at, number, *profile, compiled),
            Record::Erased { at, number } => self.erase(at, number, compiled),
            Record::Follow { topics, on } => self.follow(topics, on),
            Record::Preference {
                number,
                scope,
                channel,
                mode,
            } => {
                self.preferences.choose(number, channel, scope, mode);
                self.dirty.recipients.insert(number);
            }
            Record::Flush { at, number, lanes } => self.flush(at, number, &lanes, compiled),
            Record::Pause {
                at,
                channels,
                emptied,
            } => self.pause(at, channels, &emptied, compiled),
            Record::Withdrawn { at, closing, who } => self.withdraw(at, closing, &who, compiled),
            Record::Attempted {
                closing,
                number,
                attempts,
                ..
            } => {
                let open = self.closings.get_mut(&closing);
                if let Some(open) = open.filter(|open| open.sending.contains(number)) {
                    open.tried.insert(number, attempts);
                }
            }
            Record::Counted {
                at,
                lane,
                fewer,
                enough,
            } => self.count(at, lane, (&fewer, &enough), compiled),
            Record::Capped { at, lane, who } => self.cap(at, &lane, &who, compiled),
            Record::Hidden { items, .. } => {
                self.end(&items);
                self.hidden = seq;
            }
            Record::Rules { at, version } => self.change_rules(seq, at, version, compiled),
        }
    }

    fn flush(&mut self, at: Instant, number: u32, lanes: &[LaneKey], compiled: &CompiledRules) {
        let who = RoaringBitmap::from_iter([number]);
        let (all, around) = self.lanes_and_around(compiled);
        for lane in lanes {
            all.change_known(lane, &who, around, |lane, _| lane.flush(number, at));
        }
    }

    fn mark(
        &mut self,
        seq: u64,
        number: u32,
        at: (Instant, EventNo),
        what: Covered,
        kind: MarkKind,
    ) {
        let marks = &mut **self.marks.or_default(number);
        marks.changed = seq;
        let mark = marks.add(at, what, kind, self.rules);
        self.dirty.marks.insert((number, mark));
    }

    /// `overdue` = by lane those whose deadline had passed before; `None` = it is still to be found out.
    fn arrive(
        &mut self,
        kept: StoredArrival,
        overdue: Option<&BTreeMap<LaneKey, Set>>,
        compiled: &CompiledRules,
    ) {
        let nobody = Set::default();
        let version = compiled.version(kept.arrival.rules);
        for variant in &kept.arrival.variants {
            for lane_no in &variant.lanes {
                if compiled.names.lane(*lane_no).is_inbox() {
                    continue;
                }
                let lane = compiled.names.address(*lane_no, &kept.arrival.keys);
                let around = Around {
                    terms: Terms::of((&self.roster, &self.ended), version),
                    paused: &self.paused,
                    compiled,
                };
                let overdue = overdue.map(|all| &all.get(&lane).unwrap_or(&nobody).0);
                with_entering(&kept, *lane_no, compiled, |entering| {
                    self.lanes
                        .enter(&lane, &variant.who, overdue, around, entering);
                });
            }
        }
        self.index.add(kept);
    }

    fn close(
        &mut self,
        (seq, at): (u64, Instant),
        lane: LaneKey,
        who: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.fade(at, around);
        lanes.note_messages(&lane, at, who, around);
        let began = lanes.close(&lane, who, at, around);
        self.count_for_caps(lane.lane, who, at, compiled);
        let unmade: Tree<u32, u64> = began.into_iter().collect();
        self.closings.insert(
            seq,
            Shared::new(Closing {
                lane,
                at,
                from: unmade.values().min().copied().unwrap_or(seq),
                unmade,
                sending: RoaringBitmap::new(),
                tried: Tree::new(),
            }),
        );
    }

    fn end(&mut self, items: &[Entries]) {
        for Entries { seq, channel, who } in items {
            self.end_one(*seq, *channel, who);
        }
    }

    fn end_one(&mut self, seq: u64, channel: ChannelNo, who: &RoaringBitmap) {
        self.ended.note(seq, channel, who);
        self.dirty.ended.insert((seq, channel));
    }

    /// By lane, the recipients of some arrivals whose window is open and whose deadline has passed.
    pub(crate) fn overdue_among(
        &self,
        arrivals: &[Arrival],
        at: Instant,
        compiled: &CompiledRules,
    ) -> BTreeMap<LaneKey, Set> {
        let mut all: BTreeMap<LaneKey, Set> = BTreeMap::new();
        for arrival in arrivals {
            for variant in &arrival.variants {
                for lane_no in &variant.lanes {
                    let address = compiled.names.address(*lane_no, &arrival.keys);
                    let Some(lane) = self.lanes.get(&address) else {
                        continue;
                    };
                    let overdue = lane.overdue(&variant.who, at, self.terms(compiled));
                    if !overdue.is_empty() {
                        all.entry(address).or_default().0 |= overdue;
                    }
                }
            }
        }
        all
    }

    fn made(
        &mut self,
        now: Instant,
        closing: u64,
        (who, nothing): (&RoaringBitmap, &RoaringBitmap),
        compiled: &CompiledRules,
    ) {
        let Some(open) = self.closings.get_mut(&closing) else {
            return;
        };
        for number in who {
            open.unmade.remove(&number);
        }
        open.sending |= who - nothing;
        let (at, lane) = (open.at, open.lane.clone());
        self.take_back_messages(&lane, at, nothing, compiled);
        self.uncount_for_caps(lane.lane, nothing, (at, now), compiled);
        self.settle_closing(closing);
    }

    fn settle_closing(&mut self, closing: u64) {
        let done = |open: &Shared<Closing>| open.unmade.is_empty() && open.sending.is_empty();
        if self.closings.get(&closing).is_some_and(done) {
            self.closings.remove(&closing);
        }
    }

    /// The parts of a deadline that are not in a lane.
    pub(crate) fn terms<'a>(&'a self, compiled: &'a CompiledRules) -> Terms<'a> {
        Terms::of((&self.roster, &self.ended), compiled.version(self.rules))
    }

    /// The lanes to be changed, beside what their changes depend on.
    pub(crate) fn lanes_and_around<'a>(
        &'a mut self,
        compiled: &'a CompiledRules,
    ) -> (&'a mut Lanes, Around<'a>) {
        let around = Around {
            terms: Terms::of((&self.roster, &self.ended), compiled.version(self.rules)),
            paused: &self.paused,
            compiled,
        };
        (&mut self.lanes, around)
    }

    fn take_back_messages(
        &mut self,
        lane: &LaneKey,
        at: Instant,
        who: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.take_back_messages(lane, at, who, around);
    }

    fn follow(&mut self, topics: Vec<(Id, Set)>, on: bool) {
        for (topic, changed) in topics {
            if !self.dirty.topics.contains(&topic) {
                self.dirty.topics.insert(topic.clone());
            }
            match on {
                true => self.followers.add(topic, changed.0),
                false => self.followers.remove(&topic, &changed.0),
            }
        }
    }

    /// [`Bucket::next_due`] if all lanes know it.
    pub(crate) fn known_due(&self) -> Option<Option<i64>> {
        self.lanes.known_due()
    }

    /// The earliest deadline of a confirmed recipient's lane, in milliseconds.
    pub(crate) fn next_due(&mut self, compiled: &CompiledRules) -> Option<i64> {
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.next_due(around.terms)
    }

    /// The lane number for each of these recipients: the kind under which their window was opened.
    pub(crate) fn lanes_of(
        &self,
        lane: &LaneKey,
        mut who: RoaringBitmap,
        compiled: &CompiledRules,
    ) -> Vec<(LaneNo, RoaringBitmap)> {
        let mut lanes = Vec::new();
        for other in compiled.names.others(lane.lane) {
            let key = lane.key.clone();
            let address = LaneKey { lane: other, key };
            let open = self.lanes.get(&address);
            let open = open.map(|lane| lane.open() & &who).unwrap_or_default();
            if !open.is_empty() {
                who -= &open;
                lanes.push((other, open));
            }
        }
        if !who.is_empty() {
            lanes.push((lane.lane, who));
        }
        lanes
    }

    /// A lane as it would be if an entry of a recipient entered it.
    pub(crate) fn lane_with(
        &self,
        (kept, lane): (&StoredArrival, &LaneKey),
        number: u32,
        compiled: &CompiledRules,
    ) -> Lane {
        let name = compiled.names.lane(lane.lane);
        let known = self.lanes.get(lane).cloned();
        let mut state = known.unwrap_or_else(|| Lane::new(name.kind.clone(), name.channel));
        let who = RoaringBitmap::from_iter([number]);
        let terms = self.terms(compiled);
        with_entering(kept, lane.lane, compiled, |entering| {
            state.enter(&who, None, entering, terms);
        });
        state
    }

    /// Bytes of memory used beyond profiles and ids, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let lanes = self.lanes.bytes();
        self.roster.bytes() + self.followers.bytes() + self.ended.bytes() + lanes
    }
}

/// Does something with an arrival's entries as they enter one of its lanes.
fn with_entering<R>(
    kept: &StoredArrival,
    lane_no: LaneNo,
    compiled: &CompiledRules,
    act: impl FnOnce(Entering<'_>) -> R,
) -> R {
    let Arrival {
        at,
        t,
        place,
        kind,
        rules,
        ..
    } = kept.arrival;
    let version = compiled.version(rules);
    act(Entering {
        seq: kept.seq,
        at,
        key: (t, place),
        parameters: compiled.parameters(rules, kind, lane_no),
        rules,
        urgent: compiled.is_urgent(rules, kind),
        bounded: version.is_some_and(|version| version.bounds(lane_no)),
        under: &|version| compiled.parameters(version, kind, lane_no),
    })
}

/// The version of the rules in force at a seq.
fn version_at(versions: &BTreeMap<u64, u32>, seq: u64) -> Option<u32> {
    let version = versions.range(..=seq).next_back();
    version.map(|(_, version)| *version)
}
