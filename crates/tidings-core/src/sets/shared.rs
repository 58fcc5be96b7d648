//! State that is cheap to clone, so that reads run in parallel to the writer.
//!
//! A reader gets a clone of the engine after a step. Clones share everything; the next writer copies only what it
//! touches: an entry with its neighbours, a page, a set.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

mod pages;
mod tree;

/// Counts the bytes that are copied because a clone still has them, in tests.
#[cfg(not(test))]
mod copied {
    pub(super) fn count(_: usize) {}
}

#[cfg(test)]
pub(crate) mod copied {
    thread_local! {
        static BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    pub(super) fn count(bytes: usize) {
        BYTES.set(BYTES.get() + bytes);
    }

    /// The bytes that this thread has copied since the last call.
    pub(crate) fn take() -> usize {
        BYTES.replace(0)
    }
}

pub(crate) use pages::{PAGE, Pages};
pub(crate) use tree::Tree;

/// A value that clones share until one of them writes to it.
#[derive(Debug, Default)]
pub(crate) struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: Clone> Shared<T> {
    /// The value, copied if a clone still has it.
    pub(crate) fn into_inner(self) -> T {
        Arc::unwrap_or_clone(self.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        if Arc::strong_count(&self.0) > 1 {
            copied::count(size_of::<T>());
        }
        Arc::make_mut(&mut self.0)
    }
}

/// State of the writer alone: a clone has none of it.
#[derive(Debug, Default)]
pub(crate) struct WriterOnly<T>(pub(crate) T);

impl<T: Default> Clone for WriterOnly<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> Deref for WriterOnly<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for WriterOnly<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
