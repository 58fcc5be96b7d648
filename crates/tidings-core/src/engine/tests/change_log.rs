//! The log of changes: how long lines are kept, and what of them is left of erased people.

use std::sync::Arc;

use crate::engine::change_log::expiry::SLICE_LINES;
use crate::engine::change_log::read::{ChangeFilter, changes};
use crate::engine::commands::{Commands, CommandsOrigin};
use crate::engine::tests::*;
use crate::journal::table::Table;
use crate::model::changes::{
    Author, AuthorKind, ChangeLine, ChangeSubject, Origin, SubjectKind, Via,
};
use crate::model::time::{DAY_MS, HOUR_MS};
use crate::rules::LogRules;

struct World {
    stored: Stored,
    engine: Engine,
}

impl World {
    fn new(shards: u16) -> Self {
        let mut stored = Stored::default();
        let options = Options { shards, ..Options::default() };
        let mut engine = Engine::open(&stored, &[], options).unwrap();
        let rules = Rules { log: LogRules { keep_ms: DAY_MS }, ..rules() };
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
        stored.commit(step.writes);
        Self { stored, engine }
    }

    /// Runs commands, each by an author of its own.
    fn run(&mut self, at: i64, commands: &[(Command, AuthorKind, &str)]) {
        let origins: Vec<_> = commands.iter().map(|(_, kind, id)| by(*kind, id)).collect();
        let all: Vec<Command> = commands.iter().map(|(command, ..)| command.clone()).collect();
        let from = Commands::from_origins(&all, &origins);
        let step = self.engine.step(&self.stored, &Reach::new(), Instant(at), from).unwrap();
        assert!(step.replies.iter().all(Result::is_ok), "{:?}", step.replies);
        self.stored.commit(step.writes);
    }

    fn lines(&self, filter: &ChangeFilter) -> Vec<ChangeLine> {
        changes(&self.stored, filter, None, 500).unwrap().rows
    }

    /// Number of stored rows of the log.
    fn rows(&self) -> usize {
        let tables = [Table::Changes as u8, Table::ChangesBy as u8];
        self.stored.0.keys().filter(|(_, key)| tables.contains(&key[2])).count()
    }

    /// Runs all chores; returns the number of slices that deleted lines.
    fn chores(&mut self) -> usize {
        let mut slices = 0;
        while let Some(writes) = self.engine.chore(&self.stored).unwrap() {
            let before = self.rows();
            assert!(writes.len() <= 5 * SLICE_LINES, "{} writes", writes.len());
            self.stored.commit(writes);
            slices += usize::from(self.rows() < before);
        }
        slices
    }
}

fn by(kind: AuthorKind, id: &str) -> CommandsOrigin {
    let by = Author::new(kind, id);
    let origin = Origin { by, via: Via::Api, action: None, is_counted: false, request: None };
    CommandsOrigin { count: 1, origin: Some(Arc::new(origin)) }
}

fn person(name: &str, tz: &str) -> Command {
    let change =
        RecipientChange { tz: Some(Some(tz.into())), ..RecipientChange::nothing(id(name)) };
    Command::Recipient(Box::new(change))
}

#[test]
fn lines_of_one_instant_are_listed_newest_first() {
    let mut world = World::new(1);
    let zones = ["UTC", "Asia/Tokyo", "Europe/Paris", "UTC"];
    for zone in zones {
        world.run(5, &[(person("ada", zone), AuthorKind::Key, "k1")]);
    }
    let newest = |lines: Vec<ChangeLine>| -> Vec<_> {
        lines.iter().map(|line| line.fields[0].to.clone()).collect()
    };
    let expected: Vec<_> = zones.iter().rev().map(|zone| serde_json::json!(zone)).collect();
    let of_author =
        ChangeFilter { by: Some((AuthorKind::Key, "k1".to_owned())), ..ChangeFilter::default() };
    assert_eq!(newest(world.lines(&of_author)), expected);
    let (mut paged, mut after) = (Vec::new(), None);
    loop {
        let page = changes(&world.stored, &ChangeFilter::default(), after.as_ref(), 1).unwrap();
        paged.extend(page.rows);
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    assert_eq!(newest(paged), expected);
    let ids: Vec<_> =
        world.lines(&ChangeFilter::default()).iter().map(|line| line.id.to_id()).collect();
    assert!(ids.is_sorted(), "one instant: by id");
}

#[test]
fn lines_are_kept_for_the_time_that_is_configured_and_leave_in_slices() {
    let mut world = World::new(1);
    let many = SLICE_LINES + 10;
    for number in 0..many {
        let command = person(&format!("r{number}"), "UTC");
        world.run(1, &[(command, AuthorKind::Key, "k1")]);
    }
    assert_eq!(world.chores(), 0);
    let late = DAY_MS + HOUR_MS;
    world.run(late, &[(person("r0", "Europe/Paris"), AuthorKind::Key, "k1")]);
    // The lines of the first instant are more than a day old.
    assert_eq!(world.chores(), 2);
    let left = world.lines(&ChangeFilter::default());
    assert_eq!(left.iter().map(|line| line.id.at.0).collect::<Vec<_>>(), [late]);
    // The line, and a posting for each of its author, its action and its subject.
    assert_eq!(world.rows(), 4);
    assert!(!world.engine.has_chores());
}

#[test]
fn lines_of_shards_that_are_no_more_leave_too() {
    let mut world = World::new(5);
    for number in 0..40 {
        let command = person(&format!("r{number}"), "UTC");
        world.run(1, &[(command, AuthorKind::Key, "k1")]);
    }
    let options = Options { shards: 2, ..Options::default() };
    world.engine = Engine::open(&world.stored, &[], options).unwrap();
    assert_eq!(world.lines(&ChangeFilter::default()).len(), 40);
    world.run(3 * DAY_MS, &[]);
    world.chores();
    assert_eq!(world.rows(), 0);
}

#[test]
fn of_an_erased_person_all_lines_have_a_keyed_hash() {
    let mut world = World::new(3);
    world.run(1, &[(person("ada", "UTC"), AuthorKind::Key, "k1")]);
    world.run(2, &[(person("ada", "Europe/Paris"), AuthorKind::User, "ada")]);
    world.run(2, &[(person("bob", "UTC"), AuthorKind::User, "ada")]);
    world.run(3, &[(person("adam", "UTC"), AuthorKind::Key, "ada")]);
    // One more line of the same step.
    let erase = Command::Erase { recipient: id("ada") };
    let last = [(person("ada", "UTC"), AuthorKind::Link, "ada"), (erase, AuthorKind::Key, "k1")];
    world.run(4, &last);
    let all = world.lines(&ChangeFilter::default());
    assert_eq!(all.len(), 6);
    let of = |kind, id: &str| ChangeFilter {
        subject: Some(ChangeSubject::new(kind, id)),
        ..ChangeFilter::default()
    };
    assert_eq!(world.lines(&of(SubjectKind::Recipient, "ada")), []);
    let hash = all.iter().find(|line| line.action == "erase_recipient");
    let hash = hash.and_then(|line| line.subject.id.clone()).unwrap();
    assert_eq!(world.lines(&of(SubjectKind::Recipient, &hash)).len(), 4);
    for kind in [AuthorKind::User, AuthorKind::Link] {
        let by = |id: &str| ChangeFilter { by: Some((kind, id.into())), ..ChangeFilter::default() };
        assert_eq!(world.lines(&by("ada")), [], "{kind:?}");
        assert!(!world.lines(&by(&hash)).is_empty(), "{kind:?}");
    }
    // A key of that name is nobody's id.
    let by_key = ChangeFilter { by: Some((AuthorKind::Key, "ada".into())), ..Default::default() };
    assert_eq!(world.lines(&by_key).len(), 1);
}

#[test]
fn an_erasure_without_an_origin_hides_the_id_too() {
    let mut world = World::new(1);
    world.run(1, &[(person("ada", "UTC"), AuthorKind::Key, "k1")]);
    let erase = [Command::Erase { recipient: id("ada") }];
    let step = world.engine.step(&world.stored, &Reach::new(), Instant(2), &erase).unwrap();
    world.stored.commit(step.writes);
    let all = world.lines(&ChangeFilter::default());
    assert_eq!(all.len(), 1);
    assert_ne!(all[0].subject.id.as_deref(), Some("ada"));
}
