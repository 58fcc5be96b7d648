//! A channel as delivery uses it: the renderer of its messages, and its providers in their order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_core::channel::channel_no;
use tidings_core::rules::Rate;
use tidings_core::suppression::{ChannelAddress, SuppressedFor};
use tidings_core::{Command, Instant};

use super::breaker::{Change, Health};
use super::gate::Gate;
use super::{Channel, Outcome, Rendered, Renderer};

/// The usual number of threads of a channel.
const THREADS: usize = 8;

/// A channel with the renderer of its messages.
#[derive(Clone)]
pub struct Outlet {
    /// The renderer.
    pub renderer: Arc<dyn Renderer>,
    /// Number of threads that send through the channel. It holds until the node stops.
    pub threads: usize,
    providers: Arc<[Provider]>,
    gate: Arc<Mutex<Gate>>,
}

/// A provider of a channel.
#[derive(Clone)]
pub struct Provider {
    /// Its address without secrets, for operators.
    pub address: Arc<str>,
    /// The channel by which it is asked.
    pub channel: Arc<dyn Channel>,
}

/// The answers to a message: those of the providers that were asked, of which the last one counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The answer that counts.
    pub(crate) outcome: Outcome,
    /// The address of the provider that gave it; empty if none was asked.
    pub(crate) provider: Arc<str>,
    /// The providers that were asked before, and surely took nothing.
    pub(crate) before: Vec<(Arc<str>, Outcome)>,
    /// True if a provider takes messages again that was left alone.
    pub(crate) is_back: bool,
    /// The recipient's addresses that are suppressed from now on, each with the reason.
    pub(crate) dead: Vec<(String, SuppressedFor)>,
}

impl Reply {
    /// The suppressions of addresses on a channel that follow from the answer.
    pub(crate) fn suppressions(&self, channel: &str) -> impl Iterator<Item = Command> {
        channel_no(channel).into_iter().flat_map(|no| {
            let dead = self.dead.iter();
            dead.map(move |(text, reason)| Command::Suppress {
                address: ChannelAddress::new(no, text),
                reason: *reason,
                until: None,
            })
        })
    }
}

impl From<Outcome> for Reply {
    /// An answer without a provider.
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            provider: Arc::from(""),
            before: Vec::new(),
            is_back: false,
            dead: Vec::new(),
        }
    }
}

impl Outlet {
    /// A channel of one provider without an address.
    #[must_use]
    pub fn new(renderer: Arc<dyn Renderer>, channel: Arc<dyn Channel>) -> Self {
        let provider = Provider {
            address: Arc::from(""),
            channel,
        };
        Self::of_providers(renderer, vec![provider])
    }

    /// A channel of providers in the order in which they are asked.
    #[must_use]
    pub fn of_providers(renderer: Arc<dyn Renderer>, providers: Vec<Provider>) -> Self {
        let gate = Gate::new(providers.len(), None, None);
        Self {
            renderer,
            threads: THREADS,
            providers: providers.into(),
            gate: Arc::new(Mutex::new(gate)),
        }
    }

    /// The same channel with this many threads.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same channel at these rates, over all and to each domain of its recipients.
    #[must_use]
    pub fn at_rates(self, rate: Option<Rate>, per_domain: Option<Rate>) -> Self {
        let gate = Gate::new(self.providers.len(), rate, per_domain);
        Self {
            gate: Arc::new(Mutex::new(gate)),
            ..self
        }
    }

    /// The channel of the first provider.
    #[must_use]
    pub fn first(&self) -> Arc<dyn Channel> {
        Arc::clone(&self.providers[0].channel)
    }

    /// The gate that messages pass one by one.
    pub(crate) fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a message pass the gate: the first provider that may be asked is, or nobody knows whether it takes messages
    /// again.
    pub(crate) fn pass(self, domain: Option<&str>, now: Instant) -> Pass {
        let mut gate = self.gate();
        gate.pass(domain, now);
        let provider = gate.next_provider(0, now);
        drop(gate);
        Pass {
            outlet: self,
            provider,
        }
    }
}

/// A message's leave to be handed over.
pub(crate) struct Pass {
    outlet: Outlet,
    /// The provider to ask; `None` = all of them are left alone.
    provider: Option<usize>,
}

impl Pass {
    /// The renderer of the message.
    pub(crate) fn renderer(&self) -> &dyn Renderer {
        &*self.outlet.renderer
    }

    /// Hands a message over to the first provider that takes it. The next one is asked only where the one before
    /// surely took nothing and takes nothing from anybody.
    pub(crate) fn send(
        mut self,
        message: &Rendered,
        clock: &dyn Fn() -> Instant,
        go: &dyn Fn() -> bool,
    ) -> Reply {
        let mut before = Vec::new();
        while let Some(at) = self.provider.take() {
            let Provider { address, channel } = &self.outlet.providers[at];
            let outcome = catch_unwind(AssertUnwindSafe(|| channel.send(message, go)))
                .unwrap_or_else(|_| panicked());
            let now = clock();
            let change = self
                .outlet
                .gate()
                .hear(at, health(&outcome, &**channel), now);
            tell(change, address);
            if matches!(outcome, Outcome::Away { .. }) {
                let next = self.outlet.gate().next_provider(at + 1, now);
                if next.is_some() {
                    before.push((Arc::clone(address), outcome));
                    self.provider = next;
                    continue;
                }
            }
            return Reply {
                dead: outcome.dead_among(&message.to),
                outcome,
                provider: Arc::clone(address),
                before,
                is_back: change == Some(Change::Closed),
            };
        }
        let now = clock();
        let until = self.outlet.gate().is_open(now).err();
        let away = Outcome::Away {
            why: "no provider takes messages now".to_owned(),
            after_ms: until.map(|until| until.0 - now.0),
        };
        away.into()
    }
}

impl Drop for Pass {
    /// Gives back the leave of a message that was not handed over.
    fn drop(&mut self) {
        if let Some(provider) = self.provider {
            // No instant matters where nothing was learnt.
            let _nothing = self
                .outlet
                .gate()
                .hear(provider, Health::Untold, Instant::MIN);
        }
    }
}

fn health(outcome: &Outcome, channel: &dyn Channel) -> Health {
    match outcome {
        Outcome::Sent(_) | Outcome::Failed { .. } | Outcome::Retry { .. } => Health::Well,
        Outcome::Away { after_ms, .. } => Health::Away {
            after_ms: *after_ms,
        },
        // Who leaves one message after the other in doubt is not well either.
        Outcome::Unknown { .. } if channel.answers_for_all() => Health::Away { after_ms: None },
        Outcome::Unknown { .. } | Outcome::Withheld => Health::Untold,
    }
}

/// The answer if a channel panicked while sending: the outcome is unknown.
fn panicked() -> Outcome {
    Outcome::Unknown {
        why: "the channel broke down".to_owned(),
    }
}

fn tell(change: Option<Change>, provider: &str) {
    match change {
        Some(Change::Opened(until)) => {
            tracing::warn!(provider, %until, "the provider takes nothing, and is left alone until then");
        }
        Some(Change::Closed) => tracing::info!(provider, "the provider takes messages again"),
        None => {}
    }
}
