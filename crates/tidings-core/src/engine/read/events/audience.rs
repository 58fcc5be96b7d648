//! The recipients of an event: whom its audience reached, and what became of each of their entries.
//!
//! The sets are those of the journal: arrivals with their lanes, records that end entries, schedules, and who got no
//! entry. The row of a message is read only for recipients whom a page shows, or looks at.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::bucket::{Bucket, FrozenRecipients};
use crate::engine::read::list::{ListPage, PageBuilder, Positioned};
use crate::engine::read::messages::of_lane::{EntryMessage, LaneEntries};
use crate::engine::read::outcome::KnownEvent;
use crate::engine::read::people::{WantedRecipients, in_order};
use crate::engine::read::reader::Reader;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::ends::{ClosingEndings, EndSubject, ended_by, ends};
use crate::engine::rows::named::scheduled_key;
use crate::engine::rows::not_reached::{NotReachedReason, NotReachedSets, not_reached};
use crate::engine::shard::messages::stored_ends;
use crate::engine::shard::state::Shard;
use crate::journal::record::Record;
use crate::journal::stored::{StoredArrival, Unreadable};
use crate::journal::table::{Owner, Partition};
use crate::model::channel::ChannelNo;
use crate::model::id::Id;
use crate::model::messages::MessageName;
use crate::model::number::{EventNo, LaneNo, MessageId, RecipientAt, RecipientNo, Seq};
use crate::model::reason::{Ending, Outcome, Reason};
use crate::model::time::{Day, Instant};

/// The most recipients that a page with a filter looks at: the row of a message may be read for each of their channels.
const LOOKED_AT: usize = 1_000;

/// The state of a recipient's entry of an event on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FateState {
    /// It enters its lane later.
    Scheduled,
    /// It waits in its lane, or for its message to be built.
    Pending,
    /// Its message is on its way.
    Sending,
    /// It ended.
    Ended(Outcome),
    /// There is none.
    LeftOut,
}

/// The reason of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FateReason {
    /// The entry ended for it.
    Ended(Reason),
    /// There is no entry for it.
    NotReached(NotReachedReason),
}

/// The fate of a recipient's entry of an event on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelFate {
    /// The state.
    pub state: FateState,
    /// The reason; `None` = delivered, or open.
    pub reason: Option<FateReason>,
    /// The message that has it, or has left it out.
    pub message: Option<MessageName>,
}

/// A recipient whom the audience of an event reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedRecipient {
    /// The id of the recipient.
    pub recipient: Id,
    /// By channel, for each channel of the type that the event allows.
    pub channels: BTreeMap<&'static str, ChannelFate>,
}

/// A choice among the recipients of an event; what is absent leaves all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FateFilter {
    /// Only this channel counts.
    pub channel: Option<ChannelNo>,
    /// Only those with an entry in this state.
    pub state: Option<FateState>,
    /// Only those with an entry with a reason of this word, the same entry as that of the state.
    pub reason: Option<&'static str>,
}

impl FateState {
    /// All states.
    pub const ALL: [Self; 10] = [
        Self::Scheduled,
        Self::Pending,
        Self::Sending,
        Self::Ended(Outcome::Delivered),
        Self::Ended(Outcome::Cancelled),
        Self::Ended(Outcome::Skipped),
        Self::Ended(Outcome::Expired),
        Self::Ended(Outcome::Failed),
        Self::Ended(Outcome::Unknown),
        Self::LeftOut,
    ];

    /// The word of the state.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Pending => "pending",
            Self::Sending => "sending",
            Self::Ended(outcome) => outcome.word(),
            Self::LeftOut => "left_out",
        }
    }
}

impl FateReason {
    /// The words of all reasons, each once.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let ended = Reason::ALL.into_iter().map(Reason::word);
        // `preference` is both: an entry that ended for it, and none.
        let not_reached = NotReachedReason::ALL.into_iter().map(NotReachedReason::word);
        ended.chain(not_reached.filter(|word| *word != NotReachedReason::Preference.word()))
    }

    /// The word of the reason.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ended(reason) => reason.word(),
            Self::NotReached(why) => why.word(),
        }
    }
}

impl ChannelFate {
    fn of(state: FateState) -> Self {
        Self { state, reason: None, message: None }
    }

    fn ended(reason: Reason) -> Self {
        let state = FateState::Ended(reason.outcome());
        Self { state, reason: Some(FateReason::Ended(reason)), message: None }
    }

    fn left_out(why: NotReachedReason) -> Self {
        let reason = Some(FateReason::NotReached(why));
        Self { state: FateState::LeftOut, reason, message: None }
    }
}

impl FateFilter {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn takes(&self, channels: &BTreeMap<&'static str, ChannelFate>) -> bool {
        self.is_empty()
            || channels.iter().any(|(name, fate)| {
                self.channel.is_none_or(|channel| channel.name() == *name)
                    && self.state.is_none_or(|state| state == fate.state)
                    && self
                        .reason
                        .is_none_or(|word| fate.reason.is_some_and(|reason| reason.word() == word))
            })
    }
}

impl Positioned for ReachedRecipient {
    type Position = Id;

    fn position(&self) -> Id {
        self.recipient.clone()
    }
}

/// An event as a bucket knows it.
struct EventInBucket<'a> {
    shard: &'a Shard,
    bucket: &'a Bucket,
    /// The days that may have records about it.
    days: Vec<Day>,
    /// The channels of its type that it allows.
    channels: Vec<ChannelNo>,
    arrivals: Vec<ArrivalSets>,
    frozen: Vec<FrozenRecipients>,
    dropped: Vec<Record>,
    not_reached: NotReachedSets,
    /// The endings of the closings that were looked at.
    endings: RefCell<BTreeMap<Seq, ClosingEndings>>,
}

/// An arrival of an event with its sets.
struct ArrivalSets {
    kept: Arc<StoredArrival>,
    /// By variant.
    sets: Vec<RoaringBitmap>,
    ended: Vec<Record>,
}

impl Reader<'_> {
    /// A page of the recipients whom the audience of an event reached, by id, as long as the day of its arrival is
    /// kept; `None` = the event is unknown.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn event_recipients(
        &self,
        event: &Id,
        filter: &FateFilter,
        after: Option<Id>,
        most: usize,
    ) -> Result<Option<ListPage<ReachedRecipient>>, Unreadable> {
        let Some(known) = self.known_event(&Draft::new(self.view), event)? else {
            return Ok(None);
        };
        let mut events = Vec::new();
        for (shard, bucket) in self.engine.shards.with_buckets() {
            events.push(self.event_in(shard, bucket, &known, None)?);
        }
        let sets: Vec<(&Bucket, Option<RoaringBitmap>)> =
            events.iter().map(|of| (of.bucket, Some(of.candidates(filter)))).collect();
        let room = if filter.is_empty() { most.saturating_add(1) } else { LOOKED_AT };
        let mut page = PageBuilder::with_room(after.clone(), most, room);
        let mut fault = Ok(());
        let wanted = WantedRecipients { prefix: None, after, most };
        in_order(&wanted, &sets, &mut |at, number, profile| {
            if !page.looks_at(profile.id.clone()) {
                return ControlFlow::Break(());
            }
            match events[at].fates(*self, number) {
                Err(unreadable) => {
                    fault = Err(unreadable);
                    return ControlFlow::Break(());
                }
                Ok(channels) if filter.takes(&channels) => {
                    page.add(ReachedRecipient { recipient: profile.id.clone(), channels });
                }
                Ok(_) => {}
            }
            ControlFlow::Continue(())
        });
        fault.map(|()| Some(page.page()))
    }

    /// The fates of a recipient's entries of the event at a place, by channel.
    pub(super) fn fates_of(
        &self,
        event: &Id,
        place: EventNo,
        RecipientAt { bucket, number }: RecipientAt,
    ) -> Result<BTreeMap<&'static str, ChannelFate>, Unreadable> {
        let known = self.known_event(&Draft::new(self.view), event)?;
        // An id may come again once its day is deleted: the newest event with it is known.
        let Some(known) = known.filter(|known| known.row.place == place) else {
            return Ok(BTreeMap::new());
        };
        let mut all = self.engine.shards.with_buckets();
        let Some((shard, bucket)) = all.find(|(_, of)| of.no == bucket) else {
            return Ok(BTreeMap::new());
        };
        let only = RoaringBitmap::from_iter([number.0]);
        self.event_in(shard, bucket, &known, Some(&only))?.fates(*self, number)
    }

    /// Reads what a bucket knows of an event, of all recipients or of some.
    fn event_in<'a>(
        &'a self,
        shard: &'a Shard,
        bucket: &'a Bucket,
        known: &KnownEvent,
        only: Option<&RoaringBitmap>,
    ) -> Result<EventInBucket<'a>, Unreadable> {
        let Reader { engine, view } = *self;
        let KnownEvent { row, instants, days, journal_days } = known;
        let mut arrivals = Vec::new();
        for kept in bucket.index.arrivals_of(view, row.place, days)? {
            let sets = match only {
                None => bucket.sets_of(view, &kept)?,
                Some(only) => {
                    let sets = bucket.index.sets_of(view, &kept, only)?;
                    sets.into_iter().map(|set| set & only).collect()
                }
            };
            let ended = stored_ends(shard, view, bucket, &kept)?;
            arrivals.push(ArrivalSets { kept, sets, ended });
        }
        let mut frozen = Vec::new();
        for t in instants {
            let key = scheduled_key(Owner::Bucket(bucket.no), *t, row.place);
            if let Some(bytes) = view.get(Partition::Base, &key)? {
                frozen.push(FrozenRecipients::read(view, &key, &bytes)?);
            }
        }
        let compiled = &engine.intake.compiled;
        let type_no = compiled.names.type_no(row.event.event_type.as_str());
        let version = arrivals.first().and_then(|of| compiled.version(of.kept.arrival.rules));
        let version = version.or_else(|| compiled.current());
        let of_type = type_no.zip(version).and_then(|(no, version)| version.of_type(no));
        let only_on = row.event.channels.as_deref();
        Ok(EventInBucket {
            shard,
            bucket,
            channels: of_type.map_or_else(Vec::new, |of_type| of_type.channels(only_on)),
            arrivals,
            frozen,
            dropped: ends(
                view,
                bucket.no,
                EndSubject::Event(row.place),
                journal_days.iter().copied(),
            )?,
            not_reached: not_reached(view, row.arrived.day(), bucket.no, row.place)?,
            days: journal_days.clone(),
            endings: RefCell::default(),
        })
    }
}

impl EventInBucket<'_> {
    /// Those whom the audience reached and a filter may take: all whom the sets don't exclude.
    fn candidates(&self, filter: &FateFilter) -> RoaringBitmap {
        let mut all = RoaringBitmap::new();
        let takes = |state| filter.state.is_none_or(|wanted| wanted == state);
        let may_be_scheduled = takes(FateState::Scheduled) || takes(FateState::LeftOut);
        if may_be_scheduled {
            self.frozen.iter().for_each(|frozen| all |= frozen.everyone());
        }
        if takes(FateState::LeftOut) {
            self.not_reached.iter().for_each(|of| all |= &of.recipients.0);
        }
        for record in &self.dropped {
            if let Record::Dropped { items, .. } | Record::NeverEntered { items, .. } = record {
                items.iter().for_each(|(_, _, recipients)| all |= &recipients.0);
            }
        }
        for ArrivalSets { kept, sets, .. } in &self.arrivals {
            for (variant, recipients) in kept.arrival.variants.iter().zip(sets) {
                match filter.state {
                    Some(FateState::Scheduled) => {}
                    Some(FateState::Pending) => {
                        for lane in &variant.lanes {
                            all |= self.pending(kept, *lane, recipients);
                        }
                    }
                    Some(FateState::Sending) => {
                        let closings = self.bucket.closings.from(&kept.seq);
                        closings.for_each(|(_, open)| all |= recipients & &open.sending);
                    }
                    _ => all |= recipients,
                }
            }
        }
        all
    }

    fn pending(
        &self,
        kept: &StoredArrival,
        lane: LaneNo,
        recipients: &RoaringBitmap,
    ) -> RoaringBitmap {
        let names = &self.shard.compiled.names;
        let address = names.address(lane, &kept.arrival.keys, kept.arrival.tenant);
        self.bucket.pending(kept.seq, &address, names.lane(lane).channel, recipients)
    }

    /// The fates of a recipient's entries, by channel.
    fn fates(
        &self,
        reader: Reader<'_>,
        number: RecipientNo,
    ) -> Result<BTreeMap<&'static str, ChannelFate>, Unreadable> {
        let mut fates: BTreeMap<&'static str, ChannelFate> = BTreeMap::new();
        for subset in self.frozen.iter().flat_map(|frozen| &frozen.subsets) {
            if subset.recipients.contains(number.0) {
                for channel in &subset.channels {
                    fates.insert(channel.name(), ChannelFate::of(FateState::Scheduled));
                }
            }
        }
        for record in &self.dropped {
            if let Record::Dropped { items, .. } | Record::NeverEntered { items, .. } = record {
                for (channel, reason, _) in items.iter().filter(|(.., of)| of.contains(number.0)) {
                    fates.insert(channel.name(), ChannelFate::ended(*reason));
                }
            }
        }
        for arrival in &self.arrivals {
            for (variant, _) in arrival
                .kept
                .arrival
                .variants
                .iter()
                .zip(&arrival.sets)
                .filter(|(_, set)| set.contains(number.0))
            {
                for lane in &variant.lanes {
                    let channel = self.shard.compiled.names.lane(*lane).channel;
                    if let Some(fate) = self.fate(reader, arrival, *lane, number)? {
                        fates.insert(channel.name(), fate);
                    }
                }
            }
        }
        let mut not_reached = self.not_reached.iter();
        let not_reached = not_reached.find(|of| of.recipients.contains(number.0));
        for channel in &self.channels {
            let why = not_reached.map_or(NotReachedReason::Preference, |of| of.why_on(*channel));
            fates.entry(channel.name()).or_insert_with(|| ChannelFate::left_out(why));
        }
        Ok(fates)
    }

    /// The fate of a recipient's entry of an arrival in a lane; `None` = it moved to another lane.
    fn fate(
        &self,
        reader: Reader<'_>,
        ArrivalSets { kept, ended, .. }: &ArrivalSets,
        lane: LaneNo,
        number: RecipientNo,
    ) -> Result<Option<ChannelFate>, Unreadable> {
        let names = &self.shard.compiled.names;
        let channel = names.lane(lane).channel;
        for record in ended {
            for (why, recipients) in ended_by(record, kept.seq, channel) {
                if recipients.contains(number.0) {
                    return Ok(why.map(ChannelFate::ended));
                }
            }
        }
        let one = RoaringBitmap::from_iter([number.0]);
        if !self.pending(kept, lane, &one).is_empty() {
            return Ok(Some(ChannelFate::of(FateState::Pending)));
        }
        if names.lane(lane).is_inbox() {
            return Ok(Some(ChannelFate::of(FateState::Ended(Outcome::Delivered))));
        }
        let bucket = self.bucket;
        let address = names.address(lane, &kept.arrival.keys, kept.arrival.tenant);
        let entries = LaneEntries { bucket: bucket.no, seq: kept.seq, lane: &address };
        let EntryMessage { closing, row, .. } =
            entries.message_of(reader.view, &self.days, number)?;
        let id = bucket.closing_id(closing).message(number);
        let message = Some(MessageName { due: row.at.day(), id });
        let (_, left_out) = row.seqs(closing);
        if let Some((_, reason)) = left_out.into_iter().find(|(seq, _)| *seq == kept.seq) {
            return Ok(Some(ChannelFate { message, ..ChannelFate::ended(reason) }));
        }
        let open = bucket.closings.get(&closing);
        if open.is_some_and(|open| open.sending.contains(number.0)) {
            return Ok(Some(ChannelFate { message, ..ChannelFate::of(FateState::Sending) }));
        }
        let missing = || Unreadable(format!("a message of closing {closing} has no outcome"));
        let (_, ending) = self.ending_of(reader, id)?.ok_or_else(missing)?;
        let (state, reason) =
            (FateState::Ended(ending.outcome()), ending.reason().map(FateReason::Ended));
        Ok(Some(ChannelFate { state, reason, message }))
    }

    /// The newest ending of a built message.
    fn ending_of(
        &self,
        reader: Reader<'_>,
        MessageId { closing, number }: MessageId,
    ) -> Result<Option<(Instant, Ending)>, Unreadable> {
        let mut known = self.endings.borrow_mut();
        let endings = match known.entry(closing.seq) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let days = self.days.iter().copied();
                new.insert(ClosingEndings::read(reader.view, closing, days)?)
            }
        };
        Ok(endings.get(number))
    }
}
