//! Requested work: commands of one step, and the callers that wait for them.

use std::sync::Arc;

use tidings_core::Command;
use tidings_core::engine::{Refused, Reply};
use tidings_core::model::Origin;

use crate::commit::WhenDurable;
use crate::commit::idempotency::{IdempotencyHit, Once};
use crate::error::RuntimeError;
use crate::handle::shares::CallerId;

/// An answer per command, in order, or the error.
pub type Replies = Result<Vec<Result<Reply, Refused>>, RuntimeError>;

/// A callback with the result of commands, on the loop's thread.
pub(crate) type AnswerCallback = Box<dyn FnOnce(Replies) + Send>;

/// The requester of a request with a key. Both methods are called on the loop's thread.
pub trait AnswerRecorder: Send {
    /// The answer to store; `None` stores nothing, and the key stays free. Called before the work is
    /// durable: nothing of it may be shown yet.
    fn keep(&mut self, replies: Vec<Result<Reply, Refused>>) -> Option<Vec<u8>>;

    /// Receives the result; must only pass it on.
    fn send(self: Box<Self>, hit: Result<IdempotencyHit, RuntimeError>);
}

/// Commands of one step, with their requester.
pub(crate) struct StepWork {
    pub(crate) commands: Vec<Command>,
    /// Number of commands, also after they were taken to be done.
    pub(crate) count: usize,
    pub(crate) replies: Vec<Result<Reply, Refused>>,
    pub(crate) asker: CommandRequester,
    /// The origin of the commands; `None` = their changes are not logged.
    pub(crate) origin: Option<Arc<Origin>>,
    /// The caller whose share of the loop's time it takes.
    pub(crate) caller: CallerId,
    /// The most people that it may touch; it is refused if they are more.
    pub(crate) expect: Option<u64>,
    /// True if its answer waits for shards on other nodes.
    pub(crate) waits: bool,
    /// The identity of each command that may come again; empty if none may.
    pub(crate) onces: Vec<Option<Once>>,
    /// The indexes of the commands that came before, ascending: they are no longer among the others.
    pub(crate) done_before: Vec<usize>,
}

/// The requester of commands.
pub(crate) enum CommandRequester {
    Each(AnswerCallback),
    Once(Once, Box<dyn AnswerRecorder>),
}

impl StepWork {
    pub(crate) fn new(commands: Vec<Command>, asker: CommandRequester) -> Self {
        Self {
            count: commands.len(),
            commands,
            replies: Vec::new(),
            asker,
            origin: None,
            caller: CallerId::Host,
            expect: None,
            waits: true,
            onces: Vec::new(),
            done_before: Vec::new(),
        }
    }

    /// The identity of a request that may be sent twice.
    pub(crate) fn once(&self) -> Option<Once> {
        match &self.asker {
            CommandRequester::Each(_) => None,
            CommandRequester::Once(once, _) => Some(*once),
        }
    }

    /// Takes the commands out that came before, each known by its identity.
    ///
    /// # Errors
    /// Those of `is_known`.
    pub(crate) fn drop_known<E>(
        &mut self,
        mut is_known: impl FnMut(Once) -> Result<bool, E>,
    ) -> Result<(), E> {
        if self.onces.is_empty() {
            return Ok(());
        }
        let each = std::mem::take(&mut self.commands).into_iter();
        let onces = std::mem::take(&mut self.onces);
        for (index, (command, once)) in each.zip(onces).enumerate() {
            match once {
                Some(once) if is_known(once)? => self.done_before.push(index),
                once => {
                    self.commands.push(command);
                    self.onces.push(once);
                }
            }
        }
        self.count = self.commands.len();
        Ok(())
    }

    /// The answer to store.
    pub(crate) fn keep(&mut self) -> Option<(Once, Vec<u8>)> {
        match &mut self.asker {
            CommandRequester::Each(_) => None,
            CommandRequester::Once(once, keeper) => {
                let replies = std::mem::take(&mut self.replies);
                Some((*once, keeper.keep(replies)?))
            }
        }
    }

    /// The identities to store of commands that were done.
    pub(crate) fn keep_each(&self) -> impl Iterator<Item = (Once, Vec<u8>)> {
        let each = self.onces.iter().zip(&self.replies);
        each.filter_map(|(once, reply)| Some(((*once)?, Vec::new())).filter(|_| reply.is_ok()))
    }

    /// The answer, to be given when it is durable.
    pub(crate) fn when_durable(self) -> WhenDurable {
        let Self { mut replies, asker, done_before, .. } = self;
        // In their order, so that each index is that of the whole list.
        for index in done_before {
            replies.insert(index.min(replies.len()), Ok(Reply::Done));
        }
        match asker {
            CommandRequester::Each(answer) => Box::new(|done| answer(done.map(|()| replies))),
            CommandRequester::Once(_, keeper) => {
                Box::new(|done| keeper.send(done.map(|()| IdempotencyHit::Fresh)))
            }
        }
    }

    /// Answers that it failed.
    pub(crate) fn fail(self, fault: RuntimeError) {
        match self.asker {
            CommandRequester::Each(answer) => answer(Err(fault)),
            CommandRequester::Once(_, keeper) => keeper.send(Err(fault)),
        }
    }
}
