//! Subscriptions, of a tenant or of none: those of one step become one record per bucket.
//!
//! With a record and a row for each subscription, an import of a million people would write two keys for each. A set
//! for a topic, and a row for the topics that a recipient follows at once, cost bytes.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::state::Shard;
use crate::engine::intake::state::Intake;
use crate::engine::replies::refused::Refused;
use crate::engine::replies::reply::Reply;
use crate::engine::rows::draft::Draft;
use crate::journal::record::{Record, TenantTopic};
use crate::journal::record_size::{pieces, set_bytes};
use crate::journal::stored::{Unreadable, decode, each, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table};
use crate::model::command::Command;
use crate::model::id::{BucketNo, Id};
use crate::model::limits::{Bound, Limits};
use crate::model::number::{RecipientAt, RecipientNo};
use crate::model::tenant::TenantNo;
use crate::sets::set::Set;

/// The changes in a bucket: topics in order of appearance, with their recipients.
#[derive(Default)]
struct FollowChanges<'c> {
    places: FxHashMap<(Option<TenantNo>, &'c Id), usize>,
    topics: Vec<(TenantTopic, RoaringBitmap)>,
}

impl<'c> FollowChanges<'c> {
    fn has(&self, topic: (Option<TenantNo>, &'c Id), number: RecipientNo) -> bool {
        let at = self.places.get(&topic);
        at.is_some_and(|at| self.topics[*at].1.contains(number.0))
    }

    fn add(&mut self, topic: (Option<TenantNo>, &'c Id), number: RecipientNo) {
        let at = *self.places.entry(topic).or_insert_with(|| {
            let (tenant, topic) = topic;
            let topic = TenantTopic { tenant, topic: topic.clone() };
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
            | (Command::Join { .. }, Command::Join { .. })
            | (Command::Leave { .. }, Command::Leave { .. })
    )
}

/// The most topics in a row of a recipient's topics: leaving one of them rewrites the row.
const ROW_TOPICS_MAX: usize = 64;

/// A recipient, and the tenant of topics that they follow.
type FollowerKey = (BucketNo, u32, Option<TenantNo>);

/// The rows of a recipient's topics, by key.
type TopicRows = BTreeMap<Vec<u8>, Vec<TenantTopic>>;

/// The key prefix of a recipient's rows.
fn rows_key(bucket: BucketNo, number: RecipientNo) -> Key {
    Key::of(Owner::Bucket(bucket), Table::Following).u32(number.0)
}

/// The key prefix of those with topics of a tenant, or of none.
fn tenant_rows_key(bucket: BucketNo, number: RecipientNo, tenant: Option<TenantNo>) -> Key {
    rows_key(bucket, number).u32(TenantNo::raw(tenant))
}

/// The topics of a row: one in the key, those of the same tenant that were followed with it in the value.
///
/// # Errors
/// [`Unreadable`] where the row makes no sense.
pub(crate) fn topics_of(key: &[u8], value: &[u8]) -> Result<Vec<TenantTopic>, Unreadable> {
    let odd = || Unreadable("a row of what a recipient follows makes no sense".to_owned());
    let first = key.get(REST + size_of::<u32>()..).and_then(TenantTopic::of_key).ok_or_else(odd)?;
    let tenant = first.tenant;
    let mut topics = vec![first];
    if !value.is_empty() {
        let more: Vec<Id> = decode("what a recipient follows", value)?;
        topics.extend(more.into_iter().map(|topic| TenantTopic { tenant, topic }));
    }
    Ok(topics)
}

/// Refuses a topic that is too long or too deep, and more topics of one recipient than the rules allow.
pub(crate) fn may_follow(limits: Limits, topic: &Id, topics: u64) -> Result<(), Refused> {
    limits.check_topic(topic)?;
    Ok(limits.check(Bound::Subscriptions, topics)?)
}

/// Changes of subscriptions in a shard.
pub(crate) struct Subscriptions<'a, 'd> {
    pub(crate) shard: &'a mut Shard,
    pub(crate) draft: &'a mut Draft<'d>,
}

impl Subscriptions<'_, '_> {
    /// Does commands that all follow, or all unfollow.
    pub(crate) fn change(
        &mut self,
        intake: &Intake,
        commands: &[&Command],
    ) -> Result<Vec<Result<Reply, Refused>>, Unreadable> {
        let mut changes: BTreeMap<BucketNo, FollowChanges<'_>> = BTreeMap::new();
        let mut rows: Vec<(FollowerKey, &Id)> = Vec::new();
        let mut replies = Vec::with_capacity(commands.len());
        let (mut on, limits) = (true, self.shard.limits());
        let mut added: FxHashMap<RecipientAt, u64> = FxHashMap::default();
        for command in commands {
            let (recipient, topic, tenant) = match command {
                Command::Subscribe { recipient, topic, tenant } => (recipient, topic, tenant),
                Command::Unsubscribe { recipient, topic, tenant } => {
                    on = false;
                    (recipient, topic, tenant)
                }
                _ => continue,
            };
            let tenant = tenant.as_ref().map(|tenant| intake.tenant_no(tenant)).transpose();
            let (at, tenant) = match self.shard.find(recipient).and_then(|at| Ok((at, tenant?))) {
                Ok(found) => found,
                Err(refused) => {
                    replies.push(Err(refused));
                    continue;
                }
            };
            let RecipientAt { bucket, number } = at;
            let followers = &self.shard.buckets[bucket].followers;
            let change = changes.entry(bucket).or_default();
            let known = followers.get(tenant, topic.as_str());
            let follows = known.is_some_and(|recipients| recipients.contains(number.0));
            // An earlier command of this step is not folded in yet.
            if follows == on || change.has((tenant, topic), number) {
                replies.push(Ok(Reply::Done));
                continue;
            }
            if on {
                let more = added.entry(at).or_default();
                // Topics of this step count too, or a batch could pass the limit.
                let topics = u64::from(followers.topics_of(number.0)) + *more + 1;
                if let Err(refused) = may_follow(limits, topic, topics) {
                    replies.push(Err(refused));
                    continue;
                }
                *more += 1;
            }
            replies.push(Ok(Reply::Done));
            change.add((tenant, topic), number);
            rows.push(((bucket, number.0, tenant), topic));
        }
        rows.sort_by_key(|(of, _)| *of);
        for of_one in rows.chunk_by(|one, next| one.0 == next.0) {
            let (bucket, number, tenant) = of_one[0].0;
            let key = || tenant_rows_key(bucket, RecipientNo(number), tenant);
            let topics = of_one.iter().map(|(_, topic)| *topic);
            if on {
                let topics: Vec<&Id> = topics.collect();
                for topics in topics.chunks(ROW_TOPICS_MAX) {
                    put_row(self.draft, key(), topics);
                }
            } else {
                leave(self.draft, &key, &topics.collect())?;
            }
        }
        for (bucket, change) in changes {
            self.write(bucket, change.topics, on);
        }
        Ok(replies)
    }

    /// Writes that recipients of a bucket follow topics, or unfollow them.
    fn write(
        &mut self,
        bucket: BucketNo,
        topics: impl IntoIterator<Item = (TenantTopic, RoaringBitmap)>,
        on: bool,
    ) {
        let topics = topics.into_iter().map(|(topic, recipients)| (topic, Set::from(recipients)));
        let bytes = |(topic, recipients): &(TenantTopic, Set)| {
            topic.topic.as_str().len() + 4 + set_bytes(recipients)
        };
        for topics in pieces(topics.collect(), bytes) {
            self.shard.write(self.draft, bucket, Record::Follow { topics, on });
        }
    }

    /// Ends all subscriptions of a tenant that these recipients have.
    pub(super) fn unfollow_all(
        &mut self,
        bucket: BucketNo,
        left: &[(TenantNo, Set)],
    ) -> Result<(), Unreadable> {
        let mut topics: BTreeMap<TenantTopic, RoaringBitmap> = BTreeMap::new();
        for (tenant, recipients) in left {
            for number in recipients.iter() {
                if self.shard.buckets[bucket].followers.topics_of(number) == 0 {
                    continue;
                }
                let key = tenant_rows_key(bucket, RecipientNo(number), Some(*tenant));
                for (key, followed) in rows_under(self.draft, &key.done())? {
                    self.draft.delete(Partition::Base, key);
                    for topic in followed {
                        topics.entry(topic).or_default().insert(number);
                    }
                }
            }
        }
        self.write(bucket, topics, false);
        Ok(())
    }
}

/// Writes a row of topics of a tenant, whose rows' keys begin with this one.
fn put_row(draft: &mut Draft<'_>, key: Key, topics: &[&Id]) {
    if let Some((first, more)) = topics.split_first() {
        let value = if more.is_empty() { Vec::new() } else { encode(&more) };
        let key = key.bytes(first.as_str().as_bytes()).done();
        draft.put(Partition::Base, key, value);
    }
}

/// Rewrites the rows under a key with topics that are unfollowed.
fn leave(
    draft: &mut Draft<'_>,
    key: &dyn Fn() -> Key,
    left: &BTreeSet<&Id>,
) -> Result<(), Unreadable> {
    for (row, topics) in rows_under(draft, &key().done())? {
        let all = topics.iter().map(|of| &of.topic);
        let kept: Vec<&Id> = all.filter(|topic| !left.contains(topic)).collect();
        if kept.len() < topics.len() {
            draft.delete(Partition::Base, row);
            put_row(draft, key(), &kept);
        }
    }
    Ok(())
}

/// The rows of a recipient's topics of all tenants, as they are in the middle of a step.
pub(crate) fn rows_of(
    draft: &Draft<'_>,
    bucket: BucketNo,
    number: RecipientNo,
) -> Result<TopicRows, Unreadable> {
    rows_under(draft, &rows_key(bucket, number).done())
}

fn rows_under(draft: &Draft<'_>, prefix: &[u8]) -> Result<TopicRows, Unreadable> {
    let mut rows = TopicRows::new();
    each(draft.view, Partition::Base, prefix, |key, value| {
        rows.insert(key.to_vec(), topics_of(key, value)?);
        Ok(())
    })?;
    for (key, value) in draft.written(Partition::Base, prefix) {
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
