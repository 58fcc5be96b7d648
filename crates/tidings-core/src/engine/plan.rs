//! The planner: what a closing's messages tell, looked at once more when they are made.
//!
//! Membership is fixed by the closing, content by this look. It works between two steps on the
//! engine's own state, in slices as large as delivery has room for, so nothing can come between the
//! look and the batch that is written.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::{Engine, Step};
use crate::bucket::{Bucket, Found, Look, Looked};
use crate::command::MarkKind;
use crate::deadline::Kind;
use crate::headers::Header;
use crate::journal::at_rest::{Kept, Shelf, Unreadable, decode, encode};
use crate::journal::record::{ChannelNo, LaneNo, Record, TypeNo, Variant};
use crate::law::{Type, Version};
use crate::message::{Item, Message, Skipped};
use crate::reason::{Outcome, Reason};
use crate::rules::{CHANNELS, EMAIL};
use crate::set::Set;
use crate::table::{Key, Owner, Partition, Table};
use crate::time::{Day, Instant};

/// Messages of one closing that are ready to be made.
#[derive(Debug)]
pub struct Plan {
    /// Which bucket.
    pub bucket: u16,
    /// The closing's seq.
    pub closing: u64,
    /// The closing's instant.
    pub at: Instant,
    /// On which channel.
    pub channel: &'static str,
    /// The lane's name.
    pub lane_name: String,
    /// One per recipient, by number; some may have nothing to tell.
    pub letters: Vec<Letter>,
    /// Messages that can't be made again: nobody knows whether they were sent.
    pub torn: Vec<Sent>,
    pub(crate) lane: LaneNo,
    pub(crate) found: Found,
    pub(crate) headers: Vec<Header>,
}

/// What one recipient's message of a closing tells. Sources are those of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The recipient's number in the bucket.
    pub number: u32,
    /// What it tells, by (t, arrival).
    pub(crate) told: Vec<u32>,
    /// What ended at this look, in the same order.
    pub(crate) ended: Vec<(u32, Reason)>,
}

/// What became of one recipient's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The recipient's number in the bucket.
    pub number: u32,
    /// The seqs that the message told.
    pub told: Vec<u64>,
    /// `Delivered`, `Failed` or `Unknown`.
    pub outcome: Outcome,
    /// How often it was sent again after an unknown outcome.
    pub resent: u32,
}

/// What became of messages of one closing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Bucket and seq of the closing.
    pub closing: (u16, u64),
    /// Message by message.
    pub sent: Vec<Sent>,
}

/// A personal batch as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageRow {
    pub(crate) lane: LaneNo,
    /// The closing's instant.
    pub(crate) at: Instant,
    /// Seqs as differences to the closing's, then to the one before.
    told: Vec<i64>,
    ended: Vec<(i64, Reason)>,
}

/// What all entries of one source have in common when they are looked at.
struct Facts<'a> {
    kind: Option<&'a Type>,
    choices: Option<&'a Choices>,
    expired: bool,
    withdrawn: bool,
    stale: bool,
    drop_if_seen: Option<bool>,
}

/// What recipients chose for a type, as far as a look cares.
#[derive(Default)]
struct Choices {
    never: RoaringBitmap,
    digest: RoaringBitmap,
}

impl Facts<'_> {
    /// Whether what was seen is left out: as the type says, else unless the policy that applies is a
    /// digest.
    fn drops_seen(&self, number: u32) -> bool {
        let is_digest = || {
            self.choices
                .is_some_and(|choices| choices.digest.contains(number))
        };
        self.drop_if_seen.unwrap_or_else(|| !is_digest())
    }
}

impl Letter {
    /// Whether there is something to tell.
    #[must_use]
    pub fn tells(&self) -> bool {
        !self.told.is_empty()
    }

    /// How many entries it tells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.told.len()
    }

    /// Whether it tells nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }
}

impl Plan {
    /// The seqs that a letter tells.
    #[must_use]
    pub fn told(&self, letter: &Letter) -> Vec<u64> {
        letter
            .told
            .iter()
            .map(|source| self.found.source(*source).0.seq)
            .collect()
    }

    /// How many entries the plan holds.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.letters
            .iter()
            .map(|letter| letter.told.len() + letter.ended.len())
            .sum()
    }
}

impl Engine {
    /// The closings whose messages are not all made, in the order in which they came due.
    #[must_use]
    pub fn closings(&self) -> Vec<(u16, u64)> {
        let mut closings = Vec::new();
        for bucket in &self.buckets {
            let unmade = bucket
                .closings
                .iter()
                .filter(|(_, closing)| !closing.unmade.is_empty());
            closings.extend(unmade.map(|(seq, closing)| (closing.at, bucket.no, *seq)));
        }
        closings.sort_unstable();
        closings
            .into_iter()
            .map(|(_, bucket, seq)| (bucket, seq))
            .collect()
    }

    /// Whether there are messages to be made.
    #[must_use]
    pub fn has_closings(&self) -> bool {
        let mut closings = self
            .buckets
            .iter()
            .flat_map(|bucket| bucket.closings.values());
        closings.any(|closing| !closing.unmade.is_empty())
    }

    /// Looks at the entries of at most `most` recipients of a closing. Reads only.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn plan(
        &self,
        shelf: &dyn Shelf,
        bucket: u16,
        closing: u64,
        now: Instant,
        most: usize,
    ) -> Result<Option<Plan>, Unreadable> {
        let bucket = &self.buckets[usize::from(bucket)];
        let Some(open) = bucket.closings.get(&closing) else {
            return Ok(None);
        };
        let lane = self.law.names.lane(open.lane);
        let members: BTreeMap<u32, u64> = open
            .unmade
            .iter()
            .take(most)
            .map(|(number, since)| (*number, *since))
            .collect();
        let Some(from) = members.values().min().copied() else {
            return Ok(None);
        };
        let who: RoaringBitmap = members.keys().copied().collect();
        let lane_no = open.lane;
        let least = who.min().unwrap_or(0);
        let mut since = vec![u64::MAX; (who.max().unwrap_or(0) - least) as usize + 1];
        for (number, seq) in &members {
            since[(number - least) as usize] = *seq;
        }
        let takes = |_: &Kept, variant: &Variant| variant.lanes.contains(&lane_no);
        let has = |number: u32, seq: u64| {
            since[(number - least) as usize] <= seq && !bucket.has_ended(seq, lane.channel, number)
        };
        let look = Look {
            from,
            to: closing,
            who: &who,
            takes: &takes,
            has: &has,
        };
        let mut found = bucket.collect(shelf, &look)?;
        found.sort();
        let headers = found
            .sources
            .iter()
            .map(|(kept, _)| {
                let arrival = &kept.arrival;
                self.intake.header(shelf, arrival.at.day(), arrival.ordinal)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let letters = self.letters(bucket, lane.channel, &who, &found, &headers, now);
        Ok(Some(Plan {
            bucket: bucket.no,
            closing,
            at: open.at,
            channel: CHANNELS[usize::from(lane.channel)],
            lane_name: lane.name.clone(),
            letters,
            torn: Vec::new(),
            lane: open.lane,
            found,
            headers,
        }))
    }

    fn letters(
        &self,
        bucket: &Bucket,
        channel: ChannelNo,
        who: &RoaringBitmap,
        found: &Found,
        headers: &[Header],
        now: Instant,
    ) -> Vec<Letter> {
        let version = self.law.current();
        let choices = version.map(|version| self.choices(bucket, version, channel, who, found));
        let facts: Vec<Facts<'_>> = found
            .sources
            .iter()
            .zip(headers)
            .map(|((kept, _), header)| {
                let kind = version.and_then(|version| version.kind(kept.arrival.kind));
                let look_back = kind.and_then(|kind| kind.rules.look_back_ms);
                Facts {
                    kind,
                    choices: choices.as_ref().and_then(|all| all.get(&kept.arrival.kind)),
                    expired: header.expires_at.is_some_and(|expires| expires <= now),
                    withdrawn: self.intake.withdrawn.contains(&header.object),
                    stale: look_back.is_some_and(|ms| kept.arrival.t < now.plus_ms(-ms)),
                    drop_if_seen: kind.and_then(|kind| kind.rules.drop_if_seen),
                }
            })
            .collect();
        let needs_address = CHANNELS[usize::from(channel)] == EMAIL;
        let mut letters: Vec<Letter> = Vec::with_capacity(usize::try_from(who.len()).unwrap_or(0));
        let mut groups = found.by_recipient().peekable();
        for number in who {
            let mut letter = Letter {
                number,
                told: Vec::new(),
                ended: Vec::new(),
            };
            if let Some(entries) = groups.next_if(|entries| entries[0].0 == number) {
                let gone = bucket.roster.gone.contains(number);
                let marks = bucket.marks.get(&number);
                let no_address = needs_address && !bucket.roster.mailable.contains(number);
                let mut sources: Vec<u32> = entries.iter().map(|(_, source)| *source).collect();
                let key = |source: &u32| {
                    let arrival = &found.source(*source).0.arrival;
                    (arrival.t, arrival.place)
                };
                if !sources.is_sorted_by_key(key) {
                    sources.sort_by_key(key);
                }
                for source in sources {
                    let facts = &facts[source as usize];
                    let seen = || {
                        let (kept, header) = (found.source(source).0, &headers[source as usize]);
                        marks.is_some_and(|marks| {
                            let looked = Looked {
                                t: kept.arrival.t,
                                place: kept.arrival.place,
                                event: &header.id,
                                object: &header.object,
                                has_inbox: &|version| {
                                    self.law.has_inbox(version, kept.arrival.kind)
                                },
                            };
                            marks.cover(looked, MarkKind::Seen)
                        })
                    };
                    match look(facts, number, gone, seen, no_address) {
                        Some(reason) => letter.ended.push((source, reason)),
                        None => letter.told.push(source),
                    }
                }
            }
            letters.push(letter);
        }
        letters
    }

    /// By type, what these recipients chose for it on a channel.
    fn choices(
        &self,
        bucket: &Bucket,
        version: &Version,
        channel: ChannelNo,
        who: &RoaringBitmap,
        found: &Found,
    ) -> FxHashMap<TypeNo, Choices> {
        let mut all: FxHashMap<TypeNo, Choices> = FxHashMap::default();
        for (kept, _) in &found.sources {
            let number = kept.arrival.kind;
            let Some(kind) = version.kind(number) else {
                continue;
            };
            all.entry(number).or_insert_with(|| {
                let parts = bucket.preferences.split(channel, kind, who.clone());
                let mut choices = Choices::default();
                for (mode, part) in parts {
                    match kind
                        .lane(channel, mode.as_ref())
                        .map(|no| &self.law.names.lane(no).kind)
                    {
                        None => choices.never |= part,
                        Some(Kind::Digest(_)) => choices.digest |= part,
                        Some(_) => {}
                    }
                }
                choices
            });
        }
        all
    }

    /// Makes the messages of plans of different closings: after the commit they are exactly what is
    /// told.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn made(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
        plans: &[Plan],
    ) -> Result<Step, Unreadable> {
        self.in_step(shelf, now, |engine, draft, now, _| {
            for plan in plans {
                engine.make(draft, now, plan);
            }
            Ok(())
        })
    }

    fn make(&mut self, draft: &mut Draft<'_>, now: Instant, plan: &Plan) {
        let at = usize::from(plan.bucket);
        let channel = self.law.names.lane(plan.lane).channel;
        let (mut who, mut nothing) = (Set::default(), Set::default());
        for letter in &plan.letters {
            who.insert(letter.number);
            if letter.tells() {
                self.intake.tally.messages += 1;
            } else {
                nothing.insert(letter.number);
            }
            for (source, reason) in &letter.ended {
                let seq = plan.found.source(*source).0.seq;
                if let Some(day) = self.buckets[at].day_of(seq) {
                    let row = self.ledger.at((plan.bucket, day, channel));
                    row.end(reason.outcome(), Some(*reason), 1);
                }
            }
            if letter.tells() || !letter.ended.is_empty() {
                let key = message_key(plan.bucket, letter.number, plan.closing);
                let row = MessageRow::of(plan, letter);
                draft.put(Partition::Day(now.day()), key, encode(&row));
            }
        }
        let record = Record::Made {
            at: now,
            closing: plan.closing,
            who,
            nothing,
        };
        self.write(draft, at, now, record);
    }

    /// Notes what became of messages.
    ///
    /// # Errors
    /// [`Unreadable`]; the engine is worthless then.
    pub fn outcome(
        &mut self,
        shelf: &dyn Shelf,
        now: Instant,
        settled: &[Settled],
    ) -> Result<Step, Unreadable> {
        self.in_step(shelf, now, |engine, draft, now, _| {
            for Settled { closing, sent } in settled {
                engine.note(draft, now, *closing, sent);
            }
            Ok(())
        })
    }

    fn note(
        &mut self,
        draft: &mut Draft<'_>,
        now: Instant,
        (bucket, closing): (u16, u64),
        sent: &[Sent],
    ) {
        let at = usize::from(bucket);
        let Some(open) = self.buckets[at].closings.get(&closing) else {
            return;
        };
        let channel = self.law.names.lane(open.lane).channel;
        let mut sets: BTreeMap<Outcome, Set> = BTreeMap::new();
        for Sent {
            number,
            told,
            outcome,
            resent,
        } in sent
        {
            if !open.sending.contains(*number) {
                continue;
            }
            sets.entry(*outcome).or_default().insert(*number);
            self.intake.tally.resent += u64::from(*resent);
            for seq in told {
                if let Some(day) = self.buckets[at].day_of(*seq) {
                    self.ledger
                        .at((bucket, day, channel))
                        .end(*outcome, None, 1);
                }
            }
        }
        for (outcome, who) in sets {
            self.write(
                draft,
                at,
                now,
                Record::Outcome {
                    at: now,
                    closing,
                    who,
                    outcome,
                },
            );
        }
    }

    /// Messages that were made and whose outcome is not known: after a start they go on. Those of
    /// which a part was forgotten meanwhile can't be made again as they were: they stand in
    /// [`Plan::torn`].
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn unsettled(&self, shelf: &dyn Shelf) -> Result<Vec<Plan>, Unreadable> {
        let mut plans = Vec::new();
        for bucket in &self.buckets {
            for (closing, open) in &bucket.closings {
                if !open.sending.is_empty() {
                    plans.push(self.unsettled_of(shelf, bucket, *closing)?);
                }
            }
        }
        plans.sort_by_key(|plan| (plan.at, plan.bucket, plan.closing));
        Ok(plans)
    }

    fn unsettled_of(
        &self,
        shelf: &dyn Shelf,
        bucket: &Bucket,
        closing: u64,
    ) -> Result<Plan, Unreadable> {
        let open = &bucket.closings[&closing];
        let lane = self.law.names.lane(open.lane);
        let mut rows: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
        for number in &open.sending {
            let key = message_key(bucket.no, number, closing);
            for day in self.journal_days.range(open.at.day()..) {
                if let Some(bytes) = shelf.get(Partition::Day(*day), &key)? {
                    let row: MessageRow = decode("a message", &bytes)?;
                    rows.insert(number, row.told(closing));
                    break;
                }
            }
        }
        let from = rows.values().flatten().min().copied().unwrap_or(closing);
        let takes = |_: &Kept, variant: &Variant| variant.lanes.contains(&open.lane);
        let has = |number: u32, seq: u64| rows.get(&number).is_some_and(|told| told.contains(&seq));
        let look = Look {
            from,
            to: closing,
            who: &open.sending,
            takes: &takes,
            has: &has,
        };
        let mut found = bucket.collect(shelf, &look)?;
        found.sort();
        let headers = found.sources.iter().map(|(kept, _)| {
            self.intake
                .header(shelf, kept.arrival.at.day(), kept.arrival.ordinal)
        });
        let headers = headers.collect::<Result<Vec<_>, _>>()?;
        let (mut letters, mut torn) = (Vec::new(), open.sending.clone());
        for entries in found.by_recipient() {
            let number = entries[0].0;
            if rows
                .get(&number)
                .is_some_and(|told| told.len() == entries.len())
            {
                torn.remove(number);
                let told = entries.iter().map(|(_, source)| *source).collect();
                letters.push(Letter {
                    number,
                    told,
                    ended: Vec::new(),
                });
            }
        }
        let torn = torn.iter().map(|number| Sent {
            number,
            told: rows.remove(&number).unwrap_or_default(),
            outcome: Outcome::Unknown,
            resent: 0,
        });
        let torn = torn.collect();
        for letter in &mut letters {
            letter.told.sort_by_key(|source| {
                let arrival = &found.source(*source).0.arrival;
                (arrival.t, arrival.place)
            });
        }
        Ok(Plan {
            bucket: bucket.no,
            closing,
            at: open.at,
            channel: CHANNELS[usize::from(lane.channel)],
            lane_name: lane.name.clone(),
            letters,
            torn,
            lane: open.lane,
            found,
            headers,
        })
    }

    /// A letter as a message; `None` where it tells nothing or the recipient was erased.
    #[must_use]
    pub fn message(&self, plan: &Plan, letter: &Letter) -> Option<Message> {
        let profile = self.buckets[usize::from(plan.bucket)]
            .roster
            .profile(letter.number)?;
        letter.tells().then(|| Message {
            at: plan.at,
            recipient: profile.id.clone(),
            channel: plan.channel.to_owned(),
            lane: plan.lane_name.clone(),
            items: letter
                .told
                .iter()
                .map(|source| plan.item(*source))
                .collect(),
            skipped: letter
                .ended
                .iter()
                .map(|(source, reason)| Skipped {
                    event: plan.headers[*source as usize].id.clone(),
                    reason: *reason,
                })
                .collect(),
        })
    }
}

impl Plan {
    pub(crate) fn item(&self, source: u32) -> Item {
        let (kept, variant) = self.found.source(source);
        let header = &self.headers[source as usize];
        Item {
            event: header.id.clone(),
            kind: header.kind.clone(),
            object: header.object.clone(),
            t: kept.arrival.t,
            reasons: kept.arrival.reasons_of(variant),
        }
    }

    /// The day and ordinal of a source's event.
    pub(crate) fn event_at(&self, source: u32) -> (Day, u32) {
        let arrival = &self.found.source(source).0.arrival;
        (arrival.at.day(), arrival.ordinal)
    }
}

impl MessageRow {
    fn of(plan: &Plan, letter: &Letter) -> Self {
        let mut last = plan.closing.cast_signed();
        let mut difference = |source: &u32| {
            let seq = plan.found.source(*source).0.seq.cast_signed();
            let difference = seq - last;
            last = seq;
            difference
        };
        let told = letter.told.iter().map(&mut difference).collect();
        let ended = letter
            .ended
            .iter()
            .map(|(source, reason)| (difference(source), *reason))
            .collect();
        Self {
            lane: plan.lane,
            at: plan.at,
            told,
            ended,
        }
    }

    /// The seqs that it told.
    pub(crate) fn told(&self, closing: u64) -> Vec<u64> {
        self.seqs(closing).0
    }

    /// The seqs that it told, and those that ended at its look.
    pub(crate) fn seqs(&self, closing: u64) -> (Vec<u64>, Vec<(u64, Reason)>) {
        let mut last = closing.cast_signed();
        let mut seq = |difference: &i64| {
            last = last.wrapping_add(*difference);
            last.cast_unsigned()
        };
        let told = self.told.iter().map(&mut seq).collect();
        let ended = self
            .ended
            .iter()
            .map(|(difference, reason)| (seq(difference), *reason))
            .collect();
        (told, ended)
    }
}

/// The key of a personal batch.
pub(crate) fn message_key(bucket: u16, number: u32, closing: u64) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Messages)
        .u32(number)
        .u64(closing)
        .done()
}

/// Looks at one entry: the first that applies ends it (contract, section 2, "When a message is made").
fn look(
    facts: &Facts<'_>,
    number: u32,
    gone: bool,
    seen: impl FnOnce() -> bool,
    no_address: bool,
) -> Option<Reason> {
    if facts.kind.is_none() {
        Some(Reason::UnknownType)
    } else if gone {
        Some(Reason::RecipientGone)
    } else if facts.expired {
        Some(Reason::Expired)
    } else if facts
        .choices
        .is_some_and(|choices| choices.never.contains(number))
    {
        Some(Reason::Preference)
    } else if facts.withdrawn {
        Some(Reason::NotApplicable)
    } else if facts.drops_seen(number) && seen() {
        Some(Reason::Seen)
    } else if facts.stale {
        Some(Reason::Stale)
    } else if no_address {
        Some(Reason::NoAddress)
    } else {
        None
    }
}
