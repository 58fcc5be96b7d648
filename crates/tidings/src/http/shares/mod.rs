//! The shares of callers: each room of the server is shared by caller, and one who takes more than their share is refused
//! alone (contract, section 4).
//!
//! The task that answers, and the body that it leaves, know the caller: so each call is counted.

pub(in crate::http) mod answers;
pub(in crate::http) mod bytes;
pub(in crate::http) mod patience;
pub(in crate::http) mod places;
pub(in crate::http) mod refusals;

use std::net::{IpAddr, Ipv4Addr};

use tidings_node::CallerId;

use super::error::{Code, Problem};
use super::listen::Peer;

tokio::task_local! {
    /// The caller whose call the task answers.
    pub(in crate::http) static CALLER: CallerId;
}

/// The caller whose call is being answered; other work is the host's.
pub(in crate::http) fn caller() -> CallerId {
    CALLER.try_with(CallerId::clone).unwrap_or(CallerId::Host)
}

/// The caller of a request without a key or a token.
pub(in crate::http) fn stranger(peer: Option<&Peer>) -> CallerId {
    let address = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |Peer(address)| *address);
    CallerId::Address(address)
}

/// The problem of a caller who has taken their share of something.
pub(in crate::http) fn over_share(of: &str) -> Problem {
    Problem::new(Code::Busy, format!("this caller has its share of {of}"))
}
