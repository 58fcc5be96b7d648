//! Providers that are called over HTTP: one request for each message and address.
//!
//! A provider is a [`Shape`], which turns a message into a request and an answer into an outcome, and does no I/O. The
//! I/O is here, for all of them, with the question at the point of no return: it is asked when the first byte of the
//! request's body is about to go. Before it the provider can't have read a message.

use std::cell::Cell;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, Request as HttpRequest};
use ureq::unversioned::transport::DefaultConnector;

use super::smtp::Patience;
use super::{Channel, Outcome, Receipt, Rendered};
use crate::clock::Clock;
pub(super) use guard::Reach;
use guard::{Guard, PRIVATE};
pub(super) use shape::{Answer, Request, Shape};
pub(super) use url::{Detour, ProviderUrl};

pub(super) mod discord;
pub(super) mod fcm;
mod guard;
pub(super) mod mailgun;
mod mime;
mod note;
pub(super) mod postmark;
pub(super) mod sendgrid;
pub(super) mod ses;
mod shape;
pub(super) mod slack;
pub(super) mod teams;
pub(super) mod telegram;
#[cfg(test)]
mod tests;
pub(super) mod twilio;
mod url;
pub(super) mod vapid;
pub(super) mod webhook;

/// The most bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// A channel to a provider that is called over HTTP.
pub(super) struct Http {
    shape: Arc<dyn Shape>,
    agent: Agent,
    clock: Arc<dyn Clock>,
}

/// The end of a call.
enum Called {
    /// The provider answered.
    Answered(Answer),
    /// The sender was asked to stop before the body.
    Withheld,
    /// There was no answer; `true` = and the provider may have the request.
    Broken(String, bool),
    /// Its host may not be called.
    Barred,
}

impl Http {
    /// Prepares a channel, without connecting.
    pub(super) fn new(shape: Arc<dyn Shape>, patience: Patience, clock: Arc<dyn Clock>) -> Self {
        let guard = Guard(shape.reach());
        let limit = |ms: u64| Some(Duration::from_millis(ms));
        let config = Agent::config_builder()
            .timeout_resolve(limit(patience.answer_ms))
            .timeout_connect(limit(patience.answer_ms))
            .timeout_send_request(limit(patience.answer_ms))
            .timeout_send_body(limit(patience.begin_ms))
            .timeout_recv_response(limit(patience.delivery_ms))
            .timeout_recv_body(limit(patience.answer_ms))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .user_agent(concat!("tidings/", env!("CARGO_PKG_VERSION")))
            .build();
        Self {
            shape,
            agent: Agent::with_parts(config, DefaultConnector::default(), guard),
            clock,
        }
    }

    fn call(&self, request: &Request, go: &dyn Fn() -> bool) -> Called {
        let mut builder = HttpRequest::builder()
            .method("POST")
            .uri(&request.url)
            .header("content-length", request.body.len());
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let mut body = Asking {
            bytes: &request.body,
            go,
            asked: None,
        };
        let built = match builder.body(ureq::SendBody::from_reader(&mut body)) {
            Ok(built) => built,
            Err(fault) => return Called::Broken(format!("request: {fault}"), false),
        };
        let answered = self.agent.run(built);
        let has_begun = match body.asked {
            Some(false) => return Called::Withheld,
            Some(true) => true,
            None => false,
        };
        match answered {
            Ok(mut answer) => {
                let status = answer.status().as_u16();
                let headers: HeaderMap = answer.headers().clone();
                let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX);
                // The status says what became of the message, with or without the rest.
                let body = body.read_to_vec().unwrap_or_default();
                Called::Answered(Answer {
                    status,
                    headers,
                    body,
                })
            }
            Err(ureq::Error::BadUri(why)) if why == PRIVATE => Called::Barred,
            Err(fault) => {
                let stage = if has_begun { "answer" } else { "connect" };
                let is_incomplete = matches!(
                    &fault,
                    ureq::Error::Io(fault) if fault.kind() == io::ErrorKind::BrokenPipe
                );
                let why = format!("{stage}: {}", words_of(&fault));
                Called::Broken(why, has_begun && !is_incomplete)
            }
        }
    }

    /// Logs in where the provider wants that first.
    fn log_in(&self) -> Result<(), Outcome> {
        let request = match self.shape.login(self.clock.now()) {
            Ok(None) => return Ok(()),
            Ok(Some(request)) => request,
            Err(outcome) => return Err(outcome),
        };
        let away = |why: String| Outcome::Away {
            why: format!("login: {why}"),
            after_ms: None,
        };
        match self.call(&request, &|| true) {
            Called::Answered(answer) => self.shape.logged_in(&answer, self.clock.now()),
            Called::Withheld => Err(Outcome::Withheld),
            Called::Broken(why, _) => Err(away(why)),
            Called::Barred => Err(away(PRIVATE.to_owned())),
        }
    }

    fn send_to(&self, message: &Rendered, to: &str, go: &dyn Fn() -> bool) -> Outcome {
        let request = match self.shape.request(message, to, self.clock.now()) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        match self.call(&request, go) {
            Called::Answered(answer) => self.shape.outcome(&answer, self.clock.now()),
            Called::Withheld => Outcome::Withheld,
            Called::Broken(why, true) => Outcome::Unknown { why },
            Called::Broken(why, false) => self.shape.unreachable(why),
            Called::Barred => Outcome::Failed {
                why: PRIVATE.to_owned(),
                address_dead: false,
            },
        }
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
        let asked = Cell::new(None);
        let once = || match asked.get() {
            Some(answer) => answer,
            None => {
                let answer = go();
                asked.set(Some(answer));
                answer
            }
        };
        let mut dead = Vec::new();
        let mut all: Option<Outcome> = None;
        for to in &message.to {
            let outcome = self.send_to(message, to, &once);
            if matches!(&outcome, Outcome::Failed { address_dead, .. } if *address_dead) {
                dead.push(to.clone());
            }
            all = Some(match all {
                None => outcome,
                Some(all) => all.beside(outcome),
            });
            if asked.get() == Some(false) {
                break;
            }
        }
        match all.unwrap_or_else(no_address) {
            Outcome::Sent(receipt) => Outcome::Sent(Receipt { dead, ..receipt }),
            Outcome::Failed { why, .. } => Outcome::Failed {
                why,
                address_dead: dead.len() == message.to.len(),
            },
            other => other,
        }
    }
}

fn no_address() -> Outcome {
    Outcome::Failed {
        why: "there is no address".to_owned(),
        address_dead: false,
    }
}

/// The fault of a connection in words without an address.
fn words_of(fault: &ureq::Error) -> String {
    match fault {
        ureq::Error::Timeout(_) => "it took too long".to_owned(),
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::Io(fault) => fault.kind().to_string(),
        ureq::Error::Rustls(fault) => fault.to_string(),
        ureq::Error::BadUri(_) => "the address is not one".to_owned(),
        _ => "the connection failed".to_owned(),
    }
}

/// A request's body, which asks before its first byte goes.
struct Asking<'a> {
    bytes: &'a [u8],
    go: &'a dyn Fn() -> bool,
    asked: Option<bool>,
}

impl Read for Asking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !*self.asked.get_or_insert_with(self.go) {
            return Err(io::Error::other("withheld"));
        }
        self.bytes.read(buffer)
    }
}

/// The receipt with a provider's own name for a message.
fn sent(reference: Option<&str>) -> Outcome {
    let reference = reference.map(|text| {
        let printed = text.chars().filter(|c| !c.is_control());
        printed.take(200).collect()
    });
    Outcome::Sent(Receipt {
        reference,
        dead: Vec::new(),
    })
}
