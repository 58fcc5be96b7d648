//! Objects: what is known of them, and by whom it was given.

use std::collections::BTreeSet;

use tidings_core::{Day, Id, Object};

use super::Model;
use super::condition::Known;

/// The state of an object that decisions need.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectState {
    pub(super) known: Known,
    pub(super) retracted: bool,
    pub(super) not_notifiable: bool,
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
    /// Makes or changes an object.
    pub(super) fn put_object(&mut self, object: &Object) {
        let today = self.now.day();
        self.days.entry(today).or_default();
        let known = self.object(&object.id);
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
    pub(super) fn object(&mut self, id: &Id) -> &mut ObjectState {
        self.objects.entry(id.clone()).or_default()
    }

    /// What entries show of an object.
    pub(super) fn shown(&self, object: &Id) -> Known {
        self.objects.get(object).map(|known| known.known.clone()).unwrap_or_default()
    }
}
