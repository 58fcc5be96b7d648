//! Tuning of cool-downs: a grid of `quiet` and `max_wait` is played on real events, and the choice is made by what people
//! would get.

use std::collections::BTreeSet;

use tidings_core::content::Message;
use tidings_core::rules::{Policy, Route};
use tidings_core::{Id, Rules};

use super::{Channels, ConfigFigures};

/// A choice of a cool-down's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cooldown {
    /// Time for which it must be quiet, in milliseconds.
    pub quiet_ms: i64,
    /// The longest that the first entry waits, in milliseconds.
    pub max_wait_ms: i64,
}

/// The choices of a grid: all pairs but those whose `max_wait` is not longer than their `quiet`.
#[must_use]
pub fn grid(quiet_ms: &[i64], max_wait_ms: &[i64]) -> Vec<Cooldown> {
    let pairs = quiet_ms.iter().flat_map(|quiet_ms| {
        max_wait_ms
            .iter()
            .map(|max_wait_ms| Cooldown { quiet_ms: *quiet_ms, max_wait_ms: *max_wait_ms })
    });
    pairs.filter(|pair| pair.max_wait_ms > pair.quiet_ms).collect()
}

/// Gives these types (`None` = all) a choice wherever they have a cool-down on these channels; returns the number of such
/// places.
pub fn choose(
    rules: &mut Rules,
    types: Option<&[String]>,
    channels: Channels<'_>,
    choice: Cooldown,
) -> usize {
    let mut places = 0;
    for (name, kind) in &mut rules.types {
        if types.is_some_and(|types| !types.contains(name)) {
            continue;
        }
        for (channel, route) in &mut kind.channels {
            if let Policy::Cooldown { quiet_ms, max_wait_ms } = &mut route.policy
                && channels.count(channel)
            {
                (*quiet_ms, *max_wait_ms) = (choice.quiet_ms, Some(choice.max_wait_ms));
                places += 1;
            }
        }
    }
    places
}

/// The types that are tuned, each with its channel.
#[derive(Clone, Debug, Default)]
pub struct TunedTypes(BTreeSet<(String, String)>);

impl TunedTypes {
    /// The places of these types (`None` = all) that have a cool-down on these channels.
    #[must_use]
    pub fn of(rules: &Rules, types: Option<&[String]>, channels: Channels<'_>) -> Self {
        let chosen =
            rules.types.iter().filter(|(name, _)| types.is_none_or(|types| types.contains(name)));
        let each = chosen.flat_map(|(name, kind)| {
            let has_cooldown = |route: &Route| matches!(route.policy, Policy::Cooldown { .. });
            let of_type = kind.channels.iter();
            let tuned = of_type
                .filter(move |(channel, route)| has_cooldown(route) && channels.count(channel));
            tuned.map(move |(channel, _)| (name.clone(), channel.clone()))
        });
        Self(each.collect())
    }

    /// Returns true if a message has an item of a type because of what is tuned: digests, which people choose in place of
    /// a cool-down, have none.
    pub(super) fn have(&self, message: &Message, event_type: &Id) -> bool {
        let is_digest = message.lane.starts_with("digest:");
        let mut all = self.0.iter();
        !is_digest
            && all.any(|(name, channel)| event_type.as_str() == name && *channel == message.channel)
    }
}

/// A bound that a choice does not keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MissedBound {
    /// The mean of messages a recipient and day.
    Mean(f64),
    /// The messages of a day, on this percentage of the days.
    PerDay(u8, i64),
    /// The delay of this percentage of the events, in milliseconds.
    Delay(u8, i64),
}

/// A goal: bounds of which each must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Goal {
    /// On the mean of messages a recipient and day.
    pub mean_per_day: Option<f64>,
    /// On the messages of 95 of 100 days of recipients.
    pub p95_per_day: Option<u32>,
    /// On the messages of any day of any recipient.
    pub max_per_day: Option<u32>,
    /// On the delay of half of the events, in milliseconds.
    pub p50_delay_ms: Option<i64>,
    /// On the delay of 95 of 100 events, in milliseconds.
    pub p95_delay_ms: Option<i64>,
}

/// The answer to a goal: the number of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalAnswer {
    /// The cheapest choice that meets it.
    Meets(usize),
    /// None meets it; this one passes its bounds by the least.
    Nearest(usize),
}

impl Goal {
    /// The worst of the bounds, as the share of it that was needed: 1 is just met.
    #[must_use]
    pub fn need(&self, of: &ConfigFigures) -> f64 {
        let day = &of.messages_per_day;
        let delay = |percent| of.delay_ms.percentile(percent).map(|ms| ms as f64);
        let count = |value: Option<i64>| value.map(|count| count as f64);
        let bounds = [
            (day.mean(), self.mean_per_day),
            (count(day.percentile(95)), self.p95_per_day.map(f64::from)),
            (count(day.max()), self.max_per_day.map(f64::from)),
            (delay(50), self.p50_delay_ms.map(|ms| ms as f64)),
            (delay(95), self.p95_delay_ms.map(|ms| ms as f64)),
        ];
        let needs = bounds.into_iter().filter_map(|(value, bound)| {
            let value = value.filter(|value| *value > 0.0)?;
            // A bound of 0 that is passed is passed without measure.
            Some(value / bound?)
        });
        needs.fold(0.0, f64::max)
    }

    /// The bounds that figures do not keep, with what they are instead.
    #[must_use]
    pub fn missed(&self, of: &ConfigFigures) -> Vec<MissedBound> {
        let day = &of.messages_per_day;
        let (p95, max) = (day.percentile(95), day.max());
        let delay = |percent| of.delay_ms.percentile(percent);
        let over = |value: Option<i64>, bound: Option<i64>| {
            value.filter(|value| bound.is_some_and(|bound| *value > bound))
        };
        let mean = day.mean().filter(|mean| self.mean_per_day.is_some_and(|bound| *mean > bound));
        [
            mean.map(MissedBound::Mean),
            over(p95, self.p95_per_day.map(i64::from)).map(|count| MissedBound::PerDay(95, count)),
            over(max, self.max_per_day.map(i64::from)).map(|count| MissedBound::PerDay(100, count)),
            over(delay(50), self.p50_delay_ms).map(|ms| MissedBound::Delay(50, ms)),
            over(delay(95), self.p95_delay_ms).map(|ms| MissedBound::Delay(95, ms)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns true if each bound holds.
    #[must_use]
    pub fn is_met(&self, of: &ConfigFigures) -> bool {
        self.need(of) <= 1.0
    }

    /// The choice for this goal: of those that meet it the one with the fewest messages, or, where only messages are
    /// bounded, with the least delay. `None` without choices.
    #[must_use]
    pub fn answer(&self, choices: &[ConfigFigures]) -> Option<GoalAnswer> {
        let bounds_delay = self.p50_delay_ms.is_some() || self.p95_delay_ms.is_some();
        let cost = |of: &ConfigFigures| {
            let delay = [95, 50].map(|percent| of.delay_ms.percentile(percent).unwrap_or(0));
            let messages = i64::try_from(of.messages).unwrap_or(i64::MAX);
            if bounds_delay {
                [messages, delay[0], delay[1]]
            } else {
                [delay[0], delay[1], messages]
            }
        };
        let all = || choices.iter().enumerate();
        let met = all().filter(|(_, of)| self.is_met(of));
        if let Some((number, _)) = met.min_by_key(|(_, of)| cost(of)) {
            return Some(GoalAnswer::Meets(number));
        }
        let nearest = all().min_by(|(_, a), (_, b)| {
            let by_need = self.need(a).total_cmp(&self.need(b));
            by_need.then_with(|| cost(a).cmp(&cost(b)))
        });
        nearest.map(|(number, _)| GoalAnswer::Nearest(number))
    }
}
