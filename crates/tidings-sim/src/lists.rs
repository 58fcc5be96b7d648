//! Lists of operators, as subjects show them: what is compared after a world was played.

use std::collections::BTreeMap;

use tidings_core::model::RecipientState;
use tidings_core::{Id, Instant};

/// A recipient in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedPerson {
    /// The id.
    pub id: Id,
    /// The state.
    pub state: RecipientState,
    /// The tenants of which they are a member, by id.
    pub tenants: Vec<Id>,
}

/// An event in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedEvent {
    /// The id.
    pub id: Id,
    /// The type.
    pub event_type: Id,
    /// The actor.
    pub actor: Option<Id>,
    /// The object.
    pub object: Id,
    /// The target.
    pub target: Option<Id>,
    /// The tenant, also where it was deleted.
    pub tenant: Option<Id>,
    /// The instant of its arrival.
    pub arrived: Instant,
}

/// By channel, the state of an entry and the reason why there is none.
pub type States = BTreeMap<String, (&'static str, Option<&'static str>)>;

/// The lists of operators.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    /// All recipients, by id.
    pub people: Vec<ListedPerson>,
    /// All events whose day of arrival is kept, newest first, and by id.
    pub events: Vec<ListedEvent>,
    /// By event, whom its audience reached.
    pub reached: BTreeMap<Id, BTreeMap<Id, States>>,
    /// By recipient, the events in whose audience they were, newest first.
    pub events_of: BTreeMap<Id, Vec<Id>>,
    /// The followers of a topic of no tenant, by topic.
    pub followers: BTreeMap<Id, Vec<Id>>,
}

/// A hit of a search: its kind, its id and the way in which it matched.
pub type HitInWords = (&'static str, String, &'static str);
