//! `memory`: the memory of a recipient beyond profile and id, once all their lanes are open.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use fastrand::Rng;
use tidings_core::engine::{Engine, Options, Reach, TenantDirectory};
use tidings_core::journal::{Partition, ReadView, Unreadable};
use tidings_core::model::RecipientChange;
use tidings_core::rules::TenantRules;
use tidings_core::{Command, Rules};

use super::server::process::resident_bytes;
use super::world::{self, BEGIN};
use super::{BenchFault, Measurement, number};

/// Arguments of `memory`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MemoryParams {
    /// Number of recipients
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) recipients: u32,
    /// Of a hundred recipients, how many have a place on the map
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) placed: u32,
    /// Number of tenants, each with an equal share of the recipients; measures the memory of a membership
    #[arg(long, default_value_t = 0)]
    pub(crate) tenants: u32,
}

/// Number of recipients who join in a step: few, so that the memory of a step doesn't count as theirs.
const JOIN_TOGETHER: usize = 256;

/// Nothing is stored: what is measured is the engine alone.
pub(crate) struct Nothing;

impl ReadView for Nothing {
    fn get(&self, _: Partition, _: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        Ok(None)
    }

    fn scan(
        &self,
        _: Partition,
        _: &[u8],
        _: Option<&[u8]>,
        _: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        Ok(())
    }
}

/// Runs it.
pub(crate) fn run(params: &MemoryParams, mut rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    if params.tenants > 0 {
        rules.tenants = Some(TenantRules::default());
    }
    let mut engine = Engine::open(&Nothing, &[], Options::default())?;
    engine.set_rules(&Nothing, &Reach::new(), BEGIN, rules)?;
    fill(&mut engine, (0..params.recipients).map(world::make))?;
    let before = resident_bytes("self")?;
    let is_placed = |number: &u32| Rng::with_seed(u64::from(*number)).u32(..100) < params.placed;
    fill(&mut engine, (0..params.recipients).filter(is_placed).map(place))?;
    for (at, event_type) in (0..).zip(["told", "gathered", "told"]) {
        let step = engine.step(
            &Nothing,
            &Reach::new(),
            BEGIN.plus_ms(at),
            &[world::event(at.unsigned_abs(), event_type, None)],
        )?;
        world::accepted(step.replies)?;
    }
    let after = resident_bytes("self")?;
    let each = |bytes: u64| [number(bytes) / number(u64::from(params.recipients.max(1)))];
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("placed_percent", u64::from(params.placed)),
    ]);
    let of =
        |metric, samples: &[f64]| Measurement::of("memory", &named, (metric, "bytes"), samples);
    let mut measurements = vec![
        of("resident_per_recipient", &each(after.saturating_sub(before))),
        of("counted_per_recipient", &each(engine.bytes() as u64)),
        of("profile_and_id_per_recipient", &each(before)),
    ];
    if params.tenants > 0 {
        measurements.push(memberships(params, &mut engine)?);
    }
    Ok(measurements)
}

/// Makes each recipient a member of a tenant, in random order.
fn memberships(params: &MemoryParams, engine: &mut Engine) -> Result<Measurement, BenchFault> {
    let tenants = params.tenants;
    fill(engine, (0..tenants).map(world::tenant))?;
    let mut people: Vec<u32> = (0..params.recipients).collect();
    Rng::with_seed(1).shuffle(&mut people);
    for together in people.chunks(JOIN_TOGETHER) {
        fill(engine, together.iter().map(|number| world::join(*number, number % tenants)))?;
    }
    // By the engine's own count: the growth of the process says nothing, since it uses again what the events gave back.
    let (count, counted) = TenantDirectory::of(engine).memberships();
    let each = [number(counted as u64) / number(count.max(1))];
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("tenants", u64::from(tenants)),
    ]);
    Ok(Measurement::of("memory", &named, ("counted_per_membership", "bytes"), &each))
}

fn fill(engine: &mut Engine, commands: impl Iterator<Item = Command>) -> Result<(), BenchFault> {
    world::in_chunks(commands, |commands| {
        world::accepted(engine.take_in(&Nothing, &Reach::new(), BEGIN, commands)?.replies)
    })
}

/// Somewhere in one of a few hundred towns.
fn place(number: u32) -> Command {
    let random = &mut Rng::with_seed(u64::from(number) << 32);
    let town = Rng::with_seed(random.u64(..400)).u64(..);
    let degrees = |town: u64, span: u32, random: &mut Rng| {
        let off = f64::from(random.u32(..2000)) / 10_000.0;
        f64::from(u32::try_from(town).unwrap_or(0) % span) - f64::from(span / 2) + off
    };
    let lat = degrees(town & 0xffff, 120, random);
    let lon = degrees(town >> 48, 340, random);
    Command::Recipient(Box::new(RecipientChange {
        lat: Some(Some(lat)),
        lon: Some(Some(lon)),
        ..RecipientChange::nothing(world::recipient(number))
    }))
}
