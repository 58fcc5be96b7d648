//! The memory that bodies of requests have: a bound on all of one kind of caller, and one on those of an address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::http::error::{Code, Problem};
use crate::http::listen::Peer;

/// The memory for bodies of one kind of caller: of those with a key, or of everybody else.
#[derive(Clone, Debug)]
pub(in crate::http) struct BodyRoom(Arc<Bounds>);

#[derive(Debug)]
struct Bounds {
    bytes_max: usize,
    /// Of one address of another machine.
    peer_bytes_max: usize,
    /// Time limit of the arrival of a body.
    patience: Duration,
    taken: Mutex<Taken>,
}

/// The memory that bodies in progress have, in bytes.
#[derive(Debug, Default)]
struct Taken {
    all: usize,
    peers: HashMap<IpAddr, usize>,
}

impl BodyRoom {
    /// Room for this many bytes of all bodies together, and of those of one address.
    pub(in crate::http) fn of(bytes_max: usize, peer_bytes_max: usize, patience: Duration) -> Self {
        Self(Arc::new(Bounds { bytes_max, peer_bytes_max, patience, taken: Mutex::default() }))
    }

    /// Room for this many bytes of a caller with a key.
    ///
    /// # Errors
    /// As [`Room::hold`].
    pub(in crate::http) fn take(&self, bytes: usize) -> Result<Room, Problem> {
        let mut room = self.of_peer(None);
        room.hold(bytes)?;
        Ok(room)
    }

    /// A body of this peer that has no room yet. Whoever is on this machine may speak for many clients.
    pub(in crate::http) fn of_peer(&self, peer: Option<&Peer>) -> Room {
        let peer = peer.map(|Peer(peer)| *peer);
        Room { of: self.clone(), peer: peer.filter(|peer| !peer.is_loopback()), bytes: 0 }
    }

    /// Time limit of the arrival of a body.
    pub(in crate::http) fn patience(&self) -> Duration {
        self.0.patience
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The room of one body, until it is dropped.
#[derive(Debug)]
pub(in crate::http) struct Room {
    of: BodyRoom,
    peer: Option<IpAddr>,
    bytes: usize,
}

impl Room {
    /// Checks that there is room for this many bytes at present, without holding it.
    ///
    /// # Errors
    /// As [`Room::hold`].
    pub(in crate::http) fn expect(&self, bytes: usize) -> Result<(), Problem> {
        self.fits(&self.of.taken(), bytes)
    }

    fn fits(&self, taken: &Taken, bytes: usize) -> Result<(), Problem> {
        let of_peer =
            self.peer.and_then(|peer| taken.peers.get(&peer)).copied().unwrap_or_default();
        let more = bytes.saturating_sub(self.bytes);
        let (all, peers) = (self.of.0.bytes_max, self.of.0.peer_bytes_max);
        let detail = match (taken.all + more > all, of_peer + more > peers) {
            (true, _) => "the bodies of requests in progress use all the memory reserved for them",
            (false, true) if self.peer.is_some() => {
                "the bodies of requests in progress from this address use its share of the memory"
            }
            (false, _) => return Ok(()),
        };
        Err(Problem::new(Code::TooBusy, detail))
    }

    /// Holds room for at least this many bytes from now on.
    ///
    /// # Errors
    /// [`Code::TooBusy`] where the bodies that are here take all the room.
    pub(in crate::http) fn hold(&mut self, bytes: usize) -> Result<(), Problem> {
        let more = bytes.saturating_sub(self.bytes);
        let mut taken = self.of.taken();
        self.fits(&taken, bytes)?;
        taken.all += more;
        if let Some(peer) = self.peer.filter(|_| more > 0) {
            *taken.peers.entry(peer).or_default() += more;
        }
        drop(taken);
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        taken.all -= self.bytes;
        if let Some(peer) = self.peer
            && let Some(of_peer) = taken.peers.get_mut(&peer)
        {
            *of_peer -= self.bytes;
            if *of_peer == 0 {
                taken.peers.remove(&peer);
            }
        }
    }
}
