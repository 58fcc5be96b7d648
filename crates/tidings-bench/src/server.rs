//! A server on loopback and connections to it, for what is measured over HTTP.

pub(crate) mod console;
pub(crate) mod operate;
pub(crate) mod process;
pub(crate) mod shares;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tidings_core::engine::Options;
use tidings_node::{Clock, Delivery, Retries, SystemClock};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use super::world::{self, StoreLocation};
use super::{BenchFault, Host};

/// The HTTP API over a node, on loopback.
pub(crate) struct BenchServer {
    pub(crate) address: SocketAddr,
    pub(crate) node: tidings_node::Runtime,
    tokio: Runtime,
}

impl BenchServer {
    /// Starts a server over a new store with so many recipients, in so many shards.
    pub(crate) fn start(
        recipients: u32,
        shards: u16,
        host: Host<'_>,
        location: StoreLocation<'_>,
    ) -> Result<Self, BenchFault> {
        let rules = host.rules;
        let directory = location.directory.to_owned();
        let database = location.database.map(str::to_owned);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let node = tidings_node::Runtime::start(
            Box::new(move || {
                let location =
                    StoreLocation { directory: &directory, database: database.as_deref() };
                location.open(tidings_store::Options::default()).map(|(store, _)| store)
            }),
            rules.clone(),
            Delivery::new(BTreeMap::new(), Retries::default()),
            Arc::clone(&clock),
            tidings_node::Settings {
                options: Options { shards, ..Options::default() },
                ..tidings_node::Settings::default()
            },
        )?;
        world::in_chunks((0..recipients).map(world::make), |commands| {
            world::accepted(node.handle().submit(commands.to_vec())?)
        })?;
        let tokio = Builder::new_multi_thread().enable_all().build().map_err(broken)?;
        let router = (host.router)(node.handle(), rules, clock);
        let listener =
            tokio.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).map_err(broken)?;
        let address = listener.local_addr().map_err(broken)?;
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // Without it an answer may only be late.
            let _ = stream.set_nodelay(true);
        });
        tokio.spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, node, tokio })
    }

    pub(crate) fn stop(self) -> Result<(), BenchFault> {
        self.tokio.shutdown_background();
        Ok(self.node.stop()?)
    }
}

/// A kept connection.
pub(crate) struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, BenchFault> {
        let stream = TcpStream::connect(address).await.map_err(broken)?;
        stream.set_nodelay(true).map_err(broken)?;
        let answer = Vec::with_capacity(64 << 10);
        Ok(Self { stream, answer })
    }

    /// Sends a request, and waits for the whole answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<&[u8], BenchFault> {
        self.stream.write_all(request).await.map_err(broken)?;
        self.answer.clear();
        loop {
            let read = self.stream.read_buf(&mut self.answer).await.map_err(broken)?;
            if is_whole(&self.answer) {
                return Ok(&self.answer);
            }
            if read == 0 {
                return Err(BenchFault::Http("the server hung up".to_owned()));
            }
        }
    }

    /// Publishes events, all of which have to be new.
    pub(crate) async fn publish(&mut self, request: &[u8]) -> Result<(), BenchFault> {
        let answer = self.ask(request).await?;
        let accepted = answer.starts_with(b"HTTP/1.1 202 ");
        if accepted && !holds(answer, b"\"rejected\"") && !holds(answer, b"\"duplicate\"") {
            Ok(())
        } else {
            Err(unexpected(answer))
        }
    }
}

/// A request that publishes.
pub(crate) fn post(body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /v1/events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The error of an answer that should be another.
pub(crate) fn unexpected(answer: &[u8]) -> BenchFault {
    let said = String::from_utf8_lossy(answer);
    BenchFault::Http(format!("the server answered: {said}"))
}

pub(crate) fn broken(fault: impl std::fmt::Display) -> BenchFault {
    BenchFault::Http(fault.to_string())
}

/// Returns true if an answer is complete, by its `Content-Length`.
fn is_whole(answer: &[u8]) -> bool {
    let Some(head) = answer.windows(4).position(|at| at == b"\r\n\r\n") else {
        return false;
    };
    let mut lines = answer[..head].split(|byte| *byte == b'\n');
    let length = lines.find_map(|line| {
        let (name, value) = line.split_at_checked("content-length:".len())?;
        let value = std::str::from_utf8(value).ok()?.trim();
        name.eq_ignore_ascii_case(b"content-length:").then(|| value.parse().ok())?
    });
    let length: usize = length.unwrap_or_default();
    answer.len() >= head + 4 + length
}

fn holds(answer: &[u8], word: &[u8]) -> bool {
    answer.windows(word.len()).any(|at| at == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let answer = b"HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\nabc";
        assert!(is_whole(answer));
        assert!(!is_whole(&answer[..answer.len() - 1]));
        assert!(!is_whole(&answer[..20]));
    }
}
