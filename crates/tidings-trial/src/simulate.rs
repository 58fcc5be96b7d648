//! Simulation: plays a timeline line by line on an engine or a model.
//!
//! The engine stands behind [`CommandPlayer`]; what it prints stands behind [`PlaySink`]. So the same loop serves
//! the command line, tests and any other subject that is to be compared with the engine.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use tidings_core::content::{Message, Totals};
use tidings_core::engine::{ExplainSubject, FiguresReport, LedgerRow, Warning};
use tidings_core::model::{Explanation, Timed};
use tidings_core::{Id, Instant, Rules};

use tidings_api::timeline::{Fault, Lines, NextLine, lines, read_line};

/// A player of commands: the engine, or a model of it.
pub trait CommandPlayer {
    /// Takes the command of a line; time never goes back. Messages of finished instants go to `sink`,
    /// already in order, and so do warnings, with the line of the command that they are about.
    ///
    /// # Errors
    /// [`PlayError::Refused`] where the command of this line or of one before cannot be taken,
    /// [`PlayError::Broken`] where nothing can be taken any more.
    fn play(&mut self, line: u64, timed: Timed, sink: &mut dyn PlaySink) -> Result<(), PlayError>;

    /// Decides about the lines so far, without a message: no more come.
    ///
    /// # Errors
    /// [`PlayError`] as of [`CommandPlayer::play`].
    fn take_in(&mut self) -> Result<(), PlayError>;

    /// Runs the clock on until nothing waits that could still become due, or to `until` (all steps of
    /// that instant included), and counts.
    ///
    /// # Errors
    /// [`PlayError`] as of [`CommandPlayer::play`].
    fn finish(
        &mut self,
        until: Option<Instant>,
        sink: &mut dyn PlaySink,
    ) -> Result<Totals, PlayError>;

    /// The ledger by channel: entries by outcome and reason.
    fn ledger(&self) -> BTreeMap<&'static str, LedgerRow>;

    /// The figures by day, type and channel.
    ///
    /// # Errors
    /// [`PlayError::Broken`] where they can't be read.
    fn figures(&self) -> Result<FiguresReport, PlayError> {
        Err(PlayError::Broken("this player counts no figures".to_owned()))
    }

    /// Explains the fate of an event for a recipient, also of a hypothetical event, as of the end of the run, or of
    /// `until` if that is later.
    ///
    /// # Errors
    /// [`PlayError::Refused`] where the event or the recipient is unknown, [`PlayError::Broken`] where that cannot be
    /// done.
    fn explain(
        &mut self,
        _: ExplainSubject,
        _: &Id,
        _: Option<Instant>,
    ) -> Result<Explanation, PlayError> {
        Err(PlayError::Broken("this player explains nothing".to_owned()))
    }
}

/// The reason why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// The command is at fault, such as one that names an unknown recipient.
    #[error("{reason}")]
    Refused {
        /// The line of the command; 0 where it is of none.
        line: u64,
        /// The fault in words.
        reason: String,
        /// Advice on how to fix it.
        hint: String,
    },
    /// The player is at fault.
    #[error("{0}")]
    Broken(String),
}

/// A receiver of messages and warnings.
pub trait PlaySink {
    /// Takes the next message.
    fn message(&mut self, message: &Message);

    /// Takes a warning about the event of a line.
    fn warning(&mut self, line: u64, event: &Id, warning: &Warning);

    /// Returns true if it accepts no more: the reader is gone.
    fn closed(&self) -> bool;
}

/// The order of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOrder {
    /// As they stand; time going back is a fault. Nothing is kept of a line that was played.
    AsGiven,
    /// By `at`, equal ones as they stand. The whole timeline is kept in memory.
    ByInstant,
}

/// The reason why a run ended without books.
#[derive(Debug, thiserror::Error)]
pub enum SimulationHalt {
    /// A line is at fault.
    #[error(transparent)]
    Faulty(#[from] Fault),
    /// The timeline cannot be read on.
    #[error("cannot read the timeline: {0}")]
    Unreadable(#[from] io::Error),
    /// The player is at fault.
    #[error("the run was interrupted: {0}")]
    Broken(String),
    /// Nobody reads what comes out.
    #[error("the output was closed")]
    Closed,
}

impl From<PlayError> for SimulationHalt {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::Refused { line, reason, hint } => {
                Fault::new(reason, hint).on_line(line).into()
            }
            PlayError::Broken(reason) => Self::Broken(reason),
        }
    }
}

/// A run over one timeline.
#[derive(Debug)]
pub struct Run<'r, R> {
    /// The rules by which lines are judged.
    pub rules: &'r Rules,
    /// One JSON object a line.
    pub timeline: R,
    /// The order of lines.
    pub order: LineOrder,
    /// Lines after this instant are not played (and, in the order given, not looked at).
    pub until: Option<Instant>,
}

impl<R: BufRead> Run<'_, R> {
    /// Plays the timeline to its end and returns the books.
    ///
    /// # Errors
    /// [`SimulationHalt`] is the reason for an early end; messages before it stay sent.
    pub fn play(
        self,
        player: &mut dyn CommandPlayer,
        sink: &mut dyn PlaySink,
    ) -> Result<Totals, SimulationHalt> {
        let until = self.until;
        match self.order {
            LineOrder::AsGiven => self.play_as_given(player, sink)?,
            LineOrder::ByInstant => self.play_sorted(player, sink)?,
        }
        let books = player.finish(until, sink);
        match books {
            _ if sink.closed() => Err(SimulationHalt::Closed),
            books => Ok(books?),
        }
    }

    fn play_as_given(
        self,
        player: &mut dyn CommandPlayer,
        sink: &mut dyn PlaySink,
    ) -> Result<(), SimulationHalt> {
        let mut lines = Lines::new(self.timeline);
        let mut last = None;
        loop {
            let read = next(&mut lines, self.rules).and_then(|line| forward(line, &mut last));
            let Some((number, timed)) = read.or_else(|halt| {
                // The first faulty line may be one before, about which nothing is decided yet.
                player.take_in()?;
                Err(halt)
            })?
            else {
                return Ok(());
            };
            if self.until.is_some_and(|until| timed.at > until) {
                return Ok(());
            }
            play_one(number, timed, player, sink)?;
        }
    }

    fn play_sorted(
        self,
        player: &mut dyn CommandPlayer,
        sink: &mut dyn PlaySink,
    ) -> Result<(), SimulationHalt> {
        let mut lines = Lines::new(self.timeline);
        let mut all = Vec::new();
        while let Some((number, timed)) = next(&mut lines, self.rules)? {
            if self.until.is_none_or(|until| timed.at <= until) {
                all.push((number, timed));
            }
        }
        all.sort_by_key(|(_, timed)| timed.at);
        for (number, timed) in all {
            play_one(number, timed, player, sink)?;
        }
        Ok(())
    }
}

fn next<R: BufRead>(
    lines: &mut Lines<R>,
    rules: &Rules,
) -> Result<Option<(u64, Timed)>, SimulationHalt> {
    match lines.read_next()? {
        NextLine::End => Ok(None),
        NextLine::Text(number, line) => Ok(Some((number, read_line(rules, number, line)?))),
        NextLine::TooLong(number) => {
            let reason = format!("the line has more than {} bytes", lines::LINE_BYTES_MAX);
            Err(Fault::new(reason, "write one JSON object a line").on_line(number).into())
        }
    }
}

/// Refuses a line whose time goes back.
fn forward(
    line: Option<(u64, Timed)>,
    last: &mut Option<Instant>,
) -> Result<Option<(u64, Timed)>, SimulationHalt> {
    if let Some((number, timed)) = &line {
        if let Some(last) = last.filter(|last| timed.at < *last) {
            let reason = format!("time goes back from {last} to {}", timed.at);
            let fault = Fault::new(reason, "sort the lines by `at`, or give --sort");
            return Err(fault.on_line(*number).into());
        }
        *last = Some(timed.at);
    }
    Ok(line)
}

fn play_one(
    number: u64,
    timed: Timed,
    player: &mut dyn CommandPlayer,
    sink: &mut dyn PlaySink,
) -> Result<(), SimulationHalt> {
    let played = player.play(number, timed, sink);
    match played {
        _ if sink.closed() => Err(SimulationHalt::Closed),
        played => Ok(played?),
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::Command;
    use tidings_core::model::BatchKey;

    use super::*;

    /// Keeps messages and passes those of an instant on, once a later one comes.
    #[derive(Default)]
    struct Record {
        played: Vec<String>,
        until: Option<Instant>,
    }

    impl CommandPlayer for Record {
        fn play(
            &mut self,
            line: u64,
            timed: Timed,
            sink: &mut dyn PlaySink,
        ) -> Result<(), PlayError> {
            let Command::Retract { object } = timed.command else {
                return Err(PlayError::Refused {
                    line,
                    reason: "unknown recipient".to_owned(),
                    hint: "create it first".to_owned(),
                });
            };
            sink.message(&message(timed.at));
            self.played.push(object.to_string());
            Ok(())
        }

        fn take_in(&mut self) -> Result<(), PlayError> {
            Ok(())
        }

        fn finish(
            &mut self,
            until: Option<Instant>,
            _: &mut dyn PlaySink,
        ) -> Result<Totals, PlayError> {
            self.until = until;
            Ok(Totals { events: self.played.len() as u64, ..Totals::default() })
        }

        fn ledger(&self) -> BTreeMap<&'static str, LedgerRow> {
            BTreeMap::new()
        }
    }

    fn message(at: Instant) -> Message {
        Message {
            tenant: None,
            at,
            recipient: tidings_core::Id::new("r").unwrap(),
            channel: "inbox".to_owned(),
            lane: "now".to_owned(),
            key: BatchKey::EMPTY,
            items: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Takes some messages, then closes.
    struct FirstMessages {
        left: usize,
    }

    impl PlaySink for FirstMessages {
        fn message(&mut self, _: &Message) {
            self.left = self.left.saturating_sub(1);
        }

        fn warning(&mut self, _: u64, _: &Id, _: &Warning) {}

        fn closed(&self) -> bool {
            self.left == 0
        }
    }

    fn line(minute: u32, object: &str) -> String {
        format!(
            "{{\"at\":\"2024-01-01T00:{minute:02}:00Z\",\"op\":\"retract\",\"id\":\"{object}\"}}\n"
        )
    }

    fn run(
        timeline: &str,
        order: LineOrder,
        until: Option<&str>,
        messages_max: usize,
    ) -> (Record, Result<Totals, SimulationHalt>) {
        let rules = tidings_config::parse("", "t.toml").unwrap();
        let until = until.map(|until| Instant::parse(until).unwrap());
        let run = Run { rules: &rules, timeline: timeline.as_bytes(), order, until };
        let mut record = Record::default();
        let ended = run.play(&mut record, &mut FirstMessages { left: messages_max });
        (record, ended)
    }

    #[test]
    fn lines_are_played_in_the_order_given() {
        let timeline = line(1, "a") + "\n" + &line(1, "b") + &line(2, "c");
        let (record, ended) = run(&timeline, LineOrder::AsGiven, None, 100);
        assert_eq!(record.played, ["a", "b", "c"]);
        assert_eq!(ended.unwrap().events, 3);
        assert_eq!(record.until, None);
    }

    #[test]
    fn time_going_back_is_a_fault_unless_sorted() {
        let timeline = line(2, "a") + "\n" + &line(1, "b") + &line(2, "c") + &line(1, "d");
        let (record, ended) = run(&timeline, LineOrder::AsGiven, None, 100);
        let Err(SimulationHalt::Faulty(fault)) = ended else { panic!() };
        assert_eq!(fault.line, Some(3));
        assert!(fault.hint.contains("--sort"));
        assert_eq!(record.played, ["a"]);
        let (record, ended) = run(&timeline, LineOrder::ByInstant, None, 100);
        assert!(ended.is_ok());
        assert_eq!(record.played, ["b", "d", "a", "c"]);
    }

    #[test]
    fn lines_after_the_end_are_not_played() {
        let until = Some("2024-01-01T00:02:00Z");
        let timeline = line(1, "a") + &line(2, "b") + &line(3, "c") + "not looked at";
        let (record, ended) = run(&timeline, LineOrder::AsGiven, until, 100);
        assert!(ended.is_ok());
        assert_eq!(record.played, ["a", "b"]);
        assert_eq!(record.until.map(|at| at.to_string()).as_deref(), until);
        let timeline = line(3, "c") + &line(2, "b") + &line(1, "a");
        let (record, _) = run(&timeline, LineOrder::ByInstant, until, 100);
        assert_eq!(record.played, ["a", "b"]);
    }

    #[test]
    fn what_is_refused_has_its_line_also_when_sorted() {
        let bad = "{\"at\":\"2024-01-01T00:00:00Z\",\"op\":\"flush\",\"recipient\":\"r\"}\n";
        let timeline = line(1, "a") + bad;
        let (record, ended) = run(&timeline, LineOrder::ByInstant, None, 100);
        let Err(SimulationHalt::Faulty(fault)) = ended else { panic!() };
        assert_eq!((fault.line, fault.reason.as_str()), (Some(2), "unknown recipient"));
        assert!(record.played.is_empty());
    }

    #[test]
    fn a_run_ends_when_nobody_reads_on() {
        let timeline = line(1, "a") + &line(2, "b") + &line(3, "c");
        let (record, ended) = run(&timeline, LineOrder::AsGiven, None, 2);
        assert!(matches!(ended, Err(SimulationHalt::Closed)));
        assert_eq!(record.played, ["a", "b"]);
    }
}
