//! Objects as they are now. The fields of an `object` command are kept until they are changed or the object is deleted.
//!
//! Fields that only an event gave are kept until the newest day that named or changed the object is deleted. The object
//! then counts as unknown; later steps delete its row or shrink it, a few at a time.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::recent::Recent;
use crate::engine::acts::act::Act;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::named::each_base;
use crate::journal::record::About;
use crate::journal::stored::{ReadView, Unreadable, from_json, to_json};
use crate::journal::table::{Key, Owner, Partition, REST, Table, day_at};
use crate::model::command::Command;
use crate::model::event::{Event, Object};
use crate::model::id::Id;
use crate::model::time::Day;
use crate::sets::shared::Tree;

/// An object as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ObjectRow {
    pub(crate) object: Object,
    pub(crate) retracted: bool,
    /// The newest day on which an event or command named or changed it.
    newest: Day,
    /// The fields that the host gave by an `object` command. A retraction takes all of them out: it, and what is known
    /// of the object, are kept as long as a day names it.
    #[serde(default, skip_serializing_if = "ObjectFields::is_empty")]
    kept: ObjectFields,
}

/// Fields of an object, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct ObjectFields(u8);

impl ObjectFields {
    const TITLE: u8 = 1;
    const URL: u8 = 1 << 1;
    /// The picture and its size.
    const IMAGE: u8 = 1 << 2;
    const DATA: u8 = 1 << 3;
    const NOTIFIABLE: u8 = 1 << 4;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_empty(&self) -> bool {
        self.0 == 0
    }

    fn has(self, field: u8) -> bool {
        self.0 & field > 0
    }

    /// Records the last source of a field. The same value from another source leaves a field of the host the host's.
    fn note(&mut self, field: u8, is_new: bool, by: FieldSource) {
        match by {
            FieldSource::Host => self.0 |= field,
            FieldSource::Event | FieldSource::Role | FieldSource::Resolver if is_new => {
                self.0 &= !field;
            }
            FieldSource::Event | FieldSource::Role | FieldSource::Resolver => {}
        }
    }
}

/// The source of an object's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldSource {
    /// An `object` command.
    Host,
    /// An event whose object it is.
    Event,
    /// An event whose actor or target it is; it lifts no retraction.
    Role,
    /// The answer of the resolver about an object that events name; it expires.
    Resolver,
}

impl ObjectRow {
    /// Returns true if its notifications are sent.
    pub(crate) fn applies(&self) -> bool {
        !self.retracted && self.object.notifiable != Some(false)
    }

    /// The row once no kept day names its object; `None` = nothing is left of it.
    fn shrunk(&self) -> Option<Self> {
        if self.kept.is_empty() {
            return None;
        }
        let mut left = self.clone();
        let object = &mut left.object;
        object.title.take_if(|_| !self.kept.has(ObjectFields::TITLE));
        object.url.take_if(|_| !self.kept.has(ObjectFields::URL));
        object.image.take_if(|_| !self.kept.has(ObjectFields::IMAGE));
        object.image_size.take_if(|_| !self.kept.has(ObjectFields::IMAGE));
        object.data.take_if(|_| !self.kept.has(ObjectFields::DATA));
        object.notifiable.take_if(|_| !self.kept.has(ObjectFields::NOTIFIABLE));
        Some(left)
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
    /// Number of objects of which the host gave something by an `object` command.
    pub(crate) kept: u64,
    /// Objects that were last named or changed before this day are unknown.
    forgotten_before: Option<Day>,
    /// The key after which rows may still have to be deleted; `None` = there are none.
    sweep_from: Option<Vec<u8>>,
    /// Number of objects written by this step.
    written: usize,
    /// A cache of the objects that plans and presenters read; `None` = it has no row.
    recent: Recent<Id, Option<KnownObject>>,
}

/// An object that was read.
#[derive(Clone, Debug)]
struct KnownObject {
    object: Arc<Object>,
    newest: Day,
    /// The fields that stay once no kept day names it.
    shrunk: Option<Arc<Object>>,
}

/// Number of objects that a step deletes, plus [`SWEPT_PER_WRITTEN`] for each that it writes.
const SWEPT_PER_STEP: usize = 32;

/// More than one, so that the backlog shrinks.
const SWEPT_PER_WRITTEN: usize = 4;

pub(crate) fn object_key(object: &Id) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Objects).bytes(object.as_str().as_bytes()).done()
}

fn withdrawn_key(object: &Id) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Withdrawn).bytes(object.as_str().as_bytes()).done()
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
pub(crate) fn named_by(commands: &[Command]) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    for command in commands {
        match command {
            Command::Publish(event) => {
                let named = event.actor.iter().chain(&event.target).chain([&event.object]);
                keys.extend(named.map(|object| object_key(&object.id)));
            }
            Command::Object(object) | Command::Resolved(object) => {
                keys.push(object_key(&object.id));
            }
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
    pub(crate) fn recover(
        view: &dyn ReadView,
        withdrawals: u64,
        kept: u64,
    ) -> Result<Self, Unreadable> {
        let mut objects = Self { withdrawals, kept, ..Self::default() };
        each_base(view, Table::Withdrawn, |key, _| {
            let id = key.get(REST..).and_then(|id| std::str::from_utf8(id).ok());
            let id = id.and_then(|id| Id::new(id).ok());
            objects.withdraw(id.ok_or_else(|| Unreadable("a withdrawn key is odd".to_owned()))?);
            Ok(())
        })?;
        Ok(objects)
    }

    /// Makes objects unknown that were last named or changed before this day.
    pub(crate) fn forget_before(&mut self, before: Day) {
        self.forgotten_before = self.forgotten_before.max(Some(before));
        self.sweep_from = Some(days_key().done());
    }

    /// The number of objects of which something would be kept with another one, if that is new.
    pub(crate) fn kept_with(
        &self,
        draft: &Draft<'_>,
        given: &Object,
    ) -> Result<Option<u64>, Unreadable> {
        let says_something = given.says_something() || given.notifiable.is_some();
        if !says_something || stored(draft, &given.id)?.is_some_and(|row| !row.kept.is_empty()) {
            return Ok(None);
        }
        Ok(Some(self.kept + 1))
    }

    /// Updates the given fields of the objects that an event names, as a day has it.
    pub(crate) fn upsert_named(
        &mut self,
        draft: &mut Draft<'_>,
        event: &Event,
        day: Day,
    ) -> Result<(), Unreadable> {
        // Only an `object` command sets `notifiable`.
        let described = |object: &Object| Object { notifiable: None, ..object.clone() };
        for role in event.actor.iter().chain(&event.target) {
            self.upsert_role(draft, &described(role), day)?;
        }
        self.upsert(draft, &described(&event.object), day, FieldSource::Event)
    }

    /// Updates the given fields of an object that a day names; only of a role a retraction stays.
    pub(crate) fn upsert(
        &mut self,
        draft: &mut Draft<'_>,
        given: &Object,
        day: Day,
        by: FieldSource,
    ) -> Result<(), Unreadable> {
        let known = self.known(draft, &given.id)?;
        let mut row = match &known {
            Some(row) => row.clone(),
            None => ObjectRow {
                object: Object::bare(given.id.clone()),
                retracted: false,
                newest: day,
                kept: ObjectFields::default(),
            },
        };
        row.retracted &= by == FieldSource::Role;
        row.newest = row.newest.max(day);
        let (object, kept) = (&mut row.object, &mut row.kept);
        if given.image.is_some() || given.image_size.is_some() {
            // Another picture has another size.
            let is_new = object.image_size != given.image_size;
            object.image_size = given.image_size;
            kept.note(ObjectFields::IMAGE, is_new, by);
        }
        if given.title.is_some() {
            kept.note(ObjectFields::TITLE, object.title != given.title, by);
            object.title.clone_from(&given.title);
        }
        let mut put = |known: &mut Option<String>, given: &Option<String>, field| {
            if given.is_some() {
                kept.note(field, known != given, by);
                known.clone_from(given);
            }
        };
        put(&mut object.url, &given.url, ObjectFields::URL);
        put(&mut object.image, &given.image, ObjectFields::IMAGE);
        if given.data.is_some() {
            kept.note(ObjectFields::DATA, object.data != given.data, by);
            object.data.clone_from(&given.data);
        }
        if given.notifiable.is_some() {
            kept.note(ObjectFields::NOTIFIABLE, object.notifiable != given.notifiable, by);
            object.notifiable = given.notifiable;
        }
        self.keep(draft, known.as_ref(), &row);
        Ok(())
    }

    /// Updates the given fields of an actor or a target; a retraction stays.
    fn upsert_role(
        &mut self,
        draft: &mut Draft<'_>,
        given: &Object,
        day: Day,
    ) -> Result<(), Unreadable> {
        // Most are bare ids: these need no row.
        if given.says_something() {
            self.upsert(draft, given, day, FieldSource::Role)
        } else {
            self.touch(draft, &given.id, day)
        }
    }

    /// Retracts an object, and keeps that as long as a day names it. An object that nothing named has no notifications.
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
                kept: ObjectFields::default(),
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
        let mut named = event.actor.iter().chain(&event.target).chain([&event.object]);
        named.try_for_each(|object| self.touch(draft, &object.id, day))
    }

    /// Keeps an object as long as a day.
    pub(crate) fn touch(
        &mut self,
        draft: &mut Draft<'_>,
        object: &Id,
        day: Day,
    ) -> Result<(), Unreadable> {
        if let Some(known) = self.known(draft, object)?
            && known.newest < day
        {
            let row = ObjectRow { newest: day, ..known.clone() };
            self.keep(draft, Some(&known), &row);
        }
        Ok(())
    }

    /// An object as it is now; one that no kept day names has what the host gave by a command.
    pub(crate) fn now(&self, draft: &Draft<'_>, id: &Id) -> Result<Arc<Object>, Unreadable> {
        let known = match self.recent.get(id) {
            Some(known) => known,
            None => self.read(draft, id)?,
        };
        let known = known.and_then(|known| {
            if self.is_obsolete(known.newest) { known.shrunk } else { Some(known.object) }
        });
        Ok(known.unwrap_or_else(|| Arc::new(Object::bare(id.clone()))))
    }

    /// Reads an object, and caches it unless this step has changed it.
    fn read(&self, draft: &Draft<'_>, id: &Id) -> Result<Option<KnownObject>, Unreadable> {
        let key = object_key(id);
        let bytes = draft.get(Partition::Base, &key)?;
        let row = bytes.as_ref().map(|bytes| from_json("an object", bytes));
        let known = row.transpose()?.map(|row: ObjectRow| {
            let shrunk = row.shrunk();
            let object = Arc::new(row.object);
            let shared = |left: ObjectRow| {
                if left.object == *object { Arc::clone(&object) } else { Arc::new(left.object) }
            };
            KnownObject { shrunk: shrunk.map(shared), newest: row.newest, object }
        });
        if !draft.writes(Partition::Base, &key) {
            let bytes = bytes.map_or(0, |bytes| bytes.len());
            self.recent.keep(id.clone(), known.clone(), bytes);
        }
        Ok(known)
    }

    /// Returns true if a kept day may name an object.
    pub(crate) fn knows(&self, draft: &Draft<'_>, object: &Id) -> Result<bool, Unreadable> {
        let row = stored(draft, object)?;
        Ok(row.is_some_and(|row| !self.is_obsolete(row.newest)))
    }

    /// Reads an object. A row that is due for deletion is deleted here, or shrinks.
    fn known(
        &mut self,
        draft: &mut Draft<'_>,
        object: &Id,
    ) -> Result<Option<ObjectRow>, Unreadable> {
        match stored(draft, object)? {
            Some(row) if self.is_obsolete(row.newest) => Ok(self.shrink(draft, &row)),
            row => Ok(row),
        }
    }

    /// Deletes a row that no kept day needs, or leaves of it what is kept.
    fn shrink(&mut self, draft: &mut Draft<'_>, row: &ObjectRow) -> Option<ObjectRow> {
        let left = row.shrunk();
        match &left {
            Some(left) => self.keep(draft, Some(row), left),
            None => self.forget(draft, row),
        }
        draft.delete(Partition::Base, day_key(row.newest, &row.object.id));
        left
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
        self.count(known, Some(row));
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
        self.log_object(draft, id);
    }

    /// Counts the objects of which something is kept, where a row becomes another.
    fn count(&mut self, from: Option<&ObjectRow>, to: Option<&ObjectRow>) {
        let keeps =
            |row: Option<&ObjectRow>| u64::from(row.is_some_and(|row| !row.kept.is_empty()));
        self.kept = (self.kept + keeps(to)).saturating_sub(keeps(from));
    }

    fn log_object(&self, draft: &mut Draft<'_>, id: &Id) {
        draft.log(|| Act::Object {
            id: id.clone(),
            withdrawn: self.withdrawn.contains_key(id),
            withdrawals: self.withdrawals,
        });
    }

    /// Takes over the object in an act of the intake.
    pub(crate) fn observe(&mut self, id: &Id, withdrawn: bool, withdrawals: u64) {
        self.recent.remove(id);
        self.withdrawals = withdrawals;
        if withdrawn {
            self.withdraw(id.clone());
        } else {
            self.unmark(id);
        }
    }

    /// Marks an object as withdrawn; returns whether that is new.
    fn withdraw(&mut self, object: Id) -> bool {
        self.withdrawn_hashes.insert(About::object_hash(&object), ());
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
        self.count(Some(row), None);
        self.recent.remove(id);
        draft.delete(Partition::Base, object_key(id));
        if self.bring_back(draft, id) {
            self.log_object(draft, id);
        }
    }

    /// Deletes or shrinks some rows of obsolete objects: more than the step has written.
    pub(crate) fn sweep(&mut self, draft: &mut Draft<'_>) -> Result<(), Unreadable> {
        let most = SWEPT_PER_STEP + SWEPT_PER_WRITTEN * std::mem::take(&mut self.written);
        let Some((from, before)) = self.sweep_from.take().zip(self.forgotten_before) else {
            return Ok(());
        };
        let until = days_key().day(before).done();
        let mut found: Vec<Vec<u8>> = Vec::new();
        draft.view.scan(Partition::Base, &from, Some(&until), &mut |key, _| {
            found.push(key.to_vec());
            if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        for key in &found {
            let id = key.get(REST + size_of::<Day>()..);
            let id = id.and_then(|id| Id::new(std::str::from_utf8(id).ok()?).ok());
            let (day, id) = day_at(key, REST)
                .zip(id)
                .ok_or_else(|| Unreadable("the key of an object's day is odd".to_owned()))?;
            let row = draft
                .get(Partition::Base, &object_key(&id))?
                .map(|bytes| from_json::<ObjectRow>("an object", &bytes));
            match row.transpose()?.filter(|row| row.newest == day) {
                Some(row) => {
                    self.shrink(draft, &row);
                }
                None => draft.delete(Partition::Base, key.clone()),
            }
        }
        // There may be more: the next step goes on from here.
        if found.len() == most {
            self.sweep_from = found.pop();
        }
        // What shrinks is no more work for the next step.
        self.written = 0;
        Ok(())
    }
}
