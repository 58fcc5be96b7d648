//! `tidings simulate`: prints the messages that would be sent, and when.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use tidings_core::Instant;
use tidings_core::channel::CHANNELS;

use super::print::{Form, Printer};
use super::{MakePlayer, Progress, Status, Streams, report};
use crate::config;
use crate::simulate::{Halt, Order, Run};

/// Bytes read ahead of the line that is played.
const READ_BYTES: usize = 1 << 16;

/// Arguments of `simulate`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Configuration
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Timeline to play, one JSON object per line; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    timeline: PathBuf,
    /// Stop at this instant (RFC 3339), after everything that is due then
    #[arg(long, value_name = "INSTANT", value_parser = Instant::parse)]
    until: Option<Instant>,
    /// Print only the messages of this channel; the summary counts all
    #[arg(long, value_parser = CHANNELS)]
    channel: Option<String>,
    /// Sort the lines by `at`; the whole timeline is kept in memory
    #[arg(long)]
    sort: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(
    arguments: &Arguments,
    make: MakePlayer<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let rules = match config::read(&arguments.config) {
        Ok(rules) => rules,
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            return Ok(Status::Wrong);
        }
    };
    let bar = ProgressBar::hidden();
    let timeline = match open(arguments, streams.progress, &bar) {
        Ok(timeline) => timeline,
        Err(error) => {
            let message = format!("cannot open {}: {error}", arguments.timeline.display());
            return Ok(report(streams, &message, Status::Wrong));
        }
    };
    let mut player = match make(rules.clone()) {
        Ok(player) => player,
        Err(error) => return Ok(report(streams, &error.to_string(), Status::Failed)),
    };
    let order = if arguments.sort {
        Order::ByInstant
    } else {
        Order::AsGiven
    };
    let form = if arguments.json {
        Form::Json
    } else {
        Form::Table
    };
    let mut printer = Printer::new(
        (&mut *streams.out, &mut *streams.err),
        form,
        arguments.channel.as_deref(),
    );
    let run = Run {
        rules: &rules,
        timeline,
        order,
        until: arguments.until,
    };
    let ended = run.play(&mut *player, &mut printer);
    bar.finish_and_clear();
    let printed = match &ended {
        Ok(books) => printer.finish(Some(books)),
        Err(_) => printer.finish(None),
    };
    printed?;
    Ok(match ended {
        Ok(_) | Err(Halt::Closed) => Status::Done,
        Err(halt) => report(streams, &halt.to_string(), Status::Failed),
    })
}

fn open(
    arguments: &Arguments,
    progress: Progress,
    bar: &ProgressBar,
) -> io::Result<Box<dyn BufRead>> {
    let (source, bytes): (Box<dyn Read>, Option<u64>) = if arguments.timeline.as_os_str() == "-" {
        (Box::new(io::stdin()), None)
    } else {
        let file = File::open(&arguments.timeline)?;
        let bytes = file
            .metadata()
            .ok()
            .filter(std::fs::Metadata::is_file)
            .map(|m| m.len());
        (Box::new(file), bytes)
    };
    if progress != Progress::Apart {
        return Ok(Box::new(BufReader::with_capacity(READ_BYTES, source)));
    }
    bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
    let template = match bytes {
        Some(bytes) => {
            bar.set_length(bytes);
            "{bar:40} {bytes} of {total_bytes}, {eta} left"
        }
        None => "{spinner} {bytes} read in {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    Ok(Box::new(BufReader::with_capacity(
        READ_BYTES,
        bar.wrap_read(source),
    )))
}
