//! A connection between processes that can be cut: what is sent meanwhile arrives once it is mended.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread::{park_timeout, spawn};
use std::time::Duration;

/// A port of loopback whose connections go on to another one.
pub(crate) struct Wire {
    /// The port that it listens on.
    pub(crate) port: u16,
    state: Arc<State>,
}

struct State {
    to: AtomicU16,
    is_cut: AtomicBool,
}

impl Wire {
    /// Starts to listen. Connections wait until they have somewhere to go to.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State { to: AtomicU16::new(0), is_cut: AtomicBool::new(true) });
        let wire = Self { port, state: Arc::clone(&state) };
        spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&state);
                spawn(move || state.join(connection));
            }
        });
        wire
    }

    /// Has connections go to a port of loopback from now on.
    pub(crate) fn lead_to(&self, port: u16) {
        self.state.to.store(port, Ordering::SeqCst);
        self.mend();
    }

    /// Holds up what is sent in both directions.
    pub(crate) fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
    }

    /// Lets everything through.
    pub(crate) fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

impl State {
    fn wait(&self) {
        while self.is_cut.load(Ordering::SeqCst) {
            park_timeout(Duration::from_millis(10));
        }
    }

    fn join(self: Arc<Self>, near: TcpStream) {
        self.wait();
        let to = (Ipv4Addr::LOCALHOST, self.to.load(Ordering::SeqCst));
        // Where nobody listens the connection ends, as it would without the wire.
        let Ok(far) = TcpStream::connect(to) else {
            return;
        };
        let state = Arc::clone(&self);
        let (from, to) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        spawn(move || state.copy(from, to));
        self.copy(near, far);
    }

    fn copy(&self, mut from: TcpStream, mut to: TcpStream) {
        to.set_nodelay(true).ok();
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            self.wait();
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        self.wait();
        for end in [from, to] {
            end.shutdown(Shutdown::Both).ok();
        }
    }
}
