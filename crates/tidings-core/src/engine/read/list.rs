//! Lists, as operators page through them: in one order, whatever shards and nodes the rows come from.
//!
//! A page ends at a position of that order and the next one begins after it, so pages of shards and nodes merge, and
//! a walk shows each row that stays exactly once. A page looks at a bounded number of rows: it may be short, or empty,
//! and still have a next one.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::model::id::Id;
use crate::model::time::Instant;

/// The most rows that a page looks at before it ends.
pub const LOOKED_AT_MAX: usize = 10_000;

/// A row of a list.
pub trait Positioned {
    /// A position in the order of the list.
    type Position: Clone + Ord;

    /// The position of the row, which no other row of the list has.
    fn position(&self) -> Self::Position;
}

/// The position in a list that is sorted by an instant, newest first, and by id where the instant is the same.
///
/// # Examples
/// ```
/// use tidings_core::{Id, Instant};
/// use tidings_core::engine::NewestFirst;
///
/// let at = |ms, id| NewestFirst { at: Instant(ms), id: Id::new(id).unwrap() };
/// assert!(at(2, "b") < at(1, "a") && at(1, "a") < at(1, "b"));
/// assert_eq!(at(-1, "a.b").to_string().parse(), Ok(at(-1, "a.b")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestFirst {
    /// The instant.
    pub at: Instant,
    /// The id.
    pub id: Id,
}

impl Ord for NewestFirst {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.cmp(&self.at).then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for NewestFirst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A text that is not a position of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position of a list")]
pub struct ListPositionError;

impl fmt::Display for NewestFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.0, self.id)
    }
}

impl FromStr for NewestFirst {
    type Err = ListPositionError;

    fn from_str(text: &str) -> Result<Self, ListPositionError> {
        let (at, id) = text.split_once('.').ok_or(ListPositionError)?;
        let at = at.parse().map(Instant).map_err(|_| ListPositionError)?;
        Ok(Self { at, id: Id::new(id).map_err(|_| ListPositionError)? })
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage<T: Positioned> {
    /// The rows, in the order of the list.
    pub rows: Vec<T>,
    /// The position after which the next page begins: that of the last row that was looked at. `None` = the list ends.
    pub next: Option<T::Position>,
}

impl<T: Positioned> Default for ListPage<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), next: None }
    }
}

impl<T: Positioned> ListPage<T> {
    /// The same page with its rows in another form.
    #[must_use]
    pub fn map<U>(self, shown: impl FnMut(T) -> U) -> ListPage<U>
    where
        U: Positioned<Position = T::Position>,
    {
        ListPage { rows: self.rows.into_iter().map(shown).collect(), next: self.next }
    }

    /// One page of at most `most` rows out of pages that begin at the same position, of shards or of nodes.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::engine::{ListPage, Positioned};
    ///
    /// #[derive(Debug, PartialEq)]
    /// struct Row(u8);
    ///
    /// impl Positioned for Row {
    ///     type Position = u8;
    ///
    ///     fn position(&self) -> u8 {
    ///         self.0
    ///     }
    /// }
    ///
    /// // The first has looked as far as 4, and the second may have rows before 6 that the first lacks.
    /// let one = ListPage { rows: vec![Row(2), Row(4)], next: Some(4) };
    /// let other = ListPage { rows: vec![Row(3), Row(6)], next: None };
    /// let page = ListPage::merged(vec![one, other], 10);
    /// assert_eq!((page.rows, page.next), (vec![Row(2), Row(3), Row(4)], Some(4)));
    /// ```
    #[must_use]
    pub fn merged(pages: Vec<Self>, most: usize) -> Self {
        let end = pages.iter().filter_map(|page| page.next.as_ref()).min().cloned();
        let mut rows: Vec<(T::Position, T)> = Vec::new();
        for row in pages.into_iter().flat_map(|page| page.rows) {
            let position = row.position();
            // What is behind the end of a page comes with the next one: that shard may have rows before it.
            if end.as_ref().is_none_or(|end| position <= *end) {
                rows.push((position, row));
            }
        }
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        let next = if rows.len() > most {
            rows.get(most.saturating_sub(1)).map(|(position, _)| position.clone())
        } else {
            end
        };
        rows.truncate(most);
        Self { rows: rows.into_iter().map(|(_, row)| row).collect(), next }
    }
}

/// A page under construction, which visits rows in the order of the list.
#[derive(Debug)]
pub struct PageBuilder<T: Positioned> {
    rows: Vec<T>,
    most: usize,
    /// Number of rows that may still be looked at.
    room: usize,
    /// The last row that was looked at.
    last: Option<T::Position>,
    is_cut: bool,
}

impl<T: Positioned> PageBuilder<T> {
    /// Begins a page of at most `most` rows after a position.
    #[must_use]
    pub fn new(after: Option<T::Position>, most: usize) -> Self {
        Self::with_room(after, most, LOOKED_AT_MAX)
    }

    /// The same with another bound on the rows that are looked at.
    #[must_use]
    pub fn with_room(after: Option<T::Position>, most: usize, room: usize) -> Self {
        // A page that looks at nothing would begin the next one where it began itself.
        Self { rows: Vec::new(), most, room: room.max(1), last: after, is_cut: false }
    }

    /// Counts a row that is looked at, whether it matches or not; false = the page ends before it.
    pub(crate) fn looks_at(&mut self, position: T::Position) -> bool {
        if self.rows.len() >= self.most || self.room == 0 {
            self.is_cut = true;
            return false;
        }
        self.room -= 1;
        self.last = Some(position);
        true
    }

    /// Ends the page at a position up to which it has looked, though no row stands there.
    pub fn ends_at(&mut self, position: T::Position) {
        self.last = Some(position);
        self.is_cut = true;
    }

    /// Adds a row that matches, after it was looked at.
    pub fn add(&mut self, row: T) {
        self.rows.push(row);
    }

    /// The page.
    #[must_use]
    pub fn page(self) -> ListPage<T> {
        ListPage { rows: self.rows, next: self.last.filter(|_| self.is_cut) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Row(u32);

    impl Positioned for Row {
        type Position = u32;

        fn position(&self) -> u32 {
            self.0
        }
    }

    /// A page of the rows of a shard whose number a divisor divides.
    fn page(shard: &[u32], divisor: u32, after: Option<u32>, most: usize) -> ListPage<Row> {
        let mut page = PageBuilder::with_room(after, most, 5);
        for row in shard.iter().filter(|row| after.is_none_or(|after| **row > after)) {
            if !page.looks_at(*row) {
                break;
            }
            if row.is_multiple_of(divisor) {
                page.add(Row(*row));
            }
        }
        page.page()
    }

    #[test]
    fn a_walk_over_shards_shows_each_match_once_in_order() {
        let shards = [(0..40).step_by(2).collect(), vec![1, 3, 35, 36, 41, 60], Vec::new()];
        for divisor in [1, 2, 3, 7, 60, 100] {
            let mut all: Vec<u32> = shards.concat();
            all.sort_unstable();
            all.dedup();
            all.retain(|row| row.is_multiple_of(divisor));
            for most in [1, 2, 3, 50] {
                let (mut after, mut shown) = (None, Vec::new());
                for _ in 0..100 {
                    let of_shard = |shard: &Vec<u32>| page(shard, divisor, after, most);
                    let found = ListPage::merged(shards.iter().map(of_shard).collect(), most);
                    assert!(found.rows.len() <= most);
                    shown.extend(found.rows.into_iter().map(|row| row.0));
                    after = found.next;
                    if after.is_none() {
                        break;
                    }
                }
                shown.dedup();
                assert_eq!((shown, after), (all.clone(), None), "{divisor} {most}");
            }
        }
    }

    #[test]
    fn positions_are_read_as_they_are_written() {
        for odd in ["", "1", "x.a", "1.", "1.a\n"] {
            assert_eq!(odd.parse::<NewestFirst>(), Err(ListPositionError), "{odd}");
        }
    }
}
