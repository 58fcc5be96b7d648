//! Followers of each topic, and how many topics each recipient follows.

use roaring::RoaringBitmap;

use crate::model::id::Id;
use crate::sets::shared::{Pages, Shared, Tree};

/// Up to this number members are inserted into a set one by one.
const FEW: u64 = 16;

/// The subscriptions of a bucket. A topic without followers takes no memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers {
    by_topic: Tree<Id, Shared<RoaringBitmap>>,
    /// Number of topics by recipient number.
    topics: Pages<u32>,
}

impl Followers {
    pub(crate) fn get(&self, topic: &str) -> Option<&RoaringBitmap> {
        self.by_topic.get(topic).map(|who| &**who)
    }

    /// Returns true if a recipient follows a topic itself.
    pub(crate) fn has(&self, topic: &Id, number: u32) -> bool {
        let who = self.by_topic.get(topic);
        who.is_some_and(|who| who.contains(number))
    }

    /// Number of topics that a recipient follows.
    pub(crate) fn topics_of(&self, number: u32) -> u32 {
        self.topics.get(number).copied().unwrap_or(0)
    }

    /// Adds followers, none of whom followed the topic before.
    pub(crate) fn add(&mut self, topic: Id, who: RoaringBitmap) {
        for number in &who {
            *self.topics.at(number) += 1;
        }
        let followers = &mut **self.by_topic.or_default(topic);
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
        **followers -= who;
        if followers.is_empty() {
            self.by_topic.remove(topic);
        }
        for number in who {
            let topics = self.topics.at(number);
            *topics = topics.saturating_sub(1);
        }
    }

    /// Removes a recipient from every topic and returns those topics.
    pub(crate) fn erase(&mut self, number: u32) -> Vec<Id> {
        let left: Vec<Id> = self
            .by_topic
            .iter()
            .filter(|(_, who)| who.contains(number))
            .map(|(topic, _)| topic.clone())
            .collect();
        let who = RoaringBitmap::from_iter([number]);
        left.iter().for_each(|topic| self.remove(topic, &who));
        left
    }

    pub(crate) fn bytes(&self) -> usize {
        self.by_topic.values().map(|who| 48 + who.serialized_size()).sum::<usize>()
            + self.topics.bytes()
    }
}
