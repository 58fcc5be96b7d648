//! The interface of a host that returns the present state of objects.

pub(crate) mod resolving;

use tidings_core::{Id, Object};

/// The host, asked what objects are now.
pub trait Resolver: Send + Sync {
    /// The bounds in force; `None` if the host is not to be asked.
    fn bounds(&self) -> Option<ResolverBounds>;

    /// Asks for objects, at most as many as the bounds allow.
    ///
    /// # Errors
    /// The reason, for the log, for which there is no answer that can be used.
    fn resolve(&self, objects: &[Id]) -> Result<ResolvedObjects, String>;
}

/// The bounds on questions to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolverBounds {
    /// The most objects of one question.
    pub batch: usize,
    /// The time in milliseconds for which a message waits for an answer, of a type that does.
    pub wait_ms: i64,
}

/// An answer of the host. Objects that it does not name stay as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResolvedObjects {
    /// Objects as they are now.
    pub objects: Vec<Object>,
    /// Objects that are retracted.
    pub retracted: Vec<Id>,
}
