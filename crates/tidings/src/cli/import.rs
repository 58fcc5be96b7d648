//! `tidings import`: imports an application's recipients, subscriptions and objects.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::reach::{self, To};
use super::{Progress, Status, Streams, report};
use crate::body::Fault;
use crate::client::{Purpose, Reach, StorePlace};
use crate::import::{
    BadRows, Format, Import, IntoNode, IntoServer, Kind, Mark, Observer, Position, Sink, Stop,
    Tally, columns,
};

/// Number of skipped rows that are reported one by one; the rest is counted.
const REPORTED_MAX: u64 = 100;

/// Arguments of `import`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// File to import; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Kind of the rows
    #[arg(long, value_enum)]
    kind: Kind,
    /// Format of the file; by default CSV if its name ends in `.csv`, else one JSON object per line
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Report a bad row, skip it and go on; else the import stops at the first one
    #[arg(long)]
    skip_bad: bool,
    /// Start from the first row, even if an earlier import was interrupted
    #[arg(long)]
    anew: bool,
    #[command(flatten)]
    to: To,
}

impl Arguments {
    fn is_stdin(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    fn format(&self) -> Format {
        let is_csv = |extension: &std::ffi::OsStr| extension.eq_ignore_ascii_case("csv");
        match self.format {
            Some(format) => format,
            None if self.file.extension().is_some_and(is_csv) => Format::Csv,
            None => Format::Ndjson,
        }
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    // Before a store is made for it.
    if !arguments.is_stdin()
        && let Err(error) = File::open(&arguments.file)
    {
        return Ok(can_not_open(arguments, &error, streams));
    }
    let mut reach = match reach::find(&arguments.to, Purpose::Make, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let opened = open(arguments, &reach);
    let (import, position) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(can_not_open(arguments, &error, streams)),
    };
    let from = import.from;
    let mut telling = Telling {
        bar: bar(streams.progress, &import.input, from),
        position,
        err: &mut *streams.err,
        reported: 0,
    };
    let (tally, ended) = match &mut reach {
        Reach::Directory(directory) => import.run(&mut IntoNode(directory.handle()), &mut telling),
        Reach::Server(server) => {
            let kind = arguments.kind;
            import.run(
                &mut IntoServer { server, kind } as &mut dyn Sink,
                &mut telling,
            )
        }
    };
    telling.bar.finish_and_clear();
    let unreported = tally.skipped.saturating_sub(REPORTED_MAX);
    let position = telling.position.take();
    if unreported > 0 {
        writeln!(streams.err, "{unreported} more rows skipped")?;
    }
    let closed = reach.close();
    if arguments.to.json {
        writeln!(
            streams.out,
            "{}",
            to_json(arguments.kind, tally, from, &ended)
        )?;
    } else {
        write_summary(arguments.kind, tally, from, streams)?;
    }
    let status = match ended {
        Ok(()) => {
            if let Some(Err(fault)) = position.map(|position| position.forget()) {
                let message = format!("cannot remove the position beside the file: {fault}");
                report(streams, &message, Status::Failed)
            } else if (tally.taken, from.line) == (0, 0) && tally.skipped > 0 {
                report(streams, "every row was skipped", Status::Failed)
            } else {
                Status::Done
            }
        }
        Err(stop) => {
            let kept = position.is_some_and(|position| position.path().exists());
            report(streams, &said(&stop, kept), Status::Failed)
        }
    };
    match closed {
        Ok(()) => Ok(status),
        Err(fault) => Ok(reach::report_fault(&fault, streams)),
    }
}

fn can_not_open(arguments: &Arguments, error: &io::Error, streams: &mut Streams<'_>) -> Status {
    let message = format!("cannot open {}: {error}", arguments.file.display());
    report(streams, &message, Status::Wrong)
}

/// The message of an interrupted import, with how to continue.
fn said(stop: &Stop, kept: bool) -> String {
    let on = if kept {
        "run the same command again: it continues from there"
    } else {
        "run the same command again: rows that are imported already do not change"
    };
    match stop {
        Stop::Row(fault) => format!(
            "{fault}\n  = help: or skip such rows with --skip-bad\n  = help: the rows before it are imported; {on}"
        ),
        other => format!("{other}\n  = help: the rows counted here are imported; {on}"),
    }
}

/// The input, and the position that is kept beside it.
struct Input {
    stream: Box<dyn Read + Send>,
    bytes: Option<u64>,
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.read(into)
    }
}

fn open(arguments: &Arguments, reach: &Reach) -> io::Result<(Import<Input>, Option<Position>)> {
    let format = arguments.format();
    let mut import = Import {
        input: Input {
            stream: Box::new(io::stdin()),
            bytes: None,
        },
        format,
        columns: None,
        kind: arguments.kind,
        bad: if arguments.skip_bad {
            BadRows::Skip
        } else {
            BadRows::Refuse
        },
        from: Mark::default(),
    };
    if arguments.is_stdin() {
        return Ok((import, None));
    }
    let mut file = File::open(&arguments.file)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        import.input.stream = Box::new(file);
        return Ok((import, None));
    }
    let target = format!("{} of {}", arguments.kind.word(), target(arguments, reach));
    let (position, mark) = Position::of(&arguments.file, target)?;
    if let Some(mark) = mark.filter(|_| !arguments.anew) {
        if format == Format::Csv {
            import.columns = Some(columns(File::open(&arguments.file)?)?);
        }
        file.seek(SeekFrom::Start(mark.bytes))?;
        import.from = mark;
    }
    import.input = Input {
        stream: Box::new(file),
        bytes: Some(metadata.len()),
    };
    Ok((import, Some(position)))
}

/// Names the target: the same file can be brought to several.
fn target(arguments: &Arguments, reach: &Reach) -> String {
    let data = |data: &PathBuf| {
        let whole = std::fs::canonicalize(data);
        whole.unwrap_or_else(|_| data.clone()).display().to_string()
    };
    let database = arguments.to.store.clone().map(StorePlace::Database);
    match (&arguments.to.data, reach) {
        // A store is the same place whether a server has it open or nobody.
        (Some(path), _) => data(path),
        (None, _) if database.is_some() => database.map_or_else(String::new, |it| it.to_string()),
        (None, Reach::Server(server)) => server.url().to_owned(),
        (None, Reach::Directory(_)) => String::new(),
    }
}

fn bar(progress: Progress, input: &Input, from: Mark) -> ProgressBar {
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
    bar.set_position(from.bytes);
    bar.reset_eta();
    bar
}

struct Telling<'w> {
    bar: ProgressBar,
    /// `None` where none is kept, or none can be.
    position: Option<Position>,
    err: &'w mut dyn io::Write,
    reported: u64,
}

impl Observer for Telling<'_> {
    fn came_to(&mut self, mark: Mark, tally: Tally) {
        self.bar.set_position(mark.bytes);
        self.bar.set_message(tally.taken.to_string());
        let noted = self.position.as_ref().map(|position| position.note(mark));
        if let Some(Err(fault)) = noted {
            self.position = None;
            let line = format!("cannot save the position beside the file: {fault}");
            self.tell(&line);
        }
    }

    fn skipped(&mut self, fault: &Fault) {
        self.reported += 1;
        if self.reported <= REPORTED_MAX {
            self.tell(&fault.to_string());
        }
    }
}

impl Telling<'_> {
    fn tell(&mut self, line: &str) {
        // There is nobody left to tell where this fails; the counts still tell of it.
        let err = &mut *self.err;
        self.bar.suspend(|| drop(writeln!(err, "warning: {line}")));
    }
}

fn to_json(kind: Kind, tally: Tally, from: Mark, ended: &Result<(), Stop>) -> serde_json::Value {
    json!({
        "kind": kind.word(),
        "taken": tally.taken,
        "skipped": tally.skipped,
        "from_line": from.line + 1,
        "complete": ended.is_ok(),
    })
}

fn write_summary(
    kind: Kind,
    tally: Tally,
    from: Mark,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let what = match tally.taken {
        1 => kind.word().trim_end_matches('s'),
        _ => kind.word(),
    };
    write!(streams.out, "{} {what} imported", tally.taken)?;
    if tally.skipped > 0 {
        write!(streams.out, ", {} skipped", tally.skipped)?;
    }
    if from.line > 0 {
        write!(streams.out, ", continued after line {}", from.line)?;
    }
    writeln!(streams.out)
}
