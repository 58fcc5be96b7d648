//! Import of recipients, subscriptions and objects by the million, from lines of JSON or from CSV.
//!
//! One thread reads and judges lines, so that the next slice is ready while the one before becomes
//! durable. What comes in is what single calls would say: every row becomes a command, and doing one
//! twice changes nothing. That is why an import that was cut short begins again.

mod rows;
mod sink;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, Read};

use crossbeam_channel::{Receiver, Sender, bounded};
use tidings_core::Command;

pub use rows::Format;
pub use sink::{NodeSink, PendingSlice, ServerSink, Sink, SinkError};

use rows::{ImportRow, Rows};
use tidings_api::body::Fault;

/// Bytes of rows that are taken in at once, where rows are long.
const SLICE_BYTES: usize = 4 << 20;

/// Slices on their way to becoming durable, beside the one that is being read.
const SLICES_PENDING: usize = 2;

/// The kind of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Profiles: `id`, and what is known of `email` (or `addresses.email`), `tz`, `locale`, `lat`, `lon`, `state`,
    /// `tenants` (in CSV with `;` between them)
    Recipients,
    /// Followed topics: `recipient`, `topic`, and `tenant`
    Subscriptions,
    /// Objects of notifications: `id`, and what is known of `title`, `url`, `image`, `notifiable`
    Objects,
    /// Choices that people made elsewhere; with --from
    Preferences,
}

/// The product from which rows come, one JSON object a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Source {
    /// Knock: users, and `{"user_id": …, "preferences": …}`
    Knock,
    /// Novu: subscribers, and `{"subscriberId": …, "preferences": …}`
    Novu,
}

impl Kind {
    /// The word for it, as commands and calls write it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Recipients => "recipients",
            Self::Subscriptions => "subscriptions",
            Self::Objects => "objects",
            Self::Preferences => "preferences",
        }
    }
}

/// The handling of a bad row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRows {
    /// It is reported, and the others go on.
    Skip,
    /// It is reported, and nothing behind it is read.
    Refuse,
}

/// A position in an input, after a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputPosition {
    /// The number of the row's last line; 0 before the first.
    pub line: u64,
    /// Bytes up to its end.
    pub bytes: u64,
}

/// Rows that are imported together.
#[derive(Debug, Default)]
pub struct RowSlice {
    /// The commands of its rows.
    pub commands: Vec<Command>,
    /// The same as lines of JSON; empty unless asked for.
    pub lines: Vec<u8>,
    /// The number of each row's line.
    pub numbers: Vec<u64>,
    /// Rows among them that can't be read.
    bad: Vec<Fault>,
    /// The reason why nothing behind them can be read.
    unclosed: Option<Fault>,
    /// The position up to which the input was read.
    end: InputPosition,
}

/// The counts of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows that are in.
    pub taken: u64,
    /// Rows that were reported and left out.
    pub skipped: u64,
}

/// The reason why an import stopped before the end of its input.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A row was refused, and was to be.
    #[error("{0}")]
    Row(Fault),
    /// The file is at fault, not a row of it: its head, or a quote that nothing closes.
    #[error("{0}")]
    File(Fault),
    /// The input can't be read.
    #[error("cannot read the file after line {line}: {source}")]
    Input {
        /// The last line that was read.
        line: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The sink can't go on.
    #[error(transparent)]
    Trouble(#[from] SinkError),
}

/// An observer of an import's progress.
pub trait Observer {
    /// Everything up to here is in, and durable.
    fn advanced(&mut self, position: InputPosition, tally: Tally);

    /// A row was left out.
    fn skipped(&mut self, fault: &Fault);
}

/// The parameters of an import.
pub struct Import<R> {
    /// The input.
    pub input: R,
    /// The format of the input.
    pub format: Format,
    /// The kind of the rows.
    pub kind: Kind,
    /// The product whose rows they are; `None` = our own.
    pub from: Option<Source>,
    /// The treatment of rows that can't be taken in.
    pub bad: BadRows,
}

impl<R: Read + Send> Import<R> {
    /// Brings it in. There is a tally also where it stopped early.
    pub fn run(
        self,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> (Tally, Result<(), ImportError>) {
        let (wants_lines, rows) = (sink.wants_lines(), sink.slice_rows());
        let bad = self.bad;
        let (send, slices) = bounded(1);
        std::thread::scope(|scope| {
            scope.spawn(move || self.read(wants_lines, rows, &send));
            let mut taking = ImportInProgress {
                sink,
                observer,
                bad,
                tally: Tally::default(),
                pending: VecDeque::new(),
            };
            let ended = taking.all(&slices);
            // Ends a reader that waits for room.
            drop(slices);
            (taking.tally, ended)
        })
    }

    fn read(
        self,
        wants_lines: bool,
        slice_rows: usize,
        slices: &Sender<Result<RowSlice, ImportError>>,
    ) {
        let mut line = 0;
        let mut rows = match Rows::new(self.input, self.format, self.kind, self.from) {
            Ok(rows) => rows,
            Err(fault) => return drop(slices.send(Err(ImportError::File(fault)))),
        };
        loop {
            let mut slice = RowSlice::default();
            let read = slice.fill(&mut rows, self.kind, self.bad, wants_lines, slice_rows);
            slice.end = rows.position();
            line = slice.end.line.max(line);
            if slices.send(Ok(slice)).is_err() {
                return;
            }
            match read {
                Ok(MoreInput::Yes) => {}
                Ok(MoreInput::No) => return,
                Err(source) => return drop(slices.send(Err(ImportError::Input { line, source }))),
            }
        }
    }
}

/// The state of the input after a slice: there is more to read or not.
enum MoreInput {
    Yes,
    No,
}

impl RowSlice {
    fn fill<R: Read>(
        &mut self,
        rows: &mut Rows<R>,
        kind: Kind,
        bad: BadRows,
        wants_lines: bool,
        rows_max: usize,
    ) -> io::Result<MoreInput> {
        while self.commands.len() + self.bad.len() < rows_max && self.lines.len() < SLICE_BYTES {
            match rows.read_next(kind, wants_lines.then_some(&mut self.lines))? {
                ImportRow::End => return Ok(MoreInput::No),
                ImportRow::Good(number, command) => {
                    self.commands.push(command);
                    self.numbers.push(number);
                }
                ImportRow::Unclosed(fault) => {
                    self.unclosed = Some(fault);
                    return Ok(MoreInput::No);
                }
                ImportRow::Bad(fault) => {
                    self.bad.push(fault);
                    if bad == BadRows::Refuse {
                        return Ok(MoreInput::No);
                    }
                }
            }
        }
        Ok(MoreInput::Yes)
    }
}

/// A slice in progress.
struct SliceInProgress {
    numbers: Vec<u64>,
    bad: Vec<Fault>,
    unclosed: Option<Fault>,
    end: InputPosition,
    pending: PendingSlice,
}

struct ImportInProgress<'t> {
    sink: &'t mut dyn Sink,
    observer: &'t mut dyn Observer,
    bad: BadRows,
    tally: Tally,
    pending: VecDeque<SliceInProgress>,
}

impl ImportInProgress<'_> {
    fn all(&mut self, slices: &Receiver<Result<RowSlice, ImportError>>) -> Result<(), ImportError> {
        for slice in slices {
            match slice {
                Ok(slice) => self.give(slice)?,
                Err(error) => {
                    self.settle_all()?;
                    return Err(error);
                }
            }
        }
        self.settle_all()
    }

    fn give(&mut self, slice: RowSlice) -> Result<(), ImportError> {
        if self.pending.len() >= SLICES_PENDING {
            self.settle()?;
        }
        let pending = self.sink.give(slice.commands, slice.lines)?;
        self.pending.push_back(SliceInProgress {
            numbers: slice.numbers,
            bad: slice.bad,
            unclosed: slice.unclosed,
            end: slice.end,
            pending,
        });
        Ok(())
    }

    fn settle_all(&mut self) -> Result<(), ImportError> {
        while !self.pending.is_empty() {
            self.settle()?;
        }
        Ok(())
    }

    /// Waits until the oldest slice is durable, and reports what of it was refused.
    fn settle(&mut self) -> Result<(), ImportError> {
        let Some(going) = self.pending.pop_front() else {
            return Ok(());
        };
        let refused = going.pending.wait()?;
        self.tally.taken += (going.numbers.len() - refused.len()) as u64;
        let placed = refused.into_iter().map(|(at, fault)| {
            let number = going.numbers.get(at).copied().unwrap_or(going.end.line);
            fault.on_line(number)
        });
        let mut faults: Vec<Fault> = placed.chain(going.bad).collect();
        faults.sort_by_key(|fault| fault.line);
        for fault in faults {
            if self.bad == BadRows::Refuse {
                return Err(ImportError::Row(fault));
            }
            self.tally.skipped += 1;
            self.observer.skipped(&fault);
        }
        if let Some(fault) = going.unclosed {
            return Err(ImportError::File(fault));
        }
        self.observer.advanced(going.end, self.tally);
        Ok(())
    }
}
