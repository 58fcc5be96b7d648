//! The story: its outcome in numbers, and a page that tells it and leads to the server's pages over the same store.

mod page;
mod sights;

use std::collections::HashMap;

use serde::Serialize;
use tidings_core::content::Totals;
use tidings_core::{Command, Day, Id};
use tidings_node::channel::CaughtMailbox;

use crate::fan_out::MeasuredFanOut;
use crate::play::Telling;
use crate::scenario::{Facts, Scenario, Week};
pub use sights::{Sight, SightLink};

/// The story in numbers, and what of it is worth a look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Story {
    /// The counters of the contract.
    pub books: Totals,
    /// The scenario in numbers.
    pub facts: Facts,
    /// Week by week.
    pub weeks: Vec<WeekLine>,
    /// E-mails sent; the rest of [`Totals::messages`] are deliveries to inboxes.
    pub mails: u64,
    /// The Warhol event.
    pub warhol: FanOut,
    /// The event with the largest audience, which may be a show of many artists.
    pub largest: FanOut,
    /// Time that all of it took, in seconds of this machine.
    pub seconds: f64,
    /// What is worth a look, in the order in which it is shown.
    pub sights: Vec<Sight>,
}

/// A week and what was sent in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeekLine {
    /// The museum's week in numbers.
    #[serde(flatten)]
    pub week: Week,
    /// E-mails sent from this Monday 00:00 UTC to the next.
    pub mails: u64,
}

/// The fan-out of one event to its audience.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FanOut {
    /// The object's title.
    pub title: String,
    /// The event's id.
    pub event: String,
    /// Number of recipients.
    pub recipients: u64,
    /// From the publish to its durable commit, in milliseconds.
    pub ms: f64,
}

impl Story {
    /// The story of a scenario that was played; the mailbox has mails of some of its recipients.
    #[must_use]
    pub fn of(scenario: &Scenario, telling: &Telling, mailbox: &CaughtMailbox) -> Self {
        let titles = titles(scenario);
        let fan_out = |reached: Option<&MeasuredFanOut>| FanOut {
            title: reached.and_then(|of| titles.get(&of.event)).cloned().unwrap_or_default(),
            event: reached.map(|of| of.event.to_string()).unwrap_or_default(),
            recipients: reached.map_or(0, |of| of.recipients),
            ms: reached.map_or(0.0, |of| of.ms),
        };
        let sent_in = |monday: Day| {
            let week = monday..Day(monday.0.saturating_add(7));
            telling.mails.range(week).map(|(_, mails)| mails).sum()
        };
        let weeks = scenario.weeks.iter();
        Self {
            books: telling.books,
            facts: scenario.facts(),
            weeks: weeks
                .map(|week| WeekLine { week: week.clone(), mails: sent_in(week.monday) })
                .collect(),
            mails: telling.mails.values().sum(),
            warhol: fan_out(telling.foremost.chosen.as_ref()),
            largest: fan_out(telling.foremost.largest.as_ref()),
            seconds: telling.seconds,
            sights: sights::all(scenario, mailbox),
        }
    }
}

/// The titles of the objects of all events.
fn titles(scenario: &Scenario) -> HashMap<Id, String> {
    let published = scenario.commands().filter_map(|timed| match timed.command {
        Command::Publish(event) => Some(event),
        _ => None,
    });
    let titled = published.filter_map(|event| {
        let title = event.object.title.as_ref()?.first().to_owned();
        Some((event.id, title))
    });
    titled.collect()
}
