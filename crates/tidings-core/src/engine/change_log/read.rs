//! Pages of the log: the lines of all writers, newest first, found by their properties without a walk over the others.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::line::{
    self, LINE_PLACE, POSTING_PLACE, Term, lines_of, newest_first, place, place_at, postings_of,
};
use crate::engine::read::list::{ListPage, NewestFirst, PageBuilder, Positioned};
use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Key, Partition, after_prefix};
use crate::model::changes::{Author, AuthorKind, ChangeId, ChangeLine, ChangeSubject};
use crate::model::id::Id;
use crate::model::time::Instant;

/// A choice among the lines; what is absent leaves all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeFilter {
    /// Only those of this author, by kind and id.
    pub by: Option<(AuthorKind, String)>,
    /// Only those of this action.
    pub action: Option<String>,
    /// Only those about this subject.
    pub subject: Option<ChangeSubject>,
    /// Only those of this tenant.
    pub tenant: Option<Id>,
    /// Only those of this instant or later.
    pub from: Option<Instant>,
    /// Only those before this instant.
    pub to: Option<Instant>,
}

/// The most postings that are read at once.
const POSTINGS_AT_ONCE: usize = 128;

impl Positioned for ChangeLine {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        position(self.id)
    }
}

fn position(id: ChangeId) -> NewestFirst {
    NewestFirst { at: id.at, id: id.to_id() }
}

impl ChangeFilter {
    fn terms(&self) -> Vec<Term> {
        let by = self.by.as_ref().map(|(kind, id)| Term::author(&Author::new(*kind, id.as_str())));
        let action = self.action.as_deref().map(Term::action);
        let subject = self.subject.as_ref().map(Term::subject);
        let tenant = self.tenant.as_ref().map(Term::tenant);
        [subject, by, tenant, action].into_iter().flatten().collect()
    }

    /// Returns true if a line matches: a posting is of a hash, which other properties may share.
    fn matches(&self, line: &ChangeLine) -> bool {
        let by = self.by.as_ref();
        by.is_none_or(|(kind, id)| (*kind, id) == (line.by.kind, &line.by.id))
            && self.action.as_ref().is_none_or(|action| *action == line.action)
            && self.subject.as_ref().is_none_or(|subject| *subject == line.subject)
            && self.tenant.as_ref().is_none_or(|tenant| Some(tenant) == line.tenant.as_ref())
    }
}

/// A page of at most `most` lines after a position, of whatever shards and nodes have written to the store.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub fn changes(
    view: &dyn ReadView,
    filter: &ChangeFilter,
    after: Option<&NewestFirst>,
    most: usize,
) -> Result<ListPage<ChangeLine>, Unreadable> {
    let writers = line::writers(view)?;
    let page = |writer: &u16| WriterPage { view, writer: *writer, filter }.read(after, most);
    let pages = writers.iter().map(page).collect::<Result<Vec<_>, _>>()?;
    Ok(ListPage::merged(pages, most))
}

/// The lines of one writer.
struct WriterPage<'a> {
    view: &'a dyn ReadView,
    writer: u16,
    filter: &'a ChangeFilter,
}

impl WriterPage<'_> {
    fn read(
        self,
        after: Option<&NewestFirst>,
        most: usize,
    ) -> Result<ListPage<ChangeLine>, Unreadable> {
        let Self { view, writer, filter } = self;
        let mut page = PageBuilder::new(after.cloned(), most);
        let until = filter.to.map(|to| to.plus_ms(-1));
        let first = after.map(|after| after.at).into_iter().chain(until).min();
        let is_new = |id: ChangeId| after.is_none_or(|after| position(id) > *after);
        let mut found = Candidates::of(view, writer, &filter.terms(), first);
        while let Some(id) = found.next()? {
            if filter.from.is_some_and(|from| id.at < from) {
                break;
            }
            if !is_new(id) {
                continue;
            }
            if !page.looks_at(position(id)) {
                break;
            }
            let key = place(lines_of(writer), id).done();
            let Some(value) = view.get(Partition::Base, &key)? else {
                continue;
            };
            let line = line::read(id, &value)?;
            if filter.matches(&line) {
                page.add(line);
            }
        }
        Ok(page.page())
    }
}

/// The lines that have all of some terms, or (without terms) all lines of a writer.
struct Candidates<'a> {
    lists: Vec<LinePlaces<'a>>,
}

impl<'a> Candidates<'a> {
    fn of(view: &'a dyn ReadView, writer: u16, terms: &[Term], first: Option<Instant>) -> Self {
        let list = |prefix: Key, offset| LinePlaces::new(view, writer, (prefix, offset), first);
        let of_term = |term: &Term| list(postings_of(writer, *term), POSTING_PLACE);
        let mut lists: Vec<LinePlaces<'a>> = terms.iter().map(of_term).collect();
        if lists.is_empty() {
            lists.push(list(lines_of(writer), LINE_PLACE));
        }
        Self { lists }
    }

    /// The next line that is in each list. Each list leaps to the place of the others, so that the shortest one tells
    /// how much is read.
    fn next(&mut self) -> Result<Option<ChangeId>, Unreadable> {
        let Some(mut wanted) = self.lists[0].peek()? else {
            return Ok(None);
        };
        let mut agreed = 0;
        while agreed < self.lists.len() {
            agreed = 0;
            for list in &mut self.lists {
                match list.at_or_after(wanted)? {
                    None => return Ok(None),
                    Some(found) if found == wanted => agreed += 1,
                    Some(found) => {
                        wanted = found;
                        break;
                    }
                }
            }
        }
        self.lists[0].pop();
        Ok(Some(wanted))
    }
}

/// The places of a list, in its order.
struct LinePlaces<'a> {
    view: &'a dyn ReadView,
    writer: u16,
    prefix: Key,
    /// The offset of the place in a key.
    offset: usize,
    /// LinePlaces that were read.
    read: VecDeque<ChangeId>,
    /// The key from which on more are read; `None` = there are no more.
    next: Option<Vec<u8>>,
}

/// The order of lines: newest first, since numbers count down within an instant.
fn order(id: ChangeId) -> (i64, u32) {
    (!id.at.0, id.number)
}

impl<'a> LinePlaces<'a> {
    fn new(
        view: &'a dyn ReadView,
        writer: u16,
        (prefix, offset): (Key, usize),
        first: Option<Instant>,
    ) -> Self {
        let from = first.map_or_else(|| prefix.clone(), |at| newest_first(prefix.clone(), at));
        let next = Some(from.done());
        Self { view, writer, prefix, offset, read: VecDeque::new(), next }
    }

    fn peek(&mut self) -> Result<Option<ChangeId>, Unreadable> {
        if self.read.is_empty() {
            self.fill()?;
        }
        Ok(self.read.front().copied())
    }

    fn pop(&mut self) {
        self.read.pop_front();
    }

    fn at_or_after(&mut self, wanted: ChangeId) -> Result<Option<ChangeId>, Unreadable> {
        while self.read.pop_front_if(|id| order(*id) < order(wanted)).is_some() {}
        if self.read.is_empty() {
            let leap = place(self.prefix.clone(), wanted).done();
            self.next = self.next.take().map(|next| next.max(leap));
        }
        self.peek()
    }

    fn fill(&mut self) -> Result<(), Unreadable> {
        let Some(from) = self.next.take() else {
            return Ok(());
        };
        let until = after_prefix(&self.prefix.clone().done());
        let mut fault = None;
        let (read, next) = (&mut self.read, &mut self.next);
        let (offset, writer) = (self.offset, self.writer);
        self.view.scan(Partition::Base, &from, until.as_deref(), &mut |key, _| {
            if read.len() >= POSTINGS_AT_ONCE {
                *next = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            match place_at(key, offset, writer) {
                Ok(id) => {
                    read.push_back(id);
                    ControlFlow::Continue(())
                }
                Err(odd) => {
                    fault = Some(odd);
                    ControlFlow::Break(())
                }
            }
        })?;
        fault.map_or(Ok(()), Err)
    }
}
