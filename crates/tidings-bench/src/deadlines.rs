//! `deadlines`: one event to everybody moves the deadline of every cool-down window.

use std::collections::BTreeMap;

use tidings_core::Rules;
use tidings_core::engine::{Engine, Options, Reach};

use super::memory::Nothing;
use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN};
use super::{BenchFault, Measurement};

/// Arguments of `deadlines`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DeadlinesParams {
    /// Number of recipients that wait in the lane
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// Number of events that move their deadlines
    #[arg(long, default_value_t = 50)]
    pub(crate) runs: u32,
}

/// Runs it.
pub(crate) fn run(params: &DeadlinesParams, rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    let mut engine = Engine::open(&Nothing, &[], Options::default())?;
    engine.set_rules(&Nothing, &Reach::new(), BEGIN, rules)?;
    world::in_chunks((0..params.recipients).map(world::make), |commands| {
        world::accepted(engine.take_in(&Nothing, &Reach::new(), BEGIN, commands)?.replies)
    })?;
    let (mut open, mut moved) = (Vec::new(), Vec::new());
    for at in 0..=u64::from(params.runs) {
        let now = BEGIN.plus_ms(i64::try_from(at).unwrap_or(0) + 1);
        let event = [world::event(at, "lane", None)];
        let watch = Stopwatch::start();
        let step = engine.step(&Nothing, &Reach::new(), now, &event)?;
        let took = ms(watch.elapsed());
        world::accepted(step.replies)?;
        if at == 0 { &mut open } else { &mut moved }.push(took);
    }
    let named = BTreeMap::from([("recipients", u64::from(params.recipients))]);
    let of =
        |metric, samples: &[f64]| Measurement::of("deadlines", &named, (metric, "ms"), samples);
    Ok(vec![of("open_all", &open), of("move_all", &moved)])
}
