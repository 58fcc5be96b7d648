//! `tidings import`: imports an application's recipients, subscriptions and objects.

mod preferences;

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use tidings_api::body::Fault;

use super::reach::{self, TargetArguments};
use super::{Progress, Status, Streams, report};
use crate::client::{CallTarget, Purpose};
use crate::import::{
    BadRows, Format, Import, ImportError, InputPosition, Kind, NodeSink, Observer, ServerSink,
    Sink, Source, Tally,
};

/// Number of skipped rows that are reported one by one; the rest is counted.
const REPORTED_MAX: u64 = 100;

/// Arguments of `import`.
#[derive(clap::Args)]
pub(super) struct ImportArguments {
    /// File to import; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Kind of the rows
    #[arg(long, value_enum)]
    kind: Kind,
    /// Format of the file; by default CSV if its name ends in `.csv`, else one JSON object per line
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The product from which the rows come: its users or subscribers as recipients, or their preferences (docs/moving.md)
    #[arg(long, value_enum, conflicts_with = "format")]
    from: Option<Source>,
    /// Report a bad row, skip it and go on; else the import stops at the first one
    #[arg(long)]
    skip_bad: bool,
    #[command(flatten)]
    to: TargetArguments,
}

impl ImportArguments {
    fn is_stdin(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    fn format(&self) -> Format {
        let is_csv = |extension: &std::ffi::OsStr| extension.eq_ignore_ascii_case("csv");
        match self.format {
            Some(format) => format,
            None if self.from.is_none() && self.file.extension().is_some_and(is_csv) => Format::Csv,
            None => Format::Ndjson,
        }
    }
}

/// Runs the command.
pub(super) fn run(arguments: &ImportArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match (arguments.kind, arguments.from) {
        (Kind::Preferences, Some(from)) => return preferences::run(arguments, from, streams),
        (Kind::Recipients, _) | (Kind::Subscriptions | Kind::Objects, None) => {}
        (Kind::Preferences, None) => {
            let message = "preferences come from another product: add --from knock or --from novu";
            return Ok(report(streams, message, Status::Wrong));
        }
        (Kind::Subscriptions | Kind::Objects, Some(_)) => {
            let message = "--from takes --kind recipients or --kind preferences";
            return Ok(report(streams, message, Status::Wrong));
        }
    }
    // Precedes the store, which must not be made for a file that can't be opened.
    let import = match open(arguments) {
        Ok(import) => import,
        Err(error) => return Ok(can_not_open(arguments, &error, streams)),
    };
    let mut reach = match reach::find(&arguments.to, Purpose::Make, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let mut telling = ImportReporter {
        bar: bar(streams.progress, &import.input),
        err: &mut *streams.err,
        reported: 0,
    };
    let (tally, ended) = match &mut reach {
        CallTarget::Directory(directory) => {
            import.run(&mut NodeSink(directory.handle()), &mut telling)
        }
        CallTarget::Server(server) => {
            let kind = arguments.kind;
            import.run(&mut ServerSink { server, kind } as &mut dyn Sink, &mut telling)
        }
    };
    telling.bar.finish_and_clear();
    let unreported = tally.skipped.saturating_sub(REPORTED_MAX);
    if unreported > 0 {
        writeln!(streams.err, "{unreported} more rows skipped")?;
    }
    let closed = reach.close();
    if arguments.to.json {
        writeln!(streams.out, "{}", to_json(arguments.kind, tally, &ended))?;
    } else {
        write_summary(arguments.kind, tally, streams)?;
    }
    let status = match ended {
        Ok(()) if tally.taken == 0 && tally.skipped > 0 => {
            report(streams, "every row was skipped", Status::Failed)
        }
        Ok(()) => Status::Done,
        Err(error) => report(streams, &message(&error), Status::Failed),
    };
    match closed {
        Ok(()) => Ok(status),
        Err(fault) => Ok(reach::report_fault(&fault, streams)),
    }
}

fn can_not_open(
    arguments: &ImportArguments,
    error: &io::Error,
    streams: &mut Streams<'_>,
) -> Status {
    let message = format!("cannot open {}: {error}", arguments.file.display());
    report(streams, &message, Status::Wrong)
}

/// The message of an interrupted import, with how to continue.
fn message(error: &ImportError) -> String {
    let on = "run the same command again: rows that are imported already do not change";
    match error {
        ImportError::Row(fault) => format!(
            "{fault}\n  = help: or skip such rows with --skip-bad\n  = help: the rows before it are imported; {on}"
        ),
        other => format!("{other}\n  = help: the rows counted here are imported; {on}"),
    }
}

/// The input.
struct ImportInput {
    stream: Box<dyn Read + Send>,
    bytes: Option<u64>,
}

impl Read for ImportInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.read(into)
    }
}

fn open(arguments: &ImportArguments) -> io::Result<Import<ImportInput>> {
    let input = if arguments.is_stdin() {
        ImportInput { stream: Box::new(io::stdin()), bytes: None }
    } else {
        let file = File::open(&arguments.file)?;
        let metadata = file.metadata()?;
        ImportInput { stream: Box::new(file), bytes: metadata.is_file().then_some(metadata.len()) }
    };
    Ok(Import {
        input,
        format: arguments.format(),
        kind: arguments.kind,
        from: arguments.from,
        bad: if arguments.skip_bad { BadRows::Skip } else { BadRows::Refuse },
    })
}

fn bar(progress: Progress, input: &ImportInput) -> ProgressBar {
    if !matches!(progress, Progress::Apart | Progress::Shared) {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(input.bytes, ProgressDrawTarget::stderr());
    let template = match input.bytes {
        Some(_) => "{bar:40} {bytes} of {total_bytes}, {msg} rows, {eta} left",
        None => "{spinner} {bytes} read, {msg} rows in {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

struct ImportReporter<'w> {
    bar: ProgressBar,
    err: &'w mut dyn io::Write,
    reported: u64,
}

impl Observer for ImportReporter<'_> {
    fn advanced(&mut self, position: InputPosition, tally: Tally) {
        self.bar.set_position(position.bytes);
        self.bar.set_message(tally.taken.to_string());
    }

    fn skipped(&mut self, fault: &Fault) {
        self.reported += 1;
        if self.reported <= REPORTED_MAX {
            self.print(&fault.to_string());
        }
    }
}

impl ImportReporter<'_> {
    fn print(&mut self, line: &str) {
        // There is no other way to report that this fails; the counts have it all the same.
        let err = &mut *self.err;
        self.bar.suspend(|| drop(writeln!(err, "warning: {line}")));
    }
}

fn to_json(kind: Kind, tally: Tally, ended: &Result<(), ImportError>) -> serde_json::Value {
    json!({
        "kind": kind.word(),
        "taken": tally.taken,
        "skipped": tally.skipped,
        "complete": ended.is_ok(),
    })
}

fn write_summary(kind: Kind, tally: Tally, streams: &mut Streams<'_>) -> io::Result<()> {
    let what = match tally.taken {
        1 => kind.word().trim_end_matches('s'),
        _ => kind.word(),
    };
    write!(streams.out, "{} {what} imported", tally.taken)?;
    if tally.skipped > 0 {
        write!(streams.out, ", {} skipped", tally.skipped)?;
    }
    writeln!(streams.out)
}
