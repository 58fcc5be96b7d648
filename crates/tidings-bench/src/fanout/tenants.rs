//! `fanout --tenants`: an event to everyone of a tenant, compared with events that name as many recipients.

use std::collections::BTreeMap;

use tidings_core::Command;
use tidings_core::model::Audience;

use super::Fanout;
use crate::stopwatch::{Stopwatch, ms};
use crate::{BenchFault, Measurement, world};

/// Milliseconds of publishing to one audience, with and without the commit.
#[derive(Default)]
struct TenantSamples {
    publish: Vec<f64>,
    engine: Vec<f64>,
}

/// Creates the tenants with their members, then alternates between the three audiences.
pub(super) fn publish(fanout: &mut Fanout) -> Result<Vec<Measurement>, BenchFault> {
    let (people, tenants) = (fanout.params.recipients, fanout.params.tenants);
    let mut now = fanout.disk.node.engine().now();
    fanout.disk.fill(now, (0..tenants).map(world::tenant))?;
    fanout.disk.fill(now, (0..people).map(|number| world::join(number, number % tenants)))?;
    let tenant = tenants / 2;
    let members: Vec<u32> = (tenant..people).step_by(tenants as usize).collect();
    let named = || Audience {
        recipients: members.iter().map(|number| world::recipient(*number)).collect(),
        ..Audience::default()
    };
    let everyone = Audience { everyone: true, ..Audience::default() };
    let arms = [(Some(tenant), everyone), (None, named()), (Some(tenant), named())];
    let mut samples =
        [TenantSamples::default(), TenantSamples::default(), TenantSamples::default()];
    for run in 0..=fanout.params.runs {
        for ((tenant, to), samples) in arms.iter().zip(&mut samples) {
            now = now.plus_ms(10);
            let mut event = world::event_to(fanout.name(), "told", to.clone());
            if let Command::Publish(event) = &mut event {
                event.tenant = tenant.map(world::tenant_id);
            }
            fanout.disk.gauge.take();
            let watch = Stopwatch::start();
            fanout.step(now, &[event])?;
            let took = watch.elapsed();
            let committing = fanout.disk.gauge.take().committing;
            fanout.disk.node.chores()?;
            if run > 0 {
                samples.publish.push(ms(took));
                samples.engine.push(ms(took.saturating_sub(committing)));
            }
        }
    }
    let params = BTreeMap::from([
        ("recipients", u64::from(people)),
        ("tenants", u64::from(tenants)),
        ("members", members.len() as u64),
    ]);
    let [everyone, named, named_of_tenant] = samples;
    let of = |metric, of: fn(&TenantSamples) -> &Vec<f64>| {
        Measurement::of("fanout", &params, (metric, "ms"), of(&everyone))
            .against("named", of(&named))
            .against("named_of_tenant", of(&named_of_tenant))
    };
    Ok(vec![
        of("everyone_of_tenant", |samples| &samples.publish),
        of("everyone_of_tenant_engine", |samples| &samples.engine),
    ])
}
