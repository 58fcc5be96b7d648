//! A column of small values by recipient number, in pages that come into being when first written.

/// Values by number. What was never written reads as the default.
#[derive(Clone, Debug)]
pub(crate) struct Column<T> {
    pages: Vec<Option<Box<[T]>>>,
}

/// Values in a page.
const PAGE: usize = 256;

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { pages: Vec::new() }
    }
}

impl<T: Copy + Default> Column<T> {
    /// The value of a number.
    pub(crate) fn get(&self, number: u32) -> T {
        let at = number as usize;
        match self.pages.get(at / PAGE) {
            Some(Some(page)) => page[at % PAGE],
            _ => T::default(),
        }
    }

    /// The place of a number's value, to be written.
    pub(crate) fn at(&mut self, number: u32) -> &mut T {
        let at = number as usize;
        if self.pages.len() <= at / PAGE {
            self.pages.resize_with(at / PAGE + 1, || None);
        }
        let page = &mut self.pages[at / PAGE];
        &mut page.get_or_insert_with(|| vec![T::default(); PAGE].into())[at % PAGE]
    }

    /// Every value of every page that was ever written to.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, T)> {
        let pages = self.pages.iter().enumerate();
        pages
            .filter_map(|(at, page)| Some((at, page.as_ref()?)))
            .flat_map(|(at, page)| {
                let first = u32::try_from(at * PAGE).unwrap_or(u32::MAX);
                (first..).zip(page.iter().copied())
            })
    }

    /// Bytes of memory that the pages take.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.iter().flatten().count() * PAGE * size_of::<T>()
            + self.pages.capacity() * size_of::<Option<Box<[T]>>>()
    }
}
