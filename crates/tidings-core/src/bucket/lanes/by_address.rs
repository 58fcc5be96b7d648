//! The lanes of a bucket, by address.
//!
//! Plain lanes, with the empty batch key and without a tenant, are few, and have room for all recipients. There may be
//! as many other lanes as entries, with few recipients each: they are found by recipient and by deadline, so that
//! nothing walks through all of them. Such a lane is dropped once it has no entries and its last message no longer
//! counts.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::lane::{DeadlineTerms, DueWindows, EnteringEntries, Lane, SparseLanePage};
use crate::journal::stored::encode;
use crate::journal::table::{Key, Owner, Partition, Table, Write};
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::number::{LaneNo, Seq};
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;
use crate::rules::names::LaneName;
use crate::sets::shared::{Shared, Tree, WriterOnly};

mod last_message;
mod several;

/// Number of recipients below which their lanes are looked up one by one.
const SOME: u64 = 64;

/// The lanes of a bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct BucketLanes {
    /// The lanes with the empty key, of no tenant.
    plain: BTreeMap<LaneNo, Shared<Lane>>,
    /// The others.
    keyed: Tree<LaneKey, Shared<KeyedLane>>,
    /// The open windows of these, by recipient.
    of: Tree<(u32, LaneKey), ()>,
    /// These by their earliest deadline.
    due: Tree<(i64, LaneKey), ()>,
    /// These by the instant at which a last message matters no more.
    fading: WriterOnly<BTreeSet<(Instant, LaneKey)>>,
    /// The recipients among these with an entry of an urgent type, by the seq of its arrival.
    urgent: WriterOnly<BTreeSet<(Seq, LaneKey)>>,
    /// The pages of these that the next checkpoint writes.
    dirty: WriterOnly<BTreeSet<(LaneKey, u32)>>,
}

/// A lane with a key.
#[derive(Clone, Debug)]
struct KeyedLane {
    lane: Lane,
    /// The deadline by which it is found.
    due: Option<i64>,
}

/// The state beside a lane on which its recipients and deadlines depend.
#[derive(Clone, Copy)]
pub(crate) struct LaneContext<'a> {
    pub(crate) terms: DeadlineTerms<'a>,
    pub(crate) paused: &'a [ChannelNo],
    pub(crate) compiled: &'a CompiledRules,
}

impl BucketLanes {
    pub(crate) fn get(&self, lane_key: &LaneKey) -> Option<&Lane> {
        if lane_key.is_plain() {
            self.plain.get(&lane_key.lane).map(|lane| &**lane)
        } else {
            self.keyed.get(lane_key).map(|keyed| &keyed.lane)
        }
    }

    /// The plain lanes: with the empty key, of no tenant.
    pub(crate) fn plain(&self) -> &BTreeMap<LaneNo, Shared<Lane>> {
        &self.plain
    }

    /// [`BucketLanes::plain`] to be changed.
    pub(crate) fn plain_mut(&mut self) -> &mut BTreeMap<LaneNo, Shared<Lane>> {
        &mut self.plain
    }

    /// All lanes with their number and tenant, by address but for those that are not plain, which come last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LaneNo, Option<TenantNo>, &Lane)> {
        let keyed = self.keyed.iter();
        let keyed = keyed.map(|(at, keyed)| (at.lane, at.tenant, &keyed.lane));
        self.plain.iter().map(|(no, lane)| (*no, None, &**lane)).chain(keyed)
    }

    /// The numbers of the lanes.
    pub(crate) fn numbers(&self) -> BTreeSet<LaneNo> {
        let mut numbers: BTreeSet<LaneNo> = self.plain.keys().copied().collect();
        let mut next = self.keyed.first();
        while let Some((at, _)) = next {
            numbers.insert(at.lane);
            let after = at.lane.0.checked_add(1).map(LaneNo).map(LaneKey::from);
            next = after.and_then(|after| self.keyed.from(&after).next());
        }
        numbers
    }

    /// Visits the lanes of a number, whatever their key and tenant, in which windows of some recipients are open.
    pub(crate) fn each_of(
        &self,
        no: LaneNo,
        recipients: &RoaringBitmap,
        mut take: impl FnMut(&LaneKey, &Lane, &RoaringBitmap),
    ) {
        let mut visit = |lane_key: &LaneKey, lane: &Lane| {
            let open = recipients & lane.open();
            if !open.is_empty() {
                take(lane_key, lane, &open);
            }
        };
        if let Some(lane) = self.plain.get(&no) {
            visit(&LaneKey::from(no), lane);
        }
        if recipients.len() == 1 {
            recipients
                .iter()
                .flat_map(|number| self.keyed_of(number))
                .filter(|at| at.lane == no)
                .filter_map(|at| Some((at, self.get(at)?)))
                .for_each(|(at, lane)| visit(at, lane));
            return;
        }
        self.keyed_in(no).for_each(|(at, lane)| visit(at, lane));
    }

    /// The lanes in which a recipient's window is open.
    pub(crate) fn open_of(&self, number: u32) -> impl Iterator<Item = (LaneKey, &Lane)> {
        let plain = self.plain.iter().filter(move |(_, lane)| lane.open().contains(number));
        let plain = plain.map(|(no, lane)| (LaneKey::from(*no), &**lane));
        let keyed = self.keyed_of(number);
        plain.chain(keyed.filter_map(|at| Some((at.clone(), self.get(at)?))))
    }

    /// The recipients with an open window of a tenant.
    pub(crate) fn waiting_of(&self, tenant: TenantNo) -> RoaringBitmap {
        let of_tenant = self.keyed_of_tenant(tenant, |_| true);
        let open = of_tenant.iter().filter_map(|at| Some(self.get(at)?.open()));
        open.fold(RoaringBitmap::new(), |all, open| all | open)
    }

    fn keyed_of(&self, number: u32) -> impl Iterator<Item = &LaneKey> {
        let first = (number, LaneKey::from(LaneNo(0)));
        let of = self.of.from(&first).map(|(of, ())| of);
        of.take_while(move |(of, _)| *of == number).map(|(_, at)| at)
    }

    /// Changes a lane for some recipients; it is created if there is none. A change has to name the recipients whose
    /// window it changes.
    pub(crate) fn change<R>(
        &mut self,
        lane_key: &LaneKey,
        recipients: &RoaringBitmap,
        around: LaneContext<'_>,
        change: impl FnOnce(&mut Lane, DeadlineTerms<'_>) -> R,
    ) -> R {
        self.create(lane_key, around);
        if lane_key.is_plain() {
            let lane =
                self.plain.get_mut(&lane_key.lane).expect("it was created if it was missing");
            return change(lane, around.terms);
        }
        let keyed = self.keyed.get_mut(lane_key).expect("it was created if it was missing");
        let done = change(&mut keyed.lane, around.terms.in_lanes_of(lane_key.tenant));
        for number in recipients {
            let entry = (number, lane_key.clone());
            if keyed.lane.open().contains(number) {
                self.of.insert(entry, ());
            } else {
                self.of.remove(&entry);
            }
        }
        let pages = recipients.iter().map(SparseLanePage::of);
        let mut last = None;
        for page in pages.filter(|page| last.replace(*page) != Some(*page)) {
            self.dirty.insert((lane_key.clone(), page));
        }
        self.settle(lane_key, around.terms);
        done
    }

    /// Adds an arrival's entries to the windows of recipients; see [`Lane::enter`].
    pub(crate) fn enter(
        &mut self,
        lane_key: &LaneKey,
        recipients: &RoaringBitmap,
        overdue: Option<&RoaringBitmap>,
        around: LaneContext<'_>,
        entering: EnteringEntries<'_>,
    ) {
        self.change(lane_key, recipients, around, |lane, terms| {
            lane.enter(recipients, overdue, entering, terms);
        });
        if entering.urgent && !lane_key.is_plain() {
            self.urgent.insert((entering.seq, lane_key.clone()));
        }
    }

    /// Closes windows; see [`Lane::close`].
    pub(crate) fn close(
        &mut self,
        lane_key: &LaneKey,
        recipients: &RoaringBitmap,
        now: Instant,
        around: LaneContext<'_>,
    ) -> Vec<(u32, Seq)> {
        let keyed = self.keyed.get(lane_key).map(|keyed| &keyed.lane);
        let urgent: Vec<Seq> = keyed.into_iter().flat_map(|lane| lane.urgent.seqs()).collect();
        let began =
            self.change(lane_key, recipients, around, |lane, _| lane.close(now, recipients));
        for seq in urgent {
            let keyed = self.keyed.get(lane_key);
            if !keyed.is_some_and(|keyed| keyed.lane.urgent.has(seq)) {
                self.urgent.remove(&(seq, lane_key.clone()));
            }
        }
        began
    }

    /// [`BucketLanes::change`] of a lane that may not be there, which is no reason to create it.
    pub(crate) fn change_known<R>(
        &mut self,
        lane_key: &LaneKey,
        recipients: &RoaringBitmap,
        around: LaneContext<'_>,
        change: impl FnOnce(&mut Lane, DeadlineTerms<'_>) -> R,
    ) -> Option<R> {
        self.get(lane_key)?;
        Some(self.change(lane_key, recipients, around, change))
    }

    fn create(&mut self, lane_key: &LaneKey, around: LaneContext<'_>) {
        if self.get(lane_key).is_some() {
            return;
        }
        let names = &around.compiled.names;
        let name = names.lane(lane_key.lane);
        let mut lane = if lane_key.is_plain() {
            Lane::new(name.kind.clone(), name.channel)
        } else {
            Lane::of_few(name.kind.clone(), name.channel)
        };
        lane.count_if(around.compiled.counts(&name.kind));
        let mut others =
            names.others(lane_key.lane).map(|lane| LaneKey { lane, ..lane_key.clone() });
        if let Some(other) = others.find_map(|other| self.get(&other)) {
            lane.take_over(other);
        }
        if around.paused.contains(&name.channel) {
            lane.pause();
        }
        if lane_key.is_plain() {
            self.plain.insert(lane_key.lane, Shared::new(lane));
        } else {
            let keyed = Shared::new(KeyedLane { lane, due: None });
            self.keyed.insert(lane_key.clone(), keyed);
        }
    }

    /// Notes the deadline of a lane with a key anew, or drops the lane.
    fn settle(&mut self, lane_key: &LaneKey, terms: DeadlineTerms<'_>) {
        let Some(keyed) = self.keyed.get_mut(lane_key) else {
            return;
        };
        let due = keyed.lane.next_due(terms.in_lanes_of(lane_key.tenant));
        if due != keyed.due {
            if let Some(old) = keyed.due {
                self.due.remove(&(old, lane_key.clone()));
            }
            if let Some(due) = due {
                self.due.insert((due, lane_key.clone()), ());
            }
            keyed.due = due;
        }
        if keyed.lane.is_unused() {
            self.keyed.remove(lane_key);
        }
    }

    /// The earliest deadline, in milliseconds.
    pub(crate) fn next_due(&mut self, terms: DeadlineTerms<'_>) -> Option<i64> {
        let keyed = self.keyed_due();
        let plain = self.plain.values_mut().filter_map(|lane| match lane.known_due() {
            Some(known) => known,
            None => lane.next_due(terms),
        });
        plain.chain(keyed).min()
    }

    /// [`BucketLanes::next_due`] if all lanes know it.
    pub(crate) fn known_due(&self) -> Option<Option<i64>> {
        let mut earliest = self.keyed_due();
        for lane in self.plain.values() {
            earliest = earliest.into_iter().chain(lane.known_due()?).min();
        }
        Some(earliest)
    }

    fn keyed_due(&self) -> Option<i64> {
        self.due.first().map(|((due, _), ())| *due)
    }

    /// Removes from the wheels who is due at or before `now`, by lane. Each is to be closed, or counted.
    pub(crate) fn take_due(
        &mut self,
        now: Instant,
        terms: DeadlineTerms<'_>,
    ) -> Vec<(LaneKey, DueWindows)> {
        // Only lanes that are due are borrowed to be changed: one that a snapshot shares is copied then.
        let is_due = |lane: &Lane| lane.known_due().flatten().is_some_and(|due| due <= now.0);
        let plain = self
            .plain
            .iter_mut()
            .filter(|(_, lane)| is_due(lane))
            .map(|(no, lane)| (LaneKey::from(*no), lane.take_due(now, terms)));
        let mut all: Vec<_> = plain.filter(|(_, due)| !due.is_empty()).collect();
        while self.keyed_due().is_some_and(|due| due <= now.0) {
            let Some(((_, at), ())) = self.due.pop_first() else {
                break;
            };
            let Some(keyed) = self.keyed.get_mut(&at) else {
                continue;
            };
            keyed.due = None;
            let due = keyed.lane.take_due(now, terms.in_lanes_of(at.tenant));
            // Has left the index of deadlines: without a window to close no record follows, whose fold
            // would note it again.
            if due.is_empty() { self.settle(&at, terms) } else { all.push((at, due)) }
        }
        all
    }

    /// Does something to every lane in which a recipient's window is open.
    pub(crate) fn change_open(
        &mut self,
        number: u32,
        around: LaneContext<'_>,
        mut change: impl FnMut(&mut Lane, DeadlineTerms<'_>),
    ) {
        for lane in self.plain.values_mut() {
            change(lane, around.terms);
        }
        let recipients = RoaringBitmap::from_iter([number]);
        let keyed: Vec<LaneKey> = self.keyed_of(number).cloned().collect();
        for at in keyed {
            self.change(&at, &recipients, around, &mut change);
        }
    }

    /// Does something to the lanes that are wanted, each given with its tenant, of those in which windows of some
    /// recipients are open; of plain lanes, to all that are wanted.
    pub(crate) fn change_some(
        &mut self,
        recipients: &RoaringBitmap,
        around: LaneContext<'_>,
        wants: impl Fn(Option<TenantNo>, &Lane) -> bool,
        change: impl FnMut(&mut Lane, DeadlineTerms<'_>),
    ) {
        let keyed: BTreeSet<LaneKey> = match recipients.len() {
            0..SOME => {
                recipients.iter().flat_map(|number| self.keyed_of(number)).cloned().collect()
            }
            _ => self.keyed.keys().cloned().collect(),
        };
        self.change_these(keyed, recipients, around, wants, change);
    }

    /// [`BucketLanes::change_some`] for those with an entry of an urgent type of an arrival on a channel.
    pub(crate) fn change_urgent(
        &mut self,
        channel: ChannelNo,
        seq: Seq,
        recipients: &RoaringBitmap,
        around: LaneContext<'_>,
        change: impl FnMut(&mut Lane, DeadlineTerms<'_>),
    ) {
        let first = (seq, LaneKey::from(LaneNo(0)));
        let keyed = self
            .urgent
            .range(first..)
            .take_while(|(of, _)| *of == seq)
            .map(|(_, at)| at.clone())
            .collect();
        let wants = |_, lane: &Lane| lane.is_on(channel) && lane.urgent.has(seq);
        self.change_these(keyed, recipients, around, wants, change);
    }

    fn change_these(
        &mut self,
        keyed: BTreeSet<LaneKey>,
        recipients: &RoaringBitmap,
        around: LaneContext<'_>,
        wants: impl Fn(Option<TenantNo>, &Lane) -> bool,
        mut change: impl FnMut(&mut Lane, DeadlineTerms<'_>),
    ) {
        for lane in self.plain.values_mut().filter(|lane| wants(None, lane)) {
            change(lane, around.terms);
        }
        for at in keyed {
            let open = self
                .get(&at)
                .filter(|lane| wants(at.tenant, lane))
                .map_or_else(RoaringBitmap::new, |lane| recipients & lane.open());
            if !open.is_empty() {
                self.change(&at, &open, around, &mut change);
            }
        }
    }

    /// Drops what is known of urgent entries before this seq, whose days are deleted.
    pub(crate) fn forget_before(&mut self, first: Seq) {
        self.plain
            .values_mut()
            .filter(|lane| lane.urgent.has_before(first))
            .for_each(|lane| lane.urgent.forget_before(first));
        while let Some(at) = pop_until(&mut self.urgent, &first.before()) {
            let Some(keyed) = self.keyed.get_mut(&at) else {
                continue;
            };
            keyed.lane.urgent.forget_before(first);
            let pages = keyed.lane.open().iter().map(SparseLanePage::of);
            self.dirty.extend(pages.map(|page| (at.clone(), page)));
        }
    }

    /// Pauses and resumes lanes with their channels.
    pub(crate) fn pause(&mut self, at: Instant, around: LaneContext<'_>) {
        let now = at;
        let change = |lane_key: &LaneKey, lane: &mut Lane| {
            let channel = around.compiled.names.lane(lane_key.lane).channel;
            match (lane.is_paused(), around.paused.contains(&channel)) {
                (false, true) => lane.pause(),
                (true, false) => lane.resume(now, around.terms.in_lanes_of(lane_key.tenant)),
                _ => return false,
            }
            true
        };
        for (no, lane) in &mut self.plain {
            let channel = around.compiled.names.lane(*no).channel;
            if lane.is_paused() != around.paused.contains(&channel) {
                change(&LaneKey::from(*no), lane);
            }
        }
        let keyed: Vec<LaneKey> = self.keyed.keys().cloned().collect();
        for at in keyed {
            let channel = around.compiled.names.lane(at.lane).channel;
            let is_paused = around.paused.contains(&channel);
            let Some(keyed) = self.keyed.get(&at) else {
                continue;
            };
            if keyed.lane.is_paused() == is_paused {
                continue;
            }
            let Some(keyed) = self.keyed.get_mut(&at) else {
                continue;
            };
            if change(&at, &mut keyed.lane) {
                let pages = keyed.lane.open().iter().map(SparseLanePage::of);
                self.dirty.extend(pages.map(|page| (at.clone(), page)));
            }
            self.settle(&at, around.terms);
        }
    }

    /// The rows of lanes with a key that changed since the last call: each has few recipients, and only one place.
    pub(crate) fn rows(&mut self, bucket: BucketNo) -> Vec<Write> {
        let mut rows = Vec::new();
        let (mut of, mut pages) = (None, BTreeMap::new());
        for (at, page) in std::mem::take(&mut *self.dirty) {
            if of.as_ref() != Some(&at) {
                let held = self.keyed.get(&at);
                pages = held.map_or_else(BTreeMap::new, |keyed| keyed.lane.few_pages());
                of = Some(at.clone());
            }
            let key = Key::of(Owner::Bucket(bucket), Table::KeyedLanes).u16(at.lane.0).u32(page);
            let key = key.u32(TenantNo::raw(at.tenant)).bytes(at.key.as_str().as_bytes()).done();
            let value = pages.remove(&page).map(|held| encode(&held));
            rows.push(Write { partition: Partition::Base, key, value });
        }
        rows
    }

    /// Restores a page of a lane with a key.
    pub(crate) fn restore_page(
        &mut self,
        lane_key: &LaneKey,
        name: &LaneName,
        page: SparseLanePage,
    ) {
        if !self.keyed.contains_key(lane_key) {
            let lane = Lane::of_few(name.kind.clone(), name.channel);
            let keyed = KeyedLane { lane, due: None };
            self.keyed.insert(lane_key.clone(), Shared::new(keyed));
        }
        if let Some(keyed) = self.keyed.get_mut(lane_key) {
            keyed.lane.restore_few(page);
        }
    }

    /// Ends the restoration: all pages were read.
    pub(crate) fn restored(&mut self, around: LaneContext<'_>) {
        let paused = |no: &LaneNo| {
            let channel = around.compiled.names.lane(*no).channel;
            around.paused.contains(&channel)
        };
        for (_, lane) in self.plain.iter_mut().filter(|(no, _)| paused(no)) {
            lane.pause();
        }
        let all: Vec<LaneKey> = self.keyed.keys().cloned().collect();
        for at in all {
            if let Some(keyed) = self.keyed.get_mut(&at) {
                let lane = &mut keyed.lane;
                let kind = &around.compiled.names.lane(at.lane).kind;
                lane.count_if(around.compiled.counts(kind));
                if paused(&at.lane) {
                    lane.pause();
                }
                for number in lane.open() {
                    self.of.insert((number, at.clone()), ());
                }
                let urgent = lane.urgent.seqs();
                self.urgent.extend(urgent.map(|seq| (seq, at.clone())));
            }
            self.settle(&at, around.terms);
        }
        self.fade_by(around);
    }

    /// Bytes of memory used, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let keyed = self.keyed.values();
        let keyed = keyed.map(|keyed| size_of::<KeyedLane>() + keyed.lane.bytes());
        let indexed = [self.of.len(), self.due.len(), self.fading.len()];
        let indexed = indexed.into_iter().sum::<usize>() + self.urgent.len() + self.dirty.len();
        self.plain.values().map(|lane| lane.bytes()).sum::<usize>()
            + keyed.sum::<usize>()
            + indexed * size_of::<(i64, LaneKey)>()
    }
}

/// Removes the first lane of a set whose time is not after `until`.
fn pop_until<T: Ord>(set: &mut BTreeSet<(T, LaneKey)>, until: &T) -> Option<LaneKey> {
    let (first, _) = set.first()?;
    (first <= until).then(|| set.pop_first()).flatten().map(|(_, at)| at)
}
