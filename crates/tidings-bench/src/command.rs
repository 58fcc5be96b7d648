//! `tidings bench`: benchmarks on this machine.

use std::io::{self, Write};

use clap::Subcommand;

use crate::rival::Rival;
use crate::server::{console, operate, shares};
use crate::{
    BenchFault, Host, Measurement, deadlines, digest, fanout, feed, forget, live, memory, nodes,
    outbox, plan, publish, quiet, reads, recovery, scheduled,
};

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub struct BenchArguments {
    #[command(subcommand)]
    work: Benchmark,
    /// Print one JSON object per measurement
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// Publish one event to many recipients, each with an inbox and a cool-down mail lane
    ///
    /// Measures the whole step until it is on the disk, beside a plain write and sync of the same number
    /// of bytes. Then measures the disk space per notification of a day of events, with inbox and one
    /// digest, once the day is at rest.
    ///
    /// With `--tenants`, also an event to everyone of a tenant, compared with events that name as many recipients:
    /// without a tenant, and of that one.
    ///
    /// With `--vs` the same event goes to the same followers in Redis and PostgreSQL, which are started
    /// and stopped by this command and leave nothing behind. They do less: nothing moves a deadline
    /// there.
    Fanout(fanout::FanoutParams),
    /// Read the first page of inboxes: 20 groups and the badge, out of all kept days
    ///
    /// Uses one bucket of a large store with this many popular events a day. Its readers follow one, a
    /// dozen or half of the topics, and never opened their inbox, so every entry counts. `cold`: the
    /// process has nothing of it in memory. `hot`: the same page for the second time. Measures the engine
    /// and the store, without HTTP.
    Feed(feed::FeedParams),
    /// Publish events to one recipient each over HTTP, one by one and in arrays
    ///
    /// Runs a server in this process, on loopback. Clients on kept connections send one request after the
    /// other, and are answered when the events are on the disk. They share the processor with the server.
    /// With `--vs` the same number of connections insert the same events into PostgreSQL: event, unique
    /// id and entry in one statement each, or an array in one.
    Publish(publish::PublishParams),
    /// Read pages and counts of inboxes over HTTP, alone and while events are published as fast as they come
    ///
    /// Runs a server in this process, on loopback, with readers on kept connections. In each run they read alone,
    /// then while a client publishes one event after the other to everybody, each with an inbox and a cool-down
    /// mail lane, then while clients send arrays of events to one recipient each. At last they read pages with
    /// filters, and counts, alone again. All of them share the processor.
    Reads(reads::ReadsParams),
    /// Keep streams of inboxes open, and publish to one of their readers and to all of them
    ///
    /// Runs a server as a process of its own, on loopback. Measures the memory of an open stream, the processor time of
    /// all of them while nothing happens, the time from the answer of an event with one recipient to the frame, and from
    /// that of an event to everybody until all have it, with publishes beside it. Needs /proc, and a file descriptor for
    /// each stream in both processes.
    Live(live::LiveParams),
    /// Publish to everybody under quiet hours and a cap on mails, beside a store that has neither
    ///
    /// The recipients live in five time zones. In each of some hours events with an inbox and a cool-down mail lane
    /// go to everybody, then the mails are due; nothing is sent. In the end recipients change a preference, a mute or
    /// their quiet hours, one by one, while entries wait. Times end when everything is on the disk.
    Quiet(quiet::QuietParams),
    /// Publish events for later, each to one recipient at an instant of its own, and have some of them come due
    ///
    /// Measures how fast they come in, the memory that waits with them, and what it takes to find those that are
    /// due: one of ten thousand, and a hundred times as many.
    Scheduled(scheduled::ScheduledParams),
    /// Close a weekly digest that is due for everyone at once, and build its messages
    ///
    /// Measures the time until every batch is on the disk, with one thread that decides. In every other
    /// week the batches are also grouped and prepared for rendering.
    Plan(plan::PlanParams),
    /// Close a weekly digest that is due for everyone at once, build its messages, and render them as mails
    ///
    /// Items have a picture and an artist; mails have the default look, both bodies and all headers, and are signed
    /// with Ed25519 in every other week. With one thread that decides and renders; nothing is sent. With `--vs mjml`
    /// the same items go through MJML and Handlebars on Node, one after the other as well.
    Digest(digest::DigestParams),
    /// Measure the memory of a recipient with an inbox, a cool-down mail lane and a digest
    ///
    /// Without profile and id, by the system's count for this process and by the engine's own count. With `--tenants`,
    /// also the memory of a membership.
    /// Needs /proc/self/status.
    Memory(memory::MemoryParams),
    /// Move the deadline of every window of a cool-down lane with one event to everybody
    ///
    /// Measures the engine alone, without storing: it computes the audience, builds the record, finds
    /// every window and moves its deadline.
    Deadlines(deadlines::DeadlinesParams),
    /// Send the same load through one node and through several, over the same PostgreSQL
    ///
    /// Nodes are processes on this machine, and PostgreSQL is started by this command. Each request goes to another
    /// node. Measures the processor time that nodes take: of the busiest, and of all together. Needs /proc.
    Nodes(nodes::NodesParams),
    /// Commit rows to the outbox of a host's database, and wait until they are accepted
    ///
    /// Runs a server as a process of its own that reads the outbox of PostgreSQL, which is started by this command.
    /// Connections commit rows at a steady rate. Measures the time from the begin of the transaction that commits a row to
    /// the mark that it is taken, by the clock of the database.
    Outbox(outbox::OutboxParams),
    /// Ask what operators ask of a large store, and retry many messages beside publishes
    ///
    /// Runs a server as a process of its own, on loopback. Measures the first page of each list with several filters,
    /// searches by address, explanations of a large audience, events to it, and the time of a publish alone and while a job
    /// retries failed messages, of which no channel has a provider. At last, without HTTP, reads the figures of many days.
    /// Beside each figure stands its bar.
    Operate(operate::OperateParams),
    /// Open every screen of the console over a large store
    ///
    /// Runs a server as a process of its own, on loopback, over the store of `operate`. Measures the time until a screen is
    /// there, its 99th percentile, and the size of the page as gzip would send it, each beside its bar.
    Console(console::ConsoleParams),
    /// Start over a store with days of events and all lanes open
    ///
    /// Each event has an inbox and a digest lane, and a last one opens a cool-down window for everybody.
    /// Measures opening the store and recovering the engine, up to the first command.
    Recovery(recovery::RecoveryParams),
    /// Publish and read beside one user who takes all that a token can take, and without
    ///
    /// Runs a server as a process of its own, on loopback. One token keeps many connections busy: pages, marks of the whole
    /// inbox, preferences, long polls, bodies, and streams and answers that it does not read. Meanwhile the host publishes,
    /// and each reader reads a page a second. Measures their times beside those of the same things alone, in turns, what was
    /// refused to whom, and how much memory the server takes more. Needs /proc.
    Shares(shares::SharesParams),
    /// Delete a full day, and wait for its disk space
    ///
    /// The day is over, indexed and packed. Measures the whole step that deletes it, until it is on the
    /// disk; then the time until the disk space is free.
    Forget(forget::ForgetParams),
}

/// Runs the command: results go to `out`, and to `err` what a script must not read as a result.
///
/// # Errors
/// [`BenchFault`].
pub fn run(
    arguments: &BenchArguments,
    host: Host<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), BenchFault> {
    if arguments.json {
        print_settings(&arguments.work, err)?;
    } else {
        print_settings(&arguments.work, out)?;
    }
    let measurements = match &arguments.work {
        Benchmark::Fanout(params) => fanout::run(params, host.rules),
        Benchmark::Feed(params) => feed::run(params, host.rules),
        Benchmark::Plan(params) => plan::run(params, host.rules),
        Benchmark::Digest(params) => digest::run(params, host.rules),
        Benchmark::Publish(params) => publish::run(params, host),
        Benchmark::Reads(params) => reads::run(params, host),
        Benchmark::Quiet(params) => quiet::run(params, host.rules),
        Benchmark::Scheduled(params) => scheduled::run(params, host.rules),
        Benchmark::Live(params) => live::run(params),
        Benchmark::Memory(params) => memory::run(params, host.rules),
        Benchmark::Deadlines(params) => deadlines::run(params, host.rules),
        Benchmark::Nodes(params) => nodes::run(params, &host),
        Benchmark::Outbox(params) => outbox::run(params),
        Benchmark::Recovery(params) => recovery::run(params, host.rules),
        Benchmark::Operate(params) => operate::run(params, &host),
        Benchmark::Console(params) => console::run(params),
        Benchmark::Shares(params) => shares::run(params),
        Benchmark::Forget(params) => forget::run(params, host.rules),
    }?;
    let mut header = None;
    for measurement in &measurements {
        if arguments.json {
            serde_json::to_writer(&mut *out, measurement).map_err(io::Error::from)?;
            writeln!(out)?;
            continue;
        }
        if header != Some(&measurement.params) {
            header = Some(&measurement.params);
            print_params(measurement, out)?;
        }
        print(measurement, out)?;
    }
    Ok(())
}

/// Prints the settings of the servers it is compared with.
fn print_settings(work: &Benchmark, out: &mut dyn Write) -> io::Result<()> {
    let rivals: &[Rival] = match work {
        Benchmark::Fanout(params) => &params.vs,
        Benchmark::Publish(params) => &params.vs,
        Benchmark::Digest(params) => params.rivals(),
        _ => &[],
    };
    for rival in rivals {
        writeln!(out, "{}", rival.settings())?;
    }
    out.flush()
}

fn print_params(measurement: &Measurement, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}", measurement.work)?;
    for (name, value) in &measurement.params {
        write!(out, "  {name} {value}")?;
    }
    writeln!(out)
}

fn print(measurement: &Measurement, out: &mut dyn Write) -> io::Result<()> {
    let Measurement { metric, unit, median, p99, versus, ratio, .. } = measurement;
    write!(out, "  {metric:32} {median:>14.3} {unit}")?;
    if let Some(p99) = p99 {
        write!(out, "  (p99 {p99:.3})")?;
    }
    for (name, other) in versus.iter().flatten() {
        write!(out, "; {name} {other:.3}")?;
        if let Some(ratio) = ratio.as_ref().and_then(|ratio| ratio.get(name)) {
            write!(out, ", ratio {ratio:.2}")?;
        }
    }
    writeln!(out)
}
