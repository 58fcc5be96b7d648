//! A column of small values by recipient number, in pages that are allocated on first write.
//!
//! A checkpoint takes a while to be written, and must show the column as it was when it began: it reads a
//! clone, and the column goes on with the list of what changes from then on.

use roaring::RoaringBitmap;

pub(crate) use crate::sets::shared::PAGE;
use crate::sets::shared::Pages;

/// A column: values by number. A value that was never written reads as the default.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberedColumn<T> {
    pages: Pages<T>,
    /// By page, true if its values changed since a checkpoint began last.
    dirty: Vec<bool>,
    /// Pages whose newest row is of the odd generation: a checkpoint writes over the row that the
    /// one before does not need.
    odd: RoaringBitmap,
}

impl<T: Copy + Default> NumberedColumn<T> {
    /// The value of a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> T {
        self.pages.get(number).copied().unwrap_or_default()
    }

    /// A mutable reference to a number's value.
    #[inline]
    pub(crate) fn at(&mut self, number: u32) -> &mut T {
        &mut self.page_mut(number / PAGE)[(number % PAGE) as usize]
    }

    /// The values of a page to be changed.
    #[inline]
    fn page_mut(&mut self, page: u32) -> &mut [T] {
        if self.dirty.get(page as usize) != Some(&true) {
            self.before_write(page as usize);
        }
        self.pages.page_mut(page)
    }

    /// Changes the values of numbers in ascending order. A page is looked up once for the numbers in it: checking that
    /// it is not shared takes longer than changing a value.
    #[inline]
    pub(crate) fn change(
        &mut self,
        numbers: impl IntoIterator<Item = u32>,
        mut change: impl FnMut(u32, &mut T),
    ) {
        let mut numbers = numbers.into_iter().peekable();
        while let Some(first) = numbers.peek() {
            let no = first / PAGE;
            let page = self.page_mut(no);
            while let Some(number) = numbers.next_if(|number| number / PAGE == no) {
                change(number, &mut page[(number % PAGE) as usize]);
            }
        }
    }

    #[cold]
    fn before_write(&mut self, index: usize) {
        if self.dirty.len() <= index {
            self.dirty.resize(index + 1, false);
        }
        self.dirty[index] = true;
    }

    /// Returns true if nothing was ever written to it.
    pub(crate) fn is_empty(&self) -> bool {
        self.dirty.is_empty()
    }

    /// The numbers whose value is as wanted; the default never is.
    pub(crate) fn numbers_where(&self, is_wanted: impl Fn(&T) -> bool) -> RoaringBitmap {
        (0..self.dirty.len())
            .map(page_no)
            .flat_map(|no| self.page(no))
            .filter(|(_, value)| is_wanted(value))
            .map(|(number, _)| number)
            .collect()
    }

    /// A copy of the values as a column that is not stored yet.
    pub(crate) fn copied(&self) -> Self {
        let is_there = |index: usize| self.pages.page(page_no(index)).is_some();
        Self {
            dirty: (0..self.dirty.len()).map(is_there).collect(),
            pages: self.pages.clone(),
            odd: RoaringBitmap::new(),
        }
    }

    /// The pages that changed since the last call and are wanted. Each has its next row under the other generation,
    /// with the values of a clone that is made now.
    pub(crate) fn take_dirty(&mut self, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let pages: Vec<u32> = self
            .dirty
            .iter_mut()
            .enumerate()
            .filter_map(|(at, dirty)| std::mem::take(dirty).then(|| page_no(at)))
            .filter(|page| is_wanted(*page))
            .collect();
        self.odd ^= pages.iter().copied().collect::<RoaringBitmap>();
        pages
    }

    /// The values of a page, with their numbers.
    pub(crate) fn page(&self, page: u32) -> impl Iterator<Item = (u32, &T)> {
        (page * PAGE..).zip(self.pages.page(page).into_iter().flat_map(|page| page.iter()))
    }

    /// The pages whose newest row is of the odd generation.
    pub(crate) fn odd(&self) -> &RoaringBitmap {
        &self.odd
    }

    /// Marks all values as stored: the column was read from the store.
    pub(crate) fn restored(&mut self, odd: RoaringBitmap) {
        self.dirty.fill(false);
        self.odd = odd;
    }

    /// Bytes of memory used by the pages.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.bytes() + self.dirty.capacity() + self.odd.serialized_size()
    }
}

fn page_no(index: usize) -> u32 {
    u32::try_from(index).expect("a page has a smaller number than its recipients")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(column: &NumberedColumn<u64>, page: u32) -> Vec<(u32, u64)> {
        column
            .page(page)
            .filter(|(_, value)| **value > 0)
            .map(|(number, value)| (number, *value))
            .collect()
    }

    #[test]
    fn a_clone_stays_as_it_was_while_changes_go_on_and_are_listed() {
        let mut column = NumberedColumn::<u64>::default();
        *column.at(3) = 30;
        *column.at(700) = 70;
        assert_eq!(column.take_dirty(|_| true), [0, 2]);
        let begun = column.clone();
        *column.at(3) = 31;
        *column.at(4) = 40;
        *column.at(300) = 50;
        assert_eq!(of(&begun, 0), [(3, 30)]);
        assert_eq!(of(&begun, 2), [(700, 70)]);
        assert!(begun.odd().iter().eq([0, 2]));
        assert_eq!((column.get(3), column.get(4)), (31, 40));
        let changed = column.take_dirty(|_| true);
        assert_eq!(changed, [0, 1], "what was written to since, and nothing else");
        assert_eq!(of(&column, 0), [(3, 31), (4, 40)]);
        assert!(column.odd().iter().eq([1, 2]), "the row before stays");
    }

    #[test]
    fn a_page_that_has_no_row_keeps_its_generation() {
        let mut column = NumberedColumn::<u64>::default();
        *column.at(3) = 30;
        *column.at(300) = 50;
        assert_eq!(column.take_dirty(|page| page == 1), [1]);
        assert!(column.odd().iter().eq([1]));
        assert!(column.take_dirty(|_| true).is_empty());
    }

    #[test]
    fn what_was_read_or_copied_is_known_or_not() {
        let mut column = NumberedColumn::<u64>::default();
        *column.at(3) = 30;
        column.restored([0].into_iter().collect());
        assert!(column.take_dirty(|_| true).is_empty());
        assert!(column.odd().contains(0));
        let mut copy = column.copied();
        assert_eq!(copy.take_dirty(|_| true), [0]);
        assert!(copy.odd().contains(0));
    }
}
