//! The clients of a cluster: they publish through any node until they hear that it is accepted, read inboxes, and get
//! mails. They judge: what was acknowledged is everywhere, once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_core::content::Batch;
use tidings_core::engine::InboxQuery;
use tidings_core::model::Audience;
use tidings_core::{Command, Event, Id, Object, Rules};
use tidings_node::Node;
use tidings_node::channel::{
    Channel, MessageHead, Outcome, Receipt, Rendered, Renderer, Unrenderable,
};
use tidings_node::election::Opening;
use tidings_store::lease::{Leases as _, MemoryLeases, NodeId};

use super::net::Net;
use super::serving::{SimMessage, SimServer, options};
use super::{BEGIN, NodeProcess, REACHED, is_in_force, membership};
use crate::cases::script;
use crate::mix::mix;
use crate::rig::BareRenderer;
use crate::subject::Step;

/// Number of recipients; each follows one of two topics.
const RECIPIENTS: u64 = 24;

/// The types of events: sent at once, after a hold, and after a cool-down.
const RULES: &str = "\
type now inbox email:now
type held inbox email:first_event,3s
type cool inbox email:cooldown,2s,5s
";

/// The first rules.
pub(super) fn rules() -> Rules {
    script::parse(RULES).expect("the rules are sound").rules
}

fn id(text: &str) -> Id {
    Id::new(text).expect("names are short and printable")
}

fn recipient(number: u64) -> Id {
    id(&format!("r{}", number % RECIPIENTS))
}

/// The event with a number.
pub(super) fn event(number: u64) -> Event {
    let mut to = Audience::default();
    match mix(number) % 4 {
        0 => to.topics = vec![id(&format!("t{}", number % 2))],
        _ => to.recipients = people(number).into_iter().collect(),
    }
    let kind = ["now", "held", "cool"][usize::try_from(mix(number ^ 7) % 3).unwrap_or(0)];
    let object = Object::bare(id(&format!("o{number}")));
    Event::new(id(&format!("e{number}")), id(kind), object, to)
}

/// The recipients of an event.
fn people(number: u64) -> BTreeSet<Id> {
    match mix(number) % 4 {
        0 => (0..RECIPIENTS / 2).map(|pair| recipient(2 * pair + number % 2)).collect(),
        _ => [recipient(number), recipient(mix(number) >> 3)].into(),
    }
}

/// The clients.
pub struct Clients {
    next: u64,
    /// Events that were not acknowledged yet, with the instant of the next attempt.
    open: BTreeMap<u64, i64>,
    acknowledged: BTreeSet<u64>,
    /// The highest revision that was seen of each inbox.
    revisions: BTreeMap<Id, u64>,
    looks: u64,
    mails: DeliveredMails,
}

/// The time before the last fault at which the last new event is published: it is acknowledged in time.
const QUIET_MS: i64 = 500;

/// The wait of a client before it tries again.
const AGAIN_MS: i64 = 700;

impl Clients {
    /// Makes a store with recipients.
    pub(super) fn with_store(net: &Net<SimMessage>) -> Self {
        let lease = membership(&net.leases).lease;
        let epoch = net
            .leases
            .acquire(lease, None, NodeId(0))
            .expect(REACHED)
            .expect("nobody else is there");
        let store = net.leases.open(epoch).expect(REACHED);
        let mut node = Node::open(store, options(net.world.shards)).expect(REACHED);
        let people = (0..RECIPIENTS).map(|number| {
            format!("00:00 person r{number}\n00:00 subscribe r{number} t{}\n", number % 2)
        });
        let people = script::parse(&people.collect::<String>()).expect("the words are known");
        let commands: Vec<Command> = people
            .steps
            .into_iter()
            .filter_map(|(step, _)| match step {
                Step::Play(timed) => Some(timed.command),
                Step::Reconfigure(..) => None,
            })
            .collect();
        let set = node.set_rules(BEGIN, rules());
        set.expect("rules can be set");
        let taken = node.take_in(BEGIN, &commands).expect("they are written");
        assert!(taken.replies.iter().all(Result::is_ok));
        drop(node);
        net.leases.release(epoch).expect(REACHED);
        Self {
            next: 0,
            open: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            revisions: BTreeMap::new(),
            looks: 0,
            mails: DeliveredMails::default(),
        }
    }

    pub(super) fn mails(&self) -> &DeliveredMails {
        &self.mails
    }

    /// Publishes a new event, and again those that were not acknowledged, each through any node.
    pub(super) fn ask(
        &mut self,
        seats: &[Option<NodeProcess<SimServer>>],
        net: &mut Net<SimMessage>,
    ) {
        if net.now < net.world.faults_ms - QUIET_MS && net.roll(2) == 0 {
            self.open.insert(self.next, net.now);
            self.next += 1;
        }
        let now = net.now;
        let due = self.open.iter_mut().filter(|(_, at)| **at <= now);
        let due: Vec<u64> = due
            .map(|(number, at)| {
                *at = now + AGAIN_MS;
                *number
            })
            .collect();
        for number in due {
            let node = net.choose(seats.len());
            let Some(seat) = seats[node].as_ref() else {
                continue;
            };
            if net.sleeps_until(node).is_some() {
                continue;
            }
            let me = seat.me(node, now);
            let to = match &seat.body {
                Some(body) if body.has_intake() => Some(me.election.id()),
                _ => me.holder(),
            };
            if let Some(to) = to {
                net.send(node, to, &SimMessage::Publish(number));
            }
        }
    }

    /// Hears that an event is accepted.
    pub(super) fn accepted(&mut self, number: u64) {
        self.open.remove(&number);
        self.acknowledged.insert(number);
    }

    /// Looks into an inbox of a node that may answer: its revision never falls.
    pub(super) fn look_into_an_inbox(&mut self, serving: &SimServer, net: &mut Net<SimMessage>) {
        let person = recipient(u64::try_from(net.roll(i64::MAX)).unwrap_or(0));
        let looked = serving.stepped().handle().look(|durable| {
            if !durable.engine().replica().has_home_of(&person) {
                return None;
            }
            let page =
                durable.engine().reader(durable.view()).inbox(&person, &InboxQuery::newest(1));
            page.ok().map(|page| page.counts.rev)
        });
        let Ok(Some(revision)) = looked else {
            return;
        };
        self.looks += 1;
        let seen = self.revisions.entry(person).or_default();
        assert!(revision >= *seen, "a revision falls to {revision} from {seen}");
        *seen = revision;
    }

    /// Checks that all that was published is acknowledged, and is in the inboxes of all whom it concerns.
    pub(super) fn are_in_inboxes(&self, stored: &Node) {
        assert!(self.open.is_empty(), "not acknowledged: {:?}", self.open);
        let (accepted, applied) =
            (stored.engine().replica().newest(), stored.engine().replica().applied());
        assert_eq!(applied, accepted, "all acts are applied");
        let view = stored.view().expect(REACHED);
        for number in &self.acknowledged {
            let traced = stored
                .engine()
                .reader(&view)
                .trace(&id(&format!("e{number}")))
                .expect("the store can be read");
            let trace = traced.unwrap_or_else(|| panic!("event {number} is lost"));
            let report = trace.report(&view).expect("the store can be read");
            let entries = report.channels.get("inbox").map_or(0, |fate| fate.entries);
            let people = people(*number).len() as u64;
            assert_eq!((report.notifications, entries), (people, people), "event {number}");
        }
    }

    /// Checks that each recipient got each event in exactly one mail, and that the books balance.
    pub(super) fn are_notified(&self, stored: &Node) {
        let books = stored.books().expect("walk and ledger agree");
        assert!(books.balance(), "{books:?}");
        assert_eq!(books.events, self.acknowledged.len() as u64);
        assert_eq!(books.pending, 0, "{books:?}");
        let mails = self.mails.lock();
        let again = mails.taken.values().filter(|mail| mail.times > 1).count() as u64;
        assert!(again <= books.resent, "{again} came again: {books:?}");
        let mut untold = 0;
        for number in &self.acknowledged {
            let object = id(&format!("o{number}"));
            for person in people(*number) {
                let mails_about = mails.taken.values();
                let mails_about = mails_about
                    .filter(|mail| mail.recipient == person && mail.tells.contains(&object));
                match mails_about.count() {
                    0 => untold += 1,
                    1 => {}
                    times => panic!("{person} is told of event {number} in {times} mails"),
                }
            }
        }
        assert!(untold <= books.unknown, "{untold} were not told: {books:?}");
        assert!(self.acknowledged.len() > 20 && self.looks > 20);
    }
}

/// The mails that the recipients got.
#[derive(Clone, Default)]
pub(super) struct DeliveredMails(Arc<Mutex<ClientMails>>);

#[derive(Default)]
struct ClientMails {
    /// Executor id, the objects that a mail that was rendered tells of.
    rendered: BTreeMap<String, BTreeSet<Id>>,
    taken: BTreeMap<String, SentMail>,
}

struct SentMail {
    recipient: Id,
    tells: BTreeSet<Id>,
    times: u32,
    /// The tenures in which it was handed over.
    by: Vec<Opening>,
}

impl DeliveredMails {
    fn lock(&self) -> MutexGuard<'_, ClientMails> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way of mails from a node in its tenure.
    pub(super) fn of(&self, leases: MemoryLeases, by: Opening) -> MailRoute {
        MailRoute { mails: self.clone(), leases, by }
    }
}

impl Renderer for DeliveredMails {
    fn render(&self, head: &Arc<MessageHead>, batch: &Batch) -> Result<Rendered, Unrenderable> {
        let tells = batch
            .groups
            .iter()
            .flat_map(|group| &group.lines)
            .map(|line| line.object.id.clone())
            .collect();
        self.lock().rendered.insert(head.id.clone(), tells);
        BareRenderer.render(head, batch)
    }
}

/// The way of mails from a node to the recipients.
pub(super) struct MailRoute {
    mails: DeliveredMails,
    leases: MemoryLeases,
    by: Opening,
}

impl Channel for MailRoute {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let view = membership(&self.leases);
        let shards = self.by.shards.as_ref().map(|shards| shards.numbers.clone());
        let is_in_force = is_in_force(self.by.tenure, &shards.unwrap_or_default(), &view);
        assert!(is_in_force, "a mail goes without a lease or share");
        let mut all = self.mails.lock();
        let head = &message.head;
        let tells = all.rendered.get(&head.id).cloned().unwrap_or_default();
        assert_eq!(tells.len(), head.entries, "each event has an object of its own");
        let mail = all.taken.entry(head.id.clone()).or_insert_with(|| SentMail {
            recipient: head.recipient.clone().expect("a message is for somebody"),
            tells: tells.clone(),
            times: 0,
            by: Vec::new(),
        });
        assert_eq!(mail.tells, tells, "a mail is always the same");
        assert!(!mail.by.contains(&self.by), "a mail goes twice in one tenure");
        mail.times += 1;
        mail.by.push(self.by.clone());
        assert!(mail.times <= 2, "a mail goes {} times", mail.times);
        Outcome::Sent(Receipt::default())
    }
}
