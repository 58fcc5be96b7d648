//! Tests of the table.

use super::*;
use crate::channel::sample::batch;
use crate::channel::{ActiveChannels, Channels};
use crate::clock::virtual_clock::VirtualClock;
use crate::commit::executor::Executor;
use crate::delivery::senders::Senders;

fn job(number: u32) -> SendJob {
    SendJob::sample(number, batch(&format!("b{number}"), "A title"))
}

fn number(job: &SendJob) -> u32 {
    job.message().number.0
}

fn numbers(jobs: &[SendJob]) -> Vec<u32> {
    jobs.iter().map(number).collect()
}

fn paused() -> Paused {
    serde_json::from_str(r#"{"types": [], "channels": [1]}"#).unwrap()
}

#[test]
fn what_waits_goes_by_its_time_is_found_by_its_id_and_can_be_paused() {
    let mut jobs = InFlight::default();
    for (number, at) in [(1, 30), (2, 10), (3, 20)] {
        jobs.wait_until(Instant(at), job(number));
    }
    assert_eq!((jobs.waiting(), jobs.next_due()), (3, Some(Instant(10))));
    let taken = jobs.take_back(&job(2).id).unwrap();
    assert_eq!((taken.until, number(&taken.job)), (Some(Instant(10)), 2));
    assert!(jobs.take_back(&job(2).id).is_none());
    assert!(jobs.take_due(Instant(19)).is_empty());
    assert_eq!(numbers(&jobs.take_due(Instant(20))), [3]);
    jobs.pause(&paused(), Instant(20));
    assert_eq!((jobs.waiting(), jobs.next_due()), (1, None));
    jobs.wait_until(Instant(20), job(4));
    assert!(jobs.take_due(Instant(90)).is_empty());
    jobs.pause(&Paused::default(), Instant(90));
    assert_eq!(numbers(&jobs.take_due(Instant(90))), [4, 1]);
    let email = jobs.waiting_of("email", Priority::Interactive);
    assert_eq!((jobs.waiting(), email), (0, 0));
}

#[test]
fn o7_a_job_has_one_state_and_is_taken_back_in_each() {
    let mut jobs = InFlight::default();
    let by = std::sync::Arc::<VirtualClock>::default();
    let mut senders = Senders::new(ActiveChannels::new(Channels::new()), by, Executor::Hand);
    jobs.follow(CommitNo(7), job(1), Some(Instant(5)));
    assert!(jobs.take_following(CommitNo(6)).is_none());
    assert_eq!(jobs.take_back(&job(1).id).unwrap().until, Some(Instant(5)));
    assert!(jobs.follows_none());

    jobs.sending(job(1).id, senders.dispatch(job(1)));
    assert_eq!(senders.under_way(), 1);
    assert!(jobs.take_back(&job(1).id).is_some() && senders.is_idle());
    assert!(!senders.send_next(), "it is in no queue any more");

    // The later state holds, and nothing is left of the one before.
    jobs.wait_until(Instant(5), job(1));
    jobs.follow(CommitNo(8), job(1), None);
    jobs.follow(CommitNo(8), job(1), None);
    jobs.follow(CommitNo(8), job(2), None);
    assert_eq!((jobs.waiting(), jobs.next_due()), (0, None));
    let mut next = || jobs.take_following(CommitNo(8)).map(|going| number(&going.job));
    assert_eq!([next(), next(), next()], [Some(1), Some(2), None]);

    // What is at the point of no return stays until its answer.
    jobs.sending(job(1).id, senders.dispatch(job(1)));
    assert!(senders.send_next());
    assert!(jobs.take_back(&job(1).id).is_none() && jobs.has(&job(1).id));
    jobs.answered(&job(1).id);
    assert!(!jobs.has(&job(1).id) && senders.is_idle());
}

#[test]
fn o7_what_is_held_is_dropped_with_its_step_and_what_follows_a_commit_with_that() {
    let mut jobs = InFlight::default();
    jobs.wait_until(Instant(5), job(1));
    jobs.follow(CommitNo(7), job(2), None);
    let asked: BTreeSet<MessageId> = [1, 2, 3].map(|number| job(number).message()).into();
    for _ in 0..2 {
        let reach = RefCell::new(&mut jobs).keep_back(asked.clone());
        assert_eq!(reach.len(), 2);
        assert!(reach.values().all(|reached| *reached == KeptBackState::KeptBack));
    }
    assert!(jobs.follows_none() && jobs.next_due().is_none());
    jobs.drop_held();
    assert!(!jobs.has(&job(1).id) && !jobs.has(&job(2).id));
    jobs.follow(CommitNo(7), job(3), None);
    jobs.wait_until(Instant(5), job(1));
    RefCell::new(&mut jobs).keep_back([job(1).message()].into());
    assert_eq!(jobs.drop_following(), 1);
    assert!(jobs.take_following(CommitNo(9)).is_none());
    assert!(!jobs.has(&job(1).id) && !jobs.has(&job(3).id));
}
