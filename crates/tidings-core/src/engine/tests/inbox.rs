//! Inboxes against a naive reading of the same story, however it is stored.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::engine::tests::*;
use crate::model::command::{Cancelled, MarkKind, Marked};
use crate::model::event::Pivot;
use crate::model::recipient::State;
use crate::model::time::HOUR_MS;

mod named;

const PEOPLE: [&str; 3] = ["ann", "bob", "cal"];
const KINDS: [&str; 3] = ["by_object", "by_actor", "by_target"];
const PIVOTS: [Option<Pivot>; 3] = [None, Some(Pivot::Actor), Some(Pivot::Target)];

/// A step of the story; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Op {
    Publish {
        kind: usize,
        roles: (u8, u8, u8),
        to: u8,
        delay_hours: u8,
    },
    Mark {
        who: usize,
        what: u8,
        which: u8,
        read: bool,
    },
    Withdraw(u8),
    /// An event is withdrawn.
    TakeBack(u8),
    Lift(u8),
    Disable(usize),
    Enable(usize),
    /// The pivots of the types change places.
    Regroup,
    Wait(u8),
    Turn,
    Restart,
    Forget,
    Look(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let roles = (0..4_u8, 0..4_u8, 0..3_u8);
    prop_oneof![
        10 => (0..3_usize, roles, 1..8_u8, prop_oneof![4 => Just(0), 1 => 1..30_u8]).prop_map(
            |(kind, roles, to, delay_hours)| Op::Publish { kind, roles, to, delay_hours }
        ),
        5 => (0..3_usize, 0..4_u8, any::<u8>(), any::<bool>())
            .prop_map(|(who, what, which, read)| Op::Mark { who, what, which, read }),
        1 => (0..4_u8).prop_map(Op::Withdraw),
        1 => any::<u8>().prop_map(Op::TakeBack),
        1 => (0..4_u8).prop_map(Op::Lift),
        1 => (0..3_usize).prop_map(Op::Disable),
        1 => (0..3_usize).prop_map(Op::Enable),
        1 => Just(Op::Regroup),
        3 => (1..30_u8).prop_map(Op::Wait),
        3 => Just(Op::Turn),
        2 => Just(Op::Restart),
        1 => Just(Op::Forget),
        4 => (0..3_usize).prop_map(Op::Look),
    ]
}

/// An entry as the naive reading keeps it.
#[derive(Clone, Debug)]
struct Entry {
    who: usize,
    day: Day,
    event: usize,
    kind: usize,
    pivot: String,
    object: u8,
    t: Instant,
    /// Number of events that had been published before it.
    place: usize,
    /// Number of entries that came before it.
    order: usize,
}

#[derive(Clone, Debug)]
struct Mark {
    who: usize,
    at: Instant,
    /// Number of events that had been published before it.
    before: usize,
    what: Marked,
    kind: MarkKind,
}

/// An event that enters later: by instant and place, with those who had an inbox then.
type Scheduled = BTreeMap<(Instant, usize), (usize, (u8, u8, u8), u8)>;

struct World {
    stored: Stored,
    engine: Engine,
    options: Options,
    now: Instant,
    events: usize,
    entered: usize,
    pivots: [usize; 3],
    entries: Vec<Entry>,
    scheduled: Scheduled,
    marks: Vec<Mark>,
    withdrawn: BTreeSet<u8>,
    disabled: BTreeSet<usize>,
    revs: BTreeMap<usize, u64>,
}

/// The facts that a group has in common: day, type, pivot, whether it was read.
type Group<'a> = (Day, usize, &'a str, bool);

/// A group as it is shown: type, count, its items with their bodies, seen, read.
type Shown = (String, usize, Vec<(String, Option<String>)>, bool, bool);

fn typed(pivots: [usize; 3]) -> Rules {
    let mut rules = rules();
    let kind = rules.types["told"].clone();
    for (at, name) in KINDS.into_iter().enumerate() {
        let mut kind = kind.clone();
        kind.group = PIVOTS[pivots[at]];
        rules.types.insert(name.to_owned(), kind);
    }
    rules
}

fn person(who: usize, state: State) -> Command {
    Command::Recipient(Box::new(RecipientChange {
        state: Some(state),
        ..RecipientChange::nothing(id(PEOPLE[who]))
    }))
}

fn object(number: u8) -> Object {
    Object {
        id: id(&format!("o{number}")),
        title: None,
        url: None,
        image: None,
        image_size: None,
        data: None,
        notifiable: None,
    }
}

impl World {
    fn new(options: Options) -> Self {
        let stored = Stored::default();
        let engine = Engine::open(&stored, &[], options).unwrap();
        let mut world = Self {
            stored,
            engine,
            options,
            now: Instant(20_000 * crate::model::time::DAY_MS),
            events: 0,
            entered: 0,
            pivots: [0, 1, 2],
            entries: Vec::new(),
            scheduled: BTreeMap::new(),
            marks: Vec::new(),
            withdrawn: BTreeSet::new(),
            disabled: BTreeSet::new(),
            revs: BTreeMap::new(),
        };
        world.set_rules();
        for who in 0..PEOPLE.len() {
            world.step(&[person(who, State::Active)]);
        }
        world
    }

    fn set_rules(&mut self) {
        let step = self.engine.set_rules(&self.stored, &Reach::new(), self.now, typed(self.pivots));
        self.stored.commit(step.unwrap().writes);
    }

    fn step(&mut self, commands: &[Command]) {
        let step = self.engine.step(&self.stored, &Reach::new(), self.now, commands).unwrap();
        assert!(step.replies.iter().all(Result::is_ok), "{:?}", step.replies);
        self.stored.commit(step.writes);
        for day in step.forgotten {
            self.stored.0.retain(|(at, _), _| *at != Partition::Day(day));
        }
    }

    fn turn(&mut self) {
        while let Some(writes) = self.engine.chore(&self.stored).unwrap() {
            self.stored.commit(writes);
        }
    }

    fn restart(&mut self) {
        let mut days: Vec<Day> = Vec::new();
        for (partition, _) in self.stored.0.keys() {
            if let Partition::Day(day) = partition {
                days.push(*day);
            }
        }
        days.dedup();
        self.engine = Engine::open(&self.stored, &days, self.options).unwrap();
    }

    /// Everyone who is meant and can be told gets an entry now.
    fn enter(&mut self, event: usize, t: Instant, kind: usize, roles: (u8, u8, u8), to: u8) {
        if self.withdrawn.contains(&roles.0) {
            return;
        }
        let alone = format!("event {event}");
        let pivot = match PIVOTS[self.pivots[kind]] {
            None | Some(Pivot::Object) => format!("object {}", roles.0),
            Some(Pivot::Actor) if roles.1 > 0 => format!("actor {}", roles.1),
            Some(Pivot::Target) if roles.2 > 0 => format!("target {}", roles.2),
            Some(_) => alone,
        };
        for who in (0..PEOPLE.len()).filter(|who| to >> who & 1 == 1) {
            if !self.disabled.contains(&who) {
                self.entries.push(Entry {
                    who,
                    day: self.now.day(),
                    event,
                    kind,
                    pivot: pivot.clone(),
                    object: roles.0,
                    t,
                    place: event,
                    order: self.entered,
                });
                self.entered += 1;
            }
        }
    }

    fn publish(&mut self, kind: usize, roles: (u8, u8, u8), to: u8, delay_hours: u8) {
        let event = self.events;
        self.events += 1;
        let named = |word: &str, number: u8| {
            (number > 0).then(|| Object::bare(id(&format!("{word}{number}"))))
        };
        let recipients = PEOPLE.iter().enumerate().filter(|(who, _)| to >> who & 1 == 1);
        let deliver_at = self.now.plus_ms(i64::from(delay_hours) * HOUR_MS);
        let command = Command::Publish(Box::new(Event {
            id: id(&format!("e{event}")),
            event_type: id(KINDS[kind]),
            actor: named("a", roles.1),
            object: object(roles.0),
            target: named("t", roles.2),
            data: None,
            body: body_of(event),
            score: Default::default(),
            to: Audience {
                recipients: recipients.map(|(_, name)| id(name)).collect(),
                ..Audience::default()
            },
            channels: None,
            occurred_at: None,
            deliver_at: (delay_hours > 0).then_some(deliver_at),
            delay_ms: None,
            deliver_local: None,
            expires_at: None,
            cancellation_key: None,
        }));
        self.withdrawn.remove(&roles.0);
        if delay_hours > 0 {
            let key = (deliver_at, event);
            self.scheduled.insert(key, (kind, roles, to));
        } else {
            self.enter(event, self.now, kind, roles, to);
        }
        self.step(&[command]);
    }

    fn play(&mut self, op: &Op) {
        let (snapshot, stored) = (self.engine.snapshot(), self.stored.clone());
        let seen = pages(&self.engine, &self.stored);
        self.act(op);
        assert_eq!(pages(&snapshot, &stored), seen, "a reader goes on");
    }

    fn act(&mut self, op: &Op) {
        match *op {
            Op::Publish { kind, roles, to, delay_hours } => {
                self.publish(kind, roles, to, delay_hours);
            }
            Op::Mark { who, what, which, read } => self.mark(who, what, which, read),
            Op::Withdraw(number) => {
                self.withdrawn.insert(number);
                let object = object(number).id;
                self.step(&[Command::Retract { object }]);
            }
            Op::TakeBack(which) => {
                let event = usize::from(which) % self.events.max(1);
                if event < self.events {
                    self.entries.retain(|entry| entry.event != event);
                    self.scheduled.retain(|(_, of), _| *of != event);
                    let event = id(&format!("e{event}"));
                    self.step(&[Command::Withdraw(Cancelled::Event(event))]);
                }
            }
            Op::Lift(number) => {
                self.withdrawn.remove(&number);
                self.step(&[Command::Object(object(number))]);
            }
            Op::Disable(who) => {
                self.disabled.insert(who);
                self.step(&[person(who, State::Disabled)]);
            }
            Op::Enable(who) => {
                self.disabled.remove(&who);
                self.step(&[person(who, State::Active)]);
            }
            Op::Regroup => {
                self.pivots.rotate_left(1);
                self.set_rules();
            }
            Op::Wait(hours) => {
                self.now = self.now.plus_ms(i64::from(hours) * HOUR_MS);
                let later = self.scheduled.split_off(&(self.now.plus_ms(1), 0));
                for ((t, event), (kind, roles, to)) in std::mem::replace(&mut self.scheduled, later)
                {
                    self.enter(event, t, kind, roles, to);
                }
                self.step(&[]);
            }
            Op::Turn => self.turn(),
            Op::Restart => self.restart(),
            Op::Forget => {
                let before = Day(self.now.day().0 - 1);
                self.entries.retain(|entry| entry.day >= before);
                self.step(&[Command::Forget { before }]);
            }
            Op::Look(who) => self.look(who),
        }
    }

    fn mark(&mut self, who: usize, what: u8, which: u8, read: bool) {
        let kind = if read { MarkKind::Read } else { MarkKind::Seen };
        let what = match what {
            0 => Marked::Object(object(which % 4).id),
            1 => Marked::Event(id(&format!("e{}", usize::from(which) % (self.events + 1)))),
            _ => Marked::UpTo(self.now.plus_ms(-i64::from(which % 40) * HOUR_MS)),
        };
        self.marks.push(Mark { who, at: self.now, before: self.events, what: what.clone(), kind });
        self.step(&[Command::Mark { recipient: id(PEOPLE[who]), what, kind }]);
    }

    fn is(&self, entry: &Entry, kind: MarkKind) -> bool {
        self.marks.iter().any(|mark| {
            mark.who == entry.who
                && mark.kind >= kind
                && entry.place < mark.before
                && entry.t <= mark.at
                && match &mark.what {
                    Marked::UpTo(up_to) => entry.t <= *up_to,
                    Marked::Object(object) => *object == self::object(entry.object).id,
                    Marked::Event(event) => event.as_str() == format!("e{}", entry.event),
                }
        })
    }

    /// All groups, newest first, and the badge.
    fn naive(&self, who: usize) -> (Vec<Shown>, u64, u64) {
        let shown = self.entries.iter().rev();
        let shown =
            shown.filter(|entry| entry.who == who && !self.withdrawn.contains(&entry.object));
        let mut groups: Vec<(Group<'_>, Vec<&Entry>)> = Vec::new();
        for entry in shown {
            let read = self.is(entry, MarkKind::Read);
            let key = (entry.day, entry.kind, entry.pivot.as_str(), read);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, entries)) => entries.push(entry),
                None => groups.push((key, vec![entry])),
            }
        }
        groups.sort_by_key(|(_, entries)| std::cmp::Reverse(entries[0].order));
        let seen = |entries: &[&Entry]| entries.iter().all(|entry| self.is(entry, MarkKind::Seen));
        let unseen = groups.iter().filter(|(_, entries)| !seen(entries)).count();
        let unread = groups.iter().filter(|((_, _, _, read), _)| !read).count();
        let groups = groups.iter().map(|((_, kind, _, read), entries)| {
            let items = entries
                .iter()
                .take(ITEMS_LISTED)
                .map(|entry| (format!("e{}", entry.event), body_of(entry.event)))
                .collect();
            let kind = KINDS[*kind].to_owned();
            (kind, entries.len(), items, seen(entries), *read)
        });
        (groups.collect(), unseen as u64, unread as u64)
    }

    fn page(&mut self, who: usize, from: Option<Cursor>, limit: usize) -> InboxPage {
        let page = self.engine.reader(&self.stored).inbox(&id(PEOPLE[who]), from, limit).unwrap();
        assert!(page.groups.len() <= limit);
        let (_, unseen, unread) = self.naive(who);
        assert_eq!((page.unseen, page.unread), (unseen, unread));
        let rev = self.revs.insert(who, page.rev);
        assert!(rev <= Some(page.rev), "a later answer has no lower number");
        page
    }

    /// Reads the inbox as a whole, then page by page while more arrives.
    fn look(&mut self, who: usize) {
        let (groups, ..) = self.naive(who);
        let whole = self.page(who, None, usize::MAX);
        assert_eq!(whole.groups.iter().map(shown).collect::<Vec<_>>(), groups);
        assert_eq!(whole.next, None);
        let keys: BTreeSet<&str> = whole.groups.iter().map(|group| group.key.as_str()).collect();
        assert_eq!(keys.len(), groups.len(), "keys tell groups apart");
        let (mut paged, mut from) = (Vec::new(), None);
        loop {
            let page = self.page(who, from, 2);
            paged.extend(page.groups.iter().map(shown));
            let Some(next) = page.next else { break };
            assert_eq!(page.groups.len(), 2, "only the last page is short");
            from = Some(next.to_string().parse().unwrap());
            // About nothing that was withdrawn, or it would come back.
            self.publish(paged.len() % 3, (9, 1, 1), 7, 0);
        }
        assert_eq!(paged, groups, "each group once, whatever arrives meanwhile");
    }
}

/// The body of an event by its number; some have none.
fn body_of(event: usize) -> Option<String> {
    (!event.is_multiple_of(3)).then(|| format!("said {event}"))
}

fn pages(engine: &Engine, stored: &Stored) -> Vec<InboxPage> {
    let page = |name: &&str| engine.reader(stored).inbox(&id(name), None, 100).unwrap();
    PEOPLE.iter().map(page).collect()
}

fn shown(group: &InboxGroup) -> Shown {
    let body = |item: &InboxItem| item.body.as_deref().map(str::to_owned);
    let items = group.items.iter().map(|item| (item.event.to_string(), body(item))).collect();
    assert!(group.items.iter().all(|item| item.event_type == group.event_type));
    assert!(group.items.iter().all(|item| item.read == group.read));
    assert!(group.items.iter().all(|item| item.reasons == ["named"]));
    assert_eq!(group.items[0].t, group.newest_at);
    (group.event_type.to_string(), group.count, items, group.seen, group.read)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_and_badge_are_what_a_naive_reading_says(
        ops in prop::collection::vec(op(), 1..60),
        buckets in 1..3_u16,
        index_after in prop::sample::select(vec![Some(0), Some(4), None]),
    ) {
        let shards = 1 + buckets % 2;
        let options = Options { buckets, shards, index_after, checkpoint_after: 0, slice_bytes: 64 };
        let mut world = World::new(options);
        for op in &ops {
            world.play(op);
        }
        for who in 0..PEOPLE.len() {
            world.look(who);
            world.restart();
            world.look(who);
        }
    }
}
