//! Objects: what is known of them, and by whom it was given.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::{Day, Id, Object};

use super::condition::KnownObjectNow;

/// The state of an object that decisions need.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectState {
    pub(super) known: KnownObjectNow,
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

    /// Forgets what no `object` command gave, since no kept day names it; returns true if something is left.
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

/// The objects that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects(BTreeMap<Id, ObjectState>);

impl Objects {
    /// Makes or changes an object.
    pub(super) fn put(&mut self, object: &Object, today: Day) {
        let known = self.get_or_make(&object.id);
        known.newest = known.newest.max(today);
        known.retracted = false;
        known.learn(object, true);
    }

    /// Retracts an object that is known.
    pub(super) fn retract(&mut self, object: &Id, today: Day) {
        if let Some(known) = self.0.get_mut(object) {
            known.newest = known.newest.max(today);
            known.retracted = true;
            known.kept.clear();
        }
    }

    /// An event of a day names an object.
    pub(super) fn name(&mut self, object: &Id, day: Day) {
        if let Some(known) = self.0.get_mut(object) {
            known.newest = known.newest.max(day);
        }
    }

    /// Forgets days: of an object whose newest day is one, what no `object` command gave.
    pub(super) fn forget(&mut self, is_forgotten: impl Fn(Day) -> bool) {
        self.0.retain(|_, object| !is_forgotten(object.newest) || object.shrink());
    }

    /// The state of an object, which is made where it is unknown.
    pub(super) fn get_or_make(&mut self, id: &Id) -> &mut ObjectState {
        self.0.entry(id.clone()).or_default()
    }

    pub(super) fn get(&self, id: &Id) -> Option<&ObjectState> {
        self.0.get(id)
    }

    /// The fields that entries show of an object.
    pub(super) fn shown(&self, id: &Id) -> KnownObjectNow {
        self.get(id).map(|known| known.known.clone()).unwrap_or_default()
    }
}
