//! Measurements of a running node: durations of steps and commits, answers of channels.
//!
//! Counters that any thread may read while the loop writes. They decide nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tidings_core::journal::Partition;
use tidings_core::model::{Answered, CHANNELS};

use crate::channel::{ActiveChannels, AwayProvider, Outcome, WeakActiveChannels};
use crate::hooks::HooksVitals;

/// The upper bounds of the buckets of a [`Histogram`], in seconds.
pub const BOUNDS_S: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

/// A histogram of durations.
#[derive(Debug, Default)]
pub struct Histogram {
    /// The count of each bucket; the last one has no upper bound.
    counts: [AtomicU64; BOUNDS_S.len() + 1],
    sum_ns: AtomicU64,
}

impl Histogram {
    /// Adds the elapsed time.
    pub(crate) fn add(&self, watch: Timer) {
        self.add_duration(watch.elapsed());
    }

    fn add_duration(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS_S.partition_point(|bound| *bound < seconds);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// The number of durations at or below each of [`BOUNDS_S`], and their total number.
    #[must_use]
    pub fn cumulative(&self) -> Vec<u64> {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let sum = |sum: &mut u64, count| {
            *sum += count;
            Some(*sum)
        };
        counts.scan(0, sum).collect()
    }

    /// The sum of all durations.
    #[must_use]
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed))
    }
}

/// Failing reads of the store, until they succeed or the store is opened again.
#[derive(Debug, Default)]
pub struct FailingReads {
    failing: Mutex<BTreeSet<(Partition, Vec<u8>)>>,
    /// Their number: a successful read takes no lock while none fails.
    count: AtomicUsize,
}

/// The most failing reads that are remembered: one is enough to report a failure.
const FAILING_MAX: usize = 1_000;

impl FailingReads {
    /// The partitions in which reads fail.
    #[must_use]
    pub fn failing(&self) -> BTreeSet<Partition> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        failing.iter().map(|(partition, _)| *partition).collect()
    }

    pub(crate) fn failed(&self, partition: Partition, from: &[u8], fault: &tidings_store::Error) {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if failing.len() < FAILING_MAX && failing.insert((partition, from.to_vec())) {
            tracing::error!(?partition, error = %fault, "a read of the store failed");
        }
        self.count.store(failing.len(), Ordering::Relaxed);
    }

    pub(crate) fn succeeded(&self, partition: Partition, from: &[u8]) {
        if self.count.load(Ordering::Relaxed) > 0 {
            let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
            failing.remove(&(partition, from.to_vec()));
            self.count.store(failing.len(), Ordering::Relaxed);
        }
    }

    /// Resets them after the store was opened again.
    pub(crate) fn forget(&self) {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        failing.clear();
        self.count.store(0, Ordering::Relaxed);
    }
}

/// The number of each answer to an attempt, in the order of [`Answered::TO_ATTEMPTS`].
type AttemptCounts = [u64; Answered::TO_ATTEMPTS.len()];

/// A provider of a channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelProvider {
    /// The channel.
    pub channel: String,
    /// The provider's address, without credentials.
    pub provider: Arc<str>,
}

/// The measures of a node.
#[derive(Debug, Default)]
pub struct Vitals {
    /// Durations of requested steps: the engine, the commit, the sync.
    pub steps: Histogram,
    /// Durations of commits.
    pub commits: Histogram,
    /// Failing reads of the store.
    pub reads: FailingReads,
    answers: [[AtomicU64; Answered::TO_ATTEMPTS.len()]; CHANNELS.len()],
    /// Answers by channel and address of the provider, as many as were ever configured since the start.
    provider_answers: Mutex<BTreeMap<ChannelProvider, AttemptCounts>>,
    retries: AtomicU64,
    kept_aside: AtomicU64,
    /// The channels, of which the providers and destinations are known that are left alone. Weak: a handle that outlives
    /// its runtime keeps no connection open.
    channels: OnceLock<WeakActiveChannels>,
    steps_back: AtomicU64,
    refused_chores: AtomicU64,
    store_missing: AtomicBool,
    /// Questions to the host about objects.
    pub resolver: ResolverVitals,
    /// The hooks.
    pub hooks: HooksVitals,
}

/// The measures of the questions to the host about objects, since the start.
#[derive(Debug, Default)]
pub struct ResolverVitals {
    requested: AtomicU64,
    answered: AtomicU64,
    failed: AtomicU64,
    unresolved: AtomicU64,
}

impl ResolverVitals {
    /// Number of objects in questions to the host.
    #[must_use]
    pub fn requested(&self) -> u64 {
        self.requested.load(Ordering::Relaxed)
    }

    /// Number of questions with an answer.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Number of questions without an answer.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Number of messages that were made without the host's word on all of their objects.
    #[must_use]
    pub fn unresolved(&self) -> u64 {
        self.unresolved.load(Ordering::Relaxed)
    }

    pub(crate) fn ask(&self, objects: usize) {
        self.requested.fetch_add(objects as u64, Ordering::Relaxed);
    }

    pub(crate) fn record(&self, is_answered: bool) {
        let count = if is_answered { &self.answered } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn go_without(&self, messages: usize) {
        self.unresolved.fetch_add(messages as u64, Ordering::Relaxed);
    }
}

impl Vitals {
    /// The channels, each with the number of each answer.
    pub fn answers(
        &self,
    ) -> impl Iterator<Item = (&'static str, [(Answered, u64); Answered::TO_ATTEMPTS.len()])> {
        CHANNELS.into_iter().zip(&self.answers).map(|(channel, counts)| {
            let count = |answer: Answered| counts[answer as usize].load(Ordering::Relaxed);
            (channel, Answered::TO_ATTEMPTS.map(|answer| (answer, count(answer))))
        })
    }

    /// The providers that answered since the start, each with the number of each answer.
    #[must_use]
    pub fn provider_answers(&self) -> BTreeMap<ChannelProvider, AttemptCounts> {
        self.provider_answers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Messages that wait for a retry.
    #[must_use]
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Messages that wait for a recipient who has his share of the threads of a channel, or for a destination that has,
    /// or is left alone.
    #[must_use]
    pub fn kept_aside(&self) -> u64 {
        self.kept_aside.load(Ordering::Relaxed)
    }

    /// The providers and destinations that are left alone at an instant, by channel.
    #[must_use]
    pub fn left_alone(&self, now: tidings_core::Instant) -> Vec<(String, AwayProvider)> {
        let channels = self.channels.get().and_then(WeakActiveChannels::upgrade);
        channels.map_or_else(Vec::new, |channels| channels.left_alone(now))
    }

    /// The provider or the destination that keeps a message of a channel to these addresses back at an instant.
    #[must_use]
    pub fn holds(
        &self,
        channel: &str,
        addresses: &[String],
        now: tidings_core::Instant,
    ) -> Option<AwayProvider> {
        let outlet = self.channels.get().and_then(WeakActiveChannels::upgrade)?.outlet(channel)?;
        let kind = tidings_core::model::channel_kind(channel)?.address?;
        let names: std::collections::BTreeSet<String> =
            addresses.iter().filter_map(|address| kind.destination(address)).collect();
        let destinations: Vec<Arc<str>> = names.into_iter().map(Arc::from).collect();
        outlet.holds(&destinations, now)
    }

    /// Number of times that the clock stepped back since the start. Nothing is lost or sent twice because
    /// of it, but due messages wait until the clock has caught up.
    #[must_use]
    pub fn steps_back(&self) -> u64 {
        self.steps_back.load(Ordering::SeqCst)
    }

    /// Number of times that the store refused a chore's writes since the start. The chores of that bucket
    /// stop until the next start.
    #[must_use]
    pub fn refused_chores(&self) -> u64 {
        self.refused_chores.load(Ordering::SeqCst)
    }

    /// True while the store that was open is not there: it went away, or another is in its place.
    #[must_use]
    pub fn is_store_missing(&self) -> bool {
        self.store_missing.load(Ordering::SeqCst)
    }

    pub(crate) fn set_store_missing(&self, is_missing: bool) {
        self.store_missing.store(is_missing, Ordering::SeqCst);
    }

    pub(crate) fn refused_chore(&self) {
        self.refused_chores.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts an answer; of no provider (empty) where none was called.
    pub(crate) fn answered(&self, channel: &str, provider: &Arc<str>, answer: &Outcome) {
        let kind = answer.answered() as usize;
        let number = CHANNELS.iter().position(|name| *name == channel);
        if let Some(counts) = number.and_then(|number| self.answers.get(number)) {
            counts[kind].fetch_add(1, Ordering::Relaxed);
        }
        if !provider.is_empty() {
            let of =
                ChannelProvider { channel: channel.to_owned(), provider: Arc::clone(provider) };
            let mut answers = self.provider_answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.entry(of).or_default()[kind] += 1;
        }
    }

    pub(crate) fn set_retries(&self, waiting: usize) {
        self.retries.store(waiting as u64, Ordering::Relaxed);
    }

    pub(crate) fn set_kept_aside(&self, messages: usize) {
        self.kept_aside.store(messages as u64, Ordering::Relaxed);
    }

    /// Sets the channels, once.
    pub(crate) fn watch(&self, channels: &ActiveChannels) {
        let _ = self.channels.set(channels.downgrade());
    }

    pub(crate) fn stepped_back(&self) {
        self.steps_back.fetch_add(1, Ordering::SeqCst);
    }
}

/// A stopwatch for measurements; what the engine decides does not depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer(Instant);

impl Timer {
    pub(crate) fn start() -> Self {
        Self(reading())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// The time by a clock for measurements.
#[expect(
    clippy::disallowed_methods,
    reason = "what is measured here is shown, or says who has had their share of time"
)]
pub(crate) fn reading() -> Instant {
    Instant::now()
}

/// Runs a function and adds its duration.
pub(crate) fn timed<T>(histogram: &Histogram, work: impl FnOnce() -> T) -> T {
    let watch = Timer::start();
    let done = work();
    histogram.add(watch);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_counted_at_or_below_their_bounds() {
        let histogram = Histogram::default();
        for ms in [1, 2, 60_000] {
            histogram.add_duration(Duration::from_millis(ms));
        }
        let counts = histogram.cumulative();
        assert_eq!(counts.len(), BOUNDS_S.len() + 1);
        assert_eq!(counts[..4], [0, 1, 2, 2]);
        assert_eq!(counts[BOUNDS_S.len() - 1..], [2, 3]);
        assert_eq!(histogram.sum(), Duration::from_millis(60_003));
    }

    #[test]
    fn answers_are_counted_by_channel_and_provider() {
        let vitals = Vitals::default();
        let failed = Outcome::Failed { why: "no".to_owned(), suppress: None };
        let provider = Arc::from("smtp://mail.example.org");
        vitals.answered("email", &provider, &failed);
        vitals.answered("email", &Arc::from(""), &failed);
        vitals.answered("smoke signals", &Arc::from(""), &failed);
        for (channel, counts) in vitals.answers() {
            for (answer, count) in counts {
                let is_counted = channel == "email" && answer == Answered::Failed;
                assert_eq!(count, 2 * u64::from(is_counted), "{channel} {answer:?}");
            }
        }
        let of = ChannelProvider { channel: "email".to_owned(), provider };
        assert_eq!(vitals.provider_answers(), BTreeMap::from([(of, [0, 1, 0, 0])]));
    }
}
