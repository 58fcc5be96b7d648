//! Benchmarks of tidings that anyone can run on their own machine.
//!
//! A work makes a world of invented recipients, does one thing over and over on the real engine and
//! (where it says durable) the real store, and tells medians. What it is held against is done in the
//! same run, turn by turn, so that a slow moment of the machine slows both.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use serde::Serialize;
use tidings_core::Rules;
use tidings_node::{Clock, Handle};

pub mod command;

mod deadlines;
mod digest;
mod fanout;
mod feed;
mod forget;
mod gauge;
mod live;
mod memory;
mod nodes;
mod outbox;
mod plan;
mod publish;
mod quiet;
mod reads;
mod recovery;
mod rival;
mod scheduled;
mod server;
mod stopwatch;
mod world;

pub use world::RULES;

/// The pieces of the program that benchmarks use and that are made elsewhere.
pub struct Host<'h> {
    /// [`RULES`], parsed.
    pub rules: Rules,
    /// Makes the HTTP API over a node, open to everybody.
    pub router: &'h dyn Fn(Handle, Rules, Arc<dyn Clock>) -> Router,
}

/// The reason why a measurement was not made.
#[derive(Debug, thiserror::Error)]
pub enum BenchFault {
    /// The node failed.
    #[error(transparent)]
    Node(#[from] tidings_node::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] tidings_store::Error),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] tidings_core::journal::Unreadable),
    /// The engine has no answer to what the benchmark asked.
    #[error(transparent)]
    Stopped(#[from] tidings_core::engine::StepError),
    /// The directory can't be used.
    #[error("{0}: {1}")]
    Directory(PathBuf, std::io::Error),
    /// The machine does not tell what has to be known.
    #[error("this machine does not tell {0}")]
    Unknown(&'static str),
    /// A server that is measured beside it can't be used.
    #[error("{0}: {1}")]
    Rival(&'static str, String),
    /// The server that is measured did not do what it was asked.
    #[error("over HTTP: {0}")]
    Http(String),
    /// The runtime of the server that is measured failed.
    #[error(transparent)]
    Runtime(#[from] tidings_node::RuntimeError),
    /// A parameter makes no sense.
    #[error("{0}")]
    Wrong(String),
    /// The results can't be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}

/// The result of one metric of a work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// The name of the work.
    pub work: &'static str,
    /// The parameters.
    pub params: BTreeMap<&'static str, u64>,
    /// Name of the metric.
    pub metric: &'static str,
    /// In which unit.
    pub unit: &'static str,
    /// The median over the runs.
    pub median: f64,
    /// The value that 99 of 100 runs did not exceed; only of times, and where there are enough runs to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// Number of runs.
    pub runs: usize,
    /// The results of something else in the same runs, in the same unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versus: Option<BTreeMap<&'static str, f64>>,
    /// The median divided by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<BTreeMap<&'static str, f64>>,
}

/// Fewer runs than this say nothing about one in a hundred.
const RUNS_FOR_P99: usize = 20;

impl Measurement {
    /// The measurement that these runs make; 0 where there are none.
    #[must_use]
    pub fn of(
        work: &'static str,
        params: &BTreeMap<&'static str, u64>,
        (metric, unit): (&'static str, &'static str),
        samples: &[f64],
    ) -> Self {
        Self {
            work,
            params: params.clone(),
            metric,
            unit,
            median: quantile(samples, 0.5),
            p99: (unit == "ms" && samples.len() >= RUNS_FOR_P99).then(|| quantile(samples, 0.99)),
            runs: samples.len(),
            versus: None,
            ratio: None,
        }
    }

    /// Holds it against something else that was measured in the same runs.
    #[must_use]
    pub fn against(mut self, name: &'static str, samples: &[f64]) -> Self {
        let other = quantile(samples, 0.5);
        self.versus.get_or_insert_default().insert(name, other);
        if other > 0.0 {
            self.ratio.get_or_insert_default().insert(name, self.median / other);
        }
        self
    }
}

/// The least sample that at least this share of all does not exceed.
fn quantile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rank among samples is a small number"
    )]
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// A count as a number that can be divided; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples() {
        let samples: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&samples, 0.5).to_bits(), 50_f64.to_bits());
        assert_eq!(quantile(&samples, 0.99).to_bits(), 99_f64.to_bits());
        assert_eq!(quantile(&[], 0.5).to_bits(), 0_f64.to_bits());
    }

    #[test]
    fn a_measurement_is_the_object_that_scripts_read() {
        let params = BTreeMap::from([("recipients", 9)]);
        let three = Measurement::of("fanout", &params, ("publish", "ms"), &[3.0, 1.0, 2.0]);
        let json = serde_json::to_string(&three.against("raw", &[4.0])).unwrap();
        let expected = r#"{"work":"fanout","params":{"recipients":9},"metric":"publish","unit":"ms","median":2.0,"runs":3,"versus":{"raw":4.0},"ratio":{"raw":0.5}}"#;
        assert_eq!(json, expected);
    }
}
