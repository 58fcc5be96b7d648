//! Delivery: sends batches with bounded concurrency, and decides about retries.
//!
//! Surely not sent -> again later, with growing waits. Refused -> failed. Unknown -> once more with the same batch id,
//! which is the provider's idempotency key, counted as resent; then unknown. A message built before a stop may have
//! been handed over then, so it counts as resent too. A second handover is durable before it happens, so that no number
//! of stops leads to a third. A message with a type of `give_up` is never sent again.

pub(super) mod counts;
pub(super) mod hand_over;
pub(super) mod in_flight;
pub(super) mod priority;
pub(super) mod ready;
pub(super) mod send_failure_log;
pub(super) mod send_job;
pub(super) mod senders;
pub(super) mod sending;

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidings_core::engine::{
    AttemptedMessage, ClosingResults, Engine, Plan, PlannedMessage, Presenter, RetriedAttempt,
    Sent, TriedContent,
};
use tidings_core::model::{Attempt, ClosingId, Ending, MessageId};
use tidings_core::{Instant, Rules};

use crate::channel::{
    ActiveChannels, Channels, Outcome as Answer, ProviderReplies, RecoveredProviders,
};
use crate::commit::view::StoreView;
use crate::delivery::hand_over::{GO, send};
use crate::delivery::in_flight::InFlight;
use crate::delivery::ready::ReadyMessages;
use crate::delivery::send_failure_log::SendFailureLog;
use crate::delivery::send_job::{SendJob, jobs};
use crate::error::Error;
use crate::node::Node;
use crate::resolver::Resolver;
use crate::telemetry::vitals::Vitals;

pub use hand_over::MaySend;

/// The schedule of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The first wait in milliseconds; each later one is twice as long.
    pub wait_ms: i64,
    /// The longest wait in milliseconds.
    pub wait_ms_max: i64,
    /// Number of attempts after which a message has failed.
    pub attempts_max: u32,
}

impl Default for Retries {
    /// The default: 30 s, 1 min, 2 min, ... up to an hour, some 30 hours in all.
    fn default() -> Self {
        Self { wait_ms: 30_000, wait_ms_max: 3_600_000, attempts_max: 36 }
    }
}

/// The wait after a message was withheld because this node may not send.
const WITHHELD_WAIT_MS: i64 = 1_000;

/// The consequence of an answer.
enum AfterAnswer {
    Done(Ending),
    Again(Instant),
}

/// A sender of batches through channels.
pub struct Delivery {
    channels: ActiveChannels,
    resolver: Option<Arc<dyn Resolver>>,
    retries: Retries,
    threads: usize,
    /// The messages on their way.
    pub(crate) in_flight: InFlight,
    vitals: Arc<Vitals>,
    failure_log: SendFailureLog,
    may_send: MaySend,
}

impl Delivery {
    /// Creates a delivery through these channels by name.
    #[must_use]
    pub fn new(channels: Channels, retries: Retries) -> Self {
        Self {
            channels: ActiveChannels::new(channels),
            resolver: None,
            retries,
            threads: 1,
            in_flight: InFlight::default(),
            vitals: Arc::default(),
            failure_log: SendFailureLog::default(),
            may_send: Arc::new(|| true),
        }
    }

    /// Sets the question that each message is asked at its point of no return, where another node may have taken
    /// over since.
    #[must_use]
    pub fn asking(self, may_send: MaySend) -> Self {
        Self { may_send, ..self }
    }

    /// The question at the point of no return.
    pub(crate) fn may_send(&self) -> MaySend {
        Arc::clone(&self.may_send)
    }

    /// Sets the host's resolver, which a running node asks before it makes messages.
    #[must_use]
    pub fn resolving(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver: Some(resolver), ..self }
    }

    /// Sets the number of threads of a [`Player`](crate::Player), which sends what is due at once.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// Sets the measurements of answers.
    pub(crate) fn measure(&mut self, vitals: &Arc<Vitals>) {
        self.vitals = Arc::clone(vitals);
        vitals.watch(&self.channels);
    }

    /// The time of the next retry.
    #[must_use]
    pub fn next_retry(&self) -> Option<Instant> {
        self.in_flight.next_due()
    }

    /// The channels.
    pub(crate) fn channels(&self) -> ActiveChannels {
        self.channels.clone()
    }

    /// The host's resolver.
    pub(crate) fn resolver(&self) -> Option<Arc<dyn Resolver>> {
        self.resolver.clone()
    }

    /// Adds messages from before a stop, which made no attempt after it had `reached` an instant. Each waits for
    /// what is left of its wait.
    pub(crate) fn take_up(&mut self, engine: &Engine, ready: ReadyMessages, reached: Instant) {
        let now = engine.now();
        for job in jobs(ready) {
            let tried = engine.open_closings().attempts_of(job.message());
            let at = tried.map_or(now, |tried| tried.until.max(now));
            let job = job.after_a_stop(tried, reached.max(now));
            self.in_flight.wait_until(at, job.of_another_process());
        }
    }

    /// Sends the messages of a channel now that wait for a retry, if their provider or their destination is back.
    pub(crate) fn hurry(&mut self, channel: &str, back: &RecoveredProviders, now: Instant) {
        if back.provider {
            self.in_flight.hurry(now, |head| head.channel == channel);
        } else if !back.destinations.is_empty() {
            let is_back = |to: &Arc<str>| back.destinations.contains(to);
            self.in_flight.hurry(now, |head| {
                head.channel == channel && head.destinations.iter().any(is_back)
            });
        }
    }

    /// Adapts to a clock that was put back by a number of milliseconds: retries come earlier by as much, and
    /// unavailable providers are probed again.
    pub(crate) fn put_back(&mut self, to: Instant, by_ms: i64) {
        self.in_flight.put_back(to, by_ms);
        self.channels.renew_gates();
    }

    /// Sends built messages, and waits for the answers.
    ///
    /// A batch is built when a thread is ready to send it, and freed once it is sent: all batches of a slice at once,
    /// with their content, could be more than memory holds.
    ///
    /// # Errors
    /// [`Error`] where what is stored can't be read.
    pub(crate) fn send(
        &mut self,
        node: &Node,
        plans: &[Plan],
        now: Instant,
    ) -> Result<Vec<ClosingResults>, Error> {
        let (engine, view) = (node.engine(), node.view()?);
        let messages: Vec<(&Plan, &PlannedMessage)> = plans
            .iter()
            .flat_map(|plan| plan.messages.iter().map(move |planned| (plan, planned)))
            .filter(|(_, planned)| !planned.is_empty())
            .collect();
        let next = AtomicUsize::new(0);
        let threads = self.threads.min(messages.len() / 2).max(1);
        let mut answered = std::thread::scope(|scope| {
            let work = || self.send_some(engine, &view, &messages, now, &next);
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work()?;
            for other in others {
                all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            Ok::<_, Error>(all)
        })?;
        answered.sort_by_key(|(at, _)| *at);
        let mut settled = BTreeMap::new();
        for (_, answered) in answered {
            match answered {
                AnsweredJob::Done(closing, sent) => {
                    put(&mut settled, closing, NotedAnswer::Ended(sent));
                }
                AnsweredJob::Open(job, reply) => {
                    self.settle_into(&mut settled, *job, &reply, now, engine.rules());
                }
            }
        }
        Ok(settled.into_values().collect())
    }

    /// Sends messages one by one until threads have taken all of them.
    fn send_some(
        &self,
        engine: &Engine,
        view: &StoreView,
        messages: &[(&Plan, &PlannedMessage)],
        now: Instant,
        next: &AtomicUsize,
    ) -> Result<Vec<(usize, AnsweredJob)>, Error> {
        let mut presenter = Presenter::new(engine, view);
        let mut answered = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((plan, planned)) = messages.get(at) else {
                return Ok(answered);
            };
            let Some(batch) = presenter.batch(plan, planned)? else {
                continue;
            };
            let job = SendJob::new(plan, planned, batch).under(engine.rules());
            let reply = self.send_at_once(&job, now);
            answered.push((at, AnsweredJob::of(job, reply)));
        }
    }

    /// Sends messages whose retry is due, unless they are not to be sent again.
    pub(crate) fn retry(
        &mut self,
        due: Vec<SendJob>,
        now: Instant,
        rules: Option<&Rules>,
    ) -> Vec<ClosingResults> {
        let mut settled = BTreeMap::new();
        for job in due {
            if job.is_given_up(rules) {
                put(
                    &mut settled,
                    job.message().closing,
                    NotedAnswer::Ended(job.ended(Ending::Unknown)),
                );
                continue;
            }
            let job = job.under(rules);
            let reply = self.send_at_once(&job, now);
            self.settle_into(&mut settled, job, &reply, now, rules);
        }
        settled.into_values().collect()
    }

    /// Sends a message within an instant, without waiting for a pace.
    fn send_at_once(&self, job: &SendJob, now: Instant) -> ProviderReplies {
        let outlet = self.channels.outlet(&job.head.channel);
        let pass = outlet.map(|outlet| outlet.pass(&job.head.destinations, now));
        send(pass, job, &|| now, GO)
    }

    /// Removes and returns the messages whose retry is due.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<SendJob> {
        let due = self.in_flight.take_due(now);
        self.vitals.set_retries(self.in_flight.waiting());
        due
    }

    /// Prepares messages in doubt for being handed over once more; returns the records that have to be durable before.
    pub(crate) fn hand_over_again(
        due: &mut [SendJob],
        now: Instant,
        rules: Option<&Rules>,
    ) -> Vec<ClosingResults> {
        let mut records = AnswersByClosing::new();
        for job in due.iter_mut().filter(|job| !job.is_given_up(rules)) {
            if let Some(tried) = job.hand_over_again(now) {
                put(&mut records, job.message().closing, NotedAnswer::Tried(tried));
            }
        }
        records.into_values().collect()
    }

    /// Notes an answer, with the provider's words; a message that is retried waits here. Returns true if its message
    /// is over.
    pub(crate) fn settle_into(
        &mut self,
        all: &mut AnswersByClosing,
        job: SendJob,
        reply: &ProviderReplies,
        now: Instant,
        rules: Option<&Rules>,
    ) -> bool {
        let MessageId { closing, number } = job.message();
        let answers = || {
            let before = reply.before.iter().map(|(provider, answer)| (provider, answer));
            before.chain([(&reply.provider, &reply.outcome)])
        };
        for (provider, answer) in answers() {
            self.vitals.answered(&job.head.channel, provider, answer);
        }
        let content = tried_content(&job, &reply.outcome);
        let noted = self.settle(job, reply, now, rules);
        let is_over = matches!(noted, NotedAnswer::Ended(_));
        put(all, closing, noted);
        let attempts = answers().filter_map(|(provider, answer)| attempt(provider, answer, now));
        if let Some(settled) = all.get_mut(&closing) {
            if is_over {
                settled.providers.insert(number, reply.provider.clone());
            }
            let noted = attempts.map(|attempt| AttemptedMessage { number, attempt });
            settled.attempts.extend(noted);
            settled.contents.extend(content.map(|content| (number, content)));
        }
        is_over
    }

    /// Notes an answer; a message that is retried waits here.
    fn settle(
        &mut self,
        mut job: SendJob,
        reply: &ProviderReplies,
        now: Instant,
        rules: Option<&Rules>,
    ) -> NotedAnswer {
        let answer = &reply.outcome;
        // A message that was withheld was offered to nobody: this is no attempt.
        job.attempts += u32::from(*answer != Answer::Withheld);
        let next = self.next(&job, answer, now, rules);
        let wait = match &next {
            AfterAnswer::Again(at) => Some(at.0 - now.0),
            AfterAnswer::Done(_) => None,
        };
        let console = rules.and_then(|rules| rules.console.as_ref());
        self.failure_log.record(&job, reply, wait, now, console);
        job.note_answer(answer);
        match next {
            AfterAnswer::Done(ending) => NotedAnswer::Ended(job.ended(ending)),
            AfterAnswer::Again(at) => {
                job.resent += u32::from(matches!(answer, Answer::Unknown { .. }));
                let tried = job.tried(at);
                self.in_flight.wait_until(at, job);
                self.vitals.set_retries(self.in_flight.waiting());
                NotedAnswer::Tried(tried)
            }
        }
    }

    fn next(
        &self,
        job: &SendJob,
        answer: &Answer,
        now: Instant,
        rules: Option<&Rules>,
    ) -> AfterAnswer {
        let wait = |least: Option<i64>| {
            let doubled = self.retries.wait_ms << (job.attempts - 1).min(20);
            let wait = doubled.min(self.retries.wait_ms_max).max(least.unwrap_or(0));
            // Spread over a tenth, by the batch id: no random number is needed to break up a herd.
            let jitter =
                job.head.id.bytes().fold(0, |sum, byte| (sum * 31 + i64::from(byte)) % 997);
            now.plus_ms(wait + wait * jitter / 9_970)
        };
        let least = match answer {
            Answer::Sent(_) => return AfterAnswer::Done(Ending::Delivered),
            Answer::Failed { .. } | Answer::SoftBounce { is_permanent: true, .. } => {
                return AfterAnswer::Done(Ending::Refused);
            }
            Answer::Template { .. } => return AfterAnswer::Done(Ending::Template),
            Answer::Unknown { .. } if job.was_last() || job.gives_up(rules) => {
                return AfterAnswer::Done(Ending::Unknown);
            }
            Answer::Retry { after_ms, .. } | Answer::Away { after_ms, .. } => *after_ms,
            Answer::Withheld => return AfterAnswer::Again(now.plus_ms(WITHHELD_WAIT_MS)),
            Answer::SoftBounce { .. } | Answer::Unknown { .. } => None,
        };
        let again = wait(least);
        let is_unknown = matches!(answer, Answer::Unknown { .. });
        let is_last = job.attempts >= self.retries.attempts_max && !is_unknown;
        match (is_last || job.is_too_late(again), is_unknown || job.is_in_doubt()) {
            (false, _) => AfterAnswer::Again(again),
            // Once in doubt it may have arrived, whatever later attempts say.
            (true, true) => AfterAnswer::Done(Ending::Unknown),
            (true, false) => AfterAnswer::Done(Ending::Unreachable),
        }
    }
}

/// An attempt as it is stored; `None` = the provider did not answer.
fn attempt(provider: &str, answer: &Answer, now: Instant) -> Option<Attempt> {
    Some(Attempt {
        at: now,
        provider: provider.to_owned(),
        answer: answer.answered(),
        reply: answer.words()?.to_owned(),
    })
}

/// The content that a provider was asked to take; `None` = none was asked.
fn tried_content(job: &SendJob, answer: &Answer) -> Option<TriedContent> {
    let handed_over = match answer {
        Answer::Withheld => return None,
        Answer::Sent(_) | Answer::Unknown { .. } => true,
        _ => false,
    };
    job.content_hash().map(|hash| TriedContent { hash, handed_over })
}

/// The record of an answer.
pub(crate) enum NotedAnswer {
    /// The outcome of the message.
    Ended(Sent),
    /// Its failed attempts.
    Tried(RetriedAttempt),
}

/// Answers that are not recorded yet, by closing.
pub(crate) type AnswersByClosing = BTreeMap<ClosingId, ClosingResults>;

/// Adds what is recorded of an answer.
pub(crate) fn put(all: &mut AnswersByClosing, closing: ClosingId, noted: NotedAnswer) {
    let settled = all
        .entry(closing)
        .or_insert_with(|| ClosingResults { closing, ..ClosingResults::default() });
    match noted {
        NotedAnswer::Ended(sent) => settled.sent.push(sent),
        NotedAnswer::Tried(tried) => settled.tried.push(tried),
    }
}

/// A message with its answer. A finished message needs its batch no more.
enum AnsweredJob {
    Done(ClosingId, Sent),
    Open(Box<SendJob>, Box<ProviderReplies>),
}

impl AnsweredJob {
    fn of(job: SendJob, reply: ProviderReplies) -> Self {
        let has_one_answer = reply.before.is_empty() && reply.outcome.words().is_none();
        match reply.outcome {
            Answer::Sent(_) if has_one_answer => {
                Self::Done(job.message().closing, job.ended(Ending::Delivered))
            }
            _ => Self::Open(Box::new(job), Box::new(reply)),
        }
    }
}
