//! `tidings serve`: the HTTP API over a data directory or a shared store, until it is stopped.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use tidings_api::keys::Secret;
use tidings_config::{CheckedConfig, duration};
use tidings_core::Rules;
use tidings_http::feedback::maildir;
#[cfg(feature = "postgres")]
use tidings_http::outbox_rows;
use tidings_http::{Access, Service, listen};
use tidings_node::channel::{CAUGHT_MAX, CaughtMailbox};
use tidings_node::{
    AheadClock, Clock, Follower, MaySend, Runtime as Node, RuntimeError, Settings, TENANTS_THERE,
};
use tidings_store::Expected;
use tokio::runtime::Runtime;

use super::reach::DATA_VARIABLE;
use super::{Status, Streams, report, signals};
use crate::app::resolver::ObjectStateClient;
use crate::app::server_files::ServerFile;
use crate::app::telemetry::Telemetry;
use crate::app::{self, ReopenableStore, StartError};

mod cluster;
mod log;

/// Arguments of `serve`.
#[derive(Clone, clap::Args)]
pub(super) struct ServeArguments {
    /// Configuration; read again on SIGHUP
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    config: PathBuf,
    /// Data directory; created if it does not exist. Not together with --store
    #[arg(long, value_name = "DIR", env = DATA_VARIABLE, required_unless_present = "store")]
    data: Option<PathBuf>,
    #[command(flatten)]
    shared: cluster::ClusterArguments,
    /// Address to listen on: HOST:PORT, or :PORT for all interfaces; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8990", value_parser = address)]
    listen: SocketAddr,
    /// Require no API key; on a loopback address only
    #[arg(long)]
    dev: bool,
    /// On SIGTERM, wait this long for requests and messages in progress
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = drain)]
    drain: Duration,
    /// Form of the log on standard error: lines for people, or a JSON object a line
    #[arg(long, value_name = "FORM", value_enum, default_value_t, env = "TIDINGS_LOG_FORMAT")]
    log_format: log::LogFormat,
    /// Refuse to start where there is no store, instead of making one: for data on a volume that may be missing
    #[arg(long)]
    require_store: bool,
    /// Keep at most this many connections of one address open, other than of this machine. Raise it for a proxy elsewhere
    #[arg(long, value_name = "N", default_value_t = listen::Bounds::default().peer_connections_max)]
    peer_connections: usize,
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
    found
        .iter()
        .find(|address| address.is_ipv4())
        .or(found.first())
        .copied()
        .ok_or_else(|| "the name has no address".to_owned())
}

/// Runs the command.
pub(super) fn run(arguments: &ServeArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    log::to_stderr(arguments.log_format);
    if arguments.dev && !arguments.listen.ip().is_loopback() {
        let message = format!(
            "--dev requires no API key, and {} can be reached from outside; listen on 127.0.0.1, or \
             create a key with `tidings key new` and leave --dev out",
            arguments.listen
        );
        return Ok(report(streams, &message, Status::Wrong));
    }
    let mut config = match tidings_config::check(&arguments.config) {
        Ok(checked) => checked,
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            return Ok(Status::Wrong);
        }
    };
    for warning in std::mem::take(&mut config.warnings) {
        writeln!(streams.err, "warning: {warning}")?;
    }
    let _telemetry = match config.rules.telemetry.as_ref().map(Telemetry::start).transpose() {
        Ok(telemetry) => telemetry,
        Err(fault) => {
            let message = format!("`[telemetry]`: {fault}");
            return Ok(report(streams, &message, Status::Wrong));
        }
    };
    // Precedes the store, which must not be made for a server that can't start.
    let missing = app::secret_faults(&config.rules);
    if !missing.is_empty() {
        let texts: Vec<String> = missing.into_iter().map(|fault| fault.text).collect();
        return Ok(report(streams, &texts.join("\n"), Status::Wrong));
    }
    if let Some(store) = &arguments.shared.store {
        return cluster::run(arguments, store, config, streams);
    }
    let Some(data) = &arguments.data else {
        // The parser of arguments requires one of both.
        return Ok(Status::Wrong);
    };
    // The lock of the directory precedes the port, so that the fault names a second server rather than a taken port.
    let options = tidings_store::Options {
        accept_loss: arguments.accept_loss,
        ..tidings_store::Options::default()
    };
    let expected = expected(arguments);
    let opened = expected.and_then(|expected| ReopenableStore::directory(data, expected, options));
    let store = match opened {
        Ok(store) => store,
        Err(fault) => {
            let status = Status::of_store(&fault);
            return Ok(report(streams, &fault.to_string(), status));
        }
    };
    match listener(arguments, streams) {
        Ok(listener) => serve(arguments, config, store, data, listener, streams),
        Err(status) => Ok(status),
    }
}

/// The store that may be opened at the start.
fn expected(arguments: &ServeArguments) -> Result<Expected, tidings_store::Error> {
    if arguments.require_store { Ok(Expected::Existing) } else { app::expect_or_make() }
}

fn drain(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Ok(ms) => Ok(Duration::from_millis(ms.unsigned_abs())),
        Err(fault) => Err(format!("{fault}; {}", fault.hint())),
    }
}

fn listener(arguments: &ServeArguments, streams: &mut Streams<'_>) -> Result<TcpListener, Status> {
    let bound = TcpListener::bind(arguments.listen)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    bound.map_err(|fault| {
        let message = format!(
            "cannot listen on {}: {fault}; choose another address with --listen",
            arguments.listen
        );
        report(streams, &message, Status::Failed)
    })
}

/// The bounds of requests. An address that may have more of the connections has as much more of the bodies.
fn bounds(peer_connections: usize) -> tidings_http::Settings {
    let usual = tidings_http::Settings::default();
    let connections_max = listen::Bounds::default().connections_max;
    let part = usual.open_bodies_bytes_max / connections_max;
    let of_peer = part * peer_connections.min(connections_max);
    tidings_http::Settings {
        open_bodies_peer_bytes_max: usual.open_bodies_peer_bytes_max.max(of_peer),
        ..usual
    }
}

/// A node that serves: its loop, and the state of the API over it.
struct ServingNode {
    node: Node,
    service: Arc<Service>,
    resolver: Arc<ObjectStateClient>,
    /// The hearing of a node that has no intake.
    follower: Option<Follower>,
}

impl ServingNode {
    /// Starts a node over a store, under a configuration. It sends messages if `may_send` allows it.
    fn start(
        store: ReopenableStore,
        CheckedConfig { rules, source, .. }: &CheckedConfig,
        arguments: &ServeArguments,
        token: &Secret,
        may_send: Option<MaySend>,
        completed: impl FnOnce(Service) -> Service,
    ) -> Result<Self, StartError> {
        let clock: Arc<dyn Clock> = Arc::new(AheadClock(arguments.clock_ahead));
        let mut settings = Settings { chores_at_stop: may_send.is_none(), ..Settings::default() };
        if let Some(records) = arguments.chores_after {
            settings.options.checkpoint_after = records;
            settings.options.index_after = Some(records);
        }
        app::check_feedback(rules)?;
        app::feeds(rules)?;
        let host = app::host_service(rules)?;
        let resolver = Arc::new(ObjectStateClient::new(host, Arc::clone(&clock)));
        let tokens = store.token_key()?;
        let (resolver_of, now) = (Arc::clone(&resolver) as _, Arc::clone(&clock));
        // Nobody could look at them on another server.
        let caught = Arc::new(CaughtMailbox::of(if arguments.dev { CAUGHT_MAX } else { 0 }));
        let channels = app::channels(rules, &tokens, &clock, &caught)?;
        let node = store.start(rules.clone(), channels, now, settings, resolver_of, may_send)?;
        let access =
            if arguments.dev { Access::Open } else { Access::Keys { token: Some(token.hash()) } };
        let bounds = bounds(arguments.peer_connections);
        let service = Service::new(node.handle(), rules.clone(), access, clock, bounds);
        service.trials.set_source(source.clone());
        Ok(Self {
            node,
            service: Arc::new(completed(service).with_site(tokens).with_caught(caught)),
            resolver,
            follower: None,
        })
    }
}

fn serve(
    arguments: &ServeArguments,
    mut config: CheckedConfig,
    store: ReopenableStore,
    data: &Path,
    listener: TcpListener,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let address = listener.local_addr()?;
    let url = format!("http://{address}");
    // At a port of the system's choice a mail that is sent again after a start would have other links.
    let own = (arguments.dev && arguments.listen.port() != 0).then_some(url.as_str());
    link_to(&mut config.rules, own);
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let stop = signals::stop(&tokio);
    // A SIGHUP before it is heard would end the process, and opening the store may take long.
    let hangups = signals::ReloadSignals::listen(&tokio);

    // Answers from the start: probes learn that it is alive, and not ready yet.
    let gate = Arc::new(OnceLock::new());
    let server = {
        let mut stop = stop.subscribe();
        let origins = config.rules.users.iter().flat_map(|users| users.origins.clone()).collect();
        let router = tidings_http::gate(Arc::clone(&gate), origins);
        let _inside = tokio.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let stopped = async move {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        let bounds = listen::Bounds {
            // The rest is for messages.
            drain_patience: arguments.drain / 2,
            peer_connections_max: arguments.peer_connections,
            ..listen::Bounds::default()
        }
        .with_streams(tidings_http::streams_max(&config.rules));
        tokio.spawn(listen::serve(listener, router, bounds, stopped))
    };
    let token = Secret::random()?;
    let started = ServingNode::start(store, &config, arguments, &token, None, |service| {
        service.in_directory(data)
    });
    let ServingNode { node, service, resolver, .. } = match started {
        Ok(started) => started,
        Err(fault) => {
            return Ok(report(streams, &fault.to_string(), Status::of_start(&fault)));
        }
    };
    let place = format!("--data {}", data.display());
    say_paused(&node, &place);
    let sender = Arc::clone(&stop);
    end_with(&node, move || {
        sender.send_replace(true);
    })?;
    if !arguments.dev && node.handle().keys().is_empty() {
        writeln!(streams.err, "warning: {}", no_key(&place))?;
    }
    // The token follows the address, so that no other address gets it, and the API opens after both, so that
    // it sees no token of an earlier start.
    let address_file = ServerFile::address(data, &url)?;
    let token_file = ServerFile::token(data, &token)?;
    open(&gate, tidings_http::router(Arc::clone(&service)));
    tokio.spawn(maildir::watch(Arc::clone(&service)));
    read_feeds(&service, tokio.handle());
    reload_by_signal(&tokio, hangups, &arguments.config, own, &service, resolver);

    writeln!(streams.out, "listening on {url}")?;
    streams.out.flush()?;
    tracing::info!(%url, "serving");

    let left = tokio.block_on(async {
        let mut stop = stop.subscribe();
        let _ = stop.wait_for(|stop| *stop).await;
        tracing::info!("stopping");
        let end = tokio::time::Instant::now() + arguments.drain;
        service.stop();
        drop(server.await);
        end.saturating_duration_since(tokio::time::Instant::now())
    });
    // Commands must not find a server that answers no more.
    drop((token_file, address_file));
    // Ends after the API: no request waits for a loop that is gone.
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
fn say_paused(node: &Node, place: &str) {
    let paused = node.handle().look(|node| {
        let paused = node.engine().paused();
        let channels = paused.channels().map(|name| format!("channel {name}"));
        let types = paused.types().map(|name| format!("type {name}"));
        channels.chain(types).collect::<Vec<_>>()
    });
    for what in paused.unwrap_or_default() {
        let resume = format!("tidings resume {what} {place}");
        tracing::warn!(%resume, "{what} is paused: nothing of it is sent until it is resumed");
    }
}

/// Calls `end` once the node has ended, by itself or not.
fn end_with(node: &Node, end: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let ended = node.ended();
    let wait = move || {
        ended.wait();
        end();
    };
    let thread = std::thread::Builder::new().name("tidings-end".to_owned());
    thread.spawn(wait).map(drop)
}

fn open(gate: &OnceLock<Router>, router: Router) {
    // It is opened here alone, and once.
    let _ = gate.set(router);
}

fn no_key(place: &str) -> String {
    format!(
        "there is no API key yet, so every request is refused. Create one: tidings key new {place}"
    )
}

fn reload_by_signal(
    tokio: &Runtime,
    hangups: signals::ReloadSignals,
    config: &Path,
    own: Option<&str>,
    service: &Arc<Service>,
    resolver: Arc<ObjectStateClient>,
) {
    let (config, own) = (config.to_owned(), own.map(str::to_owned));
    let service = Arc::clone(service);
    let read = move || reload(&config, own.as_deref(), &service, &resolver);
    hangups.answer(tokio, move || match read() {
        Ok(ReloadResult::InForce) => tracing::info!("the configuration is in force"),
        Ok(ReloadResult::Refused) => tracing::error!("the old configuration stays in force"),
        Err(fault) => tracing::error!(error = %fault, "the old configuration stays in force"),
    });
}

enum ReloadResult {
    InForce,
    Refused,
}

/// Makes mails link to the server's own address if the configuration has none, so that links of a developer's server
/// work.
fn link_to(rules: &mut Rules, own: Option<&str>) {
    let url = &mut rules.presentation.brand.url;
    if url.is_none() {
        *url = own.map(str::to_owned);
    }
}

/// Reads the configuration again and puts it in force, or logs its faults. `own` = the address of a developer's server.
fn reload(
    config: &Path,
    own: Option<&str>,
    service: &Arc<Service>,
    resolver: &ObjectStateClient,
) -> Result<ReloadResult, RuntimeError> {
    let Some(mut config) = read_again(config, &service.rules()) else {
        return Ok(ReloadResult::Refused);
    };
    link_to(&mut config.rules, own);
    put_in_force(config, service, resolver)
}

/// Reads the configuration, or logs its faults. One without types is refused where there were some: a pipe is empty when
/// it is read again, and a file while it is written, and what waits of a type that is gone ends unsent.
fn read_again(config: &Path, before: &Rules) -> Option<CheckedConfig> {
    if !config.is_file() {
        let place = config.display();
        tracing::error!(%place, hint = "name a file", "the configuration can't be read again");
        return None;
    }
    let log = |faults: &tidings_config::Faults| {
        for fault in &faults.list {
            let place = fault.place.as_ref().map(|at| format!(":{}:{}", at.line, at.column));
            let place = format!("{}{}", fault.file(&faults.file), place.unwrap_or_default());
            tracing::error!(%place, reason = %fault.reason, hint = %fault.hint, "fault in the configuration");
        }
    };
    let checked = tidings_config::check(config).inspect_err(log).ok()?;
    let rules = &checked.rules;
    if rules.types.is_empty() && !before.types.is_empty() {
        let place = config.display();
        tracing::error!(%place, "the configuration has no types any more: it is empty, or is being written");
        return None;
    }
    for event_type in before.types.keys() {
        if !rules.types.contains_key(event_type) {
            tracing::warn!(%event_type, "the type is gone: what waits of it is skipped when it is due");
        }
    }
    Some(checked)
}

/// Puts a configuration in force, or logs the reason why it can't be.
fn put_in_force(
    CheckedConfig { rules, source, .. }: CheckedConfig,
    service: &Arc<Service>,
    resolver: &ObjectStateClient,
) -> Result<ReloadResult, RuntimeError> {
    let Some(tokens) = service.tokens() else {
        return Ok(ReloadResult::Refused);
    };
    let opened = app::check_feedback(&rules)
        .and_then(|()| app::channels(&rules, tokens, service.clock(), &service.caught))
        .and_then(|channels| app::host_service(&rules).map(|host| (channels, host)))
        .and_then(|opened| app::feeds(&rules).map(|feeds| (opened, feeds)));
    let ((channels, host), feeds_here) = match opened {
        Ok(opened) => opened,
        Err(fault) => {
            tracing::error!(reason = %fault, "fault in the configuration");
            return Ok(ReloadResult::Refused);
        }
    };
    if rules.tenants.is_none() && tidings_http::v1::tenants::are_there(service)? {
        tracing::error!(reason = TENANTS_THERE, "fault in the configuration");
        return Ok(ReloadResult::Refused);
    }
    service.configure(rules, channels)?;
    service.trials.set_source(source);
    resolver.replace(host);
    #[cfg(feature = "postgres")]
    outbox_rows::configure(service, feeds_here);
    #[cfg(not(feature = "postgres"))]
    let () = feeds_here;
    Ok(ReloadResult::InForce)
}

/// Begins to read the configured feeds.
#[cfg(feature = "postgres")]
fn read_feeds(service: &Arc<Service>, runtime: &tokio::runtime::Handle) {
    match app::feeds(&service.rules()) {
        Ok(found) => outbox_rows::begin(service, runtime, found),
        // They were looked at before the store was opened.
        Err(fault) => tracing::error!(reason = %fault, "the feeds can't be read"),
    }
}

#[cfg(not(feature = "postgres"))]
fn read_feeds(_: &Arc<Service>, _: &tokio::runtime::Handle) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_of_a_developers_server_lead_to_itself_where_nothing_else_is_said() {
        let own = Some("http://127.0.0.1:8990");
        let mut rules = Rules::default();
        link_to(&mut rules, None);
        assert_eq!(rules.presentation.brand.url, None);
        link_to(&mut rules, own);
        assert_eq!(rules.presentation.brand.url.as_deref(), own);
        rules.presentation.brand.url = Some("https://art.example".to_owned());
        link_to(&mut rules, own);
        assert_eq!(rules.presentation.brand.url.as_deref(), Some("https://art.example"));
    }
}
