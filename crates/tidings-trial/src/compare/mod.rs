//! Comparison of configurations: the same timeline is played under each, so that the effects of hold times, digests and
//! caps on recipients are known before they are chosen.
//!
//! [`play`] is one run. The figures of runs are in [`mod@figures`]; they count the recipients and days of all runs
//! together ([`population`]), so that a recipient without messages stays in an average.

mod distribution;
pub mod figures;
mod gather;
pub mod page;
pub mod population;
pub mod rows;
mod story;
#[cfg(test)]
mod tests;
pub mod tune;

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tidings_core::Rules;

pub use distribution::Distribution;
pub use figures::{ConfigFigures, LeftOutEntries};
pub use population::Population;
pub use story::Story;

use crate::simulate::{CommandPlayer, LineOrder, Run, SimulationHalt};
use crate::stoppable_player;
use gather::{RunGatherer, RunNumbers};

/// A configuration with its name.
#[derive(Debug)]
pub struct NamedRules {
    /// Its path.
    pub name: String,
    /// The short name under which people see it.
    pub title: String,
    /// The configuration.
    pub rules: Rules,
}

/// The counts of a run, before the recipients of the others are known.
#[derive(Debug)]
pub struct Played {
    name: String,
    title: String,
    gathered: RunNumbers,
    left_out: LeftOutEntries,
}

/// The choice of a channel.
#[derive(Clone, Copy, Debug)]
pub struct Channels<'c>(
    /// The only channel that counts; `None` = all but the inbox, which interrupts no one.
    pub Option<&'c str>,
);

impl Channels<'_> {
    /// Returns true if messages of a channel count.
    fn count(self, channel: &str) -> bool {
        self.0.map_or(channel != tidings_core::model::INBOX, |only| only == channel)
    }
}

/// The channels and messages that a run counts.
#[derive(Clone, Copy, Debug)]
pub struct CountFilter<'w> {
    /// The channels that count.
    pub channels: Channels<'w>,
    /// The only types that count, by channel, and only outside of digests; `None` = all.
    pub places: Option<&'w tune::TunedTypes>,
    /// True if messages are kept for a [`Story`].
    pub story: bool,
}

/// Plays a timeline under one configuration.
///
/// # Errors
/// [`SimulationHalt`] as of [`Run::play`].
pub fn play<R: BufRead>(
    config: &NamedRules,
    run: Run<'_, R>,
    player: &mut dyn CommandPlayer,
    wanted: CountFilter<'_>,
    population: &mut Population,
) -> Result<Played, SimulationHalt> {
    let mut gather = RunGatherer::new(population, wanted);
    let books = run.play(player, &mut gather)?;
    let gathered = gather.done();
    Ok(Played {
        name: config.name.clone(),
        title: config.title.clone(),
        gathered,
        left_out: LeftOutEntries::of(&player.ledger(), wanted.channels, books.suppressed),
    })
}

/// The reason why configurations were not compared.
#[derive(Debug, thiserror::Error)]
#[error("under {config}: {halt}")]
pub struct ComparisonHalt {
    /// The name of the configuration that was played.
    pub config: String,
    /// The reason why its run ended.
    pub halt: Box<SimulationHalt>,
}

/// Plays a timeline under each of these configurations, one after the other on this thread, until `stop` is set.
/// `timeline` opens it, once for each.
///
/// # Errors
/// [`ComparisonHalt`], also where it was stopped.
pub fn compare<R: BufRead>(
    configs: &[NamedRules],
    channel: Option<&str>,
    mut timeline: impl FnMut() -> R,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<ConfigFigures>, ComparisonHalt> {
    let mut population = Population::default();
    let wanted = CountFilter { channels: Channels(channel), places: None, story: false };
    let mut runs = Vec::new();
    for config in configs {
        let run = Run {
            rules: &config.rules,
            timeline: timeline(),
            order: LineOrder::AsGiven,
            until: None,
        };
        let played = stoppable_player(config.rules.clone(), Arc::clone(stop))
            .map_err(SimulationHalt::from)
            .and_then(|mut player| play(config, run, &mut *player, wanted, &mut population));
        let halted = |halt| ComparisonHalt { config: config.name.clone(), halt: Box::new(halt) };
        runs.push(played.map_err(halted)?);
    }
    Ok(figures(&runs, &population))
}

/// The figures of runs over one timeline, in their order.
#[must_use]
pub fn figures(runs: &[Played], population: &Population) -> Vec<ConfigFigures> {
    runs.iter().map(|run| ConfigFigures::of(run, population)).collect()
}
