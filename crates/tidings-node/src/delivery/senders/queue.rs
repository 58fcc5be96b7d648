//! The queue of a channel: messages in the order in which they go, and the gate that they pass.
//!
//! Interactive messages go before digests, those of each tenant in turn ([`Turns`]), and what was tried before goes before
//! what was not, as it is older. A thread takes a message only when it may leave, so an interactive one that comes
//! meanwhile still goes before a digest.
//!
//! A recipient, and the hosts of a domain that recipients name, have a share of the threads, and a destination may be
//! left alone or have a pace. Hosts that have not answered yet have half of the threads together. What may not leave
//! because of one of those is kept aside with it, so that it costs the others nothing, and comes back to the queue, one
//! message after the other, when that one may have a message again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidings_core::{Id, Instant};

use super::QueueSlot;
use super::party::Party;
use super::turns::{Rank, Turns};
use crate::channel::{ActiveChannels, GateId, HandOverPass, MessageHead, RenderingChannel};
use crate::clock::Clock;
use crate::delivery::counts::KeyCounts;
use crate::delivery::priority::Priority;

/// The queue of a channel.
pub(super) struct ChannelQueue {
    channel: String,
    channels: ActiveChannels,
    clock: Arc<dyn Clock>,
    shares: PartyLimits,
    waiting: Mutex<Messages>,
    changed: Condvar,
    /// Number of messages with a guard, by priority.
    guards: [AtomicUsize; 2],
    /// Number of messages that are kept aside, by priority.
    kept_aside: [AtomicUsize; 2],
}

/// Maximum numbers of messages that are handed over at once, so that a silent party does not hold up the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartyLimits {
    /// To one recipient.
    pub(super) recipient: usize,
    /// To the hosts of one domain; `None` = the channel's provider takes messages for all destinations.
    pub(super) destination: Option<usize>,
}

impl PartyLimits {
    /// The share of a party.
    fn of(self, party: &Party) -> usize {
        let of_domain = self.destination.unwrap_or(usize::MAX);
        match party {
            Party::Recipient(_) => self.recipient,
            Party::Destination(_) | Party::Domain(_) => of_domain,
            Party::Untried(_) => 1,
        }
    }
}

#[derive(Default)]
struct Messages {
    queued: BTreeMap<Rank, QueuedMessage>,
    /// Messages that may leave, as far as is known.
    ready: Turns,
    /// Messages that are kept aside, by the party that they wait for.
    aside: BTreeMap<Party, PartyBacklog>,
    /// The instants at which a party may get a message again.
    until: BTreeSet<(Instant, Party)>,
    /// Number of messages that are being handed over.
    busy: KeyCounts<Party>,
    /// Number of messages that are kept aside, by recipient or by destination.
    counts: KeyCounts<Party>,
    next: u64,
    is_over: bool,
    /// The gate that the messages were checked against: a reload creates another one, at which everything is available.
    gate: GateId,
}

/// The messages that wait for a party.
#[derive(Default)]
struct PartyBacklog {
    ranks: BTreeSet<Rank>,
    /// The instant from which to ask again, if one is known.
    until: Option<Instant>,
    /// True once they have waited for a destination that was left alone.
    was_left_alone: bool,
    /// Number of messages that have come back since.
    returned: u32,
}

impl PartyBacklog {
    /// The message that comes back next. What a destination has refused must not keep from it what it would take: as long as
    /// it is left alone the newest that was not tried comes first, as it may have refused all of a time. From then on the
    /// newest, the oldest and one that was tried come in turn.
    fn next(&self, is_left_alone: bool) -> Option<Rank> {
        let first = self.ranks.first().copied();
        let turn = if is_left_alone { 0 } else { self.returned % 3 };
        if !self.was_left_alone || turn == 2 {
            return first;
        }
        let both = [Priority::Interactive, Priority::Bulk];
        both.into_iter().find_map(|priority| self.untried(priority, turn == 0)).or(first)
    }

    /// The newest or the oldest message of a priority that was not tried.
    fn untried(&self, priority: Priority, newest: bool) -> Option<Rank> {
        let rank = |number| Rank { priority, is_new: true, number };
        let mut all = self.ranks.range(rank(0)..=rank(u64::MAX)).copied();
        if newest { all.next_back() } else { all.next() }
    }

    fn has_untried(&self) -> bool {
        let both = [Priority::Interactive, Priority::Bulk];
        both.into_iter().any(|priority| self.untried(priority, false).is_some())
    }
}

struct QueuedMessage {
    slot: QueueSlot,
    tenant: Option<Id>,
    recipient: Option<Id>,
    destinations: Vec<Arc<str>>,
    /// The party for which it waits, or waited last.
    waits_for: Option<Party>,
}

/// The reason why a message may not leave.
struct SendObstacle {
    party: Party,
    /// The instant from which to ask again; `None` = once a message of the party has been handed over.
    until: Option<Instant>,
    /// True if the party is a destination that is left alone.
    is_left_alone: bool,
}

impl SendObstacle {
    /// A share that is used up.
    fn share(party: Party) -> Self {
        Self { party, until: None, is_left_alone: false }
    }
}

impl QueuedMessage {
    /// The parties that count a waiting message: each destination, if it waits for a group of them.
    fn counted_by(&self, party: &Party) -> Vec<Party> {
        match party {
            Party::Recipient(_) | Party::Destination(_) => vec![party.clone()],
            Party::Domain(_) | Party::Untried(_) => {
                self.destinations.iter().cloned().map(Party::Destination).collect()
            }
        }
    }
}

/// The destination at which a message that was tried before gives way to those that were not: it was left alone, and they
/// wait for it. What has come back from there has its turn.
fn giving_way(messages: &Messages, rank: Rank, queued: &QueuedMessage) -> Option<Party> {
    if rank.is_new || queued.waits_for.is_some() {
        return None;
    }
    let mut parties = queued.destinations.iter().cloned().map(Party::Destination);
    parties.find(|party| {
        let aside = messages.aside.get(party);
        aside.is_some_and(|aside| aside.was_left_alone && aside.has_untried())
    })
}

/// A message that leaves the queue. Pass it to [`ChannelQueue::end_of`] once it was handed over, or was not.
pub(super) struct DequeuedMessage {
    pub(super) slot: QueueSlot,
    /// Its leave; `None` = its channel has no provider.
    pub(super) pass: Option<HandOverPass>,
    pub(super) parties: MessageParties,
}

/// Those of whose shares a message has a part.
pub(super) struct MessageParties(BTreeSet<Party>);

/// The next step of a thread.
enum SenderTurn {
    Take(Rank, Option<RenderingChannel>),
    /// Nothing may leave before that instant.
    WaitUntil(Instant),
    /// There is nothing to send.
    Rest,
}

impl ChannelQueue {
    pub(super) fn new(
        channel: &str,
        channels: ActiveChannels,
        clock: Arc<dyn Clock>,
        shares: PartyLimits,
    ) -> Self {
        Self {
            channel: channel.to_owned(),
            channels,
            clock,
            shares,
            waiting: Mutex::default(),
            changed: Condvar::new(),
            guards: [const { AtomicUsize::new(0) }; 2],
            kept_aside: [const { AtomicUsize::new(0) }; 2],
        }
    }

    /// Adds a message: a new one, or one that was tried before. It counts until [`ChannelQueue::give_back`].
    pub(super) fn put(
        &self,
        slot: QueueSlot,
        head: &MessageHead,
        priority: Priority,
        is_new: bool,
    ) -> Rank {
        self.guards[priority as usize].fetch_add(1, Ordering::Relaxed);
        let mut messages = self.messages();
        let rank = Rank { priority, is_new, number: messages.next };
        messages.next += 1;
        let queued = QueuedMessage {
            slot,
            tenant: head.tenant.clone(),
            recipient: head.recipient.clone(),
            destinations: head.destinations.clone(),
            waits_for: None,
        };
        messages.queued.insert(rank, queued);
        messages.ready.insert(head.tenant.clone(), rank);
        drop(messages);
        // All of them, as some take no digests.
        self.changed.notify_all();
        rank
    }

    /// Removes a message, if no thread has it.
    pub(super) fn remove(&self, rank: Rank) {
        let mut messages = self.messages();
        let Some(queued) = messages.queued.get(&rank) else {
            return;
        };
        let (waits_for, tenant) = (queued.waits_for.clone(), queued.tenant.clone());
        let was_ready = messages.ready.remove(tenant.as_ref(), rank);
        match waits_for {
            // The next one that waits for the same has its turn.
            Some(party) if was_ready => self.call_back(&mut messages, &party),
            Some(party) => self.take_from(&mut messages, &party, rank),
            None => {}
        }
        messages.queued.remove(&rank);
        drop(messages);
        self.changed.notify_all();
    }

    /// Waits for a message that may leave, and takes it; `None` once the queue is over.
    pub(super) fn take(&self, interactive_only: bool) -> Option<DequeuedMessage> {
        let mut messages = self.messages();
        loop {
            if messages.is_over {
                return None;
            }
            let now = self.clock.now();
            messages = match self.turn(&mut messages, interactive_only, now) {
                SenderTurn::Take(rank, outlet) => return self.leave(messages, rank, outlet, now),
                SenderTurn::Rest => {
                    self.changed.wait(messages).unwrap_or_else(PoisonError::into_inner)
                }
                SenderTurn::WaitUntil(until) => {
                    let ms = until.0.saturating_sub(now.0).max(1).unsigned_abs();
                    let waited = self.changed.wait_timeout(messages, Duration::from_millis(ms));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Has everybody who waits look again: the clock was put back.
    pub(super) fn wake(&self) {
        drop(self.messages());
        self.changed.notify_all();
    }

    /// Takes the next message that may leave now.
    pub(super) fn take_now(&self) -> Option<DequeuedMessage> {
        let mut messages = self.messages();
        let now = self.clock.now();
        match self.turn(&mut messages, false, now) {
            SenderTurn::Take(rank, outlet) => self.leave(messages, rank, outlet, now),
            SenderTurn::WaitUntil(_) | SenderTurn::Rest => None,
        }
    }

    /// Gives back the shares of a message that left the queue.
    pub(super) fn end_of(&self, parties: MessageParties) {
        let mut messages = self.messages();
        for party in parties.0 {
            messages.busy.take(&party);
            self.call_back(&mut messages, &party);
        }
        drop(messages);
        self.changed.notify_all();
    }

    /// Counts a guard less.
    pub(super) fn give_back(&self, rank: Rank) {
        self.guards[rank.priority as usize].fetch_sub(1, Ordering::Relaxed);
    }

    /// Number of messages of a priority with a guard.
    pub(super) fn guards(&self, priority: Priority) -> usize {
        self.guards[priority as usize].load(Ordering::Relaxed)
    }

    /// Number of messages of a tenant and priority that may leave, as far as is known.
    pub(super) fn ready_of(&self, tenant: Option<&Id>, priority: Priority) -> usize {
        self.messages().ready.len_of(tenant, priority)
    }

    /// Number of messages of a priority that are kept aside.
    pub(super) fn kept_aside(&self, priority: Priority) -> usize {
        self.kept_aside[priority as usize].load(Ordering::Relaxed)
    }

    /// Number of messages that are kept aside and wait for a recipient, or for a destination or its group.
    pub(super) fn kept_aside_for(&self, party: &Party) -> usize {
        self.messages().counts.of(party)
    }

    fn turn(&self, messages: &mut Messages, interactive_only: bool, now: Instant) -> SenderTurn {
        // Without a provider a message leaves, to be told that.
        let outlet = self.channels.outlet(&self.channel);
        self.follow(messages, outlet.as_ref());
        while let Some((until, _)) = messages.until.first()
            && *until <= now
        {
            if let Some((_, party)) = messages.until.pop_first() {
                if let Some(aside) = messages.aside.get_mut(&party) {
                    aside.until = None;
                }
                self.call_back(messages, &party);
            }
        }
        while let Some(rank) = messages.ready.first(interactive_only) {
            let Some(outlet) = &outlet else {
                return SenderTurn::Take(rank, None);
            };
            let open = outlet.gate().is_open(now);
            if let Err(until) = open {
                // All providers are away, or the rate of the channel is used up: messages stay queued,
                // without an attempt or a record.
                return SenderTurn::WaitUntil(until);
            }
            match self.obstacle(messages, rank, outlet, now) {
                None => return SenderTurn::Take(rank, Some(outlet.clone())),
                Some(obstacle) => {
                    let gives_way = obstacle.until.is_none() && obstacle.is_left_alone;
                    let party = obstacle.party.clone();
                    self.keep_aside(messages, rank, obstacle);
                    if gives_way {
                        self.call_back(messages, &party);
                    }
                }
            }
        }
        match messages.until.first() {
            Some((until, _)) => SenderTurn::WaitUntil(*until),
            None => SenderTurn::Rest,
        }
    }

    /// Checks messages that are kept aside again after a reload.
    fn follow(&self, messages: &mut Messages, outlet: Option<&RenderingChannel>) {
        let gate = outlet.map(RenderingChannel::gate_id).unwrap_or_default();
        if messages.gate != gate {
            messages.gate = gate;
            let parties: Vec<Party> = messages.aside.keys().cloned().collect();
            for party in parties {
                self.call_back(messages, &party);
            }
        }
    }

    /// The reason why a message may not leave: a share that is used up, or a destination that is away or has its pace.
    /// One that has several destinations goes to those that are not away.
    fn obstacle(
        &self,
        messages: &Messages,
        rank: Rank,
        outlet: &RenderingChannel,
        now: Instant,
    ) -> Option<SendObstacle> {
        let queued = messages.queued.get(&rank)?;
        if let Some(party) = giving_way(messages, rank, queued) {
            return Some(SendObstacle { party, until: None, is_left_alone: true });
        }
        let is_used_up = |party: &Party| messages.busy.of(party) >= self.shares.of(party);
        let recipient = queued.recipient.clone().map(Party::Recipient);
        if let Some(party) = recipient.filter(is_used_up) {
            return Some(SendObstacle::share(party));
        }
        let mut first: Option<SendObstacle> = None;
        let mut is_open = queued.destinations.is_empty();
        for destination in &queued.destinations {
            let open = outlet.gate().is_open_for(destination, now);
            match open {
                Ok(()) => {
                    let group = self.group_of(destination, outlet);
                    if let Some(party) = group.filter(is_used_up) {
                        return Some(SendObstacle::share(party));
                    }
                    is_open = true;
                }
                Err(until) => {
                    let until = Some(until);
                    let party = Party::Destination(Arc::clone(destination));
                    if first.as_ref().is_none_or(|first| until < first.until) {
                        let is_left_alone = outlet.gate().is_left_alone(destination);
                        first = Some(SendObstacle { party, until, is_left_alone });
                    }
                }
            }
        }
        first.filter(|_| !is_open)
    }

    /// The group in which a destination has a share, if it has any.
    fn group_of(&self, destination: &str, outlet: &RenderingChannel) -> Option<Party> {
        // The share of a domain is a quarter of the threads, and half of them are for those that have answered.
        let untried = self.shares.destination? * 2;
        let has_answered = outlet.gate().has_answered(destination);
        Some(Party::group_of(destination, has_answered, untried))
    }

    /// The parties whose shares a message uses.
    fn parties(
        &self,
        queued: &QueuedMessage,
        outlet: Option<&RenderingChannel>,
        now: Instant,
    ) -> BTreeSet<Party> {
        let parties = Party::of(queued.recipient.as_ref(), &queued.destinations);
        let outlet = outlet.filter(|_| self.shares.destination.is_some());
        let groups = outlet.into_iter().flat_map(|outlet| {
            let open =
                queued.destinations.iter().filter(|to| outlet.gate().is_open_for(to, now).is_ok());
            open.filter_map(|to| self.group_of(to, outlet))
        });
        parties.chain(groups).collect()
    }

    fn keep_aside(&self, messages: &mut Messages, rank: Rank, obstacle: SendObstacle) {
        let SendObstacle { party, until, is_left_alone } = obstacle;
        let Some(queued) = messages.queued.get_mut(&rank) else {
            return;
        };
        let before = queued.waits_for.replace(party.clone());
        for counted in queued.counted_by(&party) {
            messages.counts.add(counted);
        }
        messages.ready.remove(queued.tenant.as_ref(), rank);
        let aside = messages.aside.entry(party.clone()).or_default();
        aside.ranks.insert(rank);
        aside.was_left_alone |= is_left_alone;
        if let Some(until) = until {
            if let Some(old_until) = aside.until.replace(until) {
                messages.until.remove(&(old_until, party.clone()));
            }
            messages.until.insert((until, party.clone()));
        }
        self.kept_aside[rank.priority as usize].fetch_add(1, Ordering::Relaxed);
        // It came back for another one, who may still have a message.
        if let Some(before) = before.filter(|before| *before != party) {
            self.call_back(messages, &before);
        }
    }

    /// Returns the next message that waits for a party to the queue, where it is checked again.
    fn call_back(&self, messages: &mut Messages, party: &Party) {
        let Some(aside) = messages.aside.get_mut(party) else {
            return;
        };
        let is_left_alone = aside.was_left_alone && self.is_left_alone(party);
        let Some(rank) = aside.next(is_left_alone) else {
            return;
        };
        aside.returned = aside.returned.wrapping_add(1);
        self.take_from(messages, party, rank);
        let tenant = messages.queued.get(&rank).and_then(|queued| queued.tenant.clone());
        messages.ready.insert(tenant, rank);
    }

    /// Returns true if a party is a destination that is left alone.
    fn is_left_alone(&self, party: &Party) -> bool {
        let Party::Destination(name) = party else {
            return false;
        };
        let outlet = self.channels.outlet(&self.channel);
        outlet.is_some_and(|outlet| outlet.gate().is_left_alone(name))
    }

    /// Takes one of the messages that wait for a party.
    fn take_from(&self, messages: &mut Messages, party: &Party, rank: Rank) {
        let Some(aside) = messages.aside.get_mut(party) else {
            return;
        };
        if aside.ranks.remove(&rank) {
            self.kept_aside[rank.priority as usize].fetch_sub(1, Ordering::Relaxed);
            let counted = messages.queued.get(&rank).map(|queued| queued.counted_by(party));
            for counted in counted.into_iter().flatten() {
                messages.counts.take(&counted);
            }
        }
        if aside.ranks.is_empty() {
            let until = messages.aside.remove(party).and_then(|aside| aside.until);
            if let Some(until) = until {
                messages.until.remove(&(until, party.clone()));
            }
        }
    }

    /// Takes a message out of the queue.
    fn leave(
        &self,
        mut messages: MutexGuard<'_, Messages>,
        rank: Rank,
        outlet: Option<RenderingChannel>,
        now: Instant,
    ) -> Option<DequeuedMessage> {
        let queued = messages.queued.remove(&rank)?;
        messages.ready.remove(queued.tenant.as_ref(), rank);
        messages.ready.end_turn(queued.tenant.as_ref(), rank.priority);
        let parties = self.parties(&queued, outlet.as_ref(), now);
        for party in &parties {
            messages.busy.add(party.clone());
        }
        // A party may have room for more than one, and a host may have changed its group since the message waited.
        let waited_for = queued.waits_for.iter();
        for party in parties.iter().chain(waited_for) {
            self.call_back(&mut messages, party);
        }
        let QueuedMessage { slot, destinations, .. } = queued;
        let pass = outlet.map(|outlet| {
            outlet.gate().pass(&destinations, now);
            outlet.pass(&destinations, now)
        });
        drop(messages);
        // Other threads may take what was called back.
        self.changed.notify_all();
        Some(DequeuedMessage { slot, pass, parties: MessageParties(parties) })
    }

    /// Ends the queue.
    pub(super) fn end(&self) {
        self.messages().is_over = true;
        self.changed.notify_all();
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
