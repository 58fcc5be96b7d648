//! Followers of each topic, and how many topics each recipient follows.

use roaring::RoaringBitmap;

use crate::journal::record::TenantTopic;
use crate::model::id::Id;
use crate::model::tenant::TenantNo;
use crate::sets::shared::{Pages, Shared, Tree};

/// Up to this number members are inserted into a set one by one.
const FEW: u64 = 16;

/// The subscriptions of a bucket. A topic without followers takes no memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers {
    by_topic: Tree<TenantTopic, Shared<RoaringBitmap>>,
    /// The topics of tenants by name, each with the number of tenants that have it.
    names_of_tenants: Tree<Id, u32>,
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

    /// The topics of all tenants and of none from a text on, in the order of their bytes; one may come twice.
    pub(crate) fn topics_from(&self, first: &str) -> impl Iterator<Item = &Id> {
        let of_none =
            self.by_topic.first_on(|known| known.tenant.is_some() || known.topic.as_str() >= first);
        let mut of_none = of_none
            .map(|(known, _)| known)
            .take_while(|known| known.tenant.is_none())
            .map(|known| &known.topic)
            .peekable();
        let mut of_tenants = self.names_of_tenants.from(first).map(|(topic, _)| topic).peekable();
        std::iter::from_fn(move || match (of_none.peek(), of_tenants.peek()) {
            (Some(a), Some(b)) if b < a => of_tenants.next(),
            (None, _) => of_tenants.next(),
            _ => of_none.next(),
        })
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
        if topic.tenant.is_some() && !self.by_topic.contains_key(&topic) {
            *self.names_of_tenants.or_default(topic.topic.clone()) += 1;
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
            if topic.tenant.is_some() {
                self.forget_name(&topic.topic);
            }
        }
        for number in recipients {
            let topics = self.topics.at(number);
            *topics = topics.saturating_sub(1);
        }
    }

    /// Forgets a topic of one tenant.
    fn forget_name(&mut self, topic: &Id) {
        let Some(tenants) = self.names_of_tenants.get_mut(topic) else {
            return;
        };
        *tenants = tenants.saturating_sub(1);
        if *tenants == 0 {
            self.names_of_tenants.remove(topic);
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
            + self.names_of_tenants.len() * size_of::<(Id, u32)>()
            + self.topics.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_of_all_tenants_are_in_one_order_as_long_as_anybody_follows_them() {
        let topic = |tenant, text: &str| TenantTopic {
            tenant: TenantNo::of_raw(tenant),
            topic: Id::new(text).unwrap(),
        };
        let one = RoaringBitmap::from_iter([1]);
        let mut all = Followers::default();
        for (tenant, text) in [(0, "b"), (0, "d"), (1, "c"), (2, "c"), (2, "a"), (1, "d")] {
            all.add(topic(tenant, text), one.clone());
        }
        let from = |all: &Followers, first: &str| -> String {
            let mut topics: Vec<_> = all.topics_from(first).map(|id| id.to_string()).collect();
            topics.dedup();
            topics.concat()
        };
        assert_eq!(from(&all, ""), "abcd");
        assert_eq!(from(&all, "bb"), "cd");
        all.remove(&topic(1, "c"), &one);
        all.remove(&topic(0, "d"), &one);
        assert_eq!(from(&all, ""), "abcd");
        all.remove(&topic(2, "c"), &one);
        all.remove(&topic(1, "d"), &one);
        assert_eq!(from(&all, ""), "ab");
    }
}
