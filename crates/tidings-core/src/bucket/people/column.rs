//! A column of small values by recipient number, in pages that are allocated on first write.
//!
//! A checkpoint takes a while to be written, and must show the column as it was when it began. So
//! the column can be *frozen*: pages that changed since the last time are to be written, and whoever
//! writes to one of them meanwhile leaves a copy of what it was.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

pub(crate) use crate::sets::shared::PAGE;
use crate::sets::shared::Pages;

/// A column: values by number. A value that was never written reads as the default.
#[derive(Clone, Debug)]
pub(crate) struct Column<T> {
    pages: Pages<T>,
    states: Vec<State>,
    /// Copies of frozen pages that were written to since.
    kept: BTreeMap<u32, Arc<[T]>>,
    /// Pages whose newest row in the store is of the odd generation: a checkpoint writes over the
    /// row that the one before does not need.
    odd: RoaringBitmap,
}

/// The state of a page in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The store has its newest values, or there are none.
    #[default]
    Clean,
    /// The store has older values.
    Dirty,
    /// The store has older values; the frozen ones are still to be written and are unchanged.
    Frozen,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self {
            pages: Pages::default(),
            states: Vec::new(),
            kept: BTreeMap::new(),
            odd: RoaringBitmap::new(),
        }
    }
}

impl<T: Copy + Default> Column<T> {
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
        if self.states.get(page as usize) != Some(&State::Dirty) {
            self.before_write(page as usize);
        }
        self.pages.page_mut(page)
    }

    /// Changes the values of numbers in ascending order. A page is looked up once for those in it: to find that nobody
    /// shares it takes longer than to change a value.
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
    fn before_write(&mut self, at: usize) {
        if self.states.len() <= at {
            self.states.resize(at + 1, State::Clean);
        }
        if let (State::Frozen, Some(page)) = (self.states[at], self.pages.page(page_no(at))) {
            self.kept.insert(page_no(at), Arc::clone(page));
        }
        self.states[at] = State::Dirty;
    }

    /// Tells whether nothing was ever written to it.
    pub(crate) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The numbers whose value is as wanted; the default never is.
    pub(crate) fn numbers_where(&self, is_wanted: impl Fn(&T) -> bool) -> RoaringBitmap {
        let pages = (0..self.states.len()).map(page_no);
        let values = pages.flat_map(|no| {
            let page = self.pages.page(no).into_iter();
            (no * PAGE..).zip(page.flat_map(|page| page.iter()))
        });
        let wanted = values.filter(|(_, value)| is_wanted(value));
        wanted.map(|(number, _)| number).collect()
    }

    /// A copy of the values as a column that is not stored yet.
    pub(crate) fn copied(&self) -> Self {
        let state = |at: usize| match self.pages.page(page_no(at)) {
            Some(_) => State::Dirty,
            None => State::Clean,
        };
        Self {
            states: (0..self.states.len()).map(state).collect(),
            pages: self.pages.clone(),
            kept: BTreeMap::new(),
            odd: RoaringBitmap::new(),
        }
    }

    /// Freezes the pages changed since the last freeze and returns them. Each is to be settled before the
    /// next freeze.
    pub(crate) fn freeze(&mut self) -> Vec<u32> {
        debug_assert!(self.kept.is_empty(), "the freeze before was settled");
        let mut frozen = Vec::new();
        for (at, state) in self.states.iter_mut().enumerate() {
            if *state == State::Dirty {
                *state = State::Frozen;
                frozen.push(page_no(at));
            }
        }
        frozen
    }

    /// The values of a frozen page, with their numbers.
    pub(crate) fn frozen(&self, page: u32) -> impl Iterator<Item = (u32, T)> {
        let kept = self.kept.get(&page);
        let values = kept.or_else(|| self.pages.page(page));
        (page * PAGE..).zip(values.into_iter().flat_map(|page| page.iter().copied()))
    }

    /// The generation of the row that a page is written to next.
    pub(crate) fn next_generation(&self, page: u32) -> u8 {
        u8::from(!self.odd.contains(page))
    }

    /// Marks a frozen page as done: its row is written, or it has nothing to write.
    pub(crate) fn settle(&mut self, page: u32, written: bool) {
        self.kept.remove(&page);
        if let Some(state @ State::Frozen) = self.states.get_mut(page as usize) {
            *state = State::Clean;
        }
        if written && !self.odd.remove(page) {
            self.odd.insert(page);
        }
    }

    /// The pages whose newest row is of the odd generation.
    pub(crate) fn odd(&self) -> &RoaringBitmap {
        &self.odd
    }

    /// Marks all values as stored: the column was read from the store.
    pub(crate) fn restored(&mut self, odd: RoaringBitmap) {
        self.states.fill(State::Clean);
        self.odd = odd;
    }

    /// Bytes of memory used by the pages.
    pub(crate) fn bytes(&self) -> usize {
        let kept = self.kept.len() * PAGE as usize * size_of::<T>();
        kept + self.pages.bytes() + self.states.capacity() + self.odd.serialized_size()
    }
}

fn page_no(at: usize) -> u32 {
    u32::try_from(at).expect("a page has a smaller number than its recipients")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(column: &Column<u64>, page: u32) -> Vec<(u32, u64)> {
        column
            .frozen(page)
            .filter(|(_, value)| *value > 0)
            .collect()
    }

    #[test]
    fn a_frozen_page_stays_as_it_was() {
        let mut column = Column::<u64>::default();
        *column.at(3) = 30;
        *column.at(700) = 70;
        assert_eq!(column.freeze(), [0, 2]);
        *column.at(3) = 31;
        *column.at(4) = 40;
        *column.at(300) = 50;
        assert_eq!(of(&column, 0), [(3, 30)]);
        assert_eq!(of(&column, 2), [(700, 70)]);
        assert_eq!((column.get(3), column.get(4)), (31, 40));
        assert_eq!(column.next_generation(0), 1);
        column.settle(0, true);
        column.settle(2, true);
        assert_eq!(column.next_generation(0), 0);
        assert_eq!(
            column.freeze(),
            [0, 1],
            "what was written to since, and nothing else"
        );
        assert_eq!(of(&column, 0), [(3, 31), (4, 40)]);
    }

    #[test]
    fn what_was_read_or_copied_is_known_or_not() {
        let mut column = Column::<u64>::default();
        *column.at(3) = 30;
        column.restored([0].into_iter().collect());
        assert!(column.freeze().is_empty());
        assert_eq!(column.next_generation(0), 0);
        let mut copy = column.copied();
        assert_eq!(copy.freeze(), [0]);
        assert_eq!(copy.next_generation(0), 1);
    }
}
