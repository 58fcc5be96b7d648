//! Figures as a table for people: without columns that are empty.

use std::io::{self, Write};

use serde_json::Value;
use tidings_api::figures::{columns, number};
use tidings_core::engine::{GroupBy, Measure};

use super::table::{TextTable, cell};

/// Writes rows of figures; of many measures those that were counted.
pub(in crate::cli) fn write(
    by: &[GroupBy],
    measures: &[Measure],
    rows: &[Value],
    out: &mut dyn Write,
) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "Nothing was counted");
    }
    let is_counted =
        |column: &String| rows.iter().any(|row| !matches!(&*number(row, column), "" | "0"));
    let columns: Vec<String> = columns(measures).into_iter().filter(is_counted).collect();
    let parts = by.iter().map(|by| by.word().to_uppercase());
    let titles: Vec<String> = parts.chain(columns.iter().map(|of| of.to_uppercase())).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut table = TextTable::new(&titles);
    for row in rows {
        let parts = by.iter().map(|by| cell(row, by.word()));
        table.whole_row(parts.chain(columns.iter().map(|column| number(row, column))));
    }
    table.write_all(out)
}
