//! From a planned message to a batch: objects as they are now, grouped, ready to be rendered.
//!
//! One presenter serves many messages of one moment: each event and object is read once.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::accepted;
use super::draft::Draft;
use super::objects::{ObjectRow, object_key};
use super::plan::{Plan, PlannedMessage};
use super::state::Engine;
use crate::batch::Batch;
use crate::event::Object;
use crate::group::{Entry, group};
use crate::id::Id;
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable, from_json};
use crate::message::Message;
use crate::table::Partition;
use crate::time::Day;

/// The `data` of an event, shared by all its messages.
pub(super) type Data = Option<Arc<serde_json::Map<String, serde_json::Value>>>;

/// The prefix of a follower's reason.
const TOPIC: &str = "topic:";

/// A presenter, which makes batches from planned messages.
pub struct Presenter<'a> {
    engine: &'a Engine,
    draft: Draft<'a>,
    data: FxHashMap<(Day, EventAt), Data>,
    objects: FxHashMap<Id, Arc<Object>>,
    actors: FxHashMap<Id, Arc<Object>>,
}

impl<'a> Presenter<'a> {
    /// Creates a presenter over the stored state.
    #[must_use]
    pub fn new(engine: &'a Engine, view: &'a dyn ReadView) -> Self {
        Self {
            engine,
            draft: Draft::new(view),
            data: FxHashMap::default(),
            objects: FxHashMap::default(),
            actors: FxHashMap::default(),
        }
    }

    /// A planned message as a batch; `None` if it is empty or the recipient was erased.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn batch(
        &mut self,
        plan: &Plan,
        planned: &PlannedMessage,
    ) -> Result<Option<Batch>, Unreadable> {
        let bucket = self.engine.bucket(plan.closing.bucket);
        let Some(rules) = self.engine.rules() else {
            return Ok(None);
        };
        let Some(profile) = bucket.roster.profile(planned.number).cloned() else {
            return Ok(None);
        };
        let Some(message) = self.engine.message(plan, planned) else {
            return Ok(None);
        };
        let mut entries = Vec::with_capacity(planned.entries.len());
        let id = batch_id(&message);
        for (source, item) in planned.entries.iter().zip(message.items) {
            let (day, at) = plan.event_at(*source);
            let header = plan.headers[*source as usize].clone();
            entries.push(Entry {
                t: item.t,
                reasons: item.reasons,
                object: self.object(&item.object)?,
                actor: header.actor.as_ref().map(|id| self.actor(id)).transpose()?,
                target: header
                    .target
                    .as_ref()
                    .map(|id| self.object(id))
                    .transpose()?,
                data: self.data(day, at)?,
                header,
            });
        }
        let topics = self.topics(&entries)?;
        Ok(Some(Batch {
            id,
            message: plan.closing.message(planned.number),
            tz: profile
                .tz
                .clone()
                .unwrap_or_else(|| rules.defaults.tz.clone()),
            locale: profile
                .locale
                .clone()
                .unwrap_or_else(|| rules.defaults.locale.clone()),
            recipient: profile,
            channel: message.channel,
            lane: message.lane,
            key: message.key,
            at: message.at,
            entries: entries.len(),
            groups: group(entries, rules),
            topics,
        }))
    }

    /// The topics among the reasons that have a title.
    fn topics(&mut self, entries: &[Entry]) -> Result<Vec<Arc<Object>>, Unreadable> {
        let reasons = entries.iter().flat_map(|entry| &entry.reasons);
        let topics: BTreeSet<&str> = reasons
            .filter_map(|reason| reason.strip_prefix(TOPIC))
            .collect();
        let mut titled = Vec::new();
        for topic in topics.into_iter().filter_map(|topic| Id::new(topic).ok()) {
            let object = self.object(&topic)?;
            if object.title.is_some() {
                titled.push(object);
            }
        }
        Ok(titled)
    }

    /// The `data` of an event.
    pub(super) fn data(&mut self, day: Day, at: EventAt) -> Result<Data, Unreadable> {
        if !self.data.contains_key(&(day, at)) {
            self.read_data(day, &BTreeSet::from([at]))?;
        }
        Ok(self.data.get(&(day, at)).cloned().flatten())
    }

    /// Prefetches the `data` of several events as a day has them.
    pub(super) fn read_data(
        &mut self,
        day: Day,
        events: &BTreeSet<EventAt>,
    ) -> Result<(), Unreadable> {
        accepted::read_data(self.draft.view, day, events, |at, data| {
            self.data.insert((day, at), data.map(Arc::new));
        })
    }

    /// An actor as it is now: with the name of the recipient of the same id if the object has no title.
    pub(super) fn actor(&mut self, id: &Id) -> Result<Arc<Object>, Unreadable> {
        if let Some(actor) = self.actors.get(id) {
            return Ok(Arc::clone(actor));
        }
        let mut actor = self.object(id)?;
        if actor.title.is_none()
            && let Some(name) = self
                .engine
                .recipient(id)
                .and_then(|found| found.name.as_ref())
        {
            Arc::make_mut(&mut actor).title = Some(name.clone());
        }
        self.actors.insert(id.clone(), Arc::clone(&actor));
        Ok(actor)
    }

    /// An object as it is now.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn object(&mut self, id: &Id) -> Result<Arc<Object>, Unreadable> {
        if let Some(object) = self.objects.get(id) {
            return Ok(Arc::clone(object));
        }
        let object = match self.draft.get(Partition::Base, &object_key(id))? {
            Some(bytes) => from_json::<ObjectRow>("an object", &bytes)?.object,
            None => Object::bare(id.clone()),
        };
        let object = Arc::new(object);
        self.objects.insert(id.clone(), Arc::clone(&object));
        Ok(object)
    }
}

/// The id of a batch, the same on every machine and after every restore: from recipient, channel, lane,
/// the closing's instant and the first entry.
#[must_use]
pub fn batch_id(message: &Message) -> String {
    let mut named = Vec::new();
    let first = message.items.first();
    let at = message.at.0.to_be_bytes();
    let parts: [&[u8]; 5] = [
        message.recipient.as_str().as_bytes(),
        message.channel.as_bytes(),
        message.lane.as_bytes(),
        &at,
        first.map_or(&[], |item| item.event.as_str().as_bytes()),
    ];
    for part in parts {
        named.extend_from_slice(&(part.len() as u64).to_be_bytes());
        named.extend_from_slice(part);
    }
    format!("{:032x}", xxh3_128(&named))
}
