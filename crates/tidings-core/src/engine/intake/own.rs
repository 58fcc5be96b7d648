//! Objects by whose key made them (contract, section 12, "Keys").
//!
//! Objects are common to all, and the host changes any. With a key of a tenant only what such a key made is changed,
//! and what its events say of others counts for nothing. A tenant that is made anew has another number, so what an
//! object says of a deleted one is void.

use std::borrow::Cow;

use super::objects::Giver;
use super::state::Intake;
use super::tenants::Tenants;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::reply::{Refused, Stop};
use crate::journal::stored::Unreadable;
use crate::model::command::OwnChange;
use crate::model::event::{Event, Object};
use crate::model::id::Id;
use crate::model::tenant::TenantNo;
use crate::model::time::Day;

/// The number of a tenant with whose key an object is changed.
///
/// # Errors
/// [`Refused::ObjectNotYours`] where another made it, and for a retraction of what is not there: who asks learns nothing.
pub(super) fn owner(
    intake: &Intake,
    draft: &Draft<'_>,
    tenant: &Id,
    change: &OwnChange,
) -> Result<TenantNo, Stop> {
    let refused = || Refused::ObjectNotYours(change.id().clone());
    let own = intake.tenants.number(tenant).map_err(|_| refused())?;
    let row = intake.objects.row(draft, change.id())?;
    let is_own = row.map(|row| row.maker == Some(own));
    let makes = matches!(change, OwnChange::Put(_));
    if is_own.unwrap_or(makes) { Ok(own) } else { Err(refused().into()) }
}

/// Returns true if a tenant that is there made an object.
pub(super) fn is_of_tenant(
    intake: &Intake,
    draft: &Draft<'_>,
    object: &Id,
) -> Result<bool, Unreadable> {
    let maker = intake.objects.row(draft, object)?.and_then(|row| row.maker);
    Ok(maker.is_some_and(|maker| intake.tenants.get(maker).is_some()))
}

/// The tenant with whose key an event was published.
pub(super) fn publisher(tenants: &Tenants, event: &Event) -> Option<TenantNo> {
    let tenant = event.tenant.as_ref().filter(|_| event.by_tenant);
    tenant.and_then(|id| tenants.number(id).ok())
}

/// An event without what it says of objects that another made than its publisher; and which these are.
pub(super) fn heard<'e>(
    intake: &Intake,
    draft: &Draft<'_>,
    event: &'e Event,
) -> Result<(Cow<'e, Event>, Vec<Id>), Unreadable> {
    let (mut heard, mut ignored) = (Cow::Borrowed(event), Vec::new());
    let Some(publisher) = publisher(&intake.tenants, event) else {
        return Ok((heard, ignored));
    };
    let named = event.actor.iter().chain(&event.target).chain([&event.object]);
    for object in named.filter(|object| object.says_something()) {
        let id = &object.id;
        if !ignored.contains(id) && intake.objects.is_anothers(draft, id, publisher)? {
            ignored.push(id.clone());
        }
    }
    if !ignored.is_empty() {
        let event = heard.to_mut();
        let named = event.actor.iter_mut().chain(&mut event.target).chain([&mut event.object]);
        for object in named.filter(|object| ignored.contains(&object.id)) {
            *object = Object::bare(object.id.clone());
        }
    }
    Ok((heard, ignored))
}

/// Takes over what an event says of the objects that it names.
pub(super) fn name_objects(
    intake: &mut Intake,
    draft: &mut Draft<'_>,
    event: &Event,
    day: Day,
) -> Result<(), Unreadable> {
    // Only an `object` command says whether an object may be told.
    let described = |object: &Object| Object { notifiable: None, ..object.clone() };
    let publisher = publisher(&intake.tenants, event);
    let objects = &mut intake.objects;
    for role in event.actor.iter().chain(&event.target) {
        objects.upsert_role(draft, &described(role), day, publisher)?;
    }
    let object = described(&event.object);
    if let Some(publisher) = publisher
        && objects.is_anothers(draft, &object.id, publisher)?
    {
        // Its retraction stays, too.
        return objects.touch(draft, &object.id, day);
    }
    objects.upsert(draft, &object, day, Giver::Event, publisher)
}

/// An event that came again, so far as what was ignored of the first is no difference.
pub(super) fn as_heard(mut given: Event, stored: &Event) -> Event {
    given.by_tenant = stored.by_tenant;
    if stored.by_tenant {
        let bare = |given: &mut Object, stored: Option<&Object>| {
            if stored.is_some_and(|stored| !stored.says_something()) {
                *given = Object::bare(given.id.clone());
            }
        };
        bare(&mut given.object, Some(&stored.object));
        given.actor.iter_mut().for_each(|actor| bare(actor, stored.actor.as_ref()));
        given.target.iter_mut().for_each(|target| bare(target, stored.target.as_ref()));
    }
    given
}
