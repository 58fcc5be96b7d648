//! `tidings bench`: what does it cost on this machine?

use std::io;

use clap::Subcommand;

use super::{Status, Streams, report};
use crate::bench::rival::Rival;
use crate::bench::{
    Fault, Measurement, deadlines, fanout, feed, forget, memory, mixed, plan, publish, recovery,
};

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
    ///
    /// With `--vs` the same event goes to the same followers in Redis and PostgreSQL, which are
    /// started for it, stopped after it, and leave nothing. Of them less is asked: nothing
    /// moves a deadline there.
    Fanout(fanout::Params),
    /// Read the first page of inboxes: 20 groups, and the badge, out of all the days that are kept
    ///
    /// One bucket of a large store, with as many popular events a day as asked for; its readers follow
    /// one, a dozen or half of what they are about, and never opened their inbox, so that every entry
    /// counts. `cold`: nothing of it is in the process, neither decoded nor as blocks. `hot`: the same
    /// page for the second time. The time is that of the engine and the store, without HTTP.
    Feed(feed::Params),
    /// Publish events to one recipient each over HTTP, one by one and in arrays
    ///
    /// A server in this process, on loopback; clients on kept connections send one request after the
    /// other, and an answer comes when the events are on the disk. The clients share the processor
    /// with the server. With `--vs` as many connections insert the same events into PostgreSQL:
    /// event, unique id and entry in one statement each, or an array in one.
    Publish(publish::Params),
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
    /// Move the deadline of every window of a cool-down lane with one event to everybody
    ///
    /// The time is that of the engine alone, nothing is stored: the audience is worked out, the
    /// record is made, every window is found and its deadline moved.
    Deadlines(deadlines::Params),
    /// Start over a store that holds days of events, with everybody's lanes open
    ///
    /// Each event has an inbox and a digest lane, and a last one opens a cool-down window for
    /// everybody. The store is left as it is after its last commit; the time is that of opening it
    /// and of recovering the engine, up to where the first command would be taken in.
    Recovery(recovery::Params),
    /// Forget a full day, and see its disk come back
    ///
    /// The day is over, turned round and packed. The time is that of the whole step that forgets it,
    /// until it is on the disk; then how long it takes until the disk is given back.
    Forget(forget::Params),
    /// Run a mixed load, and tell how long commits take
    ///
    /// In every step some events go to one recipient each; now and then one goes to followers, one
    /// to everybody; people read, follow and unfollow; mails become due, are made and delivered; and
    /// days end. The clock is a virtual one that runs ahead, so that a minute holds what would take
    /// hours. Between steps checkpoints are written and days are turned round, merged and packed.
    Mixed(mixed::Params),
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    print_settings(arguments, streams)?;
    let measured = match &arguments.work {
        Work::Fanout(params) => fanout::run(params),
        Work::Feed(params) => feed::run(params),
        Work::Plan(params) => plan::run(params),
        Work::Publish(params) => publish::run(params),
        Work::Memory(params) => memory::run(params),
        Work::Deadlines(params) => deadlines::run(params),
        Work::Recovery(params) => recovery::run(params),
        Work::Forget(params) => forget::run(params),
        Work::Mixed(params) => mixed::run(params),
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

/// Says how those are run that it is held against; beside the results where a script reads these.
fn print_settings(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<()> {
    let rivals: &[Rival] = match &arguments.work {
        Work::Fanout(params) => &params.vs,
        Work::Publish(params) => &params.vs,
        _ => &[],
    };
    let out = match arguments.json {
        true => &mut *streams.err,
        false => &mut *streams.out,
    };
    for rival in rivals {
        writeln!(out, "{}", rival.settings())?;
    }
    out.flush()
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
