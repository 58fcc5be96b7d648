//! Tests of the queues and threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

use tidings_core::Instant;
use tidings_core::content::Batch;
use tidings_core::model::{EMAIL_NO, KnownTenant, Tenant};
use tidings_core::rules::Rate;

use super::*;
use crate::channel::sample::{batch, sender};
use crate::channel::{
    Channel, Channels, MailRenderer, MessageHead, Outcome, Provider, Receipt, Rendered, Renderer,
    RenderingChannel, Scope, Unrenderable,
};
use crate::clock::virtual_clock::VirtualClock;
use crate::delivery::in_flight::InFlight;
use crate::delivery::{AnswersByClosing, Delivery, Retries};

/// A channel that never answers: it waits until the test is over.
struct Silent(Mutex<Receiver<()>>);

impl Channel for Silent {
    fn send(&self, _: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        let _over = self.0.lock().unwrap().recv();
        if go() { Outcome::Sent(Receipt::default()) } else { Outcome::Withheld }
    }
}

struct Interactive;

impl Channel for Interactive {
    fn send(&self, _: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        assert!(go());
        Outcome::Sent(Receipt::default())
    }
}

fn outlet(channel: impl Channel + 'static) -> RenderingChannel {
    RenderingChannel::new(Arc::new(MailRenderer::plain(sender())), Arc::new(channel)).on_threads(2)
}

fn clock() -> Arc<VirtualClock> {
    Arc::default()
}

fn job(number: u32, channel: &str) -> SendJob {
    let mut batch = batch(&format!("b{number}"), "A title");
    channel.clone_into(&mut batch.channel);
    batch.recipient.id = tidings_core::Id::new(&format!("r{number}")).unwrap();
    SendJob::sample(number, batch)
}

/// Senders with the table of what they have.
struct Served {
    senders: Senders,
    jobs: InFlight,
}

impl std::ops::Deref for Served {
    type Target = Senders;

    fn deref(&self) -> &Senders {
        &self.senders
    }
}

impl Served {
    fn new(channels: Channels, clock: Arc<VirtualClock>, by: Executor) -> Self {
        let senders = Senders::new(ActiveChannels::new(channels), clock, by);
        Self { senders, jobs: InFlight::default() }
    }

    fn dispatch(&mut self, job: SendJob) {
        let id = job.id;
        let guard = self.senders.dispatch(job);
        self.jobs.sending(id, guard);
    }

    fn arrived(&mut self, job: &SendJob) {
        self.jobs.answered(&job.id);
    }

    fn take_back_all(&mut self) -> Vec<SendJob> {
        self.jobs.take_from_senders(|_| true)
    }
}

fn has_room(senders: &Senders, channel: &str, priority: Priority) -> bool {
    senders.room_of(channel, priority, None) > 0
}

#[test]
fn a_channel_that_never_answers_holds_up_no_other() {
    let (over, silence) = channel();
    let channels = Channels::from([
        ("quick".to_owned(), outlet(Interactive)),
        ("silent".to_owned(), outlet(Silent(Mutex::new(silence)))),
    ]);
    let mut senders = Served::new(channels, clock(), Executor::Threads);
    let count = 2 * ROOM as u32;
    for number in 0..count {
        assert!(has_room(&senders, "silent", Priority::Interactive));
        senders.dispatch(job(number, "silent"));
    }
    // Its own room is left to who has nothing there.
    let acme = tidings_core::Id::new("acme").unwrap();
    assert_eq!(senders.room_of("silent", Priority::Interactive, Some(&acme)), 2);
    assert!(!has_room(&senders, "silent", Priority::Interactive));
    assert!(has_room(&senders, "silent", Priority::Bulk));
    assert!(has_room(&senders, "quick", Priority::Interactive));
    for number in count..2 * count {
        senders.dispatch(job(number, "quick"));
        let (sent, reply) = senders.answers().recv().unwrap();
        let answer = reply.outcome;
        assert!(matches!(answer, Outcome::Sent(_)), "{answer:?}");
        assert_eq!((sent.message().number.0, &*sent.head.channel), (number, "quick"));
        senders.arrived(&sent);
    }
    assert_eq!(senders.under_way(), count as usize);
    assert_eq!(senders.take_back_all().len(), count as usize);
    assert!(senders.is_idle());
    drop(over);
}

/// A renderer that counts.
struct Counted(Mutex<u32>);

impl Renderer for Counted {
    fn render(&self, head: &Arc<MessageHead>, batch: &Batch) -> Result<Rendered, Unrenderable> {
        *self.0.lock().unwrap() += 1;
        MailRenderer::plain(sender()).render(head, batch)
    }
}

#[test]
fn a_message_is_rendered_once_however_often_it_is_sent() {
    let renderer = Arc::new(Counted(Mutex::default()));
    let quick = RenderingChannel::new(Arc::clone(&renderer) as _, Arc::new(Interactive));
    let channels = Channels::from([("email".to_owned(), quick)]);
    let mut senders = Served::new(channels, clock(), Executor::Hand);
    let mut next = job(1, "email");
    for _ in 0..3 {
        senders.dispatch(next);
        assert!(senders.send_next());
        next = senders.answers().recv().unwrap().0;
        senders.arrived(&next);
    }
    assert_eq!(*renderer.0.lock().unwrap(), 1);
}

#[test]
fn a_message_without_a_provider_fails() {
    let mut senders = Served::new(Channels::new(), clock(), Executor::Hand);
    senders.dispatch(job(1, "email"));
    assert!(senders.send_next() && !senders.send_next());
    let (_, reply) = senders.answers().recv().unwrap();
    let answer = reply.outcome;
    assert!(matches!(answer, Outcome::Failed { .. }), "{answer:?}");
}

/// A provider that answers as it is told, and well where it is told nothing.
#[derive(Default)]
struct Told {
    answers: Mutex<VecDeque<Outcome>>,
    asked: Mutex<Vec<u32>>,
    is_away: AtomicBool,
}

impl Channel for Told {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        let number = message.head.id.strip_prefix('b').unwrap().parse().unwrap();
        self.asked.lock().unwrap().push(number);
        if self.is_away.load(Ordering::SeqCst) {
            return away(None);
        }
        match self.answers.lock().unwrap().pop_front() {
            Some(away @ Outcome::Away { .. }) => away,
            _ if !go() => Outcome::Withheld,
            Some(answer) => answer,
            None => Outcome::Sent(Receipt::default()),
        }
    }
}

impl Told {
    fn saying(answers: impl IntoIterator<Item = Outcome>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() })
    }

    fn asked(&self) -> Vec<u32> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn away(after_ms: Option<i64>) -> Outcome {
    Outcome::Away { scope: Scope::Provider, why: "connect: refused".to_owned(), after_ms }
}

/// Senders by hand of one channel, with a clock.
struct Bench {
    clock: Arc<VirtualClock>,
    senders: Served,
}

impl Bench {
    fn new(providers: &[&Arc<Told>], rates: (Option<&str>, Option<&str>)) -> Self {
        let clock = clock();
        let providers = providers
            .iter()
            .zip(["first", "second", "third"])
            .map(|(told, name)| Provider { address: name.into(), channel: Arc::clone(told) as _ });
        let renderer = Arc::new(MailRenderer::plain(sender()));
        let rate = |text: Option<&str>| text.and_then(Rate::parse);
        let outlet = RenderingChannel::of_providers(renderer, providers.collect())
            .at_rates(rate(rates.0), rate(rates.1));
        let channels = Channels::from([("email".to_owned(), outlet)]);
        Self { senders: Served::new(channels, Arc::clone(&clock), Executor::Hand), clock }
    }

    fn put(&mut self, number: u32) {
        self.senders.dispatch(job(number, "email"));
    }

    /// Sends the next message if one may leave now.
    fn next(&mut self) -> Option<ProviderReplies> {
        self.senders.send_next().then(|| {
            let (job, reply) = self.senders.answers().recv().unwrap();
            self.senders.arrived(&job);
            reply
        })
    }
}

#[test]
fn p7_a_message_fails_over_only_while_surely_nothing_was_handed_over() {
    let in_doubt = Outcome::Unknown { why: "end of DATA: timed out".to_owned() };
    let refused = Outcome::Failed { why: "550".to_owned(), suppress: None };
    let greylisted = Outcome::Retry { why: "RCPT: 451".to_owned(), after_ms: None };
    for answer in [in_doubt, refused, greylisted] {
        let (first, second) = (Told::saying([answer.clone()]), Told::saying([]));
        let mut bench = Bench::new(&[&first, &second], (None, None));
        bench.put(1);
        let reply = bench.next().unwrap();
        assert_eq!((&*reply.provider, &reply.outcome), ("first", &answer));
        assert!(second.asked().is_empty(), "{answer:?}");
    }
    let (first, second) = (Told::saying([away(None)]), Told::saying([]));
    let mut bench = Bench::new(&[&first, &second], (None, None));
    bench.put(1);
    let reply = bench.next().unwrap();
    assert_eq!(&*reply.provider, "second");
    assert!(matches!(reply.outcome, Outcome::Sent(_)));
    // Each provider that was asked is named, with its answer.
    assert_eq!(reply.before, [("first".into(), away(None))]);
}

#[test]
fn p7_half_open_probes_bring_the_first_provider_back() {
    let (first, second) = (Told::saying([]), Told::saying([]));
    first.is_away.store(true, Ordering::SeqCst);
    let mut bench = Bench::new(&[&first, &second], (None, None));
    for number in 0..100 {
        bench.put(number);
        assert_eq!(&*bench.next().unwrap().provider, "second");
    }
    let asked = first.asked().len();
    assert!(asked < 10, "{asked}");
    first.is_away.store(false, Ordering::SeqCst);
    bench.clock.set(Instant(600_000));
    bench.put(100);
    let reply = bench.next().unwrap();
    assert_eq!((&*reply.provider, reply.back.provider), ("first", true));
    bench.put(101);
    assert_eq!(&*bench.next().unwrap().provider, "first");
}

#[test]
fn t23_a_provider_away_for_three_hours_costs_few_probes_and_the_rest_drains_in_order() {
    let only = Told::saying([]);
    only.is_away.store(true, Ordering::SeqCst);
    let mut bench = Bench::new(&[&only], (None, None));
    let count = 200;
    (0..count).for_each(|number| bench.put(number));
    for second in 0..3 * 3_600 {
        bench.clock.set(Instant(second * 1_000));
        while bench.next().is_some() {}
    }
    let probes = only.asked();
    assert!((30..60).contains(&probes.len()), "{}", probes.len());
    only.is_away.store(false, Ordering::SeqCst);
    bench.clock.set(Instant(4 * 3_600_000));
    assert!(bench.next().unwrap().back.provider);
    while bench.next().is_some() {}
    let drained = only.asked();
    assert_eq!(drained.len() + probes.len(), count as usize);
    assert!(drained.is_sorted(), "{drained:?}");
}

#[test]
fn a_wait_that_a_provider_asks_for_is_kept() {
    let only = Told::saying([away(Some(90_000))]);
    let mut bench = Bench::new(&[&only], (None, None));
    (0..3).for_each(|number| bench.put(number));
    bench.next().unwrap();
    for (ms, asked) in [(0, 1), (89_999, 0), (90_000, 2)] {
        bench.clock.set(Instant(ms));
        while bench.next().is_some() {}
        assert_eq!(only.asked().len(), asked, "{ms}");
    }
}

#[test]
fn a_message_that_is_not_handed_over_leaves_the_probe_to_the_next() {
    let only = Told::saying([away(Some(1_000))]);
    let mut bench = Bench::new(&[&only], (None, None));
    (0..2).for_each(|number| bench.put(number));
    let mut broken = batch("b9", "A title");
    broken.recipient.addresses = tidings_core::model::Addresses::default();
    bench.next().unwrap();
    only.asked();
    bench.senders.dispatch(SendJob::sample(9, broken));
    bench.senders.jobs.take_back(&job(1, "email").id).unwrap();
    bench.put(2);
    bench.clock.set(Instant(1_000));
    // The first was taken back, the second can't be rendered.
    assert!(matches!(bench.next().unwrap().outcome, Outcome::Failed { .. }));
    assert!(bench.next().unwrap().back.provider);
    assert_eq!(only.asked(), [2]);
}

#[test]
fn a_rate_holds_and_the_urgent_go_first() {
    let only = Told::saying([]);
    let mut bench = Bench::new(&[&only], (Some("1/s"), None));
    let mut digest = batch("b7", "A title");
    digest.lane = "digest:weekly".to_owned();
    for number in 0..2 {
        digest.id = format!("b{number}");
        bench.senders.dispatch(SendJob::sample(number, digest.clone()));
    }
    for (ms, expected) in [(0, vec![0]), (500, vec![]), (980, vec![]), (1_000, vec![9])] {
        bench.clock.set(Instant(ms));
        if ms == 980 {
            bench.put(9);
        }
        while bench.next().is_some() {}
        assert_eq!(only.asked(), expected, "{ms}");
    }
    bench.clock.set(Instant(2_000));
    bench.next().unwrap();
    assert_eq!(only.asked(), [1]);
}

#[test]
fn c11_at_a_rate_tenants_have_their_turns_and_the_urgent_go_first() {
    let only = Told::saying([]);
    let mut bench = Bench::new(&[&only], (Some("1/s"), None));
    let mut put = |number: u32, tenant: Option<&str>, lane: &str, attempts: u32| {
        let mut batch = batch(&format!("b{number}"), "A title");
        let known = |id| KnownTenant::new(id, Tenant::default(), Instant(0));
        let tenant = tenant.map(|tenant| tidings_core::Id::new(tenant).unwrap());
        batch.tenant = tenant.map(|id| Arc::new(known(id)));
        lane.clone_into(&mut batch.lane);
        let mut job = SendJob::sample(number, batch);
        job.attempts = attempts;
        bench.senders.dispatch(job);
    };
    for number in 0..4 {
        put(number, Some("acme"), "now", 0);
    }
    put(4, Some("acme"), "now", 1);
    for number in 10..12 {
        put(number, None, "now", 0);
    }
    put(20, Some("bolt"), "digest:weekly", 0);
    put(21, Some("bolt"), "now", 0);
    put(22, Some("acme"), "digest:weekly", 0);
    put(23, Some("acme"), "digest:weekly", 0);
    let mut sent = Vec::new();
    for second in 0..11 {
        bench.clock.set(Instant(second * 1_000));
        bench.next().unwrap();
        sent.extend(only.asked());
    }
    // What was tried before goes first among a tenant's own.
    assert_eq!(sent, [4, 10, 21, 0, 11, 1, 2, 3, 20, 22, 23]);
    assert!(bench.senders.is_idle());
}

#[test]
fn a_slow_domain_is_passed_over() {
    let only = Told::saying([]);
    let mut bench = Bench::new(&[&only], (None, Some("1/m")));
    for (number, address) in
        ["a@Slow.example", "b@slow.example", "c@other.example"].into_iter().enumerate()
    {
        let mut batch = batch(&format!("b{number}"), "A title");
        batch.recipient.addresses = [(EMAIL_NO, address)].into();
        bench.senders.dispatch(SendJob::sample(number as u32, batch));
    }
    while bench.next().is_some() {}
    assert_eq!(only.asked(), [0, 2]);
    bench.clock.set(Instant(60_000));
    while bench.next().is_some() {}
    assert_eq!(only.asked(), [1]);
}

#[test]
fn a_node_that_may_not_send_hands_nothing_over_and_tries_again() {
    let only = Told::saying([]);
    let may_send = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&may_send);
    let mut bench = Bench::new(&[&only], (None, None));
    let may_send_now = Arc::new(move || asked.load(Ordering::SeqCst));
    bench.senders.senders = bench.senders.senders.asking(may_send_now);
    let mut delivery = Delivery::new(Channels::new(), Retries::default());
    bench.put(1);
    assert!(bench.senders.send_next());
    let (job, reply) = bench.senders.answers().recv().unwrap();
    bench.senders.arrived(&job);
    assert_eq!(reply.outcome, Outcome::Withheld);
    let (now, before) = (Instant(5_000), job.attempts);
    delivery.settle_into(&mut AnswersByClosing::new(), job, &reply, now, None);
    // Soon, and without an attempt: nobody was asked to take it.
    assert_eq!(delivery.next_retry(), Some(now.plus_ms(1_000)));
    let [job] = delivery.take_due(now.plus_ms(1_000)).try_into().unwrap();
    assert_eq!((job.attempts, job.resent), (before, 0));
    may_send.store(true, Ordering::SeqCst);
    bench.senders.dispatch(job);
    assert!(matches!(bench.next().unwrap().outcome, Outcome::Sent(_)));
}

mod refused;
mod strangers;
