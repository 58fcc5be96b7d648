//! The messages that a list is to have: a filter, and the same with the numbers of what it names.

use super::of_event::EventEntries;
use crate::engine::jobs::job::JobRow;
use crate::engine::message::standing::MessageStanding;
use crate::engine::read::reader::Reader;
use crate::journal::stored::Unreadable;
use crate::model::channel::ChannelNo;
use crate::model::id::Id;
use crate::model::messages::MessageState;
use crate::model::messages::jobs::JobNo;
use crate::model::number::{RecipientAt, TypeNo};
use crate::model::reason::Reason;
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;

/// The states of messages that were not handed over.
pub(super) const UNSENT: [MessageState; 4] = [
    MessageState::Failed,
    MessageState::Unknown,
    MessageState::Suppressed,
    MessageState::Cancelled,
];

/// A choice among messages; what is absent leaves all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// Only those to this recipient.
    pub recipient: Option<Id>,
    /// Only those with an entry of this event, told or left out.
    pub event: Option<Id>,
    /// Only those on this channel.
    pub channel: Option<ChannelNo>,
    /// Only those of which this provider answered the last attempt.
    pub provider: Option<String>,
    /// Only those with an entry of one of these types, told or left out; none = of any.
    pub types: Vec<Id>,
    /// Only those of this tenant.
    pub tenant: Option<Id>,
    /// Only those in one of these states; none = in any.
    pub states: Vec<MessageState>,
    /// Only those that were not handed over for this reason.
    pub reason: Option<Reason>,
    /// Only those of this job.
    pub job: Option<JobNo>,
    /// Only those that were due at this instant or later.
    pub from: Option<Instant>,
    /// Only those that were due before this instant.
    pub to: Option<Instant>,
}

/// A filter as the engine knows what it names.
pub(super) struct Wanted<'a> {
    pub(super) filter: &'a MessageFilter,
    pub(super) whose: Option<RecipientAt>,
    pub(super) event: Option<EventEntries>,
    pub(super) job: Option<(JobNo, &'a JobRow)>,
    pub(super) channel: Option<ChannelNo>,
    pub(super) types: Vec<TypeNo>,
    pub(super) tenant: Option<TenantNo>,
    /// The states that the filter and its reason leave.
    pub(super) states: Vec<MessageState>,
}

impl<'a> Wanted<'a> {
    /// A filter with the numbers of what it names; `None` = it names something that is not there.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(super) fn of(
        reader: Reader<'a>,
        filter: &'a MessageFilter,
    ) -> Result<Option<Self>, Unreadable> {
        let engine = reader.engine;
        let whose = filter.recipient.as_ref().map(|id| engine.find(id)).transpose();
        let tenants = &engine.intake.tenants;
        let tenant = filter.tenant.as_ref().map(|id| tenants.number(id)).transpose();
        let names = &engine.intake.compiled.names;
        let types: Vec<TypeNo> =
            filter.types.iter().filter_map(|of| names.type_no(of.as_str())).collect();
        let (Ok(whose), Ok(tenant)) = (whose, tenant) else {
            return Ok(None);
        };
        if types.is_empty() && !filter.types.is_empty() {
            return Ok(None);
        }
        let channel = filter.channel;
        let event = match &filter.event {
            None => None,
            Some(event) => match EventEntries::of(reader, event, channel)? {
                None => return Ok(None),
                some => some,
            },
        };
        let all = if filter.reason.is_some() { &UNSENT[..] } else { &MessageState::ALL[..] };
        let states = all.iter().copied();
        let states = states.filter(|of| filter.states.is_empty() || filter.states.contains(of));
        let states: Vec<MessageState> = states.collect();
        let job = match filter.job.map(|no| (no, engine.intake.jobs.get(&no))) {
            None => None,
            Some((_, None)) => return Ok(None),
            Some((no, Some(job))) => Some((no, &**job)),
        };
        let found = Self { filter, whose, event, job, channel, types, tenant, states };
        Ok(Some(found).filter(|found| !found.states.is_empty()))
    }

    pub(super) fn takes(&self, standing: MessageStanding) -> bool {
        self.states.contains(&standing.state)
            && self.filter.reason.is_none_or(|reason| standing.reason == Some(reason))
    }

    pub(super) fn is_of_all_states(&self) -> bool {
        self.states.len() == MessageState::ALL.len()
    }

    /// Its states that are among some.
    pub(super) fn states_of(&self, some: &[MessageState]) -> Vec<MessageState> {
        self.states.iter().copied().filter(|state| some.contains(state)).collect()
    }
}
