//! The command line: arguments in, text and an exit code out.
//!
//! Commands get their streams handed in, so that tests run them without a process.

mod bench;
mod check;
mod demo;
mod import;
mod key;
mod print;
mod reach;
mod serve;
mod signals;
mod simulate;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::{Parser, Subcommand};
use tidings_core::Rules;

use crate::config;
use crate::simulate::{Play, PlayError};

/// Makes what `simulate` plays a timeline through.
pub type MakePlayer<'p> = &'p dyn Fn(Rules) -> Result<Box<dyn Play>, PlayError>;

/// Where a command writes.
pub struct Streams<'w> {
    /// Results. Flushed when the command ends.
    pub out: &'w mut dyn Write,
    /// Faults.
    pub err: &'w mut dyn Write,
    /// Whether the process's own standard error shows progress.
    pub progress: Progress,
}

/// Whether progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// On a terminal, results elsewhere.
    Apart,
    /// On the terminal that results go to as well: what tears them apart is not shown.
    Shared,
    /// As lines, where there is no terminal.
    Plain,
    /// Not at all.
    Hidden,
}

/// How a command ended (contract, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Done,
    /// Something failed and was reported.
    Failed,
    /// Wrong use or wrong configuration.
    Wrong,
    /// The store is locked, unreadable or of another format.
    Unusable,
}

impl Status {
    /// The exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Wrong => 2,
            Self::Unusable => 3,
        }
    }
}

#[derive(Parser)]
#[command(name = "tidings", version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure what tidings costs on this machine
    Bench(bench::Arguments),
    /// Check a configuration: every fault at once, with its place and how to mend it
    Check(check::Arguments),
    /// Print the default configuration, with a comment on every key
    Config,
    /// Tell 25,000 people of a museum's winter, and look at what each of them got
    Demo(demo::Arguments),
    /// Bring in recipients, subscriptions or objects, by the million
    Import(import::Arguments),
    /// Make, list and revoke the keys that let clients call the API
    Key(key::Arguments),
    /// Serve the HTTP API over a data directory
    Serve(serve::Arguments),
    /// Play a timeline on a virtual clock and print the messages that would go out
    Simulate(simulate::Arguments),
}

/// Runs one command. `arguments` begins with the program's name.
pub fn run<I>(arguments: I, make: MakePlayer<'_>, streams: &mut Streams<'_>) -> Status
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error, streams),
    };
    let ended = match arguments.command {
        Command::Bench(arguments) => bench::run(&arguments, streams),
        Command::Check(arguments) => check::run(&arguments, streams),
        Command::Config => streams
            .out
            .write_all(config::DEFAULT.as_bytes())
            .map(|()| Status::Done),
        Command::Demo(arguments) => demo::run(&arguments, crate::demo::scenario(), streams),
        Command::Import(arguments) => import::run(&arguments, streams),
        Command::Key(arguments) => key::run(&arguments, streams),
        Command::Serve(arguments) => serve::run(&arguments, streams),
        Command::Simulate(arguments) => simulate::run(&arguments, make, streams),
    };
    match ended.and_then(|status| streams.out.flush().map(|()| status)) {
        Ok(status) => status,
        // Whoever read has enough: that is how a pipe into `head` ends.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::Done,
        Err(error) => report(streams, &format!("cannot write: {error}"), Status::Failed),
    }
}

/// Help and version are what was asked for; anything else is wrong use.
fn usage(error: &clap::Error, streams: &mut Streams<'_>) -> Status {
    let text = error.render();
    let (stream, status) = match error.use_stderr() {
        false => (&mut *streams.out, Status::Done),
        true => (&mut *streams.err, Status::Wrong),
    };
    // There is nobody left to tell where this fails.
    let _ = write!(stream, "{text}").and_then(|()| stream.flush());
    status
}

/// Reports a fault on the error stream; where even that fails the exit code must do.
fn report(streams: &mut Streams<'_>, message: &str, status: Status) -> Status {
    let _ = writeln!(streams.err, "error: {message}");
    status
}
