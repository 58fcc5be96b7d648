//! The time limits of providers, over SMTP and over HTTP.

/// The time limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerTimeouts {
    /// Limit for a connection and for each whole answer, in milliseconds; more than 0.
    pub answer_ms: u64,
    /// Limit for everything before the final dot, the connection included, in milliseconds; more than 0.
    pub begin_ms: u64,
    /// Limit for the answer to the final dot, in milliseconds; more than 0. It is longer, since a server
    /// may do all its checks then (RFC 5321, section 4.5.3.2.6, would have ten minutes).
    pub delivery_ms: u64,
    /// Limit for a whole call to an address that a recipient names, from looking up its host to the end of its answer,
    /// in milliseconds; more than 0. A stranger's server may take as long as it likes, and a provider's doesn't.
    pub stranger_ms: u64,
}

impl Default for ServerTimeouts {
    /// The default: 30 seconds for an answer, a minute up to the final dot, and three minutes for its
    /// answer; 15 seconds for a whole call to an address that a recipient names.
    fn default() -> Self {
        Self { answer_ms: 30_000, begin_ms: 60_000, delivery_ms: 180_000, stranger_ms: 15_000 }
    }
}
