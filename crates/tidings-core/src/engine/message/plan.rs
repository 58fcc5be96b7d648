//! The planner: selects the entries of a closing's messages and checks each once more.
//!
//! The closing fixes the members of a message, these checks its content. The planner works between two steps on the
//! engine's own state, in slices as large as delivery has room for, so nothing can happen between the checks and the
//! batch that is written.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::bucket::Bucket;
use crate::content::message::{Item, Message, SkippedEntry};
use crate::engine::message::sent::Sent;
use crate::engine::replies::unanswered::UnansweredCondition;
use crate::engine::rows::draft::Draft;
use crate::engine::send_checks::addresses::TenantChannel;
use crate::engine::send_checks::condition::{ConditionAnswers, ask};
use crate::engine::send_checks::look::{Checks, EndedRecipients, SendCheckFacts, facts_of};
use crate::engine::shard::mute::silenced;
use crate::engine::state::Engine;
use crate::index::headers::Header;
use crate::index::{Found, FoundArrival, FoundEntry, SearchFilter};
use crate::journal::record::{EventAt, Variant};
use crate::journal::stored::{ReadView, StoredArrival, Unreadable};
use crate::model::batch_key::{BatchKey, LaneKey};
use crate::model::channel::{ChannelNo, INBOX_NO, channel_no};
use crate::model::id::Id;
use crate::model::number::{ClosingId, LaneNo, MessageId, RecipientNo, Seq, TypeNo};
use crate::model::reason::Reason;
use crate::model::tenant::TenantNo;
use crate::model::time::{Day, Instant};
use crate::rules::UnresolvedFate;
use crate::rules::compiled::{RulesVersion, Type};
use crate::rules::lane_kind::LaneKind;

/// A plan: messages of one closing that are ready to be recorded.
#[derive(Debug)]
pub struct Plan {
    /// The closing.
    pub closing: ClosingId,
    /// The instant of the closing's record.
    pub at: Instant,
    /// The clock's time then, as of which entries are checked: earlier, if it was put back.
    pub as_of: Instant,
    /// The channel.
    pub channel: &'static str,
    /// The lane's name.
    pub lane_name: String,
    /// The lane's batch key.
    pub key: BatchKey,
    /// The lane's tenant; `None` = of none.
    pub tenant: Option<TenantNo>,
    /// One message per recipient, by number; some may be empty.
    pub messages: Vec<PlannedMessage>,
    /// Messages that can't be rebuilt: whether they were sent is unknown.
    pub unrecoverable: Vec<Sent>,
    /// Conditions without an answer.
    pub unanswered: Vec<UnansweredCondition>,
    pub(crate) lane: LaneNo,
    pub(crate) found: Found,
    pub(crate) headers: Vec<Header>,
}

/// The entries of one recipient's message of a closing. Sources are indexes into the plan's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMessage {
    /// The recipient's number in the bucket.
    pub number: RecipientNo,
    /// Its entries, by (t, arrival).
    pub(crate) entries: Vec<u32>,
    /// The entries that ended at this check, in the same order.
    pub(crate) ended: Vec<(u32, Reason)>,
}

/// The preferences for a type that a check uses.
#[derive(Default)]
struct TypePreferences {
    never: RoaringBitmap,
    digest: RoaringBitmap,
}

impl PlannedMessage {
    /// Number of entries in the message.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if it has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Plan {
    /// The seqs of a message's entries.
    #[must_use]
    pub fn seqs(&self, planned: &PlannedMessage) -> Vec<Seq> {
        planned.entries.iter().map(|source| self.found.source(*source).0.seq).collect()
    }

    /// Number of entries in the plan.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.messages.iter().map(|planned| planned.entries.len() + planned.ended.len()).sum()
    }
}

impl Plan {
    /// The number of its messages that show an object of which something holds.
    #[must_use]
    pub fn messages_with(&self, holds: impl Fn(&Id) -> bool) -> usize {
        let shows = |source: &u32| holds(&self.headers[*source as usize].object);
        self.messages.iter().filter(|planned| planned.entries.iter().any(shows)).count()
    }

    /// The objects that its messages show, each once, and whether an entry's type waits for the host's
    /// word on it.
    #[must_use]
    pub fn objects(&self, engine: &Engine) -> BTreeMap<&Id, bool> {
        let version = engine.intake.compiled.current();
        let mut objects = BTreeMap::new();
        let shown: BTreeSet<u32> =
            self.messages.iter().flat_map(|planned| planned.entries.iter().copied()).collect();
        for source in shown {
            let type_no = self.found.source(source).0.arrival.type_no;
            let of_type = version.and_then(|version| version.of_type(type_no));
            let waits =
                of_type.is_some_and(|of_type| of_type.rules.unresolved == UnresolvedFate::Wait);
            *objects.entry(&self.headers[source as usize].object).or_default() |= waits;
        }
        objects
    }
}

impl Engine {
    /// A planned message as views show it; `None` if it is empty or the recipient was erased.
    #[must_use]
    pub fn message(&self, plan: &Plan, planned: &PlannedMessage) -> Option<Message> {
        let bucket = self.shards.bucket(plan.closing.bucket);
        let profile = bucket.roster.profile(planned.number)?;
        (!planned.is_empty()).then(|| Message {
            at: plan.as_of,
            recipient: profile.id.clone(),
            channel: plan.channel.to_owned(),
            lane: plan.lane_name.clone(),
            key: plan.key.clone(),
            tenant: self.intake.tenants.id(plan.tenant).cloned(),
            items: planned.entries.iter().map(|source| plan.item(*source)).collect(),
            skipped: planned
                .ended
                .iter()
                .map(|(source, reason)| SkippedEntry {
                    event: plan.headers[*source as usize].id.clone(),
                    reason: *reason,
                })
                .collect(),
        })
    }
}

/// The planner: an engine between two steps, beside the store that it reads.
#[derive(Clone, Copy)]
pub struct Planner<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) view: &'a dyn ReadView,
}

impl Engine {
    /// The planner, over the store as the view shows it.
    #[must_use]
    pub fn planner<'a>(&'a self, view: &'a dyn ReadView) -> Planner<'a> {
        let engine = self;
        Planner { engine, view }
    }
}

impl Planner<'_> {
    /// Checks the entries of at most `most` recipients of a closing, as of the instant at which it was
    /// due, however late that is. Reads only.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn plan(&self, closing: ClosingId, most: usize) -> Result<Option<Plan>, Unreadable> {
        self.plan_wanted(closing, most, &mut |_| true)
    }

    /// [`Planner::plan`] for the wanted messages alone.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn plan_wanted(
        &self,
        closing: ClosingId,
        most: usize,
        is_wanted: &mut dyn FnMut(MessageId) -> bool,
    ) -> Result<Option<Plan>, Unreadable> {
        let Planner { engine, view } = *self;
        let bucket = engine.shards.bucket(closing.bucket);
        let Some(open) = bucket.closings.get(&closing.seq) else {
            return Ok(None);
        };
        let names = &engine.intake.compiled.names;
        let lane = names.lane(open.lane.lane);
        let members: BTreeMap<u32, Seq> = open
            .unmade
            .iter()
            .filter(|(number, _)| is_wanted(closing.message(RecipientNo(**number))))
            // A slice, so that planning a large closing delays no command for long.
            .take(most)
            .map(|(number, since)| (*number, *since))
            .collect();
        let Some(from) = members.values().min().copied() else {
            return Ok(None);
        };
        let recipients: RoaringBitmap = members.keys().copied().collect();
        let least = recipients.min().unwrap_or(0);
        // Windows of one closing began at different seqs.
        let mut since = vec![Seq::LAST; (recipients.max().unwrap_or(0) - least) as usize + 1];
        for (number, seq) in &members {
            since[(number - least) as usize] = *seq;
        }
        let takes =
            |kept: &StoredArrival, variant: &Variant| open.lane.has(names, &kept.arrival, variant);
        let has = |number: u32, kept: &StoredArrival| {
            // Entries before a window began belong to an earlier closing. What has ended since is not planned again.
            since[(number - least) as usize] <= kept.seq
                && !bucket.ended.has(kept.seq, lane.channel, number)
        };
        let look = SearchFilter {
            from,
            to: closing.seq,
            recipients: &recipients,
            takes: &takes,
            has: &has,
        };
        let mut found = bucket.index.look(view, &look)?;
        found.sort();
        let mut plan = self.plan_of(closing, &open.lane, open.at, open.clock, found)?;
        let draft = Draft::new(view);
        let answers = self.answers(&draft, bucket, &plan)?;
        plan.messages = self.planned(&draft, bucket, &recipients, &plan, &answers)?;
        plan.unanswered = self.unanswered(&plan, &answers);
        Ok(Some(plan))
    }

    /// A plan of the entries found, without messages.
    pub(crate) fn plan_of(
        &self,
        closing: ClosingId,
        lane: &LaneKey,
        at: Instant,
        as_of: Instant,
        found: Found,
    ) -> Result<Plan, Unreadable> {
        let Planner { engine, view } = *self;
        let headers = found.sources.iter().map(|FoundArrival { kept, .. }| {
            let arrival = &kept.arrival;
            engine.intake.header(view, arrival.at.day(), arrival.event)
        });
        let headers = headers.collect::<Result<Vec<_>, _>>()?;
        let name = engine.intake.compiled.names.lane(lane.lane);
        Ok(Plan {
            closing,
            at,
            as_of,
            channel: name.channel.name(),
            lane_name: name.name.clone(),
            key: lane.key.clone(),
            tenant: lane.tenant,
            messages: Vec::new(),
            unrecoverable: Vec::new(),
            unanswered: Vec::new(),
            lane: lane.lane,
            found,
            headers,
        })
    }

    /// The messages of a plan: the entries found, after their checks.
    pub(crate) fn planned(
        &self,
        draft: &Draft<'_>,
        bucket: &Bucket,
        recipients: &RoaringBitmap,
        plan: &Plan,
        answers: &[ConditionAnswers],
    ) -> Result<Vec<PlannedMessage>, Unreadable> {
        let engine = self.engine;
        let Plan { as_of: at, found, headers, lane, .. } = plan;
        let channel = engine.intake.compiled.names.lane(*lane).channel;
        let version = engine.intake.compiled.current();
        let choices = version
            .map(|version| self.choices(bucket, version, channel, recipients, found))
            .unwrap_or_default();
        let never = self.unwanted_sources(draft, bucket, channel, recipients, found, &choices)?;
        let there = self.seen_in_inboxes(draft, bucket, channel, found)?;
        let sources = || found.sources.iter().map(|source| &*source.kept).zip(headers);
        let is_seen: Vec<_> = sources()
            .map(|(kept, header)| {
                let type_no = kept.arrival.type_no;
                let of_type = version.and_then(|version| version.of_type(type_no));
                let digest = choices.get(&type_no).map(|choices| &choices.digest);
                let counts = move |number| {
                    let is_digest = digest.is_some_and(|digest| digest.contains(number));
                    of_type.is_none_or(|of_type| of_type.rules.drops_seen(is_digest))
                };
                let there = there.get(&kept.arrival.place);
                move |number| {
                    counts(number) && self.has_seen(bucket, RecipientNo(number), kept, header)
                        || there.is_some_and(|recipients| recipients.contains(number))
                }
            })
            .collect();
        // People, suppressions and preferences count as they are now; only time counts as of the closing
        // (`at`), so that a late server drops nothing as expired or stale that was due in time.
        let gone = recipients & &*bucket.roster.gone;
        let way = TenantChannel { channel, tenant: plan.tenant };
        let no_address = way.without(&engine.intake, bucket, recipients);
        let suppressed = way.suppressed(&engine.intake, bucket, recipients, *at);
        let not_allowed = way.not_allowed(&engine.intake, bucket, recipients);
        let checks: Vec<Checks<'_>> = sources()
            .zip(&is_seen)
            .zip(&never)
            .zip(answers)
            .map(|((((kept, header), is_seen), never), answers)| {
                let facts = SendCheckFacts {
                    gone: EndedRecipients::Of(&gone),
                    never: EndedRecipients::Of(never),
                    untrue: EndedRecipients::Of(&answers.untrue),
                    unanswered: EndedRecipients::Of(&answers.unanswered),
                    seen: EndedRecipients::Where(is_seen),
                    no_address: EndedRecipients::Of(&no_address),
                    suppressed: EndedRecipients::Of(&suppressed),
                    not_allowed: EndedRecipients::Of(&not_allowed),
                    ..facts_of(&engine.intake.compiled, &engine.intake, kept, header, *at)
                };
                facts.checks()
            })
            .collect();
        let mut all: Vec<PlannedMessage> =
            Vec::with_capacity(usize::try_from(recipients.len()).unwrap_or(0));
        let mut groups = found.by_recipient().peekable();
        for number in recipients {
            let mut planned = PlannedMessage {
                number: RecipientNo(number),
                entries: Vec::new(),
                ended: Vec::new(),
            };
            if let Some(entries) = groups.next_if(|entries| entries[0].number == number) {
                let mut sources: Vec<u32> = entries.iter().map(|entry| entry.source).collect();
                let key = |source: &u32| {
                    let arrival = &found.source(*source).0.arrival;
                    (arrival.t, arrival.place)
                };
                // Entries are found by seq, which a move changes: sorting puts a moved entry back at its
                // (t, arrival).
                if !sources.is_sorted_by_key(key) {
                    sources.sort_by_key(key);
                }
                for source in sources {
                    // The first check that applies gives the reason: their order is promised to users.
                    match checks[source as usize].end_of(number) {
                        Some(reason) => planned.ended.push((source, reason)),
                        None => planned.entries.push(source),
                    }
                }
            }
            // Recipients without entries are kept: their empty message has to be recorded, or the closing
            // would stay open.
            all.push(planned);
        }
        Ok(all)
    }

    /// By source, the results of its type's condition for its recipients.
    pub(crate) fn answers(
        &self,
        draft: &Draft<'_>,
        bucket: &Bucket,
        plan: &Plan,
    ) -> Result<Vec<ConditionAnswers>, Unreadable> {
        let engine = self.engine;
        let found = &plan.found;
        let mut answers = vec![ConditionAnswers::default(); found.sources.len()];
        let of_type = |index: u32| {
            self.type_of(found.source(index).0).filter(|of_type| of_type.condition.is_some())
        };
        let conditional: Vec<u32> =
            (0..).take(answers.len()).filter(|index| of_type(*index).is_some()).collect();
        if conditional.is_empty() {
            return Ok(answers);
        }
        let mut recipients = vec![RoaringBitmap::new(); answers.len()];
        for FoundEntry { number, source } in &found.entries {
            recipients[*source as usize].insert(*number);
        }
        for index in conditional {
            if let Some(of_type) = of_type(index) {
                let (intake, kept) = (&engine.intake, found.source(index).0);
                let recipients = &recipients[index as usize];
                answers[index as usize] =
                    ask(draft, intake, bucket, of_type, kept, plan.as_of, recipients)?;
            }
        }
        Ok(answers)
    }

    fn type_of(&self, kept: &StoredArrival) -> Option<&Type> {
        let engine = self.engine;
        let version = engine.intake.compiled.current()?;
        version.of_type(kept.arrival.type_no)
    }

    /// The conditions without an answer that have ended entries of a plan.
    fn unanswered(&self, plan: &Plan, answers: &[ConditionAnswers]) -> Vec<UnansweredCondition> {
        let mut entries: BTreeMap<u32, u64> = BTreeMap::new();
        for (source, reason) in plan.messages.iter().flat_map(|planned| &planned.ended) {
            if *reason == Reason::ConditionError {
                *entries.entry(*source).or_default() += 1;
            }
        }
        let reports = entries.into_iter().filter_map(|(source, entries)| {
            let event = &plan.headers[source as usize].id;
            let of_type = self.type_of(plan.found.source(source).0)?;
            answers[source as usize].report(event, of_type, entries)
        });
        reports.collect()
    }

    /// By source, the recipients who refuse its entries: by a `never`, or by a mute that leaves no reason.
    fn unwanted_sources<'c>(
        &self,
        draft: &Draft<'_>,
        bucket: &Bucket,
        channel: ChannelNo,
        recipients: &RoaringBitmap,
        found: &Found,
        choices: &'c FxHashMap<TypeNo, TypePreferences>,
    ) -> Result<Vec<Cow<'c, RoaringBitmap>>, Unreadable> {
        let engine = self.engine;
        let version = engine.intake.compiled.current();
        let mut all = Vec::with_capacity(found.sources.len());
        for at in (0..).take(found.sources.len()) {
            let (kept, variant) = found.source(at);
            let number = kept.arrival.type_no;
            let never = choices
                .get(&number)
                .map(|choices| &choices.never)
                .map_or_else(Cow::default, Cow::Borrowed);
            let Some(of_type) = version.and_then(|version| version.of_type(number)) else {
                all.push(never);
                continue;
            };
            let silenced = silenced(draft, bucket, of_type, kept, variant, channel, recipients)?;
            all.push(if silenced.is_empty() { never } else { Cow::Owned(silenced | &*never) });
        }
        Ok(all)
    }

    /// The preferences of these recipients on a channel, by type.
    fn choices(
        &self,
        bucket: &Bucket,
        version: &RulesVersion,
        channel: ChannelNo,
        recipients: &RoaringBitmap,
        found: &Found,
    ) -> FxHashMap<TypeNo, TypePreferences> {
        let engine = self.engine;
        let mut all: FxHashMap<TypeNo, TypePreferences> = FxHashMap::default();
        for FoundArrival { kept, .. } in &found.sources {
            let number = kept.arrival.type_no;
            let Some(of_type) = version.of_type(number) else {
                continue;
            };
            all.entry(number).or_insert_with(|| {
                let tenant = kept.arrival.tenant;
                let by_mode =
                    bucket.preferences.split(channel, of_type, tenant, recipients.clone());
                let mut choices = TypePreferences::default();
                for (mode, subset) in by_mode {
                    match of_type
                        .lane(channel, mode.as_ref())
                        .map(|no| &engine.intake.compiled.names.lane(no).kind)
                    {
                        None => choices.never |= subset,
                        Some(LaneKind::Digest(_)) => choices.digest |= subset,
                        Some(_) => {}
                    }
                }
                choices
            });
        }
        all
    }
}

impl Plan {
    /// Sorts sources as in a message: by (t, arrival).
    pub(crate) fn order(&self, sources: &mut [u32]) {
        sources.sort_by_key(|source| {
            let arrival = &self.found.source(*source).0.arrival;
            (arrival.t, arrival.place)
        });
    }

    pub(crate) fn item(&self, source: u32) -> Item {
        let (kept, variant) = self.found.source(source);
        let channel = channel_no(self.channel).unwrap_or(INBOX_NO);
        let header = &self.headers[source as usize];
        Item {
            event: header.id.clone(),
            event_type: header.event_type.clone(),
            object: header.object.clone(),
            t: kept.arrival.t,
            reasons: kept.arrival.reasons_of(variant, channel),
        }
    }

    /// The day that has a source's event, and its address.
    pub(crate) fn event_at(&self, source: u32) -> (Day, EventAt) {
        let arrival = &self.found.source(source).0.arrival;
        (arrival.at.day(), arrival.event)
    }
}
