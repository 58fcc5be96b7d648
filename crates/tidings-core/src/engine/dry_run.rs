//! Dry runs: the step that would do a command decides on a copy of the engine, and the decision is thrown away.

use std::slice;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::acts::act::Act;
use super::acts::log_entry::StoredEntry;
use super::commands::Commands;
use super::reach::Reach;
use super::replica::answer::{Answers, OpenReply};
use super::replies::concerns::CommandConcerns;
use super::replies::refused::Refused;
use super::replies::reply::Reply;
use super::rows::draft::Draft;
use super::shards::Shards;
use super::state::Engine;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::command::Command;
use crate::model::time::Instant;

/// The outcome of a dry run.
#[derive(Debug)]
pub struct DryRun {
    /// The answer that the command would get.
    pub reply: Result<Reply, Refused>,
    /// The recipients, entries and messages that it would touch.
    pub concerns: CommandConcerns,
    /// The part that shards on other nodes have to add to both, if there are any.
    open: Option<OpenDryRun>,
}

/// A dry run that shards on other nodes have a part in.
#[derive(Debug)]
struct OpenDryRun {
    reply: OpenReply,
    /// True if the event that would be cancelled is known to the intake.
    is_known: bool,
}

/// The part of another node's shards in a dry run.
#[derive(Debug, Serialize, Deserialize)]
pub struct DryAnswers {
    answers: Answers,
    concerns: CommandConcerns,
}

impl Engine {
    /// Decides a command as it would be decided now, and throws the decision away. `reach` is as in
    /// [`Engine::take_in`].
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn dry_run(
        &self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        command: &Command,
    ) -> Result<DryRun, Unreadable> {
        let (mut concerns, mut is_known) = (CommandConcerns::default(), false);
        let step = self.copy().in_step(Draft::new(view).with(reach), now, |run| {
            // What is due at this instant comes before the command, and is none of its effects.
            run.enter(Commands::default())?;
            run.draft.take_log();
            run.draft.concerned.begin();
            run.enter(slice::from_ref(command).into())?;
            concerns = run.draft.concerned.count();
            if let Some(Act::Cancel(cancel)) = run.draft.open_act() {
                is_known = run.engine.intake.knows_cancelled(&run.draft, cancel)?;
            }
            Ok(())
        })?;
        let open = step.open_replies.into_iter().next();
        let reply = match &open {
            Some(open) => Ok(open.reply(is_known)),
            None => step.replies.into_iter().next().unwrap_or(Ok(Reply::Done)),
        };
        Ok(DryRun { reply, concerns, open: open.map(|reply| OpenDryRun { reply, is_known }) })
    }

    /// Decides the acts of another node's dry run in the shards here, and throws the decision away.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read, or the acts make no sense.
    pub fn dry_apply(
        &self,
        view: &dyn ReadView,
        reach: &Reach,
        now: Instant,
        entry: StoredEntry,
    ) -> Result<DryAnswers, Unreadable> {
        let entry = Arc::new(entry.read()?);
        let mut concerns = CommandConcerns::default();
        let step = self.copy().in_step(Draft::new(view).with(reach), now, |run| {
            run.draft.concerned.begin();
            run.step.answers = run.apply_acts(slice::from_ref(&entry))?;
            concerns = run.draft.concerned.count();
            Ok(())
        })?;
        let answers = step.answers.into_iter().next().unwrap_or_default();
        Ok(DryAnswers { answers, concerns })
    }

    /// A copy that shares its data with this engine until either changes it.
    pub(super) fn copy(&self) -> Self {
        Self {
            intake: self.intake.copy(),
            holds_intake: self.holds_intake,
            of_shards: self.of_shards,
            oldest_elsewhere: self.oldest_elsewhere,
            shards: Shards::new(self.shards.to_vec()),
        }
    }
}

impl DryRun {
    /// The acts that other shards have to try; `None` = the outcome is whole.
    #[must_use]
    pub fn acts(&self) -> Option<&StoredEntry> {
        self.open.as_ref().map(|open| open.reply.entry())
    }

    /// Adds the part of another node.
    pub fn add(&mut self, part: &DryAnswers) {
        self.concerns.add(part.concerns);
        if let Some(OpenDryRun { reply, is_known }) = &mut self.open {
            reply.add(&part.answers);
            self.reply = Ok(reply.reply(*is_known));
        }
    }
}
