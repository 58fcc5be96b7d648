//! `tidings bench`: what does it cost on this machine?

use std::io;

use clap::Subcommand;

use super::{Status, Streams, report};
use crate::bench::{Fault, Measurement, fanout, feed, memory, plan};

/// What `bench` takes.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    work: Work,
    /// Print one JSON object a measurement
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Work {
    /// Publish one event to many recipients, each with an inbox and a cool-down mail lane
    ///
    /// The time is that of the whole step until it is on the disk; in the same turn as many bytes
    /// are written and synced plainly. Then: what a day of events, inbox and one digest, takes on
    /// the disk per notification once it is at rest.
    Fanout(fanout::Params),
    /// Read the first page of inboxes: 20 groups, and the badge, out of all the days that are kept
    ///
    /// One bucket of a large store, with as many popular events a day as asked for; its readers follow
    /// one, a dozen or half of what they are about, and never opened their inbox, so that every entry
    /// counts. `cold`: nothing of it is in the process, neither decoded nor as blocks. `hot`: the same
    /// page for the second time. The time is that of the engine and the store, without HTTP.
    Feed(feed::Params),
    /// Close a weekly digest that is due for everyone at once, and make its messages
    ///
    /// Until every batch is on the disk; by one thread that decides. In every other week the batches
    /// are also grouped and readied for rendering.
    Plan(plan::Params),
    /// Count the memory of a recipient with an inbox, a cool-down mail lane and a digest
    ///
    /// Beyond profile and id: by what the system says of this process, and by the engine's own
    /// count. Needs /proc/self/status.
    Memory(memory::Params),
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    let measured = match &arguments.work {
        Work::Fanout(params) => fanout::run(params),
        Work::Feed(params) => feed::run(params),
        Work::Plan(params) => plan::run(params),
        Work::Memory(params) => memory::run(params),
    };
    let measurements = match measured {
        Ok(measurements) => measurements,
        Err(fault) => {
            let status = match fault {
                Fault::Wrong(_) => Status::Wrong,
                _ => Status::Failed,
            };
            return Ok(report(streams, &fault.to_string(), status));
        }
    };
    let mut header = None;
    for measurement in &measurements {
        if arguments.json {
            serde_json::to_writer(&mut *streams.out, measurement)?;
            writeln!(streams.out)?;
            continue;
        }
        if header != Some(&measurement.params) {
            header = Some(&measurement.params);
            print_params(measurement, streams)?;
        }
        print(measurement, streams)?;
    }
    Ok(Status::Done)
}

fn print_params(measurement: &Measurement, streams: &mut Streams<'_>) -> io::Result<()> {
    write!(streams.out, "{}", measurement.work)?;
    for (name, value) in &measurement.params {
        write!(streams.out, "  {name} {value}")?;
    }
    writeln!(streams.out)
}

fn print(measurement: &Measurement, streams: &mut Streams<'_>) -> io::Result<()> {
    let Measurement {
        metric,
        unit,
        median,
        p99,
        versus,
        ratio,
        ..
    } = measurement;
    write!(streams.out, "  {metric:32} {median:>14.3} {unit}")?;
    if let Some(p99) = p99 {
        write!(streams.out, "  (p99 {p99:.3})")?;
    }
    for (name, other) in versus.iter().flatten() {
        write!(streams.out, "; {name} {other:.3}")?;
        if let Some(ratio) = ratio.as_ref().and_then(|ratio| ratio.get(name)) {
            write!(streams.out, ", ratio {ratio:.2}")?;
        }
    }
    writeln!(streams.out)
}
