//! The player of `tidings simulate`: the engine on a virtual clock.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_api::body::hint;
use tidings_core::content::{Message, Totals};
use tidings_core::engine::{
    ExplainError, ExplainSubject, FiguresQuery, FiguresReport, LedgerRow, Options, Refused, Reply,
    Warning,
};
use tidings_core::model::{Explanation, Timed};
use tidings_core::{Command, Day, Id, Instant, Rules};
use tidings_node::{Observer, Player, PlayerOutput};
use tidings_store::MemoryStore;

use crate::simulate::{CommandPlayer, PlayError, PlaySink};

/// The player of `tidings simulate`: the engine on a virtual clock, over a store in memory.
///
/// # Errors
/// [`PlayError::Broken`] where it cannot be set up.
pub fn player(rules: Rules) -> Result<Box<dyn CommandPlayer>, PlayError> {
    stoppable_player(rules, Arc::default())
}

/// [`player`], which stops at the next instant once `stop` is set: what it plays then is [`PlayError::Broken`].
///
/// # Errors
/// As of [`player`].
pub fn stoppable_player(
    rules: Rules,
    stop: Arc<AtomicBool>,
) -> Result<Box<dyn CommandPlayer>, PlayError> {
    let store = Arc::new(MemoryStore::default());
    let options = Options { buckets: 1, ..Options::default() };
    let mut player = Player::open(store, options, PlayerOutput::Messages).map_err(broken)?;
    player.stop_by(stop);
    let answers = Arc::<Mutex<PendingLines>>::default();
    player.observe_by(Box::new(AnswerGatherer(Arc::clone(&answers))));
    Ok(Box::new(Simulation { player, answers, rules: Some(rules) }))
}

/// The most days whose figures are kept.
const DAYS_MAX: i32 = 3_650;

struct Simulation {
    player: Player,
    /// The answers to the lines that were taken in.
    answers: Arc<Mutex<PendingLines>>,
    /// Set at the first command's instant.
    rules: Option<Rules>,
}

impl CommandPlayer for Simulation {
    fn play(&mut self, line: u64, timed: Timed, sink: &mut dyn PlaySink) -> Result<(), PlayError> {
        if let Some(rules) = self.rules.take() {
            let each = &mut |message: Message| sink.message(&message);
            self.player.set_rules(timed.at, rules, each).map_err(broken)?;
        }
        lock(&self.answers).lines.push_back(line);
        let played = self.player.play(timed, &mut |message| sink.message(&message));
        self.answered(played, sink)
    }

    fn take_in(&mut self) -> Result<(), PlayError> {
        let taken = self.player.take_in();
        taken.map_err(|fault| refused(fault, lock(&self.answers).refused))
    }

    fn finish(
        &mut self,
        until: Option<Instant>,
        sink: &mut dyn PlaySink,
    ) -> Result<Totals, PlayError> {
        let finished = self.player.finish(until, &mut |message| sink.message(&message));
        self.answered(finished, sink)?;
        self.player.books().map_err(broken)
    }

    fn ledger(&self) -> BTreeMap<&'static str, LedgerRow> {
        self.player.node().engine().ledger_by_channel()
    }

    fn figures(&self) -> Result<FiguresReport, PlayError> {
        let node = self.player.node();
        let today = node.engine().newest_step().day();
        // As many days as figures may be kept.
        let query = FiguresQuery::of_days(Day(today.0 - DAYS_MAX)..Day(today.0 + 1));
        let view = node.view().map_err(broken)?;
        node.engine().reader(&view).figures(&query, today).map_err(broken)
    }

    fn explain(
        &mut self,
        subject: ExplainSubject,
        recipient: &Id,
        until: Option<Instant>,
    ) -> Result<Explanation, PlayError> {
        let now = until.unwrap_or(Instant::MIN);
        self.player.explain(subject, recipient, now).map_err(|why| match why {
            ExplainError::Unreadable(fault) => broken(fault),
            unknown => PlayError::Refused {
                line: 0,
                reason: unknown.to_string(),
                hint: "name an event and a recipient of the timeline".to_owned(),
            },
        })
    }
}

impl Simulation {
    /// Passes the warnings on that came meanwhile.
    fn answered(
        &self,
        played: Result<(), tidings_node::PlayError>,
        sink: &mut dyn PlaySink,
    ) -> Result<(), PlayError> {
        let mut answers = lock(&self.answers);
        for (line, event, warning) in answers.warnings.drain(..) {
            sink.warning(line, &event, &warning);
        }
        played.map_err(|fault| refused(fault, answers.refused))
    }
}

/// The lines that wait to be taken in, and the warnings about those that were.
#[derive(Default)]
struct PendingLines {
    lines: VecDeque<u64>,
    warnings: Vec<(u64, Id, Warning)>,
    /// The line that was refused; nothing is warned of the others of its instant.
    refused: u64,
}

/// Gathers what a player answers.
struct AnswerGatherer(Arc<Mutex<PendingLines>>);

impl Observer for AnswerGatherer {
    fn before(&mut self, _: Instant, _: &[Command]) {}

    fn after(&mut self, _: Instant, replies: &[Result<Reply, Refused>]) {
        let mut answers = lock(&self.0);
        if let Some(refused) = replies.iter().position(Result::is_err) {
            answers.refused = answers.lines.get(refused).copied().unwrap_or_default();
            return;
        }
        for reply in replies {
            let line = answers.lines.pop_front().unwrap_or_default();
            if let Ok(Reply::Published(published)) = reply {
                let warnings =
                    published.warnings.iter().map(|one| (line, published.id.clone(), one.clone()));
                answers.warnings.extend(warnings);
            }
        }
    }
}

fn lock(answers: &Mutex<PendingLines>) -> MutexGuard<'_, PendingLines> {
    answers.lock().unwrap_or_else(PoisonError::into_inner)
}

fn broken(fault: impl std::fmt::Display) -> PlayError {
    PlayError::Broken(fault.to_string())
}

fn refused(fault: tidings_node::PlayError, line: u64) -> PlayError {
    let tidings_node::PlayError::Refused(refused) = fault else {
        return broken(fault);
    };
    PlayError::Refused { line, reason: refused.to_string(), hint: advice(&refused) }
}

/// The hint for a refused line.
fn advice(refused: &Refused) -> String {
    hint(refused).unwrap_or_else(|| mend(refused).to_owned())
}

/// The hint for a fault of a timeline.
fn mend(refused: &Refused) -> &'static str {
    match refused {
        Refused::UnknownRecipient(_) => {
            "add a `recipient` line before the first line that names the recipient"
        }
        Refused::UnknownMessage(_) | Refused::MessageState { .. } | Refused::MessageGone(_) => {
            "messages are changed over the API of a server"
        }
        Refused::UnknownTenant { .. } => {
            "add a `tenant` line before the first line that names the tenant"
        }
        Refused::TenantGone(_) => "enable it, or make it anew, on a line before this one",
        _ => "see the channels and digests of the configuration",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t42_a_faulty_line_that_names_a_tenant_has_a_hint_of_it() {
        let hint = |refused: Refused| advice(&refused);
        let acme = || tidings_core::Id::new("acme").unwrap();
        let unknown = |near| hint(Refused::UnknownTenant { tenant: acme(), near });
        assert!(hint(Refused::TenantsOff).contains("under `[tenants]`"));
        assert!(unknown(Vec::new()).contains("`tenant` line"));
        assert!(unknown(vec!["acne".to_owned()]).contains("`acne`"));
        assert!(hint(Refused::TenantGone(acme())).contains("enable it"));
    }
}
