//! Whose inbox may have changed, against the pages before and after.

use crate::engine::tests::*;
use crate::model::command::{Cancelled, MarkKind, Marked};
use crate::model::tenant::View;
use crate::sets::set::Set;

const PEOPLE: usize = 8;

/// A small generator, so that a seed is the whole of a run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

fn person(number: usize) -> Id {
    id(&format!("p{number}"))
}

fn command(random: &mut Random, step: usize, now: Instant) -> Command {
    let (recipient, object) = (person(random.below(PEOPLE)), format!("o{}", random.below(4)));
    let event = id(&format!("e{}", random.below(step + 1)));
    match random.below(12) {
        0..5 => {
            let everyone = random.below(4) == 0;
            let recipients = if everyone { Vec::new() } else { vec![recipient] };
            let to = Audience { everyone, recipients, ..Audience::default() };
            let event =
                Event::new(id(&format!("e{step}")), id("told"), Object::bare(id(&object)), to);
            Command::Publish(Box::new(event))
        }
        5..8 => {
            let what = match random.below(3) {
                0 => Marked::UpTo(now),
                1 => Marked::Object(id(&object)),
                _ => Marked::Event(event),
            };
            let kind = if random.below(2) == 0 { MarkKind::Seen } else { MarkKind::Read };
            Command::Mark { recipient, what, kind, view: View::All }
        }
        8 => Command::Retract { object: id(&object) },
        9 => {
            let object = Object { notifiable: Some(true), ..Object::bare(id(&object)) };
            Command::Object(object)
        }
        10 => Command::Withdraw { what: Cancelled::Event(event), tenant: None },
        _ => Command::Recipient(Box::new(RecipientChange::nothing(recipient))),
    }
}

#[test]
fn nobody_whose_page_has_changed_is_left_out() {
    let mut changed = 0;
    for seed in 0..20 {
        let mut random = Random(seed);
        let options = Options { buckets: 2, checkpoint_after: 8, ..Options::default() };
        let (mut stored, mut engine) = with_recipient(options);
        let people: Vec<Command> = (0..PEOPLE)
            .map(|number| Command::Recipient(Box::new(RecipientChange::nothing(person(number)))))
            .collect();
        stored.commit(engine.step(&stored, &Reach::new(), Instant(0), &people).unwrap().writes);
        let mut now = Instant(0);
        for step in 0..80 {
            let before = engine.snapshot();
            let pages = |engine: &Engine, stored: &Stored| -> Vec<_> {
                // What streams tell: titles and the like change without a word.
                let page =
                    |number| engine.reader(stored).inbox_rows(&person(number), &View::All).unwrap();
                (0..PEOPLE).map(page).collect()
            };
            let old = pages(&before, &stored);
            now = now.plus_ms(i64::try_from(random.below(4 * 3_600_000)).unwrap());
            let commands: Vec<Command> =
                (0..random.below(3)).map(|_| command(&mut random, step, now)).collect();
            let taken = engine.step(&stored, &Reach::new(), now, &commands).unwrap();
            stored.commit(taken.writes);
            if random.below(4) == 0 {
                while let Some(writes) = engine.chore(&stored).unwrap() {
                    stored.commit(writes);
                }
            }
            let new = pages(&engine, &stored);
            for number in 0..PEOPLE {
                let id = person(number);
                let bucket = engine.bucket_of(&id);
                let among = Set::from_iter([engine.number_of(&id).unwrap().0]);
                let since = InboxesAt::of(&before, bucket).unwrap();
                let is_named = !since.changed(&engine, bucket, &among).is_empty();
                let has_changed = old[number] != new[number];
                assert!(is_named || !has_changed, "seed {seed}, step {step}: {commands:?}");
                changed += usize::from(has_changed);
            }
        }
    }
    assert!(changed > 500, "{changed}");
}

#[test]
fn an_event_to_one_concerns_nobody_else() {
    let (mut stored, mut engine) = with_recipient(Options { buckets: 1, ..Options::default() });
    let people: Vec<Command> = (0..PEOPLE)
        .map(|number| Command::Recipient(Box::new(RecipientChange::nothing(person(number)))))
        .collect();
    stored.commit(engine.step(&stored, &Reach::new(), Instant(0), &people).unwrap().writes);
    let bucket = BucketNo(0);
    let all: Set = (0..=u32::try_from(PEOPLE).unwrap()).collect();
    let since = InboxesAt::of(&engine, bucket).unwrap();
    assert!(since.changed(&engine, bucket, &all).is_empty());
    let to = Audience { recipients: vec![person(3)], ..Audience::default() };
    let one = Event::new(id("e"), id("told"), Object::bare(id("o")), to);
    let one = [Command::Publish(Box::new(one))];
    stored.commit(engine.step(&stored, &Reach::new(), Instant(1), &one).unwrap().writes);
    let three = engine.number_of(&person(3)).unwrap().0;
    let changed = since.changed(&engine, bucket, &all);
    assert_eq!(changed.iter().collect::<Vec<_>>(), [three]);
    // Whoever is not watched is not named.
    assert!(since.changed(&engine, bucket, &Set::from_iter([three + 1])).is_empty());
}
