//! Parties: recipients and destinations, each of which may hold up its own messages and nobody else's.

use std::sync::Arc;

use tidings_core::Id;

/// A recipient, or a destination beyond the provider: the host of an endpoint, or the domain of a mail address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Party {
    Recipient(Id),
    Destination(Arc<str>),
}

impl Party {
    /// The destinations of a message, then its recipient.
    pub(crate) fn of(recipient: &Id, destinations: &[Arc<str>]) -> impl Iterator<Item = Self> {
        let destinations = destinations.iter().cloned();
        let recipient = Self::Recipient(recipient.clone());
        destinations.map(Self::Destination).chain([recipient])
    }
}
