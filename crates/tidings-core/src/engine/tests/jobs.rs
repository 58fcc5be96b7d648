//! Jobs: each message is acted on exactly once, however often the process ends between two commits, and however the
//! buckets are divided when it starts again.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::tests::*;
use crate::journal::record::Record;
use crate::journal::row::each_record;
use crate::journal::table::{REST, seq_at, u16_at};
use crate::model::channel::EMAIL_NO;
use crate::model::messages::jobs::{JobNo, JobState, LeftAsItWas, NewJob};
use crate::model::messages::{MessageAct, MessageState};
use crate::model::number::{ClosingId, MessageId};
use crate::model::reason::Ending;

const RECIPIENTS: usize = 700;
const HOUR: i64 = 3_600_000;

struct World {
    stored: Stored,
    engine: Engine,
    now: Instant,
}

fn options(shards: u16) -> Options {
    Options { buckets: 6, shards, ..Options::default() }
}

impl World {
    /// An engine with a message to each recipient, of which those of every third were sent and the others failed.
    fn new() -> Self {
        let mut rules = rules();
        let route = Route::of(Policy::Now);
        rules.types.get_mut("told").unwrap().channels.insert("email".to_owned(), route);
        let mut stored = Stored::default();
        let mut engine = Engine::open(&stored, &[], options(3)).unwrap();
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
        stored.commit(step.writes);
        let mut world = Self { stored, engine, now: Instant(1_000) };
        let person = |number: usize| {
            let mut change = RecipientChange::nothing(id(&format!("r{number}")));
            let address = format!("r{number}@example.org");
            change.addresses = [(EMAIL_NO, vec![address.as_str().into()])].into();
            Command::Recipient(Box::new(change))
        };
        let people: Vec<Command> = (0..RECIPIENTS).map(person).collect();
        world.step(&people);
        world.step(&[event(1)]);
        assert_eq!(world.send(), RECIPIENTS);
        world
    }

    /// Builds the messages that are due, and answers two of three with a refusal; returns their number.
    fn send(&mut self) -> usize {
        let world = self;
        for closing in world.engine.open_closings().unmade() {
            let plan = world.engine.planner(&world.stored).plan(closing, RECIPIENTS).unwrap();
            let step = world.engine.made(&world.stored, world.now, &[plan.unwrap()]).unwrap();
            world.stored.commit(step.writes);
        }
        let mut count = 0;
        for plan in world.engine.planner(&world.stored).unsettled().unwrap() {
            let mut settled = ClosingResults { closing: plan.closing, ..ClosingResults::default() };
            for planned in &plan.messages {
                count += 1;
                let ending = if count % 3 == 0 { Ending::Delivered } else { Ending::Refused };
                let (number, seqs) = (planned.number, plan.seqs(planned));
                settled.sent.push(Sent { number, seqs, ending, resent: 0 });
            }
            let step = world.engine.outcome(&world.stored, world.now, &[settled]).unwrap();
            world.stored.commit(step.writes);
        }
        count
    }

    fn step(&mut self, commands: &[Command]) -> Vec<Reply> {
        let step = self.engine.step(&self.stored, &Reach::new(), self.now, commands).unwrap();
        self.stored.commit(step.writes);
        step.replies.into_iter().map(Result::unwrap).collect()
    }

    /// Makes a job about the messages of a filter.
    fn begin(&mut self, filter: &MessageFilter, act: MessageAct) -> JobNo {
        let found =
            BulkMessages::find(self.engine.reader(&self.stored), filter, act, 10_000).unwrap();
        let messages = found.unwrap().messages;
        let (filter, origin) = ("{}".to_owned(), None);
        let new = NewJob { act, filter, origin, at_once: false, messages };
        match &self.step(&[Command::BeginJob(Box::new(new))])[..] {
            [Reply::JobMade { job, .. }] => *job,
            other => panic!("{other:?}"),
        }
    }

    fn job(&self, no: JobNo) -> JobReport {
        JobReports::of(self.engine.reader(&self.stored)).get(no).unwrap().unwrap()
    }

    /// Begins again from what is stored, with another division of the buckets.
    fn restart(&mut self, shards: u16) {
        self.engine = Engine::open(&self.stored, &[Day(0)], options(shards)).unwrap();
    }

    /// Number of times that each message went again.
    fn reopened(&self) -> BTreeMap<MessageId, usize> {
        let mut reopened = BTreeMap::new();
        for ((_, key), value) in &self.stored.0 {
            if key[2] != Table::Journal as u8 {
                continue;
            }
            let bucket = BucketNo(u16_at(key, 0).unwrap());
            each_record(seq_at(key, REST).unwrap(), value, |_, record| {
                if let Record::Reopened(again) = record {
                    let closing = ClosingId { bucket, seq: again.closing };
                    *reopened.entry(closing.message(again.number)).or_default() += 1;
                }
                Ok(())
            })
            .unwrap();
        }
        reopened
    }
}

#[test]
fn the_messages_of_few_recipients_are_found_among_those_of_many() {
    let mut world = World::new();
    // Of each bucket some at the beginning and some at the end: the rows between are more than a walk passes over.
    let few: BTreeSet<usize> = (0..20).chain(RECIPIENTS - 20..RECIPIENTS).collect();
    let Command::Publish(mut named) = event(2) else { unreachable!() };
    named.to = Audience {
        recipients: few.iter().map(|number| id(&format!("r{number}"))).collect(),
        ..Audience::default()
    };
    world.step(&[Command::Publish(named)]);
    assert_eq!(world.send(), few.len());
    for (name, of) in [("e1", RECIPIENTS), ("e2", few.len())] {
        let reader = world.engine.reader(&world.stored);
        let report = reader.trace(&id(name)).unwrap().unwrap().report(&world.stored).unwrap();
        let email = &report.channels["email"];
        let ended = [Outcome::Delivered, Outcome::Failed].map(|outcome| email.ended[&outcome]);
        assert_eq!(ended, [of as u64 / 3, (of - of / 3) as u64], "{name}");
        let filter =
            FateFilter { state: Some(FateState::Ended(Outcome::Failed)), ..FateFilter::default() };
        let failed = reader.event_recipients(&id(name), &filter, None, 1_000).unwrap().unwrap();
        assert_eq!(failed.rows.len() as u64, ended[1], "{name}");
    }
}

#[test]
fn each_message_is_acted_on_once_over_crashes_and_new_divisions() {
    let mut world = World::new();
    let all = MessageFilter::default();
    let no = world.begin(&all, MessageAct::Retry);
    let of = RECIPIENTS as u64;
    assert_eq!((world.job(no).of, world.job(no).state(world.now)), (of, JobState::Waiting));
    assert_eq!(OpenJobs::of(&world.engine).next_slice(), Some(world.now.plus_ms(10_000)));

    let (mut slices, mut crashes) = (0, 0);
    while let Some(due) = OpenJobs::of(&world.engine).next_slice() {
        world.now = world.now.max(due);
        let found = OpenJobs::of(&world.engine).slices(&world.stored, world.now, true).unwrap();
        assert!(!found.is_empty());
        let step =
            JobSlice::act(&found, &mut world.engine, &world.stored, &Reach::new(), world.now);
        let step = step.unwrap();
        slices += 1;
        if slices % 3 == 0 {
            // The process ends before the commit: the slice is taken again.
            crashes += 1;
            world.restart(1 + crashes % 4);
            continue;
        }
        world.stored.commit(step.writes);
        // Slices that were taken before the commit change nothing after it.
        let again =
            JobSlice::act(&found, &mut world.engine, &world.stored, &Reach::new(), world.now);
        assert_eq!(again.unwrap().writes, []);
        if slices % 4 == 0 {
            world.restart(1 + slices % 5);
        }
    }
    assert!(crashes > 2, "{slices} slices");

    let job = world.job(no);
    let sent = of / 3;
    assert_eq!((job.state(world.now), job.done), (JobState::Done, of - sent));
    assert_eq!(job.left_out, [(LeftAsItWas::MessageState, sent)].into());
    let reopened = world.reopened();
    assert_eq!(reopened.len() as u64, of - sent);
    assert!(reopened.values().all(|count| *count == 1));
    assert_eq!(
        world.engine.reader(&world.stored).walk().unwrap().disagreements,
        Vec::<String>::new()
    );

    let ends = OpenJobs::of(&world.engine).at_end(&world.stored).unwrap();
    assert!(OpenJobs::of(&world.engine).first_unended().is_some() && !ends.is_empty());
    let step = ends.note(&mut world.engine, &world.stored, world.now).unwrap();
    world.stored.commit(step.writes);
    assert_eq!(OpenJobs::of(&world.engine).first_unended(), None);
    world.restart(2);
    assert_eq!(OpenJobs::of(&world.engine).first_unended(), None);

    let of_job = MessageFilter { job: Some(no), ..MessageFilter::default() };
    let page = world.engine.reader(&world.stored).messages(&of_job, None, 9).unwrap();
    assert_eq!(page.rows.len(), 9);
    let sending = MessageFilter { states: vec![MessageState::Sending], ..of_job };
    let found = world.engine.reader(&world.stored);
    let found = BulkMessages::find(found, &sending, MessageAct::Cancel, of).unwrap().unwrap();
    assert_eq!(
        (found.messages.len(), found.people, found.changed),
        (of - sent, of - sent, of - sent)
    );
}

#[test]
fn a_job_acts_on_a_thousand_messages_a_second_at_most() {
    let mut world = World::new();
    let no = world.begin(&MessageFilter::default(), MessageAct::Resend);
    let begins = OpenJobs::of(&world.engine).next_slice().unwrap();
    world.now = begins;
    let mut acted_on = 0;
    while let Some(due) = OpenJobs::of(&world.engine).next_slice() {
        world.now = world.now.max(due);
        let found = OpenJobs::of(&world.engine).slices(&world.stored, world.now, true).unwrap();
        let step =
            JobSlice::act(&found, &mut world.engine, &world.stored, &Reach::new(), world.now);
        world.stored.commit(step.unwrap().writes);
        let now = world.job(no).acted_on();
        assert!(now - acted_on <= 20, "{} in a slice", now - acted_on);
        acted_on = now;
    }
    assert_eq!(acted_on, RECIPIENTS as u64);
    assert!(world.now.0 - begins.0 >= 600, "{}", world.now.0 - begins.0);
}

#[test]
fn a_stopped_job_goes_no_further_and_goes_with_its_day() {
    let mut world = World::new();
    let no = world.begin(&MessageFilter::default(), MessageAct::Resend);
    world.now = OpenJobs::of(&world.engine).next_slice().unwrap();
    let found = OpenJobs::of(&world.engine).slices(&world.stored, world.now, true).unwrap();
    let step =
        JobSlice::act(&found, &mut world.engine, &world.stored, &Reach::new(), world.now).unwrap();
    world.stored.commit(step.writes);
    let done = world.job(no).done;
    assert!(done > 0 && done < RECIPIENTS as u64);
    assert_eq!(world.step(&[Command::StopJob { job: no }]), [Reply::Done]);
    world.restart(2);
    assert_eq!(OpenJobs::of(&world.engine).next_slice(), None);
    let job = world.job(no);
    assert_eq!(
        (job.state(world.now), job.done, job.ended()),
        (JobState::Stopped, done, Some(world.now))
    );

    world.now = Instant(30 * HOUR);
    let step = world.engine.forget_before(&world.stored, &Reach::new(), world.now, Day(1)).unwrap();
    world.stored.commit(step.writes);
    assert_eq!(JobReports::of(world.engine.reader(&world.stored)).get(no), Ok(None));
    let unknown = [Command::StopJob { job: no }];
    let step = world.engine.step(&world.stored, &Reach::new(), world.now, &unknown).unwrap();
    assert_eq!(step.replies, [Err(Refused::UnknownJob(no))]);
}
