//! `operate`: what an operator asks of a large store, and what a bulk retry costs those who publish meanwhile.
//!
//! The server is a process of its own. Each figure stands beside the bar that it has to reach.

use std::collections::BTreeMap;
use std::path::PathBuf;

use self::history::HistoryParams;
use super::process;
use crate::{BenchFault, Host, Measurement, quantile};

mod bulk;
mod calls;
pub(super) mod fill;
mod history;

/// The store that is operated.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreParams {
    /// Number of entries of the store; it has a tenth of that many recipients
    #[arg(long, default_value_t = 1_000_000)]
    entries: u32,
    /// Number of recipients of a large event
    #[arg(long, default_value_t = 12_000)]
    audience: u32,
    /// Number of failed messages
    #[arg(long, default_value_t = 100_000)]
    bulk: u32,
    /// Number of runs of each call
    #[arg(long, default_value_t = 20)]
    pub(super) runs: u32,
    /// Directory of the stores, which are deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,
}

/// Arguments of `operate`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OperateParams {
    #[command(flatten)]
    store: StoreParams,
    /// Number of seconds of publishes without the job that retries the failed messages, before it and after it
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Number of days whose figures are read
    #[arg(long, default_value_t = 800)]
    days: u32,
    /// Number of types of these days, each on six channels
    #[arg(long, default_value_t = 100)]
    types: u32,
}

/// The rules. No channel has a provider: a message fails as soon as it is built.
pub(super) const RULES: &str = r#"
[categories.works]
[digests.weekly]
every = "week"
on = "mon"
[types.shown]
category = "works"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "weekly" } }
[types.mailed]
category = "works"
channels = { email = { policy = "now" } }
[types.announced]
category = "works"
channels = { email = { policy = "now" } }
[types.rare]
category = "works"
channels = { email = { policy = "now" } }
"#;

/// The bars, in the unit of their figures.
const LIST_MS: f64 = 100.0;
const SEARCH_MS: f64 = 5.0;
const EXPLAIN_MS: f64 = 20.0;
const FIGURES_MS: f64 = 300.0;
const BULK_RATIO: f64 = 1.5;

impl StoreParams {
    pub(super) fn recipients(&self) -> u32 {
        (self.entries / 10).max(self.audience)
    }

    /// The numbers that name a measurement.
    ///
    /// # Errors
    /// [`BenchFault::Wrong`] if one of them is 0.
    pub(super) fn named(&self) -> Result<BTreeMap<&'static str, u64>, BenchFault> {
        if [self.entries, self.audience, self.bulk, self.runs].contains(&0) {
            return Err(BenchFault::Wrong("nothing of it may be 0".to_owned()));
        }
        Ok(BTreeMap::from([
            ("entries", u64::from(self.entries)),
            ("recipients", u64::from(self.recipients())),
            ("audience", u64::from(self.audience)),
            ("bulk", u64::from(self.bulk)),
        ]))
    }
}

/// Runs it.
pub(crate) fn run(params: &OperateParams, host: &Host<'_>) -> Result<Vec<Measurement>, BenchFault> {
    let store = &params.store;
    let mut named = store.named()?;
    if [params.days, params.types].contains(&0) || params.seconds == 0 {
        return Err(BenchFault::Wrong("nothing of it may be 0".to_owned()));
    }
    named.extend([("days", u64::from(params.days)), ("types", u64::from(params.types))]);
    let of =
        |metric, unit, samples: &[f64]| Measurement::of("operate", &named, (metric, unit), samples);
    let mut measured = Vec::new();
    let served = process::measure(&store.dir, RULES, &[], async |server| {
        fill::fill(server.address, store).await?;
        let calls = calls::measure(server.address, store).await?;
        let publishes = calls::publish_large(server.address, store).await?;
        Ok((calls, publishes, bulk::measure(server.address, params).await?))
    })?;
    let (calls, publishes, bulk) = served;
    for (call, times) in &calls {
        measured.push(of(call.metric, "ms", times).against("bar", &[call.bar]));
    }
    measured.push(of("publish_large", "ms", &publishes));
    let (alone, under_job) = (&bulk.alone, &bulk.under_job);
    let p99 = |times: &[f64]| quantile(times, 0.99);
    let ratio = [p99(under_job) / p99(alone).max(f64::EPSILON)];
    measured.extend([
        of("publish_under_job", "ms", under_job).against("alone", alone),
        of("publish_p99_under_job", "ms", &[p99(under_job)]).against("alone", &[p99(alone)]),
        of("publish_p99_ratio", "times", &ratio).against("bar", &[BULK_RATIO]),
        of("bulk_made", "ms", &[bulk.made_ms]),
        of("bulk_rate", "messages/s", &[bulk.rate]),
    ]);
    let history = HistoryParams { days: params.days, types: params.types, runs: store.runs };
    for (metric, times) in history::measure(&store.dir, host.rules.clone(), history)? {
        measured.push(of(metric, "ms", &times).against("bar", &[FIGURES_MS]));
    }
    Ok(measured)
}
