//! Followers of each topic, and how many topics each recipient follows.

use roaring::RoaringBitmap;

use crate::journal::record::TenantTopic;
use crate::model::tenant::TenantNo;
use crate::sets::shared::{Pages, Shared, Tree};

/// Up to this number members are inserted into a set one by one.
const FEW: u64 = 16;

/// The subscriptions of a bucket. A topic without followers takes no memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers {
    by_topic: Tree<TenantTopic, Shared<RoaringBitmap>>,
    /// Number of topics of all tenants by recipient number.
    topics: Pages<u32>,
}

impl Followers {
    pub(crate) fn get(&self, tenant: Option<TenantNo>, topic: &str) -> Option<&RoaringBitmap> {
        let found = self.by_topic.find(|known| {
            let by_tenant = known.tenant.cmp(&tenant);
            by_tenant.then_with(|| known.topic.as_str().cmp(topic))
        });
        found.map(|(_, recipients)| &**recipients)
    }

    /// The followers of a tenant's topics, by topic.
    pub(crate) fn of_tenant(&self, tenant: TenantNo) -> impl Iterator<Item = &RoaringBitmap> {
        let tenant = Some(tenant);
        let all = self.by_topic.first_on(|known| known.tenant >= tenant);
        all.take_while(move |(known, _)| known.tenant == tenant)
            .map(|(_, recipients)| &**recipients)
    }

    /// Number of topics that a recipient follows.
    pub(crate) fn topics_of(&self, number: u32) -> u32 {
        self.topics.get(number).copied().unwrap_or(0)
    }

    /// Adds followers; none of them followed the topic before.
    pub(crate) fn add(&mut self, topic: TenantTopic, recipients: RoaringBitmap) {
        for number in &recipients {
            *self.topics.at(number) += 1;
        }
        let followers = &mut **self.by_topic.or_default(topic);
        match recipients.len() {
            // A union copies: for the few of one step among very many followers that costs more.
            ..=FEW => followers.extend(recipients),
            _ => *followers |= recipients,
        }
    }

    /// Removes followers; all of them followed the topic before.
    pub(crate) fn remove(&mut self, topic: &TenantTopic, recipients: &RoaringBitmap) {
        let Some(followers) = self.by_topic.get_mut(topic) else {
            return;
        };
        **followers -= recipients;
        if followers.is_empty() {
            self.by_topic.remove(topic);
        }
        for number in recipients {
            let topics = self.topics.at(number);
            *topics = topics.saturating_sub(1);
        }
    }

    /// Removes a recipient from every topic and returns those topics.
    pub(crate) fn erase(&mut self, number: u32) -> Vec<TenantTopic> {
        let left: Vec<TenantTopic> = self
            .by_topic
            .iter()
            .filter(|(_, recipients)| recipients.contains(number))
            .map(|(topic, _)| topic.clone())
            .collect();
        let recipients = RoaringBitmap::from_iter([number]);
        left.iter().for_each(|topic| self.remove(topic, &recipients));
        left
    }

    pub(crate) fn bytes(&self) -> usize {
        self.by_topic.values().map(|recipients| 48 + recipients.serialized_size()).sum::<usize>()
            + self.topics.bytes()
    }
}
