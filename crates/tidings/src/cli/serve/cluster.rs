//! `tidings serve --store`: a node of a cluster, which holds the store that several share, or forwards calls to the
//! one that does.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidings_api::keys::{self, Secret};
use tidings_config::CheckedConfig;
use tidings_core::Rules;
use tidings_http::cluster::{self, Cluster};
use tidings_http::feedback::maildir;
use tidings_http::nodes::follow::HttpLeaderLink;
use tidings_http::{listen, streams_max};
use tidings_node::{Candidate, Follower, LeaseCallbacks, RuntimeError, Term};
use tidings_store::StorePlace;
use tidings_store::database;
use tidings_store::lease::{Leases, Member, NodeId, NodeToken, Role};

use super::{
    ReloadResult, ServeArguments, ServingNode, end_with, expected, listener, no_key, put_in_force,
    read_again, read_feeds, say_paused,
};
use crate::app::{self, ReopenableStore};
use crate::cli::reach::STORE_VARIABLE;
use crate::cli::{Status, Streams, report, signals};

/// Time that messages being sent have once another node waits for the store.
const HAND_OVER: Duration = Duration::from_secs(5);

/// Arguments of a node that shares its store.
#[derive(Clone, clap::Args)]
pub(super) struct ClusterArguments {
    /// Database that several nodes share, in place of a data directory: postgres://USER@HOST/DB
    #[arg(long, value_name = "URL", env = STORE_VARIABLE, hide_env_values = true)]
    pub(super) store: Option<String>,
    /// With --store: address at which other nodes reach this one, HOST:PORT [default: that of --listen]
    #[arg(long, value_name = "ADDR", requires = "store")]
    advertise: Option<String>,
    /// With --store: name of this node [default: the advertised address]
    #[arg(long, value_name = "NAME", requires = "store")]
    node: Option<String>,
}

/// Runs a node until it is stopped.
pub(super) fn run(
    arguments: &ServeArguments,
    store: &str,
    config: CheckedConfig,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    if arguments.listen.ip().is_unspecified() && arguments.shared.advertise.is_none() {
        let message = "no other node can reach this one at all interfaces at once: name its address with --advertise";
        return Ok(report(streams, message, Status::Wrong));
    }
    let opened = expected(arguments).and_then(|expected| database::share(store, expected));
    let leases = match opened {
        Ok(shared) => {
            if shared.is_new {
                let place = StorePlace::Database(store.to_owned());
                app::log_new_store(shared.id, &place);
            }
            shared.leases
        }
        Err(fault) => {
            let status = Status::of_store(&fault);
            return Ok(report(streams, &fault.to_string(), status));
        }
    };
    let listener = match listener(arguments, streams) {
        Ok(listener) => listener,
        Err(status) => return Ok(status),
    };
    let address = listener.local_addr()?;
    let url = format!("http://{address}");
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let stop = signals::stop(&tokio);
    let hangups = signals::ReloadSignals::listen(&tokio);

    let token = Secret::random()?;
    let mut me = member(&arguments.shared, address.to_string(), &token)?;
    me.config = digest(&config.rules);
    tracing::info!(node = %me.name, address = %me.address, "joining the nodes of the store");
    let cluster = Arc::new(Cluster::new(me.id));
    cluster.open_to_pages(&config.rules);
    let streams_max = streams_max(&config.rules);
    let state = Arc::new(ProcessState {
        leases: Arc::clone(&leases),
        cluster: Arc::clone(&cluster),
        arguments: arguments.clone(),
        token,
        config: Mutex::new(config),
        serving: Mutex::default(),
        tokio: tokio.handle().clone(),
    });
    let (close, closed) = tokio::sync::oneshot::channel::<()>();
    let server = {
        let router = cluster::router(Arc::clone(&cluster));
        let _inside = tokio.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let bounds = listen::Bounds {
            drain_patience: arguments.drain / 2,
            peer_connections_max: arguments.peer_connections,
            ..listen::Bounds::default()
        }
        .with_streams(streams_max);
        let closed = async move { drop(closed.await) };
        tokio.spawn(listen::serve(listener, router, bounds, closed))
    };
    let holding = Box::new(ServeTerms(Arc::clone(&state)));
    let (observer, serves) = (Arc::clone(&cluster), Arc::clone(&state));
    let candidate =
        Candidate::start(leases, me, holding, move |members| observer.observe(members))?;
    let config = arguments.config.clone();
    let configured = candidate.configurer();
    hangups.answer(&tokio, move || {
        if let Some(digest) = state.reload(&config) {
            configured(digest);
        }
    });

    writeln!(streams.out, "listening on {url}")?;
    streams.out.flush()?;
    let left = tokio.block_on(async {
        let mut stop = stop.subscribe();
        let _ = stop.wait_for(|stop| *stop).await;
        tracing::info!("stopping");
        cluster.stop();
        if let Some(serving) = &*serves.serving() {
            serving.service.end_streams();
        }
        // Calls are answered meanwhile: they can be made again at another node.
        let patience = arguments.drain.max(HAND_OVER * 2);
        let left = tokio::task::spawn_blocking(move || candidate.leave(patience)).await;
        // The port closes last: calls are forwarded to the new holder until then.
        close.send(()).ok();
        drop(server.await);
        left.unwrap_or(false)
    });
    tokio.shutdown_background();
    if left {
        tracing::info!("stopped");
        return Ok(Status::Done);
    }
    let message =
        "the store was not closed in time; another node takes it over, and nothing durable is lost";
    Ok(report(streams, message, Status::Failed))
}

fn member(shared: &ClusterArguments, listens: String, token: &Secret) -> io::Result<Member> {
    let mut id = [0; 8];
    keys::fill(&mut id)?;
    let advertised = shared.advertise.clone().unwrap_or(listens);
    let address = match advertised.strip_prefix("http://") {
        Some(address) => address.trim_end_matches('/').to_owned(),
        None => advertised,
    };
    Ok(Member {
        id: NodeId(i64::from_be_bytes(id)),
        name: shared.node.clone().unwrap_or_else(|| address.clone()),
        address: format!("http://{address}"),
        token: NodeToken(token.text().to_owned()),
        heartbeat: 0,
        unanswered: false,
        role: Role::Standby,
        lag_ms: 0,
        config: String::new(),
    })
}

/// The digest by which nodes compare their configurations.
fn digest(rules: &Rules) -> String {
    format!("{:016x}", rules.digest())
}

/// The state of the process, whether it holds the store or not.
struct ProcessState {
    leases: Arc<dyn Leases>,
    cluster: Arc<Cluster>,
    arguments: ServeArguments,
    token: Secret,
    /// The configuration that this node puts in force when it opens the store.
    config: Mutex<CheckedConfig>,
    serving: Mutex<Option<ServingNode>>,
    /// Runtime of what runs beside it.
    tokio: tokio::runtime::Handle,
}

impl ProcessState {
    /// The configuration that this node puts in force when it opens the store. Who holds its lock asks for no other.
    fn config(&self) -> CheckedConfig {
        let config = self.config.lock();
        config.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn serving(&self) -> MutexGuard<'_, Option<ServingNode>> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the configuration again, for the next time that this node opens the store, or for now if it holds it.
    /// Returns its digest; `None` if the old one stays.
    fn reload(&self, file: &Path) -> Option<String> {
        let Some(config) = read_again(file, &self.config().rules) else {
            tracing::error!("the old configuration stays in force");
            return None;
        };
        let digest = digest(&config.rules);
        let serving = self.serving();
        let done = match &*serving {
            Some(ServingNode { service, resolver, .. }) => {
                put_in_force(config.clone(), service, resolver)
            }
            None => Ok(ReloadResult::InForce),
        };
        match done {
            Ok(ReloadResult::InForce) => {
                self.cluster.open_to_pages(&config.rules);
                *self.config.lock().unwrap_or_else(PoisonError::into_inner) = config;
                tracing::info!(holds = serving.is_some(), "the configuration was read");
                return Some(digest);
            }
            Ok(ReloadResult::Refused) => tracing::error!("the old configuration stays in force"),
            Err(fault) => tracing::error!(error = %fault, "the old configuration stays in force"),
        }
        None
    }
}

/// Serves the store of each term in which this process holds the lease or a share.
struct ServeTerms(Arc<ProcessState>);

impl LeaseCallbacks for ServeTerms {
    fn open(&mut self, term: Term) -> Result<tidings_node::OpenReport, String> {
        let state = &self.0;
        let config = state.config();
        let store = ReopenableStore::held(Arc::clone(&state.leases), &term)
            .map_err(|fault| fault.to_string())?;
        let (tenure, licence) = (term.tenure, Arc::clone(&term.licence));
        let (arguments, token) = (&state.arguments, &state.token);
        let mut owners = None;
        let started =
            ServingNode::start(store, &config, arguments, token, Some(licence), |service| {
                let of = service.owners_of_node().map(Arc::new);
                let service = service.in_cluster(Arc::clone(&state.cluster));
                match &*owners.insert(of) {
                    Some(owners) => service.with_shards(Arc::clone(owners)),
                    None => service,
                }
            });
        let mut serving = started.map_err(|fault| fault.to_string())?;
        let owners = owners.flatten().ok_or("the node has ended already")?;
        end_with(&serving.node, term.ender()).map_err(|fault| fault.to_string())?;
        if owners.intake {
            self.begin_intake(&serving, &config.rules);
        } else {
            let link =
                Box::new(HttpLeaderLink::new(Arc::clone(&state.cluster), state.tokio.clone()));
            let follower = Follower::start(serving.node.handle(), link);
            serving.follower = Some(follower.map_err(|fault| fault.to_string())?);
        }
        let api = tidings_http::router(Arc::clone(&serving.service));
        state.cluster.serve_shards(api, term.licence, Arc::clone(&owners));
        tracing::info!(tenure = ?tenure, intake = owners.intake, shards = ?owners.held, "this node serves");
        let (handle, clock) = (serving.node.handle(), Arc::clone(serving.service.clock()));
        *state.serving() = Some(serving);
        let lag = move || {
            let oldest = handle.look(|node| node.engine().open_closings().oldest_due());
            oldest.ok().flatten().map_or(0, |due| clock.now().0.saturating_sub(due.0).max(0))
        };
        Ok(tidings_node::OpenReport { lag: Box::new(lag), shards: owners.shards })
    }

    fn close(&mut self, drains: bool) {
        self.0.cluster.stop_serving();
        let Some(serving) = self.0.serving().take() else {
            return;
        };
        let ServingNode { node, service, follower, .. } = serving;
        drop(follower);
        service.stop();
        let drain = if drains { self.0.arguments.drain.min(HAND_OVER) } else { Duration::ZERO };
        match node.stop_within(drain) {
            Ok(()) => tracing::info!("this node no longer holds the store"),
            Err(RuntimeError::Stopped) => tracing::error!("the node has ended by itself"),
            Err(fault) => {
                tracing::warn!(error = %fault, "this node lost the store; nothing durable is lost");
            }
        }
    }
}

impl ServeTerms {
    /// Does what the node with the intake alone does.
    fn begin_intake(&self, serving: &ServingNode, rules: &Rules) {
        let state = &self.0;
        let place = "--store URL";
        say_paused(&serving.node, place);
        if !state.arguments.dev && serving.node.handle().keys().is_empty() {
            tracing::warn!("{}", no_key(place));
        }
        let reports = maildir::watch(Arc::clone(&serving.service));
        state.tokio.spawn(reports);
        read_feeds(&serving.service, &state.tokio);
        let others = state.cluster.of_other_config(&digest(rules));
        if !others.is_empty() {
            tracing::warn!(
                nodes = others.join(", "),
                "the configuration that this node has put in force differs from that of other nodes; send SIGHUP to \
                 those whose file has changed"
            );
        }
    }
}
