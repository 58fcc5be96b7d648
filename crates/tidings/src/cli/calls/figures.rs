//! Figures as text for people, or as a table for programs.

use std::io::{self, Write};

use tidings_api::figures::csv;
use tidings_core::engine::{GroupBy, Measure};

use super::answer::ShownAnswer;
use crate::cli::print::{figures, table};

/// Writes the answer of `figures`.
pub(super) fn write_figures(answer: &ShownAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let given = |name: &str| answer.given.text(name).into_iter().flat_map(|text| text.split(','));
    // The server has refused other words.
    let by: Vec<GroupBy> = given("by")
        .filter_map(|word| GroupBy::ALL.into_iter().find(|by| by.word() == word))
        .collect();
    let mut measures: Vec<Measure> = given("measure")
        .filter_map(|word| Measure::ALL.into_iter().find(|of| of.word() == word))
        .collect();
    if measures.is_empty() {
        measures = Measure::ALL.to_vec();
    }
    let rows = table::list(answer.value, "rows");
    if answer.given.has("csv") {
        return out.write_all(&csv(&by, &measures, rows)?);
    }
    figures::write(&by, &measures, rows, out)?;
    let without = table::list(answer.value, "days_without");
    match (without.first(), without.last()) {
        (Some(first), Some(last)) => {
            let (first, last) = (table::shown(first), table::shown(last));
            writeln!(out, "\nThere are no figures of {} days, {first} to {last}", without.len())
        }
        _ => Ok(()),
    }
}
