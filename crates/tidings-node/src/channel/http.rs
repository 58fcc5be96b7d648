//! Providers that are called over HTTP: one request for each message and address.
//!
//! A provider is a [`Shape`], which turns a message into a request and an answer into an outcome, and does no I/O. The
//! I/O is here, for all of them, with the question at the point of no return: it is asked when the first byte of the
//! request's body is about to go. Before it the provider can't have read a message.
//!
//! A list of devices is one message, and not one for each: caps and digests count messages, and an entry has one outcome.
//! It is handed over once one device took it, since a repetition on the phone is worse than silence on the tablet. Crates
//! for push services (`web-push`, `a2`) bring a second HTTP client or a second library of cryptography for some hundred
//! lines over `ring`.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

use super::patience::ServerTimeouts;
use super::{Channel, Outcome, ProviderOpenError, Receipt, Rendered};
use crate::clock::Clock;
pub(super) use guard::AllowedHosts;
use guard::PRIVATE;
pub(super) use hook::HostPlace;
pub(super) use shape::{HttpAnswer, HttpRequest, Shape, Version, sent};
pub(super) use url::{EndpointRoute, ProviderUrl};
use wire::http1::Http1;
use wire::http2::Http2;
pub(super) use wire::{CallEnd, Wire};

pub(crate) mod chat;
mod guard;
pub(super) mod hook;
pub(crate) mod mail;
pub(super) mod note;
pub(crate) mod push;
mod shape;
pub(super) mod sms;
#[cfg(test)]
mod tests;
mod url;
mod vouched;
pub(super) mod webhook;
mod wire;

/// A channel to a provider that is called over HTTP.
pub(super) struct Http {
    shape: Arc<dyn Shape>,
    wire: Box<dyn Wire>,
    clock: Arc<dyn Clock>,
    /// Held by the thread that logs in.
    logging_in: Mutex<()>,
}

/// The most requests of a login.
const LOGIN_STEPS_MAX: usize = 3;

/// A client for other calls than those of messages.
///
/// # Errors
/// [`ProviderOpenError::Http`] where the environment names a proxy that is none.
pub(super) fn client(
    reach: AllowedHosts,
    patience: ServerTimeouts,
) -> Result<Box<dyn Wire>, ProviderOpenError> {
    Ok(Box::new(Http1::new(reach, patience, false)?))
}

impl Http {
    /// Prepares a channel, without connecting.
    ///
    /// # Errors
    /// [`ProviderOpenError::Http`] where the machine has no threads for it.
    pub(super) fn new(
        shape: Arc<dyn Shape>,
        patience: ServerTimeouts,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ProviderOpenError> {
        let wire: Box<dyn Wire> = match shape.version() {
            Version::One => {
                let strangers = !shape.answers_for_all();
                Box::new(Http1::new(shape.reach(), patience, strangers)?)
            }
            Version::Two => Box::new(Http2::new(patience)?),
        };
        Ok(Self { shape, wire, clock, logging_in: Mutex::default() })
    }

    /// Logs in where the provider wants that first.
    fn log_in(&self) -> Result<(), Outcome> {
        if self.shape.login(self.clock.now())?.is_none() {
            return Ok(());
        }
        let _turn = self.logging_in.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..LOGIN_STEPS_MAX {
            // Another thread may have done it meanwhile.
            let Some(request) = self.shape.login(self.clock.now())? else {
                return Ok(());
            };
            let away = |why: String| Outcome::away(format!("login: {why}"));
            match self.wire.call(&request, &|| true) {
                CallEnd::Answered(answer) => self.shape.logged_in(&answer, self.clock.now())?,
                CallEnd::Withheld => return Err(Outcome::Withheld),
                CallEnd::Broken(why, _) => return Err(away(why)),
                CallEnd::Barred => return Err(away(PRIVATE.to_owned())),
            }
        }
        Ok(())
    }

    /// Sends to an address, or to the one to which it has moved.
    fn send_to(&self, message: &Rendered, to: &str, point: &PointOfNoReturn<'_>) -> Outcome {
        match self.call(message, to, point) {
            Ok(answer) => match self.shape.moved_to(&answer, to) {
                None => self.shape.outcome(&answer, self.clock.now()),
                Some(new) => {
                    let recipient = message.head.recipient.as_ref().map(tidings_core::Id::as_str);
                    // Without the address itself, which belongs in no log.
                    tracing::warn!(
                        recipient,
                        channel = message.head.channel,
                        "the address has moved, and the message follows it: give the recipient the new one"
                    );
                    match self.call(message, &new, point) {
                        Ok(answer) => self.shape.outcome(&answer, self.clock.now()),
                        Err(outcome) => outcome,
                    }
                }
            },
            Err(outcome) => outcome,
        }
    }

    fn call(
        &self,
        message: &Rendered,
        to: &str,
        point: &PointOfNoReturn<'_>,
    ) -> Result<HttpAnswer, Outcome> {
        let request = self.shape.request(message, to, self.clock.now())?;
        let broken = |outcome| {
            point.is_broken.set(true);
            Err(outcome)
        };
        match self.wire.call(&request, &|| point.once()) {
            CallEnd::Answered(answer) => Ok(answer),
            CallEnd::Withheld => Err(Outcome::Withheld),
            CallEnd::Broken(why, true) => broken(Outcome::Unknown { why }),
            CallEnd::Broken(why, false) => broken(self.shape.unreachable(why)),
            CallEnd::Barred => Err(Outcome::Failed { why: PRIVATE.to_owned(), suppress: None }),
        }
    }
}

/// The question at the point of no return, asked once for all addresses of a message.
struct PointOfNoReturn<'a> {
    go: &'a dyn Fn() -> bool,
    answer: Cell<Option<bool>>,
    /// True if a call had no answer.
    is_broken: Cell<bool>,
}

impl PointOfNoReturn<'_> {
    fn once(&self) -> bool {
        let answer = self.answer.get().unwrap_or_else(|| (self.go)());
        self.answer.set(Some(answer));
        answer
    }
}

impl Channel for Http {
    fn answers_for_all(&self) -> bool {
        self.shape.answers_for_all()
    }

    /// Sends to each address of the recipient: one message on several devices. It was handed over if one of them took
    /// it, and is not sent again to the others then.
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if let Err(outcome) = self.log_in() {
            return outcome;
        }
        let point = PointOfNoReturn { go, answer: Cell::new(None), is_broken: Cell::new(false) };
        let mut dead = Vec::new();
        let mut all: Option<Outcome> = None;
        for to in &message.to {
            let outcome = self.send_to(message, to, &point);
            if let Outcome::Failed { suppress: Some(reason), .. } = &outcome {
                dead.push((to.clone(), *reason));
            }
            all = Some(match all {
                None => outcome,
                Some(all) => all.merge(outcome),
            });
            // No host that a recipient names is awaited twice.
            let hangs = point.is_broken.get() && !self.answers_for_all();
            if hangs || point.answer.get() == Some(false) {
                break;
            }
        }
        match all.unwrap_or_else(no_address) {
            Outcome::Sent(receipt) => Outcome::Sent(Receipt { dead, ..receipt }),
            Outcome::Failed { why, suppress } => Outcome::Failed {
                why,
                suppress: suppress.filter(|_| dead.len() == message.to.len()),
            },
            other => other,
        }
    }
}

fn no_address() -> Outcome {
    Outcome::Failed { why: "there is no address".to_owned(), suppress: None }
}
