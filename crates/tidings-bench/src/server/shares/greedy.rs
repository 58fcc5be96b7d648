//! One user who takes all that a token can take, by many connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{TENANTS, get, tenant, wire, with_body};
use crate::server::Connection;

/// Answers to the one user.
#[derive(Default)]
pub(super) struct CallCounts {
    pub(super) answered: AtomicU64,
    pub(super) refused: AtomicU64,
    is_over: AtomicBool,
}

/// The calls of one user, until this is dropped.
pub(super) struct Greedy {
    counts: Arc<CallCounts>,
    _tasks: JoinSet<()>,
}

impl Drop for Greedy {
    fn drop(&mut self) {
        self.counts.is_over.store(true, Ordering::Relaxed);
    }
}

/// The least pause before a connection asks again after it was refused, whatever `Retry-After` says.
const PAUSE: Duration = Duration::from_millis(10);

/// Preferences of a change: one for each tenant.
const PREFERENCES: u32 = TENANTS;

/// Requests of a connection of HTTP/2 whose answers are not read.
const UNREAD: u32 = 100;

/// Takes all, with this many connections for each thing to do.
pub(super) fn begin(
    address: SocketAddr,
    connections: u32,
    token: &str,
    counts: &Arc<CallCounts>,
) -> Greedy {
    counts.is_over.store(false, Ordering::Relaxed);
    let mut tasks = JoinSet::new();
    for requests in requests_with(token) {
        let requests = Arc::new(requests);
        for place in 0..connections {
            let (requests, counts) = (Arc::clone(&requests), Arc::clone(counts));
            tasks.spawn(async move {
                while !counts.is_over.load(Ordering::Relaxed) {
                    ask(address, &requests, place, &counts).await;
                    sleep(PAUSE).await;
                }
            });
        }
    }
    leave_unread(&mut tasks, address, connections, token);
    Greedy { counts: Arc::clone(counts), _tasks: tasks }
}

/// Asks one thing after the other on a connection, until it breaks.
async fn ask(address: SocketAddr, requests: &[Vec<u8>], place: u32, counts: &CallCounts) {
    let Ok(mut connection) = Connection::open(address).await else { return };
    for request in requests.iter().cycle().skip(place as usize) {
        if counts.is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(answer) = connection.ask(request).await else { return };
        if answer.starts_with(b"HTTP/1.1 429") {
            counts.refused.fetch_add(1, Ordering::Relaxed);
            sleep(PAUSE).await;
        } else {
            counts.answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The requests of the connections of each kind, one after the other and from the beginning again.
fn requests_with(token: &str) -> Vec<Vec<Vec<u8>>> {
    let change = |method: &str, path: &str, body: &str| with_body(method, path, token, body);
    let all = |path: &str| change("POST", path, "{\"all\":true}");
    let preferences = |mode: &str| {
        let line = |number| {
            let tenant = tenant(number);
            format!(
                "{{\"category\":\"*\",\"channel\":\"email\",\"mode\":\"{mode}\",\"tenant\":\"{tenant}\"}}"
            )
        };
        let lines: Vec<String> = (0..PREFERENCES).map(line).collect();
        change("PATCH", "/v1/me/preferences", &format!("[{}]", lines.join(",")))
    };
    let browsers = (0..TENANTS * 10).map(|number| {
        let path = format!("/v1/me/push?tenant={}", tenant(number % TENANTS));
        let endpoint = format!("https://push.example.net/{number}/{}", "e".repeat(1_800));
        let keys = r#"{"p256dh":"BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM","auth":"tBHItJI5svbpez7KI4CCXg"}"#;
        change("PUT", &path, &format!("{{\"endpoint\":\"{endpoint}\",\"keys\":{keys}}}"))
    });
    vec![
        // C2: push subscriptions of all tenants.
        browsers.collect(),
        // C4, C8: long polls of pages, of each view, which every mark ends.
        (0..TENANTS)
            .map(|number| {
                let view = tenant(number);
                get(
                    &format!("/v1/me/inbox?limit=100&since=999999999&wait=30s&tenant={view}"),
                    token,
                )
            })
            .chain([get("/v1/me/inbox?limit=100&since=999999999&wait=30s", token)])
            .collect(),
        // C5: reads and changes, as costly as they can be.
        vec![get("/v1/me/inbox?limit=100", token)],
        vec![all("/v1/me/inbox/archive"), all("/v1/me/inbox/unarchive")],
        vec![all("/v1/me/inbox/read"), all("/v1/me/inbox/unread")],
        vec![change("POST", "/v1/me/inbox/seen", &(" ".repeat(60_000) + "{\"all\":true}"))],
        // C7: changes that hooks are told of.
        vec![preferences("never"), preferences("default")],
    ]
}

/// Streams, answers and heads that nobody reads, and bodies that do not come.
fn leave_unread(tasks: &mut JoinSet<()>, address: SocketAddr, connections: u32, token: &str) {
    let begun = with_body("POST", "/v1/me/inbox/seen", token, &" ".repeat(64_000));
    let mut unread =
        vec![get("/v1/me/inbox?limit=100", token), begun[..begun.len() - 1_000].to_vec()];
    unread.extend(
        (0..TENANTS).map(|view| get(&format!("/v1/me/live?tenant={}", tenant(view)), token)),
    );
    for number in 0..connections * 3 {
        let request = unread[number as usize % unread.len()].clone();
        tasks.spawn(async move {
            let Ok(mut stream) = TcpStream::connect(address).await else { return };
            let _sent = stream.write_all(&request).await;
            std::future::pending::<()>().await;
        });
    }
    // C4: pages and streams of HTTP/2 without a window. C6: heads of many fields.
    let calls =
        [("/v1/me/inbox?limit=100", 0), ("/v1/me/live", 0), ("/v1/me/inbox?wait=30s", 1_850)];
    for (path, fields) in calls {
        for _ in 0..connections.div_ceil(10) {
            let token = token.to_owned();
            tasks.spawn(async move {
                loop {
                    let _broken = wire::never_read(address, UNREAD, (path, &token), fields).await;
                    sleep(PAUSE).await;
                }
            });
        }
    }
}
