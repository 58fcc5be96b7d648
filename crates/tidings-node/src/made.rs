//! Messages that are made and wait for room with those who send: readied a few at a time.
//!
//! A slice of messages is durable at once, because one commit for many is cheap. What they say is
//! read and put together only as the senders take them, so that a slice of long mails never lies in
//! memory whole, nor keeps others waiting.

use std::collections::VecDeque;

use tidings_core::engine::{Plan, Seen};

use crate::Error;
use crate::delivery::Parcel;
use crate::node::Node;

/// A slice of messages, as far as it was not handed out.
#[derive(Debug, Default)]
pub(crate) struct Made {
    plans: VecDeque<Plan>,
    /// The first letter of the first plan that was not handed out.
    next: usize,
    seen: Seen,
}

impl Made {
    /// A slice of which nothing was handed out.
    pub(crate) fn of(plans: Vec<Plan>) -> Self {
        Self {
            plans: plans.into(),
            next: 0,
            seen: Seen::default(),
        }
    }

    /// Whether everything was handed out.
    pub(crate) fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }

    /// Readies the next messages, of so many letters at most.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read.
    pub(crate) fn present(&mut self, node: &Node, most: usize) -> Result<Vec<Parcel>, Error> {
        let mut parcels = Vec::new();
        let mut room = most;
        while let Some(plan) = self.plans.front() {
            let end = plan.letters.len().min(self.next.saturating_add(room));
            let batches = node.present_some(plan, self.next..end, &mut self.seen)?;
            let letters = batches.into_iter();
            parcels.extend(letters.map(|(at, batch)| Parcel::new(plan, &plan.letters[at], batch)));
            room -= end - self.next;
            self.next = end;
            if end < plan.letters.len() {
                return Ok(parcels);
            }
            self.plans.pop_front();
            self.next = 0;
        }
        self.seen = Seen::default();
        Ok(parcels)
    }
}
