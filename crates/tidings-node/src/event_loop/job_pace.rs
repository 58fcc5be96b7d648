//! The pace of jobs that have many messages sent: they wait while enough of these are on their way, so that what comes
//! due meanwhile never waits behind more than that, however slow a provider is.

use std::collections::BTreeSet;

use tidings_core::Instant;
use tidings_core::engine::{GoingMessage, JobSlice, OpenJobs, UpcomingStep};

use crate::delivery::in_flight::InFlight;
use crate::delivery::send_job::JobId;
use crate::delivery::sending::SenderInterface;
use crate::error::Error;
use crate::node::Node;

/// The most messages of jobs on their way: of a tenth of a second.
const ON_THEIR_WAY: usize = 100;

/// The wait before the next look, if there are as many.
const AGAIN_MS: i64 = 50;

/// The time from one look for jobs that are at their end to the next.
const ENDS_EVERY_MS: i64 = 1_000;

/// The messages that jobs have sent.
#[derive(Default)]
pub(super) struct JobPace {
    sent: BTreeSet<JobId>,
    /// The instant before which no further ones go.
    held_until: Option<Instant>,
    /// The instant before which jobs are not looked at for their end.
    looks_from: Option<Instant>,
}

impl JobPace {
    /// Notes the messages that a step has sent.
    pub(super) fn note(&mut self, going: &[GoingMessage]) {
        let by_jobs = going.iter().filter(|going| going.by_job);
        self.sent.extend(by_jobs.map(|going| JobId::Message(going.message)));
    }

    /// Returns true if further ones may go now.
    pub(super) fn has_room(&mut self, in_flight: &InFlight, now: Instant) -> bool {
        self.sent.retain(|id| in_flight.is_going(id));
        let has_room = self.sent.len() < ON_THEIR_WAY;
        self.held_until = (!has_room).then(|| now.plus_ms(AGAIN_MS));
        has_room
    }

    /// The instant of the next look at the jobs of a node, for their messages or for their end.
    pub(super) fn next(&self, jobs: OpenJobs<'_>) -> Option<Instant> {
        let slice = jobs.next_slice().map(|due| due.max(self.held_until.unwrap_or(due)));
        let end = jobs.first_unended().map(|begins| begins.max(self.looks_from.unwrap_or(begins)));
        slice.into_iter().chain(end).min()
    }

    /// Notes the jobs that are at their end.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(super) fn note_ends(&mut self, node: &mut Node, now: Instant) -> Result<(), Error> {
        let jobs = OpenJobs::of(node.engine());
        let is_early = self.looks_from.is_some_and(|from| from > now);
        if is_early || jobs.first_unended().is_none_or(|begins| begins > now) {
            return Ok(());
        }
        self.looks_from = Some(now.plus_ms(ENDS_EVERY_MS));
        let ends = jobs.at_end(&node.view()?)?;
        if ends.is_empty() {
            return Ok(());
        }
        node.commit(|engine, view| Ok(ends.note(engine, view, now)?)).map(drop)
    }

    /// Acts on the messages of jobs that are due; `sends` = also of jobs that have messages sent.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then: drop it and open another.
    pub(super) fn act(
        node: &mut Node,
        sending: &dyn SenderInterface,
        now: Instant,
        sends: bool,
    ) -> Result<(), Error> {
        let jobs = OpenJobs::of(node.engine());
        if jobs.next_slice().is_none_or(|due| due > now) {
            return Ok(());
        }
        let slices = jobs.slices(&node.view()?, now, sends)?;
        if slices.is_empty() {
            return Ok(());
        }
        let acted = node.commit(|engine, view| {
            let reach = sending.keep_back(engine.may_touch(view, UpcomingStep::Jobs(&slices))?);
            Ok(JobSlice::act(&slices, engine, view, &reach, now)?)
        });
        acted.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::model::{MessageId, RecipientNo};

    use super::*;
    use crate::channel::sample::batch;
    use crate::commit::CommitNo;
    use crate::delivery::send_job::SendJob;

    fn going(number: u32, by_job: bool) -> GoingMessage {
        let message = MessageId { number: RecipientNo(number), ..MessageId::default() };
        GoingMessage { message, had_ended: true, by_job }
    }

    #[test]
    fn a_job_waits_while_enough_of_its_messages_are_on_their_way() {
        let (mut pace, mut in_flight) = (JobPace::default(), InFlight::default());
        let (begin, later) = (Instant(1_000), Instant(1_050));
        for number in 0..100 {
            assert!(pace.has_room(&in_flight, begin), "{number}");
            in_flight.follow(CommitNo(1), SendJob::sample(number, batch("b", "A title")), None);
            pace.note(&[going(number, true), going(number + 1_000, false)]);
        }
        assert!(!pace.has_room(&in_flight, begin));
        assert_eq!(pace.held_until, Some(later));
        // One that waits for its next attempt is not on its way.
        let first = in_flight.take_following(CommitNo(1)).map(|going| going.job);
        in_flight.wait_until(Instant(99_000), first.unwrap());
        assert!(pace.has_room(&in_flight, later));
        assert_eq!(pace.held_until, None);
    }
}
