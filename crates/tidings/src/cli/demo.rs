//! `tidings demo`: plays a museum's winter for 25,000 recipients, and serves a developer's pages over the result.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use tidings_api::keys;
use tidings_demo::Scenario;
use tidings_demo::command::{self, DemoFault, DemoSettings, PlayedDemo};
use tidings_demo::play;

use self::pages::DemoServer;
use super::{Progress, Status, Streams, report, signals};

mod pages;

/// Arguments of `demo`.
#[derive(clap::Args)]
pub(super) struct DemoArguments {
    /// Play and print only; serve no pages
    #[arg(long)]
    pub(super) headless: bool,
    /// Print one JSON object: the counters of the summary, and durations
    #[arg(long)]
    pub(super) json: bool,
    /// Keep the store and the Maildir in this directory, which must be empty or absent; else they are
    /// deleted at the end
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Address of the pages, on this machine
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8990", value_parser = super::serve::address)]
    pub(super) listen: SocketAddr,
}

/// Runs the command over a scenario.
pub(super) fn run(
    arguments: &DemoArguments,
    scenario: &Scenario,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let stop = signals::stop(&runtime).subscribe();
    let mut rules = tidings_config::parse(play::RULES, play::RULES_FILE)
        .expect("the compiled-in configuration has no fault");
    // Before anything is played: who waited for it wants to see the pages.
    let listener = match (!arguments.headless).then(|| bind(arguments.listen)).transpose() {
        Ok(listener) => listener,
        Err((message, status)) => return Ok(report(streams, &message, status)),
    };
    let url = match &listener {
        Some(listener) => Some(format!("http://{}", listener.local_addr()?)),
        None => None,
    };
    if url.is_some() {
        // Mails lead to the pages.
        rules.presentation.brand.url.clone_from(&url);
    }
    let settings = DemoSettings {
        rules,
        json: arguments.json,
        data: arguments.data.clone(),
        store: keys::store_id()?,
        progress: match streams.progress {
            Progress::Apart | Progress::Shared => command::ProgressForm::Bar,
            Progress::Plain => command::ProgressForm::Lines,
            Progress::Hidden => command::ProgressForm::Hidden,
        },
    };
    let is_stopped = || *stop.borrow();
    let demo = match command::run(settings, scenario, &is_stopped, streams.out, streams.err) {
        Ok(demo) => demo,
        Err(DemoFault::Output(error)) => return Err(error),
        Err(fault) => return Ok(report(streams, &fault.to_string(), status_of(&fault))),
    };
    let (Some(listener), Some(url)) = (listener, url) else {
        return Ok(Status::Done);
    };
    let PlayedDemo { story, played, ends, data } = demo;
    let server = match DemoServer::start(played, story, ends, data.path()) {
        Ok(server) => server,
        Err(fault) => return Ok(report(streams, &fault.to_string(), Status::of_start(&fault))),
    };
    writeln!(streams.err, "Look around at {url}/ (Ctrl-C ends it)")?;
    server.serve(&runtime, listener, stop)?;
    // Reads in progress have the store open: the directory is removed after them.
    drop(runtime);
    drop(data);
    Ok(Status::Done)
}

/// Takes the port of the pages, whose calls need no key: on this machine alone.
fn bind(listen: SocketAddr) -> Result<TcpListener, (String, Status)> {
    if !listen.ip().is_loopback() {
        let message = format!(
            "the demo's pages need no API key, and {listen} can be reached from outside; listen on 127.0.0.1"
        );
        return Err((message, Status::Wrong));
    }
    let bound = TcpListener::bind(listen)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    bound.map_err(|fault| {
        let message = format!(
            "cannot serve the pages on {listen}: {fault}; choose another port with `--listen 127.0.0.1:0` (any that \
             is free), or none with `--headless`"
        );
        (message, Status::Failed)
    })
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
