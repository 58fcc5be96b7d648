//! The state of feedback: numbers of reports, and what is kept between calls.

use std::sync::atomic::{AtomicU64, Ordering};

use tidings_core::model::Answered;

use crate::reports::reported::{Reported, answered};
use crate::reports::ses::Certificates;

/// The name of the calls in metrics.
pub(crate) const FEEDBACK: &str = "feedback";

/// Numbers of reports, and what is kept between calls.
#[derive(Debug, Default)]
pub(crate) struct Feedback {
    /// By kind of report.
    known: [AtomicU64; Answered::ALL.len()],
    /// Reports of readers who came back.
    opted_in: AtomicU64,
    /// Reports without a message of ours.
    unknown: AtomicU64,
    pub(crate) certificates: Certificates,
}

impl Feedback {
    /// Numbers of reports by kind, and of those about no message of ours.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let known = Answered::ALL.iter().zip(&self.known).map(|(kind, count)| (kind.name(), count));
        let others = [("opted_in", &self.opted_in), ("unknown_message", &self.unknown)];
        known.chain(others).map(|(kind, count)| (kind, count.load(Ordering::Relaxed)))
    }

    pub(crate) fn count(&self, report: &Reported, is_known: bool) {
        let counter = match answered(report.event) {
            None => &self.opted_in,
            Some(kind) if is_known || report.address.is_some() => &self.known[kind as usize],
            Some(_) => &self.unknown,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
