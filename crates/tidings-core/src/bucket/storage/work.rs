//! Maintenance in progress: a checkpoint that is being written, an index that is being built or merged.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::bucket::lanes::lane::{Lane, LaneColumn};
use crate::bucket::people::newest::NewestSeqs;
use crate::bucket::people::preferences::Preference;
use crate::index::{SegmentMerge, TailIndexing};
use crate::journal::record::Attempts;
use crate::journal::table::Write;
use crate::model::batch_key::LaneKey;
use crate::model::channel::ChannelNo;
use crate::model::number::{LaneNo, Seq};
use crate::model::recipient::Recipient;
use crate::model::time::{Day, Instant};
use crate::sets::set::Set;
use crate::sets::shared::Shared;

/// A closing as stored.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::bucket) struct ClosingImage {
    pub(in crate::bucket) seq: Seq,
    pub(in crate::bucket) lane: LaneKey,
    pub(in crate::bucket) at: Instant,
    pub(in crate::bucket) clock: Instant,
    /// The first seq of its windows.
    pub(in crate::bucket) from: Seq,
    /// The start of each window whose message is not built yet.
    pub(in crate::bucket) unmade: Vec<(u32, Seq)>,
    /// Recipients whose message is on its way.
    pub(in crate::bucket) sending: Set,
    pub(in crate::bucket) tried: Vec<(u32, Attempts)>,
}

/// The head of a checkpoint. Large parts have rows of their own.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::bucket) struct CheckpointHead {
    pub(in crate::bucket) next_seq: Seq,
    pub(in crate::bucket) delivered_to: Seq,
    pub(in crate::bucket) clock: Option<Instant>,
    pub(in crate::bucket) rules: u32,
    pub(in crate::bucket) versions: Vec<(Seq, u32)>,
    pub(in crate::bucket) next_number: u32,
    /// Older arrivals are at rest.
    pub(in crate::bucket) tail_from: Seq,
    pub(in crate::bucket) closings: Vec<ClosingImage>,
    pub(in crate::bucket) paused: Vec<ChannelNo>,
    pub(in crate::bucket) hidden: NewestSeqs,
    pub(in crate::bucket) forgotten_to: Seq,
}

/// A recipient as stored; empty if erased.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::bucket) struct RecipientRow {
    pub(in crate::bucket) profile: Option<Recipient>,
    pub(in crate::bucket) preferences: Vec<Preference>,
}

/// A checkpoint that is being written.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    /// The day of the first record after the previous checkpoint.
    pub(in crate::bucket) since: Option<Day>,
    pub(in crate::bucket) head: CheckpointHead,
    /// The rows to write together with the head.
    pub(in crate::bucket) rows: Vec<Write>,
    pub(in crate::bucket) lanes: BTreeMap<LaneNo, Shared<Lane>>,
    /// Pages still to be written.
    pub(in crate::bucket) pages: VecDeque<(LaneNo, LaneColumn, u32)>,
}

/// A chore in progress.
#[derive(Debug)]
pub(crate) enum Chore {
    Checkpoint(Checkpoint),
    Build(TailIndexing),
    Merge(SegmentMerge),
}

impl Chore {
    /// Returns true if its rows belong to a day.
    pub(crate) fn is_about(&self, about: Day) -> bool {
        match self {
            Self::Checkpoint(_) => false,
            Self::Build(building) => building.day == about,
            Self::Merge(merging) => merging.day == about,
        }
    }
}
