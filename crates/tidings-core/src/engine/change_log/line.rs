//! Rows of lines and of their postings, and the state of their writers.

use std::ops::ControlFlow;

use xxhash_rust::xxh3::xxh3_64;

use super::expiry::LineExpiry;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::{ReadView, Unreadable, from_json, to_json};
use crate::journal::table::{
    Key, Owner, Partition, REST, Table, after_prefix, i64_at, u16_at, u32_at,
};
use crate::model::changes::{Author, ChangeId, ChangeLine, ChangeSubject, OF_INTAKE};
use crate::model::id::Id;
use crate::model::time::Instant;

/// The owner of the rows of a writer of lines: a shard, by its number, or the intake.
pub(crate) fn owner_of(writer: u16) -> Owner {
    if writer == OF_INTAKE { Owner::Intake } else { Owner::Shard }
}

/// The key that the rows of a writer's lines begin with.
pub(crate) fn lines_of(writer: u16) -> Key {
    Key::of(owner_of(writer), Table::Changes).u16(writer)
}

/// The key that the postings of a writer and a term begin with.
pub(crate) fn postings_of(writer: u16, term: Term) -> Key {
    Key::of(owner_of(writer), Table::ChangesBy).u16(writer).u64(term.0)
}

/// Appends an instant so that the newest comes first.
pub(crate) fn newest_first(key: Key, at: Instant) -> Key {
    key.i64(!at.0)
}

/// Appends the place of a line among those of its writer.
pub(crate) fn place(key: Key, id: ChangeId) -> Key {
    newest_first(key, id.at).u32(id.number)
}

/// Reads the place at an offset of a key.
///
/// # Errors
/// [`Unreadable`] where the key is too short.
pub(crate) fn place_at(key: &[u8], offset: usize, owner: u16) -> Result<ChangeId, Unreadable> {
    let place = i64_at(key, offset).zip(u32_at(key, offset + 8));
    let (at, number) = place.ok_or_else(|| Unreadable("a key of a change is odd".to_owned()))?;
    Ok(ChangeId { at: Instant(!at), owner, number })
}

/// The offset of the place in the key of a line.
pub(crate) const LINE_PLACE: usize = REST + 2;

/// The offset of the place in the key of a posting.
pub(crate) const POSTING_PLACE: usize = LINE_PLACE + 8;

/// A property by which lines are found, as a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term(u64);

impl Term {
    fn of(parts: &[&str]) -> Self {
        // No part has a control character.
        Self(xxh3_64(parts.join("\n").as_bytes()))
    }

    pub(crate) fn author(by: &Author) -> Self {
        Self::of(&["by", by.kind.word(), &by.id])
    }

    pub(crate) fn action(action: &str) -> Self {
        Self::of(&["action", action])
    }

    pub(crate) fn subject(subject: &ChangeSubject) -> Self {
        Self::of(&["subject", subject.kind.word(), subject.id.as_deref().unwrap_or_default()])
    }

    pub(crate) fn tenant(tenant: &Id) -> Self {
        Self::of(&["tenant", tenant.as_str()])
    }

    /// The terms of a line.
    pub(crate) fn all(line: &ChangeLine) -> impl Iterator<Item = Self> {
        let subject = line.subject.id.is_some().then(|| Self::subject(&line.subject));
        let tenant = line.tenant.as_ref().map(Self::tenant);
        [Self::author(&line.by), Self::action(&line.action)]
            .into_iter()
            .chain(subject)
            .chain(tenant)
    }
}

/// The rows of a line: itself and its postings.
pub(crate) struct LineRows<'l>(pub(crate) &'l ChangeLine);

impl LineRows<'_> {
    /// Writes them.
    pub(crate) fn put(self, draft: &mut Draft<'_>) {
        let Self(line) = self;
        draft.put(Partition::Base, place(lines_of(line.id.owner), line.id).done(), to_json(line));
        self.postings().for_each(|key| draft.put(Partition::Base, key, Vec::new()));
    }

    /// Deletes them.
    pub(crate) fn delete(self, draft: &mut Draft<'_>) {
        let Self(line) = self;
        draft.delete(Partition::Base, place(lines_of(line.id.owner), line.id).done());
        self.postings().for_each(|key| draft.delete(Partition::Base, key));
    }

    fn postings(&self) -> impl Iterator<Item = Vec<u8>> {
        let Self(line) = *self;
        Term::all(line).map(|term| place(postings_of(line.id.owner, term), line.id).done())
    }
}

/// Reads a stored line.
///
/// # Errors
/// [`Unreadable`] where it makes no sense.
pub(crate) fn read(id: ChangeId, value: &[u8]) -> Result<ChangeLine, Unreadable> {
    let line: ChangeLine = from_json("a line of the log of changes", value)?;
    Ok(ChangeLine { id, ..line })
}

/// The writers whose lines a store has: shards of now or of another division, and the intake.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub(crate) fn writers(view: &dyn ReadView) -> Result<Vec<u16>, Unreadable> {
    let table = Key::of(Owner::Shard, Table::Changes);
    let until = after_prefix(&table.clone().done());
    let mut writers = vec![OF_INTAKE];
    let mut next = Some(table.clone().done());
    while let Some(from) = next.take() {
        let mut found = None;
        view.scan(Partition::Base, &from, until.as_deref(), &mut |key, _| {
            found = u16_at(key, REST);
            ControlFlow::Break(())
        })?;
        if let Some(writer) = found {
            writers.push(writer);
            next = writer.checked_add(1).map(|writer| table.clone().u16(writer).done());
        }
    }
    Ok(writers)
}

/// The state of a writer of lines.
#[derive(Clone, Debug)]
pub(crate) struct LineWriter {
    /// The newest line since the engine was opened.
    last: Option<ChangeId>,
    /// The old lines that are looked after here.
    pub(super) expiry: LineExpiry,
}

impl LineWriter {
    /// A writer that has written nothing yet.
    pub(crate) fn of(expiry: LineExpiry) -> Self {
        Self { last: None, expiry }
    }

    /// The id of the next line, of an instant or a later one: lines never go back.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub(crate) fn next(
        &mut self,
        view: &dyn ReadView,
        owner: u16,
        at: Instant,
    ) -> Result<ChangeId, Unreadable> {
        let at = self.last.map_or(at, |last| at.max(last.at));
        let last = match self.last {
            Some(last) => Some(last).filter(|last| last.at == at),
            // An engine before this one may have ended within the instant.
            None => last_at(view, owner, at)?,
        };
        // Lists are newest first, and by id where the instant is the same.
        let number = last.map_or(u32::MAX, |last| last.number.saturating_sub(1));
        let id = ChangeId { at, owner, number };
        self.last = Some(id);
        Ok(id)
    }
}

/// The last line of an instant.
fn last_at(view: &dyn ReadView, owner: u16, at: Instant) -> Result<Option<ChangeId>, Unreadable> {
    let prefix = newest_first(lines_of(owner), at).done();
    let mut last = Ok(None);
    view.scan(Partition::Base, &prefix, after_prefix(&prefix).as_deref(), &mut |key, _| {
        last = place_at(key, LINE_PLACE, owner).map(Some);
        ControlFlow::Break(())
    })?;
    last
}
