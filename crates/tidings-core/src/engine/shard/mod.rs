//! A shard: some buckets with one writer, and the effects of acts, commands and deadlines in it.

pub(super) mod admission;
pub(super) mod buckets;
pub(super) mod cancel;
pub(super) mod copies;
pub(super) mod due;
pub(super) mod follow;
pub(super) mod maintenance;
pub(super) mod members;
pub(super) mod messages;
pub(super) mod mute;
pub(super) mod pause;
pub(super) mod prefer;
pub(super) mod profile;
pub(super) mod publish;
pub(super) mod schedule;
pub(super) mod seen;
pub(super) mod state;
pub(super) mod take_back;
pub(super) mod tenant;
pub(super) mod waiting_of;
