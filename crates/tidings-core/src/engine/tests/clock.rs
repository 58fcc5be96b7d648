//! A clock that was ahead and is put right (A7): what waits is due by it again.

use super::bounds::{World, person};
use crate::engine::tests::*;
use crate::model::recipient::RecipientState;
use crate::model::time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS};
use crate::rules::{Cap, ChannelRules, Decide, Digest, Every, QuietHours};

/// 08:00 of some day: the time, when the clock shows another.
const RIGHT: Instant = Instant(20 * DAY_MS + 8 * HOUR_MS);

/// By how much the clock is ahead for six seconds.
const AHEAD: [i64; 4] = [2 * MINUTE_MS, HOUR_MS, 3 * DAY_MS, 400 * DAY_MS];

/// An engine whose mails have a policy, with one recipient, at the right time.
fn under(policy: Policy, change: impl FnOnce(&mut Rules)) -> World {
    let mut world = World::new(Options::default());
    let mut rules = world.engine.rules().unwrap().clone();
    let kind = rules.types.get_mut("told").unwrap();
    kind.channels = [("email".to_owned(), Route::of(policy))].into();
    let digest = Digest { min_items: 2, ..Digest::new(Every::Day, 9 * 60) };
    rules.digests.insert("some".to_owned(), digest);
    let digest = Digest::new(Every::Day, 9 * 60);
    rules.digests.insert("daily".to_owned(), digest);
    change(&mut rules);
    let set = world.engine.set_rules(&world.stored, &Reach::new(), Instant(0), rules);
    world.stored.commit(set.unwrap().writes);
    world.play(RIGHT, &[person("a", RecipientState::Active)]);
    world
}

/// Puts the clock right, six seconds after it went wrong.
fn put_right(world: &mut World) -> Instant {
    let now = RIGHT.plus_ms(6 * SECOND_MS);
    let newest = world.engine.newest_step();
    let step = world.engine.put_back(&world.stored, now).unwrap();
    assert!(!step.writes.is_empty(), "nothing is put back");
    world.stored.commit(step.writes);
    assert_eq!((world.engine.now(), world.engine.newest_step()), (now, newest));
    now
}

/// When something may be due next, once what is asked anew was asked.
fn due(world: &mut World) -> Option<Instant> {
    let now = world.engine.now();
    world.play(now, &[]);
    world.engine.next_due()
}

/// Expects the next message at an instant, and none before.
fn goes_at(world: &mut World, at: Instant) {
    let sent = messages(world);
    world.play(at.plus_ms(-1), &[]);
    assert_eq!(messages(world), sent, "too early");
    world.play(at, &[]);
    assert_eq!(messages(world), sent + 1, "too late");
}

fn messages(world: &World) -> u64 {
    world.engine.tally().messages
}

/// Puts the clock right, and expects the next message so long after, live and from what is stored; and then none.
fn goes_after(world: &mut World, wait_ms: i64) {
    let now = put_right(world);
    let at = now.plus_ms(wait_ms);
    let sent = messages(world);
    assert_eq!(due(world), Some(at));
    world.check(Options::default());
    assert_eq!(world.engine.now(), now);
    assert_eq!(due(world), Some(at), "after a restart");
    goes_at(world, at);
    world.check(Options::default());
    // Also once the clock comes to where it was before.
    let later = world.engine.newest_step().plus_ms(2 * DAY_MS);
    world.play(later, &[]);
    assert_eq!(messages(world), sent + 1, "told twice");
    assert_eq!(world.engine.now(), world.engine.newest_step());
    world.check(Options::default());
    let books = world.engine.reader(&world.stored).walk().unwrap().books;
    assert_eq!((books.pending, books.lost, books.duplicates), (0, 0, 0));
}

fn cooldown(max_wait_ms: Option<i64>) -> Policy {
    let quiet_ms = 10 * MINUTE_MS;
    Policy::Cooldown { quiet_ms, max_wait_ms }
}

fn digest(name: &str) -> Policy {
    Policy::Digest { digest: name.to_owned() }
}

#[test]
fn a7_cool_downs_and_holds_wait_from_now() {
    for ahead_ms in AHEAD {
        let hold = |decide| Policy::FirstEvent { hold_ms: 10 * MINUTE_MS, decide };
        let policies =
            [cooldown(None), cooldown(Some(HOUR_MS)), hold(Decide::First), hold(Decide::Earliest)];
        for policy in policies {
            let mut world = under(policy, |_| {});
            world.play(RIGHT.plus_ms(ahead_ms), &[event(1)]);
            goes_after(&mut world, 10 * MINUTE_MS);
        }
    }
}

#[test]
fn a7_lanes_with_a_batch_key_wait_from_now() {
    for ahead_ms in AHEAD {
        let leading = Policy::Leading { quiet_ms: 10 * MINUTE_MS };
        for (policy, sent) in [(cooldown(None), 0), (leading, 1)] {
            let mut world = under(policy, |rules| {
                let kind = rules.types.get_mut("told").unwrap();
                let email = kind.channels.get_mut("email").unwrap();
                email.batch_key = Some("event.object.id".to_owned());
            });
            let ahead = RIGHT.plus_ms(ahead_ms);
            world.play(ahead, &[event(1)]);
            world.play(ahead.plus_ms(SECOND_MS), &[event(2)]);
            assert_eq!(messages(&world), sent);
            goes_after(&mut world, 10 * MINUTE_MS);
        }
    }
}

#[test]
fn a7_what_was_opened_before_the_clock_went_wrong_keeps_its_bound() {
    for ahead_ms in AHEAD {
        let policy = cooldown(Some(12 * MINUTE_MS));
        let mut world = under(policy, |_| {});
        // A minute before the clock is put right; the second would have been the newest.
        world.play(RIGHT, &[event(1)]);
        let too_early = ahead_ms >= 10 * MINUTE_MS;
        world.play(RIGHT.plus_ms(ahead_ms), &[event(2)]);
        // The first one has gone where the wrong clock passed its deadline.
        assert_eq!(messages(&world), u64::from(too_early));
        goes_after(&mut world, 10 * MINUTE_MS);
    }
}

#[test]
fn a7_what_comes_then_is_newer_than_what_came_before() {
    for ahead_ms in AHEAD {
        let mut world = under(cooldown(Some(15 * MINUTE_MS)), |_| {});
        world.play(RIGHT.plus_ms(ahead_ms), &[event(1)]);
        let now = put_right(&mut world);
        world.play(now.plus_ms(MINUTE_MS), &[event(2)]);
        world.play(now.plus_ms(9 * MINUTE_MS), &[event(3)]);
        world.check(Options::default());
        // The first one's bound.
        let at = now.plus_ms(15 * MINUTE_MS);
        goes_at(&mut world, at);
        assert_eq!(due(&mut world), None);
        // The next window is of the right time too.
        world.play(at.plus_ms(MINUTE_MS), &[event(4)]);
        world.check(Options::default());
        goes_at(&mut world, at.plus_ms(11 * MINUTE_MS));
    }
}

#[test]
fn a7_digests_go_at_the_next_slot() {
    let to_nine = HOUR_MS - 6 * SECOND_MS;
    for ahead_ms in AHEAD {
        let mut world = under(digest("daily"), |_| {});
        world.play(RIGHT.plus_ms(ahead_ms), &[event(1)]);
        goes_after(&mut world, to_nine);
        // One that was passed over, for too few entries, at a slot that has not been is asked again.
        let mut world = under(digest("some"), |_| {});
        world.play(RIGHT.plus_ms(-5 * MINUTE_MS), &[]);
        let ahead = RIGHT.plus_ms(ahead_ms);
        world.play(ahead, &[event(1)]);
        world.play(ahead.plus_ms(HOUR_MS), &[]);
        let passed = ahead.plus_ms(HOUR_MS) >= RIGHT.plus_ms(to_nine);
        assert!(passed, "the first slot has been, by the wrong clock");
        let now = put_right(&mut world);
        world.play(now.plus_ms(SECOND_MS), &[event(2)]);
        world.check(Options::default());
        let at = now.plus_ms(to_nine);
        world.play(at, &[]);
        assert_eq!((messages(&world), due(&mut world)), (1, None));
    }
}

#[test]
fn a7_a_leading_edge_counts_from_now() {
    for ahead_ms in AHEAD {
        let quiet_ms = 10 * MINUTE_MS;
        let mut world = under(Policy::Leading { quiet_ms }, |_| {});
        let ahead = RIGHT.plus_ms(ahead_ms);
        world.play(ahead, &[event(1)]);
        world.play(ahead.plus_ms(SECOND_MS), &[event(2)]);
        assert_eq!(messages(&world), 1);
        goes_after(&mut world, quiet_ms);
        // Also where nobody waits when the clock is put right.
        let mut world = under(Policy::Leading { quiet_ms }, |_| {});
        world.play(ahead, &[event(1)]);
        let now = put_right(&mut world);
        world.check(Options::default());
        world.play(now.plus_ms(MINUTE_MS), &[event(2)]);
        assert_eq!(due(&mut world), Some(now.plus_ms(quiet_ms)));
    }
}

#[test]
fn a7_caps_count_messages_as_of_now() {
    let cap = |rules: &mut Rules| {
        rules.caps.push(Cap { channel: "email".to_owned(), per_ms: HOUR_MS, max: 1 });
    };
    for ahead_ms in AHEAD {
        for policy in [Policy::Now, cooldown(None)] {
            let mut world = under(policy, cap);
            let ahead = RIGHT.plus_ms(ahead_ms);
            world.play(ahead, &[event(1)]);
            world.play(ahead.plus_ms(10 * MINUTE_MS), &[event(2)]);
            world.play(ahead.plus_ms(20 * MINUTE_MS), &[]);
            assert_eq!(messages(&world), 1);
            goes_after(&mut world, HOUR_MS);
        }
    }
}

/// Quiet hours from 09:00 to 20:00.
fn quiet(rules: &mut Rules) {
    let quiet_hours =
        Some(QuietHours { from_minute: 9 * 60, to_minute: 20 * 60, days: QuietHours::EVERY_DAY });
    let email = ChannelRules { quiet_hours, ..ChannelRules::default() };
    rules.channels.insert("email".to_owned(), email);
}

#[test]
fn a7_quiet_hours_are_those_of_the_right_time() {
    // At 09:00 or later by the wrong clock.
    for days in [0, 3, 400] {
        let mut world = under(Policy::Now, quiet);
        world.play(RIGHT.plus_ms(days * DAY_MS + HOUR_MS), &[event(1)]);
        assert_eq!(messages(&world), 0);
        let now = put_right(&mut world);
        world.check(Options::default());
        world.play(now, &[]);
        assert_eq!((messages(&world), due(&mut world)), (1, None));
    }
}

#[test]
fn a7_what_a_second_wrong_time_put_off_goes_too() {
    let mut world = under(cooldown(None), quiet);
    world.play(RIGHT.plus_ms(3 * DAY_MS), &[event(1)]);
    let now = put_right(&mut world);
    world.play(now, &[event(2)]);
    // Nothing is written where quiet hours put something off.
    let newest = world.engine.newest_step();
    world.play(newest.plus_ms(3 * DAY_MS + 2 * HOUR_MS), &[]);
    assert_eq!(messages(&world), 0);
    let later = now.plus_ms(14 * SECOND_MS);
    let step = world.engine.put_back(&world.stored, later).unwrap();
    world.stored.commit(step.writes);
    goes_at(&mut world, now.plus_ms(10 * MINUTE_MS));
    world.check(Options::default());
}

#[test]
fn a7_a_small_step_back_changes_nothing() {
    let mut world = under(cooldown(None), |_| {});
    world.play(RIGHT, &[event(1)]);
    let was = due(&mut world);
    for back_ms in [1, SECOND_MS, MINUTE_MS] {
        let now = RIGHT.plus_ms(-back_ms);
        let step = world.engine.put_back(&world.stored, now).unwrap();
        assert!(step.writes.is_empty());
        world.play(now, &[]);
        assert_eq!((world.engine.now(), due(&mut world)), (RIGHT, was));
    }
    let now = RIGHT.plus_ms(-MINUTE_MS - 1);
    let step = world.engine.put_back(&world.stored, now).unwrap();
    assert!(!step.writes.is_empty());
    assert_eq!(due(&mut world), was.map(|due| due.plus_ms(-MINUTE_MS - 1)));
}

#[test]
fn a7_a_clock_from_before_the_first_step_is_waited_for() {
    let mut world = under(cooldown(None), |_| {});
    world.play(RIGHT, &[event(1)]);
    let was = due(&mut world);
    let step = world.engine.put_back(&world.stored, Instant(-1));
    assert!(step.unwrap().writes.is_empty());
    world.check(Options::default());
    assert!(!world.engine.is_put_back(Instant(-1)) && world.engine.is_put_back(Instant(0)));
    assert_eq!(due(&mut world), was);
}

#[test]
fn a7_scheduled_events_enter_by_the_clock() {
    for ahead_ms in AHEAD {
        let mut world = under(cooldown(None), |_| {});
        world.play(RIGHT.plus_ms(ahead_ms), &[event(1)]);
        let now = put_right(&mut world);
        let Command::Publish(later) = event(2) else { unreachable!("it is published") };
        let later = Event { delay_ms: Some(5 * MINUTE_MS), ..*later };
        world.play(now, &[Command::Publish(Box::new(later))]);
        assert_eq!(due(&mut world), Some(now.plus_ms(5 * MINUTE_MS)));
        world.check(Options::default());
        world.play(now.plus_ms(5 * MINUTE_MS), &[]);
        goes_at(&mut world, now.plus_ms(15 * MINUTE_MS));
        world.check(Options::default());
        assert_eq!(due(&mut world), None);
    }
}

#[test]
fn a7_a_clock_may_be_put_back_again_and_again() {
    let mut world = under(cooldown(None), |_| {});
    let mut sent = 0;
    for round in 0..6 {
        let now = RIGHT.plus_ms(round * 30 * MINUTE_MS);
        if world.engine.is_put_back(now) {
            let step = world.engine.put_back(&world.stored, now).unwrap();
            world.stored.commit(step.writes);
        }
        assert_eq!(world.engine.now(), now);
        world.play(now, &[event(2 * usize::try_from(round).unwrap() + 1)]);
        world.check(Options::default());
        assert_eq!(due(&mut world), Some(now.plus_ms(10 * MINUTE_MS)));
        let ahead = now.plus_ms((round + 1) * DAY_MS);
        world.play(ahead, &[event(2 * usize::try_from(round).unwrap() + 2)]);
        sent += 1;
        assert_eq!(messages(&world), sent);
    }
    let books = world.engine.reader(&world.stored).walk().unwrap().books;
    assert_eq!((books.entries, books.lost, books.duplicates), (12, 0, 0));
}
