//! Lines about a person who was erased: a keyed hash stands for their id.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::line::LineRows;
use super::line::{self, POSTING_PLACE, Term, lines_of, place, place_at, postings_of};
use super::subject::of_erased;
use crate::engine::address_index::hash::HashKey;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Partition, after_prefix};
use crate::model::changes::{Author, AuthorKind, ChangeId, ChangeLine, ChangeSubject, SubjectKind};
use crate::model::id::Id;

/// The kinds of authors that are recipients.
pub(super) const RECIPIENTS: [AuthorKind; 2] = [AuthorKind::User, AuthorKind::Link];

/// An erased person, as lines name them.
pub(crate) struct ErasedPerson<'a> {
    id: &'a Id,
    /// The subject of lines about them from now on.
    subject: ChangeSubject,
}

impl<'a> ErasedPerson<'a> {
    pub(crate) fn new(key: HashKey, id: &'a Id) -> Self {
        Self { id, subject: of_erased(key, id) }
    }

    /// Puts the hash in the place of the id in a line; returns true if it had the id.
    pub(crate) fn mask(&self, line: &mut ChangeLine) -> bool {
        let id = self.id.as_str();
        let is_subject =
            line.subject.kind == SubjectKind::Recipient && line.subject.id.as_deref() == Some(id);
        if is_subject {
            line.subject = self.subject.clone();
        }
        let is_author = RECIPIENTS.contains(&line.by.kind) && line.by.id == id;
        if is_author {
            line.by.id = self.subject.id.clone().unwrap_or_default();
        }
        is_subject || is_author
    }

    /// Masks the stored lines, whichever shard wrote them.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub(crate) fn mask_stored(&self, draft: &mut Draft<'_>) -> Result<(), Unreadable> {
        let view = draft.view;
        for id in self.lines(view)? {
            let Some(value) = view.get(Partition::Base, &place(lines_of(id.owner), id).done())?
            else {
                continue;
            };
            let mut line = line::read(id, &value)?;
            let terms: Vec<Term> = Term::all(&line).collect();
            if self.mask(&mut line) {
                for term in terms {
                    draft.delete(Partition::Base, place(postings_of(id.owner, term), id).done());
                }
                LineRows(&line).put(draft);
            }
        }
        Ok(())
    }

    /// The lines that may have the id.
    fn lines(&self, view: &dyn ReadView) -> Result<BTreeSet<ChangeId>, Unreadable> {
        let about = ChangeSubject::new(SubjectKind::Recipient, self.id.as_str());
        let by = RECIPIENTS.map(|kind| Term::author(&Author::new(kind, self.id.as_str())));
        let terms: Vec<Term> = by.into_iter().chain([Term::subject(&about)]).collect();
        let mut lines = BTreeSet::new();
        for writer in line::writers(view)? {
            for term in &terms {
                let prefix = postings_of(writer, *term).done();
                let mut odd = Ok(());
                let until = after_prefix(&prefix);
                view.scan(Partition::Base, &prefix, until.as_deref(), &mut |key, _| {
                    odd = place_at(key, POSTING_PLACE, writer).map(|id| {
                        lines.insert(id);
                    });
                    if odd.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                })?;
                odd?;
            }
        }
        Ok(lines)
    }
}
