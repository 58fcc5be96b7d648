//! `parts`: the same steps by an engine of one part and by engines of several, each with a thread.

use std::collections::BTreeMap;

use fastrand::Rng;
use tidings_core::engine::{Engine, Options, Reach};
use tidings_core::{Audience, Command, Instant, Rules};
use tidings_node::Threads;

use super::memory::Nothing;
use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN};
use super::{Fault, Measurement};

/// Arguments of `parts`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Params {
    /// Numbers of parts, measured in turns
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4])]
    pub(crate) parts: Vec<u16>,
    /// Number of recipients
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// To how many of them an event of the middle size goes
    #[arg(long, default_value_t = 12_000)]
    pub(crate) followers: u32,
    /// Number of events to one recipient each that are published in one step
    #[arg(long, default_value_t = 2_000)]
    pub(crate) together: u32,
    /// Number of runs; one more before them is not counted
    #[arg(long, default_value_t = 21)]
    pub(crate) runs: u32,
}

/// An engine, and the times of its steps in milliseconds, by metric.
struct Divided {
    parts: u16,
    engine: Engine,
    took: BTreeMap<&'static str, Vec<f64>>,
}

/// Runs it.
pub(crate) fn run(params: &Params, rules: &Rules) -> Result<Vec<Measurement>, Fault> {
    let mut engines = Vec::new();
    for parts in &params.parts {
        engines.push(Divided::make(params, *parts, rules.clone())?);
    }
    let mut random = Rng::with_seed(2);
    let mut name = 0;
    let mut next = || {
        name += 1;
        name
    };
    for run in 0..=params.runs {
        let now = BEGIN.plus_ms(i64::from(run) * 600_000 + 1);
        let to_all = [world::event(next(), "told", None)];
        let to_followers = [world::event(next(), "shown", Some("topic/0"))];
        let to_one = (0..params.together).map(|_| {
            let to = Audience {
                recipients: vec![world::recipient(random.u32(..params.recipients))],
                ..Audience::default()
            };
            world::event_to(next(), "shown", to)
        });
        let to_one: Vec<Command> = to_one.collect();
        for divided in &mut engines {
            divided.step("to_everybody", run, now, &to_all)?;
            divided.step("to_followers", run, now.plus_ms(1), &to_followers)?;
            divided.step("to_one_each", run, now.plus_ms(2), &to_one)?;
            divided.step("due", run, now.plus_ms(300_000), &[])?;
        }
    }
    let alone = engines.iter().find(|one| one.parts == 1);
    let alone = alone.map(|one| one.took.clone()).unwrap_or_default();
    let mut measurements = Vec::new();
    for Divided { parts, took, .. } in &engines {
        let named = BTreeMap::from([
            ("parts", u64::from(*parts)),
            ("recipients", u64::from(params.recipients)),
            ("followers", u64::from(params.followers)),
            ("together", u64::from(params.together)),
        ]);
        for (metric, samples) in took {
            let measured = Measurement::of("parts", &named, (metric, "ms"), samples);
            let one = alone.get(metric).filter(|_| *parts != 1);
            measurements.push(match one {
                Some(one) => measured.against("one_part", one),
                None => measured,
            });
        }
    }
    Ok(measurements)
}

impl Divided {
    fn make(params: &Params, parts: u16, rules: Rules) -> Result<Self, Fault> {
        let options = Options {
            parts,
            ..Options::default()
        };
        let mut engine = Engine::open(&Nothing, &[], options)?;
        engine.lend(Box::new(Threads));
        engine.set_rules(&Nothing, &Reach::new(), BEGIN, rules)?;
        let made = (0..params.recipients).map(world::make);
        let follow = world::followers(0, params.followers, params.recipients);
        world::in_chunks(made.chain(follow), |commands| {
            let step = engine.take_in(&Nothing, &Reach::new(), BEGIN, commands)?;
            world::accepted(step.replies)
        })?;
        Ok(Self {
            parts,
            engine,
            took: BTreeMap::new(),
        })
    }

    fn step(
        &mut self,
        metric: &'static str,
        run: u32,
        now: Instant,
        commands: &[Command],
    ) -> Result<(), Fault> {
        let watch = Stopwatch::start();
        let step = self.engine.step(&Nothing, &Reach::new(), now, commands)?;
        let took = ms(watch.elapsed());
        world::accepted(step.replies)?;
        if run > 0 {
            self.took.entry(metric).or_default().push(took);
        }
        Ok(())
    }
}
