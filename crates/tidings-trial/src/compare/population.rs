//! The population: the recipients with a message in any run, and the days that count for them.
//!
//! A day of a recipient counts if it has a message, or an event of a message. So a mean over these days compares
//! configurations that gather and delay differently.

use std::collections::{HashMap, HashSet};

use tidings_core::{Day, Id};

/// A recipient in a [`Population`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PopulationMember(u32);

/// The recipients and their days.
#[derive(Debug, Default)]
pub struct Population {
    members: HashMap<Id, PopulationMember>,
    ids: Vec<Id>,
    days: HashSet<MemberDay>,
}

/// A UTC day of a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemberDay {
    pub(super) member: PopulationMember,
    pub(super) day: Day,
}

impl Population {
    /// The recipient of this id.
    pub(super) fn member(&mut self, id: &Id) -> PopulationMember {
        if let Some(member) = self.members.get(id) {
            return *member;
        }
        let member = PopulationMember(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
        self.members.insert(id.clone(), member);
        self.ids.push(id.clone());
        member
    }

    /// A recipient by id, if any run has a message to them.
    pub(super) fn find(&self, id: &Id) -> Option<PopulationMember> {
        self.members.get(id).copied()
    }

    /// All recipients.
    pub(super) fn members(&self) -> impl Iterator<Item = PopulationMember> {
        (0..self.ids.len()).filter_map(|at| u32::try_from(at).ok().map(PopulationMember))
    }

    /// The id of a recipient of this population.
    pub(super) fn id(&self, member: PopulationMember) -> &Id {
        &self.ids[member.0 as usize]
    }

    /// Counts a day of a recipient.
    pub(super) fn count(&mut self, day: MemberDay) {
        self.days.insert(day);
    }

    /// Number of recipients.
    #[must_use]
    pub fn recipients(&self) -> u64 {
        self.ids.len() as u64
    }

    /// Number of days, of all recipients together.
    #[must_use]
    pub fn days(&self) -> u64 {
        self.days.len() as u64
    }
}
