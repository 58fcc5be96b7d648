//! `recovery`: the duration of a start, with all lanes open and days of events.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tidings_core::engine::Options;
use tidings_core::model::{DAY_MS, HOUR_MS};
use tidings_core::{Instant, Rules};

use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN, OnDisk, StoreLocation};
use super::{BenchFault, Measurement, number};

/// Arguments of `recovery`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RecoveryParams {
    /// Number of recipients
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// Number of days of events
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=7))]
    pub(crate) days: u32,
    /// Number of events a day
    #[arg(long, default_value_t = 600)]
    pub(crate) events: u32,
    /// To how many recipients each event goes
    #[arg(long, default_value_t = 12_000)]
    pub(crate) followers: u32,
    /// Number of starts that are timed
    #[arg(long, default_value_t = 5)]
    pub(crate) runs: u32,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Measure a store in this PostgreSQL database instead, which has to be without one and keeps what was written
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// Number of topics; each event is of one of them.
const TOPICS: u32 = 50;

/// A Monday after the digests went out, so that all week's entries are waiting.
const MONDAY: Instant = Instant(BEGIN.0 + 6 * DAY_MS + HOUR_MS);

/// Runs it.
pub(crate) fn run(params: &RecoveryParams, rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    if params.recipients == 0 {
        return Err(BenchFault::Wrong("there is at least one recipient".to_owned()));
    }
    let directory = world::directory(&params.dir)?;
    let at = StoreLocation { directory: directory.path(), database: params.store.as_deref() };
    let notifications = fill(params, rules, at.ensure_new()?)?;
    let (mut store, mut node, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..params.runs {
        let watch = Stopwatch::start();
        let disk = OnDisk::open(at, Options::default())?;
        let took = ms(watch.elapsed());
        whole.push(took);
        store.push(ms(disk.opened));
        node.push(took - ms(disk.opened));
    }
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("days", u64::from(params.days)),
        ("events", u64::from(params.events)),
        ("followers", u64::from(params.followers)),
        ("notifications", notifications),
    ]);
    let of = |metric, samples: &[f64]| Measurement::of("recovery", &named, (metric, "ms"), samples);
    Ok(vec![
        of("start", &whole),
        of("open_store", &store),
        of("recover_engine", &node),
        Measurement::of(
            "recovery",
            &named,
            ("start_rate", "recipients/s"),
            &whole
                .iter()
                .map(|ms| number(u64::from(params.recipients)) / ms * 1e3)
                .collect::<Vec<_>>(),
        ),
    ])
}

/// Makes the store, and leaves it in the middle of things; how many notifications it holds.
fn fill(
    params: &RecoveryParams,
    rules: Rules,
    location: StoreLocation<'_>,
) -> Result<u64, BenchFault> {
    let mut disk = OnDisk::open(location, Options::default())?;
    disk.node.set_rules(BEGIN, rules)?;
    disk.fill(BEGIN, (0..params.recipients).map(world::make))?;
    for topic in 0..TOPICS {
        let follows = world::followers(topic, params.followers, params.recipients);
        disk.fill(BEGIN, follows.into_iter())?;
    }
    let mut notifications = 0;
    let mut name = 0;
    for day in 0..i64::from(params.days) {
        // The first day has less than the others left of it.
        let first = MONDAY.plus_ms(day * DAY_MS).day().start().max(MONDAY).0;
        let step =
            (MONDAY.plus_ms(day * DAY_MS).day().end().0 - first) / i64::from(params.events + 2);
        for event in 0..i64::from(params.events) {
            let topic = world::topic(u32::try_from(name % u64::from(TOPICS)).unwrap_or(0));
            let command = world::event(name, "gathered", Some(&topic));
            let replies = disk.node.step(Instant(first + event * step), &[command])?.replies;
            notifications += world::notifications(&replies);
            world::accepted(replies)?;
            disk.node.chore()?;
            name += 1;
        }
        if day + 1 == i64::from(params.days) {
            let now = Instant(first + i64::from(params.events) * step);
            let command = world::event(name, "lane", None);
            world::accepted(disk.node.step(now, &[command])?.replies)?;
        }
    }
    disk.node.chores()?;
    Ok(notifications)
}
