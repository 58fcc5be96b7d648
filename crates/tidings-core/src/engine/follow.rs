//! Following: what many subscribe to in one step becomes one record a bucket.
//!
//! A record a subscription would make bringing in those of a million people cost a row of the journal
//! each; a set a topic costs a few bytes each.

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::Engine;
use super::draft::Draft;
use super::reply::{Refused, Reply};
use crate::command::Command;
use crate::id::Id;
use crate::journal::record::Record;
use crate::table::{Key, Owner, Partition, Table};
use crate::time::Instant;

/// What changes in a bucket: the topics in the order in which they come up, and who.
#[derive(Default)]
struct Change<'c> {
    places: FxHashMap<&'c Id, usize>,
    topics: Vec<(&'c Id, RoaringBitmap)>,
}

impl<'c> Change<'c> {
    /// Whether this is the first that is heard of it.
    fn add(&mut self, topic: &'c Id, number: u32) -> bool {
        let at = *self.places.entry(topic).or_insert_with(|| {
            self.topics.push((topic, RoaringBitmap::new()));
            self.topics.len() - 1
        });
        self.topics[at].1.insert(number)
    }
}

/// Whether two commands, one after the other, can be done as one.
pub(super) fn together(one: &Command, next: &Command) -> bool {
    matches!(
        (one, next),
        (Command::Subscribe { .. }, Command::Subscribe { .. })
            | (Command::Unsubscribe { .. }, Command::Unsubscribe { .. })
    )
}

impl Engine {
    /// Follows, or unfollows: commands that are all of the one or all of the other kind.
    pub(super) fn follow(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        commands: &[Command],
    ) -> Vec<Result<Reply, Refused>> {
        let mut changes: Vec<Change<'_>> = Vec::new();
        changes.resize_with(self.buckets.len(), Change::default);
        let mut replies = Vec::with_capacity(commands.len());
        let mut on = true;
        for command in commands {
            let (recipient, topic) = match command {
                Command::Subscribe { recipient, topic } => (recipient, topic),
                Command::Unsubscribe { recipient, topic } => {
                    on = false;
                    (recipient, topic)
                }
                _ => continue,
            };
            let (bucket, number) = match self.find(recipient) {
                Ok(found) => found,
                Err(refused) => {
                    replies.push(Err(refused));
                    continue;
                }
            };
            replies.push(Ok(Reply::Done));
            let known = self.buckets[bucket].followers.get(topic);
            if known.is_some_and(|who| who.contains(number)) == on
                || !changes[bucket].add(topic, number)
            {
                continue;
            }
            let key = Key::of(Owner::Bucket(self.buckets[bucket].no), Table::Following);
            let key = key.u32(number).bytes(topic.as_str().as_bytes()).done();
            if on {
                draft.put(Partition::Base, key, Vec::new());
            } else {
                draft.delete(Partition::Base, key);
            }
        }
        for (bucket, change) in changes.into_iter().enumerate() {
            if change.topics.is_empty() {
                continue;
            }
            let topics = change.topics.into_iter();
            let topics = topics.map(|(topic, who)| (topic.clone(), who.into()));
            let topics = topics.collect();
            self.write(draft, bucket, now, Record::Follow { topics, on });
        }
        replies
    }
}
