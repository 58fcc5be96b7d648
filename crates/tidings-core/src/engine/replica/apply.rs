//! The log on a follower: one engine has the intake, the others apply its log entries.
//!
//! Each engine has a copy of the intake's memory. On a follower, acts keep the copy up to date; rows of the intake are
//! read from the shared store, which has them before any follower learns of them. A shard applies the acts of each
//! number once, in order, and commits the number with their changes. So an event is accepted once, and a crash between
//! two shards neither loses nor repeats anything.

use std::sync::Arc;

use super::answer::{Answers, OpenReply};
use super::progress::KeptObjects;
use crate::engine::acts::act::Act;
use crate::engine::acts::applied::AppliedAct;
use crate::engine::acts::log_entry::{LogEntry, LogNo, log_key};
use crate::engine::intake::state::Intake;
use crate::engine::reach::Reach;
use crate::engine::replies::reply::Reply;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::event_row::EventRow;
use crate::engine::shard::state::read_heads;
use crate::engine::state::{Engine, Step};
use crate::engine::step::StepRun;
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::Partition;
use crate::model::number::EventNo;
use crate::model::time::Instant;
use crate::sets::shared::Shared;

impl Engine {
    /// Applies acts of the intake of another node, in order, in each shard that has not applied them yet.
    ///
    /// If the clock of that node is ahead, an event enters at the instant of this engine: no other node moves its
    /// clock.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn apply_log(
        &mut self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        logged: &[Arc<LogEntry>],
    ) -> Result<Step, Unreadable> {
        let draft = Draft::new(view).with(reach);
        self.in_step(draft, now, |run| {
            run.step.answers = run.apply_acts(logged)?;
            Ok(())
        })
    }

    /// Ends commands with the answers of all shards. The replies of the step are theirs, in order.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn conclude(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        open_replies: &[OpenReply],
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |run| {
            for OpenReply { logged, act, applied, shards, origin, .. } in open_replies {
                let StepRun { engine, draft, step, .. } = &mut *run;
                let all = usize::from(engine.of_shards);
                let Some(act) = logged.acts.get(*act) else {
                    step.replies.push(Ok(Reply::Done));
                    continue;
                };
                let (reply, warnings) = applied.clone().reply(act);
                engine.intake.tally.warnings += warnings;
                // Only now is it known whether anybody got the event: until then its id is taken.
                let reply = engine.intake.answer(draft, act, *shards == all, reply)?;
                step.replies.push(Ok(reply.clone()));
                if let (Some(origin), Act::Cancel(cancel), Reply::Cancelled(taken)) =
                    (origin, act, &reply)
                    && taken.remembered
                {
                    run.log_remembered(origin, cancel)?;
                }
            }
            Ok(())
        })
    }

    /// Keeps objects as long as a day, as shards on other nodes ask.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn keep_objects(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        kept: &[KeptObjects],
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |run| {
            for KeptObjects { day, objects } in kept {
                for object in objects {
                    run.engine.intake.objects.touch(&mut run.draft, object, *day)?;
                }
            }
            Ok(())
        })
    }

    /// Deletes the acts up to a number, which every shard has applied.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is poisoned then: drop it and open another.
    pub fn delete_log(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        until: LogNo,
    ) -> Result<Step, Unreadable> {
        self.in_step(Draft::new(view), now, |run| {
            let rows = run.engine.intake.log_rows.take_until(until);
            rows.for_each(|key| run.draft.delete(Partition::Base, key));
            Ok(())
        })
    }
}

impl StepRun<'_, '_> {
    /// Applies acts. Events that follow each other are applied in one shard after the other: what a shard does of one
    /// changes nothing of what is known of the next.
    pub(in crate::engine) fn apply_acts(
        &mut self,
        logged: &[Arc<LogEntry>],
    ) -> Result<Vec<Answers>, Unreadable> {
        let engine = &*self.engine;
        let known = engine.intake.acts;
        let apply = |no: LogNo| engine.shards.iter().filter(|shard| shard.applied < no).count();
        let of_logged = |logged: &Arc<LogEntry>| Answers {
            shards: apply(logged.no()),
            of_acts: Vec::with_capacity(logged.acts.len()),
        };
        let mut answers: Vec<Answers> = logged.iter().map(of_logged).collect();
        let acts: Vec<(usize, LogNo, &Act)> = (0..)
            .zip(logged)
            .flat_map(|(at, logged)| logged.acts.iter().map(move |act| (at, logged.no(), act)))
            .collect();
        for alike in acts.chunk_by(|one, next| one.2.is_publish() && next.2.is_publish()) {
            // The copy of the intake and each shard may have been read at different numbers: each applies what
            // it lacks.
            for (_, _, act) in alike.iter().filter(|(_, no, _)| *no > known) {
                self.engine.intake.observe(self.draft.view, act)?;
            }
            let is_large = self.engine.shards.are_many_acts(alike.iter().map(|(_, _, act)| *act));
            let applied = self.each_shard(is_large, |intake, shard, draft| {
                let each = alike.iter().map(|(_, no, act)| {
                    if shard.applied < *no {
                        shard.apply(intake, draft, act)
                    } else {
                        Ok(AppliedAct::Done)
                    }
                });
                each.collect::<Result<Vec<_>, _>>()
            })?;
            let mut applied: Vec<_> = applied.into_iter().map(Vec::into_iter).collect();
            for (at, _, _) in alike {
                let of_shards = applied.iter_mut().filter_map(Iterator::next);
                answers[*at].of_acts.push(AppliedAct::sum(of_shards));
            }
        }
        let newest = logged.last().map_or(known, |logged| logged.no());
        self.engine.intake.acts = known.max(newest);
        for shard in self.engine.shards.iter_mut() {
            shard.applied = shard.applied.max(newest);
        }
        Ok(answers)
    }

    /// Writes the acts of a step to the log, and notes that the shards here have applied them. A lagging shard re-reads these
    /// entries; for shards they are no-ops, only updates of objects take effect.
    pub(in crate::engine) fn write_log(&mut self) {
        let Self { engine, draft, step, lines } = self;
        let acts = draft.take_log();
        if acts.is_empty() {
            return;
        }
        engine.intake.acts.0 += 1;
        let logged = Arc::new(LogEntry::new(engine.intake.acts, acts));
        draft.put_chunked(Partition::Base, log_key(logged.no()), logged.stored().bytes());
        engine.intake.log_rows.add(&logged);
        for shard in engine.shards.iter_mut() {
            if shard.applied.0 + 1 == logged.no().0 {
                shard.applied = logged.no();
            }
        }
        let shards = engine.shards.len();
        let open = draft.take_open().into_iter();
        let open = open.map(|of| OpenReply {
            command: of.command,
            logged: Arc::clone(&logged),
            act: of.act,
            applied: of.applied,
            shards,
            origin: lines.origin_of(of.command),
        });
        step.open_replies.extend(open);
        step.logged = Some(logged);
    }
}

/// The numbers of the newest acts that the shards of a store have applied, in its order.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub fn applied_by_shards(view: &dyn ReadView) -> Result<Vec<LogNo>, Unreadable> {
    let heads = read_heads(view, None)?;
    Ok(heads.iter().map(|head| head.applied).collect())
}

impl Act {
    fn is_publish(&self) -> bool {
        matches!(self, Self::Publish { .. })
    }

    /// The scheduled events, each with an instant, that do not wait any more.
    pub(crate) fn takes_scheduled(&self) -> Vec<(Instant, EventNo)> {
        match self {
            Self::Enter { row, t, .. } => vec![(*t, row.place)],
            Self::Unschedule { place, waits_for } => {
                waits_for.iter().map(|t| (*t, *place)).collect()
            }
            Self::Cancel(cancel) => cancel
                .events
                .iter()
                .flat_map(|(place, event)| event.waits_for.iter().map(move |t| (*t, *place)))
                .collect(),
            Self::Tenant { void, .. } => void
                .iter()
                .flat_map(|(place, event)| event.waits_for.iter().map(move |t| (*t, *place)))
                .collect(),
            _ => Vec::new(),
        }
    }
}

impl Intake {
    /// Takes over the log entries of another node's intake.
    fn observe(&mut self, view: &dyn ReadView, act: &Act) -> Result<(), Unreadable> {
        let draft = &mut Draft::discarding(view);
        match act {
            Act::Publish { row, at, .. } => {
                let now = row.arrived;
                let mut later = row.enters();
                if at.is_some() {
                    later.remove(&row.came_at());
                }
                self.next_place.0 = row.place.0 + 1;
                if let Some(at) = at {
                    self.observe_row(draft, *at, row);
                }
                for t in later {
                    self.scheduled.insert((t, row.place), ());
                }
                self.known_ids.note(draft, now.day(), &row.event.id);
                self.id_days.insert(now.day());
            }
            Act::Enter { row, at, t } => {
                self.scheduled.remove(&(*t, row.place));
                self.observe_row(draft, *at, row);
                self.id_days.insert(at.day);
                self.entered_days.insert(at.day);
            }
            Act::Keep { row, at } => {
                // It may be an older event that leaves the schedule: the place must not go back.
                self.next_place = self.next_place.max(EventNo(row.place.0 + 1));
                self.observe_row(draft, *at, row);
                self.id_days.insert(at.day);
                if !(row.enters().is_empty()) {
                    self.entered_days.insert(at.day);
                }
                self.known_ids.note(draft, at.day, &row.event.id);
            }
            Act::Unschedule { place, waits_for } => {
                for t in waits_for {
                    self.scheduled.remove(&(*t, *place));
                }
            }
            Act::Cancel(cancel) => {
                for (place, event) in &cancel.events {
                    for t in &event.waits_for {
                        self.scheduled.remove(&(*t, *place));
                    }
                }
            }
            Act::Pause(what) => {
                let _ = self.accept_pause(what, true);
            }
            Act::Resume(what) => {
                let _ = self.accept_pause(what, false);
            }
            Act::Rules { version, rules } => {
                let known = self.compiled.current();
                if known.is_none_or(|known| known.number < *version) {
                    self.accept_rules(draft, (**rules).clone());
                } else {
                    // They were in the store already when this engine was opened.
                    self.paused.keep_types(rules);
                }
            }
            Act::Forget { before } => self.forget_before(*before),
            Act::Expire { .. } => {}
            Act::Object { id, withdrawn, withdrawals } => {
                self.objects.observe(id, *withdrawn, *withdrawals);
            }
            Act::Tenant { number, known, void } => {
                self.tenants.note(*number, (**known).clone());
                for (place, event) in void {
                    for t in &event.waits_for {
                        self.scheduled.remove(&(*t, *place));
                    }
                }
            }
            Act::Suppression { address, listed, at } => {
                self.suppressions.put(draft, address, *listed, *at);
            }
            Act::Job { no, job } => {
                // One that was in the store already may have been stopped since.
                if !self.jobs.contains_key(no) {
                    self.jobs.insert(*no, Shared::new(job.job.clone()));
                }
            }
            Act::StopJob { no, at } => {
                if let Some(job) = self.jobs.get_mut(no) {
                    job.stopped = Some(*at);
                }
            }
        }
        Ok(())
    }

    /// Takes over the row of an event, if it is new.
    fn observe_row(&mut self, draft: &mut Draft<'_>, address: EventAt, row: &EventRow) {
        let next = self.days.get(&address.day).copied().unwrap_or(0);
        // The head may have been read after the row was written: then the row is counted already.
        if address.ordinal == next {
            self.keep_event(draft, address.day, row);
        }
    }
}
