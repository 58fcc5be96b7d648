//! Names of types and lanes, and the numbers that stand for them in what is stored.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use crate::journal::record::{Arrival, Variant};
use crate::journal::stored::Unreadable;
use crate::model::batch_key::{BatchKey, BatchKeys, LaneKey};
use crate::model::channel::{CHANNELS, ChannelNo, INBOX_NO};
use crate::model::number::{LaneNo, TypeNo};
use crate::model::tenant::TenantNo;
use crate::rules::lane_kind::LaneKind;
use crate::rules::lane_stem;

/// Names of types and lanes with their stored numbers. It only grows.
#[derive(Clone, Debug, Default)]
pub struct NumberedNames {
    types: IndexSet<String, FxBuildHasher>,
    lanes: IndexSet<LaneName, FxBuildHasher>,
}

/// A lane without its recipient.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaneName {
    /// The channel.
    pub channel: ChannelNo,
    /// Its name, as printed.
    pub name: String,
    /// The kind: two kinds under one name (after a change of the configuration) are two lanes.
    pub kind: LaneKind,
}

/// Stands for a lane whose number was never given.
static NEVER_GIVEN: LaneName =
    LaneName { channel: INBOX_NO, name: String::new(), kind: LaneKind::Now };

/// A name with a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NumberedName {
    /// A type.
    Type(TypeNo, String),
    /// A lane.
    Lane(LaneNo, LaneName),
}

impl LaneName {
    /// Returns true if it is the inbox itself, where entries are delivered at once.
    #[must_use]
    pub fn is_inbox(&self) -> bool {
        self.channel == INBOX_NO && self.kind != LaneKind::Paused
    }

    /// Returns true if its name is that of a policy, and not one that the host gave it.
    #[must_use]
    pub(crate) fn has_policy_name(&self) -> bool {
        lane_stem(&self.name) == self.kind.default_lane()
    }
}

impl NumberedNames {
    /// The number of a type, if it has one.
    #[must_use]
    pub fn type_no(&self, name: &str) -> Option<TypeNo> {
        self.types.get_index_of(name).and_then(|at| u32::try_from(at).ok().map(TypeNo))
    }

    /// The name of a type.
    #[must_use]
    pub fn type_name(&self, number: TypeNo) -> &str {
        self.types.get_index(number.0 as usize).map_or("", String::as_str)
    }

    /// Returns true if a number is that of a lane.
    #[must_use]
    pub fn has_lane(&self, number: LaneNo) -> bool {
        usize::from(number) < self.lanes.len()
    }

    /// A lane by its number. For a number that was never given, which only a damaged row has, it is an inbox
    /// without a name.
    #[must_use]
    pub fn lane(&self, number: LaneNo) -> &LaneName {
        self.lanes.get_index(usize::from(number)).unwrap_or(&NEVER_GIVEN)
    }

    /// Returns true if two numbers are of one lane: the same name on the same channel. A lane has two numbers if
    /// a change of the configuration changed its kind; a window that was open then keeps the kind under
    /// which it was opened.
    #[must_use]
    pub(crate) fn are_one(&self, a: LaneNo, b: LaneNo) -> bool {
        let (a, b) = (self.lane(a), self.lane(b));
        a.channel == b.channel && a.name == b.name
    }

    /// The other numbers of a lane.
    pub fn others(&self, lane: LaneNo) -> impl Iterator<Item = LaneNo> {
        self.lanes().map(|(no, _)| no).filter(move |no| *no != lane && self.are_one(*no, lane))
    }

    /// All lanes with their numbers.
    pub fn lanes(&self) -> impl Iterator<Item = (LaneNo, &LaneName)> {
        (0..).map(LaneNo).zip(self.lanes.iter())
    }

    /// Restores a stored name; numbers must come in order.
    ///
    /// # Errors
    /// [`Unreadable`] where the number is not the next one, or the channel is none.
    pub fn put_back(&mut self, named: NumberedName) -> Result<(), Unreadable> {
        let is_good = match named {
            NumberedName::Type(number, name) => {
                self.types.insert_full(name) == (number.0 as usize, true)
            }
            NumberedName::Lane(number, lane) => {
                usize::from(lane.channel) < CHANNELS.len()
                    && self.lanes.insert_full(lane) == (usize::from(number), true)
            }
        };
        is_good
            .then_some(())
            .ok_or_else(|| Unreadable("a name is not the next of its kind".to_owned()))
    }

    pub(crate) fn give_type(&mut self, name: &str, given: &mut Vec<NumberedName>) -> TypeNo {
        let (at, new) = self.types.insert_full(name.to_owned());
        let number = u32::try_from(at).expect("there are fewer types than 2^32");
        let number = TypeNo(number);
        if new {
            given.push(NumberedName::Type(number, name.to_owned()));
        }
        number
    }

    pub(crate) fn give_lane(&mut self, lane: LaneName, given: &mut Vec<NumberedName>) -> LaneNo {
        let (at, new) = self.lanes.insert_full(lane.clone());
        let number = u16::try_from(at).expect("there are fewer lanes than 2^16");
        let number = LaneNo(number);
        if new {
            given.push(NumberedName::Lane(number, lane));
        }
        number
    }

    /// The batch key of an entry in a lane: lanes of some kinds have only the empty one.
    pub(crate) fn key<'a>(&self, lane: LaneNo, keys: &'a BatchKeys) -> &'a BatchKey {
        if keys.is_empty() {
            return &BatchKey::EMPTY;
        }
        let name = self.lane(lane);
        if name.kind.takes_keys() { keys.of(name.channel) } else { &BatchKey::EMPTY }
    }

    /// The address of an entry's lane.
    pub(crate) fn address(
        &self,
        lane: LaneNo,
        keys: &BatchKeys,
        tenant: Option<TenantNo>,
    ) -> LaneKey {
        let key = self.key(lane, keys).clone();
        LaneKey { lane, key, tenant }
    }

    /// Returns true if two addresses are of one lane: see [`NumberedNames::are_one`].
    pub(crate) fn are_one_lane(&self, a: &LaneKey, b: &LaneKey) -> bool {
        a.key == b.key && a.tenant == b.tenant && self.are_one(a.lane, b.lane)
    }
}

impl LaneKey {
    /// Returns true if the entries of a variant of an arrival are in the lane.
    pub(crate) fn has(&self, names: &NumberedNames, arrival: &Arrival, variant: &Variant) -> bool {
        variant.lanes.contains(&self.lane)
            && arrival.tenant == self.tenant
            && (arrival.keys.is_empty() && self.key.is_empty()
                || names.key(self.lane, &arrival.keys) == &self.key)
    }
}
