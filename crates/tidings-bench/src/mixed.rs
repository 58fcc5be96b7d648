//! `mixed`: durations of commits and of turns of the loop under mixed load.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use tidings_core::command::{MarkKind, Marked};
use tidings_core::engine::{Options, Plan, Settled};
use tidings_core::{Audience, Command, Instant, Rules};
use tidings_store::Store;

use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN, OnDisk};
use super::{Fault, Measurement, number, quantile};

/// Arguments of `mixed`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Params {
    /// Number of recipients
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// Number of recipients that follow each of ten topics
    #[arg(long, default_value_t = 12_000)]
    pub(crate) followers: u32,
    /// Number of events in a step that go to one recipient each
    #[arg(long, default_value_t = 64)]
    pub(crate) singles: u32,
    /// Duration in seconds
    #[arg(long, default_value_t = 60)]
    pub(crate) seconds: u64,
    /// By how much the virtual clock moves from step to step, in milliseconds
    #[arg(long, default_value_t = 10_000)]
    pub(crate) step_ms: u32,
    /// In slices of how many bytes checkpoints and the like are written; very many = all at once
    #[arg(long, default_value_t = Options::default().slice_bytes)]
    pub(crate) slice_bytes: usize,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// Number of topics.
const TOPICS: u32 = 10;
/// One step in so many has an event to a topic's followers.
const TOPIC_EVERY: u64 = 20;
/// One step in so many has an event to everybody.
const EVERYONE_EVERY: u64 = 500;
/// Number of people who look at their inbox in a step, and follow or unfollow something.
const PEOPLE: usize = 8;

/// The world, and what is on its way in it.
struct Mixed<'a> {
    params: &'a Params,
    disk: OnDisk,
    random: Rng,
    now: Instant,
    step: u64,
    events: u64,
    sent: Vec<Plan>,
    packing: Vec<std::thread::JoinHandle<Result<(), tidings_store::Error>>>,
}

/// Runs it.
pub(crate) fn run(params: &Params, rules: Rules) -> Result<Vec<Measurement>, Fault> {
    if params.recipients == 0 {
        return Err(Fault::Wrong("there is at least one recipient".to_owned()));
    }
    let directory = world::directory(&params.dir)?;
    let options = Options {
        slice_bytes: params.slice_bytes,
        ..Options::default()
    };
    let mut disk = OnDisk::open(directory.path(), options)?;
    disk.node.set_rules(BEGIN, rules)?;
    disk.fill(BEGIN, (0..params.recipients).map(world::make))?;
    for topic in 0..TOPICS {
        let follows = world::followers(topic, params.followers, params.recipients);
        disk.fill(BEGIN, follows.into_iter())?;
    }
    disk.node.chores()?;
    disk.gauge.take_times();
    let mut mixed = Mixed {
        params,
        disk,
        random: Rng::with_seed(7),
        now: BEGIN,
        step: 0,
        events: 0,
        sent: Vec::new(),
        packing: Vec::new(),
    };
    let (whole, mut turns) = (Stopwatch::start(), Vec::new());
    // The longest turn and when it ended: what else the machine did then is the first question.
    let (mut worst, mut worst_at) = (Duration::ZERO, Duration::ZERO);
    while whole.elapsed() < Duration::from_secs(params.seconds) {
        let watch = Stopwatch::start();
        mixed.turn()?;
        let took = watch.elapsed();
        if took > worst {
            (worst, worst_at) = (took, whole.elapsed());
        }
        turns.push(ms(took));
    }
    for packing in mixed.packing {
        packing
            .join()
            .map_err(|_| Fault::Unknown("why packing a day broke down"))??;
    }
    let commits: Vec<f64> = mixed.disk.gauge.take_times().into_iter().map(ms).collect();
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("followers", u64::from(params.followers)),
        ("singles", u64::from(params.singles)),
        ("seconds", params.seconds),
        ("slice_bytes", params.slice_bytes as u64),
        ("virtual_hours", mixed.now.0.abs_diff(BEGIN.0) / 3_600_000),
    ]);
    let of =
        |metric, unit, samples: &[f64]| Measurement::of("mixed", &named, (metric, unit), samples);
    let rate = number(mixed.events) / number(params.seconds.max(1));
    Ok(vec![
        of("commit", "ms", &commits),
        of("commit_p999", "ms", &[quantile(&commits, 0.999)]),
        of("commit_worst", "ms", &[quantile(&commits, 1.0)]),
        of("turn", "ms", &turns),
        of("turn_p999", "ms", &[quantile(&turns, 0.999)]),
        of("turn_worst", "ms", &[ms(worst)]),
        of("turn_worst_at", "s", &[worst_at.as_secs_f64()]),
        of("event_rate", "events/s", &[rate]),
    ])
}

impl Mixed<'_> {
    /// One turn, as the loop of a server takes them.
    fn turn(&mut self) -> Result<(), Fault> {
        self.step += 1;
        self.now = self.now.plus_ms(i64::from(self.params.step_ms));
        loop {
            let node = &mut self.disk.node;
            let due = node.next_due().into_iter();
            let due = due.chain(node.engine().next_forget()).min();
            let Some(due) = due.filter(|due| *due <= self.now) else {
                break;
            };
            let at = due.max(node.engine().now());
            node.fall_due(at)?;
            node.forget_due(at)?;
            node.step(at, &[])?;
        }
        let commands = self.commands();
        world::accepted(self.disk.node.step(self.now, &commands)?.replies)?;
        self.settle()?;
        self.sent = self.disk.node.make(self.now)?;
        for _ in 0..if self.disk.node.engine().is_behind() {
            4
        } else {
            1
        } {
            if !self.disk.node.chore()? {
                break;
            }
        }
        for day in self.disk.node.take_rested() {
            let store = Arc::clone(self.disk.files()?);
            self.packing
                .push(std::thread::spawn(move || store.rest(day)));
        }
        Ok(())
    }

    fn commands(&mut self) -> Vec<Command> {
        let recipients = self.params.recipients;
        let someone = |random: &mut Rng| random.u32(..recipients);
        let mut commands = Vec::new();
        for _ in 0..self.params.singles {
            let to = Audience {
                recipients: vec![world::recipient(someone(&mut self.random))],
                ..Audience::default()
            };
            commands.push(world::event_to(self.events, "told", to));
            self.events += 1;
        }
        for _ in 0..PEOPLE {
            commands.push(Command::Mark {
                recipient: world::recipient(someone(&mut self.random)),
                what: Marked::UpTo(self.now),
                kind: MarkKind::Seen,
            });
            let topic = self.random.u32(..TOPICS);
            commands.push(world::follow(
                someone(&mut self.random),
                &world::topic(topic),
            ));
        }
        let topic = world::topic(u32::try_from(self.step % u64::from(TOPICS)).unwrap_or(0));
        if self.step.is_multiple_of(TOPIC_EVERY) {
            commands.push(world::event(self.events, "told", Some(&topic)));
            self.events += 1;
        }
        if self.step.is_multiple_of(EVERYONE_EVERY) {
            commands.push(world::event(self.events, "gathered", None));
            self.events += 1;
        }
        commands
    }

    /// Records that the messages of the turn before were delivered.
    fn settle(&mut self) -> Result<(), Fault> {
        let sent = self.sent.drain(..);
        let settled: Vec<Settled> = sent.map(|plan| Settled::delivered(&plan)).collect();
        if !settled.is_empty() {
            self.disk.node.settle(self.now, &settled)?;
        }
        Ok(())
    }
}
