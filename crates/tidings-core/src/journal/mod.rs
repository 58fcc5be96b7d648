//! The journal of sets: records, and their indexed form.

pub mod chunks;
pub(crate) mod record;
pub(crate) mod record_size;
pub(crate) mod row;
pub(crate) mod stored;
pub(crate) mod table;

pub use record::{
    About, Arrival, Attempts, ChannelReasons, CoveredEntries, Entries, EventAt, Origin, Record,
    Reopened, TenantTopic, Variant,
};
pub use stored::{ReadView, Unreadable, body, decode, each, encode};
pub use table::{
    Key, Owner, Partition, REST, Table, Write, after_prefix, i64_at, is_of_bucket, u64_at,
};
