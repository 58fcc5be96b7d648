//! `fanout`: one event to many recipients, durable before it is answered; and the disk space of a day of
//! events.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fastrand::Rng;
use tidings_core::engine::Options;
use tidings_core::model::{DAY_MS, MINUTE_MS};
use tidings_core::rules::TenantRules;
use tidings_core::{Command, Day, Instant, Rules};
use tidings_store::Store as _;

use super::rival::Rival;
use super::rival::postgres::{FanOut, Postgres};
use super::rival::redis::Redis;
use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN, OnDisk, StoreLocation};
use super::{BenchFault, Measurement, number};

mod tenants;

/// Arguments of `fanout`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FanoutParams {
    /// Number of recipients
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// To how many of them an event goes; several, with commas between, are measured in turns
    #[arg(long, value_delimiter = ',', default_values_t = [12_000, 1_000_000])]
    pub(crate) followers: Vec<u32>,
    /// Publish so many events a commit
    #[arg(long, default_value_t = 1)]
    pub(crate) together: u32,
    /// Number of times to publish
    #[arg(long, default_value_t = 51)]
    pub(crate) runs: u32,
    /// Events of the day whose bytes on disk are counted; 0 leaves that out
    #[arg(long, default_value_t = 1000)]
    pub(crate) events: u32,
    /// Number of tenants, each with an equal share of the recipients; measures an event to everyone of a tenant, and events
    /// that name as many recipients
    #[arg(long, default_value_t = 0)]
    pub(crate) tenants: u32,
    /// Do the same work with these, in turns with tidings
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) vs: Vec<Rival>,
    /// Number of the turns that are theirs as well
    #[arg(long, default_value_t = 5)]
    pub(crate) rival_runs: u32,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Measure a store in this PostgreSQL database instead, which has to be without one and keeps what was written
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// Follows that are made for one audience at most, spread over topics: no two events of a day need
/// go to the same people.
const FOLLOWS: u32 = 1_200_000;

impl FanoutParams {
    /// Returns true if the rivals take part in a turn: their turns are spread over the runs, from the first on.
    fn is_rivals_turn(&self, run: u32) -> bool {
        let apart = self.runs.div_ceil(self.rival_runs.max(1)).max(1);
        !self.vs.is_empty() && run.is_multiple_of(apart)
    }
}

/// An audience of a certain size.
struct SizedAudience {
    size: u32,
    /// Each with that many followers; none where it is everyone.
    topics: Vec<String>,
    /// The followers of the first of them, for those who are measured beside it.
    followers: Vec<u32>,
}

impl SizedAudience {
    fn name(&self) -> String {
        format!("size/{}", self.size)
    }

    fn event(&self, name: u64, event_type: &str) -> Command {
        let at = usize::try_from(name).unwrap_or(0) % self.topics.len().max(1);
        world::event(name, event_type, self.topics.get(at).map(String::as_str))
    }
}

/// Samples of one audience.
#[derive(Default)]
struct FanoutSamples {
    publish: Vec<f64>,
    raw: Vec<f64>,
    engine: Vec<f64>,
    dry: Vec<f64>,
    rate: Vec<f64>,
    bytes: Vec<f64>,
    rivals: BTreeMap<&'static str, Vec<f64>>,
}

/// The rivals that it is compared with.
#[derive(Default)]
struct Rivals {
    redis: Option<Redis>,
    postgres: Option<FanOut>,
    /// Entries that tidings makes of the events that they were given.
    entries: u64,
}

impl Rivals {
    fn start(params: &FanoutParams, directory: &Path) -> Result<Self, BenchFault> {
        let mut rivals = Self::default();
        if params.vs.contains(&Rival::Redis) {
            rivals.redis = Some(Redis::start(directory)?);
        }
        if params.vs.contains(&Rival::Postgres) {
            rivals.postgres = Some(Postgres::start(directory, 1)?.fanning_out()?);
        }
        Ok(rivals)
    }

    /// Refuses a comparison with who holds more or less than tidings made.
    fn check(&mut self) -> Result<(), BenchFault> {
        if let Some(redis) = &mut self.redis {
            Rival::Redis.expect(redis.held()?, self.entries)?;
        }
        if let Some(postgres) = &self.postgres {
            Rival::Postgres.expect(postgres.held()?, self.entries)?;
        }
        Ok(())
    }

    /// Lets them do the same; million notifications a second, by name.
    fn turn(
        &mut self,
        event: u64,
        audience: &SizedAudience,
    ) -> Result<Vec<(&'static str, f64)>, BenchFault> {
        let mut took = Vec::new();
        if let Some(redis) = &mut self.redis {
            let time = redis.fan_out(event, &audience.followers)?;
            took.push((Rival::Redis.name(), time));
        }
        if let Some(postgres) = &self.postgres {
            let topic = audience.name();
            let time = postgres.fan_out(event, &topic, audience.size)?;
            took.push((Rival::Postgres.name(), time));
        }
        let notified = number(u64::from(audience.size));
        let rates = took.into_iter();
        Ok(rates.map(|(name, time)| (name, notified / time.as_secs_f64() / 1e6)).collect())
    }
}

/// The benchmark.
struct Fanout {
    params: FanoutParams,
    disk: OnDisk,
    audiences: Vec<SizedAudience>,
    names: u64,
}

/// Runs it.
pub(crate) fn run(params: &FanoutParams, mut rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    if params.recipients == 0 || params.followers.iter().any(|one| *one > params.recipients) {
        return Err(BenchFault::Wrong(
            "there are at most as many followers as recipients".to_owned(),
        ));
    }
    if !params.vs.is_empty() && (params.together != 1 || params.rival_runs == 0) {
        return Err(BenchFault::Wrong(
            "what it is held against (`--vs`) takes its turns one event at a time, and at least one"
                .to_owned(),
        ));
    }
    if params.tenants > params.recipients {
        return Err(BenchFault::Wrong(
            "there are at most as many tenants as recipients".to_owned(),
        ));
    }
    if params.tenants > 0 {
        rules.tenants = Some(TenantRules::default());
    }
    let directory = world::directory(&params.dir)?;
    let at = StoreLocation { directory: directory.path(), database: params.store.as_deref() };
    let mut fanout = Fanout::prepare(params.clone(), rules, at.ensure_new()?)?;
    let mut measurements = Vec::new();
    if params.events > 0 {
        let stored = fanout.days()?;
        for (audience, bytes) in fanout.audiences.iter().zip(stored) {
            let params = fanout.params_of(audience.size);
            let metric = ("stored_per_notification", "bytes");
            measurements.push(Measurement::of("fanout", &params, metric, &[bytes]));
        }
    }
    measurements.splice(0..0, fanout.publish(directory.path())?);
    if params.tenants > 0 {
        measurements.extend(tenants::publish(&mut fanout)?);
    }
    Ok(measurements)
}

impl Fanout {
    fn prepare(
        params: FanoutParams,
        rules: Rules,
        location: StoreLocation<'_>,
    ) -> Result<Self, BenchFault> {
        let mut disk = OnDisk::open(location, Options::default())?;
        disk.node.set_rules(BEGIN, rules)?;
        disk.fill(BEGIN, (0..params.recipients).map(world::make))?;
        let mut random = Rng::with_seed(1);
        let mut audiences = Vec::new();
        for size in &params.followers {
            let count = match size {
                everyone if *everyone == params.recipients => 0,
                size => (FOLLOWS / (*size).max(1)).clamp(4, 100),
            };
            let topics: Vec<String> =
                (0..count).map(|number| format!("size/{size}/{number}")).collect();
            let mut followers = Vec::new();
            for topic in &topics {
                let drawn = draw(&mut random, params.recipients, *size);
                if followers.is_empty() {
                    followers.clone_from(&drawn);
                }
                disk.fill(BEGIN, drawn.into_iter().map(|number| world::follow(number, topic)))?;
            }
            if topics.is_empty() {
                followers = (0..*size).collect();
            }
            audiences.push(SizedAudience { size: *size, topics, followers });
        }
        Ok(Self { params, disk, audiences, names: 0 })
    }

    fn params_of(&self, followers: u32) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([
            ("recipients", u64::from(self.params.recipients)),
            ("followers", u64::from(followers)),
            ("together", u64::from(self.params.together)),
            ("events", u64::from(self.params.events)),
        ])
    }

    /// Has commands done; how many entries they made.
    fn step(&mut self, now: Instant, commands: &[Command]) -> Result<u64, BenchFault> {
        let replies = self.disk.node.step(now, commands)?.replies;
        let entries = world::entries(&replies);
        world::accepted(replies)?;
        Ok(entries)
    }

    fn name(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    /// Publishes to each audience in turn; everything is durable when the time is taken.
    fn publish(&mut self, directory: &Path) -> Result<Vec<Measurement>, BenchFault> {
        let path = directory.join("raw");
        let unusable = |fault| BenchFault::Directory(path.clone(), fault);
        let mut raw = File::create(&path).map_err(unusable)?;
        let mut samples: Vec<FanoutSamples> =
            self.audiences.iter().map(|_| FanoutSamples::default()).collect();
        let mut rivals = Rivals::start(&self.params, directory)?;
        if let Some(postgres) = &rivals.postgres {
            for audience in &self.audiences {
                postgres.follow(&audience.name(), &audience.followers)?;
            }
        }
        let mut lane = Vec::new();
        let mut now = self.disk.node.engine().now();
        // The first turn opens every window: from the second on deadlines move.
        for run in 0..=self.params.runs {
            for (at, samples) in samples.iter_mut().enumerate() {
                now = now.plus_ms(10);
                let events: Vec<Command> = (0..self.params.together)
                    .map(|_| {
                        let name = self.name();
                        self.audiences[at].event(name, "told")
                    })
                    .collect();
                self.disk.gauge.take();
                let watch = Stopwatch::start();
                let entries = self.step(now, &events)?;
                let took = watch.elapsed();
                let passed = self.disk.gauge.take();
                let bytes = vec![0xa5; usize::try_from(passed.bytes).unwrap_or(0)];
                let watch = Stopwatch::start();
                raw.write_all(&bytes).and_then(|()| raw.sync_all()).map_err(unusable)?;
                let raw_took = watch.elapsed();
                self.disk.node.chores()?;
                let dry = self.dry_run(now, at)?;
                if run > 0 {
                    let notified = number(
                        u64::from(self.audiences[at].size) * u64::from(self.params.together),
                    );
                    samples.publish.push(ms(took));
                    samples.raw.push(ms(raw_took));
                    samples.engine.push(ms(took.saturating_sub(passed.committing)));
                    samples.dry.push(ms(dry));
                    samples.rate.push(notified / took.as_secs_f64() / 1e6);
                    samples.bytes.push(number(passed.bytes) / notified);
                }
                if self.params.is_rivals_turn(run) {
                    // One event at a time, and of the same size.
                    rivals.entries += entries;
                    let event = self.name();
                    let rates = rivals.turn(event, &self.audiences[at])?;
                    // Their first turn warms them up, as the first one here opens the windows.
                    for (name, rate) in rates.into_iter().filter(|_| run > 0) {
                        samples.rivals.entry(name).or_default().push(rate);
                    }
                }
            }
            now = now.plus_ms(10);
            let event = world::event(self.name(), "lane", None);
            self.disk.gauge.take();
            let watch = Stopwatch::start();
            self.step(now, &[event])?;
            let took = watch.elapsed().saturating_sub(self.disk.gauge.take().committing);
            if run > 0 {
                lane.push(ms(took));
            }
        }
        rivals.check()?;
        Ok(self.measurements(&samples, &lane))
    }

    /// The time of a dry run of another event to an audience.
    fn dry_run(&mut self, now: Instant, audience: usize) -> Result<Duration, BenchFault> {
        let name = self.name();
        let event = self.audiences[audience].event(name, "told");
        let watch = Stopwatch::start();
        self.disk.node.dry_run(now, &event)?;
        Ok(watch.elapsed())
    }

    fn measurements(&self, samples: &[FanoutSamples], lane: &[f64]) -> Vec<Measurement> {
        let mut measurements = Vec::new();
        for (audience, samples) in self.audiences.iter().zip(samples) {
            let params = self.params_of(audience.size);
            let of = |metric, unit, samples: &[f64]| {
                Measurement::of("fanout", &params, (metric, unit), samples)
            };
            measurements.extend([
                of("publish", "ms", &samples.publish).against("raw_write_and_sync", &samples.raw),
                of("publish_engine", "ms", &samples.engine),
                of("publish_dry", "ms", &samples.dry),
                samples.rivals.iter().fold(
                    of("publish_rate", "million notifications/s", &samples.rate),
                    |rate, (name, samples)| rate.against(name, samples),
                ),
                of("committed_per_notification", "bytes", &samples.bytes),
            ]);
        }
        let params = self.params_of(self.params.recipients);
        measurements.push(Measurement::of("fanout", &params, ("cooldown_lane_engine", "ms"), lane));
        measurements
    }

    /// A day of events to each audience, inbox and one digest; bytes on disk per notification once
    /// the day is over and at rest.
    fn days(&mut self) -> Result<Vec<f64>, BenchFault> {
        let gap = i64::from(self.params.events).max(1);
        for at in 0..self.audiences.len() {
            let begin = self.disk.node.engine().now().day().end();
            for event in 0..self.params.events {
                let name = self.name();
                let command = self.audiences[at].event(name, "gathered");
                let now = begin.plus_ms(i64::from(event) * (DAY_MS - MINUTE_MS) / gap);
                self.step(now, &[command])?;
                self.disk.node.chores()?;
            }
        }
        let end = self.disk.node.engine().now().day().end();
        let name = self.name();
        let last = world::event(name, "lane", None);
        self.step(end, &[last])?;
        self.disk.node.chores()?;
        self.rest(end.day())?;
        let stored: BTreeMap<_, _> = self.disk.files()?.day_bytes()?.into_iter().collect();
        let mut day = end.day();
        day.0 -= i32::try_from(self.audiences.len()).unwrap_or(0);
        let mut per_notification = Vec::new();
        for audience in &self.audiences {
            let notifications = u64::from(audience.size) * u64::from(self.params.events);
            let bytes = stored.get(&day).copied().unwrap_or(0);
            per_notification.push(number(bytes) / number(notifications));
            day.0 += 1;
        }
        Ok(per_notification)
    }

    /// Brings the days that are over to rest: all buckets turned round, the store rewritten.
    fn rest(&mut self, today: Day) -> Result<(), BenchFault> {
        let days: Vec<Day> =
            self.disk.gauge.days()?.into_iter().filter(|day| *day < today).collect();
        for day in days {
            self.disk.files()?.compact(day)?;
        }
        Ok(())
    }
}

/// Draws `count` different numbers below a bound, in no order.
fn draw(random: &mut Rng, bound: u32, count: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..bound).collect();
    for at in 0..count as usize {
        let other = random.usize(at..numbers.len());
        numbers.swap(at, other);
    }
    numbers.truncate(count as usize);
    numbers
}
