//! Subscriptions: those of one step become one record per bucket.
//!
//! A record and a row for each subscription would make bringing in those of a million people cost two
//! keys a piece: a set a topic, and a row for the topics that a recipient follows at once, cost bytes.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::state::Shard;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::record_size::{pieces, set_bytes};
use crate::engine::rows::reply::{Refused, Reply};
use crate::journal::record::Record;
use crate::journal::stored::{Unreadable, decode, each, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table};
use crate::model::command::Command;
use crate::model::id::{BucketNo, Id};
use crate::model::limits::{Bound, Limits};
use crate::model::number::{RecipientAt, RecipientNo};
use crate::sets::set::Set;

/// The changes in a bucket: topics in order of appearance, with their recipients.
#[derive(Default)]
struct Change<'c> {
    places: FxHashMap<&'c Id, usize>,
    topics: Vec<(&'c Id, RoaringBitmap)>,
}

impl<'c> Change<'c> {
    fn has(&self, topic: &Id, number: RecipientNo) -> bool {
        let at = self.places.get(topic);
        at.is_some_and(|at| self.topics[*at].1.contains(number.0))
    }

    fn add(&mut self, topic: &'c Id, number: RecipientNo) {
        let at = *self.places.entry(topic).or_insert_with(|| {
            self.topics.push((topic, RoaringBitmap::new()));
            self.topics.len() - 1
        });
        self.topics[at].1.insert(number.0);
    }
}

/// Returns true if two consecutive commands can be done as one.
pub(crate) fn together(one: &Command, next: &Command) -> bool {
    matches!(
        (one, next),
        (Command::Publish(_), Command::Publish(_))
            | (Command::Subscribe { .. }, Command::Subscribe { .. })
            | (Command::Unsubscribe { .. }, Command::Unsubscribe { .. })
    )
}

/// The most topics in a row of a recipient's topics: leaving one of them rewrites the row.
const ROW_TOPICS_MAX: usize = 64;

/// The rows of a recipient's topics, by key.
type Rows = BTreeMap<Vec<u8>, Vec<Id>>;

/// The key prefix of a recipient's rows.
fn rows_key(bucket: BucketNo, number: RecipientNo) -> Key {
    Key::of(Owner::Bucket(bucket), Table::Following).u32(number.0)
}

/// The topics of a row: one in the key, those that were followed with it in the value.
///
/// # Errors
/// [`Unreadable`] where the row makes no sense.
pub(crate) fn topics_of(key: &[u8], value: &[u8]) -> Result<Vec<Id>, Unreadable> {
    let odd = || Unreadable("a row of what a recipient follows makes no sense".to_owned());
    let topic = key.get(REST + size_of::<u32>()..).ok_or_else(odd)?;
    let topic = std::str::from_utf8(topic).map_err(|_| odd())?;
    let mut topics = vec![Id::new(topic).map_err(|_| odd())?];
    if !value.is_empty() {
        let more: Vec<Id> = decode("what a recipient follows", value)?;
        topics.extend(more);
    }
    Ok(topics)
}

/// Refuses a topic that is too long or too deep, and more topics of one recipient than the rules allow.
pub(crate) fn may_follow(limits: Limits, topic: &Id, topics: u64) -> Result<(), Refused> {
    limits.check_topic(topic)?;
    Ok(limits.check(Bound::Subscriptions, topics)?)
}

impl Shard {
    /// Does commands that all follow, or all unfollow.
    pub(crate) fn follow(
        &mut self,
        draft: &mut Draft<'_>,
        commands: &[&Command],
    ) -> Result<Vec<Result<Reply, Refused>>, Unreadable> {
        let mut changes: BTreeMap<BucketNo, Change<'_>> = BTreeMap::new();
        let mut rows: Vec<(BucketNo, u32, &Id)> = Vec::new();
        let mut replies = Vec::with_capacity(commands.len());
        let (mut on, limits) = (true, self.limits());
        let mut added: FxHashMap<RecipientAt, u64> = FxHashMap::default();
        for command in commands {
            let (recipient, topic) = match command {
                Command::Subscribe { recipient, topic, .. } => (recipient, topic),
                Command::Unsubscribe { recipient, topic, .. } => {
                    on = false;
                    (recipient, topic)
                }
                _ => continue,
            };
            let at = match self.find(recipient) {
                Ok(found) => found,
                Err(refused) => {
                    replies.push(Err(refused));
                    continue;
                }
            };
            let RecipientAt { bucket, number } = at;
            let followers = &self.buckets[bucket].followers;
            let change = changes.entry(bucket).or_default();
            if followers.has(topic, number.0) == on || change.has(topic, number) {
                replies.push(Ok(Reply::Done));
                continue;
            }
            if on {
                let more = added.entry(at).or_default();
                let topics = u64::from(followers.topics_of(number.0)) + *more + 1;
                if let Err(refused) = may_follow(limits, topic, topics) {
                    replies.push(Err(refused));
                    continue;
                }
                *more += 1;
            }
            replies.push(Ok(Reply::Done));
            change.add(topic, number);
            rows.push((bucket, number.0, topic));
        }
        rows.sort_by_key(|(bucket, number, _)| (*bucket, *number));
        for of_one in rows.chunk_by(|one, next| one.0 == next.0 && one.1 == next.1) {
            let (bucket, number) = (of_one[0].0, of_one[0].1);
            let topics = of_one.iter().map(|(_, _, topic)| *topic);
            if on {
                let topics: Vec<&Id> = topics.collect();
                for topics in topics.chunks(ROW_TOPICS_MAX) {
                    put_row(draft, rows_key(bucket, RecipientNo(number)), topics);
                }
            } else {
                leave(draft, bucket, RecipientNo(number), &topics.collect())?;
            }
        }
        for (bucket, change) in changes {
            let topics =
                change.topics.into_iter().map(|(topic, who)| (topic.clone(), Set::from(who)));
            let bytes = |(topic, who): &(Id, Set)| topic.as_str().len() + set_bytes(who);
            for topics in pieces(topics.collect(), bytes) {
                self.write(draft, bucket, Record::Follow { topics, on });
            }
        }
        Ok(replies)
    }
}

fn put_row(draft: &mut Draft<'_>, key: Key, topics: &[&Id]) {
    if let Some((first, more)) = topics.split_first() {
        let value = if more.is_empty() { Vec::new() } else { encode(&more) };
        let key = key.bytes(first.as_str().as_bytes()).done();
        draft.put(Partition::Base, key, value);
    }
}

/// Rewrites the rows with topics that are unfollowed.
fn leave(
    draft: &mut Draft<'_>,
    bucket: BucketNo,
    number: RecipientNo,
    left: &BTreeSet<&Id>,
) -> Result<(), Unreadable> {
    for (key, topics) in rows_of(draft, bucket, number)? {
        let kept: Vec<&Id> = topics.iter().filter(|topic| !left.contains(topic)).collect();
        if kept.len() < topics.len() {
            draft.delete(Partition::Base, key);
            put_row(draft, rows_key(bucket, number), &kept);
        }
    }
    Ok(())
}

/// The rows of a recipient's topics, as they are in the middle of a step.
pub(crate) fn rows_of(
    draft: &Draft<'_>,
    bucket: BucketNo,
    number: RecipientNo,
) -> Result<Rows, Unreadable> {
    let prefix = rows_key(bucket, number).done();
    let mut rows = Rows::new();
    each(draft.view, Partition::Base, &prefix, |key, value| {
        rows.insert(key.to_vec(), topics_of(key, value)?);
        Ok(())
    })?;
    for (key, value) in draft.written(Partition::Base, &prefix) {
        match value {
            Some(value) => {
                rows.insert(key.to_vec(), topics_of(key, value)?);
            }
            None => {
                rows.remove(key);
            }
        }
    }
    Ok(rows)
}
