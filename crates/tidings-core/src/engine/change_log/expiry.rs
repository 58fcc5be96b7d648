//! Maintenance of the log: lines that are older than `[log] keep` are deleted with their postings, in slices.

use std::ops::ControlFlow;

use super::line::{
    LINE_PLACE, LineRows, LineWriter, lines_of, newest_first, place_at, read, writers,
};
use crate::engine::rows::draft::Draft;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Partition, Write, after_prefix};
use crate::model::changes::ChangeLine;
use crate::model::time::{HOUR_MS, Instant};
use crate::rules::Rules;

/// The most lines that a slice deletes.
pub(crate) const SLICE_LINES: usize = 256;

/// The part of the log that is looked after here, and how far that has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineExpiry {
    /// The writers whose lines are deleted here.
    writers: Vec<u16>,
    /// The instant before which there is none any more.
    done_before: Option<Instant>,
}

impl LineExpiry {
    /// Looks after the lines of one writer.
    pub(crate) fn of(writer: u16) -> Self {
        Self { writers: vec![writer], done_before: None }
    }

    /// Also looks after those of shards that are no more, of which this one has its share.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn of_shard(view: &dyn ReadView, no: u16, shards: u16) -> Result<Self, Unreadable> {
        let mut expiry = Self::of(no);
        let is_left_over = |writer: &u16| {
            *writer != crate::model::changes::OF_INTAKE
                && *writer >= shards
                && *writer % shards == no
        };
        expiry.writers.extend(writers(view)?.into_iter().filter(is_left_over));
        Ok(expiry)
    }

    /// The instant before which lines are deleted now, by the hour; `None` = that is done.
    fn before(&self, now: Instant, rules: Option<&Rules>) -> Option<Instant> {
        let keep_ms = rules?.log.keep_ms;
        let before = Instant(now.plus_ms(-keep_ms).0.div_euclid(HOUR_MS) * HOUR_MS);
        (self.done_before != Some(before)).then_some(before)
    }
}

impl LineWriter {
    /// Returns true if [`LineWriter::chore`] may have work.
    pub(crate) fn has_chore(&self, now: Instant, rules: Option<&Rules>) -> bool {
        self.expiry.before(now, rules).is_some()
    }

    /// Deletes a slice of the lines that are too old; `None` = there are none.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn chore(
        &mut self,
        view: &dyn ReadView,
        now: Instant,
        rules: Option<&Rules>,
    ) -> Result<Option<Vec<Write>>, Unreadable> {
        let Some(before) = self.expiry.before(now, rules) else {
            return Ok(None);
        };
        for writer in &self.expiry.writers {
            let old = lines_before(view, *writer, before)?;
            if !old.is_empty() {
                let mut draft = Draft::new(view);
                old.iter().for_each(|line| LineRows(line).delete(&mut draft));
                return Ok(Some(draft.done()));
            }
        }
        self.expiry.done_before = Some(before);
        Ok(None)
    }
}

/// Some lines of a writer from before an instant.
fn lines_before(
    view: &dyn ReadView,
    writer: u16,
    before: Instant,
) -> Result<Vec<ChangeLine>, Unreadable> {
    let prefix = lines_of(writer);
    let from = newest_first(prefix.clone(), before.plus_ms(-1)).done();
    let until = after_prefix(&prefix.done());
    let mut old = Ok(Vec::new());
    view.scan(Partition::Base, &from, until.as_deref(), &mut |key, value| {
        let line = place_at(key, LINE_PLACE, writer).and_then(|id| read(id, value));
        let Ok(lines) = &mut old else {
            return ControlFlow::Break(());
        };
        match line {
            Ok(line) => lines.push(line),
            Err(odd) => {
                old = Err(odd);
                return ControlFlow::Break(());
            }
        }
        match lines.len() < SLICE_LINES {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    old
}
