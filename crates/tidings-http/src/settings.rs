//! The bounds of the server.

use std::time::Duration;

/// The bounds of the server: no client can cost more.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The largest body that is read as a whole, and the longest line of a stream, in bytes.
    pub body_bytes_max: usize,
    /// Maximum bytes of all bodies in progress of callers with a key.
    pub bodies_bytes_max: usize,
    /// Maximum bytes of all bodies in progress of end users.
    pub user_bodies_bytes_max: usize,
    /// Maximum bytes of those of a recipient.
    pub user_bodies_share_bytes_max: usize,
    /// Maximum bytes of all answers that are not read yet.
    pub answers_bytes_max: usize,
    /// Maximum bytes of those to a recipient, or to an address without a key, beside one answer.
    pub answers_share_bytes_max: usize,
    /// Maximum bytes of all bodies in progress of calls that need no key: reports of providers, forms of pages.
    pub open_bodies_bytes_max: usize,
    /// Maximum bytes of those from one address of another machine.
    pub open_bodies_peer_bytes_max: usize,
    /// The most items of one array.
    pub array_items_max: usize,
    /// Maximum number of lines of a stream in one slice.
    pub slice_lines_max: usize,
    /// Maximum number of bytes of a stream's lines in one slice; a longer line is a slice by itself.
    pub slice_bytes_max: usize,
    /// Time limit of the arrival of a body.
    pub body_patience: Duration,
    /// Time limit of the arrival of a body that anybody may send.
    pub open_body_patience: Duration,
    /// The time after which a recipient hears that they have had their share.
    pub refusal_delay: Duration,
    /// Time limit of the node's answer.
    pub answer_patience: Duration,
    /// Time limit of a stalled backup's reader.
    pub backup_patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            body_bytes_max: 16 << 20,
            bodies_bytes_max: 128 << 20,
            user_bodies_bytes_max: 32 << 20,
            user_bodies_share_bytes_max: 1 << 20,
            answers_bytes_max: 256 << 20,
            answers_share_bytes_max: 16 << 20,
            open_bodies_bytes_max: 32 << 20,
            open_bodies_peer_bytes_max: 8 << 20,
            array_items_max: 10_000,
            slice_lines_max: 1_000,
            slice_bytes_max: 1 << 20,
            body_patience: Duration::from_secs(30),
            open_body_patience: Duration::from_secs(10),
            refusal_delay: Duration::from_millis(500),
            answer_patience: Duration::from_secs(30),
            backup_patience: Duration::from_secs(30),
        }
    }
}
