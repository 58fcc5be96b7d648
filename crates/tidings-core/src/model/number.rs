//! Numbers that the engine gives, and keeps for good.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::model::id::BucketNo;

/// A lane's number, given once for (channel, lane name, kind) and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LaneNo(pub u16);

/// A type's number, given once for its name and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypeNo(pub u32);

/// An event's place among all accepted events.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EventNo(pub u64);

/// A position in a bucket's journal: its counter of records and arrivals.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// A recipient's number in their bucket, given once for their id and kept until they are erased. Sets of recipients
/// are bitmaps of it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RecipientNo(pub u32);

/// A tenant's number. It never changes; a tenant that is created again after its deletion gets another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TenantNo(pub NonZeroU32);

impl TypeNo {
    /// Stands for a type that has no number.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

impl TenantNo {
    /// The first number.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The number as stored, where 0 is none.
    #[must_use]
    pub fn raw(tenant: Option<Self>) -> u32 {
        tenant.map_or(0, |tenant| tenant.0.get())
    }

    /// Reads what [`TenantNo::raw`] gave.
    #[must_use]
    pub fn of_raw(raw: u32) -> Option<Self> {
        NonZeroU32::new(raw).map(Self)
    }
}

impl Seq {
    /// The last position that there can be.
    pub(crate) const LAST: Self = Self(u64::MAX);

    /// The position after it.
    #[must_use]
    pub fn next(self) -> Self {
        self.plus(1)
    }

    /// The position a number of records after it.
    #[must_use]
    pub(crate) fn plus(self, records: u64) -> Self {
        Self(self.0.saturating_add(records))
    }

    /// The position before it.
    pub(crate) fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// This position and all after it.
    pub(crate) fn and_on(self) -> impl Iterator<Item = Self> {
        (self.0..).map(Self)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Display for RecipientNo {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Display for TenantNo {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl From<LaneNo> for usize {
    fn from(number: LaneNo) -> Self {
        Self::from(number.0)
    }
}

/// A closing: its bucket, and the seq of its record there.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ClosingId {
    /// The bucket.
    pub bucket: BucketNo,
    /// The seq.
    pub seq: Seq,
}

/// A recipient as the engine knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecipientAt {
    /// The bucket.
    pub(crate) bucket: BucketNo,
    /// The number within the bucket.
    pub(crate) number: RecipientNo,
}

/// A message: its closing, and its recipient.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct MessageId {
    /// The closing.
    pub closing: ClosingId,
    /// The recipient.
    pub number: RecipientNo,
}

impl ClosingId {
    /// The message to the recipient with this number.
    #[must_use]
    pub fn message(self, number: RecipientNo) -> MessageId {
        MessageId { closing: self, number }
    }
}
