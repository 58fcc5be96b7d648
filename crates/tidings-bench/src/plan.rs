//! `plan`: a weekly digest that comes due for everyone at one instant, until every batch is durable.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fastrand::Rng;
use tidings_core::cel::{OF_CONDITION, Program, ValueKind};
use tidings_core::engine::{ClosingResults, Options, Plan, Sent};
use tidings_core::model::{DAY_MS, Ending, HOUR_MS, MINUTE_MS};
use tidings_core::{Command, Instant, Rules};

use super::stopwatch::Stopwatch;
use super::world::{self, BEGIN, OnDisk, StoreLocation};
use super::{BenchFault, Measurement, number};

/// Arguments of `plan`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PlanParams {
    /// Number of recipients that get a digest
    #[arg(long, default_value_t = 200_000)]
    pub(crate) recipients: u32,
    /// Number of entries of a digest
    #[arg(long, default_value_t = 20)]
    pub(crate) entries: u32,
    /// Number of events; each goes to its share of the recipients
    #[arg(long, default_value_t = 1000)]
    pub(crate) events: u32,
    /// Number of weeks; in as many more the batches are readied for rendering as well
    #[arg(long, default_value_t = 3)]
    pub(crate) runs: u32,
    /// A condition of the events' type, which is asked for each entry
    #[arg(long, value_name = "CEL")]
    pub(crate) condition: Option<String>,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Measure a store in this PostgreSQL database instead, which has to be without one and keeps what was written
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// The type of the events.
pub(crate) const TYPE: &str = "gathered";

/// Number of topics that a recipient follows.
const FOLLOWED: u32 = 5;

/// The first Monday, 09:00.
const FIRST_DIGEST: Instant = Instant(BEGIN.0 + 6 * DAY_MS);

/// Recipients with a weekly digest, and the topics that they follow.
pub(crate) struct Weekly {
    pub(crate) disk: OnDisk,
    topics: u32,
    events: u32,
}

impl Weekly {
    /// Makes recipients, of whom each has this number of entries of a week's events.
    pub(crate) fn begin<'p>(
        at: impl Into<StoreLocation<'p>>,
        rules: Rules,
        recipients: u32,
        entries: u32,
        events: u32,
    ) -> Result<Self, BenchFault> {
        let topics = events.checked_div(entries / FOLLOWED).unwrap_or(0);
        if topics < FOLLOWED || recipients == 0 {
            return Err(BenchFault::Wrong(format!(
                "each digest has at least {FOLLOWED} entries, and there are at least as many events"
            )));
        }
        let mut disk = OnDisk::open(at, Options::default())?;
        disk.node.set_rules(BEGIN, rules)?;
        disk.fill(BEGIN, (0..recipients).map(world::make))?;
        let mut random = Rng::with_seed(2);
        let follows = (0..recipients).flat_map(|recipient| {
            let first = random.u32(..topics);
            let followed = (0..FOLLOWED)
                .map(move |at| (first + at * (topics / FOLLOWED)) % topics)
                .map(|topic| world::follow(recipient, &world::topic(topic)));
            followed.collect::<Vec<_>>()
        });
        disk.fill(BEGIN, follows)?;
        Ok(Self { disk, topics, events })
    }

    /// Publishes a week's events, which are made of a number and a topic; returns when the digest is due.
    pub(crate) fn publish(
        &mut self,
        week: i64,
        event: impl Fn(u64, &str) -> Command,
    ) -> Result<Instant, BenchFault> {
        let due = FIRST_DIGEST.plus_ms(week * 7 * DAY_MS);
        for number in 0..self.events {
            let name = week.unsigned_abs() * u64::from(self.events) + u64::from(number);
            let command = event(name, &world::topic(number % self.topics));
            let now = due.plus_ms(-5 * DAY_MS + i64::from(number) * MINUTE_MS);
            world::accepted(self.disk.node.step(now, &[command])?.replies)?;
            self.disk.node.chores()?;
        }
        Ok(due)
    }
}

/// Samples over the weeks.
#[derive(Default)]
struct PlanSamples {
    close: Vec<f64>,
    made: Vec<f64>,
    presented: Vec<f64>,
    row: Vec<f64>,
    entries: Vec<f64>,
}

/// Runs it.
pub(crate) fn run(params: &PlanParams, mut rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    if let Some(condition) = &params.condition {
        let checked = Program::checked(condition, OF_CONDITION, Some(ValueKind::Bool));
        checked.map_err(|fault| BenchFault::Wrong(format!("--condition: {fault}")))?;
        let gathered = rules.types.get_mut(TYPE);
        gathered.expect("the benchmark's rules have it").condition = Some(condition.clone());
    }
    let directory = world::directory(&params.dir)?;
    let at = StoreLocation { directory: directory.path(), database: params.store.as_deref() };
    let PlanParams { recipients, entries, events, .. } = *params;
    let mut weekly = Weekly::begin(at.ensure_new()?, rules, recipients, entries, events)?;
    let mut samples = PlanSamples::default();
    for week in 0..2 * i64::from(params.runs) {
        let due = weekly.publish(week, |name, topic| world::event(name, TYPE, Some(topic)))?;
        let present = if week % 2 == 0 { Present::Nothing } else { Present::Batches };
        digest(&mut weekly.disk, due, present, &mut samples)?;
    }
    let params = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("entries", u64::from(params.entries)),
        ("events", u64::from(params.events)),
    ]);
    let of =
        |metric, unit, samples: &[f64]| Measurement::of("plan", &params, (metric, unit), samples);
    Ok(vec![
        of("close", "ms", &samples.close),
        of("make_rate", "recipients/s", &samples.made),
        of("make_and_present_rate", "recipients/s", &samples.presented),
        of("entries_per_message", "entries", &samples.entries),
        of("row_per_message", "bytes", &samples.row),
    ])
}

/// A choice: messages become batches, as for sending them, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Present {
    /// Yes.
    Batches,
    /// No: that they are durable is enough.
    Nothing,
}

/// One week's digest.
fn digest(
    disk: &mut OnDisk,
    due: Instant,
    present: Present,
    samples: &mut PlanSamples,
) -> Result<(), BenchFault> {
    disk.gauge.take();
    let watch = Stopwatch::start();
    disk.node.fall_due(due)?;
    samples.close.push(super::stopwatch::ms(watch.elapsed()));
    let mut made = Vec::new();
    loop {
        let plans = disk.node.make(due)?;
        if plans.is_empty() {
            break;
        }
        for plan in plans {
            made.push(match present {
                Present::Nothing => plan,
                Present::Batches => disk.node.present(plan)?.plan,
            });
        }
    }
    let took = watch.elapsed().as_secs_f64();
    let passed = disk.gauge.take();
    let recipients: usize = made.iter().map(|plan| plan.messages.len()).sum();
    let entries: usize = made.iter().map(Plan::entries).sum();
    if recipients == 0 {
        return Err(BenchFault::Wrong("nothing came due".to_owned()));
    }
    let recipients = number(recipients as u64);
    match present {
        Present::Nothing => samples.made.push(recipients / took),
        Present::Batches => samples.presented.push(recipients / took),
    }
    samples.entries.push(number(entries as u64) / recipients);
    samples.row.push(number(passed.message_bytes) / number(passed.messages.max(1)));
    settle(disk, due.plus_ms(HOUR_MS), &made)
}

/// All were delivered: the next week begins with nothing on its way.
pub(crate) fn settle(disk: &mut OnDisk, now: Instant, made: &[Plan]) -> Result<(), BenchFault> {
    for plan in made {
        let sent = plan.messages.iter().filter(|planned| !planned.is_empty()).map(|planned| Sent {
            number: planned.number,
            seqs: plan.seqs(planned),
            ending: Ending::Delivered,
            resent: 0,
        });
        let sent: Vec<Sent> = sent.collect();
        let closing = plan.closing;
        disk.node.settle(now, &[ClosingResults { closing, sent, ..ClosingResults::default() }])?;
    }
    Ok(())
}
