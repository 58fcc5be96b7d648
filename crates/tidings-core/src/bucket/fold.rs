//! The fold of a bucket's journal: what each record changes in the state.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::clock::by_clock;
use super::lanes::by_address::LaneContext;
use super::lanes::lane::{DeadlineTerms, EnteringEntries, Lane};
use super::people::marks::{MarkAt, NewMark};
use super::people::preferences::Preference;
use super::state::{Bucket, Closing};
use super::tenant::change_tenant;
use crate::journal::record::{Arrival, CoveredEntries, Entries, Record, TenantTopic};
use crate::journal::stored::StoredArrival;
use crate::model::batch_key::LaneKey;
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::item::{Shelf, StoredItem};
use crate::model::number::{EventNo, LaneNo, Seq};
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::rules::compiled::CompiledRules;
use crate::sets::set::Set;
use crate::sets::shared::{Shared, Tree};

impl Bucket {
    /// Folds one record in. `seq` is the next one, `row` that of the first record of its row, `day` the
    /// one in whose journal it stands.
    pub(crate) fn apply(
        &mut self,
        seq: Seq,
        row: Seq,
        day: Day,
        record: Record,
        compiled: &CompiledRules,
    ) {
        debug_assert_eq!(seq, self.next_seq, "records are folded in order");
        self.next_seq = seq.plus(record.seqs());
        self.dirty.records += 1;
        self.dirty.since.get_or_insert(day);
        let by = by_clock(self.clock);
        match record {
            Record::Arrival(arrival) => {
                self.arrive(StoredArrival { seq, row, arrival }, None, compiled);
            }
            Record::Closing { at, lane, recipients } => {
                self.close(seq, at, lane, &recipients, compiled);
            }
            Record::Cut { at, items, .. } => {
                self.settle_urgent(by(at), &items, compiled);
                self.end(&items);
            }
            Record::Move { overdue, arrivals, .. } => {
                let overdue = overdue.into_iter().collect();
                for (seq, arrival) in seq.and_on().zip(arrivals) {
                    self.arrive(StoredArrival { seq, row, arrival }, Some(&overdue), compiled);
                }
            }
            Record::Dropped { .. } | Record::NeverEntered { .. } => {}
            Record::Mark { at, before, number, what, kind, view, shows } => {
                let made = NewMark { at, before, kind, view, rules: self.rules };
                self.mark(seq, number.0, made, what, &shows);
            }
            Record::Items { number, items, .. } => self.change_items(seq, number.0, items),
            Record::InboxDelivered { to, except, .. } => {
                self.delivered_to = to;
                for (seq, _, recipients) in except {
                    self.end_one(seq, INBOX_NO, &recipients);
                }
            }
            Record::Made { at, closing, recipients, nothing } => {
                self.made(by(at), closing, &recipients, &nothing, compiled);
            }
            Record::Outcome { closing, recipients, .. } => self.end_messages(closing, &recipients),
            Record::Reopened(again) => self.reopen(*again),
            Record::Profile { at, number, profile } => {
                self.profile(by(at), number.0, *profile, compiled);
            }
            Record::Erased { at, number } => self.erase(by(at), number.0, compiled),
            Record::Follow { topics, on } => self.follow(topics, on),
            Record::Members { tenants, on } => self.members.change(&tenants, on),
            Record::Preference { number, tenant, scope, channel, mode } => {
                self.preferences.choose(number.0, Preference { tenant, channel, scope, mode });
                self.dirty.recipients.insert(number.0);
            }
            Record::DigestTime { at, number, tenant, scope, mode } => {
                let chosen = Preference { tenant, channel: INBOX_NO, scope, mode };
                self.choose_digest_time(by(at), number.0, &chosen, compiled);
            }
            Record::Flush { at, number, lanes } => self.flush(by(at), number.0, &lanes, compiled),
            Record::Pause { at, channels, emptied } => {
                self.pause(by(at), channels, &emptied, compiled);
            }
            Record::Withdrawn { at, closing, recipients } => {
                self.withdraw(by(at), closing, &recipients, compiled);
            }
            Record::Attempted { closing, number, attempts, .. } => {
                let open = self.closings.get_mut(&closing);
                if let Some(open) = open.filter(|open| open.sending.contains(number.0)) {
                    open.tried.insert(number.0, attempts);
                }
            }
            Record::Counted { at, lane, fewer, enough } => {
                self.count(by(at), &lane, &fewer, &enough, compiled);
            }
            Record::Capped { at, lane, recipients } => {
                self.cap(by(at), &lane, &recipients, compiled);
            }
            Record::Hidden { tenant, items, .. } => {
                self.end(&items);
                self.hidden.note(tenant, seq);
            }
            Record::Clock { at, clock } => self.set_clock(at, clock, compiled),
            Record::Tenant { at, tenant, terms } => {
                change_tenant(self, by(at), tenant, &terms, compiled);
            }
            Record::Rules { at, version } => self.change_rules(seq, by(at), version, compiled),
        }
    }

    fn flush(&mut self, at: Instant, number: u32, lanes: &[LaneKey], compiled: &CompiledRules) {
        let recipients = RoaringBitmap::from_iter([number]);
        let (all, around) = self.lanes_and_around(compiled);
        for lane in lanes {
            all.change_known(lane, &recipients, around, |lane, _| lane.flush(number, at));
        }
    }

    /// `shows` = the tenants whose entries the mark changed in the inbox.
    fn mark(
        &mut self,
        seq: Seq,
        number: u32,
        made: NewMark,
        what: CoveredEntries,
        shows: &[Option<TenantNo>],
    ) {
        let marks = &mut **self.marks.or_default(number);
        let rows = marks.add(made, what);
        for tenant in shows {
            marks.changed.note(*tenant, seq);
            self.dirty.marks.insert((number, MarkAt::Changed));
        }
        self.dirty.marks.extend(rows.into_iter().map(|row| (number, row)));
    }

    fn change_items(&mut self, seq: Seq, number: u32, items: Vec<(EventNo, StoredItem)>) {
        let marks = &mut **self.marks.or_default(number);
        let last = seq.plus(items.len().saturating_sub(1) as u64);
        self.dirty.marks.insert((number, MarkAt::Changed));
        for (place, item) in items {
            marks.changed.note(item.tenant, last);
            if let Shelf::Snoozed(until) = item.shelf {
                self.snoozed.insert((until, number), ());
            }
            marks.items.put(place, item);
            self.dirty.marks.insert((number, MarkAt::Item(place)));
        }
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
                // Inbox entries are delivered in the step itself, so they open no window.
                if compiled.names.lane(*lane_no).is_inbox() {
                    continue;
                }
                let lane =
                    compiled.names.address(*lane_no, &kept.arrival.keys, kept.arrival.tenant);
                let around = LaneContext {
                    terms: DeadlineTerms::of(&self.roster, &self.ended, version),
                    paused: &self.paused,
                    compiled,
                };
                let overdue = overdue.map(|all| &all.get(&lane).unwrap_or(&nobody).0);
                // Windows count by the clock of then: a record's instant is ahead of it after the clock was
                // put back.
                let at = self.by_the_clock(kept.arrival.at);
                with_entering(&kept, at, *lane_no, compiled, |entering| {
                    self.lanes.enter(&lane, &variant.recipients, overdue, around, entering);
                });
            }
        }
        self.index.add(kept);
    }

    fn close(
        &mut self,
        seq: Seq,
        at: Instant,
        lane: LaneKey,
        recipients: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let clock = self.by_the_clock(at);
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.fade(clock, around);
        lanes.note_messages(&lane, clock, recipients, around);
        // Closes after the message is noted: a lane without windows or a last message would be dropped, and
        // `leading` would not know of it.
        let began = lanes.close(&lane, recipients, clock, around);
        self.count_for_caps(lane.lane, recipients, clock, compiled);
        let unmade: Tree<u32, Seq> = began.into_iter().collect();
        let from = unmade.values().min().copied().unwrap_or(seq);
        let closing = Closing { unmade, ..Closing::new(lane, at, clock, from) };
        self.closings.insert(seq, Shared::new(closing));
    }

    fn end(&mut self, items: &[Entries]) {
        for Entries { seq, channel, recipients } in items {
            self.end_one(*seq, *channel, recipients);
        }
    }

    fn end_one(&mut self, seq: Seq, channel: ChannelNo, recipients: &RoaringBitmap) {
        self.ended.note(seq, channel, recipients);
        self.dirty.ended.insert((seq, channel));
    }

    fn made(
        &mut self,
        now: Instant,
        closing: Seq,
        recipients: &RoaringBitmap,
        nothing: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let Some(open) = self.closings.get_mut(&closing) else {
            return;
        };
        for number in recipients {
            open.unmade.remove(&number);
        }
        open.sending |= recipients - nothing;
        let (at, lane) = (open.clock, open.lane.clone());
        // A closing counts for `leading` and caps when it is decided. An empty message was never sent, so
        // it must not delay the next one.
        self.take_back_messages(&lane, at, nothing, compiled);
        self.uncount_for_caps(lane.lane, nothing, at, now, compiled);
        self.settle_closing(closing);
    }

    pub(super) fn settle_closing(&mut self, closing: Seq) {
        let done = |open: &Shared<Closing>| open.unmade.is_empty() && open.sending.is_empty();
        if self.closings.get(&closing).is_some_and(done) {
            self.closings.remove(&closing);
        }
    }

    pub(super) fn take_back_messages(
        &mut self,
        lane: &LaneKey,
        at: Instant,
        recipients: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.take_back_messages(lane, at, recipients, around);
    }

    fn follow(&mut self, topics: Vec<(TenantTopic, Set)>, on: bool) {
        for (topic, changed) in topics {
            if !self.dirty.topics.contains(&topic) {
                self.dirty.topics.insert(topic.clone());
            }
            if on {
                self.followers.add(topic, changed.0);
            } else {
                self.followers.remove(&topic, &changed.0);
            }
        }
    }

    /// A lane as it would be if an entry of a recipient entered it. The arrival has its instant by the clock.
    pub(crate) fn lane_with(
        &self,
        kept: &StoredArrival,
        lane: &LaneKey,
        number: u32,
        compiled: &CompiledRules,
    ) -> Lane {
        let name = compiled.names.lane(lane.lane);
        let mut state = self
            .lanes
            .get(lane)
            .cloned()
            .unwrap_or_else(|| Lane::new(name.kind.clone(), name.channel));
        let recipients = RoaringBitmap::from_iter([number]);
        let terms = self.terms(lane.tenant, compiled);
        with_entering(kept, kept.arrival.at, lane.lane, compiled, |entering| {
            state.enter(&recipients, None, entering, terms);
        });
        state
    }
}

/// Does something with an arrival's entries as they enter one of its lanes, at an instant by the clock.
fn with_entering<R>(
    kept: &StoredArrival,
    at: Instant,
    lane_no: LaneNo,
    compiled: &CompiledRules,
    act: impl FnOnce(EnteringEntries<'_>) -> R,
) -> R {
    let Arrival { t, place, type_no, rules, .. } = kept.arrival;
    let version = compiled.version(rules);
    act(EnteringEntries {
        seq: kept.seq,
        at,
        key: (t, place),
        parameters: compiled.parameters(rules, type_no, lane_no),
        rules,
        urgent: compiled.is_urgent(rules, type_no),
        bounded: version.is_some_and(|version| version.bounds(lane_no)),
        under: &|version| compiled.parameters(version, type_no, lane_no),
    })
}
