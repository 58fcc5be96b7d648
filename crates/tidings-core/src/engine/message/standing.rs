//! Messages as they stand: waiting, on their way, or how they ended.

use crate::bucket::{Bucket, Closing};
use crate::engine::message::message_row::MessageRow;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::ClosingEndings;
use crate::engine::shard::state::Shard;
use crate::journal::stored::Unreadable;
use crate::model::messages::{MessageName, MessageState};
use crate::model::number::MessageId;
use crate::model::reason::{Ending, Reason};
use crate::model::time::{Day, Instant};

/// The state of a message, and how it came to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageStanding {
    pub(crate) state: MessageState,
    /// The reason why it was not handed over.
    pub(crate) reason: Option<Reason>,
    /// The instant of its outcome.
    pub(crate) at: Option<Instant>,
    pub(super) ending: Option<Ending>,
}

impl MessageStanding {
    fn of(state: MessageState) -> Self {
        Self { state, reason: None, at: None, ending: None }
    }

    pub(crate) fn ended(at: Instant, ending: Ending) -> Self {
        let state = MessageState::after(ending);
        Self { state, reason: ending.reason(), at: Some(at), ending: Some(ending) }
    }

    /// The state of a message that waits or is on its way, if it does.
    pub(crate) fn open(bucket: &Bucket, MessageId { closing, number }: MessageId) -> Option<Self> {
        let open = bucket.closings.get(&closing.seq)?;
        if open.unmade.get(&number.0).is_some() {
            return Some(Self::of(MessageState::Planned));
        }
        let has_failed = open.tried.get(&number.0).is_some_and(|tried| tried.count > 0);
        let state = if has_failed { MessageState::Retrying } else { MessageState::Sending };
        open.sending.contains(number.0).then_some(Self::of(state))
    }

    /// The state of a built message that is not on its way, by its newest ending.
    pub(crate) fn closed(row: &MessageRow, ending: Option<(Instant, Ending)>) -> Self {
        if let Some((reason, at_check)) = row.why_nothing() {
            let state = if at_check { MessageState::Suppressed } else { MessageState::Cancelled };
            return Self { reason: Some(reason), ..Self::of(state) };
        }
        match ending {
            Some((at, ending)) => Self::ended(at, ending),
            // It ended within the step that asks.
            None => Self::of(MessageState::Sending),
        }
    }
}

/// A message that is known.
pub(crate) struct KnownMessage {
    pub(crate) standing: MessageStanding,
    /// The day on which it was built, and its row.
    pub(crate) row: Option<(Day, MessageRow)>,
}

impl KnownMessage {
    /// A message as a shard has it; `None` = there is none of this name. `endings` are those of the closing that was
    /// looked at last: changes of many messages come closing by closing.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn find(
        shard: &Shard,
        draft: &Draft<'_>,
        name: MessageName,
        endings: &mut ClosingEndings,
    ) -> Result<Option<Self>, Unreadable> {
        let Some(bucket) = shard.buckets.get(name.id.closing.bucket) else {
            return Ok(None);
        };
        let closing = name.id.closing.seq;
        let is_other_day = |open: &Closing| open.at.day() != name.due;
        if bucket.closings.get(&closing).is_some_and(|open| is_other_day(open)) {
            return Ok(None);
        }
        let open = MessageStanding::open(bucket, name.id);
        let row = shard.messages(draft).message_row(name.id, name.due)?;
        let row = row.filter(|(_, row)| row.at.day() == name.due);
        let standing = match (open, &row) {
            (Some(open), _) => open,
            (None, None) => return Ok(None),
            (None, Some((day, row))) => {
                let days = shard.journal_days.range(*day..).copied();
                endings.update(draft.view, name.id.closing, days)?;
                MessageStanding::closed(row, endings.get(name.id.number))
            }
        };
        Ok(Some(Self { standing, row }))
    }
}
