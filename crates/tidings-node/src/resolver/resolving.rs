//! Questions to the host about objects, before the messages that show them are built.
//!
//! The host may have a newer state of an object, or not want it shown at all. Its answers become commands, so that
//! planning stays pure: a message is planned once its objects are known. One question is about the objects of many
//! messages, and asks for each at most once a run (the messages that are due at one instant) and a minute.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use tidings_core::engine::{Engine, Plan, Refused};
use tidings_core::model::{ClosingId, MINUTE_MS};
use tidings_core::{Command, Id, Instant};

use crate::commit::executor::Executor;
use crate::resolver::{ResolvedObjects, Resolver, ResolverBounds};
use crate::telemetry::vitals::Vitals;

/// The wait before the host is asked again, after the first failure and at most.
const REST_MS: (i64, i64) = (1_000, MINUTE_MS);

/// The state of the questions.
pub(crate) struct ResolverState {
    resolver: Option<Arc<dyn Resolver>>,
    /// The bounds as of the last look; `None` if the host is not to be asked.
    bounds: Option<ResolverBounds>,
    by: Executor,
    /// True once the thread runs.
    is_served: bool,
    questions: (Sender<Vec<Id>>, Receiver<Vec<Id>>),
    answers: (Sender<ResolverAnswer>, Receiver<ResolverAnswer>),
    /// The objects of the question in progress.
    requested: Option<(Instant, BTreeSet<Id>)>,
    /// True if the answer was handed to another node, which has not taken it over yet.
    is_unconfirmed: bool,
    /// An answer that the next turn takes in.
    arrived: Option<ResolverAnswer>,
    /// The objects of the next question.
    wanted: BTreeSet<Id>,
    /// Answered objects, by the instant of their question.
    known_as_of: BTreeMap<Id, Instant>,
    /// Closings whose next messages wait for an answer.
    held: BTreeSet<ClosingId>,
    /// Set while the host does not answer.
    rest: Option<ResolverBackoff>,
    vitals: Arc<Vitals>,
}

/// An answer of the host, or the reason for which there is none.
pub(crate) type ResolverAnswer = Result<ResolvedObjects, String>;

/// A time in which the host is not asked, because it did not answer.
struct ResolverBackoff {
    until: Instant,
    ms: i64,
}

impl ResolverState {
    pub(crate) fn new(resolver: Option<Arc<dyn Resolver>>, by: Executor) -> Self {
        Self {
            bounds: resolver.as_ref().and_then(|resolver| resolver.bounds()),
            resolver,
            by,
            is_served: false,
            questions: unbounded(),
            answers: unbounded(),
            requested: None,
            is_unconfirmed: false,
            arrived: None,
            wanted: BTreeSet::new(),
            known_as_of: BTreeMap::new(),
            held: BTreeSet::new(),
            rest: None,
            vitals: Arc::default(),
        }
    }

    /// Sets the measurements.
    pub(crate) fn measure(&mut self, vitals: &Arc<Vitals>) {
        self.vitals = Arc::clone(vitals);
    }

    /// Returns true if messages of a closing may be planned: they don't wait, and the next question has room.
    pub(crate) fn admits(&self, closing: ClosingId) -> bool {
        self.bounds
            .is_none_or(|bounds| self.wanted.len() < bounds.batch && !self.held.contains(&closing))
    }

    /// Looks at the bounds in force, and has closings planned again that waited for the end of a rest.
    pub(crate) fn wake(&mut self, now: Instant) {
        self.bounds = self.resolver.as_ref().and_then(|resolver| resolver.bounds());
        let is_over = self.rest.as_ref().is_some_and(|rest| rest.until <= now);
        if is_over && self.requested.is_none() && self.wanted.is_empty() {
            self.held.clear();
        }
    }

    /// Returns true if the host's word on all objects of a plan is known, or not waited for. If not, the closing
    /// waits, and the objects are part of the next question.
    pub(crate) fn is_ready(&mut self, engine: &Engine, plan: &Plan, now: Instant) -> bool {
        let Some(bounds) = self.bounds else {
            return true;
        };
        let objects = plan.objects(engine);
        let is_known = |object: &Id| {
            let read_at = self.known_as_of.get(object);
            read_at
                .is_some_and(|read_at| *read_at >= plan.as_of || now < read_at.plus_ms(MINUTE_MS))
        };
        let missing = || objects.iter().filter(|(object, _)| !is_known(object));
        if missing().next().is_none() {
            return true;
        }
        if self.rest.as_ref().is_some_and(|rest| now < rest.until) {
            // While the host is away messages go with what is known, unless a type waits for it and has
            // time left.
            let may_wait = now < plan.as_of.plus_ms(bounds.wait_ms);
            if !may_wait || !missing().any(|(_, waits)| *waits) {
                let messages = plan.messages_with(|object| !is_known(object));
                self.vitals.resolver.go_without(messages);
                return true;
            }
        } else {
            let is_requested = |object: &Id| {
                let requested = self.requested.as_ref();
                requested.is_some_and(|(_, requested)| requested.contains(object))
            };
            let more: Vec<Id> = missing()
                .filter(|(object, _)| !is_requested(object))
                .map(|(object, _)| (*object).clone())
                .collect();
            self.wanted.extend(more);
        }
        self.held.insert(plan.closing);
        false
    }

    /// Asks for the wanted objects, unless a question is in progress.
    pub(crate) fn ask(&mut self, engine: &Engine, now: Instant) {
        let Some(bounds) = self.bounds else {
            self.wanted.clear();
            self.held.clear();
            return;
        };
        if self.requested.is_some() || self.wanted.is_empty() {
            return;
        }
        let least = now.plus_ms(-MINUTE_MS);
        // Objects stay known until the messages that asked for them are made.
        let least =
            engine.open_closings().oldest_to_make().map_or(least, |oldest| oldest.min(least));
        self.known_as_of.retain(|_, requested| *requested >= least);
        let mut objects = BTreeSet::new();
        while objects.len() < bounds.batch.max(1)
            && let Some(object) = self.wanted.pop_first()
        {
            objects.insert(object);
        }
        self.vitals.resolver.ask(objects.len());
        // The other end is held by this.
        let _ = self.questions.0.send(objects.iter().cloned().collect());
        self.requested = Some((now, objects));
        self.serve();
    }

    /// Starts the thread that asks, if there is to be one.
    fn serve(&mut self) {
        let Some(resolver) = self.resolver.clone().filter(|_| self.by == Executor::Threads) else {
            return;
        };
        if self.is_served {
            return;
        }
        let (questions, answers) = (self.questions.1.clone(), self.answers.0.clone());
        let thread = std::thread::Builder::new().name("tidings-resolver".to_owned());
        let started = thread.spawn(move || {
            for objects in questions {
                if answers.send(resolver.resolve(&objects)).is_err() {
                    break;
                }
            }
        });
        match started {
            Ok(_) => self.is_served = true,
            Err(fault) => {
                // Nobody will take it: an answer to it must not be taken for one to the next.
                let _ = self.questions.1.try_recv();
                let _ = self.answers.0.send(Err(fault.to_string()));
            }
        }
    }

    /// Asks the question in progress in the caller's thread. Whether there was one.
    pub(crate) fn ask_next(&self) -> bool {
        let Ok(objects) = self.questions.1.try_recv() else {
            return false;
        };
        if let Some(resolver) = &self.resolver {
            let _ = self.answers.0.send(resolver.resolve(&objects));
        }
        true
    }

    /// The answers of the host.
    pub(crate) fn answers(&self) -> &Receiver<ResolverAnswer> {
        &self.answers.1
    }

    /// Keeps an answer for the next turn.
    pub(crate) fn record(&mut self, answer: ResolverAnswer) {
        self.arrived = Some(answer);
    }

    /// Returns true if an answer waits for the next turn.
    pub(crate) fn has_answer(&self) -> bool {
        self.arrived.is_some()
    }

    /// Takes the answer: commands that are to be taken in before anything is planned.
    ///
    /// `decides` = the caller decides about them itself; if not, what they are about counts as known only once
    /// another node has ([`ResolverState::confirm`]).
    pub(crate) fn take(&mut self, now: Instant, decides: bool) -> Vec<Command> {
        let Some(answer) = self.arrived.take() else {
            return Vec::new();
        };
        let Some((at, requested)) = self.requested.take() else {
            return Vec::new();
        };
        self.held.clear();
        self.vitals.resolver.record(answer.is_ok());
        match answer {
            Ok(mut resolved) => {
                self.rest = None;
                // The host may change only what it was asked about.
                resolved.objects.retain(|object| requested.contains(&object.id));
                resolved.retracted.retain(|object| requested.contains(object));
                self.requested = Some((at, requested));
                self.is_unconfirmed = true;
                if decides {
                    self.confirm();
                }
                commands(resolved)
            }
            Err(reason) => {
                let (first_ms, most_ms) = REST_MS;
                let ms = self
                    .rest
                    .as_ref()
                    .map_or(first_ms, |rest| rest.ms.saturating_mul(2))
                    .min(most_ms);
                tracing::warn!(%reason, again_ms = ms, "the host does not say what objects are");
                // After the rest closings are planned anew, and ask for what they need then.
                self.wanted.clear();
                self.rest = Some(ResolverBackoff { until: now.plus_ms(ms), ms });
                Vec::new()
            }
        }
    }

    /// Counts the objects of the last answer as known: the host's state is in force.
    pub(crate) fn confirm(&mut self) {
        if !std::mem::take(&mut self.is_unconfirmed) {
            return;
        }
        self.held.clear();
        let (at, objects) = self.requested.take().unwrap_or_default();
        self.known_as_of.extend(objects.into_iter().map(|object| (object, at)));
    }

    /// The instant of the next question to the host, if a message waits for it and none is under way.
    pub(crate) fn next(&self) -> Option<Instant> {
        let waits = self.requested.is_none() && !self.held.is_empty();
        let rest = self.rest.as_ref().filter(|_| waits);
        rest.map(|rest| rest.until)
    }

    /// Adapts to a clock that was put back by a number of milliseconds.
    pub(crate) fn put_back(&mut self, by_ms: i64) {
        let requested = self.requested.iter_mut().map(|(requested, _)| requested);
        let rest = self.rest.iter_mut().map(|rest| &mut rest.until);
        for at in self.known_as_of.values_mut().chain(requested).chain(rest) {
            *at = at.plus_ms(-by_ms);
        }
    }

    /// Forgets what was answered: it may not have been stored.
    pub(crate) fn forget(&mut self) {
        self.known_as_of.clear();
        self.held.clear();
        if std::mem::take(&mut self.is_unconfirmed) {
            self.requested = None;
        }
    }
}

/// The commands by which an answer is taken in.
fn commands(resolved: ResolvedObjects) -> Vec<Command> {
    let retracted = resolved.retracted.into_iter().map(|object| Command::Retract { object });
    resolved.objects.into_iter().map(Command::Resolved).chain(retracted).collect()
}

/// Logs what is refused of what was learnt of objects and addresses.
pub(crate) fn log_refused<T>(replies: &[Result<T, Refused>]) {
    for refused in replies.iter().filter_map(|reply| reply.as_ref().err()) {
        tracing::warn!(reason = %refused, "what was learnt of objects and addresses is refused");
    }
}
