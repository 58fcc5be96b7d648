//! The lines of the log that concern one person, for the export of their data.

use super::erased::RECIPIENTS;
use super::read::{ChangeFilter, changes};
use super::subject::of_address;
use crate::engine::address_index::hash::HashKey;
use crate::engine::read::list::{ListPage, NewestFirst};
use crate::engine::read::reader::Reader;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::changes::{ChangeLine, ChangeSubject, SubjectKind};
use crate::model::id::Id;

/// The lines about a recipient and the addresses that they have, and those that they caused.
#[derive(Clone, Debug)]
pub struct PersonChanges(Vec<ChangeFilter>);

impl Reader<'_> {
    /// The lines that concern a recipient.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub fn changes_of(&self, recipient: &Id) -> Result<PersonChanges, Unreadable> {
        let about = |subject| ChangeFilter { subject: Some(subject), ..ChangeFilter::default() };
        let mut filters =
            vec![about(ChangeSubject::new(SubjectKind::Recipient, recipient.as_str()))];
        filters.extend(RECIPIENTS.map(|kind| {
            let by = Some((kind, recipient.as_str().to_owned()));
            ChangeFilter { by, ..ChangeFilter::default() }
        }));
        // Without a key no line has an address.
        if let Some(key) = HashKey::read(self.view)? {
            let addresses = self.addresses_of(recipient, None);
            filters.extend(addresses.iter().map(|address| about(of_address(key, address))));
        }
        Ok(PersonChanges(filters))
    }
}

impl PersonChanges {
    /// A page of at most `most` lines after a position, newest first.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub fn page(
        &self,
        view: &dyn ReadView,
        after: Option<&NewestFirst>,
        most: usize,
    ) -> Result<ListPage<ChangeLine>, Unreadable> {
        let pages = self.0.iter().map(|filter| changes(view, filter, after, most));
        let mut page = ListPage::merged(pages.collect::<Result<Vec<_>, _>>()?, most);
        // What somebody changes about themselves is found twice.
        page.rows.dedup_by_key(|line| line.id);
        Ok(page)
    }
}
