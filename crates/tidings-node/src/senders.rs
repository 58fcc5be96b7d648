//! The queue of messages to send, and the threads that serve it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, TryRecvError, select, unbounded};
use tidings_core::engine::LetterName;
use tidings_core::pause::Paused;

use crate::channel::{InForce, Outcome as Answer};
use crate::clock::Clock;
use crate::delivery::{Delivery, Parcel, send};
use crate::node::Pace;

/// The queue of messages to send. Prompt messages go before digests, and each kind has room of its own: a million
/// digests never prevent a prompt message from being built. Some threads take no digests, so that they
/// stay free if a server is slow with those.
pub(crate) struct Senders {
    prompt: Line,
    patient: Line,
    answers: Receiver<(Parcel, Answer)>,
    room: usize,
}

/// Messages of one pace.
struct Line {
    parcels: Sender<Slot>,
    on_the_way: BTreeMap<LetterName, Slot>,
}

/// A slot of the queue with a message. The first to empty it has the message: a thread that hands it
/// over, or the loop that keeps it back.
type Slot = Arc<Mutex<Option<Parcel>>>;

fn locked(slot: &Slot) -> MutexGuard<'_, Option<Parcel>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The other end of the queue: takes messages out of it and sends them.
#[derive(Clone)]
pub(crate) struct Server {
    prompt: Receiver<Slot>,
    patient: Receiver<Slot>,
    answer: Sender<(Parcel, Answer)>,
    channels: InForce,
    clock: Arc<dyn Clock>,
}

impl Server {
    /// Starts so many threads that send.
    pub(crate) fn start(&self, count: usize) {
        for number in 0..count {
            let is_kept_free = number < kept_free(count);
            let server = self.clone();
            std::thread::spawn(move || {
                let next = || match is_kept_free {
                    true => server.prompt.recv().ok(),
                    false => next_slot(&server.prompt, &server.patient),
                };
                while let Some(slot) = next() {
                    if !server.send(&slot) {
                        break;
                    }
                }
            });
        }
    }

    /// Sends the next message in the caller's thread. Whether there was one.
    pub(crate) fn send_next(&self) -> bool {
        let slot = self.prompt.try_recv().or_else(|_| self.patient.try_recv());
        slot.is_ok_and(|slot| self.send(&slot))
    }

    /// Sends what is in a slot; false if nobody hears the answer any more.
    fn send(&self, slot: &Slot) -> bool {
        let Some(parcel) = locked(slot).take() else {
            return true;
        };
        let sent = send(&self.channels, &parcel, self.clock.now());
        self.answer.send((parcel, sent)).is_ok()
    }
}

impl Senders {
    /// A queue with room for so many threads, and its other end.
    pub(crate) fn new(count: usize, delivery: &Delivery, clock: &Arc<dyn Clock>) -> (Self, Server) {
        let (prompt, prompt_work) = unbounded::<Slot>();
        let (patient, patient_work) = unbounded::<Slot>();
        let (answer, answers) = unbounded();
        let senders = Self {
            prompt: Line::new(prompt),
            patient: Line::new(patient),
            answers,
            room: count * 64,
        };
        let server = Server {
            prompt: prompt_work,
            patient: patient_work,
            answer,
            channels: delivery.channels(),
            clock: Arc::clone(clock),
        };
        (senders, server)
    }

    /// The receiver of answers; pass each to [`Senders::arrived`].
    pub(crate) fn answers(&self) -> &Receiver<(Parcel, Answer)> {
        &self.answers
    }

    /// Processes an answer.
    pub(crate) fn arrived(&mut self, parcel: &Parcel) {
        let letter = letter(parcel);
        self.line_mut(pace(parcel)).on_the_way.remove(&letter);
    }

    /// Whether more messages of this pace can be built.
    pub(crate) fn has_room(&self, pace: Pace) -> bool {
        self.line(pace).on_the_way.len() < self.room
    }

    /// Whether no message is queued or being sent.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way() == 0
    }

    /// Number of messages that are queued or being sent.
    pub(crate) fn under_way(&self) -> usize {
        self.prompt.on_the_way.len() + self.patient.on_the_way.len()
    }

    /// Whether a message is queued or being sent.
    pub(crate) fn holds(&self, letter: &LetterName) -> bool {
        self.prompt.on_the_way.contains_key(letter) || self.patient.on_the_way.contains_key(letter)
    }

    /// Passes a message to the threads; returns it if there are none left.
    pub(crate) fn dispatch(&mut self, parcel: Parcel) -> Result<(), Box<Parcel>> {
        let letter = letter(&parcel);
        let line = self.line_mut(pace(&parcel));
        let slot: Slot = Arc::new(Mutex::new(Some(parcel)));
        match line.parcels.send(Arc::clone(&slot)) {
            Ok(()) => drop(line.on_the_way.insert(letter, slot)),
            Err(_) => {
                if let Some(parcel) = locked(&slot).take() {
                    return Err(Box::new(parcel));
                }
            }
        }
        Ok(())
    }

    /// Removes a message from the queue, if no thread has taken it yet.
    pub(crate) fn take_back(&mut self, letter: &LetterName) -> Option<Parcel> {
        for line in [&mut self.prompt, &mut self.patient] {
            let parcel = line
                .on_the_way
                .get(letter)
                .and_then(|slot| locked(slot).take());
            if parcel.is_some() {
                line.on_the_way.remove(letter);
                return parcel;
            }
        }
        None
    }

    /// Removes all paused messages from the queue that no thread has taken yet.
    pub(crate) fn take_back_paused(&mut self, paused: &Paused) -> Vec<Parcel> {
        let mut taken = Vec::new();
        for line in [&mut self.prompt, &mut self.patient] {
            line.on_the_way.retain(|_, slot| {
                let parcel = locked(slot).take_if(|parcel| paused.holds(&parcel.batch));
                let stays = parcel.is_none();
                taken.extend(parcel);
                stays
            });
        }
        taken
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
    fn new(parcels: Sender<Slot>) -> Self {
        Self {
            parcels,
            on_the_way: BTreeMap::new(),
        }
    }
}

/// Number of these threads that take prompt messages only.
fn kept_free(count: usize) -> usize {
    match count {
        0 | 1 => 0,
        2..8 => 1,
        _ => count / 4,
    }
}

/// The key of a parcel's message.
pub(crate) fn letter(parcel: &Parcel) -> LetterName {
    (parcel.closing, parcel.number)
}

fn pace(parcel: &Parcel) -> Pace {
    Pace::of(&parcel.batch.lane)
}

/// The next message to send: a prompt one if there is one.
fn next_slot(prompt: &Receiver<Slot>, patient: &Receiver<Slot>) -> Option<Slot> {
    match prompt.try_recv() {
        Ok(slot) => return Some(slot),
        Err(TryRecvError::Disconnected) => return patient.recv().ok(),
        Err(TryRecvError::Empty) => {}
    }
    select! {
        recv(prompt) -> slot => slot.or_else(|_| patient.recv()).ok(),
        recv(patient) -> slot => slot.or_else(|_| prompt.recv()).ok(),
    }
}
