//! `shares`: what a host and its readers notice of one user who takes all that a token can take.
//!
//! The server is a process of its own. In each round the host publishes and readers read alone, then beside that user, so
//! that a slow moment of the machine slows both.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::post as on_post;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use self::greedy::CallCounts;
use super::process::{self, Process};
use super::{Connection, broken, post, unexpected};
use crate::stopwatch::{Stopwatch, ms};
use crate::{BenchFault, Measurement, number, quantile, world};

mod greedy;
mod wire;

/// Arguments of `shares`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SharesParams {
    /// Number of readers beside the one who takes all
    #[arg(long, default_value_t = 100)]
    pub(crate) readers: u32,
    /// Number of events in each inbox before
    #[arg(long, default_value_t = 200)]
    pub(crate) entries: u32,
    /// Number of events more in the inbox of the one who takes all
    #[arg(long, default_value_t = 5_000)]
    pub(crate) hoard: u32,
    /// Number of rounds
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: u32,
    /// Number of seconds of each half of a round
    #[arg(long, default_value_t = 5)]
    pub(crate) seconds: u64,
    /// Number of connections for each thing that the one user does
    #[arg(long, default_value_t = 50)]
    pub(crate) connections: u32,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// The interval of the host's publishes.
const PUBLISHING: Duration = Duration::from_millis(20);

/// The interval of the host's changes of preferences, each of which calls the hook.
const CHANGING: Duration = Duration::from_millis(200);

/// The interval of a reader's pages.
const READING: Duration = Duration::from_secs(1);

/// The interval at which the memory of the server is read.
const WATCHING: Duration = Duration::from_millis(100);

/// The longest wait for an answer; one that takes longer counts as refused.
const PATIENCE: Duration = Duration::from_secs(20);

/// The one user's place among the recipients.
const GREEDY: u32 = 0;

/// Tenants, whose views of an inbox have streams of their own.
const TENANTS: u32 = 25;

/// The variable that has the secret of the hook.
const SECRET: (&str, &str) = ("TIDINGS_BENCH_SECRET", "a secret of this benchmark alone");

fn tenant(number: u32) -> tidings_core::Id {
    world::tenant_id(number)
}

/// Runs it.
pub(crate) fn run(params: &SharesParams) -> Result<Vec<Measurement>, BenchFault> {
    let hook = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(broken)?;
    let address = hook.local_addr().map_err(broken)?;
    let rules = format!(
        "{}[users]\n[tenants]\non = true\n[[hooks]]\nname = \"host\"\nurl = \"http://{address}/\"\n\
         secret = \"${{{}}}\"\nof = [\"preference.changed\"]\n",
        crate::RULES,
        SECRET.0
    );
    process::measure(&params.dir, &rules, &[SECRET], async |server| {
        measure(params, server, &mut receiver_of(hook)?).await
    })
}

/// Serves the host's hook. Returns the recipients of the calls.
fn receiver_of(hook: TcpListener) -> Result<UnboundedReceiver<String>, BenchFault> {
    let (sender, received) = unbounded_channel();
    let router = Router::new().route(
        "/",
        on_post(move |body: String| async move {
            let called: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
            // Nobody may be waiting for it any more.
            let _sent = called["data"]["recipient"].as_str().map(|id| sender.send(id.to_owned()));
        }),
    );
    hook.set_nonblocking(true).map_err(broken)?;
    let hook = tokio::net::TcpListener::from_std(hook).map_err(broken)?;
    tokio::spawn(async move { axum::serve(hook, router).await });
    Ok(received)
}

/// The times of others, in milliseconds, and how many of their calls were refused.
#[derive(Default)]
struct Times {
    publishes: Vec<f64>,
    reads: Vec<f64>,
    /// From the answer of a change to the call of the hook.
    hooks: Vec<f64>,
    refused: u64,
}

async fn measure(
    params: &SharesParams,
    server: &Process,
    received: &mut UnboundedReceiver<String>,
) -> Result<Vec<Measurement>, BenchFault> {
    let tokens = fill(server.address, params).await?;
    let event = AtomicU64::new(u64::from(params.entries + params.hoard));
    let (mut alone, mut under_load) = (Times::default(), Times::default());
    let (mut memory, mut left, mut streams) = (Vec::new(), Vec::new(), Vec::new());
    let counts = Arc::new(CallCounts::default());
    let changes = AtomicU64::new(0);
    let others = OtherUsers {
        address: server.address,
        params,
        tokens: &tokens,
        event: &event,
        changes: &changes,
    };
    for _ in 0..params.rounds {
        others.measure(received, &mut alone).await?;
        let before = server.resident_bytes()?;
        let token = &tokens[GREEDY as usize];
        let greedy = greedy::begin(server.address, params.connections, token, &counts);
        sleep(Duration::from_secs(1)).await;
        let peak = AtomicU64::new(before);
        tokio::select! {
            measured = others.measure(received, &mut under_load) => measured?,
            failed = watch(server, &peak) => failed?,
        }
        memory.push(number(peak.into_inner() - before) / 1e6);
        streams.push(number(open_streams(server.address).await?));
        drop(greedy);
        sleep(Duration::from_secs(1)).await;
        left.push(number(server.resident_bytes()?.saturating_sub(before)) / 1e6);
    }
    let named = BTreeMap::from([
        ("readers", u64::from(params.readers)),
        ("entries", u64::from(params.entries)),
        ("hoard", u64::from(params.hoard)),
        ("connections", u64::from(params.connections)),
    ]);
    let of = |metric, samples: &[f64]| Measurement::of("shares", &named, metric, samples);
    let p99 = |times: &[f64]| [quantile(times, 0.99)];
    let count = |of: &AtomicU64| [number(of.load(Ordering::Relaxed))];
    let times = |metric: (&'static str, &'static str), with: &[f64], without: &[f64]| {
        [
            of((metric.0, "ms"), with).against("alone", without),
            of((metric.1, "ms"), &p99(with)).against("alone", &p99(without)),
        ]
    };
    let mut measured = Vec::new();
    measured.extend(times(("publish", "publish_p99"), &under_load.publishes, &alone.publishes));
    measured.extend(times(("read", "read_p99"), &under_load.reads, &alone.reads));
    measured.extend(times(("hook", "hook_p99"), &under_load.hooks, &alone.hooks));
    measured.extend([
        of(("refused_to_others", "calls"), &[number(under_load.refused)])
            .against("alone", &[number(alone.refused)]),
        of(("memory_more", "MB"), &memory),
        of(("memory_left", "MB"), &left),
        of(("streams_of_the_one", "streams"), &streams),
        of(("answered_to_the_one", "calls"), &count(&counts.answered)),
        of(("refused_to_the_one", "calls"), &count(&counts.refused)),
    ]);
    Ok(measured)
}

/// Keeps the most memory that the server takes.
async fn watch(server: &Process, peak: &AtomicU64) -> Result<(), BenchFault> {
    loop {
        peak.fetch_max(server.resident_bytes()?, Ordering::Relaxed);
        sleep(WATCHING).await;
    }
}

/// Number of open streams and long polls: the attacker's, since no other user has any.
async fn open_streams(address: SocketAddr) -> Result<u64, BenchFault> {
    let mut connection = Connection::open(address).await?;
    let answer = connection.ask(&get("/metrics", "none")).await?;
    let text = String::from_utf8_lossy(answer);
    let count = text.lines().find_map(|line| line.strip_prefix("tidings_live_streams "));
    count.and_then(|count| count.trim().parse().ok()).ok_or_else(|| unexpected(answer))
}

/// The host and the readers.
struct OtherUsers<'a> {
    address: SocketAddr,
    params: &'a SharesParams,
    tokens: &'a [String],
    /// The number of the next event.
    event: &'a AtomicU64,
    /// The number of the next change of preferences.
    changes: &'a AtomicU64,
}

impl OtherUsers<'_> {
    /// The host publishes and changes preferences, and readers read, for a while.
    async fn measure(
        &self,
        received: &mut UnboundedReceiver<String>,
        times: &mut Times,
    ) -> Result<(), BenchFault> {
        let (watch, until) = (Stopwatch::start(), Duration::from_secs(self.params.seconds));
        let mut readers = self.read(watch, until);
        let (published, changed) =
            tokio::try_join!(self.publish(watch, until), self.change(received, watch, until))?;
        times.add(published);
        times.add(changed);
        while let Some(read) = readers.join_next().await {
            times.add(read.map_err(broken)??);
        }
        Ok(())
    }

    fn read(&self, watch: Stopwatch, until: Duration) -> JoinSet<Result<Times, BenchFault>> {
        let apart = READING / self.params.readers.max(1);
        let mut readers = JoinSet::new();
        for (place, token) in (0..).zip(&self.tokens[1..]) {
            let (address, request) = (self.address, get("/v1/me/inbox", token));
            readers.spawn(async move {
                let mut connection = Connection::open(address).await?;
                // Not all at the same moment.
                sleep(apart * place).await;
                let mut times = Times::default();
                while watch.elapsed() < until {
                    let time = times.timed(&mut connection, &request).await?;
                    times.reads.extend(time);
                    sleep(READING).await;
                }
                Ok::<_, BenchFault>(times)
            });
        }
        readers
    }

    async fn publish(&self, watch: Stopwatch, until: Duration) -> Result<Times, BenchFault> {
        let mut connection = Connection::open(self.address).await?;
        let mut times = Times::default();
        while watch.elapsed() < until {
            let event = self.event.fetch_add(1, Ordering::Relaxed);
            let request = post(&world::body(event, self.reader(event)));
            let time = times.timed(&mut connection, &request).await?;
            times.publishes.extend(time);
            sleep(PUBLISHING).await;
        }
        Ok(times)
    }

    async fn change(
        &self,
        received: &mut UnboundedReceiver<String>,
        watch: Stopwatch,
        until: Duration,
    ) -> Result<Times, BenchFault> {
        let mut connection = Connection::open(self.address).await?;
        let mut times = Times::default();
        while watch.elapsed() < until {
            let change = self.changes.fetch_add(1, Ordering::Relaxed);
            let recipient = world::recipient(self.reader(change));
            // Each change makes another one of it.
            let is_never = (change / u64::from(self.params.readers)).is_multiple_of(2);
            let mode = if is_never { "never" } else { "default" };
            let body =
                format!("[{{\"category\":\"works\",\"channel\":\"email\",\"mode\":\"{mode}\"}}]");
            let path = format!("/v1/recipients/{recipient}/preferences");
            while received.try_recv().is_ok() {}
            let answer = connection.ask(&with_body("PATCH", &path, "none", &body)).await?;
            if !answer.starts_with(b"HTTP/1.1 2") {
                return Err(unexpected(answer));
            }
            let watch = Stopwatch::start();
            let arrived =
                async { while received.recv().await.is_some_and(|id| id != recipient.as_str()) {} };
            match timeout(PATIENCE, arrived).await {
                Ok(()) => times.hooks.push(ms(watch.elapsed())),
                Err(_) => times.refused += 1,
            }
            sleep(CHANGING).await;
        }
        Ok(times)
    }

    /// A reader, each in turn.
    fn reader(&self, number: u64) -> u32 {
        u32::try_from(number % u64::from(self.params.readers)).unwrap_or_default() + 1
    }
}

impl Times {
    fn add(&mut self, others: Self) {
        self.publishes.extend(others.publishes);
        self.reads.extend(others.reads);
        self.hooks.extend(others.hooks);
        self.refused += others.refused;
    }

    /// The time of a call; `None` = it is refused, or takes too long.
    async fn timed(
        &mut self,
        connection: &mut Connection,
        request: &[u8],
    ) -> Result<Option<f64>, BenchFault> {
        let watch = Stopwatch::start();
        let answer = timeout(PATIENCE, connection.ask(request)).await;
        let is_done = match answer {
            Ok(answer) => answer?.starts_with(b"HTTP/1.1 2"),
            Err(_) => false,
        };
        self.refused += u64::from(!is_done);
        Ok(is_done.then(|| ms(watch.elapsed())))
    }
}

fn get(path: &str, token: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n")
        .into_bytes()
}

fn with_body(method: &str, path: &str, token: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Makes the tenants, the recipients and what their inboxes have. Returns the token of each, of the greedy one first.
async fn fill(address: SocketAddr, params: &SharesParams) -> Result<Vec<String>, BenchFault> {
    let mut host = Connection::open(address).await?;
    done(&mut host, "POST", "/v1/admin/signing-keys", "{}").await?;
    for number in 0..TENANTS {
        done(&mut host, "PUT", &format!("/v1/tenants/{}", tenant(number)), "{}").await?;
    }
    let mut tokens = Vec::new();
    for reader in 0..=params.readers {
        let recipient = world::recipient(reader);
        done(&mut host, "PUT", &format!("/v1/recipients/{recipient}"), "{}").await?;
        let body = format!("{{\"recipient\":\"{recipient}\"}}");
        let made = done(&mut host, "POST", "/v1/admin/tokens", &body).await?;
        let token = made["token"].as_str();
        tokens.push(token.ok_or_else(|| BenchFault::Http(format!("no token: {made}")))?.to_owned());
    }
    for event in 0..params.entries + params.hoard {
        let event = u64::from(event);
        let body = match event < u64::from(params.entries) {
            true => world::body_to_everybody(event, "shown"),
            false => world::body(event, GREEDY),
        };
        host.publish(&post(&body)).await?;
    }
    Ok(tokens)
}

/// Has the host do something. Returns the answer.
async fn done(
    host: &mut Connection,
    method: &str,
    path: &str,
    body: &str,
) -> Result<serde_json::Value, BenchFault> {
    let answer = host.ask(&with_body(method, path, "none", body)).await?;
    if !answer.starts_with(b"HTTP/1.1 2") {
        return Err(unexpected(answer));
    }
    let text = String::from_utf8_lossy(answer);
    let said = text.rsplit("\r\n\r\n").next().unwrap_or_default();
    Ok(serde_json::from_str(said).unwrap_or_default())
}
