//! Bursts of one tenant, or of one recipient: others have their turns meanwhile.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tidings_core::model::{Audience, TenantChange};
use tidings_core::rules::{Rate, TenantRules, UnknownTenant};
use tidings_core::{Command, Rules};
use tidings_node::channel::{Channel, Outcome, Receipt, Rendered};
use tidings_node::{Delivery, Retries, SteppedLoop, VirtualClock};

use crate::in_memory;
use crate::world::*;

/// Number of members of the tenant with the burst.
const MEMBERS: usize = 3_000;

/// A channel that notes the tenant of each message that it hands over.
#[derive(Default)]
struct Noted(Mutex<Vec<String>>);

impl Channel for Noted {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let tenant = message.head.tenant.as_ref().map_or("none", |tenant| tenant.as_str());
        self.0.lock().unwrap().push(tenant.to_owned());
        Outcome::Sent(Receipt::default())
    }
}

/// A process that the test drives, with mails at a rate.
struct Driven {
    process: SteppedLoop,
    clock: Arc<VirtualClock>,
    sent: Arc<Noted>,
}

impl Driven {
    fn new(rate: Option<&str>) -> Self {
        let (store, clock, sent) = (in_memory(), clock(MONDAY), Arc::new(Noted::default()));
        let rate = rate.map(|rate| Rate::parse(rate).unwrap());
        let mail = plain(Arc::clone(&sent)).on_threads(8).at_rates(rate, None);
        let channels = BTreeMap::from([("email".to_owned(), mail)]);
        let delivery = Delivery::new(channels, Retries::default());
        let tenants = Some(TenantRules { unknown: UnknownTenant::Refuse });
        let (rules, now) = (Rules { tenants, ..rules() }, Arc::clone(&clock));
        let process =
            SteppedLoop::open(over(&store), None, rules, delivery, now, settings()).unwrap();
        let mut driven = Self { process, clock, sent };
        for tenant in ["acme", "bolt"] {
            let change = Box::new(TenantChange::default());
            driven.ask(vec![Command::Tenant { tenant: id(tenant), change }]);
        }
        driven.ask((0..MEMBERS).map(|number| person(&format!("p{number}"))).collect());
        driven
    }

    fn ask(&mut self, commands: Vec<Command>) {
        let answer = ask(self.process.handle(), commands);
        self.rest();
        assert!(answer.recv().unwrap().unwrap().iter().all(Result::is_ok));
    }

    /// Goes on until there is nothing to do now.
    fn rest(&mut self) {
        loop {
            self.process.turn();
            let goes_on = self.process.write() | self.process.send();
            if !goes_on && !self.process.has_work() && !self.process.has_answers() {
                return;
            }
        }
    }

    /// Has this many seconds pass in steps of the rate.
    fn pass(&mut self, from_s: i64, seconds: i64) {
        for step in 0..seconds * 50 {
            self.clock.set(MONDAY.plus_ms(from_s * 1_000 + step * 20));
            self.process.handle().wake().unwrap();
            self.rest();
        }
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.sent.0.lock().unwrap())
    }
}

/// A publish for a tenant to the first of the recipients.
fn burst(event: &str, kind: &str, tenant: Option<&str>, recipients: usize) -> Command {
    let Command::Publish(mut publish) = publish(event, kind, "p0") else { unreachable!() };
    publish.tenant = tenant.map(id);
    let recipients = (0..recipients).map(|number| id(&format!("p{number}"))).collect();
    publish.to = Audience { recipients, ..Audience::default() };
    Command::Publish(publish)
}

fn count(sent: &[String], tenant: &str) -> usize {
    sent.iter().filter(|of| *of == tenant).count()
}

#[test]
fn c11_a_tenants_burst_at_a_rate_leaves_the_others_their_turns() {
    let mut driven = Driven::new(Some("50/s"));
    driven.ask(vec![burst("e1", "bill", Some("acme"), MEMBERS)]);
    driven.pass(0, 2);
    let before = driven.taken();
    assert!((98..104).contains(&count(&before, "acme")), "{}", before.len());
    driven.ask(vec![burst("e2", "bill", Some("bolt"), 1), burst("e3", "bill", None, 1)]);
    driven.pass(2, 1);
    let sent = driven.taken();
    let first = &sent[..6];
    assert_eq!((count(first, "bolt"), count(first, "none")), (1, 1), "{first:?}");
    // A second burst has half of the rate, and what is of no tenant goes between the two.
    driven.ask(vec![burst("e4", "bill", Some("bolt"), 200)]);
    driven.pass(3, 4);
    driven.ask(vec![burst("e5", "bill", None, 1)]);
    let sent = driven.taken();
    assert!(
        count(&sent, "bolt") * 2 + 12 >= sent.len(),
        "{} of {}",
        count(&sent, "bolt"),
        sent.len()
    );
    driven.pass(7, 1);
    assert_eq!(count(&driven.taken()[..6], "none"), 1);
}

#[test]
fn c11_a_tenants_burst_without_a_rate_is_built_in_turn_with_the_others() {
    let mut driven = Driven::new(None);
    driven.ask(vec![
        burst("e1", "bill", Some("acme"), MEMBERS),
        burst("e2", "bill", Some("bolt"), 1),
        burst("e3", "bill", None, 1),
    ]);
    let sent = driven.taken();
    assert_eq!(sent.len(), MEMBERS + 2);
    let first = &sent[..300];
    assert_eq!((count(first, "bolt"), count(first, "none")), (1, 1));
}
