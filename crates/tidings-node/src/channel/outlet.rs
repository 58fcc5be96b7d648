//! A channel as delivery uses it: the renderer of its messages, and its providers in their order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tidings_core::Instant;
use tidings_core::model::{
    AddressReport, ChannelAddress, ChannelNo, ProviderHash, SuppressionSource, channel_kind,
};
use tidings_core::rules::Rate;

use super::breaker::{BreakerChange, Health};
use super::gate::{CallPermit, ChannelGate};
use super::{Channel, Outcome, Rendered, Renderer, Scope};
use crate::telemetry::logged_reply::without_addresses;

/// The usual number of threads of a channel.
const THREADS: usize = 8;

/// A channel with the renderer of its messages.
#[derive(Clone)]
pub struct RenderingChannel {
    /// The renderer.
    pub renderer: Arc<dyn Renderer>,
    /// Number of threads that send through the channel. It holds until the node stops.
    pub threads: usize,
    providers: Arc<[Provider]>,
    gate: Arc<Mutex<ChannelGate>>,
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
pub(crate) struct ProviderReplies {
    /// The answer that counts.
    pub(crate) outcome: Outcome,
    /// The address of the provider that gave it; empty if none was asked.
    pub(crate) provider: Arc<str>,
    /// The providers that were asked before, and surely took nothing.
    pub(crate) before: Vec<(Arc<str>, Outcome)>,
    /// Providers and destinations that are available again.
    pub(crate) back: RecoveredProviders,
    /// The reports of the answer on the recipient's addresses.
    pub(crate) reports: Vec<(String, AddressReport)>,
}

/// Providers and destinations that a reply shows to be available again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecoveredProviders {
    /// The provider, for all messages.
    pub(crate) provider: bool,
    /// Destinations of the provider.
    pub(crate) destinations: Vec<Arc<str>>,
}

impl ProviderReplies {
    /// The reports of the answer of an instant on addresses on a channel. A message that goes on has not come back.
    pub(crate) fn address_reports(
        &self,
        channel: ChannelNo,
        at: Instant,
        is_over: bool,
    ) -> impl Iterator<Item = (ChannelAddress, AddressReport, Instant)> {
        let counts =
            move |report: &AddressReport| is_over || !matches!(report, AddressReport::Bounced(_));
        let counting = self.reports.iter().filter(move |(_, report)| counts(report));
        counting.map(move |(text, report)| (ChannelAddress::new(channel, text), *report, at))
    }
}

impl From<Outcome> for ProviderReplies {
    /// An answer without a provider.
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            provider: Arc::from(""),
            before: Vec::new(),
            back: RecoveredProviders::default(),
            reports: Vec::new(),
        }
    }
}

impl RenderingChannel {
    /// A channel of one provider without an address.
    #[must_use]
    pub fn new(renderer: Arc<dyn Renderer>, channel: Arc<dyn Channel>) -> Self {
        let provider = Provider { address: Arc::from(""), channel };
        Self::of_providers(renderer, vec![provider])
    }

    /// A channel of providers in the order in which they are asked.
    #[must_use]
    pub fn of_providers(renderer: Arc<dyn Renderer>, providers: Vec<Provider>) -> Self {
        let gate = ChannelGate::new(providers.len(), None, None);
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
        let gate = ChannelGate::new(self.providers.len(), rate, per_domain);
        Self { gate: Arc::new(Mutex::new(gate)), ..self }
    }

    /// The channel of the first provider.
    #[must_use]
    pub fn first(&self) -> Arc<dyn Channel> {
        Arc::clone(&self.providers[0].channel)
    }

    /// The gate that messages pass one by one.
    pub(crate) fn gate(&self) -> MutexGuard<'_, ChannelGate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the gate anew, since the clock was put back by which it left providers alone.
    pub(crate) fn renew_gate(&mut self) {
        let gate = self.gate().anew();
        self.gate = Arc::new(Mutex::new(gate));
    }

    /// The identity of the gate, which a reload or a clock that is put back replaces.
    pub(crate) fn gate_id(&self) -> GateId {
        GateId(Arc::downgrade(&self.gate))
    }

    /// Picks the first available provider for one of the destinations of a message, or probes one that was down.
    pub(crate) fn pass(self, destinations: &[Arc<str>], now: Instant) -> HandOverPass {
        let leave = self.gate().leave(0, destinations, now);
        HandOverPass { outlet: self, destinations: destinations.to_vec(), leave }
    }

    /// The reason why a message to these destinations is held at an instant.
    pub(crate) fn holds(&self, destinations: &[Arc<str>], now: Instant) -> Option<AwayProvider> {
        let gate = self.gate();
        let held = gate.holds(destinations, now)?;
        Some(AwayProvider {
            provider: self.providers[held.provider].address.to_string(),
            destination: held.destination.map(|name| name.to_string()),
            until: held.until,
            why: held.why.to_owned(),
        })
    }

    /// The providers and destinations that are left alone at an instant.
    pub(crate) fn left_alone(&self, now: Instant) -> Vec<AwayProvider> {
        let gate = self.gate();
        let away = gate.left_alone(now).map(|left_alone| AwayProvider {
            provider: self.providers[left_alone.provider].address.to_string(),
            destination: left_alone.destination.map(|name| name.to_string()),
            until: left_alone.until,
            why: left_alone.why.to_owned(),
        });
        away.collect()
    }
}

/// A provider, or a destination of one, that takes nothing at present and is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwayProvider {
    /// The provider's address without secrets.
    pub provider: String,
    /// The host or the domain; `None` = the provider takes nothing for anybody.
    pub destination: Option<String>,
    /// The instant of the next probe.
    pub until: Instant,
    /// The reason of the last failure, without address or body.
    pub why: String,
}

/// The identity of a gate; by default of none.
#[derive(Clone, Debug, Default)]
pub(crate) struct GateId(Weak<Mutex<ChannelGate>>);

impl PartialEq for GateId {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

/// A message's leave to be handed over.
pub(crate) struct HandOverPass {
    outlet: RenderingChannel,
    /// The destinations of the message.
    destinations: Vec<Arc<str>>,
    /// The provider to ask; `None` = all of them are left alone.
    leave: Option<CallPermit>,
}

/// The end of a hand-over to a provider.
struct HandOverResult {
    outcome: Outcome,
    reports: Vec<(String, AddressReport)>,
    back: RecoveredProviders,
}

impl HandOverPass {
    /// The renderer of the message.
    pub(crate) fn renderer(&self) -> &dyn Renderer {
        &*self.outlet.renderer
    }

    /// Hands a message over to the first provider that takes it. The next one is asked only where the one before
    /// surely took nothing and takes nothing from anybody, or nothing for the message's destination.
    pub(crate) fn send(
        mut self,
        message: &Rendered,
        clock: &dyn Fn() -> Instant,
        go: &dyn Fn() -> bool,
    ) -> ProviderReplies {
        let mut before = Vec::new();
        while let Some(leave) = self.leave.take() {
            let at = leave.provider;
            let HandOverResult { outcome, reports, back } =
                self.hand_over(&leave, message, clock, go);
            let provider = Arc::clone(&self.outlet.providers[at].address);
            if matches!(outcome, Outcome::Away { .. }) {
                let mut gate = self.outlet.gate();
                let next = gate.leave(at + 1, &self.destinations, clock());
                drop(gate);
                if next.is_some() {
                    before.push((provider, outcome));
                    self.leave = next;
                    continue;
                }
            }
            return ProviderReplies { outcome, provider, before, back, reports };
        }
        let now = clock();
        let until = self.outlet.gate().is_open(now).err();
        let away = Outcome::Away {
            scope: Scope::Provider,
            why: "no provider takes messages now".to_owned(),
            after_ms: until.map(|until| until.0 - now.0),
        };
        away.into()
    }

    /// Hands a message over to a provider: to the addresses of each destination that is not away, one destination after
    /// the other.
    fn hand_over(
        &self,
        leave: &CallPermit,
        message: &Rendered,
        clock: &dyn Fn() -> Instant,
        go: &dyn Fn() -> bool,
    ) -> HandOverResult {
        let Provider { address, channel } = &self.outlet.providers[leave.provider];
        let send = |message: &Rendered| {
            catch_unwind(AssertUnwindSafe(|| channel.send(message, go)))
                .unwrap_or_else(|_| panicked())
        };
        let mut back = RecoveredProviders::default();
        let mut reports = Vec::new();
        let by = SuppressionSource::Provider(ProviderHash::of(address));
        let undoes = channel.undoes_refusals();
        let mut all: Option<Outcome> = None;
        let parts = parts_of(message, leave);
        for (destination, part) in &parts {
            let outcome = send(part);
            // A redirected message goes to another address than its recipient's, of which its answer says
            // nothing.
            if !message.head.is_redirected {
                reports.extend(outcome.reports(&part.to, by, undoes));
            }
            if let Some(name) = destination {
                let health = destination_health(&outcome, &**channel);
                let why = outcome.words().unwrap_or_default();
                let mut gate = self.outlet.gate();
                let change = gate.note_destination(leave.provider, name, health, why, clock());
                drop(gate);
                log_destination(change, address, name, why);
                if change == Some(BreakerChange::Closed) {
                    back.destinations.push(Arc::clone(name));
                }
            }
            all = Some(match all {
                None => outcome,
                Some(all) => all.merge(outcome),
            });
        }
        let outcome = all.unwrap_or_else(|| send(message));
        let why = outcome.words().unwrap_or_default();
        let health = health(&outcome, &**channel);
        let change = self.outlet.gate().note(leave.provider, health, why, clock());
        log(change, address, why);
        back.provider = change == Some(BreakerChange::Closed);
        HandOverResult { outcome, reports, back }
    }
}

/// The parts of a message that go to one destination each, without those to destinations that are away.
fn parts_of<'a>(
    message: &'a Rendered,
    leave: &CallPermit,
) -> Vec<(Option<Arc<str>>, Cow<'a, Rendered>)> {
    let kind = channel_kind(&message.head.channel).and_then(|channel| channel.address);
    let of = |to: &String| kind.and_then(|kind| kind.destination(to));
    let mut parts: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
    for to in &message.to {
        parts.entry(of(to)).or_default().push(to.clone());
    }
    if let [name] = &parts.keys().collect::<Vec<_>>()[..] {
        return vec![(name.as_deref().map(Arc::from), Cow::Borrowed(message))];
    }
    let parts = parts.into_iter().filter_map(|(name, to)| {
        let name: Option<Arc<str>> = name.map(Arc::from);
        let is_open = name.as_ref().is_none_or(|name| leave.destinations.contains(name));
        let part = Rendered { to, ..message.clone() };
        is_open.then_some((name, Cow::Owned(part)))
    });
    parts.collect()
}

impl Drop for HandOverPass {
    /// Gives back the leave of a message that was not handed over.
    fn drop(&mut self) {
        let Some(leave) = self.leave.take() else {
            return;
        };
        // No instant matters where nothing was learnt.
        let (nothing, now) = (Health::Untold, Instant::MIN);
        let mut gate = self.outlet.gate();
        let _nothing = gate.note(leave.provider, nothing, "", now);
        for name in &leave.destinations {
            let _nothing = gate.note_destination(leave.provider, name, nothing, "", now);
        }
    }
}

/// The state of the provider that an answer shows.
fn health(outcome: &Outcome, channel: &dyn Channel) -> Health {
    match outcome {
        Outcome::Away { scope: Scope::Provider, after_ms, .. } => {
            Health::Away { after_ms: *after_ms }
        }
        Outcome::Sent(_)
        | Outcome::Failed { .. }
        | Outcome::Retry { .. }
        | Outcome::SoftBounce { .. }
        | Outcome::Away { scope: Scope::Destination, .. } => Health::Well,
        // A provider that leaves one message after the other in doubt is not well either.
        Outcome::Unknown { .. } if channel.answers_for_all() => Health::Away { after_ms: None },
        Outcome::Unknown { .. } | Outcome::Withheld | Outcome::Template { .. } => Health::Untold,
    }
}

/// The state of the destination that an answer shows.
fn destination_health(outcome: &Outcome, channel: &dyn Channel) -> Health {
    match outcome {
        Outcome::Away { scope: Scope::Destination, after_ms, .. } => {
            Health::Away { after_ms: *after_ms }
        }
        Outcome::Sent(_)
        | Outcome::Failed { .. }
        | Outcome::Retry { .. }
        | Outcome::SoftBounce { .. } => Health::Well,
        // A host that takes a message and never answers would hold a thread for each.
        Outcome::Unknown { .. } if !channel.answers_for_all() => Health::Away { after_ms: None },
        Outcome::Unknown { .. }
        | Outcome::Withheld
        | Outcome::Away { .. }
        | Outcome::Template { .. } => Health::Untold,
    }
}

/// The answer if a channel panicked while sending: the outcome is unknown.
fn panicked() -> Outcome {
    Outcome::Unknown { why: "the channel broke down".to_owned() }
}

fn log(change: Option<BreakerChange>, provider: &str, why: &str) {
    match change {
        Some(BreakerChange::Opened(until)) => {
            let why = without_addresses(why);
            tracing::warn!(provider, %until, why, "the provider takes nothing, and is left alone until then");
        }
        Some(BreakerChange::Closed) => {
            tracing::info!(provider, "the provider takes messages again");
        }
        None => {}
    }
}

fn log_destination(change: Option<BreakerChange>, provider: &str, destination: &str, why: &str) {
    match change {
        Some(BreakerChange::Opened(until)) => {
            let why = without_addresses(why);
            tracing::warn!(provider, destination, %until, why, "the destination takes nothing, and is left alone until then");
        }
        Some(BreakerChange::Closed) => {
            tracing::info!(provider, destination, "the destination takes messages again");
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::content::Batch;
    use tidings_core::model::SuppressedFor;

    use super::*;
    use crate::channel::MailRenderer;
    use crate::channel::sample::{GO, NOW, batch, rendered, sender};

    struct Refusing;

    impl Channel for Refusing {
        fn send(&self, _: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
            assert!(go());
            Outcome::Failed { why: "550".to_owned(), suppress: Some(SuppressedFor::Bounce) }
        }
    }

    #[test]
    fn a_refusal_of_a_redirected_message_says_nothing_of_addresses() {
        let reports = |meant_for: Option<&str>| {
            let batch = Batch { meant_for: meant_for.map(str::to_owned), ..batch("b", "One") };
            let outlet =
                RenderingChannel::new(Arc::new(MailRenderer::plain(sender())), Arc::new(Refusing));
            outlet.pass(&[], NOW).send(&rendered(&batch), &|| NOW, GO).reports.len()
        };
        assert_eq!(reports(None), 1);
        assert_eq!(reports(Some("ana@example.com")), 0);
    }
}
