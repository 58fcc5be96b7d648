//! Figures in plain words, for comparison.

use std::collections::BTreeMap;

use tidings_core::engine::{FigureValues, FiguresReport};

/// Rows by their names: of each what was counted, in the words of a column such as `ended.delivered`.
pub type Figures = BTreeMap<Vec<Option<String>>, BTreeMap<String, Cell>>;

/// A count, or durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The number.
    pub n: u64,
    /// The median of the durations, in milliseconds.
    pub p50_ms: Option<i64>,
    /// The 95th percentile.
    pub p95_ms: Option<i64>,
}

impl Cell {
    /// Returns true if another cell is the same, but for an error of 5 % in durations.
    #[must_use]
    pub fn is_like(&self, exact: &Self) -> bool {
        let is_near = |(one, exact): (Option<i64>, Option<i64>)| match (one, exact) {
            (Some(one), Some(exact)) => (one - exact).abs() * 20 <= exact,
            (one, exact) => one == exact,
        };
        self.n == exact.n
            && is_near((self.p50_ms, exact.p50_ms))
            && is_near((self.p95_ms, exact.p95_ms))
    }
}

/// The figures of an engine in plain words, without zeros.
#[must_use]
pub fn plain(report: &FiguresReport) -> Figures {
    let mut rows = Figures::new();
    for row in &report.rows {
        let mut cells = BTreeMap::new();
        for (measure, value) in &row.values {
            let count = |n| Cell { n, p50_ms: None, p95_ms: None };
            let word = measure.word();
            match value {
                None => {}
                Some(FigureValues::Count(n)) => {
                    cells.insert(word.to_owned(), count(*n));
                }
                Some(FigureValues::Counts(counts)) => {
                    let named = |(of, n): &(&str, u64)| (format!("{word}.{of}"), count(*n));
                    cells.extend(counts.iter().map(named));
                }
                Some(FigureValues::Delays(delays)) => {
                    let (p50_ms, p95_ms) = (delays.p50_ms, delays.p95_ms);
                    cells.insert(word.to_owned(), Cell { n: delays.n, p50_ms, p95_ms });
                }
            }
        }
        cells.retain(|_, cell| cell.n > 0);
        rows.insert(row.of.clone(), cells);
    }
    rows
}

/// The first row in which figures differ from exact ones.
#[must_use]
pub fn difference(exact: &Figures, figures: &Figures) -> Option<String> {
    let mut keys: Vec<_> = exact.keys().chain(figures.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let (one, other) = (exact.get(key), figures.get(key));
        let are_alike = match (one, other) {
            (Some(one), Some(other)) => {
                one.keys().eq(other.keys())
                    && one.iter().all(|(word, cell)| other[word].is_like(cell))
            }
            _ => false,
        };
        if !are_alike {
            return Some(format!("{key:?}\nexact   {one:?}\nfigures {other:?}"));
        }
    }
    None
}
