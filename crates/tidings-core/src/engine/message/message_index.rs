//! The index of messages: rows by which lists find them, whatever the filter.
//!
//! All are in the day on which a message was due, by shard and newest first: a list walks them in its own order and
//! reads no more than it shows. A closing has a row in any case, one for all of a step; a message has one of its own only
//! where it was not handed over.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::journal::table::{Key, Owner, Table};
use crate::model::channel::ChannelNo;
use crate::model::id::BucketNo;
use crate::model::messages::MessageState;
use crate::model::number::{ClosingId, MessageId, RecipientNo, Seq, TypeNo};
use crate::model::reason::Reason;
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;

/// A closing in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DueClosing {
    pub(crate) bucket: BucketNo,
    pub(crate) seq: Seq,
    /// Its recipient; `None` = it has several, which its record has.
    pub(crate) only: Option<RecipientNo>,
}

/// The closings of a step that the index is to have, with their channel and tenant.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewClosings(pub(super) Vec<(Instant, ChannelNo, Option<TenantNo>, DueClosing)>);

/// The messages that were due in a second and have something in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FacetRow {
    /// These.
    Named(Vec<(Instant, MessageId)>),
    /// So many that looking at all of the second finds them.
    Many,
}

/// The common property of messages of a [`FacetRow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageFacet {
    /// An entry of a type, told or left out.
    Type(TypeNo),
    /// An attempt of a provider.
    Provider(u64),
    /// The tenant.
    Tenant(TenantNo),
}

impl MessageFacet {
    /// An attempt of a provider with this name.
    pub(crate) fn provider(name: &str) -> Self {
        Self::Provider(xxh3_64(name.as_bytes()))
    }

    /// Its part of a key.
    pub(crate) fn tag(self) -> Vec<u8> {
        let (kind, value) = match self {
            Self::Type(number) => (0, u64::from(number.0)),
            Self::Provider(hash) => (1, hash),
            Self::Tenant(number) => (2, u64::from(TenantNo::raw(Some(number)))),
        };
        let mut tag = vec![kind];
        tag.extend_from_slice(&value.to_be_bytes());
        tag
    }
}

/// The part of a key of [`Table::Unsent`] that says how messages ended.
pub(crate) fn unsent_tag(state: MessageState, reason: Option<Reason>) -> [u8; 2] {
    [state as u8, reason.map_or(u8::MAX, |reason| reason as u8)]
}

/// An instant in a key, where later ones come first.
pub(crate) fn newest_first(at: Instant) -> [u8; 8] {
    (at.0.saturating_neg().cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

/// The second of an instant.
pub(crate) fn second_of(at: Instant) -> Instant {
    Instant(at.0.div_euclid(1000) * 1000)
}

/// The key of a shard's rows of a table that begin with a tag.
pub(crate) fn tagged(table: Table, shard: u16, tag: &[u8]) -> Key {
    Key::of(Owner::Shard, table).u16(shard).bytes(tag)
}

impl NewClosings {
    /// Adds a closing.
    pub(crate) fn add(
        &mut self,
        at: Instant,
        channel: ChannelNo,
        tenant: Option<TenantNo>,
        id: ClosingId,
        recipients: &RoaringBitmap,
    ) {
        let ClosingId { bucket, seq } = id;
        let only = recipients.min().filter(|_| recipients.len() == 1).map(RecipientNo);
        self.0.push((at, channel, tenant, DueClosing { bucket, seq, only }));
    }
}
