//! The audiences of scheduled events, fixed at their arrival.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::channel::ChannelNo;
use crate::journal::parts;
use crate::journal::record::OnChannel;
use crate::journal::stored::{ReadView, Unreadable, decode};
use crate::set::Set;
use crate::table::Partition;

/// The recipients of a scheduled event in a bucket, fixed at its arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Frozen {
    /// Words of the reasons, sorted by bytes.
    pub(crate) words: Vec<String>,
    pub(crate) parts: Vec<FrozenPart>,
}

/// Sets of recipients with entries on the same channels for the same reasons.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FrozenPart {
    /// The channels of their entries.
    pub(crate) channels: Vec<ChannelNo>,
    /// Indexes of their reasons' words.
    pub(crate) reasons: Vec<u16>,
    /// The channels with other reasons.
    pub(crate) elsewhere: Vec<OnChannel>,
    /// True if these recipients have other entries of the event before.
    pub(crate) later: bool,
    pub(crate) who: Set,
}

impl Frozen {
    /// All recipients of it.
    pub(crate) fn everyone(&self) -> RoaringBitmap {
        let parts = self.parts.iter();
        parts.fold(RoaringBitmap::new(), |who, part| who | &part.who.0)
    }

    /// The frozen sets whose first row is `row`.
    ///
    /// # Errors
    /// [`Unreadable`] where they make no sense.
    pub(crate) fn read(view: &dyn ReadView, key: &[u8], row: &[u8]) -> Result<Self, Unreadable> {
        let bytes = parts::whole(key, row, |key| view.get(Partition::Base, key))?;
        decode("a scheduled audience", &bytes)
    }
}
