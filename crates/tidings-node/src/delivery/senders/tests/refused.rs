//! A domain that refuses some recipients and takes mail for others.

use super::*;

/// A server that refuses addresses that begin with `no`, for a reason that concerns us and not them.
#[derive(Default)]
struct Policy(Mutex<Vec<String>>);

impl Channel for Policy {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        assert!(go());
        self.0.lock().unwrap().push(message.to[0].clone());
        if message.to[0].starts_with("no") {
            let why = "RCPT: 550 5.7.1".to_owned();
            return Outcome::Away { scope: Scope::Destination, why, after_ms: None };
        }
        Outcome::Sent(Receipt::default())
    }
}

fn mail(number: u32, to: &str) -> SendJob {
    let mut batch = batch(&format!("b{number}"), "A title");
    "email".clone_into(&mut batch.channel);
    batch.recipient.id = tidings_core::Id::new(&format!("r{number}")).unwrap();
    batch.recipient.addresses.set(EMAIL_NO, &[format!("{to}@d.example")]);
    let mut job = SendJob::sample(number, batch);
    job.attempts = 0;
    job
}

/// Senders with messages that wait for a retry, and the instants at which messages were taken.
struct World {
    served: Served,
    clock: Arc<VirtualClock>,
    retries: Vec<(i64, SendJob)>,
    taken: Vec<(i64, u32)>,
}

impl World {
    fn new() -> Self {
        let clock = clock();
        let channel_of = Arc::new(Policy::default());
        let renderer = Arc::new(MailRenderer::plain(sender()));
        let outlet = RenderingChannel::new(renderer, channel_of as _);
        let channels = Channels::from([("email".to_owned(), outlet)]);
        let served = Served::new(channels, Arc::clone(&clock), Executor::Hand);
        Self { served, clock, retries: Vec::new(), taken: Vec::new() }
    }

    /// Sends what may leave at an instant; what was refused comes again as the loop has it.
    fn at(&mut self, ms: i64) {
        self.clock.set(Instant(ms));
        loop {
            let (due, rest) = self.retries.drain(..).partition(|(at, _)| *at <= ms);
            self.retries = rest;
            due.into_iter().for_each(|(_, job): (i64, SendJob)| self.served.dispatch(job));
            if !self.served.send_next() {
                return;
            }
            let (mut job, reply) = self.served.answers().recv().unwrap();
            self.served.arrived(&job);
            job.attempts += 1;
            match reply.outcome {
                Outcome::Sent(_) => self.taken.push((ms, job.message().number.0)),
                _ => self.retries.push((ms + (30_000 << job.attempts.min(6)), job)),
            }
            if !reply.back.destinations.is_empty() {
                self.retries.iter_mut().for_each(|(at, _)| *at = ms);
            }
        }
    }

    fn taken_at(&self, number: u32) -> Option<i64> {
        self.taken.iter().find(|(_, of)| *of == number).map(|(at, _)| *at)
    }
}

#[test]
fn p1_refused_recipients_of_a_domain_keep_nothing_from_the_others_beyond_the_next_probe() {
    for refused in [2, 4, 5, 6, 8, 12, 30] {
        let mut world = World::new();
        let mut at = 0;
        for number in 0..refused {
            world.served.dispatch(mail(number, &format!("no{number}")));
            world.at(at);
            at += 200;
        }
        at += 3_000;
        let published = at;
        world.at(at);
        world.served.dispatch(mail(100, "yes"));
        world.at(at + 100);
        world.served.dispatch(mail(101, "yes-too"));
        while at < 24 * 60_000 {
            at += 100;
            world.at(at);
        }
        for number in [100, 101] {
            let taken = world.taken_at(number);
            let waited = taken.map(|taken| taken - published);
            assert!(waited.is_some_and(|ms| ms <= 20_000), "{refused} refused: {waited:?}");
        }
        // Of one that comes once all others were tried the next probe is its own.
        world.served.dispatch(mail(102, "later"));
        let later = at;
        while at < later + 301_000 {
            at += 1_000;
            world.at(at);
        }
        assert!(world.taken_at(102).is_some(), "{refused} refused");
    }
}

#[test]
fn p1_a_message_says_until_when_and_by_what_it_is_held() {
    let mut world = World::new();
    for number in 0..6 {
        world.served.dispatch(mail(number, &format!("no{number}")));
    }
    world.at(0);
    let outlet = world.served.channels.outlet("email").unwrap();
    let held = |name: &str, at| outlet.holds(&[name.into()], Instant(at));
    let found = held("d.example", 1).unwrap();
    assert_eq!((found.destination.as_deref(), found.until), (Some("d.example"), Instant(10_000)));
    assert_eq!(found.why, "RCPT: 550 5.7.1");
    assert_eq!(held("other.example", 1), None);
    assert_eq!(held("d.example", 10_000), None, "it is asked now");
}
