//! Delivery: sends batches with bounded concurrency, and decides what an answer leads to.
//!
//! Surely not sent -> again later, with growing waits. Refused -> failed. Unknown -> once more with
//! the same batch id, which is the provider's idempotency key, counted as resent; then unknown.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidings_core::engine::{Plan, Sent};
use tidings_core::{Batch, Instant, Outcome};

use crate::channel::{Channel, Outcome as Answer};
use crate::node::Ready;

/// When a message that could not be handed over is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The first wait in milliseconds; each next one is twice as long.
    pub wait_ms: i64,
    /// The longest wait in milliseconds.
    pub wait_ms_max: i64,
    /// After so many attempts in all a message has failed.
    pub attempts_max: u32,
}

impl Default for Retries {
    /// 30 s, 1 min, 2 min, ... up to an hour: some 30 hours in all.
    fn default() -> Self {
        Self {
            wait_ms: 30_000,
            wait_ms_max: 3_600_000,
            attempts_max: 36,
        }
    }
}

/// A message on its way.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) closing: (u16, u64),
    pub(crate) number: u32,
    pub(crate) told: Vec<u64>,
    pub(crate) batch: Arc<Batch>,
    attempts: u32,
    resent: u32,
}

/// What became of messages of a closing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) closing: (u16, u64),
    pub(crate) sent: Vec<Sent>,
}

/// What an answer leads to.
enum Next {
    Done(Outcome),
    Again(Instant),
}

/// Sends batches through channels.
pub struct Delivery {
    channels: BTreeMap<String, Arc<dyn Channel>>,
    retries: Retries,
    threads: usize,
    waiting: BTreeMap<(Instant, u64), Parcel>,
    next_ticket: u64,
}

impl Delivery {
    /// A delivery through these channels by name, on at most this many threads at once.
    #[must_use]
    pub fn new(
        channels: BTreeMap<String, Arc<dyn Channel>>,
        retries: Retries,
        threads: usize,
    ) -> Self {
        let threads = threads.max(1);
        Self {
            channels,
            retries,
            threads,
            waiting: BTreeMap::new(),
            next_ticket: 0,
        }
    }

    /// When the next message is to be tried again.
    #[must_use]
    pub fn next_retry(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|((at, _), _)| *at)
    }

    /// How many messages wait to be tried again.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The channels by name.
    pub(crate) fn channels(&self) -> BTreeMap<String, Arc<dyn Channel>> {
        self.channels.clone()
    }

    /// Takes up messages of before a stop; they go with the next ones.
    pub(crate) fn take_up(&mut self, ready: Ready, now: Instant) {
        for parcel in parcels(ready) {
            self.waiting.insert((now, self.next_ticket), parcel);
            self.next_ticket += 1;
        }
    }

    /// Sends messages that are ready, and waits for the answers.
    pub(crate) fn send(&mut self, ready: Ready, now: Instant) -> Vec<Settled> {
        self.send_parcels(parcels(ready), now)
    }

    /// Sends again what is to be tried again by now.
    pub(crate) fn retry(&mut self, now: Instant) -> Vec<Settled> {
        let due = self.take_due(now);
        self.send_parcels(due, now)
    }

    /// Takes out what is to be tried again by now.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Parcel> {
        let later = self
            .waiting
            .split_off(&(Instant(now.0.saturating_add(1)), 0));
        std::mem::replace(&mut self.waiting, later)
            .into_values()
            .collect()
    }

    fn send_parcels(&mut self, parcels: Vec<Parcel>, now: Instant) -> Vec<Settled> {
        let share = parcels.len().div_ceil(self.threads).max(1);
        let answers: Vec<Answer> = if parcels.len() < 2 * self.threads {
            parcels
                .iter()
                .map(|parcel| self.answer(parcel, now))
                .collect()
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = parcels
                    .chunks(share)
                    .map(|chunk| {
                        let this = &*self;
                        scope.spawn(move || {
                            chunk
                                .iter()
                                .map(|parcel| this.answer(parcel, now))
                                .collect::<Vec<_>>()
                        })
                    })
                    .collect();
                let answers = workers.into_iter().zip(parcels.chunks(share));
                answers
                    .flat_map(|(worker, chunk)| {
                        worker
                            .join()
                            .unwrap_or_else(|_| vec![panicked(); chunk.len()])
                    })
                    .collect()
            })
        };
        let mut settled: BTreeMap<(u16, u64), Vec<Sent>> = BTreeMap::new();
        for (parcel, answer) in parcels.into_iter().zip(answers) {
            let closing = parcel.closing;
            if let Some(sent) = self.settle(parcel, &answer, now) {
                settled.entry(closing).or_default().push(sent);
            }
        }
        settled
            .into_iter()
            .map(|(closing, sent)| Settled { closing, sent })
            .collect()
    }

    fn answer(&self, parcel: &Parcel, now: Instant) -> Answer {
        match self.channels.get(&parcel.batch.channel) {
            Some(channel) => channel.send(&parcel.batch, now),
            None => no_channel(&parcel.batch.channel),
        }
    }

    /// What became of a message; `None` = it will be tried again.
    pub(crate) fn settle(
        &mut self,
        mut parcel: Parcel,
        answer: &Answer,
        now: Instant,
    ) -> Option<Sent> {
        parcel.attempts += 1;
        match self.next(&parcel, answer, now) {
            Next::Done(outcome) => {
                let Parcel {
                    number,
                    told,
                    resent,
                    ..
                } = parcel;
                Some(Sent {
                    number,
                    told,
                    outcome,
                    resent,
                })
            }
            Next::Again(at) => {
                parcel.resent += u32::from(matches!(answer, Answer::Unknown { .. }));
                self.waiting.insert((at, self.next_ticket), parcel);
                self.next_ticket += 1;
                None
            }
        }
    }

    fn next(&self, parcel: &Parcel, answer: &Answer, now: Instant) -> Next {
        let wait = |least: Option<i64>| {
            let doubled = self.retries.wait_ms << (parcel.attempts - 1).min(20);
            let wait = doubled
                .min(self.retries.wait_ms_max)
                .max(least.unwrap_or(0));
            // Spread over a tenth, by the batch id: no random number is needed to break up a herd.
            let spread = parcel
                .batch
                .id
                .bytes()
                .fold(0, |sum, byte| (sum * 31 + i64::from(byte)) % 997);
            now.plus_ms(wait + wait * spread / 9_970)
        };
        match answer {
            Answer::Sent(_) => Next::Done(Outcome::Delivered),
            Answer::Failed { .. } => Next::Done(Outcome::Failed),
            Answer::Retry { .. } if parcel.attempts >= self.retries.attempts_max => {
                Next::Done(Outcome::Failed)
            }
            Answer::Retry { after_ms, .. } => Next::Again(wait(*after_ms)),
            Answer::Unknown { .. } if parcel.resent > 0 => Next::Done(Outcome::Unknown),
            Answer::Unknown { .. } => Next::Again(wait(None)),
        }
    }
}

/// The messages of a slice, each by itself.
pub(crate) fn parcels(ready: Ready) -> Vec<Parcel> {
    let Ready { plan, batches } = ready;
    let closing = (plan.bucket, plan.closing);
    let parcel = |(at, batch): (usize, Batch)| {
        let letter = &plan.letters[at];
        Parcel {
            closing,
            number: letter.number,
            told: plan.told(letter),
            batch: Arc::new(batch),
            attempts: 0,
            resent: 0,
        }
    };
    batches.into_iter().map(parcel).collect()
}

/// A slice of which everything was sent.
pub(crate) fn all_sent(plan: &Plan) -> Settled {
    let telling = plan.letters.iter().filter(|letter| letter.tells());
    let sent = telling.map(|letter| Sent {
        number: letter.number,
        told: plan.told(letter),
        outcome: Outcome::Delivered,
        resent: 0,
    });
    Settled {
        closing: (plan.bucket, plan.closing),
        sent: sent.collect(),
    }
}

/// The answer where a channel has no provider.
pub(crate) fn no_channel(channel: &str) -> Answer {
    Answer::Failed {
        why: format!("the channel `{channel}` has no provider"),
        address_dead: false,
    }
}

/// The answer where a channel broke down while sending: nobody knows how far it came.
pub(crate) fn panicked() -> Answer {
    Answer::Unknown {
        why: "the channel broke down".to_owned(),
    }
}
