//! `tidings bench`: benchmarks on this machine.

use std::io;

use clap::Subcommand;

use super::{Status, Streams, report};
use crate::bench::rival::Rival;
use crate::bench::{
    Fault, Measurement, deadlines, fanout, feed, forget, memory, mixed, plan, publish, recovery,
};

/// Arguments of `bench`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    work: Work,
    /// Print one JSON object per measurement
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Work {
    /// Publish one event to many recipients, each with an inbox and a cool-down mail lane
    ///
    /// Measures the whole step until it is on the disk, beside a plain write and sync of the same number
    /// of bytes. Then measures the disk space per notification of a day of events, with inbox and one
    /// digest, once the day is at rest.
    ///
    /// With `--vs` the same event goes to the same followers in Redis and PostgreSQL, which are started
    /// and stopped by this command and leave nothing behind. They do less: nothing moves a deadline
    /// there.
    Fanout(fanout::Params),
    /// Read the first page of inboxes: 20 groups and the badge, out of all kept days
    ///
    /// Uses one bucket of a large store with this many popular events a day. Its readers follow one, a
    /// dozen or half of the topics, and never opened their inbox, so every entry counts. `cold`: the
    /// process has nothing of it in memory. `hot`: the same page for the second time. Measures the engine
    /// and the store, without HTTP.
    Feed(feed::Params),
    /// Publish events to one recipient each over HTTP, one by one and in arrays
    ///
    /// Runs a server in this process, on loopback. Clients on kept connections send one request after the
    /// other, and are answered when the events are on the disk. They share the processor with the server.
    /// With `--vs` the same number of connections insert the same events into PostgreSQL: event, unique
    /// id and entry in one statement each, or an array in one.
    Publish(publish::Params),
    /// Close a weekly digest that is due for everyone at once, and build its messages
    ///
    /// Measures the time until every batch is on the disk, with one thread that decides. In every other
    /// week the batches are also grouped and prepared for rendering.
    Plan(plan::Params),
    /// Measure the memory of a recipient with an inbox, a cool-down mail lane and a digest
    ///
    /// Without profile and id, by the system's count for this process and by the engine's own count.
    /// Needs /proc/self/status.
    Memory(memory::Params),
    /// Move the deadline of every window of a cool-down lane with one event to everybody
    ///
    /// Measures the engine alone, without storing: it computes the audience, builds the record, finds
    /// every window and moves its deadline.
    Deadlines(deadlines::Params),
    /// Start over a store with days of events and all lanes open
    ///
    /// Each event has an inbox and a digest lane, and a last one opens a cool-down window for everybody.
    /// Measures opening the store and recovering the engine, up to the first command.
    Recovery(recovery::Params),
    /// Delete a full day, and wait for its disk space
    ///
    /// The day is over, indexed and packed. Measures the whole step that deletes it, until it is on the
    /// disk; then the time until the disk space is free.
    Forget(forget::Params),
    /// Run a mixed load, and measure commits
    ///
    /// In every step some events go to one recipient each; from time to time one goes to followers, one
    /// to everybody; people read, follow and unfollow; mails become due, are built and delivered; and
    /// days end. The clock is virtual and runs ahead, so that a minute has the load of hours. Between
    /// steps checkpoints are written, and days are indexed, merged and packed.
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

/// Prints the settings of the servers it is compared with; on standard error if a script reads the
/// results.
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
