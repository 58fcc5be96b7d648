//! Objects as they are now, kept as long as a kept day names them.
//!
//! An object is kept until the newest day that named or changed it is forgotten. From then on it counts as
//! unknown; its row goes a few at a time, with the steps that follow.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::act::Act;
use super::draft::Draft;
use super::recent::Recent;
use super::rows::each_base;
use crate::command::Command;
use crate::event::{Event, Object};
use crate::id::Id;
use crate::journal::record::About;
use crate::journal::stored::{ReadView, Unreadable, from_json, to_json};
use crate::shared::Tree;
use crate::table::{Key, Owner, Partition, REST, Table, day_at};
use crate::time::Day;

/// An object as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ObjectRow {
    pub(crate) object: Object,
    pub(crate) retracted: bool,
    /// The newest day on which an event or command named or changed it.
    newest: Day,
}

impl ObjectRow {
    /// Tells whether its notifications are sent.
    pub(crate) fn applies(&self) -> bool {
        !self.retracted && self.object.notifiable != Some(false)
    }
}

/// The set of withdrawn objects, and the state of the deletion of old objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    /// Withdrawn objects.
    pub(crate) withdrawn: Tree<Id, ()>,
    /// The hashes of their ids, as arrivals name their objects.
    pub(crate) withdrawn_hashes: Tree<u64, ()>,
    /// Number of withdrawals and restorations of objects, which change what inboxes show.
    pub(crate) withdrawals: u64,
    /// Objects that were last named or changed before this day are unknown.
    forgotten_before: Option<Day>,
    /// The key after which rows may still have to be deleted; `None` = there are none.
    sweep_from: Option<Vec<u8>>,
    /// Number of objects written by this step.
    written: usize,
    /// The objects that plans and presenters asked for; `None` = it has no row.
    recent: Recent<Id, Option<Known>>,
}

/// An object that was read.
#[derive(Clone, Debug)]
struct Known {
    object: Arc<Object>,
    newest: Day,
}

/// Number of objects that a step deletes, plus [`SWEPT_PER_WRITTEN`] for each that it writes.
const SWEPT_PER_STEP: usize = 32;

/// More than one, so that the backlog shrinks.
const SWEPT_PER_WRITTEN: usize = 4;

pub(crate) fn object_key(object: &Id) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Objects)
        .bytes(object.as_str().as_bytes())
        .done()
}

fn withdrawn_key(object: &Id) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Withdrawn)
        .bytes(object.as_str().as_bytes())
        .done()
}

fn days_key() -> Key {
    Key::of(Owner::Intake, Table::ObjectDays)
}

fn day_key(day: Day, object: &Id) -> Vec<u8> {
    days_key().day(day).bytes(object.as_str().as_bytes()).done()
}

fn stored(draft: &Draft<'_>, object: &Id) -> Result<Option<ObjectRow>, Unreadable> {
    let bytes = draft.get(Partition::Base, &object_key(object))?;
    let row = bytes.map(|bytes| from_json("an object", &bytes));
    row.transpose()
}

/// The keys of the objects that commands name, each once.
pub(super) fn named_by(commands: &[Command]) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    for command in commands {
        match command {
            Command::Publish(event) => {
                let roles = event.actor.iter().chain(&event.target);
                let named = roles.chain([&event.object]);
                keys.extend(named.map(|object| object_key(&object.id)));
            }
            Command::Object(object) => keys.push(object_key(&object.id)),
            Command::Retract { object } => keys.push(object_key(object)),
            _ => {}
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

impl Objects {
    /// Reads the withdrawn objects.
    pub(super) fn recover(view: &dyn ReadView, withdrawals: u64) -> Result<Self, Unreadable> {
        let mut objects = Self {
            withdrawals,
            ..Self::default()
        };
        each_base(view, Table::Withdrawn, |key, _| {
            let id = key.get(REST..).and_then(|id| std::str::from_utf8(id).ok());
            let id = id.and_then(|id| Id::new(id).ok());
            objects.withdraw(id.ok_or_else(|| Unreadable("a withdrawn key is odd".to_owned()))?);
            Ok(())
        })?;
        Ok(objects)
    }

    /// Makes objects unknown that were last named or changed before this day.
    pub(super) fn forget_before(&mut self, before: Day) {
        self.forgotten_before = self.forgotten_before.max(Some(before));
        self.sweep_from = Some(days_key().done());
    }

    /// Updates the given fields of an object that a day names, and lifts a retraction.
    pub(crate) fn upsert(
        &mut self,
        draft: &mut Draft<'_>,
        given: &Object,
        day: Day,
    ) -> Result<(), Unreadable> {
        self.put_fields(draft, given, day, true)
    }

    /// Updates the given fields of an actor or a target; a retraction stays.
    pub(crate) fn upsert_role(
        &mut self,
        draft: &mut Draft<'_>,
        given: &Object,
        day: Day,
    ) -> Result<(), Unreadable> {
        // Most are bare ids: these need no row.
        match given.says_something() {
            true => self.put_fields(draft, given, day, false),
            false => self.touch(draft, &given.id, day),
        }
    }

    fn put_fields(
        &mut self,
        draft: &mut Draft<'_>,
        given: &Object,
        day: Day,
        lifts_retraction: bool,
    ) -> Result<(), Unreadable> {
        let known = self.known(draft, &given.id)?;
        let mut row = match &known {
            Some(row) => row.clone(),
            None => ObjectRow {
                object: given.clone(),
                retracted: false,
                newest: day,
            },
        };
        row.retracted &= !lifts_retraction;
        row.newest = row.newest.max(day);
        let put = |field: &mut Option<String>, given: &Option<String>| {
            if given.is_some() {
                field.clone_from(given);
            }
        };
        put(&mut row.object.title, &given.title);
        put(&mut row.object.url, &given.url);
        put(&mut row.object.image, &given.image);
        // Another picture has another size.
        if given.image.is_some() || given.image_size.is_some() {
            row.object.image_size = given.image_size;
        }
        if given.data.is_some() {
            row.object.data.clone_from(&given.data);
        }
        row.object.notifiable = given.notifiable.or(row.object.notifiable);
        self.keep(draft, known.as_ref(), &row);
        Ok(())
    }

    /// Retracts an object. An object that nothing named has no notifications.
    pub(crate) fn retract(
        &mut self,
        draft: &mut Draft<'_>,
        object: &Id,
        day: Day,
    ) -> Result<(), Unreadable> {
        if let Some(known) = self.known(draft, object)? {
            let row = ObjectRow {
                retracted: true,
                newest: known.newest.max(day),
                ..known.clone()
            };
            self.keep(draft, Some(&known), &row);
        }
        Ok(())
    }

    /// Keeps the objects that an event names as long as a day.
    pub(crate) fn touch_all(
        &mut self,
        draft: &mut Draft<'_>,
        event: &Event,
        day: Day,
    ) -> Result<(), Unreadable> {
        let roles = event.actor.iter().chain(&event.target);
        let mut named = roles.chain([&event.object]);
        named.try_for_each(|object| self.touch(draft, &object.id, day))
    }

    /// Keeps an object as long as a day.
    pub(super) fn touch(
        &mut self,
        draft: &mut Draft<'_>,
        object: &Id,
        day: Day,
    ) -> Result<(), Unreadable> {
        if let Some(known) = self.known(draft, object)?
            && known.newest < day
        {
            let row = ObjectRow {
                newest: day,
                ..known.clone()
            };
            self.keep(draft, Some(&known), &row);
        }
        Ok(())
    }

    /// An object as it is now; one that no kept day names has nothing but its id.
    pub(crate) fn now(&self, draft: &Draft<'_>, id: &Id) -> Result<Arc<Object>, Unreadable> {
        let known = match self.recent.get(id) {
            Some(known) => known,
            None => self.read(draft, id)?,
        };
        let known = known.filter(|known| !self.is_obsolete(known.newest));
        Ok(known.map_or_else(|| Arc::new(Object::bare(id.clone())), |known| known.object))
    }

    /// Reads an object, and caches it unless this step has changed it.
    fn read(&self, draft: &Draft<'_>, id: &Id) -> Result<Option<Known>, Unreadable> {
        let key = object_key(id);
        let bytes = draft.get(Partition::Base, &key)?;
        let row = bytes.as_ref().map(|bytes| from_json("an object", bytes));
        let known = row.transpose()?.map(|row: ObjectRow| Known {
            object: Arc::new(row.object),
            newest: row.newest,
        });
        if !draft.writes(Partition::Base, &key) {
            let bytes = bytes.map_or(0, |bytes| bytes.len());
            self.recent.keep(id.clone(), known.clone(), bytes);
        }
        Ok(known)
    }

    /// Tells whether a kept day may name an object.
    pub(crate) fn knows(&self, draft: &Draft<'_>, object: &Id) -> Result<bool, Unreadable> {
        let row = stored(draft, object)?;
        Ok(row.is_some_and(|row| !self.is_obsolete(row.newest)))
    }

    /// Reads an object. A row that is due for deletion is deleted here.
    fn known(
        &mut self,
        draft: &mut Draft<'_>,
        object: &Id,
    ) -> Result<Option<ObjectRow>, Unreadable> {
        let row = stored(draft, object)?;
        if let Some(obsolete) = row.as_ref().filter(|row| self.is_obsolete(row.newest)) {
            self.forget(draft, obsolete);
            return Ok(None);
        }
        Ok(row)
    }

    fn is_obsolete(&self, newest: Day) -> bool {
        let before = self.forgotten_before;
        before.is_some_and(|before| newest < before)
    }

    fn keep(&mut self, draft: &mut Draft<'_>, known: Option<&ObjectRow>, row: &ObjectRow) {
        if known == Some(row) {
            return;
        }
        self.written += 1;
        let id = &row.object.id;
        self.recent.remove(id);
        if known.is_none_or(|known| known.newest != row.newest) {
            if let Some(known) = known {
                draft.delete(Partition::Base, day_key(known.newest, id));
            }
            draft.put(Partition::Base, day_key(row.newest, id), Vec::new());
        }
        draft.put(Partition::Base, object_key(id), to_json(row));
        if !row.applies() {
            let key = withdrawn_key(id);
            if self.withdraw(id.clone()) {
                self.withdrawals += 1;
                draft.put(Partition::Base, key, Vec::new());
            }
        } else if self.bring_back(draft, id) {
            self.withdrawals += 1;
        }
        self.tell(draft, id);
    }

    fn tell(&self, draft: &mut Draft<'_>, id: &Id) {
        draft.tell(|| Act::Object {
            id: id.clone(),
            withdrawn: self.withdrawn.contains_key(id),
            withdrawals: self.withdrawals,
        });
    }

    /// Takes over what the intake has told of an object.
    pub(super) fn observe(&mut self, id: &Id, withdrawn: bool, withdrawals: u64) {
        self.recent.remove(id);
        self.withdrawals = withdrawals;
        match withdrawn {
            true => drop(self.withdraw(id.clone())),
            false => drop(self.unmark(id)),
        }
    }

    /// Marks an object as withdrawn; returns whether that is new.
    fn withdraw(&mut self, object: Id) -> bool {
        self.withdrawn_hashes
            .insert(About::object_hash(&object), ());
        self.withdrawn.insert(object, ()).is_none()
    }

    /// Removes the withdrawal of an object; returns whether that is new.
    fn bring_back(&mut self, draft: &mut Draft<'_>, object: &Id) -> bool {
        let was_withdrawn = self.unmark(object);
        if was_withdrawn {
            draft.delete(Partition::Base, withdrawn_key(object));
        }
        was_withdrawn
    }

    fn unmark(&mut self, object: &Id) -> bool {
        let was_withdrawn = self.withdrawn.remove(object).is_some();
        if was_withdrawn {
            self.withdrawn_hashes.remove(&About::object_hash(object));
        }
        was_withdrawn
    }

    fn forget(&mut self, draft: &mut Draft<'_>, row: &ObjectRow) {
        let id = &row.object.id;
        self.recent.remove(id);
        draft.delete(Partition::Base, object_key(id));
        draft.delete(Partition::Base, day_key(row.newest, id));
        if self.bring_back(draft, id) {
            self.tell(draft, id);
        }
    }

    /// Deletes some obsolete objects: more than the step has written.
    pub(super) fn sweep(&mut self, draft: &mut Draft<'_>) -> Result<(), Unreadable> {
        let most = SWEPT_PER_STEP + SWEPT_PER_WRITTEN * std::mem::take(&mut self.written);
        let Some((from, before)) = self.sweep_from.take().zip(self.forgotten_before) else {
            return Ok(());
        };
        let until = days_key().day(before).done();
        let mut found: Vec<Vec<u8>> = Vec::new();
        draft
            .view
            .scan(Partition::Base, &from, Some(&until), &mut |key, _| {
                found.push(key.to_vec());
                match found.len() < most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        for key in &found {
            let id = key.get(REST + size_of::<Day>()..);
            let id = id.and_then(|id| Id::new(std::str::from_utf8(id).ok()?).ok());
            let (day, id) = day_at(key, REST)
                .zip(id)
                .ok_or_else(|| Unreadable("the key of an object's day is odd".to_owned()))?;
            let row = draft.get(Partition::Base, &object_key(&id))?;
            let row = row.map(|bytes| from_json::<ObjectRow>("an object", &bytes));
            match row.transpose()?.filter(|row| row.newest == day) {
                Some(row) => self.forget(draft, &row),
                None => draft.delete(Partition::Base, key.clone()),
            }
        }
        if found.len() == most {
            self.sweep_from = found.pop();
        }
        Ok(())
    }
}
