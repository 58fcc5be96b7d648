//! Objects: what is known of them, and with whose key they were made (contract, section 12, "Keys").
//!
//! If the text leaves two readings, this is the one taken:
//!
//! 40. An object is made by whatever makes it known: an `object` command, a publish whose object it is, one that says
//!     something of it as its actor or target. It stays of who made it until it is unknown: a retraction and what others
//!     say of it change nothing of that. What a deleted tenant made is nobody's, and nobody but the host changes it.
//! 41. What an event says with the key of a tenant of objects that another made is ignored altogether: it is not part of
//!     the event, and it lifts no retraction. Such an event still names the object, and a retraction reaches it.
//! 42. Retracting with the key of a tenant what is unknown is refused as is what another made.
//! 43. In the conditions of such an event's entries an object that another made has its id alone.

use std::collections::BTreeSet;

use tidings_core::command::OwnChange;
use tidings_core::{Day, Event, Id, Object};

use super::condition::Known;
use super::{Model, Published, Refused};

/// The state of an object that decisions need.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectState {
    pub(super) known: Known,
    pub(super) retracted: bool,
    pub(super) not_notifiable: bool,
    /// The tenant with whose key it was made.
    pub(super) maker: Option<usize>,
    /// The newest day that named or changed it.
    pub(super) newest: Day,
    /// The fields whose value the host gave by an `object` command, since it was retracted last.
    kept: BTreeSet<&'static str>,
}

impl ObjectState {
    /// Takes over the fields that are given, by an `object` command or not.
    pub(super) fn learn(&mut self, given: &Object, by_host: bool) {
        let before = (self.known.clone(), self.not_notifiable);
        if given.title.is_some() {
            self.known.title.clone_from(&given.title);
        }
        if given.data.is_some() {
            self.known.data.clone_from(&given.data);
        }
        if let Some(notifiable) = given.notifiable {
            self.not_notifiable = !notifiable;
        }
        for (field, is_given, is_changed) in [
            ("title", given.title.is_some(), before.0.title != self.known.title),
            ("data", given.data.is_some(), before.0.data != self.known.data),
            ("notifiable", given.notifiable.is_some(), before.1 != self.not_notifiable),
        ] {
            if is_given && by_host {
                self.kept.insert(field);
            } else if is_changed {
                self.kept.remove(field);
            }
        }
    }

    /// Forgets what no `object` command gave, since no kept day names it; tells whether something is left.
    pub(super) fn shrink(&mut self) -> bool {
        if !self.kept.contains("title") {
            self.known.title = None;
        }
        if !self.kept.contains("data") {
            self.known.data = None;
        }
        self.not_notifiable &= self.kept.contains("notifiable");
        self.retracted = false;
        !self.kept.is_empty()
    }
}

impl Model {
    /// Makes or changes an object, with the key of a tenant or of the host.
    pub(super) fn put_object(&mut self, object: &Object, tenant: Option<usize>) {
        let today = self.now.day();
        self.days.entry(today).or_default();
        let known = self.object_made_by(&object.id, tenant);
        known.newest = known.newest.max(today);
        known.retracted = false;
        known.learn(object, true);
    }

    /// Retracts an object that is known.
    pub(super) fn retract(&mut self, object: &Id) {
        let today = self.now.day();
        self.days.entry(today).or_default();
        if let Some(known) = self.objects.get_mut(object) {
            known.newest = known.newest.max(today);
            known.retracted = true;
            known.kept.clear();
        }
    }

    /// The state of an object, which is made where it is unknown.
    pub(super) fn object_made_by(&mut self, id: &Id, tenant: Option<usize>) -> &mut ObjectState {
        let new = || ObjectState { maker: tenant, ..ObjectState::default() };
        self.objects.entry(id.clone()).or_insert_with(new)
    }

    /// Returns true if an object is known that another made than a tenant.
    pub(super) fn is_anothers(&self, object: &Id, tenant: usize) -> bool {
        self.objects.get(object).is_some_and(|known| known.maker != Some(tenant))
    }
}

/// Changes an object with the key of a tenant.
pub(super) fn change_own(model: &mut Model, tenant: &Id, change: OwnChange) -> Result<(), Refused> {
    let refused = Refused::NotTheirs(change.id().clone());
    let Ok(own) = model.tenant(tenant) else {
        return Err(refused);
    };
    let maker = model.objects.get(change.id()).map(|known| known.maker);
    match change {
        OwnChange::Put(object) if maker.is_none() || maker == Some(Some(own)) => {
            model.put_object(&object, Some(own));
        }
        OwnChange::Retract(object) if maker == Some(Some(own)) => model.retract(&object),
        _ => return Err(refused),
    }
    Ok(())
}

/// Takes out of an event what it says of objects that another made than the tenant with whose key it comes.
pub(super) fn ignore_of_others(model: &Model, event: &mut Event, tenant: usize) {
    let roles = event.actor.iter_mut().chain(&mut event.target).chain([&mut event.object]);
    for role in roles.filter(|role| model.is_anothers(&role.id, tenant)) {
        *role = Object::bare(role.id.clone());
    }
}

/// What the entries of an event show of an object.
pub(super) fn shown(model: &Model, of: &Published, object: &Id) -> Known {
    let is_shown = |known: &&ObjectState| !of.event.by_tenant || known.maker == of.tenant;
    let known = model.objects.get(object).filter(is_shown);
    known.map(|known| known.known.clone()).unwrap_or_default()
}
