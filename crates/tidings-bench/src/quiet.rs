//! `quiet`: what quiet hours and a cap cost a publish to everybody, and what a change of one recipient's wishes costs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tidings_core::engine::Options;
use tidings_core::model::{
    ChangedBy, DAY_MS, EMAIL_NO, HOUR_MS, MINUTE_MS, Mode, OwnHours, PreferenceScope,
    RecipientChange,
};
use tidings_core::rules::{Cap, QuietHours};
use tidings_core::{Command, Id, Instant, Rules};

use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN, OnDisk};
use super::{BenchFault, Measurement};

/// Arguments of `quiet`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct QuietParams {
    /// Number of recipients, spread over five time zones
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// Number of hours; in each some events go to everybody, then the mails are due
    #[arg(long, default_value_t = 12)]
    pub(crate) hours: u32,
    /// Number of events in an hour
    #[arg(long, default_value_t = 5)]
    pub(crate) events: u32,
    /// Number of changes of each kind, each by another recipient
    #[arg(long, default_value_t = 101)]
    pub(crate) changes: u32,
    /// Directory of the stores, which are deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// The zones of the recipients, in turn.
const ZONES: [&str; 5] =
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney"];

/// From 22:00 to 07:00, every night.
const NIGHT: QuietHours =
    QuietHours { from_minute: 22 * 60, to_minute: 7 * 60, days: QuietHours::EVERY_DAY };

/// Runs it.
pub(crate) fn run(params: &QuietParams, rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    let last = params.changes.saturating_mul(3);
    if params.hours == 0 || params.events == 0 || params.changes == 0 || last > params.recipients {
        return Err(BenchFault::Wrong(
            "there is at least one hour, event and change, and a recipient for each change"
                .to_owned(),
        ));
    }
    let mut bounded = rules.clone();
    bounded.caps.push(Cap { channel: "email".to_owned(), per_ms: DAY_MS, max: 3 });
    let email = bounded.channels.entry("email".to_owned()).or_default();
    email.quiet_hours = Some(NIGHT);
    let (plain_directory, directory) =
        (world::directory(&params.dir)?, world::directory(&params.dir)?);
    let mut plain = QuietWorld::make(params, rules, plain_directory.path())?;
    let mut bounded = QuietWorld::make(params, bounded, directory.path())?;
    let mut now = BEGIN;
    let mut name = 0;
    for hour in 0..i64::from(params.hours) {
        now = BEGIN.plus_ms(hour * HOUR_MS);
        for _ in 0..params.events {
            now = now.plus_ms(MINUTE_MS);
            name += 1;
            for world in [&mut plain, &mut bounded] {
                world.publish(now, name)?;
            }
        }
        now = now.plus_ms(10 * MINUTE_MS);
        for world in [&mut plain, &mut bounded] {
            world.close(now)?;
        }
    }
    let changes = bounded.change(params.changes, now)?;
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("hours", u64::from(params.hours)),
        ("events", u64::from(params.events)),
    ]);
    let of = |metric, samples: &[f64]| Measurement::of("quiet", &named, (metric, "ms"), samples);
    let mut measurements = vec![
        of("publish", &bounded.publish).against("without", &plain.publish),
        of("close", &bounded.close).against("without", &plain.close),
    ];
    measurements.extend(changes.map(|(metric, samples)| of(metric, &samples)));
    Ok(measurements)
}

/// A node with what was measured of it.
struct QuietWorld {
    disk: OnDisk,
    publish: Vec<f64>,
    close: Vec<f64>,
}

impl QuietWorld {
    fn make(params: &QuietParams, rules: Rules, directory: &Path) -> Result<Self, BenchFault> {
        let mut disk = OnDisk::open(directory, Options::default())?;
        disk.node.set_rules(BEGIN, rules)?;
        let made = (0..params.recipients)
            .zip(ZONES.iter().cycle())
            .map(|(number, zone)| world::make_in(number, zone));
        disk.fill(BEGIN, made)?;
        Ok(Self { disk, publish: Vec::new(), close: Vec::new() })
    }

    /// Publishes an event to everybody.
    fn publish(&mut self, now: Instant, name: u64) -> Result<(), BenchFault> {
        self.disk.node.fall_due(now)?;
        let took = self.step(now, world::event(name, "told", None))?;
        self.publish.push(took);
        Ok(())
    }

    /// Closes what is due.
    fn close(&mut self, now: Instant) -> Result<(), BenchFault> {
        let watch = Stopwatch::start();
        self.disk.node.fall_due(now)?;
        self.close.push(ms(watch.elapsed()));
        Ok(self.disk.node.chores()?)
    }

    /// Carries out a command; the milliseconds until it was on the disk.
    fn step(&mut self, now: Instant, command: Command) -> Result<f64, BenchFault> {
        let watch = Stopwatch::start();
        let replies = self.disk.node.step(now, &[command])?.replies;
        let took = ms(watch.elapsed());
        world::accepted(replies)?;
        self.disk.node.chores()?;
        Ok(took)
    }

    /// Has recipients change what they want, while entries wait; the times by metric.
    fn change(
        &mut self,
        changes: u32,
        now: Instant,
    ) -> Result<[(&'static str, Vec<f64>); 3], BenchFault> {
        let mut samples = [
            ("set_preference", Vec::new()),
            ("set_mute", Vec::new()),
            ("set_quiet_hours", Vec::new()),
        ];
        for at in 0..changes {
            for (shard, (_, took)) in (0..).zip(&mut samples) {
                let recipient = world::recipient(3 * at + shard);
                let command = match shard {
                    0 => preference(recipient, PreferenceScope::Category("works".to_owned())),
                    1 => preference(recipient, PreferenceScope::Object(world::artwork(1))),
                    _ => own_hours(recipient),
                };
                took.push(self.step(now, command)?);
            }
        }
        Ok(samples)
    }
}

/// Never by mail.
fn preference(recipient: Id, scope: PreferenceScope) -> Command {
    let channel = "email".to_owned();
    Command::Preference {
        tenant: None,
        recipient,
        scope,
        channel,
        mode: Mode::Never,
        by: ChangedBy::Key,
    }
}

/// Quiet hours of one's own.
fn own_hours(recipient: Id) -> Command {
    let hours = OwnHours { hours: Some(NIGHT), channels: Some(vec![EMAIL_NO]) };
    Command::Recipient(Box::new(RecipientChange {
        quiet_hours: Some(Some(Box::new(hours))),
        ..RecipientChange::nothing(recipient)
    }))
}
