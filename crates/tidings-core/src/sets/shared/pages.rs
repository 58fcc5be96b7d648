//! Values by number, in pages that are allocated on first write and shared between clones.

use std::sync::Arc;

use super::copied;

/// Number of values in a page.
pub(crate) const PAGE: u32 = 256;

/// Values by number; one that was never written is the default.
#[derive(Clone, Debug)]
pub(crate) struct Pages<T>(Vec<Option<Arc<[T]>>>);

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pages<T> {
    /// The value of a number; `None` = its page was never written.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        let page = self.page(number / PAGE)?;
        page.get((number % PAGE) as usize)
    }

    /// A page, if it was ever written.
    #[inline]
    pub(crate) fn page(&self, page: u32) -> Option<&Arc<[T]>> {
        self.0.get(page as usize)?.as_ref()
    }

    /// Bytes of memory used by the pages.
    pub(crate) fn bytes(&self) -> usize {
        let pages = self.0.iter().flatten().count();
        pages * PAGE as usize * size_of::<T>() + self.0.capacity() * size_of::<Option<Arc<[T]>>>()
    }
}

impl<T: Clone + Default> Pages<T> {
    /// A mutable reference to a number's value. The first write after a clone copies the page.
    #[inline]
    pub(crate) fn at(&mut self, number: u32) -> &mut T {
        &mut self.page_mut(number / PAGE)[(number % PAGE) as usize]
    }

    /// The values of a page to be changed. The first call after a clone copies the page.
    #[inline]
    pub(crate) fn page_mut(&mut self, page: u32) -> &mut [T] {
        let at = page as usize;
        if at >= self.0.len() {
            self.0.resize_with(at + 1, || None);
        }
        let page = self.0[at].get_or_insert_with(|| vec![T::default(); PAGE as usize].into());
        if Arc::strong_count(page) > 1 {
            copied::count(size_of_val(&**page));
        }
        Arc::make_mut(page)
    }
}
