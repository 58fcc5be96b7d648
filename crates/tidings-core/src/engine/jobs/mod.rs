//! Jobs: one change of many messages, a slice at a time.
//!
//! The intake keeps a job with the messages that it is about, as sets by bucket. Each shard acts on those of its own
//! buckets, and writes in the same commit how far it came: a crash neither repeats nor leaves out a message. All rows
//! are in the day on which the job was made, and go with it.

pub(super) mod accept;
pub(super) mod end;
pub(super) mod job;
pub(super) mod messages_of;
pub(super) mod report;
pub(super) mod rows;
pub(super) mod slice;
