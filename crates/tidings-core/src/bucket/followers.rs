//! Followers of each topic, and how many topics each recipient follows.

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::id::Id;

/// Up to this number members are inserted into a set one by one.
const FEW: u64 = 16;

/// The subscriptions of a bucket. A topic without followers takes no memory.
#[derive(Debug, Default)]
pub(crate) struct Followers {
    by_topic: FxHashMap<Id, RoaringBitmap>,
    /// Number of topics by recipient number; numbers beyond the end follow none.
    topics: Vec<u32>,
}

impl Followers {
    pub(crate) fn get(&self, topic: &str) -> Option<&RoaringBitmap> {
        self.by_topic.get(topic)
    }

    /// Tells whether a recipient follows a topic itself.
    pub(crate) fn has(&self, topic: &Id, number: u32) -> bool {
        let who = self.by_topic.get(topic);
        who.is_some_and(|who| who.contains(number))
    }

    /// Number of topics that a recipient follows.
    pub(crate) fn topics_of(&self, number: u32) -> u32 {
        self.topics.get(number as usize).copied().unwrap_or(0)
    }

    /// Adds followers, none of whom followed the topic before.
    pub(crate) fn add(&mut self, topic: Id, who: RoaringBitmap) {
        let most = who.max().map_or(0, |number| number as usize + 1);
        if self.topics.len() < most {
            self.topics.resize(most, 0);
        }
        for number in &who {
            self.topics[number as usize] += 1;
        }
        let followers = self.by_topic.entry(topic).or_default();
        match who.len() {
            // A union copies: for the few of one step among very many followers that costs more.
            ..=FEW => followers.extend(who),
            _ => *followers |= who,
        }
    }

    /// Removes followers, all of whom followed the topic before.
    pub(crate) fn remove(&mut self, topic: &Id, who: &RoaringBitmap) {
        let Some(followers) = self.by_topic.get_mut(topic) else {
            return;
        };
        *followers -= who;
        if followers.is_empty() {
            self.by_topic.remove(topic);
        }
        for number in who {
            if let Some(topics) = self.topics.get_mut(number as usize) {
                *topics = topics.saturating_sub(1);
            }
        }
    }

    /// Removes a recipient from every topic and returns those topics.
    pub(crate) fn erase(&mut self, number: u32) -> Vec<Id> {
        let mut left = Vec::new();
        self.by_topic.retain(|topic, who| {
            if who.remove(number) {
                left.push(topic.clone());
            }
            !who.is_empty()
        });
        if let Some(topics) = self.topics.get_mut(number as usize) {
            *topics = 0;
        }
        left
    }

    pub(crate) fn bytes(&self) -> usize {
        let sets = self.by_topic.values();
        sets.map(|who| 48 + who.serialized_size()).sum::<usize>()
            + self.topics.capacity() * size_of::<u32>()
    }
}
