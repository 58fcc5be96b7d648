//! A step: commands are accepted and applied, lanes close, and all of it is one draft of writes.

use rustc_hash::FxHashSet;

use super::intake::accept::Accepted;
use super::replica::progress::KeptObjects;
use super::rows::act::{Act, Applied, LocalResult};
use super::rows::draft::Draft;
use super::rows::inbox_delivery::InboxDelivery;
use super::rows::occurred::{note_hooks, write_occurred};
use super::rows::reach::Reach;
use super::rows::reply::{Refused, Reply, StepError};
use super::shard::follow::{Subscriptions, together};
use super::shard::members::Memberships;
use super::state::{Engine, Step};
use crate::engine::replica::apply::write_log;
use crate::engine::retention::forget_until;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::command::Command;
use crate::model::id::{BucketNo, Id};
use crate::model::time::Instant;
use crate::rules::Rules;

impl Engine {
    /// Closes the lanes due at or before `now`, and nothing else: they go out before anything that
    /// arrives at the same instant (contract, section 2, "At one instant").
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn fall_due(&mut self, view: &dyn ReadView, now: Instant) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |engine, draft, _, _| close_due(engine, draft))
    }

    /// Processes missed instants, each as [`Engine::fall_due`] and a step without arrivals: those at or
    /// before `until` at which something is due, in order. At most `most` of them, and all of one day.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn play_missed(
        &mut self,
        view: &dyn ReadView,
        until: Instant,
        most: usize,
    ) -> Result<Step, Unreadable> {
        let Some(first) = self.next_due().filter(|due| *due <= until) else {
            return Ok(Step::default());
        };
        self.in_step(Draft::new(view), first, |engine, draft, now, _| {
            // Stops before midnight: days are deleted between two days, once what was due has gone out.
            let until = until.min(now.day().end().plus_ms(-1));
            for _ in 0..most {
                let Some(due) = engine.next_due().filter(|due| *due <= until) else {
                    break;
                };
                // Each missed instant has the order of one that is met on time: what was due goes out
                // before what arrives at it.
                advance_clocks(engine, due);
                close_due(engine, draft)?;
                enter_scheduled(engine, draft)?;
                end_instant(engine, draft, &[])?;
            }
            Ok(())
        })
    }

    /// Handles the arrivals of an instant: scheduled events, then the commands in order. The instant
    /// stays open for more. If the clock stepped back, it is as if it stood still: see [`Engine::put_back`]. `reach` has
    /// the messages that the senders keep back: see [`Engine::may_touch`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn take_in(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view).with(reach), now, |engine, draft, _, step| {
            enter(engine, draft, commands, step)
        })
    }

    /// Handles the arrivals of an instant, delivers to the inboxes, and closes the lanes due then. Lanes
    /// due before go out first, by [`Engine::fall_due`]. `reach` is as in [`Engine::take_in`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn step(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        commands: &[Command],
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view).with(reach), now, |engine, draft, _, step| {
            enter(engine, draft, commands, step)?;
            step.delivered = end_instant(engine, draft, commands)?;
            Ok(())
        })
    }

    /// Puts new rules in force, as a command among those of an instant: pending entries move to their new
    /// lanes, and those that are `never` under the new rules are removed also from the messages of `reach`, which
    /// is as in [`Engine::take_in`]. The same rules change nothing.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn set_rules(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        rules: Rules,
    ) -> Result<Step, Unreadable> {
        // A restart with the same configuration must not write another version, each of which is kept for
        // good.
        if self.rules() == Some(&rules) {
            return Ok(Step::default());
        }
        let draft = Draft::new(view).with(reach);
        self.in_step(draft, now, |engine, draft, _, _| {
            note_hooks(&engine.intake, draft, &rules)?;
            let act = engine.intake.accept_rules(draft, rules);
            apply(engine, draft, &act)?;
            draft.log(|| act);
            Ok(())
        })
    }

    pub(super) fn in_step(
        &mut self,
        mut draft: Draft<'_>,
        now: Instant,
        work: impl FnOnce(&mut Self, &mut Draft<'_>, Instant, &mut Step) -> Result<(), Unreadable>,
    ) -> Result<Step, Unreadable> {
        draft = draft.logging(self.replica().has_followers());
        advance_clocks(self, now);
        self.intake.began.get_or_insert(now);
        // Records get the intake's instant, which never goes back: days are written in their order,
        // whatever the clock shows.
        let now = self.intake.now;
        self.intake.begin_step();
        let mut step = Step::default();
        let counted = |engine: &Self| {
            let intake = &engine.intake;
            let of_intake = (intake.objects.withdrawals, intake.forgotten_before);
            (engine.tally(), of_intake, engine.replica().applied())
        };
        // Heads store these counters. A step that changes them alone has to write the heads too, or a
        // restart would count less.
        let before = counted(self);
        work(self, &mut draft, now, &mut step)?;
        for shard in self.shards.iter_mut() {
            // Shards only read the intake, so objects of events that they copied to a later day are kept
            // here.
            for (event, day) in std::mem::take(&mut shard.kept_objects) {
                if self.holds_intake {
                    self.intake.objects.touch_all(&mut draft, &event, day)?;
                } else {
                    step.kept_objects.push(KeptObjects::of(&event, day));
                }
            }
            shard.ledger.write(&mut draft);
            step.going.append(&mut shard.going);
        }
        if self.holds_intake {
            // Comes last of what writes objects: a step deletes more rows than it writes, so that the
            // backlog shrinks.
            self.intake.objects.sweep(&mut draft)?;
            // Comes before the heads, which have the number of the log entry: in one commit a crash neither
            // loses nor repeats acts.
            write_log(self, &mut draft, &mut step);
        }
        step.occurred = write_occurred(self, &mut draft)?;
        // An idle step writes nothing, so that it costs no sync.
        if !draft.is_empty() || before != counted(self) {
            if self.holds_intake {
                self.intake.write_head(&mut draft);
            }
            for shard in self.shards.iter() {
                shard.write_head(&mut draft, self.of_shards);
            }
        }
        step.writes = draft.done();
        Ok(step)
    }
}

fn enter(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    commands: &[Command],
    step: &mut Step,
) -> Result<(), Unreadable> {
    // What was scheduled for an instant comes before what is published at it.
    enter_scheduled(engine, draft)?;
    engine.shards.read_ahead(draft, commands)?;
    // A group goes past the intake, which refuses a command that names a tenant where there are none: it
    // stands alone.
    let is_off = engine.intake.are_tenants_off();
    let goes_with = |command: &Command| !is_off || !command.names_tenant();
    for alike in commands.chunk_by(|a, b| together(a, b) && goes_with(a) && goes_with(b)) {
        match alike {
            [Command::Publish(_), ..] => publish(engine, draft, alike, step)?,
            [command] => {
                let reply = match run(engine, draft, command, step) {
                    Ok(reply) => Ok(reply),
                    Err(stop) => Err(stop.refusal()?),
                };
                step.replies.push(reply);
            }
            many => step.replies.extend(at_once(engine, draft, many)?),
        }
    }
    Ok(())
}

/// Publishes events. One whose id another has waits until that one has ended, which may give the id back.
fn publish(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    mut commands: &[Command],
    step: &mut Step,
) -> Result<(), Unreadable> {
    while !commands.is_empty() {
        let (alike, rest) = commands.split_at(distinct(commands));
        publish_all(engine, draft, alike, step)?;
        commands = rest;
    }
    Ok(())
}

/// Accepts events, and then applies all of them in each shard: applying one event cannot change how the intake answers
/// the next.
fn publish_all(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    commands: &[Command],
    step: &mut Step,
) -> Result<(), Unreadable> {
    let first = step.replies.len();
    let mut replies = Vec::with_capacity(commands.len());
    let mut acts: Vec<(usize, Act)> = Vec::with_capacity(commands.len());
    for command in commands {
        replies.push(match engine.intake.accept(draft, command) {
            Ok(Accepted::Act(act)) => {
                acts.push((replies.len(), act));
                Ok(Reply::Done)
            }
            Ok(Accepted::Answered(reply)) => Ok(reply),
            Ok(_) => Ok(Reply::Done),
            Err(stop) => Err(stop.refusal()?),
        });
    }
    let applied = engine.shards.each(
        &engine.intake,
        draft,
        engine.shards.are_large(commands),
        |intake, shard, draft| {
            acts.iter()
                .map(|(_, act)| shard.apply(intake, draft, act))
                .collect::<Result<Vec<_>, _>>()
        },
    )?;
    let mut applied: Vec<_> = applied.into_iter().map(Vec::into_iter).collect();
    for (at, act) in acts {
        let of_shards = applied.iter_mut().filter_map(Iterator::next);
        let applied = Applied::sum(of_shards);
        replies[at] = Ok(end_act(engine, draft, act, applied, first + at)?);
    }
    step.replies.extend(replies);
    Ok(())
}

/// Ends an act of a command: with its answer, or, where shards elsewhere have to apply it too, by telling them.
pub(super) fn end_act(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    act: Act,
    applied: Applied,
    command: usize,
) -> Result<Reply, Unreadable> {
    if engine.replica().has_followers() {
        let act = draft.log(|| act);
        draft.leave_open(LocalResult { command, act, applied });
        // Another takes its place once all shards have answered.
        return Ok(Reply::Done);
    }
    // Warnings are counted where the answer is whole: with followers, by `conclude`.
    let (reply, warnings) = applied.reply(&act);
    engine.intake.tally.warnings += warnings;
    engine.intake.answer(draft, &act, true, reply)
}

/// Enters the events that were scheduled for now or before, in order.
fn enter_scheduled(engine: &mut Engine, draft: &mut Draft<'_>) -> Result<(), Unreadable> {
    while let Some(act) = enter_due(engine, draft)? {
        apply(engine, draft, &act)?;
        draft.log(|| act);
    }
    Ok(())
}

fn enter_due(engine: &mut Engine, draft: &mut Draft<'_>) -> Result<Option<Act>, Unreadable> {
    if engine.holds_intake { engine.intake.enter_due(draft) } else { Ok(None) }
}

/// Runs one command: what concerns everybody is accepted and applied, what concerns one recipient is the
/// shard's.
fn run(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    command: &Command,
    step: &mut Step,
) -> Result<Reply, StepError> {
    match engine.intake.accept(draft, command)? {
        Accepted::Act(act) => {
            let applied = apply(engine, draft, &act)?;
            let command = step.replies.len();
            Ok(end_act(engine, draft, act, applied, command)?)
        }
        Accepted::Answered(reply) => Ok(reply),
        Accepted::Forget(before) => Ok(forget_until(engine, draft, before, step)?),
        Accepted::OfRecipient(recipient) => {
            let no = BucketNo::of(recipient.as_str(), engine.intake.buckets);
            let shard = engine.shards.index_of(no);
            let reply = engine.shards[shard].command(&engine.intake, draft, command)?;
            // Follows the command: one that the shard refused does not lift a suppression.
            if engine.holds_intake {
                let now = engine.intake.now;
                engine.intake.suppressions.given(draft, command, now);
            }
            Ok(reply)
        }
        Accepted::OfBucket(no) => {
            let shard = engine.shards.index_of(no);
            engine.shards[shard].command(&engine.intake, draft, command)
        }
    }
}

/// Applies an act in every shard, and adds up their answers.
pub(super) fn apply(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    act: &Act,
) -> Result<Applied, Unreadable> {
    let is_large = matches!(act, Act::Rules { .. });
    let applied = engine.shards.each(&engine.intake, draft, is_large, |intake, shard, draft| {
        shard.apply(intake, draft, act)
    })?;
    Ok(Applied::sum(applied))
}

/// Does commands of one kind that [`together`] takes: those of each shard as one.
fn at_once(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    commands: &[Command],
) -> Result<Vec<Result<Reply, Refused>>, Unreadable> {
    let of = |command: &Command| {
        let recipient = command.recipient().map_or("", Id::as_str);
        engine.shards.index_of(BucketNo::of(recipient, engine.intake.buckets))
    };
    let shards: Vec<usize> = commands.iter().map(of).collect();
    let answers = engine.shards.each(
        &engine.intake,
        draft,
        engine.shards.are_large(commands),
        |intake, shard, draft| {
            let theirs: Vec<_> = commands.iter().filter(|command| shard.has(command)).collect();
            match commands {
                [Command::Join { .. } | Command::Leave { .. }, ..] => {
                    Memberships { shard, draft }.change(intake, &theirs)
                }
                _ => Subscriptions { shard, draft }.change(intake, &theirs),
            }
        },
    )?;
    let mut answers: Vec<_> = answers.into_iter().map(Vec::into_iter).collect();
    // Each shard has answered its commands in their order, so the answers interleave as the commands did.
    let in_order = shards.iter().filter_map(|no| answers[*no].next());
    Ok(in_order.collect())
}

/// Closes the lanes that are due.
fn close_due(engine: &mut Engine, draft: &mut Draft<'_>) -> Result<(), Unreadable> {
    let are_several = engine.shards.are_several_due(engine.intake.clock);
    engine.shards.each(&engine.intake, draft, are_several, |intake, shard, draft| {
        shard.close_due(intake, draft)
    })?;
    Ok(())
}

/// Ends an instant: delivers to the inboxes, and closes the lanes that are due now.
fn end_instant(
    engine: &mut Engine,
    draft: &mut Draft<'_>,
    commands: &[Command],
) -> Result<Vec<InboxDelivery>, Unreadable> {
    let is_large =
        engine.shards.are_large(commands) || engine.shards.are_several_due(engine.intake.clock);
    let delivered =
        engine.shards.each(&engine.intake, draft, is_large, |intake, shard, draft| {
            shard.end_instant(intake, draft)
        })?;
    Ok(delivered.into_iter().flatten().collect())
}

/// Moves all clocks forward to an instant; none goes back.
fn advance_clocks(engine: &mut Engine, now: Instant) {
    set_clocks(engine, now.max(engine.intake.clock));
}

pub(super) fn set_clocks(engine: &mut Engine, clock: Instant) {
    // The clock may go back, the instant of records never does.
    let now = clock.max(engine.intake.now);
    (engine.intake.now, engine.intake.clock) = (now, clock);
    for shard in engine.shards.iter_mut() {
        (shard.now, shard.clock) = (now, clock);
    }
}

/// The number of the first commands that publish events of different ids.
fn distinct(commands: &[Command]) -> usize {
    let mut ids = FxHashSet::default();
    for (at, command) in commands.iter().enumerate() {
        let Command::Publish(event) = command else {
            continue;
        };
        if !ids.insert(&event.id) {
            return at;
        }
    }
    commands.len()
}
