//! The threads that send, and what is on its way through them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, TryRecvError, select, unbounded};

use crate::channel::Outcome as Answer;
use crate::clock::Clock;
use crate::delivery::{Delivery, Parcel, no_channel, panicked};
use crate::node::Pace;

/// Names a message: its closing, and the recipient's number in the bucket.
pub(crate) type Letter = ((u16, u64), u32);

/// The threads that send. Messages of lanes that are due at once go before those of digests, and
/// each kind has room of its own: a million digests never keep one of the others from being made.
pub(crate) struct Senders {
    prompt: Line,
    patient: Line,
    answers: Receiver<(Parcel, Answer)>,
    room: usize,
}

/// Messages of one pace.
struct Line {
    parcels: Sender<Parcel>,
    on_the_way: BTreeSet<Letter>,
}

impl Senders {
    pub(crate) fn start(count: usize, delivery: &Delivery, clock: &Arc<dyn Clock>) -> Self {
        let (prompt, prompt_work) = unbounded::<Parcel>();
        let (patient, patient_work) = unbounded::<Parcel>();
        let (answer, answers) = unbounded();
        for _ in 0..count {
            let (prompt, patient) = (prompt_work.clone(), patient_work.clone());
            let (answer, clock) = (answer.clone(), Arc::clone(clock));
            let channels = delivery.channels();
            std::thread::spawn(move || {
                while let Some(parcel) = next_parcel(&prompt, &patient) {
                    let channel = channels.get(&parcel.batch.channel);
                    let now = clock.now();
                    let send = || match channel {
                        Some(channel) => channel.send(&parcel.batch, now),
                        None => no_channel(&parcel.batch.channel),
                    };
                    let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(send));
                    if answer
                        .send((parcel, sent.unwrap_or_else(|_| panicked())))
                        .is_err()
                    {
                        break;
                    }
                }
            });
        }
        Self {
            prompt: Line::new(prompt),
            patient: Line::new(patient),
            answers,
            room: count * 64,
        }
    }

    /// Where answers come in; each is to be shown to [`Senders::arrived`].
    pub(crate) fn answers(&self) -> &Receiver<(Parcel, Answer)> {
        &self.answers
    }

    /// An answer came in.
    pub(crate) fn arrived(&mut self, parcel: &Parcel) {
        let letter = letter(parcel);
        self.line_mut(pace(parcel)).on_the_way.remove(&letter);
    }

    /// Whether more messages of this pace can be made.
    pub(crate) fn has_room(&self, pace: Pace) -> bool {
        self.line(pace).on_the_way.len() < self.room
    }

    /// Whether no message is on its way.
    pub(crate) fn is_idle(&self) -> bool {
        self.prompt.on_the_way.is_empty() && self.patient.on_the_way.is_empty()
    }

    /// Whether a message is on its way.
    pub(crate) fn holds(&self, letter: &Letter) -> bool {
        self.prompt.on_the_way.contains(letter) || self.patient.on_the_way.contains(letter)
    }

    /// Hands a message to the threads; it comes back where there is none left.
    pub(crate) fn dispatch(&mut self, parcel: Parcel) -> Result<(), Box<Parcel>> {
        let letter = letter(&parcel);
        let line = self.line_mut(pace(&parcel));
        line.parcels
            .send(parcel)
            .map_err(|returned| Box::new(returned.into_inner()))?;
        line.on_the_way.insert(letter);
        Ok(())
    }

    fn line(&self, pace: Pace) -> &Line {
        match pace {
            Pace::Prompt => &self.prompt,
            Pace::Patient => &self.patient,
        }
    }

    fn line_mut(&mut self, pace: Pace) -> &mut Line {
        match pace {
            Pace::Prompt => &mut self.prompt,
            Pace::Patient => &mut self.patient,
        }
    }
}

impl Line {
    fn new(parcels: Sender<Parcel>) -> Self {
        Self {
            parcels,
            on_the_way: BTreeSet::new(),
        }
    }
}

/// The name of a parcel's message.
pub(crate) fn letter(parcel: &Parcel) -> Letter {
    (parcel.closing, parcel.number)
}

fn pace(parcel: &Parcel) -> Pace {
    Pace::of(&parcel.batch.lane)
}

/// The next message to send: a prompt one if there is any.
fn next_parcel(prompt: &Receiver<Parcel>, patient: &Receiver<Parcel>) -> Option<Parcel> {
    match prompt.try_recv() {
        Ok(parcel) => return Some(parcel),
        Err(TryRecvError::Disconnected) => return patient.recv().ok(),
        Err(TryRecvError::Empty) => {}
    }
    select! {
        recv(prompt) -> parcel => parcel.or_else(|_| patient.recv()).ok(),
        recv(patient) -> parcel => parcel.or_else(|_| prompt.recv()).ok(),
    }
}
