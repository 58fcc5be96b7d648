//! The fold of what moves deadlines: profiles, erasures, new rules.

use roaring::RoaringBitmap;

use super::lanes::lane::Lane;
use super::people::clocks::RecipientClocks;
use super::people::preferences::Preference;
use crate::bucket::Bucket;
use crate::journal::record::Entries;
use crate::model::batch_key::LaneKey;
use crate::model::number::{RecipientNo, Seq};
use crate::model::recipient::Recipient;
use crate::model::tenant::TenantNo;
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
        self.settle_passed(at, &everyone, |_| true, compiled);
        // Drops what the caps in force until now did not count, and all where there are none from now on.
        let (old, new) = (compiled.version(self.rules), compiled.version(number));
        self.cap_counts.change(at, old, new);
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.fade(at, around);
        self.rules = number;
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.fade_by(around);
        self.versions.insert(seq, number);
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.count_if(around);
        if let Some(version) = compiled.version(number) {
            for number in self.roster.set_default_zone(&version.rules.defaults.tz) {
                // A tenant's zone goes before the default.
                self.rezone(at, number, |clocks| !clocks.has_zone(), compiled);
            }
        }
        let everyone = self.roster.ever();
        self.ask_again(at, &everyone, compiled);
    }

    /// Makes deadlines final that have passed while their windows were held, before what they depend on changes: in the
    /// lanes of some tenants, by their clocks.
    fn settle_passed(
        &mut self,
        at: Instant,
        recipients: &RoaringBitmap,
        is_wanted: impl Fn(RecipientClocks<'_>) -> bool,
        compiled: &CompiledRules,
    ) {
        let (lanes, around) = self.lanes_and_around(compiled);
        let is_quiet = |tenant: Option<TenantNo>, lane: &Lane| {
            let terms = around.terms.in_lanes_of(tenant);
            lane.may_be_quiet(terms) && is_wanted(terms.clocks())
        };
        lanes.change_some(recipients, around, is_quiet, |lane, terms| {
            lane.settle_passed(recipients, at, terms);
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
        for Entries { seq, channel, recipients } in items {
            lanes.change_urgent(*channel, *seq, recipients, around, |lane, terms| {
                lane.settle_passed(recipients, at, terms);
            });
        }
    }

    /// Asks windows again that were put off, since what held them has changed.
    pub(super) fn ask_again(
        &mut self,
        at: Instant,
        recipients: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        let (lanes, around) = self.lanes_and_around(compiled);
        let is_late = |_, lane: &Lane| lane.has_late(recipients);
        lanes.change_some(recipients, around, is_late, |lane, _| lane.ask_again(recipients, at));
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
        let single = RoaringBitmap::from_iter([number]);
        let known = self.roster.profile(RecipientNo(number));
        let before = known.map(|known| (known.tz.clone(), known.quiet_hours.clone()));
        let new_hours = profile.quiet_hours.clone();
        let new_tz = profile.tz.clone();
        // Whether the zone changes for entries of a tenant depends on whether that sets one.
        let rezones = |clocks: RecipientClocks<'_>| {
            let usual = clocks.usual_zone(default_tz);
            before.as_ref().is_some_and(|(old_tz, _)| {
                old_tz.as_deref().unwrap_or(usual) != new_tz.as_deref().unwrap_or(usual)
            })
        };
        let has_new_hours = before.as_ref().is_some_and(|(_, hours)| *hours != new_hours);
        let moves = |clocks: RecipientClocks<'_>| has_new_hours || rezones(clocks);
        let may_move =
            has_new_hours || before.as_ref().is_some_and(|(old_tz, _)| *old_tz != new_tz);
        if may_move {
            // Precedes the change: a deadline that has passed while it was held stays passed, by the clock
            // that it passed on.
            self.settle_passed(at, &single, moves, compiled);
        }
        let confirmed_before = !self.roster.unconfirmed.contains(number);
        self.roster.put(RecipientNo(number), profile, default_tz);
        self.dirty.recipients.insert(number);
        if may_move {
            // Follows the change, since slots are looked up by the new zone.
            self.rezone(at, number, rezones, compiled);
            self.ask_again(at, &single, compiled);
        }
        if !confirmed_before && !self.roster.unconfirmed.contains(number) {
            self.unpark(at, number, compiled);
        }
    }

    /// Notes a time that a recipient chose for a digest's slots, which acts as a change of zone does.
    pub(super) fn choose_digest_time(
        &mut self,
        at: Instant,
        number: u32,
        chosen: &Preference,
        compiled: &CompiledRules,
    ) {
        let recipients = RoaringBitmap::from_iter([number]);
        self.settle_passed(at, &recipients, |_| true, compiled);
        self.roster.digest_times.choose(number, chosen);
        self.dirty.recipients.insert(number);
        self.rezone(at, number, |_| true, compiled);
        self.ask_again(at, &recipients, compiled);
    }

    /// Updates the next slots of a recipient's open digests after a change of the zone or of own times, in the lanes of
    /// some tenants, by their clocks.
    fn rezone(
        &mut self,
        at: Instant,
        number: u32,
        is_wanted: impl Fn(RecipientClocks<'_>) -> bool,
        compiled: &CompiledRules,
    ) {
        let recipients = RoaringBitmap::from_iter([number]);
        let plain = self.lanes.plain().iter().filter(|(_, lane)| lane.is_digest());
        let plain: Vec<LaneKey> = plain.map(|(no, _)| LaneKey::from(*no)).collect();
        for lane in plain.into_iter().chain(self.lanes.keyed_digests(&recipients)) {
            if is_wanted(self.roster.clocks(lane.tenant)) {
                self.rezone_in(at, &lane, &recipients, compiled);
            }
        }
    }

    /// [`Bucket::rezone`] of some recipients in a lane.
    pub(super) fn rezone_in(
        &mut self,
        at: Instant,
        lane: &LaneKey,
        recipients: &RoaringBitmap,
        compiled: &CompiledRules,
    ) {
        // A window keeps the digest as it was when it was opened.
        for (version, recipients) in self.by_version(lane, recipients) {
            if compiled.version(version).is_some() {
                self.change_under(version, lane, &recipients, compiled, |lane, terms| {
                    recipients.iter().for_each(|number| lane.rezone(number, at, terms));
                });
            }
        }
    }

    pub(super) fn erase(&mut self, at: Instant, number: u32, compiled: &CompiledRules) {
        self.roster.erase(RecipientNo(number));
        self.preferences.erase(number);
        self.roster.digest_times.erase(number);
        self.cap_counts.erase(number);
        self.dirty.topics.extend(self.followers.erase(number));
        self.members.erase(number);
        let marks = self.marks.remove(&number);
        let marks = marks.iter().flat_map(|marks| marks.all());
        self.dirty.marks.extend(marks.map(|mark| (number, mark)));
        self.dirty.recipients.insert(number);
        // Ends what the unconfirmed state held: it is due again, and ends as cancelled.
        self.unpark(at, number, compiled);
    }

    fn unpark(&mut self, at: Instant, number: u32, compiled: &CompiledRules) {
        let (lanes, around) = self.lanes_and_around(compiled);
        lanes.change_open(number, around, |lane, terms| lane.unpark(number, at, terms));
    }
}
