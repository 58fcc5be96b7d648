//! The fold of what moves deadlines: profiles, erasures, new rules.

use roaring::RoaringBitmap;

use super::lanes::lane::Lane;
use crate::bucket::state::version_at;
use crate::bucket::{Bucket, Terms};
use crate::journal::record::Entries;
use crate::model::number::{RecipientNo, Seq};
use crate::model::recipient::Recipient;
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;

impl Bucket {
    /// Puts a version of the rules in force.
    pub(super) fn change_rules(
        &mut self,
        seq: Seq,
        at: Instant,
        number: u32,
        compiled: &CompiledRules,
    ) {
        let everyone = RoaringBitmap::clone(&self.roster.everyone);
        self.settle_passed(at, &everyone, compiled);
        self.change_caps(at, number, compiled);
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.fade(at, around);
        self.rules = number;
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.fade_by(around);
        self.versions.insert(seq, number);
        for (no, lane) in self.lanes.plain_mut() {
            lane.count_if(compiled.counts(&compiled.names.lane(*no).kind));
        }
        if let Some(version) = compiled.version(number) {
            for number in self.roster.set_default_zone(&version.rules.defaults.tz) {
                self.rezone(at, number, compiled);
            }
        }
        let everyone = self.roster.ever();
        self.ask_again(at, &everyone, compiled);
    }

    /// Makes deadlines final that have passed while their windows were held, before what they depend on changes.
    fn settle_passed(&mut self, at: Instant, who: &RoaringBitmap, compiled: &CompiledRules) {
        let (lanes, around) = self.lanes_and_around(compiled);
        let is_quiet = |lane: &Lane| lane.may_be_quiet(around.terms);
        lanes.change_some(who, around, is_quiet, |lane, terms| {
            lane.settle_passed(who, at, terms);
        });
    }

    /// [`Bucket::settle_passed`] where entries end that may be urgent.
    pub(super) fn settle_urgent(
        &mut self,
        at: Instant,
        items: &[Entries],
        compiled: &CompiledRules,
    ) {
        let (lanes, around) = self.lanes_and_around(compiled);
        for Entries { seq, channel, who } in items {
            lanes.change_urgent(*channel, *seq, who, around, |lane, terms| {
                lane.settle_passed(who, at, terms);
            });
        }
    }

    /// Asks windows again that were put off, since what held them has changed.
    pub(super) fn ask_again(&mut self, at: Instant, who: &RoaringBitmap, compiled: &CompiledRules) {
        let (lanes, around) = self.lanes_and_around(compiled);
        let is_late = |lane: &Lane| lane.has_late(who);
        lanes.change_some(who, around, is_late, |lane, _| lane.ask_again(who, at));
    }

    pub(super) fn profile(
        &mut self,
        at: Instant,
        number: u32,
        profile: Recipient,
        compiled: &CompiledRules,
    ) {
        let version = compiled.version(self.rules);
        let default_tz = version.map_or("UTC", |version| version.rules.defaults.tz.as_str());
        let zone = self.roster.zone(RecipientNo(number)).map(|(name, _)| name.to_owned());
        let single = RoaringBitmap::from_iter([number]);
        let clock = profile.tz.as_deref().unwrap_or(default_tz);
        let moves = self.roster.profile(RecipientNo(number)).is_some_and(|known| {
            known.quiet_hours != profile.quiet_hours
                || zone.as_deref().is_some_and(|zone| zone != clock)
        });
        if moves {
            self.settle_passed(at, &single, compiled);
        }
        let confirmed_before = !self.roster.unconfirmed.contains(number);
        self.roster.put(RecipientNo(number), profile, default_tz);
        self.dirty.recipients.insert(number);
        let rezoned = zone.is_some_and(|old| {
            self.roster.zone(RecipientNo(number)).is_some_and(|(new, _)| new != old)
        });
        if rezoned {
            self.rezone(at, number, compiled);
        }
        if moves {
            self.ask_again(at, &single, compiled);
        }
        if !confirmed_before && !self.roster.unconfirmed.contains(number) {
            self.unpark(at, number, compiled);
        }
    }

    /// Updates the next slots of a recipient's open digests after a change of the time zone.
    fn rezone(&mut self, at: Instant, number: u32, compiled: &CompiledRules) {
        for lane in self.lanes.plain_mut().values_mut().filter(|lane| lane.is_digest()) {
            // A window keeps the digest as it was when it was opened.
            let Some(since) = lane.since(number) else {
                continue;
            };
            let version = version_at(&self.versions, since);
            let version = version.and_then(|version| compiled.version(version));
            if version.is_some() {
                lane.rezone(number, at, Terms::of(&self.roster, &self.ended, version));
            }
        }
    }

    pub(super) fn erase(&mut self, at: Instant, number: u32, compiled: &CompiledRules) {
        self.roster.erase(RecipientNo(number));
        self.preferences.erase(number);
        self.cap_counts.erase(number);
        self.dirty.topics.extend(self.followers.erase(number));
        self.members.erase(number);
        let marks = self.marks.remove(&number);
        let marks = marks.iter().flat_map(|marks| marks.all());
        self.dirty.marks.extend(marks.map(|mark| (number, mark)));
        self.dirty.recipients.insert(number);
        self.unpark(at, number, compiled);
    }

    fn unpark(&mut self, at: Instant, number: u32, compiled: &CompiledRules) {
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.change_open(number, around, |lane, terms| lane.unpark(number, at, terms));
    }
}
