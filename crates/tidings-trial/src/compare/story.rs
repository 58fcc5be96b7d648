//! One recipient's day under each configuration: the times of events, and the message of each.
//!
//! A mean is hard to imagine. This is what one recipient would have got, drawn from the same run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tidings_core::model::{DAY_MS, HOUR_MS};
use tidings_core::{Day, Id, Instant};

use super::Played;
use super::gather::StoryMessage;
use super::population::{Population, PopulationMember};

/// Maximum number of events of a story.
const EVENTS_MAX: usize = 60;

/// The least time that a story covers, in milliseconds.
const SPAN_MS_MIN: i64 = HOUR_MS;

/// The time that a story covers, in delays of the promptest configuration that waits at all: in many more of them its
/// bars would be too short to be seen.
const SPAN_DELAYS: i64 = 24;

/// The messages of one recipient on one day.
#[derive(Debug, PartialEq, Eq)]
pub struct Story {
    /// The recipient.
    pub recipient: Id,
    /// The UTC day on which the events came.
    pub day: Day,
    /// Number of events of the busiest stretch of the day, of which the first `EVENTS_MAX` are shown.
    pub events: usize,
    /// A band for each configuration.
    pub bands: Vec<MessageBand>,
}

/// The recipient's messages under one configuration.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MessageBand {
    /// Its short name.
    pub title: String,
    /// Its messages to the recipient, of the whole timeline.
    pub messages: u64,
    /// The messages with events of the day, by their instants.
    pub shown: Vec<ShownMessage>,
}

/// A message of a band.
#[derive(Debug, PartialEq, Eq)]
pub struct ShownMessage {
    /// Its instant.
    pub at: Instant,
    /// The instants at which its events of the day came.
    pub events: Vec<Instant>,
}

impl Story {
    /// The story of a recipient; by default of the recipient whose numbers of messages differ most, of several the
    /// first by bytes. `None` if no run has a message to that recipient.
    #[must_use]
    pub fn of(runs: &[Played], population: &Population, recipient: Option<&Id>) -> Option<Self> {
        let totals: Vec<BTreeMap<PopulationMember, u64>> = runs.iter().map(totals).collect();
        let of_run = |member: PopulationMember| {
            totals.iter().map(move |of| of.get(&member).copied().unwrap_or(0))
        };
        let member = match recipient {
            Some(id) => population.find(id)?,
            None => population.members().max_by(|a, b| {
                let by_range = range(of_run(*a)).cmp(&range(of_run(*b)));
                by_range.then_with(|| population.id(*b).cmp(population.id(*a)))
            })?,
        };
        let kept: Vec<Vec<&StoryMessage>> = runs.iter().map(|run| of_member(run, member)).collect();
        let day = day_of_difference(&kept)?;
        let stretch = DayStretch::of(&kept, day);
        let bands = runs.iter().zip(&kept).zip(of_run(member)).map(|((run, kept), messages)| {
            MessageBand { title: run.title.clone(), messages, shown: shown_in(kept, &stretch) }
        });
        Some(Self {
            recipient: population.id(member).clone(),
            day,
            events: stretch.events,
            bands: bands.collect(),
        })
    }

    /// Number of events that are shown.
    #[must_use]
    pub fn shown(&self) -> usize {
        let of_band = |band: &MessageBand| band.shown.iter().map(|shown| shown.events.len()).sum();
        self.bands.iter().map(of_band).max().unwrap_or(0)
    }

    /// The instants between which the events came, if there is any.
    #[must_use]
    pub fn events_from_to(&self) -> Option<(Instant, Instant)> {
        let shown = self.bands.iter().flat_map(|band| &band.shown);
        let events: Vec<Instant> = shown.flat_map(|shown| &shown.events).copied().collect();
        events.iter().min().copied().zip(events.iter().max().copied())
    }
}

/// Messages by recipient.
fn totals(run: &Played) -> BTreeMap<PopulationMember, u64> {
    let mut totals = BTreeMap::new();
    for (day, count) in &run.gathered.by_day {
        *totals.entry(day.member).or_default() += u64::from(*count);
    }
    totals
}

fn range(counts: impl Iterator<Item = u64> + Clone) -> u64 {
    let (most, least) = (counts.clone().max(), counts.min());
    most.unwrap_or(0) - least.unwrap_or(0)
}

fn of_member(run: &Played, member: PopulationMember) -> Vec<&StoryMessage> {
    let kept = run.gathered.kept.iter();
    kept.filter(|kept| kept.member == member).collect()
}

/// The day whose events make the greatest difference in messages; of several the one with most events, then the first.
fn day_of_difference(kept: &[Vec<&StoryMessage>]) -> Option<Day> {
    let mut messages: BTreeMap<Day, Vec<u64>> = BTreeMap::new();
    let mut events: BTreeMap<Day, u64> = BTreeMap::new();
    for (at, of_run) in kept.iter().enumerate() {
        for message in of_run {
            let days: BTreeSet<Day> = message.events.iter().map(|t| t.day()).collect();
            for day in days {
                messages.entry(day).or_insert_with(|| vec![0; kept.len()])[at] += 1;
            }
            for t in &message.events {
                *events.entry(t.day()).or_default() += 1;
            }
        }
    }
    let best = messages.iter().max_by_key(|(day, counts)| {
        let of_day = events.get(day).copied().unwrap_or(0);
        (range(counts.iter().copied()), of_day, Reverse(**day))
    });
    best.map(|(day, _)| *day)
}

/// The stretch of a day that is shown.
struct DayStretch {
    from: Instant,
    /// The last event that is shown.
    to: Instant,
    events: usize,
}

impl DayStretch {
    /// The stretch with most events; of several the first.
    fn of(kept: &[Vec<&StoryMessage>], day: Day) -> Self {
        let events = kept
            .iter()
            .map(|of_run| events_of(of_run, day))
            .max_by_key(Vec::len)
            .unwrap_or_default();
        let span_ms = span_ms(kept, day);
        let within = |from: &Instant| {
            let after = events.partition_point(|t| t.0 <= from.0 + span_ms);
            after - events.partition_point(|t| t < from)
        };
        let busiest = events.iter().max_by_key(|from| (within(from), Reverse(**from)));
        let from = busiest.copied().unwrap_or(day.start());
        let first = events.partition_point(|t| *t < from);
        let count = within(&from);
        let last = events.get(first + count.clamp(1, EVENTS_MAX) - 1);
        Self { from, to: last.copied().unwrap_or(from), events: count }
    }
}

/// The instants at which a run's events of a day came, ascending.
fn events_of(kept: &[&StoryMessage], day: Day) -> Vec<Instant> {
    let mut events: Vec<Instant> = kept
        .iter()
        .flat_map(|message| message.events.iter())
        .copied()
        .filter(|t| t.day() == day)
        .collect();
    events.sort_unstable();
    events
}

/// The time that a stretch covers.
fn span_ms(kept: &[Vec<&StoryMessage>], day: Day) -> i64 {
    let median = |of_run: &Vec<&StoryMessage>| {
        let delays = of_run.iter().flat_map(|message| {
            message.events.iter().filter(|t| t.day() == day).map(|t| message.at.0 - t.0)
        });
        let mut delays: Vec<i64> = delays.collect();
        delays.sort_unstable();
        delays.get(delays.len() / 2).copied()
    };
    let least = kept.iter().filter_map(median).filter(|delay| *delay > 0).min().unwrap_or(DAY_MS);
    least.saturating_mul(SPAN_DELAYS).clamp(SPAN_MS_MIN, DAY_MS)
}

/// The messages with events of a stretch.
fn shown_in(kept: &[&StoryMessage], stretch: &DayStretch) -> Vec<ShownMessage> {
    let shown = |message: &&StoryMessage| {
        let events: Vec<Instant> = message
            .events
            .iter()
            .copied()
            .filter(|t| (stretch.from..=stretch.to).contains(t))
            .collect();
        (!events.is_empty()).then_some(ShownMessage { at: message.at, events })
    };
    kept.iter().filter_map(shown).collect()
}
