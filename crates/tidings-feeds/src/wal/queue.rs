//! Rows and messages of the log that are not taken yet.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::decode::Told;
use super::slot::Place;

/// The most items that wait here; the rest waits in the log.
const ITEMS_MAX: usize = 1_000;

/// The most bytes of what waits here.
const BYTES_MAX: usize = 4 << 20;

/// Something that the log has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A row of the table.
    Row(i64),
    /// A message that is in no table.
    Message {
        /// Its place.
        place: u64,
        /// Its content.
        payload: String,
    },
    /// The end of a transaction: nothing before this place is still to come.
    End(u64),
}

/// The transaction of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The place of its commit.
    pub(super) commit: u64,
    /// The lower half of its number.
    pub(super) xid: u32,
    /// The instant of its commit.
    at: Instant,
}

/// An item, with its transaction if it is of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) what: What,
    pub(super) origin: Option<Origin>,
    bytes: usize,
}

/// Rows and messages of the log that are not taken yet, in its order.
#[derive(Debug)]
pub(super) struct Queue {
    items: VecDeque<Item>,
    bytes: usize,
    /// The transaction whose end was not told.
    open: Option<Origin>,
    /// The part of a transaction that was taken before.
    part: Option<(u64, u64)>,
}

impl Queue {
    /// An empty one, of a log that begins at a place.
    pub(super) fn from(place: Place) -> Self {
        Self { items: VecDeque::new(), bytes: 0, open: None, part: place.part }
    }

    /// Adds what the log tells. Returns a place if nothing before it is ours or still to come.
    pub(super) fn push(&mut self, told: Told, now: Instant) -> Option<u64> {
        let (what, bytes) = match told {
            Told::Alive { .. } | Told::Nothing => return None,
            Told::Begin { commit, xid, age_us } => {
                let age = Duration::from_micros(age_us.unsigned_abs());
                let at = now.checked_sub(age).unwrap_or(now);
                self.open = Some(Origin { commit, xid, at });
                return None;
            }
            Told::Row { id, bytes } => (What::Row(id), bytes),
            Told::Message { place, payload } => {
                let origin = self.open?;
                let is_taken = self.part.is_some_and(|(of, to)| of == origin.commit && place <= to);
                if is_taken {
                    return None;
                }
                let bytes = payload.len();
                (What::Message { place, payload }, bytes)
            }
            Told::Commit { end } => {
                let origin = self.open.take();
                if self.items.is_empty() {
                    return Some(end);
                }
                self.add(Item { what: What::End(end), origin, bytes: 0 });
                return None;
            }
        };
        self.add(Item { what, origin: self.open, bytes });
        None
    }

    /// Adds a row that comes before all others.
    pub(super) fn push_front(&mut self, id: i64) {
        self.items.push_front(Item { what: What::Row(id), origin: None, bytes: 0 });
    }

    fn add(&mut self, item: Item) {
        self.bytes += item.bytes;
        self.items.push_back(item);
    }

    /// Returns true if there is something to take.
    pub(super) fn has_work(&self) -> bool {
        !self.items.is_empty()
    }

    /// Returns true if the log told nothing that is still to be taken, and is in no transaction.
    pub(super) fn is_idle(&self) -> bool {
        self.items.is_empty() && self.open.is_none()
    }

    /// Returns true if what waits here is to be taken first.
    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= ITEMS_MAX || self.bytes >= BYTES_MAX
    }

    /// The instant of the commit of what waits longest here.
    pub(super) fn waits_since(&self) -> Option<Instant> {
        self.items.iter().find_map(|item| item.origin).map(|origin| origin.at)
    }

    /// All that waits.
    pub(super) fn items(&self) -> &VecDeque<Item> {
        &self.items
    }

    /// Removes the first items, which are taken.
    pub(super) fn remove(&mut self, count: usize) {
        for item in self.items.drain(..count.min(self.items.len())) {
            self.bytes -= item.bytes;
        }
    }
}

/// The place after the first items of a queue.
pub(super) fn place_after<'i>(place: Place, items: impl IntoIterator<Item = &'i Item>) -> Place {
    let mut after = place;
    for Item { what, origin, .. } in items {
        match (what, origin) {
            (What::End(end), _) => after = Place { to: *end, part: None },
            (What::Message { place, .. }, Some(origin)) => {
                after.part = Some((origin.commit, *place));
            }
            (What::Message { .. } | What::Row(_), _) => {}
        }
    }
    after
}

/// Returns true if a transaction is not visible yet to a snapshot as PostgreSQL writes it, `xmin:xmax:xip,…`: the log
/// tells a commit before its session, or a standby that it waits for, has done with it.
pub(super) fn is_hidden(snapshot: &str, xid: u32) -> bool {
    let lower = |text: &str| {
        let number: u64 = text.parse().ok()?;
        u32::try_from(number & u64::from(u32::MAX)).ok()
    };
    let mut parts = snapshot.split(':').skip(1);
    let Some(end) = parts.next().and_then(lower) else {
        return true;
    };
    // Numbers go round: those up to 2^31 ahead are later.
    let is_later = xid.wrapping_sub(end).cast_signed() >= 0;
    let running = parts.next().unwrap_or_default();
    is_later || running.split(',').any(|one| lower(one) == Some(xid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(part: Option<(u64, u64)>, told: &[Told]) -> (Queue, Vec<u64>) {
        let mut queue = Queue::from(Place { to: 5, part });
        let now = Instant::now();
        let ends = told.iter().filter_map(|told| queue.push(told.clone(), now)).collect();
        (queue, ends)
    }

    fn begin(commit: u64) -> Told {
        Told::Begin { commit, xid: 7, age_us: 3 }
    }

    fn row(id: i64) -> Told {
        Told::Row { id, bytes: 10 }
    }

    fn message(place: u64) -> Told {
        Told::Message { place, payload: "{}".to_owned() }
    }

    fn whats(queue: &Queue) -> Vec<What> {
        queue.items().iter().map(|item| item.what.clone()).collect()
    }

    #[test]
    fn a_transaction_without_our_rows_is_passed_at_once() {
        let (queue, ends) = queue(None, &[begin(9), Told::Nothing, Told::Commit { end: 10 }]);
        assert_eq!(ends, [10]);
        assert!(queue.is_idle());
    }

    #[test]
    fn a_transaction_that_has_begun_is_not_idle() {
        let (queue, _) = queue(None, &[begin(9)]);
        assert!(!queue.is_idle() && !queue.has_work());
    }

    #[test]
    fn the_place_follows_what_is_taken() {
        let told = [begin(90), row(1), message(60), message(70), Told::Commit { end: 100 }];
        let (mut queue, ends) = queue(None, &told);
        assert!(ends.is_empty());
        let start = Place { to: 5, part: None };
        let after = |count| place_after(start, queue.items().iter().take(count));
        assert_eq!(after(1), start);
        assert_eq!(after(2), Place { to: 5, part: Some((90, 60)) });
        assert_eq!(after(3), Place { to: 5, part: Some((90, 70)) });
        assert_eq!(after(4), Place { to: 100, part: None });
        queue.remove(4);
        assert!(queue.is_idle() && queue.bytes == 0);
    }

    #[test]
    fn messages_that_were_taken_are_left_out_of_their_transaction_alone() {
        let told = [
            begin(90),
            message(60),
            message(70),
            Told::Commit { end: 100 },
            begin(95),
            message(65),
        ];
        let (queue, _) = queue(Some((90, 60)), &told);
        let place = |place| What::Message { place, payload: "{}".to_owned() };
        assert_eq!(whats(&queue), [place(70), What::End(100), place(65)]);
    }

    #[test]
    fn a_snapshot_hides_what_runs_and_what_is_later() {
        for (snapshot, xid, hides) in [
            ("100:100:", 99, false),
            ("100:100:", 100, true),
            ("95:100:95,97", 95, true),
            ("95:100:95,97", 96, false),
            ("95:100:95,97", 97, true),
            // The second round of numbers.
            ("4294967300:4294967310:4294967301", 5, true),
            ("4294967300:4294967310:4294967301", 6, false),
            ("4294967300:4294967310:", u32::MAX, false),
            ("4294967290:4294967290:", 3, true),
            ("", 3, true),
        ] {
            assert_eq!(is_hidden(snapshot, xid), hides, "{snapshot} {xid}");
        }
    }
}
