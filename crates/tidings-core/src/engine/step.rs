//! A step: commands are accepted and applied, lanes close, and all of it is one draft of writes.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::acts::act::Act;
use super::acts::applied::{AppliedAct, LocalResult};
use super::address_index::hash::HashKey;
use super::change_log::note::ChangeNotes;
use super::change_log::subject::action_of;
use super::change_log::write::StepLines;
use super::commands::{Commands, NewRules};
use super::intake::accept::IntakeDecision;
use super::intake::state::Intake;
use super::message::index_writer::MessageIndexWriter;
use super::reach::Reach;
use super::replica::progress::KeptObjects;
use super::replies::erasure::ErasureReceipt;
use super::replies::refused::{Refused, StepError};
use super::replies::reply::Reply;
use super::rows::draft::Draft;
use super::rows::occurred::{note_hooks, write_row};
use super::shard::due::InboxDelivery;
use super::shard::follow::{Subscriptions, together};
use super::shard::members::Memberships;
use super::shard::state::Shard;
use super::state::{Engine, Step};
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::changes::Origin;
use crate::model::command::Command;
use crate::model::id::{BucketNo, Id};
use crate::model::occurrence::OccurrenceOwner;
use crate::model::time::Instant;

impl Engine {
    /// Closes the lanes due at or before `now`, and nothing else: they go out before anything that
    /// arrives at the same instant (contract, section 2, "At one instant").
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn fall_due(&mut self, view: &dyn ReadView, now: Instant) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |run| run.close_due())
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
        self.in_step(Draft::new(view), first, |run| {
            // Stops before midnight: days are deleted between two days, once what was due has gone out.
            let until = until.min(run.engine.intake.now.day().end().plus_ms(-1));
            for _ in 0..most {
                let Some(due) = run.engine.next_due().filter(|due| *due <= until) else {
                    break;
                };
                // Each missed instant has the order of one that is met on time: what was due goes out
                // before what arrives at it.
                run.advance_clocks(due);
                run.close_due()?;
                run.enter_scheduled()?;
                run.end_instant(&[])?;
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
    pub fn take_in<'c>(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        commands: impl Into<Commands<'c>>,
    ) -> Result<Step, Unreadable> {
        let commands = commands.into();
        self.in_step(Draft::new(view).with(reach), now, |run| run.enter(commands))
    }

    /// Handles the arrivals of an instant, delivers to the inboxes, and closes the lanes due then. Lanes
    /// due before go out first, by [`Engine::fall_due`]. `reach` is as in [`Engine::take_in`].
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn step<'c>(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        commands: impl Into<Commands<'c>>,
    ) -> Result<Step, Unreadable> {
        let commands = commands.into();
        self.in_step(Draft::new(view).with(reach), now, |run| {
            run.enter(commands)?;
            run.step.delivered = run.end_instant(commands.all)?;
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
        rules: impl Into<NewRules>,
    ) -> Result<Step, Unreadable> {
        let NewRules { rules, origin } = rules.into();
        // A restart with the same configuration must not write another version, each of which is kept for
        // good.
        if self.rules() == Some(&rules) {
            return Ok(Step::default());
        }
        self.in_step(Draft::new(view).with(reach), now, |run| {
            note_hooks(&run.engine.intake, &mut run.draft, &rules)?;
            if let Some(origin) = &origin {
                run.log_rules(origin, &rules)?;
            }
            let act = run.engine.intake.accept_rules(&mut run.draft, rules);
            run.apply_and_log(act)
        })
    }

    /// Runs a step: its work, and the writes of what that has changed.
    pub(super) fn in_step<'d>(
        &mut self,
        draft: Draft<'d>,
        now: Instant,
        work: impl FnOnce(&mut StepRun<'_, 'd>) -> Result<(), Unreadable>,
    ) -> Result<Step, Unreadable> {
        let draft = draft.logging(self.replica().has_followers());
        let (step, lines) = (Step::default(), StepLines::default());
        let mut run = StepRun { engine: self, draft, step, lines };
        run.advance_clocks(now);
        run.engine.intake.began.get_or_insert(now);
        run.engine.intake.begin_step();
        let counted = |engine: &Self| {
            let intake = &engine.intake;
            let of_intake = (intake.objects.withdrawals, intake.forgotten_before);
            (engine.tally(), of_intake, engine.replica().applied())
        };
        // Heads store these counters. A step that changes them alone has to write the heads too, or a
        // restart would count less.
        let before = counted(run.engine);
        work(&mut run)?;
        run.write_changes()?;
        let StepRun { engine, mut draft, mut step, .. } = run;
        // An idle step writes nothing, so that it costs no sync.
        if !draft.is_empty() || before != counted(engine) {
            if engine.holds_intake {
                engine.intake.arrivals.write(&mut draft);
                engine.intake.write_head(&mut draft);
                draft.extend(engine.intake.unstored_key.take().map(HashKey::row));
            }
            for shard in engine.shards.iter() {
                shard.write_head(&mut draft, engine.of_shards);
            }
        }
        step.writes = draft.done();
        Ok(step)
    }
}

/// A step that runs: its engine, its draft and what it returns. Records get the intake's instant, which never goes back:
/// days are written in their order, whatever the clock shows.
pub(super) struct StepRun<'a, 'd> {
    pub(super) engine: &'a mut Engine,
    pub(super) draft: Draft<'d>,
    pub(super) step: Step,
    pub(super) lines: StepLines,
}

impl StepRun<'_, '_> {
    /// Writes what shards and the intake have changed, but for the heads.
    fn write_changes(&mut self) -> Result<(), Unreadable> {
        self.write_lines();
        let Self { engine, draft, step, .. } = self;
        for shard in engine.shards.iter_mut() {
            // Shards only read the intake, so objects of events that they copied to a later day are kept
            // here.
            for (event, day) in std::mem::take(&mut shard.kept_objects) {
                if engine.holds_intake {
                    engine.intake.objects.touch_all(draft, &event, day)?;
                } else {
                    step.kept_objects.push(KeptObjects::of(&event, day));
                }
            }
            shard.ledger.write(draft);
            shard.figures.write(draft, shard.now)?;
            let closings = std::mem::take(&mut shard.new_closings);
            MessageIndexWriter::of(shard, draft).closings(closings)?;
            step.going.append(&mut shard.going);
        }
        if engine.holds_intake {
            // Comes last of what writes objects: a step deletes more rows than it writes, so that the
            // backlog shrinks.
            engine.intake.objects.sweep(draft)?;
            engine.intake.figures.write(draft, engine.intake.now)?;
            // Comes before the heads, which have the number of the log entry: in one commit a crash neither
            // loses nor repeats acts.
            self.write_log();
        }
        self.write_occurred()
    }

    /// Writes what occurred in the step.
    fn write_occurred(&mut self) -> Result<(), Unreadable> {
        let Self { engine, draft, step, .. } = self;
        let at = engine.intake.now;
        for (owner, occurrences) in draft.take_occurred() {
            match owner {
                OccurrenceOwner::Intake => {
                    engine.intake.keep_today(draft);
                }
                OccurrenceOwner::Bucket(bucket) => {
                    engine.shards.with(bucket).journal_days.insert(at.day());
                }
            }
            step.occurred.push((owner, write_row(draft, owner, at, &occurrences)?));
        }
        Ok(())
    }

    /// Handles the arrivals of an instant.
    pub(super) fn enter(&mut self, commands: Commands<'_>) -> Result<(), Unreadable> {
        // What was scheduled for an instant comes before what is published at it.
        self.enter_scheduled()?;
        let (all, origins) = (commands.all, commands.origins());
        self.engine.shards.read_ahead(&mut self.draft, all)?;
        let mut rest = all;
        while !rest.is_empty() {
            let first = all.len() - rest.len();
            let origin_of = |at: usize| origins.get(at).copied().flatten();
            let (alike, more) = rest.split_at(self.alike(rest, |at| origin_of(first + at)));
            rest = more;
            match (alike, origin_of(first)) {
                ([Command::Publish(_), ..], _) => self.publish(alike)?,
                ([command], origin) => {
                    let reply = match self.run_logged(command, origin) {
                        Ok(reply) => Ok(reply),
                        Err(stop) => Err(stop.refusal()?),
                    };
                    self.step.replies.push(reply);
                }
                (many, origin) => {
                    let replies = self.at_once(many, origin)?;
                    self.step.replies.extend(replies);
                }
            }
        }
        // What waits for other shards may still change something.
        self.lines.origins = origins.into_iter().map(Option::<&Arc<Origin>>::cloned).collect();
        Ok(())
    }

    /// The number of the first commands that can be done as one.
    fn alike<'o>(
        &self,
        commands: &[Command],
        origin_of: impl Fn(usize) -> Option<&'o Arc<Origin>>,
    ) -> usize {
        // A group goes past the intake, which refuses a command that names a tenant where there are none: it
        // stands alone.
        let is_off = self.engine.intake.are_tenants_off();
        let goes_with = |command: &Command| !is_off || !command.names_tenant();
        // A line is of one request, and only one that counts is about several commands.
        let logged = |at: usize| origin_of(at).filter(|_| action_of(&commands[at]).is_some());
        let is_logged_with = |one: usize, next: usize| match (logged(one), logged(next)) {
            (None, None) => true,
            (Some(one), Some(next)) => one.is_counted && Arc::ptr_eq(one, next),
            _ => false,
        };
        let follows = |next: &usize| {
            let (one, command) = (&commands[next - 1], &commands[*next]);
            together(one, command)
                && goes_with(one)
                && goes_with(command)
                && is_logged_with(next - 1, *next)
        };
        (1..commands.len()).find(|next| !follows(next)).unwrap_or(commands.len())
    }

    /// Runs one command, and logs what it changes if it has an origin.
    fn run_logged(
        &mut self,
        command: &Command,
        origin: Option<&Arc<Origin>>,
    ) -> Result<Reply, StepError> {
        let origin = origin.filter(|_| action_of(command).is_some());
        self.draft.noted = origin.map_or(ChangeNotes::Off, |origin| ChangeNotes::begin(origin));
        let done = self.run(command);
        let noted = std::mem::take(&mut self.draft.noted);
        let mut reply = done?;
        if let Command::Erase { recipient } = command {
            self.mask_erased(recipient)?;
        }
        if let Some(origin) = origin {
            let line = self.log_command(origin, command, noted, &reply)?;
            if let (Reply::Erased(erasure), Some((id, subject))) = (&mut reply, line) {
                let subject = subject.id.unwrap_or_default();
                erasure.receipt = Some(ErasureReceipt { line: id.to_string(), subject });
            }
        }
        Ok(reply)
    }

    /// Publishes events. One whose id another has waits until that one has ended, which may give the id back.
    fn publish(&mut self, mut commands: &[Command]) -> Result<(), Unreadable> {
        while !commands.is_empty() {
            let (alike, rest) = commands.split_at(distinct(commands));
            self.publish_all(alike)?;
            commands = rest;
        }
        Ok(())
    }

    /// Accepts events, and then applies all of them in each shard: applying one event cannot change how the intake answers
    /// the next.
    fn publish_all(&mut self, commands: &[Command]) -> Result<(), Unreadable> {
        let first = self.step.replies.len();
        let mut replies = Vec::with_capacity(commands.len());
        let mut acts: Vec<(usize, Act)> = Vec::with_capacity(commands.len());
        for command in commands {
            replies.push(match self.engine.intake.accept(&mut self.draft, command) {
                Ok(IntakeDecision::Act(act)) => {
                    acts.push((replies.len(), act));
                    Ok(Reply::Done)
                }
                Ok(IntakeDecision::Answered(reply)) => Ok(reply),
                Ok(_) => Ok(Reply::Done),
                Err(stop) => Err(stop.refusal()?),
            });
        }
        let is_large = self.engine.shards.are_large(commands);
        let applied = self.each_shard(is_large, |intake, shard, draft| {
            acts.iter()
                .map(|(_, act)| shard.apply(intake, draft, act))
                .collect::<Result<Vec<_>, _>>()
        })?;
        let mut applied: Vec<_> = applied.into_iter().map(Vec::into_iter).collect();
        for (at, act) in acts {
            let of_shards = applied.iter_mut().filter_map(Iterator::next);
            let applied = AppliedAct::sum(of_shards);
            replies[at] = Ok(self.end_act(act, applied, first + at)?);
        }
        self.step.replies.extend(replies);
        Ok(())
    }

    /// Ends an act of a command: with its answer, or, where shards elsewhere have to apply it too, by telling them.
    pub(super) fn end_act(
        &mut self,
        act: Act,
        applied: AppliedAct,
        command: usize,
    ) -> Result<Reply, Unreadable> {
        if self.engine.replica().has_followers() {
            let act = self.draft.log(|| act);
            self.draft.leave_open(LocalResult { command, act, applied });
            // Another takes its place once all shards have answered.
            return Ok(Reply::Done);
        }
        // Warnings are counted where the answer is whole: with followers, by `conclude`.
        let (reply, warnings) = applied.reply(&act);
        let intake = &mut self.engine.intake;
        intake.tally.warnings += warnings;
        intake.answer(&mut self.draft, &act, true, reply)
    }

    /// Enters the events that were scheduled for now or before, in order.
    fn enter_scheduled(&mut self) -> Result<(), Unreadable> {
        while self.engine.holds_intake
            && let Some(act) = self.engine.intake.enter_due(&mut self.draft)?
        {
            self.apply_and_log(act)?;
        }
        Ok(())
    }

    /// Runs one command: what concerns everybody is accepted and applied, what concerns one recipient is the
    /// shard's.
    fn run(&mut self, command: &Command) -> Result<Reply, StepError> {
        let Self { engine, draft, step, .. } = self;
        match engine.intake.accept(draft, command)? {
            IntakeDecision::Act(act) => {
                let command = step.replies.len();
                let applied = self.apply(&act)?;
                Ok(self.end_act(act, applied, command)?)
            }
            IntakeDecision::Answered(reply) => Ok(reply),
            IntakeDecision::Forget(before) => Ok(self.forget_until(before)?),
            IntakeDecision::OfRecipient(recipient) => {
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
            IntakeDecision::OfBucket(no) => {
                let shard = engine.shards.index_of(no);
                engine.shards[shard].command(&engine.intake, draft, command)
            }
        }
    }

    /// Applies an act in every shard, and adds up their answers.
    pub(super) fn apply(&mut self, act: &Act) -> Result<AppliedAct, Unreadable> {
        let is_large = matches!(act, Act::Rules { .. });
        let applied =
            self.each_shard(is_large, |intake, shard, draft| shard.apply(intake, draft, act))?;
        Ok(AppliedAct::sum(applied))
    }

    /// Applies an act of the intake that no command waits for.
    pub(super) fn apply_and_log(&mut self, act: Act) -> Result<(), Unreadable> {
        self.apply(&act)?;
        self.draft.log(|| act);
        Ok(())
    }

    /// Does a job of each shard.
    pub(super) fn each_shard<T: Send>(
        &mut self,
        is_large: bool,
        job: impl Fn(&Intake, &mut Shard, &mut Draft<'_>) -> Result<T, Unreadable> + Sync,
    ) -> Result<Vec<T>, Unreadable> {
        let Engine { intake, shards, .. } = &mut *self.engine;
        shards.each(intake, &mut self.draft, is_large, job)
    }

    /// Does commands of one kind that [`together`] takes: those of each shard as one.
    fn at_once(
        &mut self,
        commands: &[Command],
        origin: Option<&Arc<Origin>>,
    ) -> Result<Vec<Result<Reply, Refused>>, Unreadable> {
        self.draft.noted = origin.map_or(ChangeNotes::Off, |origin| ChangeNotes::begin(origin));
        let engine = &*self.engine;
        let of = |command: &Command| {
            let recipient = command.recipient().map_or("", Id::as_str);
            engine.shards.index_of(BucketNo::of(recipient, engine.intake.buckets))
        };
        let shards: Vec<usize> = commands.iter().map(of).collect();
        let is_large = engine.shards.are_large(commands);
        let answers = self.each_shard(is_large, |intake, shard, draft| {
            let theirs: Vec<_> = commands.iter().filter(|command| shard.has(command)).collect();
            match commands {
                [Command::Join { .. } | Command::Leave { .. }, ..] => {
                    Memberships { shard, draft }.change(intake, &theirs)
                }
                _ => Subscriptions { shard, draft }.change(intake, &theirs),
            }
        })?;
        if let (ChangeNotes::Counted(count), Some(origin), [command, ..]) =
            (std::mem::take(&mut self.draft.noted), origin, commands)
        {
            self.log_counted(origin, command, count)?;
        }
        let mut answers: Vec<_> = answers.into_iter().map(Vec::into_iter).collect();
        // Each shard has answered its commands in their order, so the answers interleave as the commands did.
        let in_order = shards.iter().filter_map(|no| answers[*no].next());
        Ok(in_order.collect())
    }

    /// Closes the lanes that are due.
    fn close_due(&mut self) -> Result<(), Unreadable> {
        let are_several = self.engine.shards.are_several_due(self.engine.intake.clock);
        self.each_shard(are_several, |intake, shard, draft| shard.close_due(intake, draft))?;
        Ok(())
    }

    /// Ends an instant: delivers to the inboxes, and closes the lanes that are due now.
    fn end_instant(&mut self, commands: &[Command]) -> Result<Vec<InboxDelivery>, Unreadable> {
        let Engine { intake, shards, .. } = &mut *self.engine;
        let is_large = shards.are_large(commands) || shards.are_several_due(intake.clock);
        let delivered =
            self.each_shard(is_large, |intake, shard, draft| shard.end_instant(intake, draft))?;
        Ok(delivered.into_iter().flatten().collect())
    }

    /// Moves all clocks forward to an instant; none goes back.
    fn advance_clocks(&mut self, now: Instant) {
        self.set_clocks(now.max(self.engine.intake.clock));
    }

    pub(super) fn set_clocks(&mut self, clock: Instant) {
        let engine = &mut *self.engine;
        // The clock may go back, the instant of records never does.
        let now = clock.max(engine.intake.now);
        (engine.intake.now, engine.intake.clock) = (now, clock);
        for shard in engine.shards.iter_mut() {
            (shard.now, shard.clock) = (now, clock);
        }
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
