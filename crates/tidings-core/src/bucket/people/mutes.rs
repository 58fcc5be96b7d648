//! Mutes of recipients: topics and objects that they get nothing about, as sets by channel.
//!
//! There may be as many topics and objects as there are mutes, so nothing walks through them: an event looks up the
//! topics and the objects that it names, and only where somebody mutes anything. (As preferences by scope, each change
//! would walk through all scopes.) A mute of all channels is stored as one for each, so that it can be lifted on one.
//! The mutes of a recipient are one row, hence the bound on their number.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::event::Event;
use crate::model::id::Id;
use crate::model::preference::PreferenceScope;
use crate::model::tenant::TenantNo;
use crate::model::topic::followed_paths;
use crate::sets::audience::partition;
use crate::sets::shared::{Shared, Tree};

/// A topic or an object that is muted on a channel: in entries of a tenant, or in all.
type MutedSubject = (Option<TenantNo>, ChannelNo, PreferenceScope);

/// The recipients of a bucket by what they mute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mutes {
    by_subject: Tree<MutedSubject, Shared<RoaringBitmap>>,
    by_recipient: Tree<(u32, MutedSubject), ()>,
    /// The recipients who mute something.
    recipients: Shared<RoaringBitmap>,
}

/// The reasons that mutes leave to an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnmutedReasons {
    /// All of them.
    All,
    /// These.
    Some(Vec<u16>),
    /// None: there is no entry.
    Nothing,
}

/// The reasons of an entry: the words of its arrival, and the indexes of its own.
#[derive(Clone, Copy)]
pub(crate) struct EntryReasons<'a> {
    pub(crate) words: &'a [String],
    pub(crate) reasons: &'a [u16],
}

impl Mutes {
    /// Sets or lifts the mute of a topic or an object.
    pub(crate) fn set(&mut self, number: u32, muted: MutedSubject, is_on: bool) {
        if is_on {
            self.by_subject.or_default(muted.clone()).insert(number);
            self.by_recipient.insert((number, muted), ());
            self.recipients.insert(number);
            return;
        }
        if let Some(recipients) = self.by_subject.get_mut(&muted) {
            recipients.remove(number);
            if recipients.is_empty() {
                self.by_subject.remove(&muted);
            }
        }
        self.by_recipient.remove(&(number, muted));
        if self.of(number).next().is_none() && self.recipients.contains(number) {
            self.recipients.remove(number);
        }
    }

    /// The mutes of a recipient, by tenant, channel and subject.
    pub(crate) fn of(
        &self,
        number: u32,
    ) -> impl Iterator<Item = (Option<TenantNo>, ChannelNo, &PreferenceScope)> {
        let first = (number, (None, INBOX_NO, PreferenceScope::Type(String::new())));
        let of = self.by_recipient.from(&first).map(|(of, ())| of);
        of.take_while(move |(of, _)| *of == number)
            .map(|(_, (tenant, channel, subject))| (*tenant, *channel, subject))
    }

    /// Removes all mutes of a recipient.
    pub(crate) fn erase(&mut self, number: u32) {
        let of = self.of(number).map(|(tenant, no, subject)| (tenant, no, subject.clone()));
        for at in of.collect::<Vec<_>>() {
            self.set(number, at, false);
        }
    }

    /// The recipients who mute something in entries of a tenant, once for each mute.
    pub(super) fn muting_in(&self, tenant: TenantNo) -> impl Iterator<Item = u32> {
        let first = (Some(tenant), INBOX_NO, PreferenceScope::Type(String::new()));
        let of = self.by_subject.from(&first);
        let of = of.take_while(move |((of, ..), _)| *of == Some(tenant));
        of.flat_map(|(_, recipients)| recipients.iter())
    }

    /// Selects the recipients of a set who mute a subject in entries of a tenant, or of none.
    fn muting(
        &self,
        channel: ChannelNo,
        subject: PreferenceScope,
        tenant: Option<TenantNo>,
        recipients: &RoaringBitmap,
    ) -> RoaringBitmap {
        let get =
            |muted: &MutedSubject| self.by_subject.get(muted).map(|muting| recipients & &**muting);
        let muted = (None, channel, subject);
        let muting = get(&muted).unwrap_or_default();
        match tenant {
            None => muting,
            Some(_) => muting | get(&(tenant, channel, muted.2)).unwrap_or_default(),
        }
    }

    /// Returns true if a recipient of a set mutes something.
    pub(crate) fn concern(&self, recipients: &RoaringBitmap) -> bool {
        !self.recipients.is_disjoint(recipients)
    }

    /// Splits a set by the reasons that mutes leave to an entry of an event, of a tenant or of none, on a channel.
    pub(crate) fn split(
        &self,
        channel: ChannelNo,
        (event, tenant): (&Event, Option<TenantNo>),
        why: EntryReasons<'_>,
        mut recipients: RoaringBitmap,
    ) -> Vec<(UnmutedReasons, RoaringBitmap)> {
        if !self.concern(&recipients) {
            return vec![(UnmutedReasons::All, recipients)];
        }
        let mut parts = Vec::new();
        let mut nothing = RoaringBitmap::new();
        for object in event.target.iter().chain([&event.object]) {
            let subject = PreferenceScope::Object(object.id.clone());
            nothing |= self.muting(channel, subject, tenant, &recipients);
        }
        recipients -= &nothing;
        let muted: BTreeSet<&str> =
            event.to.topics.iter().map(Id::as_str).flat_map(followed_paths).collect();
        let muted: Vec<&str> = muted.into_iter().collect();
        let sources = (0..).zip(&muted).filter_map(|(at, topic)| {
            let subject = PreferenceScope::Topic(Id::new(topic).ok()?);
            let muting = self.muting(channel, subject, tenant, &recipients);
            (!muting.is_empty()).then_some((at, muting))
        });
        for (of, part) in partition(sources.collect()) {
            recipients -= &part;
            let of: Vec<&str> =
                of.iter().filter_map(|at| muted.get(*at as usize).copied()).collect();
            match reasons_left(event, why, &of) {
                left if left.is_empty() => nothing |= part,
                left if left.len() == why.reasons.len() => parts.push((UnmutedReasons::All, part)),
                left => parts.push((UnmutedReasons::Some(left), part)),
            }
        }
        parts.extend([(UnmutedReasons::Nothing, nothing), (UnmutedReasons::All, recipients)]);
        parts.retain(|(_, recipients)| !recipients.is_empty());
        parts
    }

    /// The recipients of a set whose mutes leave no reason for their entry of an event.
    pub(crate) fn silence(
        &self,
        channel: ChannelNo,
        event: (&Event, Option<TenantNo>),
        why: EntryReasons<'_>,
        recipients: RoaringBitmap,
    ) -> RoaringBitmap {
        self.split(channel, event, why, recipients)
            .into_iter()
            .filter(|(left, _)| *left == UnmutedReasons::Nothing)
            .fold(RoaringBitmap::new(), |all, (_, recipients)| all | recipients)
    }
}

/// The reasons that an event would have without its topics at or below the muted ones.
fn reasons_left(event: &Event, why: EntryReasons<'_>, muted: &[&str]) -> Vec<u16> {
    let paths: BTreeSet<&str> = event
        .to
        .topics
        .iter()
        .map(Id::as_str)
        .filter(|topic| !followed_paths(topic).any(|above| muted.contains(&above)))
        .flat_map(followed_paths)
        .collect();
    let stays = |at: &&u16| {
        let word = why.words.get(usize::from(**at)).map(String::as_str);
        let topic = word.and_then(|word| word.strip_prefix("topic:"));
        topic.is_none_or(|topic| paths.contains(topic))
    };
    why.reasons.iter().filter(stays).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::channel::EMAIL_NO;
    use crate::model::event::{Audience, Object};

    fn id(text: &str) -> Id {
        Id::new(text).unwrap()
    }

    fn event(topics: &[&str]) -> Event {
        let to = Audience {
            topics: topics.iter().map(|topic| id(topic)).collect(),
            everyone: true,
            ..Audience::default()
        };
        Event::new(id("e"), id("t"), Object::bare(id("o")), to)
    }

    fn set(numbers: &[u32]) -> RoaringBitmap {
        numbers.iter().copied().collect()
    }

    #[test]
    fn a_topic_takes_away_what_lies_at_it_or_below() {
        let topic = |text: &str| PreferenceScope::Topic(id(text));
        let mut mutes = Mutes::default();
        mutes.set(1, (None, INBOX_NO, topic("a/b")), true);
        mutes.set(2, (None, INBOX_NO, topic("a")), true);
        mutes.set(3, (None, EMAIL_NO, topic("a")), true);
        mutes.set(4, (None, INBOX_NO, topic("a/b/c/d")), true);
        let words = ["everyone", "topic:a", "topic:a/b"].map(str::to_owned);
        let split = |topics: &[&str], reasons: &[u16]| {
            let why = EntryReasons { words: &words, reasons };
            let mut parts =
                mutes.split(INBOX_NO, (&event(topics), None), why, set(&[1, 2, 3, 4, 5]));
            parts.sort_by_key(|(_, recipients)| recipients.min());
            parts
        };
        // Those of another channel, and those who mute what lies below, keep all.
        assert_eq!(
            split(&["a/b/c"], &[1, 2]),
            [(UnmutedReasons::Nothing, set(&[1, 2])), (UnmutedReasons::All, set(&[3, 4, 5]))]
        );
        // Another topic of the event is heard by way of a subscription that lies above both.
        assert_eq!(
            split(&["a/b/c", "a/x"], &[1, 2]),
            [
                (UnmutedReasons::Some(vec![1]), set(&[1])),
                (UnmutedReasons::Nothing, set(&[2])),
                (UnmutedReasons::All, set(&[3, 4, 5])),
            ]
        );
        assert_eq!(
            split(&["a/b"], &[0, 1]),
            [
                (UnmutedReasons::Some(vec![0]), set(&[1])),
                (UnmutedReasons::Some(vec![0]), set(&[2])),
                (UnmutedReasons::All, set(&[3, 4, 5])),
            ]
        );
    }

    #[test]
    fn an_object_takes_away_everything_in_either_role() {
        let object = |text: &str| PreferenceScope::Object(id(text));
        let mut mutes = Mutes::default();
        mutes.set(1, (None, INBOX_NO, object("o")), true);
        mutes.set(2, (None, INBOX_NO, object("p")), true);
        let words = ["everyone".to_owned()];
        let why = EntryReasons { words: &words, reasons: &[0] };
        let mut about = event(&[]);
        assert_eq!(mutes.silence(INBOX_NO, (&about, None), why, set(&[1, 2])), set(&[1]));
        about.target = Some(Object::bare(id("p")));
        assert_eq!(mutes.silence(INBOX_NO, (&about, None), why, set(&[1, 2, 3])), set(&[1, 2]));
    }

    #[test]
    fn nothing_is_left_of_mutes_that_are_lifted() {
        let mut mutes = Mutes::default();
        let scopes = [PreferenceScope::Topic(id("a")), PreferenceScope::Object(id("a"))];
        for scope in &scopes {
            mutes.set(7, (None, EMAIL_NO, scope.clone()), true);
        }
        assert_eq!(mutes.of(7).count(), 2);
        assert_eq!(mutes.of(6).count(), 0);
        mutes.set(7, (None, EMAIL_NO, scopes[0].clone()), false);
        assert!(mutes.concern(&set(&[7])));
        mutes.erase(7);
        assert!(!mutes.concern(&set(&[7])));
        assert!(mutes.by_subject.is_empty() && mutes.by_recipient.is_empty());
    }

    #[test]
    fn a_mute_with_a_tenant_takes_away_from_its_entries_alone() {
        let object = || PreferenceScope::Object(id("o"));
        let [acme, bolt] = [1, 2].map(TenantNo::of_raw);
        let mut mutes = Mutes::default();
        mutes.set(1, (acme, INBOX_NO, object()), true);
        mutes.set(2, (None, INBOX_NO, object()), true);
        let words = ["everyone".to_owned()];
        let why = EntryReasons { words: &words, reasons: &[0] };
        let about = event(&[]);
        let silenced =
            |mutes: &Mutes, tenant| mutes.silence(INBOX_NO, (&about, tenant), why, set(&[1, 2, 3]));
        assert_eq!(silenced(&mutes, acme), set(&[1, 2]));
        assert_eq!(silenced(&mutes, bolt), set(&[2]));
        assert_eq!(silenced(&mutes, None), set(&[2]));
        // One without a tenant is lifted without one.
        mutes.set(1, (None, INBOX_NO, object()), false);
        assert_eq!(silenced(&mutes, acme), set(&[1, 2]));
        mutes.set(1, (acme, INBOX_NO, object()), false);
        assert_eq!(silenced(&mutes, acme), set(&[2]));
    }
}
