//! The reads of an engine.

use crate::engine::state::Engine;
use crate::journal::stored::ReadView;

/// An engine beside the store that it reads. Nothing here changes either.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) view: &'a dyn ReadView,
}

impl Engine {
    /// The reads, over the store as the view shows it.
    #[must_use]
    pub fn reader<'a>(&'a self, view: &'a dyn ReadView) -> Reader<'a> {
        let engine = self;
        Reader { engine, view }
    }
}
