//! The rows that fence writers: each commit of a writer raises its own, and each of its reads returns it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio_postgres::Row;

use super::link::{Link, LinkFault};
use super::versions::{Days, TableNo};
use crate::lease::Fence;
use tidings_core::Day;

/// The place of a writer's row in the texts of statements.
pub(super) struct WriterRow {
    pub(super) table: &'static str,
    /// The column of the number that fences.
    pub(super) number: &'static str,
    /// The condition that finds the row.
    pub(super) is_it: String,
}

impl Fence {
    /// The number of the epoch or the term.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Lease(epoch) => epoch.0,
            Self::Share(term) => term.0,
        }
    }

    /// The statement that raises the number of the newest commit, if it is still `$2`.
    pub(super) fn raise(self) -> &'static str {
        match self {
            Self::Lease(_) => {
                "UPDATE tidings_lease SET at = at + 1 WHERE no = 0 AND epoch = $1 AND at = $2 RETURNING 1"
            }
            Self::Share(_) => {
                "UPDATE tidings_share SET at = at + 1 WHERE term = $1 AND at = $2 RETURNING 1"
            }
        }
    }

    /// The place of the row.
    pub(super) fn place(self) -> WriterRow {
        match self {
            Self::Lease(_) => {
                WriterRow { table: "tidings_lease", number: "epoch", is_it: "no = 0".to_owned() }
            }
            Self::Share(term) => WriterRow {
                table: "tidings_share",
                number: "term",
                is_it: format!("term = {}", term.0),
            },
        }
    }

    /// The number of the newest commit in an answer's first two columns; `None` if the writer's term is over.
    pub(super) fn newest_of(self, row: Option<&Row>) -> Option<i64> {
        row.filter(|row| row.get::<_, i64>(0) == self.number()).map(|row| row.get(1))
    }

    /// The text of a statement that lists the days; its first two columns are those of the writer's row.
    pub(super) fn listing(self) -> String {
        let WriterRow { table, number, is_it } = self.place();
        format!(
            "SELECT p.{number}, p.at, d.day, d.rows FROM {table} p LEFT JOIN tidings_day d ON true WHERE p.{is_it}"
        )
    }
}

/// The days in the answer to [`Fence::listing`].
pub(super) fn days_of(rows: &[Row]) -> Days {
    let day = |row: &Row| Some((Day(row.get::<_, Option<i32>>(2)?), TableNo(row.get::<_, i64>(3))));
    Arc::new(rows.iter().filter_map(day).collect::<BTreeMap<_, _>>())
}

/// Asks for the number of the newest commit; `None` if the writer's time is over.
pub(super) fn newest(link: &mut Link, fence: Fence) -> Result<Option<i64>, LinkFault> {
    let WriterRow { table, number, is_it } = fence.place();
    let rows = link.query(&format!("SELECT {number}, at FROM {table} WHERE {is_it}"), &[])?;
    Ok(fence.newest_of(rows.first()))
}

/// Begins to write: the number of the newest commit, or `None` if the writer's time is over. The same lease or share
/// may have been opened before, and a commit of that one be under way: this waits for it, and fences what comes later.
/// It raises by 2, which no commit does.
pub(super) fn begin(link: &mut Link, fence: Fence) -> Result<Option<i64>, LinkFault> {
    let raise = match fence {
        Fence::Lease(_) => {
            "UPDATE tidings_lease SET at = at + 2 WHERE no = 0 AND epoch = $1 RETURNING epoch, at"
        }
        Fence::Share(_) => {
            "UPDATE tidings_share SET at = at + 2 WHERE term = $1 RETURNING term, at"
        }
    };
    let rows = link.query(raise, &[&fence.number()])?;
    Ok(fence.newest_of(rows.first()))
}

/// Lists the days; `None` if the writer's time is over.
pub(super) fn days(link: &mut Link, fence: Fence) -> Result<Option<Days>, LinkFault> {
    let rows = link.query(&fence.listing(), &[])?;
    Ok(fence.newest_of(rows.first()).map(|_| days_of(&rows)))
}
