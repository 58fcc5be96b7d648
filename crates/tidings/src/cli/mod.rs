//! The command line: arguments in, text and an exit code out.
//!
//! Commands get their streams handed in, so that tests run them without a process.

mod backup;
#[cfg(feature = "bench")]
mod bench;
mod calls;
mod check;
#[cfg(feature = "demo")]
mod demo;
mod export;
mod help;
mod import;
mod mail;
#[cfg(feature = "postgres")]
mod outbox_sql;
mod print;
mod publish;
mod reach;
mod serve;
mod signals;
mod simulate;
mod status;
#[cfg(test)]
mod tests;
mod types;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tidings_core::Rules;
use tidings_trial::simulate::{CommandPlayer, PlayError};

use crate::app::StartError;

/// A factory of the player of `simulate`.
pub type MakePlayer<'p> = &'p dyn Fn(Rules) -> Result<Box<dyn CommandPlayer>, PlayError>;

/// The output streams of a command.
pub struct Streams<'w> {
    /// Results. Flushed when the command ends.
    pub out: &'w mut dyn Write,
    /// Faults.
    pub err: &'w mut dyn Write,
    /// The form of progress on the process's own standard error.
    pub progress: Progress,
}

/// The form in which progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Shown on a terminal, with results elsewhere.
    Apart,
    /// Shown on the same terminal as results: what would interrupt them is omitted.
    Shared,
    /// Shown as lines, without a terminal.
    Plain,
    /// Not shown.
    Hidden,
}

/// The end of a command (contract, section 5).
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
    /// The status of a command whose store can't be used. A temporary fault may be retried.
    fn of_store(fault: &tidings_store::Error) -> Self {
        use tidings_store::Error;
        match fault {
            Error::Locked(_)
            | Error::Missing(_)
            | Error::Unusable(_)
            | Error::Format(_)
            | Error::Corrupt(_) => Self::Unusable,
            Error::Invalid(_)
            | Error::Full(_)
            | Error::Unavailable(_)
            | Error::Hung(_)
            | Error::Fenced => Self::Failed,
        }
    }

    /// The status of a command whose node can't be used.
    fn of_node(fault: &tidings_node::Error) -> Self {
        match fault {
            tidings_node::Error::Store(fault) | tidings_node::Error::Chore { fault, .. } => {
                Self::of_store(fault)
            }
            tidings_node::Error::Unreadable(_) | tidings_node::Error::Disagreement(_) => {
                Self::Unusable
            }
            tidings_node::Error::TenantsThere => Self::Wrong,
        }
    }

    /// The status of a command that can't start a node.
    fn of_start(fault: &StartError) -> Self {
        match fault {
            StartError::Channel(_)
            | StartError::Feed(_)
            | StartError::Resolver(_)
            | StartError::Feedback(_) => Self::Wrong,
            StartError::Node(fault) => Self::of_node(fault),
        }
    }

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
    /// Back up the store into a file, while the server runs
    Backup(backup::Backup),
    /// Run benchmarks on this machine
    #[cfg(feature = "bench")]
    Bench(bench::BenchArguments),
    /// Check a configuration: lists every fault with its line and how to fix it
    Check(check::CheckArguments),
    /// Print a script that completes these commands in a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the default configuration, with a comment on every key
    Config,
    /// Play a museum's winter with 25,000 recipients, and browse what each of them received
    #[cfg(feature = "demo")]
    Demo(demo::DemoArguments),
    /// Write the last days of a store as a timeline, which `simulate` and `tune` play; or one person's data
    Export(export::ExportArguments),
    /// Import recipients, subscriptions or objects from a file
    Import(import::ImportArguments),
    /// Write the manual pages of these commands
    Man {
        /// Directory to write tidings.1 and a page for each command to
        directory: PathBuf,
    },
    /// Print the migration of your database, from whose table events are read
    #[cfg(feature = "postgres")]
    Outbox(outbox_sql::OutboxArguments),
    /// Write a mail of made-up items to files, to look at it
    Preview(mail::Preview),
    /// Publish events: from a file, or one event given by flags
    Publish(Box<publish::PublishArguments>),
    /// Restore a backup into an empty directory or database; its channels start paused
    Restore(backup::Restore),
    /// Serve the HTTP API over a data directory, or over a database that nodes share
    Serve(serve::ServeArguments),
    /// Write the default templates of mails beside the configuration, to be changed
    Template(mail::Template),
    /// Play a timeline on a virtual clock and print the messages that would go out
    Simulate(simulate::SimulateArguments),
    /// Propose `quiet` and `max_wait` of cool-downs for a goal, by playing a timeline with each choice
    Tune(Box<simulate::tune::Arguments>),
    /// Print the JSON Schema of events' `data`, from which generators write types for a program
    Types(types::TypesArguments),
}

/// Runs one command. `arguments` begins with the program's name.
pub fn run<I>(arguments: I, make: MakePlayer<'_>, streams: &mut Streams<'_>) -> Status
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    let matches = match help::grouped(command()).try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, streams),
    };
    let ended = match calls::run(&matches, streams) {
        Some(ended) => ended,
        None => match Arguments::from_arg_matches(&matches) {
            Ok(arguments) => run_one(arguments.command, make, streams),
            Err(error) => return usage(&error, streams),
        },
    };
    match ended.and_then(|status| streams.out.flush().map(|()| status)) {
        Ok(status) => status,
        // The reader has enough: that is how a pipe into `head` ends.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::Done,
        Err(error) => report(streams, &format!("cannot write: {error}"), Status::Failed),
    }
}

/// All commands: those of the table, and those below.
fn command() -> clap::Command {
    calls::augment(Arguments::command())
}

/// Runs a command that is more than one call.
fn run_one(
    command: Command,
    make: MakePlayer<'_>,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    match command {
        Command::Backup(arguments) => backup::backup(&arguments, streams),
        #[cfg(feature = "bench")]
        Command::Bench(arguments) => bench::run(&arguments, streams),
        Command::Check(arguments) => check::run(&arguments, streams),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut self::command(), "tidings", streams.out);
            Ok(Status::Done)
        }
        Command::Man { directory } => man(&directory, streams),
        Command::Config => {
            streams.out.write_all(tidings_config::DEFAULT.as_bytes()).map(|()| Status::Done)
        }
        #[cfg(feature = "demo")]
        Command::Demo(arguments) => demo::run(&arguments, &tidings_demo::scenario(), streams),
        Command::Export(arguments) => export::run(&arguments, streams),
        Command::Import(arguments) => import::run(&arguments, streams),
        #[cfg(feature = "postgres")]
        Command::Outbox(arguments) => outbox_sql::run(&arguments, streams),
        Command::Preview(arguments) => mail::preview(&arguments, streams),
        Command::Publish(arguments) => publish::run(&arguments, streams),
        Command::Restore(arguments) => backup::restore(&arguments, streams),
        Command::Serve(arguments) => serve::run(&arguments, streams),
        Command::Simulate(arguments) => match &arguments.config {
            Some(config) => simulate::run(config, &arguments, make, streams),
            None => simulate::compare::run(&arguments.compare, &arguments, make, streams),
        },
        Command::Template(arguments) => mail::template(&arguments, streams),
        Command::Types(arguments) => types::run(&arguments, streams),
        Command::Tune(arguments) => simulate::tune::run(&arguments, make, streams),
    }
}

/// Writes the manual pages of all commands.
fn man(directory: &Path, streams: &mut Streams<'_>) -> io::Result<Status> {
    let written =
        fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(command(), directory));
    if let Err(fault) = written {
        let message = format!("can't write to {}: {fault}", directory.display());
        return Ok(report(streams, &message, Status::Wrong));
    }
    Ok(Status::Done)
}

/// Handles argument errors: help and version succeed; everything else is wrong use.
fn usage(error: &clap::Error, streams: &mut Streams<'_>) -> Status {
    let text = error.render();
    let (stream, status) = if error.use_stderr() {
        (&mut *streams.err, Status::Wrong)
    } else {
        (&mut *streams.out, Status::Done)
    };
    // There is no other way to report that this fails.
    let _ = write!(stream, "{text}").and_then(|()| stream.flush());
    status
}

/// Creates a file for personal data in place of what is there: its user alone may read it, whatever the umask.
fn private_file(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Reports a fault on the error stream; if even that fails, the exit code must do.
fn report(streams: &mut Streams<'_>, message: &str, status: Status) -> Status {
    let _ = writeln!(streams.err, "error: {message}");
    status
}
