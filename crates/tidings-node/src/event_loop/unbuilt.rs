//! Messages that are not built yet because many of their recipient or their destination wait already.
//!
//! A built message is in memory until it has its outcome. Without a share for each, the messages for a host that
//! hangs would use up the room of a channel, and no message for anybody else would be built. So a recipient or a
//! destination may have as many waiting as a quarter of the room that is left; the rest stays in the store, and only
//! its ids are kept. As the share shrinks with the room, any number of hosts that hang leaves room for the others.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::Id;
use tidings_core::engine::{Engine, TenantDirectory};
use tidings_core::model::{
    CHANNEL_KINDS, ChannelKind, ChannelNo, ClosingId, MessageId, RecipientNo, TenantNo,
};
use tidings_core::rules::LaneName;

use crate::channel::destinations_of;
use crate::delivery::in_flight::InFlight;
use crate::delivery::priority::Priority;
use crate::delivery::senders::{Party, Senders};

/// The most messages of a channel and priority that wait in memory before no more are built.
const WAITING_MAX: usize = 8_192;

/// The messages.
#[derive(Default)]
pub(super) struct UnbuiltMessages {
    by_share: BTreeMap<RoomShare, BTreeSet<MessageId>>,
    by_closing: BTreeMap<ClosingId, BTreeSet<RecipientNo>>,
    count: usize,
}

/// A party's share of the room of a channel and priority.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RoomShare {
    channel: &'static str,
    priority: Priority,
    party: Party,
}

/// The holders of built messages that wait.
#[derive(Clone, Copy)]
pub(super) struct BuiltMessageHolders<'a> {
    pub(super) senders: &'a Senders,
    pub(super) in_flight: &'a InFlight,
}

impl BuiltMessageHolders<'_> {
    /// Number of messages of a lane and tenant that can be built.
    fn room_of(self, lane: &LaneName, tenant: Option<&Id>) -> usize {
        let Some(channel) = CHANNEL_KINDS.get(usize::from(lane.channel)) else {
            return usize::MAX;
        };
        let priority = Priority::of(&lane.name);
        if self.waiting(channel.name, priority) >= WAITING_MAX {
            return 0;
        }
        self.senders.room_of(channel.name, priority, tenant)
    }

    /// Number of messages of a channel and priority that wait.
    fn waiting(self, channel: &str, priority: Priority) -> usize {
        let aside = self.senders.kept_aside_of(channel, priority);
        aside + self.in_flight.waiting_of(channel, priority)
    }

    /// Number of further messages that may come to wait in a share.
    fn room_in(self, share: &RoomShare) -> usize {
        let (channel, party) = (share.channel, &share.party);
        let free = WAITING_MAX.saturating_sub(self.waiting(channel, share.priority));
        let aside = self.senders.kept_aside_for(channel, party);
        let count = aside + self.in_flight.waiting_for(channel, party);
        // Nothing speaks against a party without a message that waits.
        let least = usize::from(count == 0);
        (free / 4).saturating_sub(count).max(least)
    }
}

/// The room for messages, counted down as they are built.
pub(super) struct MessageRooms<'a> {
    built: BuiltMessageHolders<'a>,
    engine: &'a Engine,
    left: BTreeMap<(ChannelNo, Priority, Option<TenantNo>), usize>,
}

impl<'a> MessageRooms<'a> {
    pub(super) fn new(built: BuiltMessageHolders<'a>, engine: &'a Engine) -> Self {
        Self { built, engine, left: BTreeMap::new() }
    }

    /// Number of messages of a closing that can be built, which has this lane.
    pub(super) fn of(&mut self, closing: ClosingId, lane: &LaneName) -> &mut usize {
        let tenant = self.engine.open_closings().tenant_of(closing);
        let key = (lane.channel, Priority::of(&lane.name), tenant);
        let (built, engine) = (self.built, self.engine);
        self.left.entry(key).or_insert_with(|| {
            let tenant = tenant.and_then(|number| TenantDirectory::of(engine).id(number));
            built.room_of(lane, tenant)
        })
    }
}

impl UnbuiltMessages {
    /// Number of messages.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Forgets all messages.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns true if a closing, which has this number of messages to build, has no others.
    pub(super) fn has_all(&self, closing: ClosingId, count: usize) -> bool {
        let numbers = self.by_closing.get(&closing);
        numbers.is_some_and(|numbers| numbers.len() >= count)
    }

    /// Lets the messages be built for which there is room now.
    pub(super) fn release(&mut self, built: BuiltMessageHolders<'_>) {
        let Self { by_share, by_closing, count } = self;
        by_share.retain(|share, messages| {
            for _ in 0..built.room_in(share) {
                let Some(MessageId { closing, number }) = messages.pop_first() else {
                    break;
                };
                *count -= 1;
                if let Some(numbers) = by_closing.get_mut(&closing) {
                    numbers.remove(&number);
                    if numbers.is_empty() {
                        by_closing.remove(&closing);
                    }
                }
            }
            !messages.is_empty()
        });
    }

    /// Returns true if a message of a lane is built now. One for which there is no room is left unbuilt; `looks` bounds
    /// how many are judged.
    pub(super) fn admits(
        &mut self,
        built: BuiltMessageHolders<'_>,
        engine: &Engine,
        lane: &LaneName,
        id: MessageId,
        looks: &mut usize,
    ) -> bool {
        let Some(channel) = CHANNEL_KINDS.get(usize::from(lane.channel)) else {
            return true;
        };
        let priority = Priority::of(&lane.name);
        if self.by_share.is_empty() && built.waiting(channel.name, priority) == 0 {
            return true;
        }
        let unbuilt = self.by_closing.get(&id.closing);
        if unbuilt.is_some_and(|numbers| numbers.contains(&id.number)) {
            return false;
        }
        let Some(left) = looks.checked_sub(1) else {
            return false;
        };
        *looks = left;
        let Some(share) = self.full_share(built, engine, channel, priority, id) else {
            return true;
        };
        self.by_share.entry(share).or_default().insert(id);
        let numbers = self.by_closing.entry(id.closing).or_default();
        numbers.insert(id.number);
        self.count += 1;
        false
    }

    /// The share that has no room for a message: its recipient's, or a destination's where none of them has any.
    fn full_share(
        &self,
        built: BuiltMessageHolders<'_>,
        engine: &Engine,
        channel: &ChannelKind,
        priority: Priority,
        id: MessageId,
    ) -> Option<RoomShare> {
        let recipient = engine.recipient_of(id)?;
        let full = |party: Party| {
            let share = RoomShare { channel: channel.name, priority, party };
            // Those that came before are built first.
            let first = self.by_share.get(&share).and_then(BTreeSet::first);
            let is_full = first.is_some_and(|first| *first < id) || built.room_in(&share) == 0;
            is_full.then_some(share)
        };
        full(Party::Recipient(recipient.id.clone())).or_else(|| {
            let tenant = engine.open_closings().tenant_of(id.closing);
            let addresses = recipient.addresses.taking(channel.number, tenant);
            let full: Option<Vec<RoomShare>> = destinations_of(addresses, channel)
                .into_iter()
                .map(|to| full(Party::Destination(to)))
                .collect();
            full.and_then(|mut full| full.pop())
        })
    }
}
