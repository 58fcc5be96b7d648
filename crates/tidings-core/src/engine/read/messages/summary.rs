//! A message as a line of a list.

use crate::bucket::Bucket;
use crate::engine::message::message_row::MessageRow;
use crate::engine::message::standing::MessageStanding;
use crate::engine::read::list::{NewestFirst, Positioned};
use crate::engine::read::reader::Reader;
use crate::engine::shard::state::Shard;
use crate::journal::record::Attempts;
use crate::model::batch_key::BatchKey;
use crate::model::id::Id;
use crate::model::messages::{MessageName, MessageState};
use crate::model::number::MessageId;
use crate::model::reason::Reason;
use crate::model::time::{Day, Instant};

/// A message in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSummary {
    /// Its name.
    pub name: MessageName,
    /// The recipient; `None` = was erased.
    pub recipient: Option<Id>,
    /// The channel.
    pub channel: &'static str,
    /// The lane's name.
    pub lane: String,
    /// The lane's batch key.
    pub key: BatchKey,
    /// The tenant of its entries; `None` = they are of none.
    pub tenant: Option<Id>,
    /// Its state.
    pub state: MessageState,
    /// The reason why it was not handed over.
    pub reason: Option<Reason>,
    /// The instant at which its lane was due.
    pub due: Instant,
    /// The instant at which it was built.
    pub built: Option<Instant>,
    /// The instant of its outcome.
    pub ended: Option<Instant>,
    /// Number of its entries; `None` = it is not built.
    pub entries: Option<usize>,
    /// The failed attempts of one that waits for the next.
    pub tried: Option<Attempts>,
}

impl Positioned for MessageSummary {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        position(self.due, self.name)
    }
}

/// The position of a message in a list.
pub(super) fn position(at: Instant, name: MessageName) -> NewestFirst {
    let id = Id::new(&name.to_string()).expect("a message's name is an id");
    NewestFirst { at, id }
}

impl MessageSummary {
    /// A message as it stands; `None` = it is neither open nor built.
    pub(in crate::engine::read) fn of(
        Reader { engine, .. }: Reader<'_>,
        shard: &Shard,
        bucket: &Bucket,
        id: MessageId,
        standing: MessageStanding,
        row: Option<&(Day, MessageRow)>,
    ) -> Option<Self> {
        let open = bucket.closings.get(&id.closing.seq);
        let row = row.map(|(_, row)| row);
        let (lane, due) = row
            .map(|row| (&row.lane, row.at))
            .or_else(|| open.map(|open| (&open.lane, open.at)))?;
        let lane_name = shard.compiled.names.lane(lane.lane);
        let tried = open.and_then(|open| open.tried.get(&id.number.0)).copied();
        let profile = bucket.roster.profile(id.number);
        Some(Self {
            name: MessageName { due: due.day(), id },
            recipient: profile.map(|profile| profile.id.clone()),
            channel: lane_name.channel.name(),
            lane: lane_name.name.clone(),
            key: lane.key.clone(),
            tenant: engine.intake.tenants.id(lane.tenant).cloned(),
            state: standing.state,
            reason: standing.reason,
            due,
            built: row.map(MessageRow::built),
            ended: standing.at,
            entries: row.map(MessageRow::len),
            tried: tried.filter(|tried| tried.count > 0),
        })
    }
}
