//! `forget`: a full day is deleted, and its disk space is freed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tidings_core::engine::Options;
use tidings_core::model::{DAY_MS, MINUTE_MS};
use tidings_core::{Command, Rules};
use tidings_store::Store;

use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN, OnDisk};
use super::{BenchFault, Measurement, number};

/// Arguments of `forget`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ForgetParams {
    /// Number of recipients
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// Number of events of a day
    #[arg(long, default_value_t = 100)]
    pub(crate) events: u32,
    /// To how many recipients each event goes
    #[arg(long, default_value_t = 500_000)]
    pub(crate) followers: u32,
    /// Number of days that are forgotten, one after the other
    #[arg(long, default_value_t = 3)]
    pub(crate) runs: u32,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// Number of topics; each event is of one of them.
const TOPICS: u32 = 4;

/// Time that the disk may take to come back before the benchmark gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs it.
pub(crate) fn run(params: &ForgetParams, rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    if params.recipients == 0 {
        return Err(BenchFault::Wrong("there is at least one recipient".to_owned()));
    }
    let directory = world::directory(&params.dir)?;
    let mut disk = OnDisk::open(directory.path(), Options::default())?;
    disk.node.set_rules(BEGIN, rules)?;
    disk.fill(BEGIN, (0..params.recipients).map(world::make))?;
    for topic in 0..TOPICS {
        let follows = world::followers(topic, params.followers, params.recipients);
        disk.fill(BEGIN, follows.into_iter())?;
    }
    let mut samples: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut notifications = 0;
    for run in 0..i64::from(params.runs) {
        let begin = BEGIN.plus_ms(run * 2 * DAY_MS);
        notifications = fill_day(&mut disk, params, run)?;
        let after = begin.plus_ms(DAY_MS);
        disk.node.step(after, &[])?;
        disk.node.chores()?;
        disk.files()?.compact(begin.day())?;
        let before = disk.files()?.disk_bytes()?;
        let day_bytes = disk
            .files()?
            .day_bytes()?
            .iter()
            .find(|(day, _)| *day == begin.day())
            .map_or(0, |(_, bytes)| *bytes);
        let watch = Stopwatch::start();
        let forget = Command::Forget { before: after.day() };
        world::accepted(disk.node.step(after, &[forget])?.replies)?;
        let took = ms(watch.elapsed());
        let mut held = disk.files()?.disk_bytes()?;
        while held.saturating_add(day_bytes / 2) > before && watch.elapsed() < PATIENCE {
            std::thread::yield_now();
            held = disk.files()?.disk_bytes()?;
        }
        let mut note = |metric, sample| samples.entry(metric).or_default().push(sample);
        note("forget", took);
        note("disk_back_after", ms(watch.elapsed()));
        note("disk_before", number(before));
        note("disk_of_the_day", number(day_bytes));
        note("disk_after", number(held));
    }
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("events", u64::from(params.events)),
        ("followers", u64::from(params.followers)),
        ("notifications", notifications),
    ]);
    let of = |metric, unit| {
        let samples = samples.get(metric).map_or(&[][..], Vec::as_slice);
        Measurement::of("forget", &named, (metric, unit), samples)
    };
    Ok(vec![
        of("forget", "ms"),
        of("disk_back_after", "ms"),
        of("disk_before", "bytes"),
        of("disk_of_the_day", "bytes"),
        of("disk_after", "bytes"),
    ])
}

/// A day of events, spread over its hours; how many notifications they made.
fn fill_day(disk: &mut OnDisk, params: &ForgetParams, run: i64) -> Result<u64, BenchFault> {
    let begin = BEGIN.plus_ms(run * 2 * DAY_MS);
    let mut notifications = 0;
    for event in 0..i64::from(params.events) {
        let name = (run * i64::from(params.events) + event).unsigned_abs();
        let topic = world::topic(u32::try_from(event).unwrap_or(0) % TOPICS);
        let command = world::event(name, "gathered", Some(&topic));
        let replies = disk.node.step(begin.plus_ms(event * MINUTE_MS / 2), &[command])?.replies;
        notifications += world::notifications(&replies);
        world::accepted(replies)?;
        disk.node.chore()?;
    }
    Ok(notifications)
}
