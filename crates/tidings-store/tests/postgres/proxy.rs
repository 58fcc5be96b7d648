//! A proxy before the database, which loses what a test tells it to, and breaks the connection with it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The next packet to lose.
const NONE: u8 = 0;
const REQUEST: u8 = 1;
const ANSWER: u8 = 2;
const LOST: u8 = 3;

/// A proxy; its threads end with the connections.
pub(crate) struct Proxy {
    url: String,
    next: Arc<AtomicU8>,
}

impl Proxy {
    /// Listens in place of the server of an address.
    pub(crate) fn start(url: &str) -> Self {
        let (before, rest) = url.split_once("127.0.0.1:").unwrap();
        let (port, path) = rest.split_once('/').unwrap();
        let port: u16 = port.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap();
        let next = Arc::new(AtomicU8::new(NONE));
        let shared = Arc::clone(&next);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                for (from, to, kind) in [(&client, &server, REQUEST), (&server, &client, ANSWER)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let next = Arc::clone(&shared);
                    std::thread::spawn(move || pass(from, to, &next, kind));
                }
            }
        });
        Self { url: format!("{before}{here}/{path}"), next }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn lose_next_request(&self) {
        self.next.store(REQUEST, Ordering::SeqCst);
    }

    pub(crate) fn lose_next_answer(&self) {
        self.next.store(ANSWER, Ordering::SeqCst);
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.next.load(Ordering::SeqCst) == LOST
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, next: &AtomicU8, kind: u8) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let loses = next.compare_exchange(kind, LOST, Ordering::SeqCst, Ordering::SeqCst);
        if loses.is_ok() || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
