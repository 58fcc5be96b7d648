//! `tidings simulate`: prints the messages that would be sent, and when; or compares configurations.

use std::io;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use tidings_core::channel::CHANNELS;
use tidings_core::{Id, Rules};

use super::compare;
use super::print::{Form, Printer};
use super::timeline::TimelineArguments;
use super::{MakePlayer, Status, Streams, report};
use crate::config;
use crate::simulate::Halt;

/// Arguments of `simulate`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Configuration
    #[arg(long, value_name = "FILE", required_unless_present = "compare")]
    config: Option<PathBuf>,
    /// Compare two to four configurations: prints what each would send, in numbers
    #[arg(long, value_name = "FILE", num_args = 2..=4, conflicts_with = "config")]
    compare: Vec<PathBuf>,
    /// With --compare: write a page with plots, and one recipient's day, to this file
    #[arg(long, value_name = "FILE", requires = "compare")]
    pub(super) html: Option<PathBuf>,
    /// With --html: the recipient whose day is shown [default: the one with most messages of difference]
    #[arg(long, value_name = "ID", requires = "html", value_parser = Id::new)]
    pub(super) recipient: Option<Id>,
    #[command(flatten)]
    pub(super) timeline: TimelineArguments,
    /// Print only the messages of this channel; the summary counts all. With --compare: count only
    /// this channel [default there: all but the inbox]
    #[arg(long, value_parser = CHANNELS)]
    pub(super) channel: Option<String>,
    /// Print one JSON object per line
    #[arg(long)]
    pub(super) json: bool,
}

/// Runs the command.
pub(super) fn run(
    arguments: &Arguments,
    make: MakePlayer<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let Some(config) = &arguments.config else {
        return compare::run(&arguments.compare, arguments, make, streams);
    };
    match read(config, streams)? {
        Ok(rules) => print(&rules, arguments, make, streams),
        Err(status) => Ok(status),
    }
}

/// Reads a configuration; its faults are reported.
pub(super) fn read(config: &Path, streams: &mut Streams<'_>) -> io::Result<Result<Rules, Status>> {
    match config::read(config) {
        Ok(rules) => Ok(Ok(rules)),
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            Ok(Err(Status::Wrong))
        }
    }
}

/// Prints the messages under one configuration.
fn print(
    rules: &Rules,
    arguments: &Arguments,
    make: MakePlayer<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let bar = ProgressBar::hidden();
    let timeline = match arguments.timeline.once(streams) {
        Ok(timeline) => timeline,
        Err(status) => return Ok(status),
    };
    let run = match arguments.timeline.run(&timeline, rules, &bar, streams) {
        Ok(run) => run,
        Err(status) => return Ok(status),
    };
    let mut player = match make(rules.clone()) {
        Ok(player) => player,
        Err(error) => return Ok(report(streams, &error.to_string(), Status::Failed)),
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
