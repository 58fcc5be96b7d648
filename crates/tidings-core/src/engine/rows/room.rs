//! The recipients of an event whom the daily limit of its tenant lets in.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::model::id::Id;
use crate::model::number::RecipientNo;

/// The recipients of an event within the limit of its tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Room {
    /// All: there is no limit, or enough of it is left.
    #[default]
    ForAll,
    /// Recipients up to this id, by bytes.
    UpTo(Id),
    /// None.
    ForNobody,
    /// Those for whom the limit leaves room, the first by id. Each node replaces it by `UpTo`.
    Within(u64),
}

impl Room {
    /// The room for sorted recipients if the limit has `left` notifications left.
    pub(crate) fn of(sorted: &[Id], left: u64) -> Self {
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        match left {
            _ if left >= sorted.len() => Self::ForAll,
            0 => Self::ForNobody,
            _ => sorted.get(left - 1).cloned().map_or(Self::ForNobody, Self::UpTo),
        }
    }

    /// Returns true if there is room for all.
    pub(crate) fn is_for_all(&self) -> bool {
        *self == Self::ForAll
    }

    /// The recipients of a set who are beyond the limit.
    pub(crate) fn beyond(&self, bucket: &Bucket, who: &RoaringBitmap) -> RoaringBitmap {
        match self {
            Self::ForAll | Self::Within(_) => RoaringBitmap::new(),
            Self::ForNobody => who.clone(),
            Self::UpTo(last) => {
                let is_beyond = |number: &u32| {
                    let profile = bucket.roster.profile(RecipientNo(*number));
                    profile.is_none_or(|profile| profile.id > *last)
                };
                who.iter().filter(is_beyond).collect()
            }
        }
    }
}
