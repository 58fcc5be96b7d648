//! `tidings demo`: plays a museum's winter for 25,000 recipients, and serves a page that shows the
//! result.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tidings_api::keys;
use tidings_demo::Scenario;
use tidings_demo::command::{self, DemoFault, DemoSettings};
use tidings_demo::play;

use super::{Progress, Status, Streams, report, signals};

/// Arguments of `demo`.
#[derive(clap::Args)]
pub(super) struct DemoArguments {
    /// Play and print only; serve no page
    #[arg(long)]
    pub(super) headless: bool,
    /// Print one JSON object: the counters of the summary, and durations
    #[arg(long)]
    pub(super) json: bool,
    /// Keep the store and the Maildir in this directory, which must be empty or absent; else they are
    /// deleted at the end
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Address of the page
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8990", value_parser = super::serve::address)]
    pub(super) listen: SocketAddr,
}

/// Runs the command over a scenario.
pub(super) fn run(
    arguments: &DemoArguments,
    scenario: Scenario,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stop = signals::stop(&runtime).subscribe();
    let settings = DemoSettings {
        rules: tidings_config::parse(play::RULES, "examples/art/tidings.toml")
            .expect("the compiled-in configuration has no fault"),
        listen: (!arguments.headless).then_some(arguments.listen),
        json: arguments.json,
        data: arguments.data.clone(),
        store: keys::store_id()?,
        progress: match streams.progress {
            Progress::Apart | Progress::Shared => command::ProgressForm::Bar,
            Progress::Plain => command::ProgressForm::Lines,
            Progress::Hidden => command::ProgressForm::Hidden,
        },
    };
    match command::run(settings, scenario, runtime, stop, streams.out, streams.err) {
        Ok(()) => Ok(Status::Done),
        Err(DemoFault::Output(error)) => Err(error),
        Err(fault) => Ok(report(streams, &fault.to_string(), status_of(&fault))),
    }
}

fn status_of(fault: &DemoFault) -> Status {
    match fault {
        DemoFault::Play(play::PlayFault::Occupied(_)) => Status::Wrong,
        DemoFault::Play(play::PlayFault::Store(fault)) => Status::of_store(fault),
        DemoFault::Play(play::PlayFault::Node(fault)) => Status::of_node(fault),
        _ => Status::Failed,
    }
}

#[cfg(test)]
mod tests;
