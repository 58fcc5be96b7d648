//! `scheduled`: events for later, each with an instant of its own: how fast they come in, what they weigh, and how they are found.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fastrand::Rng;
use tidings_core::engine::Options;
use tidings_core::model::{Audience, HOUR_MS};
use tidings_core::{Command, Instant, Rules};

use super::server::process::resident_bytes;
use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN, OnDisk};
use super::{BenchFault, Measurement, number};

/// Arguments of `scheduled`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ScheduledParams {
    /// Number of recipients
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// Number of events that wait
    #[arg(long, default_value_t = 10_000_000)]
    pub(crate) events: u32,
    /// Publish so many events a commit
    #[arg(long, default_value_t = 10_000)]
    pub(crate) together: u32,
    /// Number of times that events come due, in small and in large numbers
    #[arg(long, default_value_t = 21)]
    pub(crate) runs: u32,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// The instant before the first of them is due.
const FIRST: Instant = Instant(BEGIN.0 + HOUR_MS);

/// The distance of two of them.
const APART_MS: i64 = 10;

/// Of how many events one comes due at once, where few do and where many do.
const ONE_OF: [u32; 2] = [10_000, 100];

/// Runs it.
pub(crate) fn run(params: &ScheduledParams, rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    let due = ONE_OF.map(|share| params.events / share);
    let runs = u64::from(params.runs);
    let is_short = u64::from(params.events) < runs * u64::from(due[0] + due[1]);
    if due[0] == 0 || is_short || params.recipients == 0 || params.together == 0 {
        let [few, many] = ONE_OF;
        return Err(BenchFault::Wrong(format!(
            "there are at least {few} events, and less than {many} runs"
        )));
    }
    let directory = world::directory(&params.dir)?;
    let mut disk = OnDisk::open(directory.path(), Options::default())?;
    disk.node.set_rules(BEGIN, rules)?;
    disk.fill(BEGIN, (0..params.recipients).map(world::make))?;
    let before = (resident_bytes("self")?, disk.node.engine().bytes());
    let mut order: Vec<u32> = (0..params.events).collect();
    Rng::with_seed(3).shuffle(&mut order);
    let (mut rate, mut engine) = (Vec::new(), Vec::new());
    for chunk in order.chunks(params.together as usize) {
        let commands: Vec<Command> = chunk.iter().map(|at| later(*at, params)).collect();
        disk.gauge.take();
        let watch = Stopwatch::start();
        let replies = disk.node.step(BEGIN, &commands)?.replies;
        let took = watch.elapsed();
        let alone = took.saturating_sub(disk.gauge.take().committing);
        world::accepted(replies)?;
        disk.node.chores()?;
        let events = number(chunk.len() as u64);
        rate.push(events / took.as_secs_f64());
        engine.push(events / alone.as_secs_f64());
    }
    drop(order);
    let after = (resident_bytes("self")?, disk.node.engine().bytes());
    let each = |bytes: u64| [number(bytes) / number(u64::from(params.events))];
    let mut now = FIRST;
    let mut found: [Vec<f64>; 2] = Default::default();
    for _ in 0..params.runs {
        for (count, found) in due.iter().zip(&mut found) {
            now = now.plus_ms(i64::from(*count) * APART_MS);
            let watch = Stopwatch::start();
            disk.node.step(now, &[])?;
            found.push(ms(watch.elapsed()));
            disk.node.chores()?;
        }
    }
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("events", u64::from(params.events)),
        ("together", u64::from(params.together)),
        ("few", u64::from(due[0])),
        ("many", u64::from(due[1])),
    ]);
    let of = |metric, unit, samples: &[f64]| {
        Measurement::of("scheduled", &named, (metric, unit), samples)
    };
    Ok(vec![
        of("publish_rate", "events/s", &rate),
        of("publish_rate_engine", "events/s", &engine),
        of("resident_per_event", "bytes", &each(after.0.saturating_sub(before.0))),
        of("counted_per_event", "bytes", &each((after.1 - before.1) as u64)),
        of("find_few_due", "ms", &found[0]),
        of("find_many_due", "ms", &found[1]),
    ])
}

/// An event to one recipient, which is due in its turn.
fn later(minute: u32, params: &ScheduledParams) -> Command {
    let to = Audience {
        recipients: [world::recipient(minute % params.recipients)].into(),
        ..Audience::default()
    };
    let mut command = world::event_to(u64::from(minute), "shown", to);
    if let Command::Publish(event) = &mut command {
        event.deliver_at = Some(FIRST.plus_ms(i64::from(minute) * APART_MS + 1));
    }
    command
}
