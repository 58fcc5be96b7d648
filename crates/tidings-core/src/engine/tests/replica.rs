//! Engines with some shards each over one store: together they write and answer what one engine does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::workers::steps;
use crate::engine::tests::*;
use crate::journal::stored::ReadView;

/// Engines over one store: the first has the intake.
pub(super) struct Nodes {
    pub(super) stored: Stored,
    pub(super) engines: Vec<Engine>,
}

pub(super) fn options(shards: u16) -> Options {
    Options { shards, ..Options::default() }
}

/// The subset of every third number, from a first one on.
fn held(node: u16, nodes: u16, of: u16) -> HeldShards {
    HeldShards {
        intake: node == 0,
        shards: (0..of).filter(|shard| shard % nodes == node).collect(),
    }
}

impl Nodes {
    pub(super) fn open(stored: Stored, nodes: u16, of: u16) -> Self {
        let days: BTreeSet<Day> = stored.days();
        let days: Vec<Day> = days.into_iter().collect();
        let engines = (0..nodes).map(|node| {
            let held = held(node, nodes, of);
            Engine::open_held(&stored, &days, options(of), Some(&held)).unwrap()
        });
        let engines = engines.collect();
        let mut nodes = Self { stored, engines };
        for node in 0..nodes.engines.len() {
            nodes.catch_up(node);
        }
        nodes
    }

    /// Applies what is stored of acts and an engine has not applied.
    fn catch_up(&mut self, node: usize) {
        let engine = &mut self.engines[node];
        let told = read_log(&self.stored, engine.replica().applied(), usize::MAX).unwrap();
        let now = engine.now();
        let step = engine.apply_log(&self.stored, &Reach::new(), now, &told).unwrap();
        self.stored.commit(step.writes);
    }

    /// Does a step of the node with the intake, has the others apply its acts, and ends its commands.
    pub(super) fn lead(&mut self, now: Instant, step: Step) -> Vec<Result<Reply, Refused>> {
        let mut replies = step.replies;
        self.stored.commit(step.writes);
        let mut open = step.open_replies;
        for follower in &mut self.engines[1..] {
            let told: Vec<Arc<LogEntry>> = step.logged.iter().cloned().collect();
            let step = follower.apply_log(&self.stored, &Reach::new(), now, &told).unwrap();
            self.stored.commit(step.writes);
            for answers in &step.answers {
                open.iter_mut().for_each(|open| open.add(answers));
            }
        }
        let leader = &mut self.engines[0];
        let step = leader.conclude(&self.stored, now, &open).unwrap();
        assert!(step.logged.is_none(), "nothing is told of an answer");
        self.stored.commit(step.writes);
        for (open, reply) in open.iter().zip(step.replies) {
            replies[open.command] = reply;
        }
        replies
    }

    pub(super) fn take_in(
        &mut self,
        now: Instant,
        command: &Command,
    ) -> Vec<Result<Reply, Refused>> {
        let commands = slice::from_ref(command);
        let home = command.recipient().map_or(0, |recipient| {
            let has = |engine: &Engine| engine.replica().has_home_of(recipient);
            self.engines.iter().position(has).unwrap()
        });
        let dry = self.dry_run(home, now, command);
        let step = self.engines[home].take_in(&self.stored, &Reach::new(), now, commands).unwrap();
        let replies = if home == 0 {
            self.lead(now, step)
        } else {
            self.stored.commit(step.writes);
            step.replies
        };
        assert_eq!([dry.reply], *replies, "a dry run answers what the step does");
        replies
    }

    /// A dry run of a command at its home, with the part of the others.
    fn dry_run(&self, home: usize, now: Instant, command: &Command) -> DryRun {
        let reach = Reach::new();
        let mut dry = self.engines[home].dry_run(&self.stored, &reach, now, command).unwrap();
        if let Some(acts) = dry.acts().cloned() {
            for follower in &self.engines[1..] {
                let part = follower.dry_apply(&self.stored, &reach, now, acts.clone());
                dry.add(&part.unwrap());
            }
        }
        dry
    }

    /// Ends an instant everywhere; returns the number of deliveries to inboxes.
    fn end_instant(&mut self, now: Instant) -> usize {
        let mut told = 0;
        for node in 0..self.engines.len() {
            let engine = &mut self.engines[node];
            let step = engine.step(&self.stored, &Reach::new(), now, &[]).unwrap();
            told += step.delivered.len();
            match node {
                0 => {
                    self.lead(now, step);
                }
                _ => self.stored.commit(step.writes),
            }
        }
        told
    }
}

impl Stored {
    pub(super) fn days(&self) -> BTreeSet<Day> {
        let partitions = self.0.keys().filter_map(|(partition, _)| match partition {
            Partition::Day(day) => Some(*day),
            Partition::Base => None,
        });
        partitions.collect()
    }

    /// All rows but the heads, and acts.
    fn compared(&self) -> BTreeMap<(Partition, Vec<u8>), Vec<u8>> {
        let heads = [
            Key::of(Owner::Shard, Table::Meta).done(),
            Key::of(Owner::Intake, Table::Meta).done(),
            Key::of(Owner::Intake, Table::Acts).done(),
        ];
        self.0
            .iter()
            .filter(|((_, key), _)| !heads.iter().any(|head| key.starts_with(head)))
            .map(|(at, value)| (at.clone(), value.clone()))
            .collect()
    }
}

fn mailed() -> Rules {
    let mut rules = rules();
    let mail = Route::of(Policy::Cooldown { quiet_ms: 2, max_wait_ms: None });
    let told = rules.types.get_mut("told").unwrap();
    told.channels.insert("email".to_owned(), mail);
    rules
}

/// A store of that many shards.
fn divided(shards: u16) -> Stored {
    let mut stored = Stored::default();
    let mut engine = Engine::open(&stored, &[], options(shards)).unwrap();
    let step = engine.set_rules(&stored, &Reach::new(), Instant(0), mailed());
    stored.commit(step.unwrap().writes);
    stored
}

#[test]
fn shards_on_several_nodes_write_and_answer_what_one_node_does() {
    let mut one = divided(7);
    let mut nodes = Nodes::open(one.clone(), 3, 7);
    let mut engine = Engine::open(&one, &[Day(0)], options(7)).unwrap();
    let mut told = 0;
    for (at, commands) in steps() {
        let now = Instant(at);
        for command in &commands {
            let step = engine.take_in(&one, &Reach::new(), now, slice::from_ref(command)).unwrap();
            one.commit(step.writes);
            assert_eq!(nodes.take_in(now, command), step.replies, "{command:?}");
        }
        let step = engine.step(&one, &Reach::new(), now, &[]).unwrap();
        one.commit(step.writes);
        let delivered = nodes.end_instant(now);
        assert_eq!(delivered, step.delivered.len(), "at {at}");
        told += delivered;
        assert_eq!(nodes.stored.compared(), one.compared(), "at {at}");
    }
    assert!(told > 50, "inboxes of many buckets were told");
    let closings: usize =
        nodes.engines.iter().map(|node| node.open_closings().unmade().len()).sum();
    assert_eq!(closings, engine.open_closings().unmade().len());
    let sum = nodes.engines.iter().map(Engine::tally);
    assert_eq!(sum.fold(Tally::default(), |sum, of| sum + of), engine.tally());
}

#[test]
fn a_shard_applies_once_what_it_missed() {
    let mut nodes = Nodes::open(divided(4), 2, 4);
    for name in 0..40 {
        let change = RecipientChange::nothing(id(&format!("p{name}")));
        let made = nodes.take_in(Instant(0), &Command::Recipient(Box::new(change)));
        assert_eq!(made, [Ok(Reply::Done)]);
    }
    // The node with the intake goes on; the other one hears nothing, and has stopped when it comes back.
    for name in 0..3 {
        let leader = &mut nodes.engines[0];
        let step = leader.take_in(&nodes.stored, &Reach::new(), Instant(1), &[event(name)]);
        nodes.stored.commit(step.unwrap().writes);
    }
    let count = |nodes: &Nodes| -> u64 {
        nodes
            .engines
            .iter()
            .flat_map(|engine| engine.ledger().into_values())
            .map(|row| row.entries)
            .sum()
    };
    assert!(count(&nodes) < 3 * 2 * 40);
    for _ in 0..2 {
        nodes = Nodes::open(nodes.stored, 2, 4);
        assert_eq!(count(&nodes), 3 * 2 * 40);
    }
    let until = nodes.engines.iter().map(|engine| engine.replica().applied()).min().unwrap();
    assert_eq!(until, nodes.engines[0].replica().newest());
    let leader = &mut nodes.engines[0];
    let step = leader.delete_log(&nodes.stored, Instant(2), until).unwrap();
    nodes.stored.commit(step.writes);
    let acts = Key::of(Owner::Intake, Table::Acts).done();
    let left = nodes.stored.0.keys().filter(|(_, key)| key.starts_with(&acts));
    assert_eq!(left.count(), 0, "acts are stored for as long as a part needs them");
    // One engine of everything goes on where they were.
    let days: Vec<Day> = nodes.stored.days().into_iter().collect();
    let engine = Engine::open(&nodes.stored, &days, options(1)).unwrap();
    let walk = engine.reader(&nodes.stored).walk().unwrap();
    assert_eq!(walk.disagreements, Vec::<String>::new());
    assert_eq!((walk.books.events, walk.books.entries, walk.books.lost), (3, 3 * 2 * 40, 0));
}

#[test]
fn a_shard_that_lags_is_not_taken_past_what_it_has_missed() {
    let mut nodes = Nodes::open(divided(6), 3, 6);
    for name in 0..40 {
        let change = RecipientChange::nothing(id(&format!("p{name}")));
        nodes.take_in(Instant(0), &Command::Recipient(Box::new(change)));
    }
    let leader = &mut nodes.engines[0];
    let step = leader.take_in(&nodes.stored, &Reach::new(), Instant(1), &[event(1)]);
    nodes.stored.commit(step.unwrap().writes);
    // The node with the intake takes over the shards of one that has heard nothing of it.
    let held = HeldShards { intake: true, shards: [0, 1, 3, 4].into() };
    let mut engine = Engine::open_held(&nodes.stored, &[Day(0)], options(6), Some(&held)).unwrap();
    let missed = engine.replica().applied();
    assert!(missed < engine.replica().newest());
    let kept = KeptObjects { day: Day(3), objects: vec![id("o")] };
    let step = engine.keep_objects(&nodes.stored, Instant(2), &[kept]).unwrap();
    assert!(step.logged.is_some(), "news of an object");
    nodes.stored.commit(step.writes);
    assert_eq!(engine.replica().applied(), missed);
    let told = read_log(&nodes.stored, missed, usize::MAX).unwrap();
    let step = engine.apply_log(&nodes.stored, &Reach::new(), Instant(2), &told);
    nodes.stored.commit(step.unwrap().writes);
    assert_eq!(engine.replica().applied(), engine.replica().newest());
    nodes.engines[0] = engine;
    nodes.catch_up(2);
    let days: Vec<Day> = nodes.stored.days().into_iter().collect();
    let whole = Engine::open(&nodes.stored, &days, options(6)).unwrap();
    assert_eq!(whole.reader(&nodes.stored).walk().unwrap().books.notifications, 40);
}

/// A store that another node writes while it is read: rules come into force once the head of the intake or the rules
/// were read, whichever is first.
struct Meanwhile {
    before: Stored,
    after: Stored,
    is_after: AtomicBool,
}

impl Meanwhile {
    fn now(&self) -> &Stored {
        if self.is_after.load(Ordering::SeqCst) { &self.after } else { &self.before }
    }
}

impl ReadView for Meanwhile {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        let value = self.now().get(partition, key);
        let head = Key::of(Owner::Intake, Table::Meta).done();
        self.is_after.fetch_or(key == head, Ordering::SeqCst);
        value
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        let scanned = self.now().scan(partition, from, until, visit);
        let rules = Key::of(Owner::Intake, Table::Rules).done();
        self.is_after.fetch_or(from == rules, Ordering::SeqCst);
        scanned
    }
}

#[test]
fn rules_that_come_into_force_while_shards_are_opened_are_known_once() {
    let mut nodes = Nodes::open(divided(4), 2, 4);
    let before = nodes.stored.clone();
    let mut rules = mailed();
    rules.types.insert("more".to_owned(), rules.types["told"].clone());
    let leader = &mut nodes.engines[0];
    let step = leader.set_rules(&nodes.stored, &Reach::new(), Instant(1), rules.clone());
    nodes.lead(Instant(1), step.unwrap());
    let view = Meanwhile { before, after: nodes.stored.clone(), is_after: AtomicBool::default() };
    let mut engine = Engine::open_held(&view, &[], options(4), Some(&held(1, 2, 4))).unwrap();
    let known = |engine: &Engine| engine.intake.compiled.current().unwrap().number;
    let told = read_log(&nodes.stored, engine.replica().applied(), usize::MAX).unwrap();
    let step = engine.apply_log(&nodes.stored, &Reach::new(), Instant(2), &told);
    nodes.stored.commit(step.unwrap().writes);
    assert_eq!(engine.rules(), Some(&rules));
    assert_eq!(known(&engine), known(&nodes.engines[0]));
}

#[test]
fn all_rows_of_acts_go_with_them() {
    let of = |table| Key::of(Owner::Intake, table).done();
    let tables = [Table::Acts, Table::Chunks, Table::Scheduled].map(of);
    let rows = |stored: &Stored| {
        let keys = || stored.0.keys();
        let of = |table: &Vec<u8>| keys().filter(|(_, key)| key.starts_with(table)).count();
        tables.each_ref().map(of)
    };
    for is_opened_anew in [false, true] {
        let mut nodes = Nodes::open(divided(4), 2, 4);
        let mut later = event(0);
        let mut long = [event(1), event(2), event(3)];
        if let Command::Publish(event) = &mut later {
            event.delay_ms = Some(5);
        }
        for event in &mut long {
            if let Command::Publish(event) = event {
                let text = "x".repeat(200 << 10);
                event.data = Some([("text".to_owned(), text.into())].into_iter().collect());
            }
        }
        nodes.take_in(Instant(1), &later);
        let leader = &mut nodes.engines[0];
        let step = leader.take_in(&nodes.stored, &Reach::new(), Instant(1), &long);
        nodes.lead(Instant(1), step.unwrap());
        nodes.end_instant(Instant(6));
        assert_eq!(rows(&nodes.stored), [3, 1, 1]);
        if is_opened_anew {
            nodes = Nodes::open(nodes.stored, 2, 4);
        }
        let leader = &mut nodes.engines[0];
        assert_eq!(leader.replica().stored_log(LogNo(2)), 2);
        for (until, left) in [(LogNo(2), [1, 0, 1]), (LogNo(9), [0, 0, 0])] {
            let step = leader.delete_log(&nodes.stored, Instant(7), until);
            nodes.stored.commit(step.unwrap().writes);
            assert_eq!(rows(&nodes.stored), left);
        }
        assert_eq!(leader.replica().stored_log(LogNo(9)), 0);
    }
}

#[test]
fn a_shard_on_a_node_whose_clock_is_behind_enters_an_event_at_once() {
    let mut nodes = Nodes::open(divided(2), 2, 2);
    for name in 0..8 {
        let change = RecipientChange::nothing(id(&format!("p{name}")));
        nodes.take_in(Instant(0), &Command::Recipient(Box::new(change)));
    }
    let leader = &mut nodes.engines[0];
    let step = leader.take_in(&nodes.stored, &Reach::new(), Instant(9_000), &[event(1)]).unwrap();
    nodes.stored.commit(step.writes);
    let told: Vec<Arc<LogEntry>> = step.logged.into_iter().collect();
    let follower = &mut nodes.engines[1];
    let step = follower.apply_log(&nodes.stored, &Reach::new(), Instant(10), &told);
    nodes.stored.commit(step.unwrap().writes);
    assert_eq!(follower.now(), Instant(10));
    let step = follower.step(&nodes.stored, &Reach::new(), Instant(11), &[]).unwrap();
    assert!(!step.delivered.is_empty(), "the inboxes were told");
    nodes.stored.commit(step.writes);
    // Its mail is due after the quiet time, by the clock of this node.
    assert!(follower.next_due() <= Some(Instant(12)));
    let agenda = follower.reader(&nodes.stored).agenda(10).unwrap();
    assert_eq!(agenda.next_scheduled.len(), 0);
}

#[test]
fn an_engine_goes_on_where_the_newest_of_its_shards_was() {
    let mut nodes = Nodes::open(divided(2), 2, 2);
    // The node with the intake hears nothing of it.
    for name in 0..8 {
        let change = RecipientChange::nothing(id(&format!("p{name}")));
        let command = Command::Recipient(Box::new(change));
        if !nodes.engines[0].replica().is_home_of(&command) {
            nodes.take_in(Instant(9_000), &command);
        }
    }
    let nodes = Nodes::open(nodes.stored, 2, 2);
    let now: Vec<Instant> = nodes.engines.iter().map(Engine::now).collect();
    assert_eq!(now, [Instant(0), Instant(9_000)]);
}

#[test]
fn an_engine_has_only_shards_that_there_are() {
    let stored = divided(2);
    let view: &dyn ReadView = &stored;
    let held = held(1, 2, 4);
    let opened = Engine::open_held(view, &[Day(0)], options(2), Some(&held));
    assert!(opened.is_err());
}

#[test]
fn a_dry_run_counts_what_all_nodes_would_touch_and_changes_nothing() {
    let recipients = (0..12).map(|n| {
        let change = RecipientChange::nothing(id(&format!("r{n}")));
        Command::Recipient(Box::new(change))
    });
    let mut nodes = Nodes::open(divided(5), 3, 5);
    for recipient in recipients {
        nodes.take_in(Instant(1), &recipient);
    }
    let Command::Publish(mut later) = event(1) else { unreachable!("that is what it makes") };
    later.deliver_at = Some(Instant(1_000));
    let before = nodes.stored.0.clone();
    let at = Instant(2);
    let all = CommandConcerns { people: 12, entries: 24, messages: 0 };
    for command in [event(0), Command::Publish(later.clone())] {
        assert_eq!(nodes.dry_run(0, at, &command).concerns, all);
    }
    assert!(nodes.stored.0 == before, "nothing is written");
    nodes.take_in(at, &Command::Publish(later));
    let cancel = |name| {
        let what = crate::model::command::Cancelled::Event(id(name));
        Command::Cancel { what, tenant: None }
    };
    assert_eq!(nodes.dry_run(0, at, &cancel("e1")).concerns, all);
    assert_eq!(nodes.dry_run(0, at, &cancel("none")).concerns, CommandConcerns::default());
    for name in ["e1", "e1", "none"] {
        nodes.take_in(at, &cancel(name));
    }
}
