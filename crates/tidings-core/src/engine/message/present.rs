//! From a planned message to a batch: objects as they are now, grouped, ready to be rendered.
//!
//! One presenter serves many messages of one moment: each event and object is read once.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::plan::{Plan, PlannedMessage};
use crate::content::batch::{Batch, TRACES_MAX};
use crate::content::group::{Entry, group};
use crate::content::message::Message;
use crate::engine::intake::accepted;
use crate::engine::intake::state::EventContent;
use crate::engine::replies::refused::StepError;
use crate::engine::rows::draft::Draft;
use crate::engine::send_checks::addresses::TenantChannel;
use crate::engine::state::Engine;
use crate::journal::record::EventAt;
use crate::journal::stored::{ReadView, Unreadable};
use crate::model::channel::{AddressKind, channel_kind, channel_no};
use crate::model::event::Object;
use crate::model::event::trace::Trace;
use crate::model::id::Id;
use crate::model::number::MessageId;
use crate::model::recipient::Recipient;
use crate::model::tenant::View;
use crate::model::time::{Day, Instant};
use crate::rules::Rules;

/// The prefix of a follower's reason.
const TOPIC: &str = "topic:";

/// A presenter, which makes batches from planned messages.
pub struct Presenter<'a> {
    engine: &'a Engine,
    draft: Draft<'a>,
    contents: FxHashMap<(Day, EventAt), EventContent>,
    objects: FxHashMap<Id, Arc<Object>>,
    actors: FxHashMap<Id, Arc<Object>>,
    of_plan: Option<PlanEntries<'a>>,
}

/// The entries of a plan, which its messages share.
struct PlanEntries<'a> {
    plan: &'a Plan,
    /// By source; `None` = no message had it yet.
    sources: Vec<Option<SharedEntry>>,
}

/// An entry, the same for all recipients.
#[derive(Clone)]
struct SharedEntry {
    entry: Entry,
    /// The topics among its reasons that have a title.
    topics: Vec<Arc<Object>>,
    trace: Option<Trace>,
}

/// Puts the address of the channel's `redirect` in place of a recipient's, and returns that; `None` = there is no such
/// address, or nothing to redirect.
fn redirected(rules: &Rules, channel: &str, profile: &mut Recipient) -> Option<String> {
    let redirect = rules.channels.get(channel)?.redirect.as_ref()?;
    let number = channel_no(channel)?;
    let own = profile.addresses.of(number).next()?.to_owned();
    profile.addresses.set(number, std::slice::from_ref(redirect));
    Some(own)
}

impl<'a> Presenter<'a> {
    /// Creates a presenter over the stored state.
    #[must_use]
    pub fn new(engine: &'a Engine, view: &'a dyn ReadView) -> Self {
        Self {
            engine,
            draft: Draft::new(view),
            contents: FxHashMap::default(),
            objects: FxHashMap::default(),
            actors: FxHashMap::default(),
            of_plan: None,
        }
    }

    /// A message that was built before, as a batch of what is still known; `None` where the store has it no longer, its
    /// recipient was erased, or its tenant was deleted. True if all of its entries are known.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn built(
        engine: &Engine,
        view: &dyn ReadView,
        message: MessageId,
        from: Day,
    ) -> Result<Option<(Batch, bool)>, Unreadable> {
        let Some(message) = engine.reader(view).message_of(message, from)? else {
            return Ok(None);
        };
        let (plan, planned) = engine.reader(view).message_at(&message)?;
        let tenants = &engine.intake.tenants;
        if plan.tenant.is_some_and(|tenant| tenants.get(tenant).is_none()) {
            return Ok(None);
        }
        let is_whole = planned.len() == message.entries;
        let batch = Presenter::new(engine, view).batch(&plan, &planned)?;
        Ok(batch.map(|batch| (batch, is_whole)))
    }

    /// A planned message as a batch; `None` if it is empty or the recipient was erased.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn batch(
        &mut self,
        plan: &'a Plan,
        planned: &PlannedMessage,
    ) -> Result<Option<Batch>, Unreadable> {
        let bucket = self.engine.shards.bucket(plan.closing.bucket);
        let Some(rules) = self.engine.rules() else {
            return Ok(None);
        };
        let Some(mut profile) = bucket.roster.profile(planned.number).cloned() else {
            return Ok(None);
        };
        let intake = &self.engine.intake;
        let tenant = plan.tenant.and_then(|tenant| intake.tenants.get(tenant));
        if let Some(channel) = channel_no(plan.channel) {
            TenantChannel { channel, tenant: plan.tenant }.narrow(intake, &mut profile);
        }
        let meant_for = redirected(rules, plan.channel, &mut profile);
        let Some(first) = planned.entries.first() else {
            return Ok(None);
        };
        let id = id_of(
            &profile.id,
            plan.channel,
            &plan.lane_name,
            plan.at,
            Some(&plan.headers[*first as usize].id),
        );
        let mut of_plan = match self.of_plan.take() {
            Some(known) if std::ptr::eq(known.plan, plan) => known,
            _ => PlanEntries { plan, sources: vec![None; plan.headers.len()] },
        };
        for source in &planned.entries {
            let of_source = &mut of_plan.sources[*source as usize];
            if of_source.is_none() {
                *of_source = Some(self.of_source(plan, *source)?);
            }
        }
        let sources =
            planned.entries.iter().filter_map(|source| of_plan.sources[*source as usize].as_ref());
        let entries: Vec<&Entry> = sources.clone().map(|of| &of.entry).collect();
        let traces: IndexSet<Trace> =
            sources.clone().filter_map(|of| of.trace).take(TRACES_MAX).collect();
        let mut topics: Vec<&Arc<Object>> = sources.flat_map(|of| &of.topics).collect();
        topics.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        topics.dedup_by(|a, b| a.id == b.id);
        let topics = topics.into_iter().cloned().collect();
        let badge = self.badge(plan.channel, &profile.id)?;
        let batch = Batch {
            id,
            message: plan.closing.message(planned.number),
            tz: (profile.tz.as_ref())
                .or_else(|| tenant?.tenant.tz.as_ref())
                .unwrap_or(&rules.defaults.tz)
                .clone(),
            locale: (profile.locale.as_ref())
                .or_else(|| tenant?.tenant.locale.as_ref())
                .unwrap_or(&rules.defaults.locale)
                .clone(),
            recipient: profile,
            meant_for,
            channel: plan.channel.to_owned(),
            lane: plan.lane_name.clone(),
            key: plan.key.clone(),
            tenant: tenant.cloned(),
            at: plan.as_of,
            entries: entries.len(),
            groups: group(entries, rules),
            topics,
            traces: traces.into_iter().collect(),
            badge,
        };
        self.of_plan = Some(of_plan);
        Ok(Some(batch))
    }

    /// The badge that a device shows, of a message that goes to one.
    pub(crate) fn badge(&self, channel: &str, recipient: &Id) -> Result<Option<u64>, Unreadable> {
        let kind = channel_kind(channel).and_then(|channel| channel.address);
        if !kind.is_some_and(AddressKind::is_device) {
            return Ok(None);
        }
        match self.engine.reader(self.draft.view).inbox_counts(recipient, &View::All) {
            Ok(counts) => Ok(Some(counts.unseen).filter(|unseen| *unseen > 0)),
            Err(StepError::Refused(_)) => Ok(None),
            Err(StepError::Unreadable(fault)) => Err(fault),
        }
    }

    /// A source of a plan.
    fn of_source(&mut self, plan: &Plan, source: u32) -> Result<SharedEntry, Unreadable> {
        let (day, at) = plan.event_at(source);
        let header = plan.headers[source as usize].clone();
        let item = plan.item(source);
        let target = header.target.as_ref();
        let EventContent { data, body, trace } = self.content(day, at)?;
        let mut topics = Vec::new();
        for reason in &item.reasons {
            let topic = reason.strip_prefix(TOPIC).map(Id::new);
            if let Some(Ok(topic)) = topic {
                topics.push(self.object(&topic)?);
            }
        }
        topics.retain(|topic| topic.title.is_some());
        let entry = Entry {
            t: item.t,
            reasons: item.reasons.into(),
            object: self.object(&header.object)?,
            actor: header.actor.as_ref().map(|id| self.actor(id)).transpose()?,
            target: target.map(|id| self.object(id)).transpose()?,
            data,
            body,
            header,
        };
        Ok(SharedEntry { entry, topics, trace })
    }

    /// The content of an event.
    pub(crate) fn content(
        &mut self,
        day: Day,
        address: EventAt,
    ) -> Result<EventContent, Unreadable> {
        if let Some(known) = self.engine.intake.contents.get(&(day, address)) {
            return Ok(known);
        }
        if !self.contents.contains_key(&(day, address)) {
            self.read_contents(day, &BTreeSet::from([address]))?;
        }
        Ok(self.contents.get(&(day, address)).cloned().unwrap_or_default())
    }

    /// Prefetches the contents of several events as a day has them.
    pub(crate) fn read_contents(
        &mut self,
        day: Day,
        events: &BTreeSet<EventAt>,
    ) -> Result<(), Unreadable> {
        let recent = &self.engine.intake.contents;
        let mut unknown = BTreeSet::new();
        for at in events {
            match recent.get(&(day, *at)) {
                Some(content) => {
                    self.contents.insert((day, *at), content);
                }
                None => {
                    unknown.insert(*at);
                }
            }
        }
        accepted::read_contents(self.draft.view, day, &unknown, |at, content, bytes| {
            recent.keep((day, at), content.clone(), bytes);
            self.contents.insert((day, at), content);
        })
    }

    /// An actor as it is now: with the name of the recipient of the same id if the object has no title.
    pub(crate) fn actor(&mut self, id: &Id) -> Result<Arc<Object>, Unreadable> {
        if let Some(actor) = self.actors.get(id) {
            return Ok(Arc::clone(actor));
        }
        let mut actor = self.object(id)?;
        if actor.title.is_none()
            && let Some(name) = self.engine.recipient(id).and_then(|found| found.name.as_ref())
        {
            Arc::make_mut(&mut actor).title = Some(name.as_str().into());
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
        let object = self.engine.intake.objects.now(&self.draft, id)?;
        self.objects.insert(id.clone(), Arc::clone(&object));
        Ok(object)
    }
}

/// The id of a batch, the same on every machine and after every restore: from recipient, channel, lane,
/// the closing's instant and the first entry.
#[must_use]
pub fn batch_id(message: &Message) -> String {
    let first = message.items.first();
    let Message { recipient, channel, lane, at, .. } = message;
    id_of(recipient, channel, lane, *at, first.map(|item| &item.event))
}

fn id_of(recipient: &Id, channel: &str, lane: &str, at: Instant, first: Option<&Id>) -> String {
    let mut named = Vec::new();
    let at = at.0.to_be_bytes();
    let pieces: [&[u8]; 5] = [
        recipient.as_str().as_bytes(),
        channel.as_bytes(),
        lane.as_bytes(),
        &at,
        first.map_or(&[], |event| event.as_str().as_bytes()),
    ];
    for piece in pieces {
        named.extend_from_slice(&(piece.len() as u64).to_be_bytes());
        named.extend_from_slice(piece);
    }
    format!("{:032x}", xxh3_128(&named))
}
