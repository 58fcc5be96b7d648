//! Dry runs: a command is decided on what is decided by now, and the decision is thrown away.

use tidings_core::engine::{DryAnswers, DryRun, Engine, Reach, Refused, StoredEntry, UpcomingStep};
use tidings_core::{Command, Instant};

use super::Node;
use crate::commit::pipeline::CommitPipeline;
use crate::commit::view::StoreView;
use crate::commit::work::StepWork;
use crate::delivery::sending::SenderInterface;
use crate::error::{Error, RuntimeError};

/// A callback with the outcome of a dry run, on the loop's thread.
type DryRunCallback<T> = Box<dyn FnOnce(Result<T, RuntimeError>) + Send>;

/// A request for a dry run.
pub(crate) enum DryRequest {
    /// Of a command.
    Command(Box<Command>, DryRunCallback<DryRun>),
    /// Of the acts of another node's dry run, in the shards here.
    Acts(StoredEntry, DryRunCallback<DryAnswers>),
}

impl DryRequest {
    /// Answers it with an error.
    pub(crate) fn fail(self, fault: RuntimeError) {
        match self {
            Self::Command(_, then) => then(Err(fault)),
            Self::Acts(_, then) => then(Err(fault)),
        }
    }

    /// Returns true if it can only be answered as of the end of the log.
    pub(crate) fn needs_log(&self) -> bool {
        match self {
            Self::Command(command, _) => command.names_tenant(),
            Self::Acts(..) => true,
        }
    }

    /// Returns true if it is for this node to decide.
    pub(crate) fn is_at_home(&self, engine: &Engine) -> bool {
        match self {
            Self::Command(command, _) => engine.replica().is_home_of(command),
            Self::Acts(..) => true,
        }
    }

    /// Answers it as soon as what it rests on is durable.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read; the request is answered with it.
    pub(crate) fn answer(
        self,
        node: &mut Node,
        sending: &dyn SenderInterface,
        now: Instant,
    ) -> Result<(), Error> {
        let trial = Trial { node, sending, now };
        match self {
            Self::Command(command, then) => answer(trial.run(&command), then, &mut node.ahead),
            Self::Acts(entry, then) => answer(trial.apply(entry), then, &mut node.ahead),
        }
    }
}

/// Decisions of a node that are thrown away.
struct Trial<'a> {
    node: &'a Node,
    sending: &'a dyn SenderInterface,
    now: Instant,
}

impl Trial<'_> {
    /// Decides a command.
    fn run(&self, command: &Command) -> Result<DryRun, Error> {
        let upcoming = UpcomingStep::Commands(std::slice::from_ref(command));
        self.decide(upcoming, |engine, view, reach| {
            Ok(engine.dry_run(view, reach, self.now, command)?)
        })
    }

    /// Decides the acts of another node's dry run in the shards here.
    fn apply(&self, entry: StoredEntry) -> Result<DryAnswers, Error> {
        let upcoming = [std::sync::Arc::new(entry.clone().read()?)];
        self.decide(UpcomingStep::LogEntry(&upcoming), |engine, view, reach| {
            Ok(engine.dry_apply(view, reach, self.now, entry)?)
        })
    }

    /// Decides with the messages that the decision could still change.
    fn decide<T>(
        &self,
        upcoming: UpcomingStep<'_>,
        decide: impl FnOnce(&Engine, &StoreView, &Reach) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Node { engine, .. } = self.node;
        let view = self.node.view()?;
        let reach = self.sending.within_reach(engine.may_touch(&view, upcoming)?);
        decide(engine, &view, &reach)
    }
}

/// Answers a request for a dry run once what was decided ahead is durable.
fn answer<T: Send + 'static>(
    run: Result<T, Error>,
    then: DryRunCallback<T>,
    ahead: &mut CommitPipeline,
) -> Result<(), Error> {
    match run {
        Ok(run) => {
            ahead.answer(Box::new(|done| then(done.map(|()| run))));
            Ok(())
        }
        Err(fault) => {
            then(Err(RuntimeError::of_commit(&fault)));
            Err(fault)
        }
    }
}

impl Node {
    /// Refuses a request that expects fewer people than it would touch. `work` has it alone, and is empty if it was
    /// refused.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read.
    pub(crate) fn refuse_grown(
        &mut self,
        sending: &dyn SenderInterface,
        now: Instant,
        work: &mut Vec<StepWork>,
    ) -> Result<(), Error> {
        let (Some(expect), [command]) = (work[0].expect, &work[0].commands[..]) else {
            return Ok(());
        };
        let concerns = Trial { node: self, sending, now }.run(command)?.concerns;
        if concerns.people <= expect {
            return Ok(());
        }
        for mut refused in work.drain(..) {
            refused.replies = vec![Err(Refused::Grew(concerns))];
            // Makes the answer; one that is an error is not stored.
            let _ = refused.keep();
            self.ahead.answer(refused.when_durable());
        }
        Ok(())
    }

    /// Decides a command without doing it.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read.
    pub fn dry_run(&self, now: Instant, command: &Command) -> Result<DryRun, Error> {
        Trial { node: self, sending: &(), now }.run(command)
    }
}
