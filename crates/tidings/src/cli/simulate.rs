//! `tidings simulate`: prints the messages that would be sent, and when; or compares configurations, or explains.

pub(super) mod compare;
pub(super) mod timeline;
pub(super) mod tune;

use std::io;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde_json::{Value, json};
use tidings_api::body::Fields;
use tidings_api::body::explain::ExplainBody;
use tidings_api::explained::Explained;
use tidings_core::model::CHANNELS;
use tidings_core::{Id, Instant, Rules};
use tidings_trial::simulate::{CommandPlayer, SimulationHalt};

use super::print::{OutputForm, Printer};
use super::{MakePlayer, Status, Streams, report};
use crate::cli::calls::{explain_body, write_explanation};
use crate::cli::simulate::timeline::TimelineArguments;

/// Arguments of `simulate`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("by").required(true))]
pub(super) struct SimulateArguments {
    /// Configuration
    #[arg(long, value_name = "FILE", group = "by")]
    pub(super) config: Option<PathBuf>,
    /// Compare two to four configurations: prints what each would send, in numbers
    #[arg(long, value_name = "FILE", num_args = 2..=4, group = "by")]
    pub(super) compare: Vec<PathBuf>,
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
    /// In place of messages: explain why a recipient got an event, or did not
    ///
    /// EVENT is the id of an event of the timeline, or a hypothetical event, as a JSON object.
    #[arg(long, num_args = 2, value_names = ["EVENT", "RECIPIENT"], conflicts_with_all = ["channel", "compare"])]
    explain: Option<Vec<String>>,
    /// Also print the figures by day, type and channel, before the summary
    #[arg(long, conflicts_with_all = ["compare", "explain"])]
    figures: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub(super) json: bool,
}

/// Plays a timeline under one configuration.
pub(super) fn run(
    config: &Path,
    arguments: &SimulateArguments,
    make: MakePlayer<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    match read(config, streams)? {
        Some(rules) => print(&rules, arguments, make, streams),
        None => Ok(Status::Wrong),
    }
}

/// Reads a configuration; if it has faults, they are reported, and there is none.
pub(super) fn read(config: &Path, streams: &mut Streams<'_>) -> io::Result<Option<Rules>> {
    match tidings_config::read(config) {
        Ok(rules) => Ok(Some(rules)),
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            Ok(None)
        }
    }
}

/// Prints the messages under one configuration.
fn print(
    rules: &Rules,
    arguments: &SimulateArguments,
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
    let form = if arguments.json { OutputForm::Json } else { OutputForm::Table };
    let mut nowhere = io::sink();
    let out = match &arguments.explain {
        Some(_) => &mut nowhere,
        None => &mut *streams.out,
    };
    let mut printer = Printer::new(out, &mut *streams.err, form, arguments.channel.as_deref());
    let ended = run.play(&mut *player, &mut printer);
    bar.finish_and_clear();
    if let (Ok(_), true) = (&ended, arguments.figures) {
        match player.figures() {
            Ok(report) => printer.figures(report)?,
            Err(fault) => return Ok(report(streams, &fault.to_string(), Status::Failed)),
        }
    }
    let printed = match &ended {
        Ok(books) => printer.finish(Some(books)),
        Err(_) => printer.finish(None),
    };
    printed?;
    if let (Ok(_), Some(named)) = (&ended, &arguments.explain) {
        let until = arguments.timeline.until();
        let explained = explained(rules, &mut *player, until, named);
        return write_explained(explained, arguments.json, streams);
    }
    Ok(match ended {
        Ok(_) | Err(SimulationHalt::Closed) => Status::Done,
        Err(halt) => report(streams, &halt.to_string(), Status::Failed),
    })
}

/// Explains an event for a recipient, both as they were given.
fn explained(
    rules: &Rules,
    player: &mut dyn CommandPlayer,
    until: Option<Instant>,
    named: &[String],
) -> Result<Value, (String, Status)> {
    let incomplete = || ("--explain takes an event and a recipient".to_owned(), Status::Wrong);
    let [event, recipient] = named else {
        return Err(incomplete());
    };
    let body = explain_body(event, recipient).to_string();
    let question = Fields::parse(body.as_bytes())
        .and_then(Fields::body::<ExplainBody>)
        .and_then(|body| body.question(rules));
    let (subject, recipient) = question.map_err(|fault| (fault.to_string(), Status::Wrong))?;
    let recipient = recipient.ok_or_else(incomplete)?;
    let explained = player
        .explain(subject, &recipient, until)
        .map_err(|fault| (fault.to_string(), Status::Failed))?;
    Ok(json!(Explained::from(explained)))
}

fn write_explained(
    explained: Result<Value, (String, Status)>,
    as_json: bool,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    match explained {
        Err((fault, status)) => return Ok(report(streams, &fault, status)),
        Ok(explained) if as_json => writeln!(streams.out, "{explained}")?,
        Ok(explained) => write_explanation(&explained, streams.out)?,
    }
    Ok(Status::Done)
}
