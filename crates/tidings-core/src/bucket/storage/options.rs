//! Options of an engine, which say how it keeps its state and not what it decides.

/// Options of an engine; none of them changes its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number of buckets of a new store; an existing store keeps its own.
    pub buckets: u16,
    /// Number of shards that the buckets are divided into; it may change from one start to the next.
    pub shards: u16,
    /// Number of notifications at which a bucket's tail is indexed after a checkpoint; `None` = never.
    pub index_after: Option<u64>,
    /// Number of records after which a bucket writes a checkpoint.
    pub checkpoint_after: u64,
    /// Bytes of a slice of a checkpoint, index build or merge, about: a step waits for one slice at most.
    pub slice_bytes: usize,
    /// The longest value that the store takes, in bytes: a command that would make one longer is refused.
    pub row_bytes: usize,
    /// Random bits: the key of keyed hashes, of a store that has none.
    pub fresh_key: [u8; 16],
}

impl Default for Options {
    fn default() -> Self {
        Self {
            buckets: 16,
            shards: 1,
            index_after: Some(4096),
            checkpoint_after: 4096,
            slice_bytes: 256 << 10,
            row_bytes: 1 << 20,
            fresh_key: [0; 16],
        }
    }
}
