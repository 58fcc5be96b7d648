//! From a letter to a batch: objects as they are now, grouped, ready to be rendered.
//!
//! One presenter serves many letters of one moment: each event and object is read once.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::Engine;
use super::accepted;
use super::draft::Draft;
use super::intake::{ObjectRow, from_json, object_key};
use super::plan::{Letter, Plan};
use crate::batch::Batch;
use crate::event::Object;
use crate::group::{Told, group};
use crate::id::Id;
use crate::journal::at_rest::{Shelf, Unreadable};
use crate::message::Message;
use crate::table::Partition;
use crate::time::Day;

type Data = Option<Arc<serde_json::Map<String, serde_json::Value>>>;

/// Makes batches of letters.
pub struct Presenter<'a> {
    engine: &'a Engine,
    draft: Draft<'a>,
    data: FxHashMap<(Day, u32), Data>,
    objects: FxHashMap<Id, Arc<Object>>,
}

impl<'a> Presenter<'a> {
    /// A presenter of what is stored now.
    #[must_use]
    pub fn new(engine: &'a Engine, shelf: &'a dyn Shelf) -> Self {
        Self {
            engine,
            draft: Draft::new(shelf),
            data: FxHashMap::default(),
            objects: FxHashMap::default(),
        }
    }

    /// A letter as a batch; `None` where it tells nothing or the recipient was erased.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn batch(&mut self, plan: &Plan, letter: &Letter) -> Result<Option<Batch>, Unreadable> {
        let bucket = &self.engine.buckets[usize::from(plan.bucket)];
        let Some(rules) = self.engine.rules() else {
            return Ok(None);
        };
        let Some(profile) = bucket.roster.profile(letter.number).cloned() else {
            return Ok(None);
        };
        let Some(message) = self.engine.message(plan, letter) else {
            return Ok(None);
        };
        let mut told = Vec::with_capacity(letter.told.len());
        let id = batch_id(&message);
        for (source, item) in letter.told.iter().zip(message.items) {
            let data = self.data(plan.event_at(*source))?;
            told.push(Told {
                header: plan.headers[*source as usize].clone(),
                t: item.t,
                reasons: item.reasons,
                object: self.object(&item.object)?,
                data,
            });
        }
        Ok(Some(Batch {
            id,
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
            at: message.at,
            entries: told.len(),
            groups: group(told, rules),
        }))
    }

    fn data(&mut self, (day, ordinal): (Day, u32)) -> Result<Data, Unreadable> {
        if let Some(data) = self.data.get(&(day, ordinal)) {
            return Ok(data.clone());
        }
        let row = accepted::read(&self.draft, day, ordinal)?;
        let data = row.event.data.map(Arc::new);
        self.data.insert((day, ordinal), data.clone());
        Ok(data)
    }

    /// An object as it is known now.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn object(&mut self, id: &Id) -> Result<Arc<Object>, Unreadable> {
        if let Some(object) = self.objects.get(id) {
            return Ok(Arc::clone(object));
        }
        let object = match self.draft.get(Partition::Base, &object_key(id))? {
            Some(bytes) => from_json::<ObjectRow>("an object", &bytes)?.object,
            None => Object {
                id: id.clone(),
                title: None,
                url: None,
                image: None,
                notifiable: None,
            },
        };
        let object = Arc::new(object);
        self.objects.insert(id.clone(), Arc::clone(&object));
        Ok(object)
    }
}

/// The name of a batch, on every machine and after every restore the same: from recipient, channel,
/// lane, the closing's instant and the first entry.
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
