//! The figures by which configurations are compared, and their form in JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use tidings_core::engine::LedgerRow;
use tidings_core::model::Reason;

use super::{Channels, Distribution, Played, Population};

/// The figures of one configuration.
#[derive(Debug, Serialize)]
pub struct ConfigFigures {
    /// Its path.
    pub config: String,
    /// The short name under which people see it.
    #[serde(skip)]
    pub title: String,
    /// Messages with at least one item.
    pub messages: u64,
    /// Recipients with a message.
    pub recipients: u64,
    /// Days of recipients that count, the same for all configurations.
    pub recipient_days: u64,
    /// Messages by recipient and day.
    #[serde(serialize_with = "as_figures")]
    pub messages_per_day: Distribution,
    /// Time from an item's `t` to its message, in milliseconds.
    #[serde(serialize_with = "as_figures")]
    pub delay_ms: Distribution,
    /// Items by message.
    #[serde(serialize_with = "as_figures")]
    pub items_per_message: Distribution,
    /// The entries that were in no message.
    #[serde(flatten)]
    pub left_out: LeftOutEntries,
}

/// The entries that were in no message, by reason.
#[derive(Debug, Default, Serialize)]
pub struct LeftOutEntries {
    /// Entries that still wait at the end.
    pub pending: u64,
    /// Recipients left out of an event by an admission, on any channel.
    pub suppressed: u64,
    /// Entries that ended, by reason.
    #[serde(rename = "left_out", serialize_with = "by_word")]
    pub reasons: BTreeMap<Reason, u64>,
}

impl LeftOutEntries {
    /// Number of entries that ended for a reason.
    #[must_use]
    pub fn of_reason(&self, reason: Reason) -> u64 {
        self.reasons.get(&reason).copied().unwrap_or(0)
    }

    pub(super) fn of(
        ledger: &BTreeMap<&'static str, LedgerRow>,
        channels: Channels<'_>,
        suppressed: u64,
    ) -> Self {
        let mut all = LedgerRow::default();
        ledger.iter().filter(|(name, _)| channels.count(name)).for_each(|(_, row)| all.add(row));
        Self { pending: all.pending, suppressed, reasons: all.reasons }
    }
}

impl ConfigFigures {
    pub(super) fn of(run: &Played, population: &Population) -> Self {
        let gathered = &run.gathered;
        let mut messages_per_day = Distribution::default();
        for count in gathered.by_day.values() {
            messages_per_day.add(i64::from(*count), 1);
        }
        let without = population.days() - gathered.by_day.len() as u64;
        messages_per_day.add(0, without);
        Self {
            config: run.name.clone(),
            title: run.title.clone(),
            messages: gathered.messages,
            recipients: gathered.recipients,
            recipient_days: population.days(),
            messages_per_day,
            delay_ms: gathered.delay_ms.clone(),
            items_per_message: gathered.items.clone(),
            left_out: LeftOutEntries { reasons: run.left_out.reasons.clone(), ..run.left_out },
        }
    }
}

/// The four statistics of a distribution.
#[derive(Serialize)]
struct DistributionSummary {
    mean: Option<f64>,
    p50: Option<i64>,
    p95: Option<i64>,
    max: Option<i64>,
}

fn as_figures<S: Serializer>(of: &Distribution, serializer: S) -> Result<S::Ok, S::Error> {
    let said = DistributionSummary {
        mean: of.mean(),
        p50: of.percentile(50),
        p95: of.percentile(95),
        max: of.max(),
    };
    said.serialize(serializer)
}

fn by_word<S: Serializer>(
    reasons: &BTreeMap<Reason, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(reasons.len()))?;
    for (reason, count) in reasons {
        map.serialize_entry(reason.word(), count)?;
    }
    map.end()
}

/// The reasons for which any configuration left entries out, in their order.
#[must_use]
pub fn reasons(figures: &[ConfigFigures]) -> BTreeSet<Reason> {
    figures.iter().flat_map(|of| of.left_out.reasons.keys()).copied().collect()
}
