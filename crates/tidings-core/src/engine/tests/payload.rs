//! The rows that a page of an inbox reads to show payload and names, counted.

use std::sync::Mutex;

use serde_json::json;

use crate::engine::intake::objects::object_key;
use crate::engine::tests::*;
use crate::engine::{InboxPage, InboxQuery};
use crate::journal::table::{Key, Owner, Table};
use crate::model::recipient::RecipientChange;

/// A view that notes each row that it lends.
struct Noting<'a> {
    stored: &'a Stored,
    lent: Mutex<BTreeMap<Vec<u8>, usize>>,
}

impl Noting<'_> {
    fn note(&self, key: &[u8]) {
        *self.lent.lock().unwrap().entry(key.to_vec()).or_default() += 1;
    }

    /// Number of times that rows were lent whose key begins so.
    fn lent(&self, prefix: &[u8]) -> usize {
        let lent = self.lent.lock().unwrap();
        lent.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(_, times)| times).sum()
    }
}

impl ReadView for Noting<'_> {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        self.note(key);
        self.stored.get(partition, key)
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        self.stored.scan(partition, from, until, &mut |key, row| {
            self.note(key);
            visit(key, row)
        })
    }
}

fn person(name: &str) -> Command {
    let Command::Recipient(change) = recipient() else { unreachable!() };
    Command::Recipient(Box::new(RecipientChange {
        id: id(name),
        name: Some(Some(name.to_uppercase())),
        ..*change
    }))
}

/// An event by `by` on `o` in `t`, with its number as data.
fn by(number: usize, to: &str) -> Command {
    let Command::Publish(plain) = event(number) else { unreachable!() };
    Command::Publish(Box::new(Event {
        actor: Some(Object::bare(id("by"))),
        target: Some(Object { title: Some("Target".into()), ..Object::bare(id("t")) }),
        data: Some([("n".to_owned(), json!(number))].into_iter().collect()),
        to: Audience { recipients: vec![id(to)], ..Audience::default() },
        ..*plain
    }))
}

fn step(stored: &mut Stored, engine: &mut Engine, commands: &[Command]) {
    let step = engine.step(&*stored, &Reach::new(), Instant(0), commands).unwrap();
    assert!(step.replies.iter().all(Result::is_ok), "{:?}", step.replies);
    stored.commit(step.writes);
}

/// Twenty events for `ann`, each beside others for `bob`, and more for `bob` alone; then the page of
/// `ann`, and how many rows of events and of objects it read.
fn read(others: usize) -> (InboxPage, usize, [usize; 3]) {
    let (mut stored, mut engine) = with_recipient(Options::default());
    let people = ["ann", "bob", "by"].map(person);
    step(&mut stored, &mut engine, &people);
    let events: Vec<Command> =
        (0..40).map(|n| by(n, if n % 2 == 0 { "ann" } else { "bob" })).collect();
    step(&mut stored, &mut engine, &events);
    for slice in (40..40 + others).collect::<Vec<_>>().chunks(16) {
        let events: Vec<Command> = slice.iter().map(|n| by(*n, "bob")).collect();
        step(&mut stored, &mut engine, &events);
    }
    while let Some(writes) = engine.chore(&stored).unwrap() {
        stored.commit(writes);
    }
    let view = Noting { stored: &stored, lent: Mutex::default() };
    let page = engine.reader(&view).inbox(&id("ann"), &InboxQuery::newest(20)).unwrap();
    let events = view.lent(&Key::of(Owner::Intake, Table::Events).done());
    let objects = ["o", "t", "by"].map(|object| view.lent(&object_key(&id(object))));
    (page, events, objects)
}

#[test]
fn a_page_reads_each_object_once_and_no_more_events_where_others_have_more() {
    let (page, events, objects) = read(0);
    let items = &page.groups[0].items;
    let numbers: Vec<_> =
        items.iter().map(|item| item.data.as_ref().unwrap()["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..20).rev().map(|n| 2 * n).collect::<Vec<_>>());
    for item in items {
        let title = |object: &Option<std::sync::Arc<Object>>| object.as_ref()?.title.clone();
        assert_eq!(title(&item.actor), Some("BY".into()));
        assert_eq!(title(&item.target), Some("Target".into()));
        assert_eq!(item.category.as_deref(), Some("works"));
    }
    // Forty events lie in three rows.
    assert_eq!((events, objects), (3, [1, 1, 1]));
    let (same, events, objects) = read(1_000);
    assert_eq!(same.groups, page.groups);
    assert_eq!((events, objects), (3, [1, 1, 1]));
}
