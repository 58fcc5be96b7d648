//! Callers, and a queue that serves them in turn: who asks for much waits for it, and others don't.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;

use tidings_core::Id;

/// The identity of a caller, by which the rooms of a server are shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CallerId {
    /// The host itself: the program that embeds the node, its feeds, its other nodes.
    Host,
    /// The holder of an API key, by the key's id.
    Key(Arc<str>),
    /// A peer that has shown neither a key nor a token.
    Address(IpAddr),
    /// A recipient, with all of their tokens.
    Recipient(Id),
}

/// Maximum number of places of a recipient, or of an address, in a room: eight at work and 32 that wait.
const PLACES_MAX: usize = 40;

/// Maximum number of requests of a recipient in one turn of the loop: others wait for no more of them than one.
const IN_TURN_MAX: usize = 1;

/// The same of an address, whose requests are reports of a provider or forms of pages.
const IN_TURN_OF_ADDRESS_MAX: usize = 8;

impl CallerId {
    /// Returns true if it may speak for many: an API key, which often is the only one, or a proxy on this machine.
    fn is_of_many(&self) -> bool {
        match self {
            Self::Host | Self::Key(_) => true,
            Self::Address(address) => address.is_loopback(),
            Self::Recipient(_) => false,
        }
    }

    /// The caller's share of a room with this many places. No key has all of them, so that another one finds some.
    #[must_use]
    pub fn places(&self, all: usize) -> usize {
        match self {
            Self::Host => all,
            _ if self.is_of_many() => self.most_of(all),
            _ => PLACES_MAX.min(self.most_of(all)),
        }
    }

    /// All but an eighth of a room, which is there for others.
    #[must_use]
    pub fn most_of(&self, all: usize) -> usize {
        match self {
            Self::Host => all,
            _ => all - all / 8,
        }
    }

    /// The caller's share of a turn of the loop, in requests.
    fn in_turn(&self) -> usize {
        match self {
            _ if self.is_of_many() => usize::MAX,
            Self::Recipient(_) => IN_TURN_MAX,
            _ => IN_TURN_OF_ADDRESS_MAX,
        }
    }
}

/// A queue that serves its parties in turn: first in, first out within a party, and one party after the other.
#[derive(Debug)]
pub struct FairQueue<K, T> {
    parties: HashMap<K, VecDeque<T>>,
    /// The parties with something in the queue, the next one first.
    order: VecDeque<K>,
    len: usize,
}

impl<K, T> Default for FairQueue<K, T> {
    fn default() -> Self {
        Self { parties: HashMap::new(), order: VecDeque::new(), len: 0 }
    }
}

impl<K: Clone + Eq + Hash, T> FairQueue<K, T> {
    /// Number of items of all parties.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of items of a party.
    #[must_use]
    pub fn len_of(&self, party: &K) -> usize {
        self.parties.get(party).map_or(0, VecDeque::len)
    }

    /// Adds an item behind the others of its party.
    pub fn push(&mut self, party: K, item: T) {
        self.len += 1;
        match self.parties.get_mut(&party) {
            Some(items) => items.push_back(item),
            None => {
                self.order.push_back(party.clone());
                self.parties.insert(party, VecDeque::from([item]));
            }
        }
    }

    /// The parties with something in the queue, the next one first.
    pub fn parties(&self) -> impl Iterator<Item = &K> {
        self.order.iter()
    }

    /// Takes the first item of the next party that may have one.
    pub fn pop(&mut self, may: impl Fn(&K) -> bool) -> Option<(K, T)> {
        // A party that may have nothing now is passed over and keeps the place in the order.
        let at = self.order.iter().position(may)?;
        let party = self.order.remove(at)?;
        let items = self.parties.get_mut(&party)?;
        let item = items.pop_front()?;
        self.len -= 1;
        if items.is_empty() {
            self.parties.remove(&party);
        } else {
            // Goes behind all others: one item of each party in turn, however many one has.
            self.order.push_back(party.clone());
        }
        Some((party, item))
    }

    /// Takes the first item of a party that is wanted out of the queue.
    pub fn remove(&mut self, party: &K, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let items = self.parties.get_mut(party)?;
        let at = items.iter().position(is_wanted)?;
        let item = items.remove(at)?;
        self.len -= 1;
        if items.is_empty() {
            self.parties.remove(party);
            self.order.retain(|other| other != party);
        }
        Some(item)
    }
}

/// The requests of each caller that one turn of the loop has taken.
#[derive(Debug, Default)]
pub(crate) struct TurnShares(HashMap<CallerId, usize>);

impl TurnShares {
    /// Returns true if the turn may take another request of the caller.
    pub(crate) fn has_room(&self, caller: &CallerId) -> bool {
        self.0.get(caller).is_none_or(|taken| *taken < caller.in_turn())
    }

    /// Counts a request that was taken.
    pub(crate) fn take(&mut self, caller: CallerId) {
        if !caller.is_of_many() {
            *self.0.entry(caller).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipient(id: &str) -> CallerId {
        CallerId::Recipient(Id::new(id).unwrap())
    }

    #[test]
    fn callers_are_served_in_turn_and_each_in_its_order() {
        let (mut queue, key) = (FairQueue::default(), CallerId::Key("k".into()));
        (0..3).for_each(|item| queue.push(recipient("ana"), item));
        queue.push(key.clone(), 10);
        (3..5).for_each(|item| queue.push(recipient("ana"), item));
        queue.push(key.clone(), 11);
        assert_eq!((queue.len(), queue.len_of(&key), queue.len_of(&CallerId::Host)), (7, 2, 0));
        assert_eq!(queue.remove(&recipient("ana"), |item| *item == 3), Some(3));
        let all: Vec<_> =
            std::iter::from_fn(|| queue.pop(|_| true)).map(|(_, item)| item).collect();
        assert_eq!(all, [0, 10, 1, 11, 2, 4]);
        assert!(queue.is_empty() && queue.order.is_empty() && queue.parties.is_empty());
    }

    #[test]
    fn who_may_not_have_a_turn_is_passed_by_and_keeps_the_place() {
        let mut queue = FairQueue::default();
        queue.push(recipient("ana"), 1);
        queue.push(recipient("ben"), 2);
        let ben = queue.pop(|caller| *caller != recipient("ana"));
        assert_eq!(ben, Some((recipient("ben"), 2)));
        assert_eq!(queue.pop(|caller| *caller != recipient("ana")), None);
        assert_eq!(queue.pop(|_| true), Some((recipient("ana"), 1)));
        queue.push(recipient("ana"), 3);
        assert_eq!(queue.remove(&recipient("ana"), |item| *item == 3), Some(3));
        assert_eq!(queue.pop(|_| true), None);
    }

    #[test]
    fn nobody_but_the_host_has_a_whole_room() {
        let key = CallerId::Key("k".into());
        let far = CallerId::Address([192, 0, 2, 1].into());
        let near = CallerId::Address([127, 0, 0, 1].into());
        for caller in [&key, &near] {
            assert_eq!(caller.places(1_024), 896);
        }
        assert_eq!((far.places(1_024), recipient("ana").places(1_024)), (40, 40));
        assert_eq!((CallerId::Host.places(1_024), recipient("ana").places(16)), (1_024, 14));
        let mut turn = TurnShares::default();
        for caller in [&key, &near, &far, &recipient("ana")] {
            turn.take(caller.clone());
        }
        assert!(turn.has_room(&key) && turn.has_room(&far) && !turn.has_room(&recipient("ana")));
    }
}
