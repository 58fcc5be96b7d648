//! The engine over a view in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::slice;

use super::intake::accepted;
use super::rows::draft::Draft;
use crate::bucket::storage::recovery;
use crate::engine::*;
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable, each};
use crate::journal::table::{Key, Owner, Partition, Table, Write};
use crate::model::command::{Choice, Command};
use crate::model::event::{Audience, Event, Object};
use crate::model::id::{BucketNo, Id};
use crate::model::occurrence::ChangedBy;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::reason::Outcome;
use crate::model::recipient::RecipientChange;
use crate::model::tenant::View;
use crate::model::time::{Day, Instant};
use crate::rules::{Category, Defaults, Policy, Route, Rules, StoreRules, TypeRules};

mod addresses;
mod after;
mod body;
mod bounds;
mod change_log;
mod changed;
mod clock;
mod devices;
mod dry_run;
mod ended;
mod figures;
mod growth;
mod inbox;
mod jobs;
mod loud;
mod members;
mod message_lists;
mod messages;
mod old_events;
mod payload;
mod reach;
mod replica;
mod snapshot;
mod tenant_terms;
mod tenants;
mod tenants_on_nodes;
mod workers;

#[derive(Clone, Default)]
struct Stored(BTreeMap<(Partition, Vec<u8>), Vec<u8>>);

impl Stored {
    fn commit(&mut self, writes: Vec<Write>) {
        for Write { partition, key, value } in writes {
            match value {
                Some(value) => {
                    let table = key.get(2);
                    assert!(key.len() <= 1 << 10, "a key of table {table:?} is too long");
                    assert!(value.len() <= 1 << 20, "a value of table {table:?} is too long");
                    self.0.insert((partition, key), value);
                }
                None => {
                    self.0.remove(&(partition, key));
                }
            }
        }
    }
}

impl ReadView for Stored {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        Ok(self.0.get(&(partition, key.to_vec())).cloned())
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        let rows = self.0.range((partition, from.to_vec())..);
        let within =
            |at: Partition, key: &[u8]| at == partition && until.is_none_or(|until| key < until);
        for ((_, key), value) in rows.take_while(|((at, key), _)| within(*at, key)) {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn rules() -> Rules {
    let kind = TypeRules {
        category: "works".to_owned(),
        channels: [("inbox".to_owned(), Route::of(Policy::Now))].into(),
        ..TypeRules::default()
    };
    Rules {
        defaults: Defaults::default(),
        categories: [("works".to_owned(), Category::default())].into(),
        digests: BTreeMap::new(),
        types: [("told".to_owned(), kind)].into(),
        store: StoreRules::default(),
        channels: BTreeMap::new(),
        limits: crate::model::limits::Limits::default(),
        presentation: Default::default(),
        caps: Vec::new(),
        resolver: None,
        feedback: Default::default(),
        ..Rules::default()
    }
}

fn recipient() -> Command {
    Command::Recipient(Box::new(RecipientChange::nothing(id("a"))))
}

fn event(name: usize) -> Command {
    let object = Object::bare(id("o"));
    Command::Publish(Box::new(Event::new(
        id(&format!("e{name}")),
        id("told"),
        object,
        Audience { everyone: true, ..Audience::default() },
    )))
}

/// An engine with rules and one recipient.
fn with_recipient(options: Options) -> (Stored, Engine) {
    let mut stored = Stored::default();
    let mut engine = Engine::open(&stored, &[], options).unwrap();
    let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules()).unwrap();
    stored.commit(step.writes);
    let step = engine.step(&stored, &Reach::new(), Instant(0), &[recipient()]).unwrap();
    stored.commit(step.writes);
    (stored, engine)
}

/// Publishes so many events, so many a step, over two days, and reads the last of each step back.
fn publish(events: usize, together: usize) {
    let options = Options { buckets: 1, ..Options::default() };
    let (mut stored, mut engine) = with_recipient(options);
    let names: Vec<usize> = (0..events).collect();
    let day = crate::model::time::DAY_MS;
    let mut told = 0;
    for (at, names) in (0_i64..).zip(names.chunks(together)) {
        let now = Instant(day / 2 + at * day / i64::try_from(events.div_ceil(together)).unwrap());
        let commands: Vec<Command> = names.iter().map(|name| event(*name)).collect();
        let step = engine.step(&stored, &Reach::new(), now, &commands).unwrap();
        stored.commit(step.writes);
        let messages = engine.reader(&stored).inbox_messages(&step.delivered[0]).unwrap();
        told += messages[0].items.len();
        assert_eq!(messages[0].items[0].event, id(&format!("e{}", names[0])));
    }
    assert_eq!(told, events);
    let days = [Day(0), Day(1)];
    let engine = Engine::open(&stored, &days, options).unwrap();
    assert_eq!(engine.reader(&stored).walk().unwrap().books.delivered, events as u64);
}

#[test]
fn headers_can_be_read_in_the_step_that_fills_their_block() {
    for (events, together) in [(600, 1), (600, 256), (1100, 550)] {
        publish(events, together);
    }
}

/// Number of rows a table of a day has.
fn rows_of(stored: &Stored, owner: Owner, table: Table) -> usize {
    let prefix = Key::of(owner, table).done();
    let mut rows = 0;
    each(stored, Partition::Day(Day(0)), &prefix, |_, _| {
        rows += 1;
        Ok(())
    })
    .unwrap();
    rows
}

#[test]
fn what_arrives_together_shares_rows_until_it_is_indexed() {
    let options =
        Options { buckets: 1, index_after: Some(0), checkpoint_after: 0, ..Options::default() };
    let (mut stored, mut engine) = with_recipient(options);
    let (bucket, intake) = (Owner::Bucket(BucketNo(0)), Owner::Intake);
    let before = rows_of(&stored, bucket, Table::Journal);
    for (at, names) in [(1, 0..10), (2, 10..40)] {
        let commands: Vec<Command> = names.map(event).collect();
        let step = engine.step(&stored, &Reach::new(), Instant(at), &commands).unwrap();
        stored.commit(step.writes);
    }
    // Of each step one row of arrivals and one that tells the inbox.
    assert_eq!(rows_of(&stored, bucket, Table::Journal), before + 4);
    // 10 and 6 to fill the first sixteen, then 16 and 8.
    assert_eq!(rows_of(&stored, intake, Table::Events), 4);

    let delivered =
        |engine: &Engine, stored: &Stored| engine.reader(stored).walk().unwrap().books.delivered;
    let again = Engine::open(&stored, &[Day(0)], options).unwrap();
    assert_eq!(delivered(&again, &stored), 40);
    while let Some(writes) = engine.chore(&stored).unwrap() {
        stored.commit(writes);
        let again = Engine::open(&stored, &[Day(0)], options).unwrap();
        assert_eq!(delivered(&again, &stored), 40);
    }
    assert_eq!(rows_of(&stored, bucket, Table::Journal), before + 2);
    let draft = Draft::new(&stored);
    let at = |ordinal| EventAt { day: Day(0), ordinal };
    for ordinal in [0, 9, 10, 15, 16, 39] {
        let row = accepted::read(&draft, Day(0), at(ordinal)).unwrap();
        assert_eq!(row.event.id, id(&format!("e{ordinal}")));
    }
    assert!(accepted::read(&draft, Day(0), at(40)).is_err());
}

/// The memory of a bucket for a day does not grow with what happens on it, and what became of an
/// event is found without reading what became of the others.
#[test]
fn of_the_day_that_goes_on_the_newest_is_in_memory() {
    let options =
        Options { buckets: 1, index_after: Some(0), checkpoint_after: 0, ..Options::default() };
    let (mut stored, mut engine) = with_recipient(options);
    let names: Vec<usize> = (0..10_000).collect();
    for (at, names) in (1..).zip(names.chunks(250)) {
        let commands: Vec<Command> = names.iter().copied().map(event).collect();
        let step = engine.step(&stored, &Reach::new(), Instant(at), &commands).unwrap();
        stored.commit(step.writes);
        while let Some(writes) = engine.chore(&stored).unwrap() {
            stored.commit(writes);
        }
    }
    let loaded = |engine: &Engine| -> Vec<usize> {
        let loaded = engine.shards.bucket(BucketNo(0)).index.days[&Day(0)]
            .segments
            .iter()
            .filter_map(|segment| segment.loaded.get());
        loaded.map(|segment| segment.arrivals.len()).collect()
    };
    assert!((250..=4096).contains(&loaded(&engine).iter().sum::<usize>()));
    for name in [0, 4_999, 9_999] {
        let before = loaded(&engine).len();
        let trace = engine.reader(&stored).trace(&id(&format!("e{name}"))).unwrap();
        let report = trace.unwrap().report(&stored).unwrap();
        assert_eq!(report.channels["inbox"].ended[&Outcome::Delivered], 1);
        assert_eq!(loaded(&engine).len(), before, "it is read alone");
    }
}

#[test]
fn a_tail_is_indexed_when_its_day_is_over() {
    let options = Options { buckets: 1, ..Options::default() };
    let mut stored = Stored::default();
    let mut engine = Engine::open(&stored, &[], options).unwrap();
    stored.commit(engine.set_rules(&stored, &Reach::new(), Instant(0), rules()).unwrap().writes);
    let step = engine.step(&stored, &Reach::new(), Instant(0), &[recipient(), event(0)]).unwrap();
    stored.commit(step.writes);
    assert_eq!(engine.chore(&stored), Ok(None));
    let step = engine.step(&stored, &Reach::new(), Day(0).end(), &[]).unwrap();
    stored.commit(step.writes);
    assert_eq!(engine.take_days_to_compact(), []);
    let segments = Key::of(Owner::Bucket(BucketNo(0)), Table::Segments).done();
    let is_run = |write: &Write| write.key.starts_with(&segments);
    let mut indexed = 0;
    while let Some(writes) = engine.chore(&stored).unwrap() {
        indexed += writes.iter().filter(|write| is_run(write)).count();
        stored.commit(writes);
    }
    assert_eq!(indexed, 1);
    assert!(!engine.has_chores());
    assert_eq!(engine.take_days_to_compact(), [Day(0)]);
}

/// The topics of a recipient, each with its tenant if it is of one.
fn topics(engine: &Engine, stored: &Stored, who: &str) -> Result<Vec<String>, StepError> {
    let of = |FollowedTopic { topic, tenant }| match tenant {
        Some(tenant) => format!("{tenant}:{topic}"),
        None => topic.as_str().to_owned(),
    };
    Ok(engine.reader(stored).following(&id(who))?.into_iter().map(of).collect())
}

#[test]
fn following_of_many_in_one_step_is_one_record_and_is_folded_again() {
    let options = Options { buckets: 1, ..Options::default() };
    let mut stored = Stored::default();
    let mut engine = Engine::open(&stored, &[], options).unwrap();
    let follow = |who: &str, topic: &str| Command::Subscribe {
        recipient: id(who),
        topic: id(topic),
        tenant: None,
    };
    let commands =
        [recipient(), follow("a", "x"), follow("nobody", "x"), follow("a", "y"), follow("a", "x")];
    let step = engine.step(&stored, &Reach::new(), Instant(0), &commands).unwrap();
    let unknown = Err(Refused::UnknownRecipient(id("nobody")));
    let done = || Ok(Reply::Done);
    assert_eq!(step.replies, [done(), done(), unknown, done(), done()]);
    stored.commit(step.writes);
    let records = recovery::records(BucketNo(0), &stored, Day(0)).unwrap();
    assert_eq!(records.len(), 2, "a profile and a set: {records:?}");

    let following = |engine: &Engine, stored: &Stored| topics(engine, stored, "a");
    for mut engine in [engine, Engine::open(&stored, &[Day(0)], options).unwrap()] {
        assert_eq!(following(&engine, &stored).unwrap(), ["x", "y"]);
        let leave = |topic: &str| Command::Unsubscribe {
            recipient: id("a"),
            topic: id(topic),
            tenant: None,
        };
        let commands = [leave("y"), leave("z"), follow("a", "z")];
        let step = engine.step(&stored, &Reach::new(), Instant(1), &commands).unwrap();
        let mut after = Stored(stored.0.clone());
        after.commit(step.writes);
        for engine in [engine, Engine::open(&after, &[Day(0)], options).unwrap()] {
            assert_eq!(following(&engine, &after).unwrap(), ["x", "z"]);
            let who = |topic: &str| engine.shards.bucket(BucketNo(0)).followers.get(None, topic);
            assert_eq!(who("x").unwrap().len(), 1);
            assert!(who("y").is_none_or(|who| who.is_empty()));
        }
        // The topic that gives a row its key goes, and comes back, in one step; then everything.
        let mut engine = Engine::open(&stored, &[Day(0)], options).unwrap();
        let commands = [leave("x"), follow("a", "x"), follow("a", "w"), leave("w")];
        let step = engine.step(&stored, &Reach::new(), Instant(1), &commands).unwrap();
        let mut after = Stored(stored.0.clone());
        after.commit(step.writes);
        assert_eq!(following(&engine, &after).unwrap(), ["x", "y"]);
        let erase = Command::Erase { recipient: id("a") };
        let step = engine.step(&after, &Reach::new(), Instant(2), &[erase]).unwrap();
        after.commit(step.writes);
        let rows = Key::of(Owner::Bucket(BucketNo(0)), Table::Following).done();
        let left = after.0.keys().filter(|(_, key)| key.starts_with(&rows));
        assert_eq!(left.count(), 0, "nothing is left of who was erased");
    }
}

#[test]
fn choices_of_which_the_rules_know_nothing_are_neither_shown_nor_taken_away() {
    let options = Options::default();
    let (mut stored, mut engine) = with_recipient(options);
    let choice = |scope, mode| Choice { scope, channel: "inbox".to_owned(), mode, tenant: None };
    let told = || PreferenceScope::Type("told".to_owned());
    let works = || PreferenceScope::Category("works".to_owned());
    let choose = |engine: &mut Engine, stored: &mut Stored, chosen: Vec<Choice>| {
        let command = Command::Preferences {
            recipient: id("a"),
            chosen,
            whole: true,
            tenant: None,
            by: ChangedBy::Key,
        };
        let step = engine.step(stored, &Reach::new(), Instant(1), &[command]).unwrap();
        assert_eq!(step.replies, [Ok(Reply::Done)]);
        stored.commit(step.writes);
        engine.preferences(&id("a"), &View::All).unwrap()
    };
    let set = |engine: &mut Engine, stored: &mut Stored, rules| {
        let step = engine.set_rules(stored, &Reach::new(), Instant(1), rules).unwrap();
        stored.commit(step.writes);
        engine.preferences(&id("a"), &View::All).unwrap()
    };
    let never = choice(told(), Mode::Never);
    let chosen = choose(&mut engine, &mut stored, vec![choice(told(), Mode::Never)]);
    assert_eq!(chosen, slice::from_ref(&never));

    let mut without = rules();
    let kind = without.types.remove("told").unwrap();
    without.types.insert("other".to_owned(), kind);
    assert_eq!(set(&mut engine, &mut stored, without), []);
    let immediate = vec![choice(works(), Mode::Immediate)];
    let shown = choice(works(), Mode::Immediate);
    assert_eq!(choose(&mut engine, &mut stored, immediate), slice::from_ref(&shown));

    // The type is back, and so is what was said of it.
    let known = set(&mut engine, &mut stored, rules());
    assert_eq!(known.len(), 2);
    assert!(known.contains(&shown) && known.contains(&never));
    assert_eq!(choose(&mut engine, &mut stored, Vec::new()), []);
}

/// Commands acknowledged behind a forgetting of the same step is there after a start.
#[test]
fn what_follows_a_forgetting_in_its_step_is_recovered() {
    let options = Options { buckets: 1, ..Options::default() };
    let follow =
        |topic: &str| Command::Subscribe { recipient: id("a"), topic: id(topic), tenant: None };
    let another = || {
        let Command::Recipient(mut change) = recipient() else {
            unreachable!("that is what it makes");
        };
        change.id = id("b");
        Command::Recipient(change)
    };
    let (day, now) = (Day(40), Day(40).start());
    let forget = || Command::Forget { before: day };
    for commands in
        [vec![follow("x"), forget(), follow("y")], vec![recipient(), forget(), another()]]
    {
        let (mut stored, mut engine) = with_recipient(options);
        let step = engine.step(&stored, &Reach::new(), now, &commands).unwrap();
        assert!(!step.forgotten.is_empty());
        let forgotten = |partition| matches!(partition, Partition::Day(of) if of < day);
        stored.0.retain(|(partition, _), _| !forgotten(*partition));
        stored.commit(step.writes);
        let step = engine.step(&stored, &Reach::new(), now.plus_ms(1), &[event(1)]).unwrap();
        stored.commit(step.writes);
        let again = Engine::open(&stored, &[day], options).unwrap();
        assert_eq!(again.recipients(), engine.recipients());
        let following = |engine: &Engine| topics(engine, &stored, "a").unwrap();
        assert_eq!(following(&again), following(&engine));
    }
}
