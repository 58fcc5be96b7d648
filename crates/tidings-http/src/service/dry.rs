//! Changes of one command that may be tried without being made.

use tidings_core::Command;
use tidings_core::engine::{DryRun, Reply};
use tokio::sync::oneshot;

use crate::change::before::{Before, Foreseen};
use crate::cluster::dry;
use crate::error::Problem;
use crate::{Answer, Change, Service, only};

impl Service {
    /// Makes a change of one command, or says what it would do, as its request asks. `answer` builds the response, as by
    /// [`Self::change`].
    ///
    /// # Errors
    /// As [`Self::change`]; [`grew`](crate::Code::Grew) where the change would touch more people than its request expects.
    pub(crate) async fn change_or_dry(
        &self,
        change: &Change,
        command: Command,
        answer: impl FnOnce(Reply, Foreseen) -> Result<Answer, Problem> + Send + 'static,
    ) -> Result<Answer, Problem> {
        let Before { dry, expect } = change.before;
        // The loop counts only shards of its node: those of others have to be asked first.
        let is_of_nodes = self.shards.cluster_view().is_some();
        if dry || (is_of_nodes && expect.is_some()) {
            let run = self.dry_run(command.clone()).await?;
            if expect.is_some_and(|most| run.concerns.people > most) {
                return Err(Problem::grew(run.concerns));
            }
            if dry {
                return answer(run.reply?, Foreseen::of(run.concerns));
            }
        }
        let done = |replies| answer(only(replies)?, Foreseen::default());
        self.change(change, vec![command], done).await
    }

    /// Decides a command without doing it, in the shards of all nodes.
    async fn dry_run(&self, command: Command) -> Result<DryRun, Problem> {
        let (send, outcome) = oneshot::channel();
        self.handle_for(true).dry_run_then(command, move |run| {
            let _ = send.send(run.map_err(Problem::from));
        })?;
        let mut run = self.answered(outcome).await?;
        if let Some((owners, cluster)) = self.shards.cluster_view() {
            dry::complete(&mut run, owners, cluster).await?;
        }
        Ok(run)
    }
}
