//! Numbers that the engine gives, and keeps for good.

use crate::id::BucketNo;

/// A lane's number, given once for (channel, lane name, kind) and stored.
pub type LaneNo = u16;

/// A type's number, given once for its name and stored.
pub type TypeNo = u32;

/// The key of a message: bucket and seq of its closing, and the recipient's number in the bucket.
pub type MessageId = ((BucketNo, u64), u32);
