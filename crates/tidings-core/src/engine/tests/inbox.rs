//! Inboxes against a naive reading of the same story, however it is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use proptest::prelude::*;

use crate::engine::tests::*;
use crate::engine::{InboxQuery, InboxState};
use crate::model::command::{Cancelled, ItemChange, MarkKind, Marked, TypeFilter};
use crate::model::event::Pivot;
use crate::model::item::Shelf;
use crate::model::recipient::RecipientState;
use crate::model::tenant::View;
use crate::model::time::HOUR_MS;
use crate::rules::{TenantRules, UnknownTenant};

mod looks;
mod marking;
mod naive;
mod named;

const PEOPLE: [&str; 3] = ["ann", "bob", "cal"];
const TENANTS: [&str; 2] = ["acme", "bolt"];
/// The views by their tenants' places above.
const VIEWS: [View<usize>; 5] = [View::All, View::Of(0), View::Of(1), View::Only(0), View::Only(1)];
const KINDS: [&str; 3] = ["by_object", "by_actor", "by_target"];
const PIVOTS: [Option<Pivot>; 3] = [None, Some(Pivot::Actor), Some(Pivot::Target)];

/// A step of the story; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Op {
    Publish {
        /// Of none beyond the last.
        tenant: usize,
        kind: usize,
        roles: (u8, u8, u8),
        to: u8,
        delay_hours: u8,
    },
    Mark {
        who: usize,
        view: usize,
        what: u8,
        which: u8,
        change: u8,
    },
    Withdraw(u8),
    /// An event is withdrawn.
    TakeBack(u8),
    Lift(u8),
    Disable(usize),
    Enable(usize),
    /// A tenant is deleted, and made anew.
    EndTenant(usize),
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
    let delay = prop_oneof![4 => Just(0), 1 => 1..30_u8];
    prop_oneof![
        10 => (0..4_usize, 0..3_usize, roles, 1..8_u8, delay).prop_map(
            |(tenant, kind, roles, to, delay_hours)| Op::Publish { tenant, kind, roles, to, delay_hours }
        ),
        9 => (0..3_usize, prop_oneof![1 => Just(0), 1 => 1..5_usize], 0..6_u8, any::<u8>(), 0..11_u8)
            .prop_map(|(who, view, what, which, change)| Op::Mark { who, view, what, which, change }),
        1 => (0..2_usize).prop_map(Op::EndTenant),
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
    /// The day that has it.
    day: Day,
    /// The day that lists it: another one after a snooze.
    listed: Day,
    event: usize,
    tenant: Option<usize>,
    kind: usize,
    pivot: String,
    object: u8,
    /// The instant of its position.
    newest_at: Instant,
    /// Number of positions that were given before it.
    order: usize,
    seen: bool,
    read: bool,
    shelf: Shelf,
}

/// A change of items.
#[derive(Clone, Copy, Debug)]
enum Change {
    Mark(MarkKind),
    Items(ItemChange),
}

/// An event that enters later: by instant and place, with those who had an inbox then.
type Scheduled = BTreeMap<(Instant, usize), Told>;

/// An event: tenant, type, roles, and those whom it reaches.
type Told = (Option<usize>, usize, (u8, u8, u8), u8);

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
    withdrawn: BTreeSet<u8>,
    disabled: BTreeSet<usize>,
    /// By reader and view, the revision of the newest answer and what it showed.
    revs: BTreeMap<(usize, View<usize>), (u64, Whole)>,
    /// By event, its tenant.
    tenants: Vec<Option<usize>>,
}

/// An inbox as a whole: its rows in all states, and the badge.
type Whole = (Vec<Shown>, u64, u64);

/// The facts that a group has in common: day, tenant, type, pivot, and its state.
type Group<'a> = (Day, Option<usize>, usize, &'a str, &'static str);

/// A group as it is shown: tenant, type, count, its items with their bodies, seen, read, state, end of a snooze, position.
type Shown = (
    Option<String>,
    String,
    usize,
    Vec<(String, Option<String>)>,
    bool,
    bool,
    &'static str,
    Option<Instant>,
    Instant,
);

fn typed(pivots: [usize; 3]) -> Rules {
    let mut rules = rules();
    let kind = rules.types["told"].clone();
    for (at, name) in KINDS.into_iter().enumerate() {
        let mut kind = kind.clone();
        kind.group = PIVOTS[pivots[at]];
        rules.types.insert(name.to_owned(), kind);
    }
    rules.tenants = Some(TenantRules { unknown: UnknownTenant::Refuse });
    rules
}

fn make_tenant(tenant: usize) -> Command {
    Command::Tenant { tenant: id(TENANTS[tenant]), change: Box::default() }
}

fn named(view: View<usize>) -> View {
    let Ok(view) = view.try_map(|tenant| Ok::<_, Infallible>(id(TENANTS[*tenant])));
    view
}

fn of_all(query: &InboxQuery) -> [InboxQuery; VIEWS.len()] {
    VIEWS.map(|view| InboxQuery { view: named(view), ..query.clone() })
}

fn person(who: usize, state: RecipientState) -> Command {
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
            withdrawn: BTreeSet::new(),
            disabled: BTreeSet::new(),
            revs: BTreeMap::new(),
            tenants: Vec::new(),
        };
        world.set_rules();
        world.step(&[make_tenant(0), make_tenant(1)]);
        for who in 0..PEOPLE.len() {
            world.step(&[person(who, RecipientState::Active)]);
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
    fn enter(&mut self, event: usize, t: Instant, told: Told) {
        let (tenant, kind, roles, to) = told;
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
                    day: t.day(),
                    listed: t.day(),
                    event,
                    tenant,
                    kind,
                    pivot: pivot.clone(),
                    object: roles.0,
                    newest_at: t,
                    order: self.entered,
                    seen: false,
                    read: false,
                    shelf: Shelf::Active,
                });
                self.entered += 1;
            }
        }
    }

    fn publish(&mut self, kind: usize, roles: (u8, u8, u8), to: u8, delay_hours: u8) {
        self.publish_of((None, kind, roles, to), delay_hours);
    }

    fn publish_of(&mut self, told: Told, delay_hours: u8) {
        let (tenant, kind, roles, to) = told;
        let event = self.events;
        self.events += 1;
        self.tenants.push(tenant);
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
            body: body_of(event).map(Into::into),
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
            tenant: tenant.map(|tenant| id(TENANTS[tenant])),
            cancellation_key: None,
            trace: None,
        }));
        self.withdrawn.remove(&roles.0);
        if delay_hours > 0 {
            let key = (deliver_at, event);
            self.scheduled.insert(key, told);
        } else {
            self.enter(event, self.now, told);
        }
        self.step(&[command]);
    }

    fn play(&mut self, op: &Op) {
        let (snapshot, stored) = (self.engine.snapshot(), self.stored.clone());
        let seen = pages(&self.engine, &self.stored);
        let concerned = self.concerned(op);
        self.act(op);
        assert_eq!(pages(&snapshot, &stored), seen, "a reader goes on");
        let unconcerned = concerned.map(|tenant| move |view: View<usize>| !view.shows(tenant));
        if let Some(unconcerned) = unconcerned {
            let now = pages(&self.engine, &self.stored);
            let views = PEOPLE.iter().flat_map(|_| VIEWS);
            for ((view, before), after) in views.zip(&seen).zip(&now) {
                assert!(!unconcerned(view) || before == after, "{view:?}: {op:?}");
            }
        }
    }

    /// The tenant, or none, whose entries alone a step concerns, if that is known.
    fn concerned(&self, op: &Op) -> Option<Option<usize>> {
        match *op {
            // What is told of an object that was withdrawn lifts that for everybody.
            Op::Publish { tenant, roles, .. } if !self.withdrawn.contains(&roles.0) => {
                Some(Some(tenant).filter(|tenant| *tenant < TENANTS.len()))
            }
            Op::TakeBack(which) => {
                self.tenants.get(usize::from(which) % self.events.max(1)).copied()
            }
            Op::EndTenant(tenant) => Some(Some(tenant)),
            _ => None,
        }
    }

    fn act(&mut self, op: &Op) {
        match *op {
            Op::Publish { tenant, kind, roles, to, delay_hours } => {
                let tenant = Some(tenant).filter(|tenant| *tenant < TENANTS.len());
                self.publish_of((tenant, kind, roles, to), delay_hours);
            }
            Op::Mark { who, view, what, which, change } => {
                self.mark_in(VIEWS[view], who, (what, which, change));
            }
            Op::EndTenant(tenant) => {
                self.entries.retain(|entry| entry.tenant != Some(tenant));
                self.scheduled.retain(|_, (of, ..)| *of != Some(tenant));
                // One that is made anew is another tenant, and its view another view.
                self.revs.retain(|(_, view), _| view.tenant() != Some(&tenant));
                self.step(&[Command::DeleteTenant { tenant: id(TENANTS[tenant]) }]);
                self.step(&[make_tenant(tenant)]);
            }
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
                    self.step(&[Command::Withdraw { what: Cancelled::Event(event), tenant: None }]);
                }
            }
            Op::Lift(number) => {
                self.withdrawn.remove(&number);
                self.step(&[Command::Object(object(number))]);
            }
            Op::Disable(who) => {
                self.disabled.insert(who);
                self.step(&[person(who, RecipientState::Disabled)]);
            }
            Op::Enable(who) => {
                self.disabled.remove(&who);
                self.step(&[person(who, RecipientState::Active)]);
            }
            Op::Regroup => {
                self.pivots.rotate_left(1);
                self.set_rules();
            }
            Op::Wait(hours) => self.wait(hours),
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

    /// Plays every instant at which something is due: returns from a snooze, then scheduled events.
    fn wait(&mut self, hours: u8) {
        self.now = self.now.plus_ms(i64::from(hours) * HOUR_MS);
        while self.engine.next_due().is_some_and(|due| due <= self.now) {
            let step = self.engine.play_missed(&self.stored, self.now, 10).unwrap();
            self.stored.commit(step.writes);
        }
        let later = self.scheduled.split_off(&(self.now.plus_ms(1), 0));
        let due = std::mem::replace(&mut self.scheduled, later);
        for ((t, event), told) in due {
            self.return_until(t);
            self.enter(event, t, told);
        }
        self.return_until(self.now);
        self.step(&[]);
    }

    fn return_until(&mut self, now: Instant) {
        loop {
            let ends = |entry: &&mut Entry| match entry.shelf {
                Shelf::Snoozed(until) if until <= now => Some((until, entry.event)),
                _ => None,
            };
            let first = self.entries.iter_mut().filter(|entry| ends(entry).is_some());
            let Some(entry) = first.min_by_key(ends) else { return };
            let Shelf::Snoozed(until) = entry.shelf else { return };
            (entry.seen, entry.read, entry.shelf) = (false, false, Shelf::Active);
            (entry.newest_at, entry.listed, entry.order) = (until, until.day(), self.entered);
            self.entered += 1;
        }
    }
}

/// The body of an event by its number; some have none.
fn body_of(event: usize) -> Option<String> {
    (!event.is_multiple_of(3)).then(|| format!("said {event}"))
}

fn pages(engine: &Engine, stored: &Stored) -> Vec<InboxPage> {
    let queries = of_all(&InboxQuery::newest(100));
    let page = |name: &&str| {
        let read = |query: &InboxQuery| engine.reader(stored).inbox(&id(name), query).unwrap();
        queries.each_ref().map(read)
    };
    PEOPLE.iter().flat_map(page).collect()
}

fn shown(group: &InboxGroup) -> Shown {
    let body = |item: &InboxItem| item.body.as_ref().map(|body| body.first().to_owned());
    let items = group.items.iter().map(|item| (item.event.to_string(), body(item))).collect();
    assert!(group.items.iter().all(|item| item.event_type == group.event_type));
    assert!(group.items.iter().all(|item| item.archived == group.archived));
    assert!(group.items.iter().all(|item| item.tenant == group.tenant));
    assert!(group.items.iter().all(|item| item.reasons == ["named"]));
    let word = match (group.archived, group.snoozed_until, group.read) {
        (true, ..) => "archived",
        (false, Some(_), _) => "snoozed",
        (false, None, true) => "read",
        (false, None, false) => "new",
    };
    (
        group.tenant.as_ref().map(ToString::to_string),
        group.event_type.to_string(),
        group.count,
        items,
        group.seen,
        group.read,
        word,
        group.snoozed_until,
        group.newest_at,
    )
}

/// The state of an item is newer than the entries of the day that is kept, and goes with the day before.
#[test]
fn no_revision_falls_where_the_last_items_are_forgotten() {
    let publish =
        |tenant, to| Op::Publish { tenant, kind: 0, roles: (0, 0, 0), to, delay_hours: 0 };
    let mark = |what, which, change| Op::Mark { who: 0, view: 0, what, which, change };
    let index_after = Some(0);
    let options = Options {
        buckets: 1,
        shards: 2,
        index_after,
        checkpoint_after: 0,
        slice_bytes: 64,
        ..Options::default()
    };
    let mut world = World::new(options);
    let begin = [publish(2, 1), Op::Wait(8), mark(4, 0, 0), Op::Wait(24), Op::Disable(0)];
    let then = [Op::Wait(16), publish(0, 3), mark(0, 200, 6), Op::Forget];
    let end = [Op::Wait(24), Op::Look(0), Op::Forget];
    begin.iter().chain(&then).chain(&end).for_each(|op| world.play(op));
    for who in 0..PEOPLE.len() {
        world.look(who);
        world.restart();
        world.look(who);
    }
}

/// The entry that gave the inbox its revision is of a tenant that is gone, and its day is read as a whole.
#[test]
fn no_revision_falls_where_a_mark_covers_what_a_deleted_tenant_left() {
    let options = Options { buckets: 1, index_after: Some(0), ..Options::default() };
    let mut world = World::new(options);
    let publish = Op::Publish { tenant: 1, kind: 0, roles: (0, 0, 0), to: 1, delay_hours: 0 };
    let mark = Op::Mark { who: 0, view: 0, what: 4, which: 120, change: 3 };
    for op in [publish, Op::Lift(0), Op::Lift(0), Op::EndTenant(1), Op::Wait(22), Op::Wait(24)] {
        world.play(&op);
        world.look(0);
    }
    world.play(&mark);
    world.look(0);
    // Without what was counted before.
    world.restart();
    world.look(0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_and_badge_are_what_a_naive_reading_says(
        ops in prop::collection::vec(op(), 1..60),
        buckets in 1..3_u16,
        index_after in prop::sample::select(vec![Some(0), Some(4), None]),
    ) {
        let shards = 1 + buckets % 2;
        let options = Options { buckets, shards, index_after, checkpoint_after: 0, slice_bytes: 64, ..Options::default() };
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
