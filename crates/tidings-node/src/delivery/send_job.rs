//! A message on its way from its batch to its outcome.
//!
//! It has its content as a batch until it is rendered, and as bytes from then on. What others ask of it
//! meanwhile is in its head.

use std::sync::{Arc, Mutex, PoisonError};

use tidings_core::content::{Batch, ContentHash};
use tidings_core::engine::{Plan, PlannedMessage, RetriedAttempt, Sent};
use tidings_core::journal::Attempts;
use tidings_core::model::{Ending, MessageId, MessageName, OccurrencePlace, Paused, Seq};
use tidings_core::rules::UnknownOutcome;
use tidings_core::{Instant, Rules};

use crate::channel::{MessageHead, Outcome, Rendered, Renderer, Unrenderable, render};
use crate::delivery::priority::Priority;
use crate::delivery::ready::ReadyMessages;

/// The id of a job: a message, or a call of a hook about an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JobId {
    Message(MessageId),
    Hook(HookNo, OccurrencePlace),
}

/// The number of a hook in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HookNo(pub(crate) u64);

/// A message or a call that is being sent.
#[derive(Clone, Debug)]
pub(crate) struct SendJob {
    pub(crate) id: JobId,
    /// The seqs of its entries.
    pub(crate) seqs: Vec<Seq>,
    pub(crate) head: Arc<MessageHead>,
    /// The content, shared with the copy that the loop can take back.
    content: Arc<Mutex<JobContent>>,
    pub(crate) attempts: u32,
    pub(crate) resent: u32,
    doubt: HandOverDoubt,
    /// True if an operator had it sent again, whatever came of the attempts before.
    by_hand: bool,
    /// True if it goes beside many others, which a job has sent.
    in_bulk: bool,
    /// The instant from which it is not handed over any more.
    give_up_at: Option<Instant>,
}

/// The doubt whether a message was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandOverDoubt {
    /// It surely was not.
    None,
    /// It may have been.
    Once,
    /// It may have been handed over, and the journal allows it once more.
    Again,
    /// It may have been twice, and so ends with an unknown outcome.
    Twice,
}

#[derive(Debug)]
enum JobContent {
    Batch(Box<Batch>),
    Rendered(Arc<Rendered>),
}

impl JobContent {
    fn of(batch: Batch) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self::Batch(Box::new(batch))))
    }
}

impl SendJob {
    pub(crate) fn new(plan: &Plan, planned: &PlannedMessage, batch: Batch) -> Self {
        Self {
            id: JobId::Message(plan.closing.message(planned.number)),
            seqs: plan.seqs(planned),
            head: Arc::new(MessageHead::of(&batch)),
            content: JobContent::of(batch),
            attempts: 0,
            resent: 0,
            doubt: HandOverDoubt::None,
            by_hand: false,
            in_bulk: false,
            give_up_at: None,
        }
    }

    /// The name of the message, as operators have it; `None` for a call of a hook.
    pub(crate) fn name(&self) -> Option<MessageName> {
        match self.id {
            JobId::Message(id) => Some(MessageName { due: self.head.at.day(), id }),
            JobId::Hook(..) => None,
        }
    }

    /// Creates a call of a hook about an occurrence.
    pub(crate) fn call(hook: HookNo, place: OccurrencePlace, call: Rendered) -> Self {
        Self {
            id: JobId::Hook(hook, place),
            seqs: Vec::new(),
            head: Arc::clone(&call.head),
            content: Arc::new(Mutex::new(JobContent::Rendered(Arc::new(call)))),
            attempts: 0,
            resent: 0,
            doubt: HandOverDoubt::None,
            by_hand: false,
            in_bulk: false,
            give_up_at: None,
        }
    }

    /// Creates a message to the recipient with a number, of any closing.
    #[cfg(test)]
    pub(crate) fn sample(number: u32, batch: Batch) -> Self {
        Self {
            id: JobId::Message(MessageId {
                number: tidings_core::model::RecipientNo(number),
                ..MessageId::default()
            }),
            seqs: Vec::new(),
            head: Arc::new(MessageHead::of(&batch)),
            content: JobContent::of(batch),
            attempts: 1,
            resent: 0,
            doubt: HandOverDoubt::None,
            by_hand: false,
            in_bulk: false,
            give_up_at: None,
        }
    }

    /// The id of the message; of a call, which tells no recipient anything, that of none.
    pub(crate) fn message(&self) -> MessageId {
        match self.id {
            JobId::Message(id) => id,
            JobId::Hook(..) => MessageId::default(),
        }
    }

    /// Returns true if it is a call of a hook.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.id, JobId::Hook(..))
    }

    /// The priority of the message.
    pub(crate) fn priority(&self) -> Priority {
        if self.in_bulk { Priority::Bulk } else { Priority::of(&self.head.lane) }
    }

    /// Returns true if a pause holds the message.
    pub(crate) fn is_held_by(&self, paused: &Paused) -> bool {
        let types = self.head.types.iter();
        paused.holds(&self.head.channel, types)
    }

    /// Sets the content that a step has left.
    pub(crate) fn replace(&mut self, seqs: Vec<Seq>, batch: Batch) {
        self.seqs = seqs;
        self.head = Arc::new(MessageHead::of(&batch));
        self.content = JobContent::of(batch);
    }

    /// The bytes, rendered at their first use.
    ///
    /// # Errors
    /// [`Unrenderable`].
    pub(crate) fn rendered(&self, renderer: &dyn Renderer) -> Result<Arc<Rendered>, Unrenderable> {
        let content = self.content.lock();
        let mut content = content.unwrap_or_else(PoisonError::into_inner);
        let batch = match &*content {
            JobContent::Rendered(rendered) => return Ok(Arc::clone(rendered)),
            JobContent::Batch(batch) => batch,
        };
        let rendered = Arc::new(render(renderer, &self.head, batch)?);
        *content = JobContent::Rendered(Arc::clone(&rendered));
        Ok(rendered)
    }

    /// The hash of the content; `None` = it is not rendered yet.
    pub(crate) fn content_hash(&self) -> Option<ContentHash> {
        match &*self.content.lock().unwrap_or_else(PoisonError::into_inner) {
            JobContent::Batch(_) => None,
            JobContent::Rendered(rendered) => Some(rendered.content),
        }
    }

    /// Sets the attempts that were made of the message.
    pub(crate) fn after(self, tried: Option<Attempts>) -> Self {
        match tried {
            None => self,
            Some(tried) => Self {
                attempts: tried.count,
                resent: tried.resent,
                doubt: match (tried.in_doubt, tried.again) {
                    (_, true) => HandOverDoubt::Again,
                    (true, false) => HandOverDoubt::Once,
                    (false, false) => HandOverDoubt::None,
                },
                ..self
            },
        }
    }

    /// Marks the message as built before a stop, after these attempts. There may have been another attempt before the
    /// stop, unless it is too early for that.
    pub(crate) fn after_a_stop(self, tried: Option<Attempts>, now: Instant) -> Self {
        let mut job = self.after(tried);
        if !job.is_in_doubt() && tried.is_none_or(|tried| tried.until <= now) {
            job.doubt = HandOverDoubt::Once;
        }
        job
    }

    /// Marks the message as taken over from a process that may have done everything that the journal allows.
    pub(crate) fn of_another_process(mut self) -> Self {
        if self.doubt == HandOverDoubt::Again {
            self.doubt = HandOverDoubt::Twice;
        }
        self
    }

    /// Marks the message as sent again because an operator asked.
    pub(crate) fn by_hand(self) -> Self {
        Self { by_hand: true, ..self }
    }

    /// Marks the message as one of many that a job has sent, if it is.
    pub(crate) fn in_bulk(self, in_bulk: bool) -> Self {
        Self { in_bulk, ..self }
    }

    /// Sets the instant by which its types give it up under these rules. What an operator sends again has none.
    pub(crate) fn under(self, rules: Option<&Rules>) -> Self {
        let after_ms = rules.and_then(|rules| rules.give_up_after_ms(&self.head.types));
        let give_up_at = after_ms.map(|ms| self.head.at.plus_ms(ms));
        Self { give_up_at: give_up_at.filter(|_| !self.by_hand), ..self }
    }

    /// Returns true if its time is over at an instant.
    pub(crate) fn is_too_late(&self, at: Instant) -> bool {
        self.give_up_at.is_some_and(|until| until < at)
    }

    /// Returns true if it may have been handed over twice already, or once and its types say that it is not sent again
    /// then.
    pub(crate) fn is_given_up(&self, rules: Option<&Rules>) -> bool {
        self.doubt == HandOverDoubt::Twice
            || (self.is_in_doubt() && !self.by_hand && self.gives_up(rules))
    }

    /// Returns true if an unknown outcome is the second one.
    pub(crate) fn was_last(&self) -> bool {
        self.resent > 0 || (self.is_in_doubt() && !self.by_hand)
    }

    /// Prepares a message in doubt for being handed over once more, which has to be on record before: a process that
    /// ends meanwhile must not hand it over a third time. Returns the record; none where it is there, or none is needed.
    pub(crate) fn hand_over_again(&mut self, now: Instant) -> Option<RetriedAttempt> {
        if self.doubt != HandOverDoubt::Once {
            return None;
        }
        self.doubt = HandOverDoubt::Again;
        Some(self.tried(now))
    }

    /// Returns true if its types give it up in doubt instead of sending it again.
    pub(crate) fn gives_up(&self, rules: Option<&Rules>) -> bool {
        let of_types = |rules: &Rules| rules.unknown_outcome(&self.head.types);
        rules.map(of_types) == Some(UnknownOutcome::GiveUp)
    }

    /// The failed attempts of the message, of which the next is at an instant.
    pub(crate) fn tried(&self, until: Instant) -> RetriedAttempt {
        RetriedAttempt {
            number: self.message().number,
            attempts: Attempts {
                count: self.attempts,
                until,
                in_doubt: self.is_in_doubt(),
                resent: self.resent,
                // The engine knows.
                delivered: false,
                again: self.doubt == HandOverDoubt::Again,
            },
        }
    }

    /// Notes an answer: the first attempt after a doubt that handed the message over, or may have, counts as resent.
    pub(crate) fn note_answer(&mut self, answer: &Outcome) {
        let is_unknown = matches!(answer, Outcome::Unknown { .. });
        let is_handed_over = is_unknown || matches!(answer, Outcome::Sent(_));
        let is_first = self.is_in_doubt() && self.resent == 0;
        self.resent += u32::from(is_first && is_handed_over);
        // Takes back the permit for one more hand-over: it was not used, or has led to a new doubt.
        if is_unknown || self.is_in_doubt() {
            self.doubt = HandOverDoubt::Once;
        }
    }

    /// Returns true if an attempt may have handed it over, with an unknown outcome.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.doubt != HandOverDoubt::None
    }

    /// The outcome of the message.
    pub(crate) fn ended(self, ending: Ending) -> Sent {
        Sent {
            number: self.message().number,
            seqs: self.seqs,
            ending,
            resent: self.resent.max(u32::from(self.doubt == HandOverDoubt::Twice)),
        }
    }

    /// The outcome of a message whose recipient was erased: there are no further attempts.
    pub(crate) fn given_up(self) -> Sent {
        let ending = if self.is_in_doubt() { Ending::Unknown } else { Ending::RecipientGone };
        self.ended(ending)
    }
}

/// The messages of a slice, one by one.
pub(crate) fn jobs(ready: ReadyMessages) -> Vec<SendJob> {
    let ReadyMessages { plan, batches } = ready;
    let job = |(at, batch): (usize, Batch)| SendJob::new(&plan, &plan.messages[at], batch);
    batches.into_iter().map(job).collect()
}
