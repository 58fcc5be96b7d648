//! Shards beside each other do what one shard does, whoever does their jobs, and in whatever order.

use crate::engine::figures::read::FiguresQuery;
use crate::engine::tests::*;
use crate::model::channel::EMAIL_NO;
use crate::model::time::DAY_MS;

/// Does the last job first.
#[derive(Debug)]
struct Backwards;

impl Workers for Backwards {
    fn run(&self, jobs: Vec<ShardJob<'_>>) {
        jobs.into_iter().rev().for_each(|job| job());
    }
}

/// Steps that are large: many commands, an event to everybody, lanes of several shards that are due.
pub(super) fn steps() -> Vec<(i64, Vec<Command>)> {
    let who = |number: usize| id(&format!("r{number}"));
    let made = |number: usize| {
        let address = vec![format!("r{number}@example.org").into()];
        Command::Recipient(Box::new(RecipientChange {
            addresses: [(EMAIL_NO, address)].into(),
            ..RecipientChange::nothing(who(number))
        }))
    };
    let follow = |number| Command::Subscribe {
        recipient: who(number),
        topic: id(if number % 3 == 0 { "x" } else { "x/y" }),
        tenant: None,
    };
    let leave =
        |number| Command::Unsubscribe { recipient: who(number), topic: id("x"), tenant: None };
    let told = |name: usize, to: Audience| {
        let object = Object::bare(id(&format!("o{}", name % 7)));
        let event = Event::new(id(&format!("e{name}")), id("told"), object, to);
        Command::Publish(Box::new(event))
    };
    let named = |name: usize| {
        let recipients = vec![who(name % 90), who(name * 5 % 90), id("nobody")];
        told(name, Audience { recipients, ..Audience::default() })
    };
    let heard = |name| {
        let to = Audience { topics: vec![id("x/y")], ..Audience::default() };
        told(name, to)
    };
    let cancel =
        Command::Cancel { what: crate::model::command::Cancelled::Event(id("e3")), tenant: None };
    vec![
        (0, (0..90).map(made).collect()),
        (1, (0..90).map(follow).collect()),
        (2, (0..70).map(named).collect()),
        (3, (60..140).map(heard).chain([event(0), cancel]).collect()),
        (4, vec![event(500)]),
        (5, (0..80).map(leave).collect()),
        (6, (130..210).map(named).chain((130..140).map(heard)).collect()),
        (DAY_MS, Vec::new()),
        (DAY_MS + 1, (300..400).map(heard).collect()),
    ]
}

#[test]
fn shards_in_any_order_write_and_answer_what_one_shard_does() {
    let mut rules = rules();
    let mail = Route::of(Policy::Cooldown { quiet_ms: 2, max_wait_ms: None });
    let told = rules.types.get_mut("told").unwrap();
    told.channels.insert("email".to_owned(), mail);
    let open = |shards| {
        let options = Options { shards, ..Options::default() };
        Engine::open(&Stored::default(), &[], options).unwrap()
    };
    let (mut one, mut several) = (open(1), open(5));
    several.lend(Box::new(Backwards));
    let (mut of_one, mut of_several) = (Stored::default(), Stored::default());
    // Heads and figures are by shard.
    let of_shards = &Key::of(Owner::Shard, Table::Meta).done()[..2];
    let shared = |writes: &[Write]| -> Vec<Write> {
        writes.iter().filter(|write| !write.key.starts_with(of_shards)).cloned().collect()
    };
    let step = one.set_rules(&of_one, &Reach::new(), Instant(0), rules.clone());
    of_one.commit(step.unwrap().writes);
    let step = several.set_rules(&of_several, &Reach::new(), Instant(0), rules);
    of_several.commit(step.unwrap().writes);
    let mut told = 0;
    for (at, commands) in steps() {
        let now = Instant(at);
        let first = one.step(&of_one, &Reach::new(), now, &commands).unwrap();
        let second = several.step(&of_several, &Reach::new(), now, &commands).unwrap();
        assert_eq!(first.replies, second.replies, "at {at}");
        assert_eq!(shared(&first.writes), shared(&second.writes), "at {at}");
        told += first.delivered.len();
        of_one.commit(first.writes);
        of_several.commit(second.writes);
    }
    assert!(told > 50, "inboxes of many buckets were told");
    assert_eq!(one.open_closings().unmade(), several.open_closings().unmade());
    assert!(one.open_closings().unmade().len() > 5, "mails of several parts were due");
    assert_eq!(one.tally(), several.tally());
    let figures = |engine: &Engine, stored: &Stored| {
        let query = FiguresQuery::of_days(Day(0)..Day(2));
        engine.reader(stored).figures(&query, Day(1)).unwrap().rows
    };
    assert_eq!(figures(&one, &of_one), figures(&several, &of_several));
    assert!(figures(&one, &of_one).len() > 1);
}
