//! Warnings of accepted commands.

use serde::{Deserialize, Serialize};

use crate::engine::rows::event_row::EventRow;
use crate::model::event::{Audience, GeoCircle};
use crate::model::id::Id;
use crate::model::time::Instant;

/// A warning: a command is accepted and probably not what was meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Warning {
    /// The event names an unknown recipient.
    UnknownRecipient(Id),
    /// The audience is empty: nobody follows any of the event's topics.
    NoFollowers(Vec<Id>),
    /// The audience is empty: only the actor would be in it, and the type leaves the actor out.
    OnlyTheActor,
    /// The audience is empty: nobody is within any of the event's circles.
    NobodyNear(Vec<GeoCircle>),
    /// The audience is empty, for none of the other reasons.
    NobodyConcerned,
    /// The event expired at this instant, before it arrived: nothing of it is sent.
    AlreadyExpired(Instant),
    /// The event expires at this instant, before it enters any lane or as it does: nothing of it is sent.
    ExpiresBeforeDelivery(Instant),
    /// The id was used before for an event with other content, which is unchanged.
    Differs,
    /// The audience is empty: all who would be in it are in the event's `except`.
    OnlyExceptions,
}

/// The reason why an audience is empty.
pub(crate) fn why_nobody(
    to: &Audience,
    actor_is_left_out: bool,
    has_exceptions: bool,
) -> Vec<Warning> {
    if actor_is_left_out {
        return vec![Warning::OnlyTheActor];
    }
    if has_exceptions {
        return vec![Warning::OnlyExceptions];
    }
    let topics = (!to.topics.is_empty()).then(|| Warning::NoFollowers(to.topics.clone()));
    let near = (!to.near.is_empty()).then(|| Warning::NobodyNear(to.near.clone()));
    let causes: Vec<Warning> = topics.into_iter().chain(near).collect();
    if causes.is_empty() { vec![Warning::NobodyConcerned] } else { causes }
}

/// The reason why nothing of an event can be sent, whatever its audience.
pub(crate) fn why_never(row: &EventRow) -> Option<Warning> {
    let expires = row.event.expires_at?;
    if expires <= row.came_at() {
        return Some(Warning::AlreadyExpired(expires));
    }
    let first = row.enters().first().copied();
    let is_late = first.is_some_and(|first| expires <= first);
    is_late.then_some(Warning::ExpiresBeforeDelivery(expires))
}
