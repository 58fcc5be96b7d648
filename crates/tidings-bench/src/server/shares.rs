//! `shares`: what a host and its readers notice of one user who takes all that a token can take.
//!
//! The server is a process of its own. In each round the host publishes and readers read alone, then beside that user, so
//! that a slow moment of the machine slows both.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::process::Process;
use super::{Connection, broken, post, unexpected};
use crate::stopwatch::{Stopwatch, ms};
use crate::{Fault, Measurement, number, quantile, world};

/// Arguments of `shares`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Params {
    /// Number of readers beside the one who takes all
    #[arg(long, default_value_t = 100)]
    pub(crate) readers: u32,
    /// Number of events in each inbox before
    #[arg(long, default_value_t = 200)]
    pub(crate) entries: u32,
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

/// The interval of a reader's pages.
const READING: Duration = Duration::from_secs(1);

/// The longest wait for an answer; one that takes longer counts as refused.
const PATIENCE: Duration = Duration::from_secs(20);

/// The one user's place among the recipients.
const GREEDY: u32 = 0;

/// Runs it.
pub(crate) fn run(params: &Params) -> Result<Vec<Measurement>, Fault> {
    let directory = world::directory(&params.dir)?;
    let config = directory.path().join("tidings.toml");
    let rules = format!("{}[users]\n", crate::RULES);
    std::fs::write(&config, rules).map_err(|fault| Fault::Directory(config.clone(), fault))?;
    let server = Process::serve(&config, &directory.path().join("data"))?;
    let tokio = Builder::new_multi_thread().enable_all().build().map_err(broken)?;
    let measured = tokio.block_on(measure(params, &server));
    tokio.shutdown_background();
    measured
}

/// The times of others, in milliseconds, and how many of their calls were refused.
#[derive(Default)]
struct Times {
    publishes: Vec<f64>,
    reads: Vec<f64>,
    refused: u64,
}

async fn measure(params: &Params, server: &Process) -> Result<Vec<Measurement>, Fault> {
    let tokens = fill(server.address, params).await?;
    let event = Arc::new(AtomicU64::new(u64::from(params.entries)));
    let (mut alone, mut beside) = (Times::default(), Times::default());
    let mut memory = Vec::new();
    let counts = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    for _ in 0..params.rounds {
        others(server.address, params, (&tokens, &event), &mut alone).await?;
        let before = server.resident_bytes()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let greedy = greedy(server.address, params, &tokens, (&is_over, &counts));
        sleep(Duration::from_secs(1)).await;
        others(server.address, params, (&tokens, &event), &mut beside).await?;
        memory.push(number(server.resident_bytes()?.saturating_sub(before)) / 1e6);
        is_over.store(true, Ordering::Relaxed);
        drop(greedy);
        sleep(Duration::from_secs(1)).await;
    }
    let named = BTreeMap::from([
        ("readers", u64::from(params.readers)),
        ("entries", u64::from(params.entries)),
        ("connections", u64::from(params.connections)),
    ]);
    let of = |metric, samples: &[f64]| Measurement::of("shares", &named, metric, samples);
    let p99 = |times: &[f64]| [quantile(times, 0.99)];
    let count = |at: usize| [number(counts[at].load(Ordering::Relaxed))];
    Ok(vec![
        of(("publish", "ms"), &beside.publishes).against("alone", &alone.publishes),
        of(("publish_p99", "ms"), &p99(&beside.publishes)).against("alone", &p99(&alone.publishes)),
        of(("read", "ms"), &beside.reads).against("alone", &alone.reads),
        of(("read_p99", "ms"), &p99(&beside.reads)).against("alone", &p99(&alone.reads)),
        of(("refused_to_others", "calls"), &[number(beside.refused)])
            .against("alone", &[number(alone.refused)]),
        of(("memory_more", "MB"), &memory),
        of(("answered_to_the_one", "calls"), &count(0)),
        of(("refused_to_the_one", "calls"), &count(1)),
    ])
}

/// The host publishes and readers read for a while.
async fn others(
    address: SocketAddr,
    params: &Params,
    (tokens, event): (&[String], &Arc<AtomicU64>),
    times: &mut Times,
) -> Result<(), Fault> {
    let watch = Stopwatch::start();
    let until = Duration::from_secs(params.seconds);
    let apart = READING / params.readers.max(1);
    let mut readers = JoinSet::new();
    for (place, token) in (0..).zip(&tokens[1..]) {
        let request = get("/v1/me/inbox", token);
        readers.spawn(async move {
            let mut connection = Connection::open(address).await?;
            // Not all at the same moment.
            sleep(apart * place).await;
            let mut times = Times::default();
            while watch.elapsed() < until {
                match timed(&mut connection, &request).await? {
                    Some(time) => times.reads.push(time),
                    None => times.refused += 1,
                }
                sleep(READING).await;
            }
            Ok::<_, Fault>(times)
        });
    }
    let mut publisher = Connection::open(address).await?;
    while watch.elapsed() < until {
        let name = event.fetch_add(1, Ordering::Relaxed);
        let reader = u32::try_from(name % u64::from(params.readers)).unwrap_or_default() + 1;
        match timed(&mut publisher, &post(&world::body(name, reader))).await? {
            Some(time) => times.publishes.push(time),
            None => times.refused += 1,
        }
        sleep(PUBLISHING).await;
    }
    while let Some(read) = readers.join_next().await {
        let read = read.map_err(broken)??;
        times.reads.extend(read.reads);
        times.refused += read.refused;
    }
    Ok(())
}

/// The time of a call; `None` = it is refused, or takes too long.
async fn timed(connection: &mut Connection, request: &[u8]) -> Result<Option<f64>, Fault> {
    let watch = Stopwatch::start();
    let Ok(answer) = timeout(PATIENCE, connection.ask(request)).await else {
        return Ok(None);
    };
    let is_done = answer?.starts_with(b"HTTP/1.1 2");
    Ok(is_done.then(|| ms(watch.elapsed())))
}

/// One user takes all that they can, until what this returns is dropped.
fn greedy(
    address: SocketAddr,
    params: &Params,
    tokens: &[String],
    (is_over, counts): (&Arc<AtomicBool>, &Arc<[AtomicU64; 2]>),
) -> JoinSet<()> {
    let token = &tokens[GREEDY as usize];
    let change = |method: &str, path: &str, body: &str| with_body(method, path, token, body);
    let line =
        |mode: &str| format!("[{{\"category\":\"*\",\"channel\":\"email\",\"mode\":\"{mode}\"}}]");
    let asked = [
        vec![get("/v1/me/inbox?limit=100", token)],
        vec![get("/v1/me/inbox?limit=100&since=999999999&wait=30s", token)],
        vec![
            change("POST", "/v1/me/inbox/archive", "{\"all\":true}"),
            change("POST", "/v1/me/inbox/unarchive", "{\"all\":true}"),
        ],
        vec![
            change("POST", "/v1/me/inbox/read", "{\"all\":true}"),
            change("POST", "/v1/me/inbox/unread", "{\"all\":true}"),
        ],
        vec![
            change("PATCH", "/v1/me/preferences", &line("never")),
            change("PATCH", "/v1/me/preferences", &line("default")),
        ],
        // Bodies that are as large as they may be.
        vec![change("POST", "/v1/me/inbox/seen", &(" ".repeat(60_000) + "{\"all\":true}"))],
    ];
    let mut tasks = JoinSet::new();
    for requests in asked {
        let requests = Arc::new(requests);
        for _ in 0..params.connections {
            let (requests, is_over) = (Arc::clone(&requests), Arc::clone(is_over));
            let counts = Arc::clone(counts);
            tasks.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    let Ok(mut connection) = Connection::open(address).await else { continue };
                    for request in requests.iter().cycle() {
                        let Ok(answer) = connection.ask(request).await else { break };
                        let is_refused = answer.starts_with(b"HTTP/1.1 429");
                        counts[usize::from(is_refused)].fetch_add(1, Ordering::Relaxed);
                        if is_refused {
                            // Even who ignores `Retry-After` needs a moment to come again.
                            sleep(Duration::from_millis(10)).await;
                        }
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                }
            });
        }
    }
    // Streams and pages that nobody reads, and bodies that do not come.
    let begun = with_body("POST", "/v1/me/inbox/seen", token, &" ".repeat(64_000));
    let unread = [
        get("/v1/me/live", token),
        get("/v1/me/inbox?limit=100", token),
        begun[..begun.len() - 1_000].to_vec(),
    ];
    for request in unread {
        for _ in 0..params.connections {
            let request = request.clone();
            tasks.spawn(async move {
                let Ok(mut stream) = TcpStream::connect(address).await else { return };
                let _sent = stream.write_all(&request).await;
                std::future::pending::<()>().await;
            });
        }
    }
    tasks
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

/// Makes the recipients and what their inboxes have. Returns the token of each, of the greedy one first.
async fn fill(address: SocketAddr, params: &Params) -> Result<Vec<String>, Fault> {
    let mut host = Connection::open(address).await?;
    let mut tokens = Vec::new();
    let key = with_body("POST", "/v1/admin/signing-keys", "none", "{}");
    let made = host.ask(&key).await?;
    if !made.starts_with(b"HTTP/1.1 2") {
        return Err(unexpected(made));
    }
    for reader in 0..=params.readers {
        let recipient = world::recipient(reader);
        let put = with_body("PUT", &format!("/v1/recipients/{recipient}"), "none", "{}");
        let answer = host.ask(&put).await?;
        if !answer.starts_with(b"HTTP/1.1 2") {
            return Err(unexpected(answer));
        }
        let body = format!("{{\"recipient\":\"{recipient}\"}}");
        let answer = host.ask(&with_body("POST", "/v1/admin/tokens", "none", &body)).await?;
        let text = String::from_utf8_lossy(answer);
        let said = text.rsplit("\r\n\r\n").next().unwrap_or_default();
        let said: serde_json::Value = serde_json::from_str(said).unwrap_or_default();
        let token = said["token"].as_str().ok_or_else(|| unexpected(answer))?;
        tokens.push(token.to_owned());
    }
    for event in 0..params.entries {
        host.publish(&post(&world::body_to_everybody(u64::from(event), "shown"))).await?;
    }
    Ok(tokens)
}
