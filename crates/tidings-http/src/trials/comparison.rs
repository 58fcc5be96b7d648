//! Comparisons as jobs: the last days, played under the configuration in force and under one with edits.
//!
//! They are kept in memory, since nothing depends on them: a server that ends stops them. The log of changes has their
//! beginnings and their ends, by which a server that starts knows which were stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tidings_core::engine::{LoggedChange, NewestFirst};
use tidings_core::model::{
    Author, ChangeLine, ChangeSubject, ChangedField, JobState, Origin, SubjectKind,
};
use tidings_core::{Id, Instant};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use crate::error::{Code, Problem};

/// The verb of these jobs, with which their ids begin.
pub(crate) const COMPARE: &str = "compare";

/// Maximum number of comparisons that are kept, and of lines of the log that are read for them.
pub(crate) const KEPT_MAX: usize = 200;

/// The actions of the log's lines of jobs that begin.
pub(crate) const BEGUN: &str = "job.begun";
/// The actions of the log's lines of jobs that end.
pub(crate) const ENDED: &str = "job.ended";

/// A comparison.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Its id.
    pub(crate) id: Id,
    /// Its author; `None` = unknown.
    pub(crate) by: Option<Author>,
    /// The instant at which it began.
    pub(crate) at: Instant,
    /// Set once it is to stop.
    pub(crate) stop: Arc<AtomicBool>,
    /// Number of the timeline's lines; 0 = it is still being written.
    pub(crate) lines: AtomicU64,
    /// Number of lines that were played, under both configurations together.
    pub(crate) played: AtomicU64,
    end: Mutex<Option<ComparisonEnd>>,
}

/// The end of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct ComparisonEnd {
    /// The instant; `None` = unknown, since the server ended with it.
    pub(crate) at: Option<Instant>,
    /// [`JobState::Done`] or [`JobState::Stopped`].
    pub(crate) state: JobState,
    /// The figures of both configurations.
    pub(crate) result: Option<Value>,
    /// The reason why it has no result, if nobody stopped it.
    pub(crate) problem: Option<String>,
}

impl ComparisonEnd {
    /// The end of one that somebody stops.
    pub(crate) fn stopped(at: Instant) -> Self {
        Self { at: Some(at), state: JobState::Stopped, result: None, problem: None }
    }
}

impl Comparison {
    fn new(id: Id, by: Option<Author>, at: Instant) -> Self {
        Self {
            id,
            by,
            at,
            stop: Arc::default(),
            lines: AtomicU64::default(),
            played: AtomicU64::default(),
            end: Mutex::default(),
        }
    }

    /// Its end; `None` = it runs.
    pub(crate) fn end(&self) -> Option<ComparisonEnd> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it, and stops what plays it. Returns true if it had not ended.
    pub(crate) fn end_with(&self, end: ComparisonEnd) -> bool {
        self.stop.store(true, Ordering::Relaxed);
        let mut known = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = known.is_none();
        known.get_or_insert(end);
        is_first
    }

    /// Number of lines that are played in all; 0 = they are still being gathered.
    pub(crate) fn of(&self) -> u64 {
        2 * self.lines.load(Ordering::Relaxed)
    }

    /// Its position in the list of jobs.
    pub(crate) fn position(&self) -> NewestFirst {
        NewestFirst { at: self.at, id: self.id.clone() }
    }

    /// The change that it began, for the log.
    pub(crate) fn begun(&self) -> LoggedChange {
        let verb = ChangedField::shown("verb", Value::Null, COMPARE.into());
        LoggedChange { subject: self.subject(), fields: Vec::from_iter(verb) }
    }

    /// The change that it ended, for the log.
    pub(crate) fn ended(&self, state: JobState) -> LoggedChange {
        let running = JobState::Running.word();
        let state = ChangedField::shown("state", running.into(), state.word().into());
        LoggedChange { subject: self.subject(), fields: Vec::from_iter(state) }
    }

    fn subject(&self) -> ChangeSubject {
        ChangeSubject::new(SubjectKind::Job, self.id.as_str())
    }

    /// A comparison of a server before this one, by its lines of the log.
    fn logged(begun: &ChangeLine, ended: Option<&ChangeLine>) -> Option<Self> {
        let id = begun.subject.id.as_deref().filter(|id| is_comparison(id))?;
        let known = Self::new(Id::new(id).ok()?, Some(begun.by.clone()), begun.id.at);
        let is_done =
            |line: &ChangeLine| line.fields.iter().any(|field| field.to == JobState::Done.word());
        let problem = match ended {
            None => Some("the server ended before it"),
            Some(line) if is_done(line) => Some("its result went with the server that had it"),
            Some(_) => None,
        };
        let state = if ended.is_some_and(is_done) { JobState::Done } else { JobState::Stopped };
        known.end_with(ComparisonEnd {
            at: ended.map(|line| line.id.at),
            state,
            result: None,
            problem: problem.map(str::to_owned),
        });
        Some(known)
    }
}

/// Returns true if an id is one of a comparison: those of stored jobs are numbers.
pub(crate) fn is_comparison(id: &str) -> bool {
    id.strip_prefix(COMPARE).is_some_and(|rest| rest.starts_with('-'))
}

/// The comparisons of a server.
#[derive(Debug)]
pub(crate) struct Comparisons {
    /// The place of the one that runs.
    place: Arc<Semaphore>,
    /// The newest last.
    known: Mutex<Vec<Arc<Comparison>>>,
    /// Set once those of servers before this one are known.
    read: OnceCell<()>,
    /// Held by tests that want one to run for a while.
    #[cfg(test)]
    pub(crate) gate: Arc<Mutex<()>>,
}

impl Default for Comparisons {
    fn default() -> Self {
        Self {
            place: Arc::new(Semaphore::new(1)),
            known: Mutex::default(),
            read: OnceCell::new(),
            #[cfg(test)]
            gate: Arc::default(),
        }
    }
}

impl Comparisons {
    fn known(&self) -> MutexGuard<'_, Vec<Arc<Comparison>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that were begun since an instant, the newest first.
    pub(crate) fn since(&self, from: Instant) -> Vec<Arc<Comparison>> {
        let mut found: Vec<_> = self.known().iter().filter(|of| of.at >= from).cloned().collect();
        found.sort_by_key(|comparison| comparison.position());
        found
    }

    /// One of these; `None` = there is none of this id.
    pub(crate) fn get(&self, id: &Id) -> Option<Arc<Comparison>> {
        self.known().iter().find(|comparison| comparison.id == *id).cloned()
    }

    /// Takes the place of the one that runs.
    ///
    /// # Errors
    /// [`Code::TooBusy`].
    pub(crate) fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.place).try_acquire_owned().map_err(|_| {
            let detail = "a comparison runs already; wait for its end, or stop its job";
            Problem::new(Code::TooBusy, detail)
        })
    }

    /// One that begins, which is to be logged and then added.
    ///
    /// # Errors
    /// [`Code::Internal`] where its id is none: a defect.
    pub(crate) fn make(
        &self,
        by: Option<Author>,
        now: Instant,
    ) -> Result<Arc<Comparison>, Problem> {
        let newest = self.known().iter().filter_map(|of| number(&of.id)).max();
        let number = newest.map_or(now.0, |newest| now.0.max(newest + 1));
        let id = Id::new(&format!("{COMPARE}-{number}"))
            .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
        Ok(Arc::new(Comparison::new(id, by, now)))
    }

    /// Adds one that has begun.
    pub(crate) fn add(&self, comparison: &Arc<Comparison>) {
        let mut known = self.known();
        known.push(Arc::clone(comparison));
        let over = known.len().saturating_sub(KEPT_MAX);
        known.drain(..over);
    }

    /// Adds those of servers before this one, the first time.
    ///
    /// # Errors
    /// Those of `read`, which gives the log's lines of jobs that began, and of jobs that ended.
    pub(crate) async fn know(
        &self,
        read: impl Future<Output = Result<[Vec<ChangeLine>; 2], Problem>>,
    ) -> Result<(), Problem> {
        let known = async {
            let [begun, ended] = read.await?;
            let end_of = |line: &ChangeLine| ended.iter().find(|end| end.subject == line.subject);
            let found = begun.iter().rev();
            let found = found.filter_map(|line| Comparison::logged(line, end_of(line)));
            *self.known() = found.map(Arc::new).collect();
            Ok::<(), Problem>(())
        };
        self.read.get_or_try_init(|| known).await.copied()
    }

    /// Stops the one that runs, with the server.
    pub(crate) fn stop(&self, at: Instant) {
        for comparison in &*self.known() {
            comparison.end_with(ComparisonEnd::stopped(at));
        }
    }
}

/// The number in an id.
fn number(id: &Id) -> Option<i64> {
    id.as_str().rsplit_once('-')?.1.parse().ok()
}

/// The origin of the end of what an origin began.
pub(crate) fn of_end(origin: &Origin) -> Arc<Origin> {
    Arc::new(Origin { action: Some(ENDED.into()), request: None, ..origin.clone() })
}
