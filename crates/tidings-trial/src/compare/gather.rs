//! Counting of what a run sends, as it is sent.

use std::collections::{HashMap, HashSet};

use tidings_core::content::{Item, Message};
use tidings_core::engine::Warning;
use tidings_core::{Id, Instant};

use super::population::{MemberDay, Population, PopulationMember};
use super::{CountFilter, Distribution};
use crate::simulate::PlaySink;

/// The messages of a run in numbers.
#[derive(Debug, Default)]
pub(super) struct RunNumbers {
    pub(super) messages: u64,
    /// Recipients with a message.
    pub(super) recipients: u64,
    /// Messages by recipient and day; days without one are absent.
    pub(super) by_day: HashMap<MemberDay, u32>,
    pub(super) delay_ms: Distribution,
    pub(super) items: Distribution,
    /// The messages themselves, if they are to be kept.
    pub(super) kept: Vec<StoryMessage>,
}

/// A message that is kept for a recipient's story.
#[derive(Debug)]
pub(super) struct StoryMessage {
    pub(super) member: PopulationMember,
    pub(super) at: Instant,
    /// The instants at which its events came, ascending.
    pub(super) events: Box<[Instant]>,
}

/// A sink that counts.
pub(super) struct RunGatherer<'g> {
    population: &'g mut Population,
    wanted: CountFilter<'g>,
    gathered: RunNumbers,
}

impl<'g> RunGatherer<'g> {
    pub(super) fn new(population: &'g mut Population, wanted: CountFilter<'g>) -> Self {
        Self { population, wanted, gathered: RunNumbers::default() }
    }

    pub(super) fn done(self) -> RunNumbers {
        let members: HashSet<_> = self.gathered.by_day.keys().map(|day| day.member).collect();
        RunNumbers { recipients: members.len() as u64, ..self.gathered }
    }
}

impl PlaySink for RunGatherer<'_> {
    fn message(&mut self, message: &Message) {
        if !self.wanted.channels.count(&message.channel) {
            return;
        }
        let counts = |item: &&Item| {
            self.wanted.places.is_none_or(|places| places.have(message, &item.event_type))
        };
        let items: Vec<&Item> = message.items.iter().filter(counts).collect();
        if items.is_empty() {
            return;
        }
        let member = self.population.member(&message.recipient);
        let gathered = &mut self.gathered;
        let day = MemberDay { member, day: message.at.day() };
        self.population.count(day);
        *gathered.by_day.entry(day).or_default() += 1;
        gathered.messages += 1;
        gathered.items.add(items.len() as i64, 1);
        for item in &items {
            self.population.count(MemberDay { member, day: item.t.day() });
            gathered.delay_ms.add(message.at.0 - item.t.0, 1);
        }
        if self.wanted.story {
            gathered.kept.push(StoryMessage {
                member,
                at: message.at,
                events: items.iter().map(|item| item.t).collect(),
            });
        }
    }

    fn warning(&mut self, _: u64, _: &Id, _: &Warning) {}

    fn closed(&self) -> bool {
        false
    }
}
