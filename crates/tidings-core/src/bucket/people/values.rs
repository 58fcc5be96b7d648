//! Values by recipient number: in pages where anybody may have one, one by one where few have.

use roaring::RoaringBitmap;

use super::column::NumberedColumn;
use crate::sets::shared::Tree;

/// Values by number. A value that was never written reads as the default.
#[derive(Clone, Debug)]
pub(crate) enum Values<T> {
    /// Pages of a lane that anybody may wait in.
    Pages(NumberedColumn<T>),
    /// The values of a lane of few recipients.
    Few(Tree<u32, T>),
}

impl<T: Copy + Default> Values<T> {
    pub(crate) fn pages() -> Self {
        Self::Pages(NumberedColumn::default())
    }

    pub(crate) fn few() -> Self {
        Self::Few(Tree::new())
    }

    /// The value of a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> T {
        match self {
            Self::Pages(column) => column.get(number),
            Self::Few(values) => values.get(&number).copied().unwrap_or_default(),
        }
    }

    /// A mutable reference to a number's value.
    #[inline]
    pub(crate) fn at(&mut self, number: u32) -> &mut T {
        match self {
            Self::Pages(column) => column.at(number),
            Self::Few(values) => values.or_default(number),
        }
    }

    /// Changes the values of numbers in ascending order.
    #[inline]
    pub(crate) fn change(
        &mut self,
        numbers: impl IntoIterator<Item = u32>,
        mut change: impl FnMut(u32, &mut T),
    ) {
        match self {
            Self::Pages(column) => column.change(numbers, change),
            Self::Few(values) => {
                for number in numbers {
                    change(number, values.or_default(number));
                }
            }
        }
    }

    /// Returns true if nothing was ever written to the pages, or there is no value of few.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Pages(column) => column.is_empty(),
            Self::Few(values) => values.is_empty(),
        }
    }

    /// Drops values that are not read again. Pages keep them, as dropping them is not worth a write.
    pub(crate) fn drop_all(&mut self, numbers: impl IntoIterator<Item = u32>) {
        if let Self::Few(values) = self {
            for number in numbers {
                values.remove(&number);
            }
        }
    }

    /// The values of few recipients, by number; none of those in pages.
    pub(crate) fn few_values(&self) -> impl Iterator<Item = (u32, T)> {
        let few = match self {
            Self::Pages(_) => None,
            Self::Few(values) => Some(values),
        };
        few.into_iter().flat_map(Tree::iter).map(|(number, value)| (*number, *value))
    }

    /// The numbers whose value is as wanted; the default never is.
    pub(crate) fn numbers_where(&self, is_wanted: impl Fn(&T) -> bool) -> RoaringBitmap {
        match self {
            Self::Pages(column) => column.numbers_where(is_wanted),
            Self::Few(values) => values
                .iter()
                .filter(|(_, value)| is_wanted(value))
                .map(|(number, _)| *number)
                .collect(),
        }
    }

    /// The pages, if it has any.
    pub(crate) fn column(&self) -> Option<&NumberedColumn<T>> {
        match self {
            Self::Pages(column) => Some(column),
            Self::Few(_) => None,
        }
    }

    /// [`Values::column`] to be changed.
    pub(crate) fn column_mut(&mut self) -> Option<&mut NumberedColumn<T>> {
        match self {
            Self::Pages(column) => Some(column),
            Self::Few(_) => None,
        }
    }

    /// A copy of the values that is not stored yet.
    pub(crate) fn copied(&self) -> Self {
        match self {
            Self::Pages(column) => Self::Pages(column.copied()),
            Self::Few(values) => Self::Few(values.clone()),
        }
    }

    /// Bytes of memory used, roughly.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Pages(column) => column.bytes(),
            Self::Few(values) => values.len() * size_of::<(u32, T)>(),
        }
    }
}
