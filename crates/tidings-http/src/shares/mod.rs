//! The shares of callers: each room of the server is shared by caller, and one who takes more than their share is refused
//! alone (contract, section 4).
//!
//! The task that answers, and the body that it leaves, know the caller: so each call is counted.

pub(crate) mod answers;
pub(crate) mod bytes;
pub(crate) mod connection;
pub(crate) mod patience;
pub(crate) mod places;
pub(crate) mod refusals;

use std::net::{IpAddr, Ipv4Addr};

use tidings_node::CallerId;

use super::error::{Code, Problem};

/// The address of a request's peer, as its connections are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

tokio::task_local! {
    /// The caller whose call the task answers.
    pub(crate) static CALLER: CallerId;
}

/// The caller whose call is being answered; other work is the host's.
pub(crate) fn caller() -> CallerId {
    CALLER.try_with(CallerId::clone).unwrap_or(CallerId::Host)
}

/// The caller of a request without a key or a token.
pub(crate) fn stranger(peer: Option<&Peer>) -> CallerId {
    let address = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |Peer(address)| *address);
    CallerId::Address(address)
}

/// The problem of a caller who has taken their share of something.
pub(crate) fn over_share(of: &str) -> Problem {
    Problem::new(Code::Busy, format!("this caller has its share of {of}"))
}
