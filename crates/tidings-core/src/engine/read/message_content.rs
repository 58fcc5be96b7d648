//! The content of a message, built again from its stored entries with objects, profiles and texts as they are now.

use crate::bucket::Bucket;
use crate::content::batch::Batch;
use crate::engine::message::attempt_row::{TriedContent, tried_content};
use crate::engine::message::message_row::MessageRow;
use crate::engine::message::present::Presenter;
use crate::engine::message::standing::KnownMessage;
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::ClosingEndings;
use crate::journal::stored::Unreadable;
use crate::model::messages::MessageName;
use crate::model::number::MessageId;

/// A message that is built again.
#[derive(Clone, Debug, PartialEq)]
pub struct BuiltMessage {
    /// Its channel.
    pub channel: &'static str,
    /// Its content.
    pub content: BuiltContent,
    /// The content with which a provider was asked; `None` = none was asked yet, or an older version asked it.
    pub tried: Option<TriedContent>,
}

/// The content of a message that is built again.
#[derive(Clone, Debug, PartialEq)]
pub enum BuiltContent {
    /// The entries that are still known.
    Batch(Box<Batch>),
    /// Nothing: the checks before sending left no entry, or all were taken out of it.
    Empty,
    /// It can't be built any more, for this reason.
    Gone(&'static str),
}

impl Reader<'_> {
    /// A message, built again as of now; `None` = it is unknown. One that is not built yet gets the content that it
    /// would get now.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn built_again(&self, name: MessageName) -> Result<Option<BuiltMessage>, Unreadable> {
        let Reader { engine, view } = *self;
        let MessageId { closing, .. } = name.id;
        let Some(bucket) = engine.shards.held_bucket(closing.bucket) else {
            return Ok(None);
        };
        let shard = &engine.shards[engine.shards.index_of(closing.bucket)];
        let mut endings = ClosingEndings::default();
        let Some(KnownMessage { row, .. }) =
            KnownMessage::find(shard, &Draft::new(view), name, &mut endings)?
        else {
            return Ok(None);
        };
        let open = bucket.closings.get(&closing.seq).map(|open| &open.lane);
        let Some(lane) = row.as_ref().map(|(_, row)| &row.lane).or(open) else {
            return Ok(None);
        };
        let channel = engine.intake.compiled.names.lane(lane.lane).channel.name();
        let content = match &row {
            Some((_, row)) => BuiltContent::of_row(*self, bucket, name, row)?,
            None => BuiltContent::of_unmade(*self, name)?,
        };
        let tried = tried_content(view, name.id, shard.journal_days.range(name.due..))?;
        Ok(Some(BuiltMessage { channel, content, tried }))
    }
}

impl BuiltContent {
    /// The content of a message with a row.
    fn of_row(
        Reader { engine, view }: Reader<'_>,
        bucket: &Bucket,
        name: MessageName,
        row: &MessageRow,
    ) -> Result<Self, Unreadable> {
        if row.len() == 0 {
            return Ok(Self::Empty);
        }
        if bucket.roster.profile(name.id.number).is_none() {
            return Ok(Self::Gone("its recipient was erased"));
        }
        let tenants = &engine.intake.tenants;
        if row.lane.tenant.is_some_and(|tenant| tenants.get(tenant).is_none()) {
            return Ok(Self::Gone("its tenant was deleted"));
        }
        let built = Presenter::built(engine, view, name.id, name.due)?;
        Ok(match built {
            Some((batch, _)) => Self::Batch(Box::new(batch)),
            None => Self::Gone("the days of its entries were deleted"),
        })
    }

    /// The content that a message would get now.
    fn of_unmade(
        Reader { engine, view }: Reader<'_>,
        name: MessageName,
    ) -> Result<Self, Unreadable> {
        let planner = engine.planner(view);
        let plan = planner.plan_wanted(name.id.closing, 1, &mut |id| id == name.id)?;
        let Some((plan, planned)) =
            plan.as_ref().and_then(|plan| Some((plan, plan.messages.first()?)))
        else {
            return Ok(Self::Empty);
        };
        let batch = Presenter::new(engine, view).batch(plan, planned)?;
        Ok(batch.map_or(Self::Empty, |batch| Self::Batch(Box::new(batch))))
    }
}
