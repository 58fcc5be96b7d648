//! The commits of a node: a turn decides one, and the next turn is decided while it is written.
//!
//! A step decides on what is stored, on the commit that is being written, and on what was gathered for the next one.
//! At most one commit is under way, and nothing of the next reaches the store before it has succeeded: a commit that
//! fails takes along everything that was decided on it, together with the engine. Requests are answered after their
//! commit is durable.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, after, bounded, never, select};
use tidings_core::Day;
use tidings_core::engine::EngineSnapshot;
use tidings_core::journal::Write;
use tidings_store::{Commit, Store};

use crate::commit::durable::SnapshotPublisher;
use crate::commit::executor::Executor;
use crate::commit::{CommitNo, DecidedStep, WhenDurable, Writes, long_values};
use crate::error::{Error, RuntimeError};
use crate::telemetry::vitals::{Timer, Vitals, timed};

type CommitResult = Result<(), tidings_store::Error>;

/// The bytes of a commit to which nothing more is added.
const BYTES_MAX: usize = 8 << 20;

/// The writer of commits, one at a time: at once, in a thread of its own, or when the driver calls it.
pub(crate) struct CommitPipeline {
    store: Arc<dyn Store>,
    vitals: Arc<Vitals>,
    /// The next commit.
    gathered: CommitDraft,
    under_way: Option<CommitInProgress>,
    /// The newest commit that was handed over.
    started: CommitNo,
    /// The newest commit that is durable.
    durable: CommitNo,
    /// The writing thread, started with the first commit.
    writer: Option<(Sender<CommitJob>, JoinHandle<()>)>,
    by: Executor,
    /// The commit in progress, if the driver is to write it.
    by_hand: Option<CommitJob>,
    shown: Option<SnapshotPublisher>,
}

/// A commit that is being decided, and what follows it.
#[derive(Default)]
struct CommitDraft {
    /// The writes of its steps, in order. A read looks into each list, so there are few: one is more than
    /// twice as long as the next.
    writes: Vec<Writes>,
    bytes: usize,
    /// True if it leads to free space.
    frees: bool,
    /// Days to delete right after it.
    forgotten: Vec<Day>,
    /// The lock is never taken: it only makes a node shareable with threads that read it.
    answers: Mutex<Vec<WhenDurable>>,
    /// Time since the first requested step began.
    took: Option<Timer>,
    /// The engine as it is with this commit, once it was handed over and if readers are to see it.
    engine: Option<EngineSnapshot>,
}

struct CommitInProgress {
    gathered: CommitDraft,
    ended: Receiver<CommitResult>,
    /// Says when its write hangs.
    hangs: Receiver<Instant>,
    /// The answer of the thread, if it came already.
    result: Option<CommitResult>,
}

struct CommitJob {
    commit: Commit,
    frees: bool,
    /// Days to delete after it.
    forgotten: Vec<Day>,
    vitals: Arc<Vitals>,
    end: Sender<CommitResult>,
}

impl CommitJob {
    fn write(commit: Commit, frees: bool, store: &dyn Store, vitals: &Vitals) -> CommitResult {
        timed(&vitals.commits, || {
            if frees { store.commit_to_free(commit) } else { store.commit(commit) }
        })
    }
}

impl CommitPipeline {
    pub(crate) fn new(store: &Arc<dyn Store>) -> Self {
        Self {
            store: Arc::clone(store),
            vitals: Arc::default(),
            gathered: CommitDraft::default(),
            under_way: None,
            started: CommitNo::default(),
            durable: CommitNo::default(),
            writer: None,
            by: Executor::Caller,
            by_hand: None,
            shown: None,
        }
    }

    /// Sets the measurements.
    pub(crate) fn measure(&mut self, vitals: &Arc<Vitals>) {
        self.vitals = Arc::clone(vitals);
    }

    /// Sets where readers see each commit that has ended well.
    pub(crate) fn show_by(&mut self, shown: &SnapshotPublisher) {
        self.shown = Some(shown.clone());
    }

    /// Shows nothing to readers any more.
    pub(crate) fn hide(&mut self) {
        if let Some(shown) = self.shown.take() {
            shown.hide();
        }
    }

    /// Sets who writes.
    pub(crate) fn write_by(&mut self, by: Executor) {
        self.by = by;
    }

    /// Writes the commit in progress by hand. Whether there was one.
    pub(crate) fn write(&mut self) -> bool {
        let job = self.by_hand.take();
        let Some(job) = job else { return false };
        self.record(CommitJob::write(job.commit, job.frees, &*self.store, &job.vitals));
        true
    }

    /// Loses the commit in progress, as a crash does.
    pub(crate) fn lose(&mut self) {
        self.by_hand = None;
    }

    /// The writes that are not durable yet, in order.
    pub(crate) fn writes(&self) -> Vec<Writes> {
        let under_way = self.under_way.iter();
        under_way
            .flat_map(|under_way| &under_way.gathered.writes)
            .chain(&self.gathered.writes)
            .cloned()
            .collect()
    }

    /// The newest commit of which something is decided.
    pub(crate) fn decided(&self) -> CommitNo {
        CommitNo(self.started.0 + u64::from(!self.gathered.writes.is_empty()))
    }

    /// The newest commit that is durable, and whose requests were answered.
    pub(crate) fn durable(&self) -> CommitNo {
        self.durable
    }

    /// Receivers of the result of the commit in progress, to be passed to [`CommitPipeline::record`], and of the instant from
    /// which on it hangs ([`CommitPipeline::give_up`]).
    pub(crate) fn ended(&self) -> (Receiver<CommitResult>, Receiver<Instant>) {
        match &self.under_way {
            Some(under_way) if under_way.result.is_none() => {
                (under_way.ended.clone(), under_way.hangs.clone())
            }
            _ => (never(), never()),
        }
    }

    /// Gives up the commit in progress: its thread keeps the handles of the store, and its lock.
    pub(crate) fn give_up(&mut self) {
        self.writer = None;
        self.record(Err(self.hung()));
    }

    fn hung(&self) -> tidings_store::Error {
        tidings_store::Error::Hung(self.store.patience().unwrap_or_default().as_secs())
    }

    /// Records the result of the commit in progress.
    pub(crate) fn record(&mut self, ended: CommitResult) {
        if let Some(under_way) = &mut self.under_way {
            under_way.result = Some(ended);
        }
    }

    /// Returns true if a commit is in progress.
    pub(crate) fn is_writing(&self) -> bool {
        let under_way = self.under_way.as_ref();
        under_way.is_some_and(|under_way| under_way.result.is_none())
    }

    /// Returns true if the commit in progress has ended, and what follows it is to be done.
    pub(crate) fn has_ended(&self) -> bool {
        self.under_way.is_some() && !self.is_writing()
    }

    /// Adds what a step has decided to the next commit. It stays open for what follows of the step, until
    /// [`CommitPipeline::close_if_due`].
    ///
    /// # Errors
    /// [`Error::Store`]; nothing was added.
    pub(crate) fn gather(&mut self, decided: DecidedStep) -> Result<(), Error> {
        let DecidedStep { writes, forgotten, frees } = decided;
        let writes = long_values::cut(writes, self.store.value_bytes_max());
        let frees = frees || !forgotten.is_empty();
        if self.by == Executor::Caller {
            if !writes.is_empty() {
                CommitJob::write(writes.into(), frees, &*self.store, &self.vitals)?;
            }
            return self.forget(&forgotten);
        }
        if writes.is_empty() && forgotten.is_empty() {
            return Ok(());
        }
        // What can't be stored must not take the steps before it along.
        self.store.ensure_fits(&writes)?;
        let bytes = |write: &Write| write.key.len() + write.value.as_ref().map_or(0, Vec::len);
        self.gathered.bytes += writes.iter().map(bytes).sum::<usize>();
        self.gathered.frees |= frees;
        self.gathered.forgotten.extend(forgotten);
        let mut writes = Writes::new(writes);
        let lists = &mut self.gathered.writes;
        while let Some(before) = lists.pop_if(|before| before.0.len() <= 2 * writes.0.len()) {
            writes = before.followed_by(writes);
        }
        lists.push(writes);
        Ok(())
    }

    /// Answers a request as soon as everything decided by now is durable.
    pub(crate) fn answer(&mut self, answer: WhenDurable) {
        let gathered = match &mut self.under_way {
            // A request without writes waits too: it may have read what is not durable yet.
            _ if !self.gathered.writes.is_empty() => &mut self.gathered,
            Some(under_way) => &mut under_way.gathered,
            None => return answer(Ok(())),
        };
        let answers = gathered.answers.get_mut();
        answers.unwrap_or_else(PoisonError::into_inner).push(answer);
    }

    /// Measures the time of a step, which began some time ago, until the next commit is durable.
    pub(crate) fn time(&mut self, took: Timer) {
        if self.gathered.writes.is_empty() {
            self.vitals.steps.add(took);
        } else {
            self.gathered.took.get_or_insert(took);
        }
    }

    /// Hands the next commit over where it is large. Where it forgets days, waits until they are deleted:
    /// nothing else is decided before that. `engine` is what readers see once it is durable.
    ///
    /// # Errors
    /// As [`CommitPipeline::finish`].
    pub(crate) fn close_if_due(
        &mut self,
        engine: impl FnOnce() -> Option<EngineSnapshot>,
    ) -> Result<(), Error> {
        if !self.gathered.forgotten.is_empty() {
            return self.flush(engine);
        }
        if self.gathered.bytes >= BYTES_MAX {
            return self.hand_over(engine);
        }
        Ok(())
    }

    /// Begins to write what was gathered, once the commit before it has ended. `engine` is what readers see once
    /// it is durable.
    ///
    /// # Errors
    /// As [`CommitPipeline::finish`].
    pub(crate) fn hand_over(
        &mut self,
        engine: impl FnOnce() -> Option<EngineSnapshot>,
    ) -> Result<(), Error> {
        let lists = std::mem::take(&mut self.gathered.writes);
        let Some(writes) = lists.into_iter().reduce(Writes::followed_by) else {
            return Ok(());
        };
        // Merged while the commit before is still being written, and put back: should that one fail,
        // `finish` fails these too.
        self.gathered.writes.push(writes.clone());
        self.finish()?;
        let mut gathered = std::mem::take(&mut self.gathered);
        // Is taken before the next step changes the engine, and shown once the commit is durable.
        gathered.engine = engine();
        let (end, ended) = bounded(1);
        let job = CommitJob {
            commit: Commit { writes: writes.0 },
            frees: gathered.frees,
            forgotten: gathered.forgotten.clone(),
            vitals: Arc::clone(&self.vitals),
            end,
        };
        self.started = CommitNo(self.started.0 + 1);
        self.under_way = Some(CommitInProgress {
            gathered,
            ended,
            hangs: self.store.patience().map_or_else(never, after),
            result: None,
        });
        if self.by == Executor::Hand {
            self.by_hand = Some(job);
            return Ok(());
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(start_writer(&self.store)?),
        };
        // A writer that is gone has dropped its end of the job, which says so.
        let _ = writer.0.send(job);
        Ok(())
    }

    /// Writes what was gathered, and waits for it.
    ///
    /// # Errors
    /// As [`CommitPipeline::finish`].
    pub(crate) fn flush(
        &mut self,
        engine: impl FnOnce() -> Option<EngineSnapshot>,
    ) -> Result<(), Error> {
        self.hand_over(engine)?;
        self.finish()
    }

    /// Waits for the commit in progress, and answers its requests.
    ///
    /// # Errors
    /// [`Error::Store`] if it failed; later decisions are lost then, and their requests fail too.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.write();
        if self.is_writing() {
            let (ended, hangs) = self.ended();
            select! {
                recv(ended) -> ended => self.record(ended.unwrap_or_else(|_| Err(gone()))),
                recv(hangs) -> _ => self.give_up(),
            }
        }
        let Some(CommitInProgress { mut gathered, result, .. }) = self.under_way.take() else {
            return Ok(());
        };
        let ended = result.unwrap_or_else(|| Err(gone())).map_err(Error::from);
        let ended = match self.by {
            // The writing thread has deleted them.
            Executor::Threads => ended,
            Executor::Caller | Executor::Hand => {
                ended.and_then(|()| self.forget(&gathered.forgotten))
            }
        };
        // Is shown before anybody is answered: a client that reads next must find what it wrote.
        let ended = ended.and_then(|()| match (gathered.engine.take(), &self.shown) {
            (Some(engine), Some(shown)) => shown.show(engine),
            _ => Ok(()),
        });
        if ended.is_err() {
            self.hide();
        }
        if let Some(took) = gathered.took {
            self.vitals.steps.add(took);
        }
        if ended.is_ok() {
            self.durable = self.started;
        }
        gathered.answer(&ended);
        if ended.is_err() {
            // What was decided meanwhile rests on the commit that failed, so it fails as well.
            std::mem::take(&mut self.gathered).answer(&ended);
        }
        ended
    }

    fn forget(&self, days: &[Day]) -> Result<(), Error> {
        for day in days {
            self.store.forget(*day)?;
        }
        Ok(())
    }
}

impl CommitDraft {
    /// Answers the requests.
    fn answer(self, ended: &Result<(), Error>) {
        let answers = self.answers.into_inner();
        for answer in answers.unwrap_or_else(PoisonError::into_inner) {
            answer(match ended {
                Ok(()) => Ok(()),
                Err(fault) => Err(RuntimeError::of_commit(fault)),
            });
        }
    }
}

impl Drop for CommitPipeline {
    fn drop(&mut self) {
        if let Err(fault) = self.finish() {
            tracing::error!(error = %fault, "the last commit failed");
        }
        if let Some((jobs, writer)) = self.writer.take() {
            drop(jobs);
            if writer.join().is_err() {
                tracing::error!("the thread that writes ahead broke down");
            }
        }
    }
}

/// The error if the writing thread has not answered.
pub(crate) fn gone() -> tidings_store::Error {
    tidings_store::Error::Unavailable("the thread that writes is gone".to_owned())
}

fn start_writer(store: &Arc<dyn Store>) -> Result<(Sender<CommitJob>, JoinHandle<()>), Error> {
    let store = Arc::clone(store);
    let (jobs, to_do) = bounded::<CommitJob>(1);
    let write = move || {
        for job in to_do {
            let mut days = job.forgotten.iter();
            let ended = CommitJob::write(job.commit, job.frees, &*store, &job.vitals)
                // Days go after their commit: a crash between the two leaves rows that nobody reads, the
                // other order loses entries that still count.
                .and_then(|()| days.try_for_each(|day| store.forget(*day)));
            let _ = job.end.send(ended);
        }
    };
    let thread = std::thread::Builder::new().name("tidings-ahead".to_owned());
    let thread =
        thread.spawn(write).map_err(|fault| tidings_store::Error::Unusable(fault.to_string()))?;
    Ok((jobs, thread))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tidings_store::Partition;

    use super::*;

    fn step(number: u8, bytes: usize) -> DecidedStep {
        let write = Write {
            partition: Partition::Base,
            key: vec![number],
            value: Some(vec![number; bytes]),
        };
        DecidedStep { writes: vec![write], ..DecidedStep::default() }
    }

    fn by_hand(store: &Arc<tidings_store::FaultStore>) -> CommitPipeline {
        let mut ahead = CommitPipeline::new(&(Arc::clone(store) as Arc<dyn Store>));
        ahead.write_by(Executor::Hand);
        ahead
    }

    #[test]
    fn a_commit_that_grew_too_large_is_handed_over_before_its_turn_ends() {
        let store = Arc::new(tidings_store::FaultStore::new(tidings_store::NoFaults));
        let mut ahead = by_hand(&store);
        for number in 0..8 {
            assert!(!ahead.is_writing());
            ahead.gather(step(number, BYTES_MAX / 8)).unwrap();
            ahead.close_if_due(|| None).unwrap();
        }
        assert!(ahead.is_writing());
        ahead.gather(step(0, 1)).unwrap();
        assert_eq!((ahead.decided(), ahead.durable()), (CommitNo(2), CommitNo(0)));
        ahead.flush(|| None).unwrap();
        assert_eq!((store.writes(), ahead.durable()), (2, CommitNo(2)));
        assert!(ahead.writes().is_empty());
    }

    /// A store whose writes do not come back while it is held.
    struct Stuck(Mutex<Receiver<()>>);

    impl Store for Stuck {
        fn snapshot(&self) -> Result<Box<dyn tidings_store::Snapshot>, tidings_store::Error> {
            tidings_store::MemoryStore::new().snapshot()
        }

        fn commit(&self, _: Commit) -> CommitResult {
            let _released = self.0.lock().unwrap().recv();
            Ok(())
        }

        fn patience(&self) -> Option<Duration> {
            Some(Duration::ZERO)
        }

        fn days(&self) -> Result<Vec<Day>, tidings_store::Error> {
            Ok(Vec::new())
        }

        fn forget(&self, _: Day) -> CommitResult {
            Ok(())
        }
    }

    #[test]
    fn o5_a_write_that_does_not_come_back_is_given_up_and_nobody_waits_for_it() {
        let (release, hold) = bounded(0);
        let store: Arc<dyn Store> = Arc::new(Stuck(Mutex::new(hold)));
        let mut ahead = CommitPipeline::new(&store);
        ahead.write_by(Executor::Threads);
        ahead.gather(step(1, 1)).unwrap();
        let ended = ahead.flush(|| None);
        let hung = Error::Store(tidings_store::Error::Hung(0));
        assert_eq!(ended.unwrap_err().to_string(), hung.to_string());
        drop(ahead);
        drop::<Sender<()>>(release);
    }

    #[test]
    fn a_read_looks_into_few_lists_however_many_steps_there_were() {
        let store = Arc::new(tidings_store::FaultStore::new(tidings_store::NoFaults));
        let mut ahead = by_hand(&store);
        for number in 0..100 {
            ahead.gather(step(number, 1)).unwrap();
            ahead.gather(step(0, usize::from(number))).unwrap();
            let lists = ahead.writes();
            assert!(lists.len() <= 7, "{} after {number}", lists.len());
            let mut newest_first = lists.iter().rev();
            let newest = newest_first.find_map(|list| list.get(Partition::Base, &[0]));
            assert_eq!(newest.unwrap().unwrap().len(), usize::from(number));
        }
        ahead.hand_over(|| None).unwrap();
        assert_eq!(ahead.writes().len(), 1);
    }
}
