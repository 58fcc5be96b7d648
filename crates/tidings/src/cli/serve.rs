//! `tidings serve`: the HTTP API over a data directory, until it is stopped.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use tidings_core::Rules;
use tidings_core::engine::Options;
use tidings_node::{AheadClock, Clock, Runtime as Node, RuntimeError};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::reach::DATA_VARIABLE;
use super::{Status, Streams, report, signals};
use crate::app::{self, Disk, StartError};
use crate::config::{self, duration};
use crate::http::{self, Access, Service, listen};
use crate::keys::Secret;
use crate::presence::Mark;
use crate::resolver::HostResolver;

/// Arguments of `serve`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Configuration; read again on SIGHUP
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    config: PathBuf,
    /// Data directory; created if it does not exist
    #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
    data: PathBuf,
    /// Address to listen on: HOST:PORT, or :PORT for all interfaces; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8990", value_parser = address)]
    listen: SocketAddr,
    /// Require no API key; on a loopback address only
    #[arg(long)]
    dev: bool,
    /// On SIGTERM, wait this long for requests and messages in progress
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = drain)]
    drain: Duration,
    /// Start even if the newest commits are missing from the data directory; those commits are lost
    #[arg(long)]
    accept_loss: bool,
    /// Run this many milliseconds ahead of the machine's clock, for tests of the process
    #[arg(long, value_name = "MS", default_value_t = 0, hide = true)]
    clock_ahead: i64,
    /// Run the chores of a bucket after this many records, for tests of the process
    #[arg(long, value_name = "RECORDS", hide = true)]
    chores_after: Option<u64>,
}

/// Reads an address to listen on. A name stands for the first of its addresses, IPv4 before IPv6.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let whole = match text.strip_prefix(':') {
        Some(port) => format!("0.0.0.0:{port}"),
        None => text.to_owned(),
    };
    let found = whole.to_socket_addrs().map_err(|fault| {
        format!("{fault}; write HOST:PORT such as 127.0.0.1:8990, or :8990 for all interfaces")
    })?;
    let found: Vec<SocketAddr> = found.collect();
    let first = found.iter().find(|address| address.is_ipv4());
    let first = first.or(found.first()).copied();
    first.ok_or_else(|| "the name has no address".to_owned())
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    log_to_stderr();
    if arguments.dev && !arguments.listen.ip().is_loopback() {
        let message = format!(
            "--dev requires no API key, and {} can be reached from outside; listen on 127.0.0.1, or \
             create a key with `tidings key new` and leave --dev out",
            arguments.listen
        );
        return Ok(report(streams, &message, Status::Wrong));
    }
    let rules = match config::read(&arguments.config) {
        Ok(rules) => rules,
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            return Ok(Status::Wrong);
        }
    };
    for warning in config::warnings(&rules) {
        writeln!(streams.err, "warning: {warning}")?;
    }
    // First the lock: whoever has it is told from who merely has the port.
    let opened = match arguments.accept_loss {
        true => Disk::open_with_loss(&arguments.data),
        false => Disk::open(&arguments.data),
    };
    let disk = match opened {
        Ok(disk) => disk,
        Err(fault) => {
            let status = Status::of_store(&fault);
            return Ok(report(streams, &fault.to_string(), status));
        }
    };
    let listener = match listener(arguments.listen) {
        Ok(listener) => listener,
        Err(fault) => {
            let message = format!(
                "cannot listen on {}: {fault}; choose another address with --listen",
                arguments.listen
            );
            return Ok(report(streams, &message, Status::Failed));
        }
    };
    serve(arguments, rules, disk, listener, streams)
}

fn drain(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Ok(ms) => Ok(Duration::from_millis(ms.unsigned_abs())),
        Err(fault) => Err(format!("{fault}; {}", fault.hint())),
    }
}

fn log_to_stderr() {
    use tracing::level_filters::LevelFilter;
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;
    let levels = std::env::var("TIDINGS_LOG").ok();
    let levels = levels.and_then(|levels| levels.parse::<Targets>().ok());
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .with_writer(io::stderr)
        .finish();
    let info = || Targets::new().with_default(LevelFilter::INFO);
    let log = log.with(levels.unwrap_or_else(info));
    // Whoever embeds this may have a log of their own.
    drop(log.try_init());
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn serve(
    arguments: &Arguments,
    rules: Rules,
    disk: Disk,
    listener: TcpListener,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let address = listener.local_addr()?;
    let url = format!("http://{address}");
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let stop = signals::stop(&tokio);
    // Opening the store may take long.
    let hangups = signals::Hangups::listen(&tokio);

    // It answers from the start; what it answers says whether it serves yet.
    let gate = Arc::new(OnceLock::new());
    let server = {
        let mut stop = stop.subscribe();
        let router = http::gate(Arc::clone(&gate));
        let _inside = tokio.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let stopped = async move { drop(stop.wait_for(|stop| *stop).await) };
        let bounds = listen::Bounds {
            // The rest is for messages.
            drain_patience: arguments.drain / 2,
            ..listen::Bounds::default()
        };
        tokio.spawn(listen::serve(listener, router, bounds, stopped))
    };
    let clock: Arc<dyn Clock> = Arc::new(AheadClock(arguments.clock_ahead));
    let mut options = Options::default();
    if let Some(records) = arguments.chores_after {
        options.checkpoint_after = records;
        options.index_after = Some(records);
    }
    let resolver = match app::host_service(&rules) {
        Ok(service) => Arc::new(HostResolver::new(service, Arc::clone(&clock))),
        Err(fault) => {
            return Ok(report(
                streams,
                &fault.to_string(),
                Status::of_start(&fault),
            ));
        }
    };
    let asked = Arc::clone(&resolver);
    let tokens = disk.token_key();
    let started = tokens.map_err(StartError::from).and_then(|tokens| {
        let node = disk.start(rules.clone(), &tokens, Arc::clone(&clock), options, asked)?;
        Ok((node, tokens))
    });
    let (node, tokens) = match started {
        Ok(started) => started,
        Err(fault) => {
            return Ok(report(
                streams,
                &fault.to_string(),
                Status::of_start(&fault),
            ));
        }
    };
    say_paused(&node, &arguments.data);
    end_with(&node, Arc::clone(&stop))?;
    let token = Secret::random()?;
    let access = access(arguments, &node, &token, streams)?;
    let settings = http::Settings::default();
    let service = Service::new(node.handle(), rules, access, clock, settings);
    let service = service.in_directory(&arguments.data).with_site(tokens);
    let service = Arc::new(service);
    // The token follows the address, so that no other address gets it, and the API opens after both, so that
    // it sees no token of an earlier start.
    let address_mark = Mark::address(&arguments.data, &url)?;
    let token_mark = Mark::token(&arguments.data, &token)?;
    open(&gate, http::router(Arc::clone(&service)));
    reload_by_signal(&tokio, hangups, &arguments.config, &service, resolver);

    writeln!(streams.out, "listening on {url}")?;
    streams.out.flush()?;
    tracing::info!(%url, "serving");

    let left = tokio.block_on(async {
        let mut stop = stop.subscribe();
        drop(stop.wait_for(|stop| *stop).await);
        tracing::info!("stopping");
        let end = tokio::time::Instant::now() + arguments.drain;
        service.stop();
        drop(server.await);
        end.saturating_duration_since(tokio::time::Instant::now())
    });
    drop((token_mark, address_mark));
    let stopped = node.stop_within(left);
    // A call that still waits for the disk or for its client must not keep the process.
    tokio.shutdown_background();
    match stopped {
        Ok(()) => {
            tracing::info!("stopped");
            Ok(Status::Done)
        }
        Err(RuntimeError::Stopped) => {
            let message = "a write hangs, so the process ends: only that lets go of the directory; \
                           nothing that was acknowledged is lost";
            Ok(report(streams, message, Status::Failed))
        }
        Err(fault) => {
            let message = format!("the store failed at the end: {fault}; nothing durable is lost");
            Ok(report(streams, &message, Status::Failed))
        }
    }
}

/// Logs the paused types and channels, of which nothing is sent before they are resumed.
fn say_paused(node: &Node, data: &Path) {
    let paused = node.handle().look(|node| {
        let paused = node.engine().paused();
        let channels = paused.channels().map(|name| format!("channel {name}"));
        let types = paused.types().map(|name| format!("type {name}"));
        channels.chain(types).collect::<Vec<_>>()
    });
    for what in paused.unwrap_or_default() {
        let resume = format!("tidings resume {what} --data {}", data.display());
        tracing::warn!(%resume, "{what} is paused: nothing of it is sent until it is resumed");
    }
}

/// Ends the process if the node ends by itself; a supervisor starts another one.
fn end_with(node: &Node, stop: Arc<watch::Sender<bool>>) -> io::Result<()> {
    let ended = node.ended();
    let wait = move || {
        ended.wait();
        stop.send_replace(true);
    };
    let thread = std::thread::Builder::new().name("tidings-end".to_owned());
    thread.spawn(wait).map(drop)
}

fn open(gate: &OnceLock<Router>, router: Router) {
    // It is opened here alone, and once.
    drop(gate.set(router));
}

fn access(
    arguments: &Arguments,
    node: &Node,
    token: &Secret,
    streams: &mut Streams<'_>,
) -> io::Result<Access> {
    if arguments.dev {
        return Ok(Access::Open);
    }
    if node.handle().keys().is_empty() {
        writeln!(
            streams.err,
            "warning: there is no API key yet, so every request is refused. Create one: tidings key \
             new --data {}",
            arguments.data.display()
        )?;
    }
    Ok(Access::Keys {
        token: Some(token.hash()),
    })
}

fn reload_by_signal(
    tokio: &Runtime,
    hangups: signals::Hangups,
    config: &Path,
    service: &Arc<Service>,
    resolver: Arc<HostResolver>,
) {
    let (config, service) = (config.to_owned(), Arc::clone(service));
    hangups.answer(tokio, move || match reload(&config, &service, &resolver) {
        Ok(Reloaded::InForce) => tracing::info!("the configuration is in force"),
        Ok(Reloaded::Refused) => tracing::error!("the old configuration stays in force"),
        Err(fault) => tracing::error!(error = %fault, "the old configuration stays in force"),
    });
}

enum Reloaded {
    InForce,
    Refused,
}

/// Reads the configuration again and puts it in force, or logs its faults.
fn reload(
    config: &Path,
    service: &Service,
    resolver: &HostResolver,
) -> Result<Reloaded, RuntimeError> {
    let rules = match config::read(config) {
        Ok(rules) => rules,
        Err(faults) => {
            for fault in &faults.list {
                let place = fault.place.as_ref();
                let place = place.map(|at| format!(":{}:{}", at.line, at.column));
                let place = format!("{}{}", faults.file, place.unwrap_or_default());
                tracing::error!(%place, reason = %fault.reason, hint = %fault.hint, "fault in the configuration");
            }
            return Ok(Reloaded::Refused);
        }
    };
    let Some(tokens) = service.tokens() else {
        return Ok(Reloaded::Refused);
    };
    let opened = app::channels(&rules, tokens, service.clock())
        .and_then(|channels| app::host_service(&rules).map(|host| (channels, host)));
    let (channels, host) = match opened {
        Ok(opened) => opened,
        Err(fault) => {
            tracing::error!(reason = %fault, "fault in the configuration");
            return Ok(Reloaded::Refused);
        }
    };
    service.configure(rules, channels)?;
    resolver.replace(host);
    Ok(Reloaded::InForce)
}
