//! The figures beside the ledger: entries, ends and reasons are the same for each day and channel.

use std::collections::BTreeMap;

use super::measure::{FigureValues, Measure};
use super::read::{FiguresQuery, GroupBy};
use crate::engine::read::reader::Reader;
use crate::engine::rows::ledger::LedgerRow;
use crate::journal::stored::Unreadable;
use crate::model::reason::{Outcome, Reason};
use crate::model::time::Day;

impl Reader<'_> {
    /// Adds the points at which the figures and the ledger disagree, of the days whose figures are kept. The engine must
    /// have all shards.
    pub(crate) fn compare_figures(
        &self,
        disagreements: &mut Vec<String>,
    ) -> Result<(), Unreadable> {
        let engine = self.engine;
        let mut booked: BTreeMap<(Day, &str), LedgerRow> = BTreeMap::new();
        for (account, row) in engine.shards.ledger_rows() {
            booked.entry((account.day, account.channel.name())).or_default().add(row);
        }
        let (Some((first, _)), Some((last, _))) =
            (booked.first_key_value(), booked.last_key_value())
        else {
            return Ok(());
        };
        let query = FiguresQuery {
            by: vec![GroupBy::Day, GroupBy::Channel],
            measures: vec![Measure::Entries, Measure::Ended, Measure::Reasons],
            ..FiguresQuery::of_days(first.0..Day(last.0.0 + 1))
        };
        let report = self.figures(&query, engine.intake.now.day())?;
        let words = |counts: &mut dyn Iterator<Item = (&'static str, u64)>| {
            counts.filter(|(_, count)| *count > 0).collect::<BTreeMap<_, _>>()
        };
        let mut counted: BTreeMap<(String, String), _> = BTreeMap::new();
        for row in report.rows {
            let (mut entries, mut by_word) = (0, Vec::new());
            for (_, value) in row.values {
                match value {
                    Some(FigureValues::Count(count)) => entries = count,
                    Some(FigureValues::Counts(counts)) => {
                        by_word.push(words(&mut counts.into_iter()));
                    }
                    Some(FigureValues::Delays(_)) | None => {}
                }
            }
            let mut of = row.of.into_iter().flatten();
            let of = (of.next().unwrap_or_default(), of.next().unwrap_or_default());
            counted.insert(of, (entries, by_word));
        }
        for ((day, channel), row) in booked {
            if report.days_without.contains(&day) {
                continue;
            }
            let ended = Outcome::ALL.iter().map(|of| (of.word(), row.ended.get(of).copied()));
            let reasons = Reason::ALL.iter().map(|of| (of.word(), row.reasons.get(of).copied()));
            let mut ended = ended.map(|(word, count)| (word, count.unwrap_or(0)));
            let mut reasons = reasons.map(|(word, count)| (word, count.unwrap_or(0)));
            let by_word = vec![words(&mut ended), words(&mut reasons)];
            let booked = (row.entries - row.moved, by_word);
            let of = (day.to_string(), channel.to_owned());
            let figures = counted.remove(&of).unwrap_or((0, vec![BTreeMap::new(); 2]));
            if figures != booked {
                disagreements.push(format!(
                    "{day}, channel {channel}: ledger {booked:?}, figures {figures:?}"
                ));
            }
        }
        let others = counted.into_iter();
        disagreements.extend(others.map(|(of, row)| format!("figures alone: {of:?} {row:?}")));
        Ok(())
    }
}
