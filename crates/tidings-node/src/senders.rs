//! The queue of messages to send, and the threads that serve it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, TryRecvError, select, unbounded};
use tidings_core::engine::LetterName;
use tidings_core::pause::Paused;

use crate::channel::{InForce, Outcome as Answer};
use crate::delivery::{Delivery, send};
use crate::node::Pace;
use crate::parcel::Parcel;

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

/// A slot of the queue with a message.
type Slot = Arc<Mutex<State>>;

/// The state of a message in a slot. The loop can take it back until the channel is about to hand it over.
enum State {
    /// No thread has it.
    Queued(Box<Parcel>),
    /// A thread has it, and the channel has not reached the point of no return.
    Sending(Box<Parcel>),
    /// The message may have been handed over, or the channel has answered.
    Passed,
    /// The loop took it back.
    Withdrawn,
}

fn locked(slot: &Mutex<State>) -> MutexGuard<'_, State> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn parcel(&self) -> Option<&Parcel> {
        match self {
            Self::Queued(parcel) | Self::Sending(parcel) => Some(parcel),
            Self::Passed | Self::Withdrawn => None,
        }
    }

    /// Takes the message back, unless it is too late.
    fn withdraw(&mut self) -> Option<Parcel> {
        self.parcel()?;
        match std::mem::replace(self, Self::Withdrawn) {
            Self::Queued(parcel) | Self::Sending(parcel) => Some(*parcel),
            Self::Passed | Self::Withdrawn => None,
        }
    }

    /// Gives the message to a thread, unless the loop took it back.
    fn begin(&mut self) -> Option<Parcel> {
        let parcel = self.parcel()?.clone();
        *self = Self::Sending(Box::new(parcel.clone()));
        Some(parcel)
    }

    /// Passes the point of no return, unless the loop took the message back.
    fn pass(&mut self) -> bool {
        let is_withdrawn = matches!(self, Self::Withdrawn);
        if !is_withdrawn {
            *self = Self::Passed;
        }
        !is_withdrawn
    }
}

/// The other end of the queue: takes messages out of it and sends them.
#[derive(Clone)]
pub(crate) struct Server {
    prompt: Receiver<Slot>,
    patient: Receiver<Slot>,
    answer: Sender<(Parcel, Answer)>,
    channels: InForce,
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

    /// Sends what is in a slot; false if nobody hears the answer any more. A message that was taken back
    /// meanwhile has no answer: the loop has it.
    fn send(&self, slot: &Slot) -> bool {
        let Some(mut parcel) = locked(slot).begin() else {
            return true;
        };
        let sent = send(&self.channels, &mut parcel, &|| locked(slot).pass());
        if !locked(slot).pass() {
            return true;
        }
        self.answer.send((parcel, sent)).is_ok()
    }
}

impl Senders {
    /// A queue with room for so many threads, and its other end.
    pub(crate) fn new(count: usize, delivery: &Delivery) -> (Self, Server) {
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
        };
        (senders, server)
    }

    /// The receiver of answers; pass each to [`Senders::arrived`].
    pub(crate) fn answers(&self) -> &Receiver<(Parcel, Answer)> {
        &self.answers
    }

    /// Processes an answer.
    pub(crate) fn arrived(&mut self, parcel: &Parcel) {
        let letter = parcel.letter();
        self.line_mut(parcel.pace()).on_the_way.remove(&letter);
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
        let letter = parcel.letter();
        let line = self.line_mut(parcel.pace());
        let slot: Slot = Arc::new(Mutex::new(State::Queued(Box::new(parcel))));
        match line.parcels.send(Arc::clone(&slot)) {
            Ok(()) => drop(line.on_the_way.insert(letter, slot)),
            Err(_) => {
                if let Some(parcel) = locked(&slot).withdraw() {
                    return Err(Box::new(parcel));
                }
            }
        }
        Ok(())
    }

    /// Takes a message back, if the channel has not come to the point of no return.
    pub(crate) fn take_back(&mut self, letter: &LetterName) -> Option<Parcel> {
        for line in [&mut self.prompt, &mut self.patient] {
            let parcel = line
                .on_the_way
                .get(letter)
                .and_then(|slot| locked(slot).withdraw());
            if parcel.is_some() {
                line.on_the_way.remove(letter);
                return parcel;
            }
        }
        None
    }

    /// Takes all paused messages back, as far as [`Senders::take_back`] could.
    pub(crate) fn take_back_paused(&mut self, paused: &Paused) -> Vec<Parcel> {
        self.take_back_all(|parcel| parcel.is_held_by(paused))
    }

    /// Takes the wanted messages back, as far as [`Senders::take_back`] could.
    pub(crate) fn take_back_all(&mut self, is_wanted: impl Fn(&Parcel) -> bool) -> Vec<Parcel> {
        let mut taken = Vec::new();
        for line in [&mut self.prompt, &mut self.patient] {
            line.on_the_way.retain(|_, slot| {
                let mut state = locked(slot);
                let parcel = match state.parcel() {
                    Some(parcel) if is_wanted(parcel) => state.withdraw(),
                    _ => None,
                };
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
