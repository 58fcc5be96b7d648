//! The rows of the index of messages, newest first, of all shards that wrote some.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::engine::message::message_index::{newest_first, tagged};
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Key, Owner, Partition, REST, Table, after_prefix, i64_at, u16_at};
use crate::model::time::{Day, Instant};

/// The most rows that are read together.
const TOGETHER: usize = 64;

/// The bytes of a shard's number and of an instant in a key.
const SHARD_BYTES: usize = 2;
const INSTANT_BYTES: usize = 8;

/// True for a tag that is wanted.
type TagTest<'a> = Box<dyn Fn(&[u8]) -> bool + 'a>;

/// The tags of the rows that are wanted.
pub(super) enum WantedTags<'a> {
    /// These.
    These(Vec<Vec<u8>>),
    /// Those of this length that pass.
    Passing(usize, TagTest<'a>),
}

/// A row of the index.
#[derive(Debug)]
pub(super) struct DueRow {
    /// The instant in its key.
    pub(super) at: Instant,
    /// The rest of its key, after the instant.
    pub(super) rest: Vec<u8>,
    /// Its value.
    pub(super) value: Vec<u8>,
}

/// Rows of a table with some tags. The instants that are asked for go back in time.
pub(super) struct DueRows<'a> {
    view: &'a dyn ReadView,
    table: Table,
    tags: WantedTags<'a>,
    /// True if a value may need several rows.
    is_chunked: bool,
    /// The days that are still to be visited, the newest last.
    days: Vec<Day>,
    /// The day that is visited, and its rows by shard and tag.
    day: Option<(Day, Vec<TaggedRows>)>,
}

/// The rows of a day by a shard with a tag.
struct TaggedRows {
    prefix: Vec<u8>,
    /// The rows that were read and not taken.
    rows: VecDeque<DueRow>,
    /// The key from which to read on; `None` = all were read.
    next: Option<Vec<u8>>,
}

impl<'a> DueRows<'a> {
    /// The rows of these days, which ascend.
    pub(super) fn new(
        view: &'a dyn ReadView,
        table: Table,
        tags: WantedTags<'a>,
        days: impl IntoIterator<Item = Day>,
    ) -> Self {
        let days = days.into_iter().collect();
        Self { view, table, tags, is_chunked: table == Table::Unsent, days, day: None }
    }

    /// The newest instant of a row at or before this one.
    pub(super) fn newest(&mut self, at: Instant) -> Result<Option<Instant>, Unreadable> {
        loop {
            if let Some((day, strands)) = &mut self.day {
                let mut newest = None;
                for strand in strands {
                    newest = newest.max(strand.newest(self.view, *day, at, self.is_chunked)?);
                }
                if newest.is_some() {
                    return Ok(newest);
                }
            }
            let Some(day) = self.days.pop() else {
                return Ok(None);
            };
            if day <= at.day() {
                self.day = Some((day, self.strands(day)?));
            }
        }
    }

    /// Takes the rows of the instant that [`DueRows::newest`] gave.
    pub(super) fn take(&mut self, at: Instant) -> Result<Vec<DueRow>, Unreadable> {
        let mut rows = Vec::new();
        if let Some((day, strands)) = &mut self.day {
            for strand in strands {
                while strand.newest(self.view, *day, at, self.is_chunked)? == Some(at) {
                    rows.extend(strand.rows.pop_front());
                }
            }
        }
        Ok(rows)
    }

    fn strands(&self, day: Day) -> Result<Vec<TaggedRows>, Unreadable> {
        let mut prefixes = Vec::new();
        let of_table = Key::of(Owner::Shard, self.table).done();
        for of_shard in self.prefixes(day, &of_table, SHARD_BYTES)? {
            let shard = u16_at(&of_shard, REST).unwrap_or_default();
            match &self.tags {
                WantedTags::These(tags) => {
                    let of_tag = tags.iter().map(|tag| tagged(self.table, shard, tag).done());
                    prefixes.extend(of_tag);
                }
                WantedTags::Passing(len, passes) => {
                    let of_tag = self.prefixes(day, &of_shard, *len)?.into_iter();
                    prefixes.extend(of_tag.filter(|prefix| passes(&prefix[of_shard.len()..])));
                }
            }
        }
        let strand = |prefix: Vec<u8>| TaggedRows {
            next: Some(prefix.clone()),
            rows: VecDeque::new(),
            prefix,
        };
        Ok(prefixes.into_iter().map(strand).collect())
    }

    /// The prefixes of a day's keys that are longer than `prefix` by some bytes: a seek for each, and no walk.
    fn prefixes(&self, day: Day, prefix: &[u8], longer: usize) -> Result<Vec<Vec<u8>>, Unreadable> {
        let (mut found, until) = (Vec::new(), after_prefix(prefix));
        let mut from = Some(prefix.to_vec());
        while let Some(start) = from.take() {
            let mut first = None;
            self.view.scan(Partition::Day(day), &start, until.as_deref(), &mut |key, _| {
                first = key.get(..prefix.len() + longer).map(<[u8]>::to_vec);
                ControlFlow::Break(())
            })?;
            if let Some(first) = first {
                from = after_prefix(&first).filter(|next| next.starts_with(prefix));
                found.push(first);
            }
        }
        Ok(found)
    }
}

impl TaggedRows {
    /// The instant of its first row at or before this one; those after it are passed over.
    fn newest(
        &mut self,
        view: &dyn ReadView,
        day: Day,
        at: Instant,
        is_chunked: bool,
    ) -> Result<Option<Instant>, Unreadable> {
        loop {
            while self.rows.front().is_some_and(|row| row.at > at) {
                self.rows.pop_front();
            }
            if let Some(row) = self.rows.front() {
                return Ok(Some(row.at));
            }
            let Some(next) = self.next.take() else {
                return Ok(None);
            };
            let mut first = self.prefix.clone();
            // Keys of later instants come before this one.
            first.extend_from_slice(&newest_first(at));
            self.read(view, day, &first.max(next), is_chunked)?;
        }
    }

    fn read(
        &mut self,
        view: &dyn ReadView,
        day: Day,
        from: &[u8],
        is_chunked: bool,
    ) -> Result<(), Unreadable> {
        let (partition, until) = (Partition::Day(day), after_prefix(&self.prefix));
        let (mut last, mut fault) = (Vec::new(), Ok(()));
        let offset = self.prefix.len();
        let rows = &mut self.rows;
        view.scan(partition, from, until.as_deref(), &mut |key, value| {
            let value = if is_chunked {
                chunks::whole(key, value, |key| view.get(partition, key))
                    .map(std::borrow::Cow::into_owned)
            } else {
                Ok(value.to_vec())
            };
            match (i64_at(key, offset), value) {
                (Some(negated), Ok(value)) => rows.push_back(DueRow {
                    at: Instant(negated.saturating_neg()),
                    rest: key[offset + INSTANT_BYTES..].to_vec(),
                    value,
                }),
                (_, Err(unreadable)) => fault = Err(unreadable),
                (None, _) => fault = Err(Unreadable("a key of the index is odd".to_owned())),
            }
            last = key.to_vec();
            if fault.is_ok() && rows.len() < TOGETHER {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        fault?;
        if self.rows.len() >= TOGETHER {
            last.push(0);
            self.next = Some(last);
        }
        Ok(())
    }
}
