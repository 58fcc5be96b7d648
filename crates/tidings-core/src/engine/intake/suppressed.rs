//! The list of suppressed addresses, which the intake keeps.
//!
//! It is independent of recipients: an address may be suppressed before anybody has it, several recipients may share
//! it, and a recipient who changes it leaves the suppression behind. So the check before sending compares the present
//! addresses with the present list, and neither follows the other. Shards read the list as they read withdrawn objects.
//! The check of a channel without suppressed addresses reads no address.
//!
//! Erasing a recipient leaves the list: an import must not bring back somebody who complained. Soft bounces keep their
//! source, a report or a hash of the provider's address: a 250 may be a relay's, so it undoes the refusals of the same
//! server alone, and a provider over HTTP, which looks at the mailbox after its answer, undoes nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::engine::acts::act::Act;
use crate::engine::change_log::note::NotedChange;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::named::each_base;
use crate::engine::rows::suppression_row::{BOUNCES, BOUNCES_MS, Bounce, Bounces, SuppressionRow};
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, Table};
use crate::model::channel::{CHANNELS, ChannelNo};
use crate::model::command::Command;
use crate::model::suppression::{
    AddressReport, ChannelAddress, ProviderHash, SuppressedFor, Suppression, SuppressionSource,
};
use crate::model::time::{DAY_MS, Instant};
use crate::sets::shared::Tree;

/// The suppressed addresses, by channel.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    by_channel: BTreeMap<ChannelNo, Tree<String, Suppression>>,
    /// Addresses taken off the list within the last day, and when: earlier reports may still arrive.
    lifted: Tree<ChannelAddress, Instant>,
    /// Addresses with recent soft bounces.
    bouncing: Tree<ChannelAddress, Bounces>,
    /// Addresses whose row expires, by the instant of its end.
    ending: Tree<(Instant, ChannelAddress), ()>,
}

/// An address in the list, as stored.
#[derive(Debug, Serialize, Deserialize)]
struct ListedAddress {
    address: ChannelAddress,
    listed: SuppressionRow,
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
    pub(crate) fn recover(view: &dyn ReadView) -> Result<Self, Unreadable> {
        let mut all = Self::default();
        each_base(view, Table::Suppressions, |_, value| {
            let row: ListedAddress = decode("a suppressed address", value)?;
            all.note(&row.address, row.listed);
            Ok(())
        })?;
        Ok(all)
    }

    fn note(&mut self, of: &ChannelAddress, listed: SuppressionRow) {
        self.strike(of);
        if let Some(end) = listed.end() {
            self.ending.insert((end, of.clone()), ());
        }
        match listed {
            SuppressionRow::Lifted(at) => {
                self.lifted.insert(of.clone(), at);
            }
            SuppressionRow::Bouncing(bounces) => {
                self.bouncing.insert(of.clone(), bounces);
            }
            SuppressionRow::Suppressed(suppression) => {
                let addresses = self.by_channel.entry(of.channel()).or_default();
                addresses.insert(of.address().to_owned(), suppression);
            }
        }
    }

    fn strike(&mut self, of: &ChannelAddress) {
        let addresses = self.by_channel.get_mut(&of.channel());
        let known = addresses
            .and_then(|addresses| addresses.remove(of.address()))
            .map(SuppressionRow::Suppressed)
            .or_else(|| self.lifted.remove(of).map(SuppressionRow::Lifted));
        let known = known.or_else(|| self.bouncing.remove(of).map(SuppressionRow::Bouncing));
        if let Some(end) = known.and_then(|known| known.end()) {
            self.ending.remove(&(end, of.clone()));
        }
    }

    /// Puts an address on the list, or changes its row, and drops rows that ended a day ago.
    pub(crate) fn put(
        &mut self,
        draft: &mut Draft<'_>,
        of: &ChannelAddress,
        listed: SuppressionRow,
        now: Instant,
    ) {
        // A look may be late, since it is asked of the instant at which its lane was due; and so may a report.
        let old = now.plus_ms(-DAY_MS);
        while let Some(((end, ended), ())) = self.ending.first() {
            if *end > old {
                break;
            }
            let ended = ended.clone();
            self.strike(&ended);
            draft.delete(Partition::Base, key(&ended));
        }
        let row = ListedAddress { address: of.clone(), listed };
        draft.put(Partition::Base, key(of), encode(&row));
        self.note(of, listed);
    }

    /// The change of an address after a report of an instant. `None` = nothing.
    pub(crate) fn reported(
        &self,
        of: &ChannelAddress,
        report: AddressReport,
        at: Instant,
        now: Instant,
    ) -> Option<SuppressionRow> {
        let known = self.of(of, now);
        let reason = match report {
            AddressReport::Suppressed(reason) => reason,
            AddressReport::OptedIn => {
                return known
                    .filter(|known| known.reason == SuppressedFor::Stop)
                    .filter(|known| known.since <= at)
                    .map(|_| SuppressionRow::Lifted(at));
            }
            AddressReport::Bounced(source) => return self.bounced(of, Bounce { at, source }, now),
            AddressReport::Arrived(source) => return self.arrived(of, source, at),
        };
        // The removal came later, and knew of this report: a repeated call must not put the address back.
        if self.lifted.get(of).is_some_and(|lifted| at <= *lifted) {
            return None;
        }
        // Owners lift what they asked for, and nothing else: that keeps its reason.
        let reason = match (reason, known) {
            (SuppressedFor::Stop, Some(known)) => known.reason,
            (reason, _) => reason,
        };
        Some(SuppressionRow::Suppressed(Suppression { reason, since: at, until: None }))
    }

    /// The change after a message that came back, and is not the last that may.
    fn bounced(&self, of: &ChannelAddress, bounce: Bounce, now: Instant) -> Option<SuppressionRow> {
        // What the list says, and what it said a day ago, no bounce replaces.
        let old = now.plus_ms(-DAY_MS);
        let on_list = self
            .by_channel
            .get(&of.channel())
            .and_then(|addresses| addresses.get(of.address()))
            .is_some_and(|known| known.until.is_none_or(|until| until > old));
        if on_list || self.lifted.get(of).is_some_and(|lifted| *lifted > old) {
            return None;
        }
        let mut bounces: Vec<Bounce> =
            self.bouncing.get(of).into_iter().flatten().flatten().copied().collect();
        // A mailbox that is full for an hour is one bounce, whatever came in that hour.
        match bounces.iter_mut().find(|known| known.at.day() == bounce.at.day()) {
            None => bounces.push(bounce),
            // Providers undo their own refusals, and no report.
            Some(known)
                if known.source != SuppressionSource::Report
                    && bounce.source == SuppressionSource::Report =>
            {
                *known = bounce;
            }
            Some(_) => return None,
        }
        let last = bounces.iter().map(|bounce| bounce.at).max().unwrap_or(bounce.at);
        bounces.retain(|bounce| last < bounce.at.plus_ms(BOUNCES_MS));
        if bounces.len() >= BOUNCES {
            return Some(SuppressionRow::Suppressed(Suppression {
                reason: SuppressedFor::Bounce,
                since: bounce.at,
                until: Some(last.plus_ms(BOUNCES_MS)),
            }));
        }
        let mut kept = Bounces::default();
        kept.iter_mut().zip(bounces).for_each(|(kept, bounce)| *kept = Some(bounce));
        Some(SuppressionRow::Bouncing(kept))
    }

    /// The change after a message that arrived: the bounces before it count no more. What a provider took, it may yet
    /// report as bounced, so that undoes its refusals alone.
    fn arrived(
        &self,
        of: &ChannelAddress,
        source: SuppressionSource,
        at: Instant,
    ) -> Option<SuppressionRow> {
        let known = self.bouncing.get(of)?;
        let is_undone = |bounce: &Bounce| {
            bounce.at <= at && (source == SuppressionSource::Report || source == bounce.source)
        };
        let left = known.map(|bounce| bounce.filter(|bounce| !is_undone(bounce)));
        (left != *known).then_some(SuppressionRow::Bouncing(left))
    }

    /// Returns true if a provider's refusals of an address count, until it takes a message.
    #[must_use]
    pub fn is_refused_by(&self, of: &ChannelAddress, by: ProviderHash) -> bool {
        let bounces = self.bouncing.get(of).into_iter().flatten().flatten();
        bounces.into_iter().any(|bounce| bounce.source == SuppressionSource::Provider(by))
    }

    /// Returns true if an arrival at some address would change what is known of its bounces.
    #[must_use]
    pub fn awaits_arrivals(&self) -> bool {
        !self.bouncing.is_empty()
    }

    /// Takes addresses off the list that a command gives again, if they were gone.
    pub(crate) fn given(&mut self, draft: &mut Draft<'_>, command: &Command, now: Instant) {
        let listed = SuppressionRow::Lifted(now);
        for address in self.given_again(command) {
            let known = self.of(&address, now).map(|known| known.reason.word());
            let channel = CHANNELS.get(usize::from(address.channel())).copied().unwrap_or_default();
            draft.noted.note(|| {
                NotedChange::shown(&format!("suppressions.{channel}"), known, Value::Null)
            });
            self.put(draft, &address, listed, now);
            draft.log(|| Act::Suppression { address, listed, at: now });
        }
    }

    /// The suppressed addresses that a command sets again, which lifts their suppression. A node without the intake sends
    /// them to the node with it.
    #[must_use]
    pub fn given_again(&self, command: &Command) -> Vec<ChannelAddress> {
        let known = |(no, text): (ChannelNo, &str)| {
            let address = ChannelAddress::new(no, text);
            let known = self.by_channel.get(&no)?.get(address.address())?;
            known.reason.ends_when_given().then_some(address)
        };
        command.given_addresses().filter_map(known).collect()
    }

    /// The suppression of an address that holds at an instant.
    pub(crate) fn of(&self, of: &ChannelAddress, at: Instant) -> Option<&Suppression> {
        let addresses = self.by_channel.get(&of.channel())?;
        let known = addresses.get(of.address());
        known.filter(|suppression| suppression.holds(at))
    }

    /// Returns true if a channel may have a suppressed address.
    pub(crate) fn concerns(&self, channel: ChannelNo) -> bool {
        let addresses = self.by_channel.get(&channel);
        addresses.is_some_and(|addresses| !addresses.is_empty())
    }

    /// The suppressed addresses of one channel, or of all, by channel and address; `after` = those after this one.
    pub(crate) fn all<'a>(
        &'a self,
        channel: Option<ChannelNo>,
        after: Option<&'a ChannelAddress>,
        at: Instant,
    ) -> impl Iterator<Item = (ChannelAddress, Suppression)> + 'a {
        let from = after.map(ChannelAddress::channel);
        let of_channels = self.by_channel.iter().filter(move |(no, _)| {
            channel.is_none_or(|wanted| wanted == **no) && from.is_none_or(|from| from <= **no)
        });
        of_channels.flat_map(move |(no, addresses)| {
            let after =
                after.filter(|after| after.channel() == *no).map_or("", ChannelAddress::address);
            addresses
                .from(after)
                .filter(move |(text, known)| text.as_str() > after && known.holds(at))
                .map(move |(text, known)| (ChannelAddress::new(*no, text), *known))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::channel::EMAIL_NO;
    use AddressReport::{Arrived, Bounced};
    use SuppressionSource::Report;

    /// Applies reports, each with the hour of a day, and returns the list afterwards.
    fn after(reports: &[(AddressReport, i64, i64)]) -> (Suppressions, ChannelAddress) {
        let of = ChannelAddress::new(EMAIL_NO, "ada@example.org");
        let mut all = Suppressions::default();
        for (report, day, hour) in reports {
            let at = Instant(day * DAY_MS + hour * DAY_MS / 24);
            if let Some(listed) = all.reported(&of, *report, at, at) {
                // Each is stored and read again.
                let row = ListedAddress { address: of.clone(), listed };
                let row: ListedAddress = decode("a row", &encode(&row)).unwrap();
                all.note(&row.address, row.listed);
            }
        }
        (all, of)
    }

    fn by(provider: &str) -> SuppressionSource {
        SuppressionSource::Provider(ProviderHash::of(provider))
    }

    #[test]
    fn soft_refusals_at_smtp_of_five_days_suppress_with_an_expiry() {
        let refused = |day| (Bounced(by("a")), day, 1);
        let four = [refused(1), refused(1), refused(2), refused(3), refused(4)];
        let (all, of) = after(&four);
        assert!(all.by_channel.is_empty());
        assert!(all.is_refused_by(&of, ProviderHash::of("a")));
        assert!(!all.is_refused_by(&of, ProviderHash::of("b")));
        // Those of another provider and of reports count beside them.
        for source in [by("a"), by("b"), Report] {
            let (all, of) = after(&[&four[..], &[(Bounced(source), 5, 2)]].concat());
            let at = Instant(5 * DAY_MS + 2 * DAY_MS / 24);
            let known = all.of(&of, at).unwrap();
            assert_eq!(known.until, Some(at.plus_ms(BOUNCES_MS)));
            assert_eq!(known.reason, SuppressedFor::Bounce);
        }
    }

    #[test]
    fn soft_refusals_at_smtp_are_undone_by_who_refused_and_by_reports() {
        let four = [1, 2, 3, 4].map(|day| (Bounced(by("a")), day, 1));
        let is_suppressed = |then: &[(AddressReport, i64, i64)]| {
            let fifth = (Bounced(by("a")), 5, 1);
            !after(&[&four[..], then, &[fifth]].concat()).0.by_channel.is_empty()
        };
        assert!(is_suppressed(&[]));
        assert!(!is_suppressed(&[(Arrived(by("a")), 4, 2)]));
        assert!(!is_suppressed(&[(Arrived(Report), 4, 2)]));
        assert!(is_suppressed(&[(Arrived(by("b")), 4, 2)]));
        // Of before, and so of nothing.
        assert!(is_suppressed(&[(Arrived(by("a")), 0, 2)]));
    }

    #[test]
    fn soft_refusals_at_smtp_that_are_undone_leave_what_reports_said() {
        let reported = [1, 2, 3, 4].map(|day| (Bounced(Report), day, 1));
        let taken = (Arrived(by("a")), 4, 2);
        let fifth = (Bounced(by("a")), 5, 1);
        let all = after(&[&reported[..], &[taken, fifth]].concat()).0;
        assert!(!all.by_channel.is_empty());
        // A report of the day of a refusal stands in its place, whichever came first.
        for first in [by("a"), Report] {
            let second = if first == Report { by("a") } else { Report };
            let day = |day| [(Bounced(first), day, 1), (Bounced(second), day, 2)];
            let four = [day(1), day(2), day(3), day(4)].concat();
            let all = after(&[&four[..], &[(Arrived(by("a")), 4, 3), fifth]].concat()).0;
            assert!(!all.by_channel.is_empty(), "{first:?}");
        }
    }
}
