//! The room that the limit of a tenant leaves to an event.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::model::id::Id;
use crate::model::number::RecipientNo;

/// The recipients whom a tenant's limit leaves room for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Room {
    /// All: there is no limit, or enough is left of it.
    #[default]
    ForAll,
    /// Those up to this one, by the bytes of their ids.
    UpTo(Id),
    /// None.
    ForNobody,
    /// The first, as far as fewer than this number were notified on the day: each node looks for its last one.
    Within(u64),
}

impl Room {
    /// The room for some recipients, sorted, of whom so many may be notified.
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

    /// Those of a set for whom there is no room.
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
