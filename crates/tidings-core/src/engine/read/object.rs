//! An object, as readers ask for it.

use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::Unreadable;
use crate::model::event::Object;
use crate::model::id::Id;
use crate::model::tenant::{TenantNo, View};

/// An object as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectNow {
    /// What is known of it.
    pub object: Object,
    /// True if it is retracted.
    pub retracted: bool,
    /// The tenant with whose key it was made, unless that was deleted; `None` = it is the host's.
    pub tenant: Option<Id>,
}

impl Reader<'_> {
    /// An object that is in a view, if it is known.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn object(&self, id: &Id, view: View<TenantNo>) -> Result<Option<ObjectNow>, Unreadable> {
        let intake = &self.engine.intake;
        let row = intake.objects.row(&Draft::new(self.view), id)?;
        let row = row.filter(|row| view.shows(row.maker));
        Ok(row.map(|row| ObjectNow {
            object: row.object,
            retracted: row.retracted,
            tenant: row.maker.and_then(|no| Some(intake.tenants.get(no)?.id.clone())),
        }))
    }
}
